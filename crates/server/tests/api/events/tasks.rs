//! What is told of tasks and queues.

use super::*;

#[tokio::test]
async fn the_life_of_a_task_is_told() {
    let server = TestServer::start().await;
    let mut ear = Ear::open(&server, "?queue=q").await;
    server.push(json!({"id": "a", "max_attempts": 2})).await;
    assert_eq!(ear.hears("queue.changed").await["change"], "created");
    let pushed = ear.hears("task.pushed").await;
    assert_eq!((&pushed["queue"], &pushed["id"]), (&json!("q"), &json!("a")));
    assert_eq!(pushed["at"], "2026-11-15T06:00:00.000Z");
    let task = server.take(json!({"worker": "w", "confirm": true})).await;
    assert_eq!(ear.hears("task.taken").await["worker"], "w");
    let token = json!({"token": task["token"]});
    server.verb("a", "confirm", token.clone()).await.is(200);
    assert_eq!(ear.hears("task.confirmed").await["worker"], "w");
    // A repeat changes nothing, and a heartbeat says nothing.
    server.verb("a", "confirm", token.clone()).await.is(200);
    server.verb("a", "extend", token.clone()).await.is(200);
    let report = json!({"token": task["token"], "progress": 0.5, "message": "half"});
    server.verb("a", "extend", report.clone()).await.is(200);
    let progress = ear.hears("task.progress").await;
    assert_eq!((&progress["progress"], &progress["message"]), (&json!(0.5), &json!("half")));
    // At most one per task and second.
    server.verb("a", "extend", report).await.is(200);
    let fail = json!({"token": task["token"], "error": "no luck", "retry_in": 60});
    server.verb("a", "fail", fail).await.is(200);
    let retrying = ear.hears("task.retrying").await;
    assert_eq!((&retrying["error"], &retrying["worker"]), (&json!("no luck"), &json!("w")));
    assert_eq!(retrying["due_at"], "2026-11-15T06:01:00.000Z");
    server.verb("a", "pause", json!({})).await.is(200);
    ear.hears("task.paused").await;
    server.verb("a", "resume", json!({})).await.is(200);
    ear.hears("task.resumed").await;
    server.advance(60).await;
    let task = server.take(json!({"worker": "w"})).await;
    ear.hears("task.taken").await;
    let fail = json!({"token": task["token"], "error": "again"});
    server.verb("a", "fail", fail).await.is(200);
    let failed = ear.hears("task.failed").await;
    assert_eq!((&failed["error"], &failed["attempt"]), (&json!("again"), &json!(2)));
    server.verb("a", "retry", json!({})).await.is(200);
    ear.hears("task.retrying").await;
    let task = server.take(json!({"worker": "w2"})).await;
    ear.hears("task.taken").await;
    server.verb("a", "commit", json!({"token": task["token"]})).await.is(200);
    assert_eq!(ear.hears("task.committed").await["worker"], "w2");
}

#[tokio::test]
async fn what_time_and_people_do_is_told() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"hold": 10, "keep": {"done": "1h"}})).await.is(201);
    let mut ear = Ear::open(&server, "?type=task.*").await;
    server.push(json!({"id": "held"})).await;
    server.take(json!({"worker": "w"})).await;
    server.advance(10).await;
    ear.hears("task.pushed").await;
    ear.hears("task.taken").await;
    let retrying = ear.hears("task.retrying").await;
    assert!(retrying["error"].as_str().unwrap().contains("hold"), "{retrying}");
    assert_eq!(retrying["worker"], "w");
    let taken = server.take(json!({})).await;
    ear.hears("task.taken").await;
    // Given back, it is only there again.
    server.verb("held", "release", json!({"token": taken["token"]})).await.is(200);
    server.verb("held", "cancel", json!({})).await.is(200);
    assert_eq!(ear.hears("task.cancelled").await["id"], "held");
    server.push(json!({"id": "late", "expires": "2026-11-15T06:01:00Z", "delay": 100})).await;
    ear.hears("task.pushed").await;
    server.advance(60).await;
    assert_eq!(ear.hears("task.expired").await["error"], "expired");
    // A callback is pushed like any other task.
    server.push(json!({"id": "b", "callback": {"on": ["done"], "queue": "after"}})).await;
    let task = server.take(json!({})).await;
    server.verb("b", "commit", json!({"token": task["token"]})).await.is(200);
    ear.hears("task.pushed").await;
    ear.hears("task.taken").await;
    ear.hears("task.committed").await;
    assert_eq!(ear.hears("task.pushed").await["queue"], "after");
}

#[tokio::test]
async fn a_batch_is_one_event() {
    let server = TestServer::start().await;
    let mut ear = Ear::open(&server, "?type=task.*").await;
    let tasks: Vec<_> = (0..20).map(|n| json!({"id": format!("t{n:02}")})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let ids: Vec<_> = (0..20).map(|n| format!("t{n:02}")).collect();
    assert_eq!(ear.hears("task.pushed").await["ids"], json!(ids));
    let taken = server.post("/v1/queues/q/take", json!({"n": 20, "worker": "w"})).await.is(200);
    let told = ear.hears("task.taken").await;
    assert_eq!((&told["ids"], &told["worker"]), (&json!(ids), &json!("w")));
    let settle = taken["tasks"].as_array().unwrap().iter();
    let settle: Vec<_> =
        settle.map(|task| json!({"id": task["id"], "token": task["token"]})).collect();
    server.post("/v1/queues/q/commit", json!({"tasks": settle})).await.is(200);
    assert_eq!(ear.hears("task.committed").await["ids"], json!(ids));
    // What is refused is not told.
    server.push(json!({"id": "a"})).await;
    assert_eq!(ear.hears("task.pushed").await["id"], "a");
    let both = json!({"tasks": [{"id": "a"}, {"id": "b"}]});
    server.post("/v1/queues/q/tasks", both).await.is(200);
    assert_eq!(ear.hears("task.pushed").await["id"], "b");
}

#[tokio::test]
async fn what_is_done_to_a_queue_is_told() {
    let server = TestServer::start().await;
    let mut ear = Ear::open(&server, "?type=queue.changed").await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    server.put("/v1/queues/q", json!({"max": 5})).await.is(200);
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    server.post("/v1/queues/q/reset", json!({})).await.is(200);
    server.delete("/v1/queues/q").await.is(204);
    for change in ["created", "settings", "paused", "resumed", "reset", "deleted"] {
        let told = ear.hears("queue.changed").await;
        assert_eq!((&told["queue"], &told["change"]), (&json!("q"), &json!(change)));
    }
}
