//! Workers are told which bundle is due, now or when one is; and what nobody gets is abandoned.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::{PATIENCE, TestServer, json};
use super::path;

const SCHEDULE: &str = "/v1/queues/q/bundles/schedule";

async fn schedule(server: &TestServer) -> Value {
    server.post(SCHEDULE, json!({})).await.is(200)
}

#[tokio::test]
async fn the_first_due_bundle_is_handed_out_once() {
    let server = TestServer::start().await;
    server.post(SCHEDULE, json!({})).await.problem(404, "not_found");
    server.fill("late", &[json!(1)], json!({"ontime": server.at(20)})).await;
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": 20}));
    server.fill("soon", &[json!(1)], json!({"ontime": server.at(5)})).await;
    assert_eq!(schedule(&server).await["next_in"], 5);
    let (soon, late) = (server.at(5), server.at(20));
    server.advance(20).await;
    assert_eq!(schedule(&server).await, json!({"key": "soon", "ontime": soon}));
    assert_eq!(server.get(&path("soon")).await.is(200)["state"], "started");
    assert_eq!(schedule(&server).await, json!({"key": "late", "ontime": late}));
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": 30}));
    // Nobody came for it: after a while it is due again.
    server.advance(30).await;
    assert_eq!(schedule(&server).await["key"], "late");
    assert_eq!(schedule(&server).await["key"], "soon");
    server.delete(&path("late")).await.is(204);
    server.bundle("soon", "get", json!({"random": "r", "timeout": 10})).await.is(200);
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": 10}));
    server.bundle("soon", "complete", json!({"random": "r"})).await.is(200);
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": null}));
}

#[tokio::test]
async fn what_is_scheduled_and_not_got_is_abandoned() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"abandon_after": 60})).await.is(201);
    server.fill("k", &[json!(1)], json!({})).await;
    assert_eq!(schedule(&server).await["key"], "k");
    server.advance(59).await;
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": 1}));
    server.advance(1).await;
    let read = server.eventually(&path("k"), |read| read["state"] == "failed").await;
    assert_eq!((&read["error"], &read["size"]), (&json!("abandoned"), &json!(1)));
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": null}));
    let failed = server.get("/v1/queues/q/bundles?state=failed").await.is(200);
    assert_eq!(failed["items"][0]["key"], "k");
    server.bundle("k", "get", json!({"random": "r"})).await.problem(409, "wrong_state");
    let read = server.bundle("k", "retry", json!({})).await.is(200);
    assert_eq!((&read["state"], &read["error"]), (&json!("waiting"), &json!(null)));
    assert_eq!(schedule(&server).await["key"], "k");
    server.bundle("k", "get", json!({"random": "r", "timeout": 500})).await.is(200);
    server.advance(100).await;
    server.bundle("k", "complete", json!({"random": "r"})).await.is(200);
    // The next push revives one that failed, whole.
    server.fill("k", &[json!(1)], json!({})).await;
    assert_eq!(schedule(&server).await["key"], "k");
    server.advance(60).await;
    server.eventually(&path("k"), |read| read["state"] == "failed").await;
    server.fill("k", &[json!(2)], json!({})).await;
    let read = server.get(&path("k")).await.is(200);
    assert_eq!((&read["state"], &read["tasks"]), (&json!("waiting"), &json!([1, 2])));
    // Or it is dropped.
    server.put("/v1/queues/q", json!({"abandoned": "drop"})).await.is(200);
    assert_eq!(schedule(&server).await["key"], "k");
    server.advance(60).await;
    server.eventually("/v1/queues/q", |queue| queue["counts"]["bundles"] == 0).await;
}

#[tokio::test]
async fn a_waiting_worker_hears_of_a_push_due_sooner() {
    let server = Arc::new(TestServer::start().await);
    server.fill("late", &[json!(1)], json!({"ontime": server.at(3_000)})).await;
    let waiting = wait(&server);
    server.fill("now", &[json!(1)], json!({})).await;
    assert_eq!(waiting.await.unwrap()["key"], "now");
    server.bundle("now", "get", json!({"random": "r", "timeout": 9_000})).await.is(200);
    // A clock that is moved is heard of too.
    let waiting = wait(&server);
    tokio::time::sleep(Duration::from_millis(20)).await;
    server.advance(3_000).await;
    assert_eq!(waiting.await.unwrap()["key"], "late");
    // So is a bundle that another gives back.
    server.delete(&path("late")).await.is(204);
    let waiting = wait(&server);
    server.bundle("now", "release", json!({"random": "r", "ontime": 0})).await.is(200);
    assert_eq!(waiting.await.unwrap()["key"], "now");
}

/// A worker that waits for a bundle.
fn wait(server: &Arc<TestServer>) -> tokio::task::JoinHandle<Value> {
    let server = server.clone();
    tokio::spawn(async move {
        let wait = json!({"wait": PATIENCE.as_secs()});
        server.post(SCHEDULE, wait).await.is(200)
    })
}

#[tokio::test]
async fn a_wait_ends_in_time_with_its_queue_and_with_the_server() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({})).await.is(201);
    let nothing = server.post(SCHEDULE, json!({"wait": 0.05})).await.is(200);
    assert_eq!(nothing, json!({"key": null, "next_in": null}));
    server.post(SCHEDULE, json!({"wait": 61})).await.problem(422, "invalid");
    let other = server.clone();
    let waiting = tokio::spawn(async move { other.post(SCHEDULE, json!({"wait": 15})).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    server.delete("/v1/queues/q").await.is(204);
    waiting.await.unwrap().problem(404, "not_found");
}

#[tokio::test]
async fn a_server_that_stops_lets_those_who_wait_go() {
    let mut server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    let mut stream = server.connect().await;
    let body = r#"{"wait":15}"#;
    let head = format!("POST {SCHEDULE} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.stop();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with(r#"{"key":null,"next_in":null}"#), "{answer}");
    server.stopped().await.unwrap();
}

#[tokio::test]
async fn a_paused_queue_hands_nothing_out() {
    let server = Arc::new(TestServer::start().await);
    server.fill("k", &[json!(1)], json!({})).await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    assert_eq!(schedule(&server).await, json!({"key": null, "next_in": null}));
    server.bundle("k", "get", json!({"random": "r"})).await.problem(409, "wrong_state");
    server.fill("k", &[json!(2)], json!({})).await;
    let waiting = wait(&server);
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    assert_eq!(waiting.await.unwrap()["key"], "k");
}

#[tokio::test]
async fn many_workers_get_different_bundles() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({})).await.is(201);
    let waiting: Vec<_> = (0..16).map(|_| wait(&server)).collect();
    for n in 0..16 {
        server.fill(&format!("k{n}"), &[json!(n)], json!({})).await;
    }
    let mut keys = std::collections::BTreeSet::new();
    for worker in waiting {
        keys.insert(worker.await.unwrap()["key"].to_string());
    }
    assert_eq!(keys.len(), 16);
}
