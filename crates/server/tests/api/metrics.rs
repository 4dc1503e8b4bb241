//! What is measured, as Prometheus reads it.

use std::collections::BTreeMap;

use super::delivery::{Reply, Stub, delivering};
use super::{TestServer, json};

/// All samples of a server, by name and labels.
async fn metrics(server: &TestServer) -> BTreeMap<String, f64> {
    let answer = server.get("/metrics").await;
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = answer.is(200);
    let lines = text.as_str().unwrap().lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    lines.map(sample).collect()
}

#[tokio::test]
async fn the_life_of_tasks_is_counted() {
    let server = TestServer::start().await;
    let tasks = json!({"tasks": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"delay": 60}]});
    server.post("/v1/queues/q/tasks", tasks).await.is(200);
    server.clock.advance(punctual_core::Span::from_secs(3));
    let taken = server.post("/v1/queues/q/take", json!({"n": 2})).await.is(200);
    server.clock.advance(punctual_core::Span::from_secs(7));
    let token = |place: usize| json!({"token": taken["tasks"][place]["token"]});
    server.verb("a", "commit", token(0)).await.is(200);
    server.verb("b", "fail", token(1)).await.is(200);
    server.verb("c", "cancel", json!({})).await.is(200);
    let metrics = metrics(&server).await;
    for (event, count) in [
        ("pushed", 4.0),
        ("taken", 2.0),
        ("done", 1.0),
        ("retried", 1.0),
        ("cancelled", 1.0),
        ("failed", 0.0),
    ] {
        let name = format!("punctual_task_events_total{{queue=\"q\",event=\"{event}\"}}");
        assert_eq!(metrics[&name], count, "{event}");
    }
    assert_eq!(metrics["punctual_tasks{queue=\"q\",state=\"waiting\"}"], 2.0);
    assert_eq!(metrics["punctual_tasks{queue=\"q\",state=\"ready\"}"], 0.0);
    assert_eq!(metrics["punctual_tasks{queue=\"notices\",state=\"ready\"}"], 0.0);
    assert_eq!(metrics["punctual_task_wait_seconds_count{queue=\"q\"}"], 2.0);
    assert_eq!(metrics["punctual_task_wait_seconds_sum{queue=\"q\"}"], 6.0);
    assert_eq!(metrics["punctual_task_run_seconds_count{queue=\"q\"}"], 2.0);
    assert_eq!(metrics["punctual_task_run_seconds_sum{queue=\"q\"}"], 14.0);
    let pushes = "punctual_http_request_seconds_count{method=\"POST\",\
        route=\"/v1/queues/{queue}/tasks\",status=\"2xx\"}";
    assert_eq!(metrics[pushes], 1.0);
    assert_eq!(metrics["punctual_store_up"], 1.0);
    assert!(metrics["process_start_time_seconds"] > 1.7e9);
    assert!(metrics.keys().any(|name| name.starts_with("punctual_build_info{version=")));
}

#[tokio::test]
async fn depth_and_age_follow_the_queue_and_go_with_it() {
    let server = TestServer::start().await;
    server.push(json!({})).await;
    server.clock.advance(punctual_core::Span::from_secs(90));
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    let now = metrics(&server).await;
    assert_eq!(now["punctual_oldest_ready_seconds{queue=\"q\"}"], 90.0);
    assert_eq!(now["punctual_queue_paused{queue=\"q\"}"], 1.0);
    server.delete("/v1/queues/q").await.is(204);
    let now = metrics(&server).await;
    assert!(!now.keys().any(|name| name.contains("queue=\"q\"")), "{now:?}");
}

#[tokio::test]
async fn ends_of_holds_say_how_late_they_were_noticed() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "hold": 5})).await;
    server.take(json!({})).await;
    server.advance(6).await;
    server.until("a", "ready").await;
    let now = metrics(&server).await;
    assert_eq!(now["punctual_timer_lag_seconds_count{timer=\"hold\"}"], 1.0);
    assert_eq!(now["punctual_timer_lag_seconds_sum{timer=\"hold\"}"], 1.0);
}

#[tokio::test]
async fn deliveries_are_counted_by_how_they_ended() {
    let stub = Stub::start(|seen| Reply::status(if seen.path == "/ok" { 200 } else { 500 })).await;
    let server = delivering(json!({"max_attempts": 1})).await;
    for (id, path) in [("a", "/ok"), ("b", "/ok"), ("c", "/bad")] {
        server.push(json!({"id": id, "http": {"url": stub.url(path)}})).await;
    }
    let nowhere = format!("http://127.0.0.1:{}/", free_port());
    server.push(json!({"id": "d", "http": {"url": nowhere}})).await;
    for (id, state) in [("a", "done"), ("b", "done"), ("c", "failed"), ("d", "failed")] {
        server.until(id, state).await;
    }
    let now = metrics(&server).await;
    for (outcome, count) in
        [("accepted", 2.0), ("refused", 1.0), ("unreached", 1.0), ("untried", 0.0)]
    {
        let name = format!("punctual_deliveries_total{{queue=\"q\",outcome=\"{outcome}\"}}");
        assert_eq!(now[&name], count, "{outcome}");
    }
    assert_eq!(now["punctual_delivery_seconds_count{queue=\"q\"}"], 4.0);
    assert_eq!(now["punctual_delivery_targets{state=\"closed\"}"], 2.0);
    assert_eq!(now["punctual_deliveries_in_flight"], 0.0);
    assert!(!now.keys().any(|name| name.contains("127.0.0.1")));
}

/// A port nobody listens on.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn open_metrics_are_told_to_who_accepts_them_and_nothing_names_a_task() {
    let server = TestServer::start().await;
    server
        .post("/v1/queues/q/tasks", json!({"id": "secret-id", "payload": "secret-payload"}))
        .await
        .is(201);
    server.get("/v1/queues/q/tasks/secret-id").await.is(200);
    server.get("/v1/secret-path").await.problem(404, "not_found");
    let accept = [("accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3")];
    let answer = server.raw("GET", "/metrics", &accept, "").await;
    let kind = answer.headers["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = answer.is(200);
    let text = text.as_str().unwrap();
    assert!(text.ends_with("# EOF\n"));
    assert!(text.contains("# TYPE punctual_task_events counter\n"));
    assert!(!text.contains("secret"), "{text}");
    server.get("/metrics?queue=q").await.problem(422, "invalid");
}
