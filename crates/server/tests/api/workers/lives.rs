//! How workers join, are heard of, drain, leave, and are lost.

use super::{TestServer, Value, json};

#[tokio::test]
async fn a_worker_reads_as_it_joined() {
    let server = TestServer::of_mode("dispatch").await;
    let joined =
        server.join("w", json!({"capabilities": ["gpu"], "capacity": 3, "session": "one"})).await;
    let expected = json!({
        "name": "w", "queues": ["q"], "capabilities": ["gpu"], "capacity": 3, "session": "one",
        "state": "active", "load": 0, "joined_at": "2026-11-15T06:00:00.000Z",
        "last_heartbeat": "2026-11-15T06:00:00.000Z",
    });
    assert_eq!(joined, expected);
    assert_eq!(server.get("/v1/workers/w").await.is(200), expected);
    // What is left out stays; null sets it back.
    let changed = server.put("/v1/workers/w", json!({"capacity": null})).await.is(200);
    assert_eq!((&changed["capacity"], &changed["session"]), (&json!(1), &json!("one")));
    server.advance(5).await;
    server.poll("w", json!({})).await;
    let read = server.get("/v1/workers/w").await.is(200);
    assert_eq!(read["last_heartbeat"], "2026-11-15T06:00:05.000Z");
    assert_eq!(read["joined_at"], "2026-11-15T06:00:00.000Z");
}

#[tokio::test]
async fn workers_are_listed_by_queue_and_state() {
    let server = TestServer::of_mode("dispatch").await;
    for name in ["a", "b", "c"] {
        server.join(name, json!({})).await;
    }
    server.join("d", json!({"queues": ["other"]})).await;
    server.post("/v1/workers/b/drain", json!({})).await.is(200);
    let names = |page: Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(server.get("/v1/workers").await.is(200)).len(), 4);
    let mut serving = names(server.get("/v1/workers?queue=q").await.is(200));
    serving.sort();
    assert_eq!(serving, ["a", "b", "c"]);
    assert_eq!(names(server.get("/v1/workers?state=draining,lost").await.is(200)), ["b"]);
    let first = server.get("/v1/workers?limit=3").await.is(200);
    let next = first["next"].as_str().unwrap();
    let next: String = next.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let rest = server.get(&format!("/v1/workers?limit=3&cursor={next}")).await.is(200);
    let mut all = [names(first.clone()), names(rest.clone())].concat();
    all.sort();
    assert_eq!(
        (all, &rest["next"]),
        (["a", "b", "c", "d"].map(str::to_owned).into(), &Value::Null)
    );
    server.get("/v1/workers?state=gone").await.problem(422, "invalid");
    server.get("/v1/workers?queue=a%20b").await.problem(422, "invalid");
    server.get("/v1/workers?limit=0").await.problem(422, "invalid");
    server.get("/v1/workers?cursor=x").await.problem(422, "invalid");
}

#[tokio::test]
async fn a_silent_worker_is_lost_and_its_tasks_go_to_others() {
    let server = TestServer::of_mode("dispatch").await;
    server.put("/v1/queues/q", json!({"hold": "1h"})).await.is(200);
    server.join("w", json!({})).await;
    server.push(json!({"id": "a"})).await;
    let task = server.given("w", 1).await.remove(0);
    server.verb("a", "confirm", json!({"token": task["token"]})).await.is(200);
    server.advance(29).await;
    assert_eq!(server.get("/v1/workers/w").await.is(200)["state"], "active");
    server.advance(1).await;
    server.eventually("/v1/workers/w", |worker| worker["state"] == "lost").await;
    let freed = server.until("a", "ready").await;
    assert_eq!((&freed["attempt"], &freed["history"][0]["outcome"]), (&json!(1), &json!("lost")));
    server.post("/v1/workers/w/poll", json!({})).await.problem(404, "not_found");
    server.post("/v1/workers/w/drain", json!({})).await.problem(404, "not_found");
    server.verb("a", "commit", json!({"token": task["token"]})).await.problem(409, "stale_token");
    server.join("other", json!({})).await;
    let again = server.given("other", 1).await.remove(0);
    assert_eq!(server.work(&again, json!(1)).await["state"], "done");
    // It may come back, and is given tasks again.
    server.put("/v1/workers/w", json!({})).await.is(200);
    assert_eq!(server.poll("w", json!({})).await["assignments"], json!([]));
    server.advance(60).await;
    server.eventually("/v1/workers/w", |worker| worker["state"] == "lost").await;
    server.advance(86_400).await;
    server.eventually("/v1/workers/w", |worker| worker["status"] == 404).await;
}

