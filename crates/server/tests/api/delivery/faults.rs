//! Targets that behave badly: each costs its own time and no more.

use std::time::Duration;

use super::*;

/// Delivers one task to a target that does this, and returns it once the attempt has failed.
async fn failed(reply: Reply) -> Value {
    let stub = Stub::start(move |_| reply.clone()).await;
    let server = delivering(json!({"url": stub.url("/"), "timeout": "1s"})).await;
    server.push(json!({"id": "t"})).await;
    server.until("t", "waiting").await
}

#[tokio::test]
async fn a_target_that_does_not_answer_is_given_up_in_time() {
    let task = failed(Reply::Hang).await;
    assert_eq!(task["error"], "no answer within 1 s");
    let http = &task["history"][0]["http"];
    assert!(http["first_byte"].is_null() && http["answer"].is_null());
    let total = http["total"].as_f64().unwrap();
    assert!((0.9..15.0).contains(&total), "{total}");
}

#[tokio::test]
async fn a_connection_that_ends_early_is_a_failure() {
    let task = failed(Reply::Close).await;
    assert_eq!(task["error"], "no answer: connection closed before message completed");
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nnot quite".to_vec();
    let task = failed(Reply::Raw(cut)).await;
    let error = task["error"].as_str().unwrap();
    assert!(error.starts_with("the answer broke off: "), "{error}");
    assert_eq!(task["history"][0]["status"], 200);
    assert_eq!(task["history"][0]["http"]["answer"], "not quite");
}

#[tokio::test]
async fn what_is_not_http_is_a_failure() {
    let task = failed(Reply::Raw(b"220 mail.example ESMTP\r\n".to_vec())).await;
    assert!(task["error"].as_str().unwrap().starts_with("no answer: "), "{}", task["error"]);
}

#[tokio::test]
async fn nobody_listening_is_a_failure() {
    let reserved = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = reserved.local_addr().unwrap();
    drop(reserved);
    let server = delivering(json!({"url": format!("http://{address}/")})).await;
    server.push(json!({"id": "t"})).await;
    let task = server.until("t", "waiting").await;
    assert!(task["error"].as_str().unwrap().starts_with("cannot connect: "), "{}", task["error"]);
}

#[tokio::test]
async fn an_endless_answer_is_cut_at_its_limit() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let endless = Reply::Endless(head.clone(), vec![b'x'; 64 << 10], Duration::ZERO);
    let stub = Stub::start(move |_| endless.clone()).await;
    let server = delivering(json!({"url": stub.url("/")})).await;
    server.push(json!({"id": "t"})).await;
    let task = server.until("t", "done").await;
    assert_eq!(task["result"].as_str().unwrap().len(), 64 << 10);
    assert!(task["history"][0]["http"]["answer_bytes"].as_u64().unwrap() < 1 << 20);
    let http = json!({"success": {"contains": "never"}});
    server.push(json!({"id": "u", "http": http})).await;
    let task = server.until("u", "waiting").await;
    assert_eq!(task["error"], "the answer does not contain the text that means success");
    assert!(task["history"][0]["http"]["answer_bytes"].as_u64().unwrap() < 2 << 20);
}

#[tokio::test]
async fn a_packed_answer_is_not_unpacked() {
    let bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let stub = Stub::start(move |_| {
        Reply::Answer(200, vec![("content-encoding", "gzip".to_owned())], bomb.clone())
    })
    .await;
    let server = delivering(json!({"url": stub.url("/")})).await;
    server.push(json!({"id": "t"})).await;
    let task = server.until("t", "done").await;
    assert_eq!(task["history"][0]["http"]["answer_bytes"], 10);
    assert!(!stub.seen(1).await[0].headers.contains_key("accept-encoding"));
}

#[tokio::test]
async fn a_trickle_is_cut_at_its_deadline() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
    let task = failed(Reply::Endless(head, b"x".to_vec(), Duration::from_millis(20))).await;
    assert_eq!(task["error"], "no whole answer within 1 s");
    assert_eq!(task["history"][0]["status"], 200);
    let slow_head = b"HTTP/1.1 200 OK\r\nx: ".to_vec();
    let task = failed(Reply::Endless(slow_head, b"x".to_vec(), Duration::from_millis(20))).await;
    assert_eq!(task["error"], "no answer within 1 s");
}

#[tokio::test]
async fn an_endless_head_is_cut_at_its_limit() {
    let line = format!("x-{}: y\r\n", "z".repeat(1_000)).into_bytes();
    let head = b"HTTP/1.1 200 OK\r\n".to_vec();
    let stub =
        Stub::start(move |_| Reply::Endless(head.clone(), line.clone(), Duration::ZERO)).await;
    let server = delivering(json!({"url": stub.url("/"), "timeout": "20s"})).await;
    server.push(json!({"id": "t"})).await;
    let task = server.until("t", "waiting").await;
    let error = task["error"].as_str().unwrap();
    assert!(error.starts_with("no answer: ") && !error.contains("within"), "{error}");
    let continues = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    let task = failed(Reply::Endless(Vec::new(), continues, Duration::from_millis(5))).await;
    assert_eq!(task["error"], "no answer within 1 s");
}

#[tokio::test]
async fn a_longer_attempt_is_held_for_longer() {
    let stub = Stub::start(|_| Reply::Gate).await;
    let server = delivering(json!({"url": stub.url("/"), "timeout": "2s"})).await;
    server.push(json!({"id": "long", "http": {"timeout": "10m"}})).await;
    server.push(json!({"id": "short"})).await;
    stub.seen(2).await;
    assert_eq!(server.task("short").await["hold_until"], "2026-11-15T06:00:07.000Z");
    assert_eq!(server.task("long").await["hold_until"], "2026-11-15T06:10:05.000Z");
    stub.open();
    server.until("long", "done").await;
}
