//! What happened lately, counted.

use serde_json::Value;

use super::{TestServer, json};

fn sum(numbers: &Value) -> u64 {
    numbers.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).sum()
}

#[tokio::test]
async fn tasks_are_counted_where_they_happen() {
    let server = TestServer::start().await;
    let tasks = json!({"tasks": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "a"}]});
    server.post("/v1/queues/q/tasks", tasks).await.is(200);
    server.post("/v1/queues/other/tasks", json!({})).await.is(201);
    let taken = server.post("/v1/queues/q/take", json!({"n": 2})).await.is(200);
    let token = |place: usize| json!({"token": taken["tasks"][place]["token"]});
    server.verb("a", "commit", token(0)).await.is(200);
    let failed = json!({"token": taken["tasks"][1]["token"], "permanent": true});
    server.verb("b", "fail", failed).await.is(200);

    let path = "/v1/stats?queue=q";
    let stats = server.eventually(path, |stats| sum(&stats["failed"]) == 1).await;
    assert_eq!(
        (stats["step"].as_u64(), &stats["from"]),
        (Some(10), &json!("2026-11-15T05:00:10.000Z"))
    );
    for (name, count) in [("pushed", 3), ("taken", 2), ("done", 1), ("failed", 1)] {
        assert_eq!(stats[name].as_array().unwrap().len(), 360, "{name}");
        assert_eq!((sum(&stats[name]), &stats[name][359]), (count, &json!(count)), "{name}");
    }
    let all = server.get("/v1/stats").await.is(200);
    assert_eq!(sum(&all["pushed"]), 4);

    server.clock.advance(punctual_core::Span::from_secs(60));
    let queues = server.get("/v1/stats/queues").await.is(200);
    let items = queues["items"].as_array().unwrap();
    let names: Vec<_> = items.iter().map(|item| item["queue"].as_str().unwrap()).collect();
    assert_eq!(names, ["other", "q"]);
    let q = &items[1];
    assert_eq!((q["step"].as_u64(), q["pushed"].as_array().unwrap().len()), (Some(60), 60));
    assert_eq!(
        (&q["pushed"][58], &q["done"][58], &q["failed"][58]),
        (&json!(3), &json!(1), &json!(1))
    );
    server.clock.advance(punctual_core::Span::from_secs(3_600));
    assert_eq!(server.get("/v1/stats/queues").await.is(200), json!({"items": []}));
}

#[tokio::test]
async fn bad_questions_are_refused_and_an_unknown_queue_was_quiet() {
    let server = TestServer::start().await;
    server.get("/v1/stats?queue=a%20b").await.problem(422, "invalid");
    server.get("/v1/stats?colour=1").await.problem(422, "invalid");
    server.get("/v1/stats/queues?queue=q").await.problem(422, "invalid");
    assert_eq!(sum(&server.get("/v1/stats?queue=none").await.is(200)["pushed"]), 0);
}

#[tokio::test]
async fn what_all_queues_hold_is_added_up() {
    let server = TestServer::start().await;
    let empty = server.get("/v1/stats/totals").await.is(200);
    assert_eq!((&empty["counts"]["total"], &empty["busiest"]), (&json!(0), &json!([])));
    assert_eq!(
        (&empty["oldest_ready_age"], &empty["oldest_ready_queue"]),
        (&Value::Null, &Value::Null)
    );
    let queues = empty["queues"].as_u64().unwrap();
    for (queue, count) in [("q", 1), ("old", 2), ("other", 3)] {
        let tasks: Vec<Value> = (0..count).map(|_| json!({})).collect();
        let body = json!({"tasks": tasks});
        server.post(&format!("/v1/queues/{queue}/tasks"), body).await.is(200);
        if queue == "old" {
            server.clock.advance(punctual_core::Span::from_secs(10));
            server.post("/v1/queues/q/take", json!({})).await.is(200);
        }
    }
    server.post("/v1/queues/other/tasks", json!({"delay": "1h"})).await.is(201);
    server.put("/v1/queues/still", json!({})).await.is(201);
    server.post("/v1/queues/still/pause", json!({})).await.is(200);
    let totals = server.get("/v1/stats/totals").await.is(200);
    assert_eq!((&totals["queues"], &totals["paused"]), (&json!(queues + 4), &json!(1)));
    for (name, count) in [("total", 7), ("taken", 1), ("untaken", 6), ("ready", 5), ("waiting", 1)]
    {
        assert_eq!(totals["counts"][name], count, "{name}");
    }
    assert_eq!(
        (&totals["oldest_ready_age"], &totals["oldest_ready_queue"]),
        (&json!(10), &json!("old"))
    );
    let busiest = totals["busiest"].as_array().unwrap();
    let names: Vec<_> = busiest.iter().map(|queue| queue["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["other", "old", "q", "still"]);
    assert_eq!((&busiest[0]["counts"]["ready"], &busiest[3]["paused"]), (&json!(3), &json!(true)));
    server.get("/v1/stats/totals?queue=q").await.problem(422, "invalid");
}
