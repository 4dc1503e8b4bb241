//! Callbacks whose task cannot be made as it was to be.

use super::events::Ear;
use super::{TestServer, json};

#[tokio::test]
async fn a_callback_whose_id_another_task_has_gets_another() {
    let server = TestServer::start().await;
    let later = json!({"id": "told", "delay": 3_600});
    server.post("/v1/queues/after/tasks", later).await.is(201);
    let mut ear = Ear::open(&server, "?type=task.refused").await;
    let callback = json!({"queue": "after", "task": {"id": "told"}});
    for id in ["a", "b"] {
        server.push(json!({"id": id, "callback": callback})).await;
        let task = server.take(json!({})).await;
        server.verb(id, "commit", json!({"token": task["token"]})).await.is(200);
    }
    for (id, of) in [("told~2", "a"), ("told~3", "b")] {
        let made = server.get(&format!("/v1/queues/after/tasks/{id}")).await.is(200);
        assert_eq!(made["payload"]["task"]["id"], of);
        let refused = ear.hears("task.refused").await;
        assert_eq!((&refused["queue"], &refused["id"]), (&json!("after"), &json!("told")));
        assert_eq!(refused["made_as"], id);
    }
    assert_eq!(server.get("/v1/queues/after/tasks/told").await.is(200)["state"], "waiting");
}

#[tokio::test]
async fn callbacks_of_one_batch_that_name_the_same_id_are_all_made() {
    let server = TestServer::start().await;
    let callback = json!({"queue": "after", "task": {"id": "told"}});
    let tasks: Vec<_> = (0..3).map(|_| json!({"callback": callback})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let taken = server.post("/v1/queues/q/take", json!({"n": 3})).await.is(200);
    let settled: Vec<_> = taken["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| json!({"id": task["id"], "token": task["token"]}))
        .collect();
    server.post("/v1/queues/q/commit", json!({"tasks": settled})).await.is(200);
    let made = server.get("/v1/queues/after/tasks").await.is(200);
    assert_eq!(made["items"].as_array().unwrap().len(), 3, "{made}");
}

#[tokio::test]
async fn a_callback_under_the_id_of_the_ended_task_takes_its_place() {
    let server = TestServer::start().await;
    let callback = json!({"queue": "q", "task": {"id": "a", "delay": 3_600}});
    server.push(json!({"id": "a", "callback": callback})).await;
    let task = server.take(json!({})).await;
    server.verb("a", "commit", json!({"token": task["token"]})).await.is(200);
    assert_eq!(server.get("/v1/queues/q/tasks/a").await.is(200)["state"], "waiting");
}

#[tokio::test]
async fn a_callback_that_would_be_too_large_says_that_it_was_cut() {
    let server = TestServer::start().await;
    let big = "x".repeat((1 << 20) - 10);
    server.push(json!({"id": "a", "payload": big, "callback": {"queue": "after"}})).await;
    let task = server.take(json!({})).await;
    server.verb("a", "commit", json!({"token": task["token"], "result": 7})).await.is(200);
    let made = server.post("/v1/queues/after/take", json!({})).await.is(200);
    let payload = &made["tasks"][0]["payload"];
    assert_eq!((&payload["truncated"], &payload["task"]["result"]), (&json!(true), &json!(7)));
    assert_eq!(payload.get("payload"), None);
}
