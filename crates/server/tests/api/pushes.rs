//! Pushes, and how a task reads.

use serde_json::Value;

use super::{TestServer, json};

#[tokio::test]
async fn a_pushed_task_reads_with_every_field() {
    let server = TestServer::start().await;
    let pushed = server
        .push(json!({
            "id": "a", "payload": {"to": "ann", "n": [1, 2.50]}, "priority": -7, "tags": ["x", "y"],
            "max_attempts": 3, "hold": "2m", "retry": {"intervals": [1]}, "unique_for": "1h",
            "expires": "2026-11-16T00:00:00Z"
        }))
        .await;
    assert_eq!(
        pushed,
        json!({
            "queue": "q", "id": "a", "state": "ready", "payload": {"to": "ann", "n": [1, 2.50]},
            "priority": -7, "created_at": "2026-11-15T06:00:00.000Z",
            "due_at": "2026-11-15T06:00:00.000Z", "taken_at": null, "hold_until": null,
            "worker": null, "attempt": 0, "max_attempts": 3, "progress": null, "message": null,
            "checkpoint": null, "result": null, "error": null, "finished_at": null,
            "tags": ["x", "y"], "hold": 120, "retry": {"intervals": [1]}, "unique_for": 3600,
            "expires": "2026-11-16T00:00:00.000Z", "plan": null, "flow": null, "history": []
        })
    );
    assert_eq!(server.task("a").await, pushed);
    let listed = server.get("/v1/queues/q/tasks").await.is(200);
    assert_eq!(listed["items"][0], pushed);
}

#[tokio::test]
async fn a_task_reads_its_own_settings_where_they_differ_from_the_queues() {
    let server = TestServer::start().await;
    let retry = json!({"intervals": [1, 2]});
    server
        .put("/v1/queues/q", json!({"mode": "dispatch", "hold": 60, "retry": retry}))
        .await
        .is(201);
    let callback = json!({"on": ["failed"], "queue": "after", "task": {"payload": 1}});
    server
        .push(json!({"id": "a", "hold": "1m", "retry": retry, "requires": ["gpu"],
            "callback": callback}))
        .await;
    let read = server.task("a").await;
    assert_eq!((read.get("hold"), read.get("retry")), (None, None), "{read}");
    assert_eq!((&read["requires"], &read["callback"]), (&json!(["gpu"]), &callback));
    server.put("/v1/queues/q", json!({"hold": 30, "retry": null})).await.is(200);
    let read = server.task("a").await;
    assert_eq!((&read["hold"], &read["retry"]), (&json!(60), &retry));
    server.push(json!({"id": "b"})).await;
    let plain = server.task("b").await;
    for field in ["hold", "retry", "unique_for", "expires", "requires", "callback", "http"] {
        assert_eq!(plain.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn an_empty_body_is_a_task() {
    let server = TestServer::start().await;
    for (body, kind) in
        [("", "text/plain"), ("  \n", "application/x-www-form-urlencoded"), ("{}", "x")]
    {
        let headers = [("content-type", kind)];
        let pushed = server.raw("POST", "/v1/queues/q/tasks", &headers, body).await.is(201);
        assert_eq!(pushed["payload"], Value::Null);
        let id = pushed["id"].as_str().unwrap();
        assert!((22..=26).contains(&id.len()), "{id}");
    }
}

#[tokio::test]
async fn generated_ids_sort_in_push_order() {
    let server = TestServer::start().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let one = server.push(json!({})).await;
        ids.push(one["id"].as_str().unwrap().to_owned());
        let many = server.post("/v1/queues/q/tasks", json!({"tasks": [{}, {}, {}]})).await.is(200);
        for result in many["results"].as_array().unwrap() {
            ids.push(result["id"].as_str().unwrap().to_owned());
        }
    }
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn payloads_come_back_byte_for_byte() {
    let server = TestServer::start().await;
    let payload = r#"{"b" : 1.0,"a":12345678901234567890123,"s":"\u00e9\/","e":1E+2}"#;
    let body = format!(r#"{{"id":"a","payload":{payload}}}"#);
    server.raw("POST", "/v1/queues/q/tasks", &[], body).await.is(201);
    let mut stream = server.connect().await;
    let text = super::connections::exchange(
        &mut stream,
        "GET /v1/queues/q/tasks/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    .await;
    assert!(text.contains(&format!(r#""payload":{payload},"#)), "{text}");
}

#[tokio::test]
async fn times_and_durations_come_in_every_form() {
    let server = TestServer::start().await;
    for (field, value, due_at) in [
        ("due", json!(1_763_189_428.123), "2025-11-15T06:50:28.123Z"),
        ("due", json!("2026-11-15T14:50:28.5+08:00"), "2026-11-15T06:50:28.500Z"),
        ("delay", json!(90), "2026-11-15T06:01:30.000Z"),
        ("delay", json!("1h30m"), "2026-11-15T07:30:00.000Z"),
        ("delay", json!("7d"), "2026-11-22T06:00:00.000Z"),
        ("delay", json!(0.25), "2026-11-15T06:00:00.250Z"),
    ] {
        let pushed = server.push(json!({field: value})).await;
        assert_eq!(pushed["due_at"], due_at);
        let past = due_at.starts_with("2025");
        assert_eq!(pushed["state"], if past { "ready" } else { "waiting" });
    }
}

#[tokio::test]
async fn a_waiting_task_becomes_ready_when_due() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "delay": 10})).await;
    assert_eq!(server.task("a").await["state"], "waiting");
    server.post("/v1/queues/q/take", json!({})).await.is(200);
    server.advance(10).await;
    assert_eq!(server.task("a").await["state"], "ready");
    assert_eq!(server.take(json!({})).await["id"], "a");
}

#[tokio::test]
async fn a_live_or_reserved_id_is_taken_and_a_finished_one_is_replaced() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "unique_for": "1h"})).await;
    server.post("/v1/queues/q/tasks", json!({"id": "a"})).await.problem(409, "duplicate");
    let held = server.take(json!({})).await;
    server.verb("a", "commit", json!({"token": held["token"]})).await.is(200);
    server.post("/v1/queues/q/tasks", json!({"id": "a"})).await.problem(409, "duplicate");
    server.advance(3_601).await;
    server.push(json!({"id": "a", "payload": 1, "max_attempts": 1})).await;
    let held = server.take(json!({})).await;
    server.verb("a", "fail", json!({"token": held["token"]})).await.is(200);
    assert_eq!(server.task("a").await["state"], "failed");
    let again = server.push(json!({"id": "a", "payload": 2})).await;
    assert_eq!((&again["state"], &again["attempt"]), (&json!("ready"), &json!(0)));
}

