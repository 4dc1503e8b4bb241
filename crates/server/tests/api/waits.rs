//! Waiting for the end of a task, with a push or a read.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use super::server::Answer;
use super::{PATIENCE, TestServer, json};

const TASKS: &str = "/v1/queues/q/tasks";
const PUSH: &str = "/v1/queues/q/tasks?wait=30s";

/// A request that waits, on its way.
fn waiting(
    server: &Arc<TestServer>,
    method: &'static str,
    path: &str,
    body: &str,
) -> JoinHandle<Answer> {
    let (server, path, body) = (server.clone(), path.to_owned(), body.to_owned());
    tokio::spawn(async move { server.raw(method, &path, &[], body).await })
}

/// The answer to a request that waited, which came long before its time was over.
async fn answered(waiting: JoinHandle<Answer>) -> Answer {
    tokio::time::timeout(PATIENCE, waiting).await.expect("it is answered at once").unwrap()
}

/// Takes the one task there is, waiting for it, and commits it.
async fn work(server: &TestServer) {
    let task = server.take(json!({"wait": 20, "worker": "w"})).await;
    let commit = json!({"token": task["token"], "result": 7});
    server.verb(task["id"].as_str().unwrap(), "commit", commit).await.is(200);
}

#[tokio::test]
async fn a_push_is_answered_when_its_task_has_ended() {
    let server = Arc::new(TestServer::start().await);
    for (keep, id) in [(json!("1h"), "kept"), (json!(0), "not-kept")] {
        server.put("/v1/queues/q", json!({"keep": {"done": keep}})).await;
        let body = json!({"id": id, "payload": 1}).to_string();
        let pushed = waiting(&server, "POST", PUSH, &body);
        work(&server).await;
        let task = answered(pushed).await.is(201);
        assert_eq!((&task["queue"], &task["id"]), (&json!("q"), &json!(id)));
        assert_eq!(task["state"], "done");
        if id == "kept" {
            assert_eq!((&task["result"], &task["worker"]), (&json!(7), &json!("w")));
        }
    }
    let pushed = waiting(&server, "POST", "/v1/queues/q/tasks?wait=30", "{}");
    work(&server).await;
    let task = answered(pushed).await.is(201);
    assert!((22..=26).contains(&task["id"].as_str().unwrap().len()), "{task}");
    assert_eq!(task["state"], "done");
}

#[tokio::test]
async fn a_read_waits_for_the_end_however_it_comes() {
    let server = Arc::new(TestServer::start().await);
    for keep in [60, 0] {
        let keep = json!({"done": keep, "failed": keep, "cancelled": keep});
        server.put("/v1/queues/q", json!({"keep": keep})).await;
        let ends = [("a", "done"), ("b", "failed"), ("c", "cancelled"), ("d", "failed")];
        let ends = if keep["done"] == 60 { &ends[..] } else { &ends[..3] };
        for &(id, state) in ends {
            let expires = (id == "d").then_some("2026-11-15T06:30:00Z");
            server.push(json!({"id": id, "expires": expires})).await;
            let path = format!("{TASKS}/{id}?wait=30s");
            let readers: Vec<_> = (0..3).map(|_| waiting(&server, "GET", &path, "")).collect();
            let taker = json!({"worker": "w"});
            match (id, state) {
                ("d", _) => {
                    server.until(id, "ready").await;
                    server.advance(3_600).await;
                }
                (_, "done") => {
                    let token = &server.take(taker).await["token"];
                    server.verb(id, "commit", json!({"token": token})).await.is(200);
                }
                (_, "failed") => {
                    let token = &server.take(taker).await["token"];
                    let body = json!({"token": token, "permanent": true, "error": "no"});
                    server.verb(id, "fail", body).await.is(200);
                }
                _ => {
                    let token = &server.take(taker).await["token"];
                    server.verb(id, "cancel", json!({})).await.is(200);
                    server.verb(id, "cancelled", json!({"token": token})).await.is(200);
                }
            }
            for reader in readers {
                let answer = answered(reader).await;
                // One that came after the end of a task that is not kept finds nothing.
                if keep["done"] == 60 || answer.status == 200 {
                    assert_eq!(answer.is(200)["state"], state, "{id}");
                } else {
                    answer.problem(404, "not_found");
                }
            }
            if keep["done"] == 60 {
                assert_eq!(server.get(&path).await.is(200)["state"], state, "it has ended");
            }
        }
    }
}

