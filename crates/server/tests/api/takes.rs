//! Takes: at once, by waiting, with commits; and takers that are gone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::server::Answer;
use super::{TestServer, json};

/// A take that waits, in a task of its own. It is left alone for a moment, in which it must not
/// answer.
async fn waiting(server: &Arc<TestServer>, body: Value) -> JoinHandle<Answer> {
    let server = server.clone();
    let mut take = tokio::spawn(async move { server.post("/v1/queues/q/take", body).await });
    let early = tokio::time::timeout(Duration::from_millis(50), &mut take).await;
    assert!(early.is_err(), "it did not wait: {early:?}");
    take
}

async fn started() -> Arc<TestServer> {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    Arc::new(server)
}

fn only_id(answer: Answer) -> String {
    let taken = answer.is(200);
    assert_eq!(taken["tasks"].as_array().unwrap().len(), 1, "{taken}");
    taken["tasks"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_take_says_how_many_for_whom_and_how_long() {
    let server = started().await;
    assert_eq!(server.post("/v1/queues/q/take", json!({})).await.is(200), json!({"tasks": []}));
    let batch = json!({"tasks": [{"id": "a"}, {"id": "b", "hold": 7}, {"id": "c"}]});
    server.post("/v1/queues/q/tasks", batch).await.is(200);
    let body = json!({"n": 2, "worker": "w"});
    let taken = server.post("/v1/queues/q/take", body).await.is(200);
    assert_eq!(taken["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(taken["tasks"][0]["hold_until"], "2026-11-15T06:00:30.000Z");
    assert_eq!(taken["tasks"][1]["hold_until"], "2026-11-15T06:00:07.000Z");
    assert_eq!(taken["tasks"][1]["worker"], "w");
    let third = server.take(json!({"n": 1_000, "hold": "1h"})).await;
    assert_eq!(third["hold_until"], "2026-11-15T07:00:00.000Z");
    for (body, field) in [
        (json!({"n": 0}), "n"),
        (json!({"n": 1_001}), "n"),
        (json!({"n": -1}), "n"),
        (json!({"n": 1.5}), "n"),
        (json!({"wait": 61}), "wait"),
        (json!({"wait": "2m"}), "wait"),
        (json!({"hold": 0}), "hold"),
        (json!({"worker": "a b"}), "worker"),
        (json!({"confirm": 1}), "confirm"),
        (json!({"commit": {}}), "commit"),
        (json!({"number": 1}), "number"),
    ] {
        let detail = server.post("/v1/queues/q/take", body).await.problem(422, "invalid");
        assert!(detail.contains(field), "{detail}");
    }
}

#[tokio::test]
async fn a_waiting_take_answers_when_a_task_is_pushed() {
    let server = started().await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.push(json!({"id": "a"})).await;
    assert_eq!(only_id(take.await.unwrap()), "a");
}

#[tokio::test]
async fn a_waiting_take_answers_when_a_task_falls_due() {
    let server = started().await;
    server.push(json!({"id": "a", "delay": 600})).await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.advance(600).await;
    assert_eq!(only_id(take.await.unwrap()), "a");
}

#[tokio::test]
async fn a_waiting_take_answers_when_a_hold_ends() {
    let server = started().await;
    server.push(json!({"id": "a"})).await;
    server.take(json!({})).await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.advance(31).await;
    assert_eq!(only_id(take.await.unwrap()), "a");
}

#[tokio::test]
async fn a_waiting_take_answers_when_the_queue_is_resumed() {
    let server = started().await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.push(json!({"id": "a"})).await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    assert_eq!(only_id(take.await.unwrap()), "a");
}

#[tokio::test]
async fn a_waiting_take_keeps_to_concurrency() {
    let server = started().await;
    server.put("/v1/queues/q", json!({"concurrency": 1})).await.is(200);
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b"})).await;
    let first = server.take(json!({"n": 5})).await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.verb("a", "commit", json!({"token": first["token"]})).await.is(200);
    assert_eq!(only_id(take.await.unwrap()), "b");
}

#[tokio::test]
async fn a_waiting_take_keeps_to_the_rate() {
    let server = started().await;
    server.put("/v1/queues/q", json!({"rate": {"limit": 1, "per": "1h"}})).await.is(200);
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b"})).await;
    assert_eq!(server.take(json!({"n": 5})).await["id"], "a");
    let why = server.get("/v1/queues/q/tasks/b/why").await.is(200);
    assert_eq!(
        (&why["reason"], &why["until"]),
        (&json!("rate"), &json!("2026-11-15T07:00:00.000Z"))
    );
    let take = waiting(&server, json!({"wait": 60})).await;
    server.advance(3_600).await;
    assert_eq!(only_id(take.await.unwrap()), "b");
}

#[tokio::test]
async fn a_take_waits_only_as_long_as_it_said() {
    let server = started().await;
    let taken = server.post("/v1/queues/q/take", json!({"wait": 0.03})).await.is(200);
    assert_eq!(taken, json!({"tasks": []}));
    // Its place in the line is given up: the next task is for somebody else.
    server.push(json!({"id": "a"})).await;
    assert_eq!(server.take(json!({})).await["attempt"], 1);
}

#[tokio::test]
async fn waiting_takes_are_served_in_their_order() {
    let server = started().await;
    let mut takes = Vec::new();
    for _ in 0..3 {
        takes.push(waiting(&server, json!({"wait": 60})).await);
    }
    for (take, id) in takes.into_iter().zip(["a", "b", "c"]) {
        server.push(json!({"id": id})).await;
        assert_eq!(only_id(take.await.unwrap()), id);
    }
}

#[tokio::test]
async fn many_waiting_takes_share_what_comes_at_once() {
    let server = started().await;
    let mut takes = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let server = server.clone();
        takes.spawn(async move { server.post("/v1/queues/q/take", json!({"wait": 60})).await });
    }
    let tasks: Vec<Value> = (0..40).map(|n| json!({"id": format!("t{n}")})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let ids: HashSet<String> = takes.join_all().await.into_iter().map(only_id).collect();
    assert_eq!(ids.len(), 40);
}

#[tokio::test]
async fn deleting_a_queue_ends_the_wait_for_its_tasks() {
    let server = started().await;
    let take = waiting(&server, json!({"wait": 60})).await;
    server.delete("/v1/queues/q").await.is(204);
    take.await.unwrap().problem(404, "not_found");
}

#[tokio::test]
async fn no_task_is_handed_out_twice() {
    let server = started().await;
    server.post("/v1/queues/q/tasks", json!({"tasks": vec![json!({}); 300]})).await.is(200);
    let mut takers = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let server = server.clone();
        takers.spawn(async move {
            let mut got = Vec::new();
            loop {
                let body = json!({"n": 7, "worker": format!("w{worker}")});
                let taken = server.post("/v1/queues/q/take", body).await.is(200);
                let tasks = taken["tasks"].as_array().unwrap();
                if tasks.is_empty() {
                    return got;
                }
                got.extend(tasks.iter().map(|t| (t["id"].to_string(), t["token"].to_string())));
            }
        });
    }
    let got: Vec<(String, String)> = takers.join_all().await.into_iter().flatten().collect();
    let ids: HashSet<&String> = got.iter().map(|(id, _)| id).collect();
    let tokens: HashSet<&String> = got.iter().map(|(_, token)| token).collect();
    assert_eq!((got.len(), ids.len(), tokens.len()), (300, 300, 300));
}

#[tokio::test]
async fn a_take_commits_what_its_taker_is_done_with() {
    let server = started().await;
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b"})).await;
    let a = server.take(json!({})).await;
    let commit = json!([
        {"id": "a", "token": a["token"], "result": 1}, {"id": "x", "token": "y"}, {"id": "a"}
    ]);
    let taken = server.post("/v1/queues/q/take", json!({"commit": commit})).await.is(200);
    assert_eq!(taken["tasks"][0]["id"], "b");
    assert_eq!(taken["committed"][0], json!({"id": "a", "ok": true}));
    assert_eq!(taken["committed"][1]["code"], "not_found");
    assert_eq!(taken["committed"][2]["code"], "invalid");
    // Nothing can be taken, and the answer to the commit comes all the same.
    let commit = json!([{"id": "b", "token": taken["tasks"][0]["token"]}]);
    let taken = server.post("/v1/queues/q/take", json!({"commit": commit})).await.is(200);
    assert_eq!(taken, json!({"tasks": [], "committed": [{"id": "b", "ok": true}]}));
    let body = json!({"commit": []});
    server.post("/v1/queues/none/take", body.clone()).await.problem(404, "not_found");
    server.post("/v1/queues/notices/take", body).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn commits_of_a_take_are_durable_before_it_waits() {
    let server = started().await;
    server.put("/v1/queues/q", json!({"keep": {"done": "1h"}})).await.is(200);
    server.push(json!({"id": "a"})).await;
    let a = server.take(json!({})).await;
    let commit = json!([{"id": "a", "token": a["token"]}]);
    let take = waiting(&server, json!({"commit": commit, "wait": 60})).await;
    assert_eq!(server.task("a").await["state"], "done");
    // Whatever becomes of the take, the commit is answered.
    server.delete("/v1/queues/q").await.is(204);
    let answer = take.await.unwrap().is(200);
    assert_eq!(answer, json!({"tasks": [], "committed": [{"id": "a", "ok": true}]}));
}

async fn send(server: &TestServer, body: &Value) -> tokio::net::TcpStream {
    let body = body.to_string();
    let mut stream = server.connect().await;
    let head = format!(
        "POST /v1/queues/q/take HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_task_is_not_lost_to_a_taker_that_has_left_the_line() {
    let server = started().await;
    let taker = send(&server, &json!({"wait": 60})).await;
    let behind = waiting(&server, json!({"wait": 60})).await;
    drop(taker);
    server.push(json!({"id": "a"})).await;
    assert_eq!(only_id(behind.await.unwrap()), "a");
    assert_eq!(server.task("a").await["attempt"], 1);
}

#[tokio::test]
async fn tasks_go_back_when_their_taker_is_gone_before_the_answer_was_written() {
    let server = started().await;
    for n in 0..15 {
        server.push(json!({"id": format!("t{n}"), "payload": "x".repeat(1_000_000)})).await;
    }
    let mut taker = send(&server, &json!({"n": 100})).await;
    // The answer has begun, and does not fit into the buffers of the connection.
    let mut start = [0; 12];
    taker.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["running"], 15);
    drop(taker);
    let queue = server.eventually("/v1/queues/q", |queue| queue["counts"]["ready"] == 15).await;
    assert_eq!(queue["counts"]["taken"], 0);
    let task = server.task("t0").await;
    assert_eq!((&task["attempt"], &task["history"][0]["outcome"]), (&json!(0), &json!("released")));
}