#[tokio::test]
async fn a_full_queue_refuses_pushes() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"max": 2})).await.is(201);
    let batch = json!({"tasks": [{"id": "a"}, {"id": "b"}, {"id": "c"}]});
    let answered = server.post("/v1/queues/q/tasks", batch).await.is(200);
    assert_eq!(answered["results"][1], json!({"id": "b", "ok": true}));
    assert_eq!(answered["results"][2]["code"], "queue_full");
    server.post("/v1/queues/q/tasks", json!({"id": "c"})).await.problem(429, "queue_full");
    server.get("/v1/queues/q/tasks/c").await.problem(404, "not_found");
}

#[tokio::test]
async fn what_is_not_started_in_time_expires() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "expires": "2026-11-15T06:00:10Z"})).await;
    server.advance(11).await;
    let expired = server.until("a", "failed").await;
    assert_eq!(expired["error"], "expired");
    assert_eq!(server.post("/v1/queues/q/take", json!({})).await.is(200), json!({"tasks": []}));
}

#[tokio::test]
async fn the_end_of_a_task_makes_its_callback() {
    let server = TestServer::start().await;
    let callback = json!({"on": ["done"], "queue": "after", "task": {"id": "b", "payload": 7}});
    server.push(json!({"id": "a", "callback": callback})).await;
    let generated = json!({"queue": "after"});
    server.push(json!({"id": "c", "payload": 8, "callback": generated})).await;
    for _ in 0..2 {
        let held = server.take(json!({})).await;
        let id = held["id"].as_str().unwrap().to_owned();
        server.verb(&id, "commit", json!({"token": held["token"], "result": 42})).await.is(200);
    }
    let made = server.get("/v1/queues/after/tasks/b").await.is(200);
    let ended = json!({"queue": "q", "id": "a", "state": "done", "result": 42, "error": null});
    assert_eq!(made["payload"], json!({"task": ended, "payload": 7}));
    let all = server.get("/v1/queues/after/tasks").await.is(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    assert_eq!(all["items"][1]["payload"]["payload"], 8);
}

#[tokio::test]
async fn a_callback_into_a_queue_that_would_not_carry_it_out_is_refused() {
    let server = TestServer::start().await;
    for (callback, field) in [
        (json!({"queue": "notices"}), "callback.http.url"),
        (json!({"queue": "after", "task": {"requires": ["gpu"]}}), "callback.task.requires"),
    ] {
        let task = json!({"id": "a", "callback": callback});
        let answer = server.post("/v1/queues/q/tasks", task.clone()).await;
        let detail = answer.problem(422, "invalid");
        assert!(detail.starts_with(field), "{detail}");
        let answered = server.post("/v1/queues/q/tasks", json!({"tasks": [task]})).await.is(200);
        assert_eq!(answered["results"][0]["code"], "invalid");
    }
    server.push(json!({"id": "a", "callback": {"queue": "after"}})).await;
}
