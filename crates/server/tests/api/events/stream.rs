//! The stream itself: filters, going on, gaps, slow readers, ends.

use std::collections::BTreeSet;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

async fn push(server: &TestServer, queue: &str, id: &str) {
    server.post(&format!("/v1/queues/{queue}/tasks"), json!({"id": id})).await.is(201);
}

#[tokio::test]
async fn a_new_stream_starts_with_new_events() {
    let server = TestServer::start().await;
    for n in 0..20 {
        push(&server, "q", &format!("before-{n}")).await;
        let mut ear = Ear::open(&server, "?type=task.*").await;
        push(&server, "q", &format!("after-{n}")).await;
        assert_eq!(ear.hears("task.pushed").await["id"], format!("after-{n}"));
    }
}

#[tokio::test]
async fn filters_select_by_queue_and_kind() {
    let server = TestServer::start().await;
    let mut of_b = Ear::open(&server, "?queue=b").await;
    let mut of_both = Ear::open(&server, "?queue=a,b&type=task.taken,queue.*").await;
    push(&server, "a", "1").await;
    push(&server, "b", "2").await;
    server.post("/v1/queues/b/take", json!({})).await.is(200);
    of_b.hears("queue.changed").await;
    assert_eq!(of_b.hears("task.pushed").await["id"], "2");
    of_b.hears("task.taken").await;
    assert_eq!(of_both.hears("queue.changed").await["queue"], "a");
    assert_eq!(of_both.hears("queue.changed").await["queue"], "b");
    assert_eq!(of_both.hears("task.taken").await["id"], "2");
    for (query, field) in [
        ("type=nonsense", "type"),
        ("type=task.%2A.%2A", "type"),
        ("queue=a%20b", "queue"),
        ("x=1", "x"),
    ] {
        let problem = server.get(&format!("/v1/events?{query}")).await.problem(422, "invalid");
        assert!(problem.contains(field), "{problem}");
    }
}

#[tokio::test]
async fn a_client_goes_on_where_it_was() {
    let server = TestServer::start().await;
    let mut ear = Ear::open(&server, "?type=task.*").await;
    let mut ids = BTreeSet::new();
    for n in 0..5 {
        push(&server, "q", &n.to_string()).await;
        ids.insert(ear.next().await.id);
    }
    assert_eq!(ids.len(), 5, "ids never repeat");
    let first = ids.first().unwrap();
    let mut again = Ear::resume(&server, "?type=task.*", first).await;
    for n in 1..5 {
        let heard = again.next().await;
        assert_eq!(heard.data["id"], n.to_string());
        assert!(ids.contains(&heard.id));
    }
    // With nothing missed, what is new comes next.
    let mut last = Ear::resume(&server, "?type=task.*", &again.last_id).await;
    push(&server, "q", "new").await;
    assert_eq!(last.hears("task.pushed").await["id"], "new");
    // One who has heard of nothing yet can go on as well.
    let mut quiet = Ear::open(&server, "?type=plan.*").await;
    push(&server, "q", "another").await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "day", "plan_value": 1,
        "plan_repet": 1});
    server.post("/v1/plans", plan).await.is(201);
    quiet.hears("plan.created").await;
}

#[tokio::test]
async fn what_cannot_be_gone_on_from_begins_with_a_gap() {
    let server = TestServer::start().await;
    push(&server, "q", "a").await;
    for last in
        ["", "nonsense", "1-2", "1-2-3-4", "-1-0-0", "99999999999999999999-0-0", "1-2-3", "+1-0-0"]
    {
        let mut ear = Ear::resume(&server, "?type=task.*", last).await;
        if !last.is_empty() {
            ear.hears("stream.gap").await;
        }
        let id = format!("after{}", last.len());
        push(&server, "q", &id).await;
        assert_eq!(ear.hears("task.pushed").await["id"], id, "{last}");
        server.delete(&format!("/v1/queues/q/tasks/{id}")).await.is(204);
    }
}

/// Lets thousands of tasks fail, each with an event of its own.
async fn fail_thousands(server: &TestServer) {
    let tasks: Vec<_> = (0..6_000).map(|n| json!({"id": n.to_string()})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    for _ in 0..6 {
        let taken = server.post("/v1/queues/q/take", json!({"n": 1_000})).await.is(200);
        let tasks = taken["tasks"].as_array().unwrap().iter();
        let failed = tasks.map(|task| {
            let error = format!("{}{}", task["id"], "x".repeat(2_000));
            json!({"id": task["id"], "token": task["token"], "permanent": true, "error": error})
        });
        let failed = json!({"tasks": failed.collect::<Vec<_>>()});
        server.post("/v1/queues/q/fail", failed).await.is(200);
    }
}

#[tokio::test]
async fn a_slow_reader_is_cut_off_with_a_gap() {
    let server = TestServer::start().await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8_192).unwrap();
    let mut slow = socket.connect(server.address).await.unwrap();
    let ask = b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    slow.write_all(ask).await.unwrap();
    let mut head = vec![0; 64];
    slow.read_exact(&mut head).await.unwrap();
    for _ in 0..2 {
        fail_thousands(&server).await;
    }
    // Heard by the ring, whether or not anybody reads.
    let mut ear = Ear::open(&server, "?type=task.pushed").await;
    let mut text = Vec::new();
    tokio::time::timeout(PATIENCE, slow.read_to_end(&mut text)).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&text);
    let gap = text.rfind("event: stream.gap").expect("a gap is told");
    assert!(!text[gap + 1..].contains("event:"), "and nothing after it");
    assert!(text.len() < 12 << 20, "{}", text.len());
    let id = text[..gap].rsplit("id: ").next().unwrap().trim();
    // From there it goes on without another gap.
    let mut again = Ear::resume(&server, "?type=task.pushed", id).await;
    push(&server, "q", "new").await;
    assert_eq!(ear.hears("task.pushed").await["id"], "new");
    assert_eq!(again.hears("task.pushed").await["id"], "new");
}

#[tokio::test]
async fn many_listen_and_all_hear_the_same() {
    let server = TestServer::start().await;
    let mut ears = Vec::new();
    for _ in 0..100 {
        ears.push(Ear::open(&server, "?type=task.pushed").await);
    }
    for n in 0..20 {
        push(&server, "q", &n.to_string()).await;
    }
    let mut heard = BTreeSet::new();
    for mut ear in ears {
        let mut ids = Vec::new();
        for n in 0..20 {
            let event = ear.next().await;
            assert_eq!(event.data["id"], n.to_string());
            ids.push(event.id);
        }
        heard.insert(ids);
    }
    assert_eq!(heard.len(), 1, "with the same ids");
}

#[tokio::test]
async fn streams_end_when_the_server_does() {
    let mut server = TestServer::start().await;
    let mut ears = Vec::new();
    for _ in 0..3 {
        ears.push(Ear::open(&server, "").await);
    }
    server.stop();
    for mut ear in ears {
        assert!(ear.next_or_end().await.is_none());
    }
    server.stopped().await.unwrap();
}
