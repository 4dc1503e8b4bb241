//! What anybody may ask of a task: cancel, pause, resume, retry, reset, edit, clean; and why.

use serde_json::Value;

use super::{TestServer, json};

#[tokio::test]
async fn cancel_ends_what_is_not_running() {
    let server = TestServer::start().await;
    for (id, delay) in [("a", 0), ("b", 60)] {
        server.push(json!({"id": id, "delay": delay})).await;
        let cancelled = server.verb(id, "cancel", json!({})).await.is(200);
        assert_eq!(cancelled["state"], "cancelled");
        server.get(&format!("/v1/queues/q/tasks/{id}")).await.problem(404, "not_found");
        server.verb(id, "cancel", json!({})).await.problem(404, "not_found");
    }
    server.put("/v1/queues/q", json!({"keep": {"cancelled": 60}})).await.is(200);
    server.push(json!({"id": "c"})).await;
    server.verb("c", "cancel", json!({})).await.is(200);
    assert_eq!(server.verb("c", "cancel", json!({})).await.is(200)["state"], "cancelled");
    let detail = server.verb("c", "pause", json!({})).await.problem(409, "wrong_state");
    assert!(detail.contains("cancelled"), "{detail}");
    server.advance(61).await;
    server.eventually("/v1/queues/q/tasks/c", |answer| answer["code"] == "not_found").await;
}

#[tokio::test]
async fn pause_and_resume_set_aside_and_go_on() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "delay": 60})).await;
    for _ in 0..2 {
        assert_eq!(server.verb("a", "pause", json!({})).await.is(200)["state"], "paused");
    }
    server.advance(61).await;
    assert_eq!(server.task("a").await["state"], "paused");
    assert_eq!(server.verb("a", "resume", json!({})).await.is(200)["state"], "ready");
    server.verb("a", "resume", json!({})).await.problem(409, "wrong_state");
    // A holder that was only asked is asked no more.
    let taken = server.take(json!({})).await;
    server.verb("a", "pause", json!({})).await.is(200);
    assert_eq!(server.verb("a", "resume", json!({})).await.is(200)["state"], "running");
    server.verb("a", "commit", json!({"token": taken["token"]})).await.is(200);
}

#[tokio::test]
async fn retry_makes_a_failed_task_ready_with_one_more_attempt() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "max_attempts": 1})).await;
    server.verb("a", "retry", json!({})).await.problem(409, "wrong_state");
    let taken = server.take(json!({})).await;
    server.verb("a", "retry", json!({})).await.problem(409, "wrong_state");
    server.verb("a", "fail", json!({"token": taken["token"]})).await.is(200);
    let ready = server.verb("a", "retry", json!({})).await.is(200);
    assert_eq!((&ready["state"], &ready["attempt"]), (&json!("ready"), &json!(1)));
    assert_eq!(ready["max_attempts"], 1);
    let taken = server.take(json!({})).await;
    assert_eq!(taken["attempt"], 2);
    let freed = server.verb("a", "retry", json!({"force": true})).await.is(200);
    assert_eq!(freed["state"], "ready");
    let stale = json!({"token": taken["token"]});
    server.verb("a", "commit", stale).await.problem(409, "stale_token");
}

#[tokio::test]
async fn reset_makes_a_task_like_new() {
    let server = TestServer::start().await;
    let pushed = server.push(json!({"id": "a", "payload": 1})).await;
    assert_eq!(server.verb("a", "reset", json!({})).await.is(200), pushed);
    let taken = server.take(json!({})).await;
    let body = json!({"token": taken["token"], "progress": 0.1, "checkpoint": 1});
    server.verb("a", "extend", body).await.is(200);
    assert_eq!(server.verb("a", "reset", json!({})).await.is(200), pushed);
    server.verb("a", "commit", json!({"token": taken["token"]})).await.problem(409, "stale_token");
    let taken = server.take(json!({})).await;
    let body = json!({"token": taken["token"], "permanent": true});
    server.verb("a", "fail", body).await.is(200);
    assert_eq!(server.verb("a", "reset", json!({})).await.is(200), pushed);
}