#[tokio::test]
async fn every_sign_of_life_counts() {
    let server = TestServer::of_mode("dispatch").await;
    server.put("/v1/queues/q", json!({"hold": "1h", "confirm_within": "1h"})).await.is(200);
    server.join("w", json!({})).await;
    server.push(json!({"id": "a"})).await;
    let task = server.given("w", 1).await.remove(0);
    let token = json!({"token": task["token"]});
    for verb in ["confirm", "extend", "commit"] {
        server.advance(29).await;
        server.verb("a", verb, token.clone()).await.is(200);
    }
    server.advance(29).await;
    server.poll("w", json!({})).await;
    server.advance(29).await;
    assert_eq!(server.get("/v1/workers/w").await.is(200)["state"], "active");
    let heard = server.get("/v1/workers/w").await.is(200)["last_heartbeat"].clone();
    assert_eq!(heard, "2026-11-15T06:01:56.000Z");
}

#[tokio::test]
async fn what_a_worker_held_that_leaves_is_ready_at_once_and_the_take_does_not_count() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"capacity": 2})).await;
    for id in ["a", "b"] {
        server.push(json!({"id": id})).await;
    }
    let tasks = server.given("w", 2).await;
    let token = json!({"token": tasks[0]["token"]});
    server.verb(tasks[0]["id"].as_str().unwrap(), "confirm", token.clone()).await.is(200);
    server.delete("/v1/workers/w").await.is(204);
    for id in ["a", "b"] {
        let task = server.task(id).await;
        assert_eq!((&task["state"], &task["attempt"]), (&json!("ready"), &json!(0)), "{task}");
    }
    server.get("/v1/workers/w").await.problem(404, "not_found");
    server.delete("/v1/workers/w").await.problem(404, "not_found");
    let id = tasks[0]["id"].as_str().unwrap();
    server.verb(id, "commit", token).await.problem(409, "stale_token");
}

#[tokio::test]
async fn a_draining_worker_is_given_no_more_and_finishes_what_it_has() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"capacity": 9})).await;
    server.push(json!({"id": "a"})).await;
    let task = server.given("w", 1).await.remove(0);
    assert_eq!(server.post("/v1/workers/w/drain", json!({})).await.is(200)["state"], "draining");
    server.push(json!({"id": "b"})).await;
    server.work(&task, json!(1)).await;
    assert_eq!(server.poll("w", json!({})).await["assignments"], json!([]));
    assert_eq!(server.task("b").await["state"], "ready");
    let why = server.get("/v1/queues/q/tasks/b/why").await.is(200);
    assert_eq!(why["reason"], "no_worker", "{why}");
    // Joining again makes it active again.
    server.put("/v1/workers/w", json!({})).await.is(200);
    server.given("w", 1).await;
}

#[tokio::test]
async fn another_session_takes_all_from_the_one_before() {
    let server = TestServer::of_mode("dispatch").await;
    server.join("w", json!({"session": "one"})).await;
    server.push(json!({"id": "a"})).await;
    let task = server.given("w", 1).await.remove(0);
    server.verb("a", "confirm", json!({"token": task["token"]})).await.is(200);
    let waiting = server.post("/v1/workers/w/poll", json!({"session": "one", "wait": 60}));
    let reborn = async {
        server.eventually("/v1/workers/w", |worker| worker["load"] == 1).await;
        server.put("/v1/workers/w", json!({"session": "two"})).await.is(200)
    };
    let (waited, reborn) = tokio::join!(waiting, reborn);
    waited.problem(409, "stale_token");
    assert_eq!(reborn["session"], "two");
    server.post("/v1/workers/w/poll", json!({"session": "one"})).await.problem(409, "stale_token");
    server.verb("a", "commit", json!({"token": task["token"]})).await.problem(409, "stale_token");
    // Who names no session is believed, and the task is its own again, as another attempt.
    let again = server.given("w", 1).await.remove(0);
    assert_eq!(again["attempt"], 2);
    server.poll("w", json!({"session": "two"})).await;
    // The same session again changes nothing.
    server.put("/v1/workers/w", json!({"session": "two"})).await.is(200);
    server.work(&again, json!(1)).await;
}
