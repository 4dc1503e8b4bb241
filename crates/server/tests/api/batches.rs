//! Batches: each item answers for itself.

use serde_json::Value;

use super::{TestServer, json};

#[tokio::test]
async fn a_batch_of_pushes_answers_every_item() {
    let server = TestServer::start().await;
    let batch = json!({"tasks": [
        {"id": "a", "payload": 1}, {"id": "a"}, {"id": "b", "priority": 101}, {"id": "c", "colour": 1},
        7, {"id": "no such id"}, {}, {"id": "d", "payload": "x".repeat(1 << 20)}, [],
        {"id": "e", "requires": ["gpu"]}
    ]});
    let answered = server.post("/v1/queues/q/tasks", batch).await.is(200);
    let results = answered["results"].as_array().unwrap();
    let seen: Vec<(Option<&str>, Option<&str>)> =
        results.iter().map(|result| (result["id"].as_str(), result["code"].as_str())).collect();
    let generated = results[6]["id"].as_str();
    assert_eq!(
        seen,
        [
            (Some("a"), None),
            (Some("a"), Some("duplicate")),
            (Some("b"), Some("invalid")),
            (Some("c"), Some("invalid")),
            (None, Some("invalid")),
            (None, Some("invalid")),
            (generated, None),
            (Some("d"), Some("too_large")),
            (None, Some("invalid")),
            (Some("e"), Some("invalid")),
        ]
    );
    assert_eq!(results[0], json!({"id": "a", "ok": true}));
    for (index, field) in
        [(2, "priority"), (3, "colour"), (5, "id"), (7, "payload"), (9, "requires")]
    {
        let detail = results[index]["detail"].as_str().unwrap();
        assert!(detail.contains(field), "{detail}");
        assert_eq!(results[index]["ok"], false);
    }
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 2);
}

#[tokio::test]
async fn an_empty_batch_does_nothing() {
    let server = TestServer::start().await;
    let answered = server.post("/v1/queues/q/tasks", json!({"tasks": []})).await.is(200);
    assert_eq!(answered, json!({"results": []}));
    server.get("/v1/queues/q").await.problem(404, "not_found");
    server.put("/v1/queues/q", json!({})).await.is(201);
    for verb in ["commit", "extend", "fail", "release"] {
        let answered = server.post(&format!("/v1/queues/q/{verb}"), json!({"tasks": []})).await;
        assert_eq!(answered.is(200), json!({"results": []}));
    }
}

#[tokio::test]
async fn a_batch_has_at_most_ten_thousand_items() {
    let server = TestServer::start().await;
    let batch = |count| json!({"tasks": vec![json!({}); count]});
    let answered = server.post("/v1/queues/q/tasks", batch(10_001)).await;
    assert!(answered.problem(422, "invalid").contains("tasks"));
    server.get("/v1/queues/q").await.problem(404, "not_found");
    server.put("/v1/queues/q", json!({})).await.is(201);
    for verb in ["commit", "extend", "fail", "release"] {
        let answered = server.post(&format!("/v1/queues/q/{verb}"), batch(10_001)).await;
        answered.problem(422, "invalid");
    }
    let take = json!({"commit": vec![json!({}); 10_001]});
    server.post("/v1/queues/q/take", take).await.problem(422, "invalid");
}

/// Pushes and takes as many tasks, `t0` first.
async fn held(server: &TestServer, count: usize) -> Vec<Value> {
    let tasks: Vec<Value> = (0..count).map(|index| json!({"id": format!("t{index}")})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let mut taken = server.post("/v1/queues/q/take", json!({"n": count})).await.is(200);
    let Value::Array(tasks) = taken["tasks"].take() else { panic!("no list") };
    assert_eq!(tasks.len(), count);
    tasks
}

fn named(task: &Value) -> Value {
    json!({"id": task["id"], "token": task["token"]})
}

#[tokio::test]
async fn batches_of_holders_answer_every_item() {
    let server = TestServer::start().await;
    for (verb, state) in [("commit", "not_found"), ("fail", "waiting"), ("release", "ready")] {
        let tasks = held(&server, 3).await;
        let batch = json!({"tasks": [
            named(&tasks[0]), named(&tasks[0]), {"id": "t1", "token": "x"}, {"id": "t9", "token": "x"},
            {"id": "t1"}, {"id": "t1", "token": "x", "colour": 1}, named(&tasks[2]), null
        ]});
        let answered = server.post(&format!("/v1/queues/q/{verb}"), batch).await.is(200);
        let results = answered["results"].as_array().unwrap();
        assert_eq!(results[0], json!({"id": "t0", "ok": true}), "{verb}");
        assert_eq!(results[1], json!({"id": "t0", "ok": true}), "{verb} repeated");
        let codes: Vec<Option<&str>> = results.iter().map(|r| r["code"].as_str()).collect();
        let (stale, missing, invalid) = (Some("stale_token"), Some("not_found"), Some("invalid"));
        assert_eq!(codes, [None, None, stale, missing, invalid, invalid, None, invalid], "{verb}");
        let task = server.get("/v1/queues/q/tasks/t0").await.json;
        assert!(task["state"] == state || task["code"] == state, "{verb}: {task}");
        assert_eq!(server.task("t1").await["state"], "running");
        server.post("/v1/queues/q/reset", json!({})).await.is(200);
    }
}

#[tokio::test]
async fn a_batch_of_extends_tells_holders_what_is_asked_of_them() {
    let server = TestServer::start().await;
    let tasks = held(&server, 3).await;
    server.verb("t1", "cancel", json!({})).await.is(200);
    server.verb("t2", "pause", json!({})).await.is(200);
    let items: Vec<Value> = tasks.iter().map(named).collect();
    let answered = server.post("/v1/queues/q/extend", json!({"tasks": items})).await.is(200);
    let until = "2026-11-15T06:00:30.000Z";
    assert_eq!(
        answered["results"],
        json!([
            {"id": "t0", "ok": true, "hold_until": until, "cancel": false, "pause": false},
            {"id": "t1", "ok": true, "hold_until": until, "cancel": true, "pause": false},
            {"id": "t2", "ok": true, "hold_until": until, "cancel": false, "pause": true},
        ])
    );
    let bad = json!({"tasks": [{"id": "t0", "token": tasks[0]["token"], "progress": 2}]});
    let answered = server.post("/v1/queues/q/extend", bad).await.is(200);
    assert_eq!(answered["results"][0]["code"], "invalid");
    assert!(answered["results"][0]["detail"].as_str().unwrap().contains("progress"));
}

#[tokio::test]
async fn a_batch_of_commits_may_be_repeated_whole() {
    let server = TestServer::start().await;
    let tasks = held(&server, 50).await;
    let items: Vec<Value> = tasks.iter().map(named).collect();
    for _ in 0..2 {
        let batch = json!({"tasks": items});
        let answered = server.post("/v1/queues/q/commit", batch).await.is(200);
        let results = answered["results"].as_array().unwrap();
        assert!(results.iter().all(|result| result["ok"] == true), "{answered}");
    }
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
}