#[tokio::test]
async fn clean_removes_a_task_whatever_its_state() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({})).await;
    assert_eq!(server.delete("/v1/queues/q/tasks/a").await.is(204), Value::Null);
    server.delete("/v1/queues/q/tasks/a").await.problem(404, "not_found");
    server.verb("a", "commit", json!({"token": taken["token"]})).await.problem(404, "not_found");
    server.push(json!({"id": "a"})).await;
}

#[tokio::test]
async fn edit_changes_what_was_pushed_while_nobody_has_it() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "payload": 1, "priority": 5, "tags": ["x"]})).await;
    let path = "/v1/queues/q/tasks/a";
    let edit = json!({
        "payload": {"new": true}, "due": "2026-11-15T07:00:00Z", "tags": ["y"],
        "retry": {"intervals": [1]}, "expires": "2026-11-15T08:00:00Z"
    });
    let edited = server.patch(path, edit).await.is(200);
    assert_eq!(edited["payload"], json!({"new": true}));
    assert_eq!((&edited["state"], &edited["priority"]), (&json!("waiting"), &json!(5)));
    assert_eq!(edited["due_at"], "2026-11-15T07:00:00.000Z");
    assert_eq!(edited["tags"], json!(["y"]));
    let reset = json!({"payload": null, "due": null, "priority": null, "tags": null});
    let edited = server.patch(path, reset).await.is(200);
    assert_eq!((&edited["payload"], &edited["priority"]), (&Value::Null, &json!(0)));
    assert_eq!((&edited["state"], &edited["tags"]), (&json!("ready"), &json!([])));
    server.take(json!({})).await;
    let detail = server.patch(path, json!({"priority": 1})).await.problem(409, "wrong_state");
    assert!(detail.contains("running"), "{detail}");
    server.patch("/v1/queues/q/tasks/b", json!({})).await.problem(404, "not_found");
    server.patch("/v1/queues/q/tasks/b", json!({"priority": 101})).await.problem(422, "invalid");
}

#[tokio::test]
async fn why_names_the_reason() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"retry": {"intervals": [60]}})).await.is(201);
    let reason = async |id: &str| {
        let why = server.get(&format!("/v1/queues/q/tasks/{id}/why")).await.is(200);
        assert!(why["text"].as_str().unwrap().len() > 10, "{why}");
        why["reason"].as_str().unwrap().to_owned()
    };
    server.push(json!({"id": "a", "delay": 60})).await;
    assert_eq!(reason("a").await, "not_due");
    server.verb("a", "pause", json!({})).await.is(200);
    assert_eq!(reason("a").await, "paused");
    server.push(json!({"id": "b"})).await;
    assert_eq!(reason("b").await, "no_taker");
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    assert_eq!(reason("b").await, "queue_paused");
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    let taken = server.take(json!({"worker": "w"})).await;
    assert_eq!(reason("b").await, "running");
    server.verb("b", "fail", json!({"token": taken["token"], "error": "oops"})).await.is(200);
    assert_eq!(reason("b").await, "retry_wait");
    server.advance(60).await;
    let confirming = server.take(json!({"confirm": true})).await;
    assert_eq!(reason("b").await, "unconfirmed");
    server.verb("b", "confirm", json!({"token": confirming["token"]})).await.is(200);
    server.verb("b", "cancel", json!({})).await.is(200);
    assert_eq!(reason("b").await, "cancelling");
    server.get("/v1/queues/q/tasks/none/why").await.problem(404, "not_found");
    server.put("/v1/queues/q", json!({"concurrency": 1})).await.is(200);
    server.push(json!({"id": "c"})).await;
    let why = server.get("/v1/queues/q/tasks/c/why").await.is(200);
    assert_eq!((&why["reason"], &why["limit"]), (&json!("concurrency"), &json!(1)));
}