#[tokio::test]
async fn after_its_time_a_wait_is_answered_with_the_task_as_it_is() {
    let server = TestServer::start().await;
    let pushed = server.raw("POST", "/v1/queues/q/tasks?wait=50ms", &[], r#"{"id":"a"}"#).await;
    assert_eq!(pushed.is(201)["state"], "ready");
    let path = format!("{TASKS}/a?wait=0.05");
    assert_eq!(server.get(&path).await.is(200)["state"], "ready");
    server.take(json!({})).await;
    assert_eq!(server.get(&path).await.is(200)["state"], "running");
}

#[tokio::test]
async fn a_wait_that_cannot_be_is_refused_by_name_and_changes_nothing() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    server.get(&format!("{TASKS}/none?wait=30s")).await.problem(404, "not_found");
    server.get("/v1/queues/none/tasks/a?wait=30s").await.problem(404, "not_found");
    for wait in ["61s", "60.001", "x", "-1", "1y"] {
        let read = server.get(&format!("{TASKS}/a?wait={wait}")).await;
        let push = server.raw("POST", &format!("{TASKS}?wait={wait}"), &[], "{}").await;
        for answer in [read, push] {
            let detail = answer.problem(422, "invalid");
            assert!(detail.starts_with("wait"), "{detail}");
        }
    }
    let batch = server.raw("POST", "/v1/queues/q/tasks?wait=1s", &[], r#"{"tasks":[{}]}"#).await;
    assert!(batch.problem(422, "invalid").starts_with("wait"));
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1, "nothing pushed");
    // A refused push does not wait.
    let twice = server.raw("POST", PUSH, &[], r#"{"id":"a"}"#).await;
    twice.problem(409, "duplicate");
}

#[tokio::test]
async fn a_wait_for_what_is_removed_ends() {
    let server = Arc::new(TestServer::start().await);
    for removal in ["clean", "bulk", "reset"] {
        let pushed = waiting(&server, "POST", PUSH, r#"{"id":"a"}"#);
        server.until("a", "ready").await;
        let read = waiting(&server, "GET", &format!("{TASKS}/a?wait=30s"), "");
        match removal {
            "clean" => server.delete(&format!("{TASKS}/a")).await.is(204),
            "bulk" => {
                let body = json!({"verb": "clean", "filter": {}});
                server.post(&format!("{TASKS}/bulk"), body).await.is(200)
            }
            _ => server.post("/v1/queues/q/reset", json!({})).await.is(200),
        };
        assert_eq!(answered(pushed).await.is(201)["id"], "a");
        // It was read before it went, or after.
        answered(read).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn a_push_is_answered_about_its_own_task_also_when_another_has_its_id() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({"keep": {"done": 0}})).await.is(201);
    for _ in 0..5 {
        let pushed = waiting(&server, "POST", PUSH, r#"{"id":"a","payload":"first"}"#);
        work(&server).await;
        server.push(json!({"id": "a", "payload": "second"})).await;
        let ended = answered(pushed).await.is(201);
        assert_eq!((&ended["id"], &ended["state"]), (&json!("a"), &json!("done")), "{ended}");
        server.delete(&format!("{TASKS}/a")).await.is(204);
    }
}

#[tokio::test]
async fn a_repeated_push_waits_as_well() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({"keep": {"done": 60}})).await.is(201);
    let headers = [("idempotency-key", "k")];
    let body = r#"{"payload":1}"#;
    let first = server.raw("POST", "/v1/queues/q/tasks?wait=10ms", &headers, body).await.is(201);
    let again = tokio::spawn({
        let server = server.clone();
        async move { server.raw("POST", PUSH, &headers, body).await }
    });
    work(&server).await;
    let again = answered(again).await;
    assert_eq!(again.headers["idempotency-replayed"], "true");
    let again = again.is(201);
    assert_eq!((&again["id"], &again["state"]), (&first["id"], &json!("done")));
}

#[tokio::test]
async fn a_server_that_stops_answers_those_who_wait() {
    let mut server = TestServer::start().await;
    let mut stream = server.connect().await;
    let push = "POST /v1/queues/q/tasks?wait=60s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n\
                {\"id\":\"a\"}";
    stream.write_all(push.as_bytes()).await.unwrap();
    server.until("a", "ready").await;
    server.stop();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("it is answered at once").unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(answer.contains(r#""state":"ready""#), "{answer}");
    server.stopped().await.unwrap();
}
