//! `Idempotency-Key`: a repeated push has no second effect.

use serde_json::Value;

use super::server::Answer;
use super::{TestServer, json};

async fn push(server: &TestServer, queue: &str, key: &str, body: &Value) -> Answer {
    let path = format!("/v1/queues/{queue}/tasks");
    server.raw("POST", &path, &[("idempotency-key", key)], body.to_string()).await
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

#[tokio::test]
async fn a_repeat_answers_the_same_task_as_it_reads_now() {
    let server = TestServer::start().await;
    let body = json!({"payload": 1});
    let first = push(&server, "q", "k", &body).await;
    assert!(!is_replayed(&first));
    let first = first.is(201);
    let again = push(&server, "q", "k", &body).await;
    assert!(is_replayed(&again));
    assert_eq!(again.is(201), first);
    server.take(json!({})).await;
    let running = push(&server, "q", "k", &body).await.is(201);
    assert_eq!((&running["id"], &running["state"]), (&first["id"], &json!("running")));
    // When the task is gone, its name is left.
    server.delete(&format!("/v1/queues/q/tasks/{}", first["id"].as_str().unwrap())).await.is(204);
    let gone = push(&server, "q", "k", &body).await;
    assert!(is_replayed(&gone));
    assert_eq!(gone.is(201), json!({"queue": "q", "id": first["id"]}));
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
    // Other keys, other queues and requests without a key are other requests.
    for (queue, key) in [("q", "K"), ("r", "k")] {
        assert!(!is_replayed(&push(&server, queue, key, &body).await));
    }
    // After a day it is forgotten.
    server.advance(86_401).await;
    assert!(!is_replayed(&push(&server, "q", "k", &body).await));
}

#[tokio::test]
async fn a_batch_is_replayed_with_its_answers() {
    let server = TestServer::start().await;
    let body = json!({"tasks": [{"id": "a"}, {"id": "a"}, {"id": "b", "priority": 900}, {}, 1]});
    let first = push(&server, "q", "k", &body).await.is(200);
    let again = push(&server, "q", "k", &body).await;
    assert!(is_replayed(&again));
    let again = again.is(200);
    for (index, result) in first["results"].as_array().unwrap().iter().enumerate() {
        for field in ["id", "ok", "code"] {
            assert_eq!(again["results"][index].get(field), result.get(field), "{index} {field}");
        }
    }
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 2);
}

#[tokio::test]
async fn another_body_under_a_key_is_refused() {
    let server = TestServer::start().await;
    push(&server, "q", "k", &json!({"payload": 1})).await.is(201);
    let detail = push(&server, "q", "k", &json!({"payload": 2})).await.problem(422, "invalid");
    assert!(detail.contains("Idempotency-Key"), "{detail}");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1);
}

#[tokio::test]
async fn a_refused_push_leaves_its_key_free() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let body = json!({"id": "a"});
    push(&server, "q", "k", &body).await.problem(409, "duplicate");
    server.delete("/v1/queues/q/tasks/a").await.is(204);
    let pushed = push(&server, "q", "k", &body).await;
    assert!(!is_replayed(&pushed));
    pushed.is(201);
    push(&server, "q", "other", &json!({"colour": 1})).await.problem(422, "invalid");
    push(&server, "q", "other", &json!({})).await.is(201);
}

#[tokio::test]
async fn bad_keys_are_refused() {
    let server = TestServer::start().await;
    for key in ["", &"k".repeat(256), "é"] {
        push(&server, "q", key, &json!({})).await.problem(422, "invalid");
    }
    push(&server, "q", &"k".repeat(255), &json!({})).await.is(201);
}

#[tokio::test]
async fn of_many_repeats_at_once_one_takes_effect() {
    let server = std::sync::Arc::new(TestServer::start().await);
    let mut repeats = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let server = server.clone();
        repeats.spawn(async move { push(&server, "q", "k", &json!({"payload": 1})).await });
    }
    let answers = repeats.join_all().await;
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    let ids: std::collections::HashSet<String> =
        answers.into_iter().map(|answer| answer.is(201)["id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1);
}
