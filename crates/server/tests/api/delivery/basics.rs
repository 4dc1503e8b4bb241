//! What is sent, what is made of the answer, and when it is tried again.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[tokio::test]
async fn a_task_is_delivered_as_the_payload_in_a_post() {
    let stub = Stub::start(|_| Reply::text(200, "{\"welcome\": true}")).await;
    let server = delivering(json!({"url": stub.url("/hook?a=b")})).await;
    let pushed = server.push(json!({"id": "t", "payload": {"n": 1}})).await;
    assert_eq!(pushed["state"], "ready");
    let task = server.until("t", "done").await;
    let seen = &stub.seen(1).await[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/hook?a=b"));
    assert_eq!(seen.body, b"{\"n\":1}");
    assert_eq!(seen.headers["content-type"], "application/json");
    assert_eq!(seen.headers["host"], stub.address.to_string());
    assert!(seen.headers["user-agent"].starts_with("punctual/"));
    assert!(seen.headers["webhook-id"].starts_with("msg_"));
    let sent_at: i64 = seen.headers["webhook-timestamp"].parse().unwrap();
    assert_eq!(sent_at, 1_794_722_400, "the server's clock is told");
    assert!(!seen.headers.contains_key("webhook-signature"), "there is no secret");
    assert_eq!(seen.headers["traceparent"].len(), 55);
    assert_eq!(task["result"], json!({"welcome": true}));
    assert_eq!((&task["attempt"], &task["error"]), (&json!(1), &json!(null)));
    let attempt = &task["history"][0];
    assert_eq!((&attempt["outcome"], &attempt["status"]), (&json!("done"), &json!(200)));
    let http = &attempt["http"];
    assert_eq!(http["url"], stub.url("/hook?a=b"));
    assert_eq!(http["address"], stub.address.to_string());
    assert_eq!((&http["method"], &http["sent_bytes"]), (&json!("POST"), &json!(7)));
    assert_eq!(
        (&http["answer"], &http["answer_bytes"]),
        (&json!("{\"welcome\": true}"), &json!(17))
    );
    assert!(http["connect"].is_number() && http["dns"].is_null() && http["tls"].is_null());
    let (first, total) = (http["first_byte"].as_f64().unwrap(), http["total"].as_f64().unwrap());
    assert!(first <= total && total < 20.0);
}

#[tokio::test]
async fn a_task_may_say_all_about_its_delivery() {
    let stub = Stub::start(|_| Reply::text(202, "ok")).await;
    let server =
        delivering(json!({"url": "http://127.0.0.1:1/", "headers": {"x-queue": "1"}})).await;
    let http = json!({"url": stub.url("/other"), "method": "put", "body": "a=1&b=2",
        "headers": {"X-Own": "é", "Authorization": "Bearer secret"},
        "content_type": "application/x-www-form-urlencoded", "timeout": "5s",
        "success": {"status": [202], "contains": "k"}});
    let pushed = server.push(json!({"id": "t", "payload": 1, "http": http})).await;
    assert_eq!(pushed["http"]["headers"], json!({"x-own": "é", "authorization": "***"}));
    assert_eq!((&pushed["http"]["method"], &pushed["http"]["timeout"]), (&json!("PUT"), &json!(5)));
    assert_eq!(pushed["http"]["success"], json!({"status": "202", "contains": "k"}));
    let task = server.until("t", "done").await;
    assert_eq!(task["result"], "ok");
    let seen = &stub.seen(1).await[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("PUT", "/other"));
    assert_eq!(seen.body, b"a=1&b=2");
    assert_eq!(seen.headers["content-type"], "application/x-www-form-urlencoded");
    assert_eq!((&*seen.headers["x-own"], &*seen.headers["authorization"]), ("é", "Bearer secret"));
    assert!(!seen.headers.contains_key("x-queue"), "another origin");
}

#[tokio::test]
async fn what_fails_is_tried_again_until_its_attempts_are_used_up() {
    let stub = Stub::start(|_| Reply::text(500, "out of order")).await;
    let server = delivering(json!({"url": stub.url("/"), "max_attempts": 3})).await;
    server.push(json!({"id": "t"})).await;
    for (attempt, wait) in [(1, 10), (2, 20)] {
        let task = server
            .eventually("/v1/queues/q/tasks/t", |task| {
                task["state"] == "waiting" && task["attempt"] == attempt
            })
            .await;
        assert_eq!(task["error"], "the target answered with status 500");
        assert_eq!(task["history"][attempt - 1]["http"]["answer"], "out of order");
        let why = server.get("/v1/queues/q/tasks/t/why").await.is(200);
        assert_eq!(why["reason"], "retry_wait");
        server.advance(wait - 1).await;
        assert_eq!(server.task("t").await["state"], "waiting");
        server.advance(1).await;
    }
    let task = server.until("t", "failed").await;
    assert_eq!((&task["attempt"], task["history"].as_array().unwrap().len()), (&json!(3), 3));
    assert_eq!(task["result"], json!(null));
    let seen = stub.seen(3).await;
    let ids: Vec<_> = seen.iter().map(|seen| &seen.headers["webhook-id"]).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "the same message each time");
    let traces: Vec<_> = seen.iter().map(|seen| &seen.headers["traceparent"]).collect();
    assert_ne!(traces[0], traces[1]);
    // On request, once more.
    server.verb("t", "retry", json!({})).await.is(200);
    stub.seen(4).await;
    assert_eq!(server.until("t", "failed").await["attempt"], 4);
    assert_eq!(stub.count(), 4);
}

#[tokio::test]
async fn a_target_may_ask_for_a_longer_wait() {
    let busy =
        |seconds: &str| Reply::Answer(503, vec![("retry-after", seconds.to_owned())], Vec::new());
    let stub = Stub::start(move |seen| match seen.path.as_str() {
        "/minute" => busy("60"),
        "/date" => busy("Sun, 15 Nov 2026 06:02:00 GMT"),
        "/week" => busy("604800"),
        _ => busy("1"),
    })
    .await;
    let server = delivering(json!({})).await;
    for (id, due) in [
        ("second", "2026-11-15T06:00:10.000Z"),
        ("minute", "2026-11-15T06:01:00.000Z"),
        ("date", "2026-11-15T06:02:00.000Z"),
        ("week", "2026-11-16T06:00:00.000Z"),
    ] {
        server.push(json!({"id": id, "http": {"url": stub.url(&format!("/{id}"))}})).await;
        assert_eq!(server.until(id, "waiting").await["due_at"], due, "{id}");
    }
}

#[tokio::test]
async fn success_is_what_the_task_says() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/error" => Reply::text(500, "but fine"),
        "/long" => Reply::text(200, &format!("{}success", "x".repeat(300_000))),
        _ => Reply::text(200, "fine"),
    })
    .await;
    let server = delivering(json!({})).await;
    let cases = [
        ("a", "/", json!({"contains": "fine"}), "done"),
        ("b", "/", json!({"contains": "good"}), "waiting"),
        ("c", "/", json!({"status": "201"}), "waiting"),
        ("d", "/error", json!({"status": "5xx"}), "done"),
        ("e", "/error", json!({"contains": "fine"}), "waiting"),
        ("f", "/error", json!({"status": ["2xx", 500], "contains": "fine"}), "done"),
        ("g", "/long", json!({"contains": "success"}), "done"),
        ("h", "/long", json!({"contains": "failure"}), "waiting"),
    ];
    for (id, path, success, state) in cases {
        let http = json!({"url": stub.url(path), "success": success});
        server.push(json!({"id": id, "http": http})).await;
        let task = server.until(id, state).await;
        if id == "g" {
            assert_eq!(task["result"].as_str().unwrap().len(), 64 << 10, "the first 64 KiB");
            assert_eq!(task["history"][0]["http"]["answer"].as_str().unwrap().len(), 4 << 10);
        }
    }
}

#[tokio::test]
async fn due_times_pauses_and_cancels_hold_for_deliveries() {
    let stub = Stub::ok().await;
    let keep = json!({"done": "1h", "cancelled": "1h"});
    let server = delivering(json!({"url": stub.url("/"), "keep": keep})).await;
    server.push(json!({"id": "later", "delay": "1m"})).await;
    server.push(json!({"id": "never", "delay": "1m"})).await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.push(json!({"id": "paused"})).await;
    server.verb("never", "cancel", json!({})).await.is(200);
    server.advance(60).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["ready"], 2);
    assert_eq!(stub.count(), 0);
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    server.until("later", "done").await;
    server.until("paused", "done").await;
    assert_eq!(stub.count(), 2);
    server.post("/v1/queues/q/take", json!({})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn a_cancel_under_way_waits_for_the_answer() {
    let stub = Stub::start(|seen| if seen.path == "/ok" { Reply::Gate } else { Reply::Hang }).await;
    let server = delivering(json!({"keep": {"cancelled": "1h", "done": "1h"}})).await;
    for (id, path, timeout) in [("wins", "/ok", "20s"), ("loses", "/hang", "1s")] {
        let http = json!({"url": stub.url(path), "timeout": timeout});
        server.push(json!({"id": id, "http": http})).await;
    }
    stub.seen(2).await;
    for id in ["wins", "loses"] {
        assert_eq!(server.verb(id, "cancel", json!({})).await.is(200)["state"], "cancelling");
    }
    stub.open();
    assert_eq!(server.until("wins", "done").await["attempt"], 1);
    assert_eq!(server.until("loses", "cancelled").await["error"], "no answer within 1 s");
}

#[tokio::test]
async fn an_ended_task_calls_back() {
    let stub = Stub::ok().await;
    let server = server().await;
    let callback = json!({"on": ["done", "failed"], "http": {"url": stub.url("/back"),
        "headers": {"x-token": "t"}}});
    for id in ["a", "b", "c"] {
        server.push(json!({"id": id, "payload": {"n": 1}, "callback": callback})).await;
    }
    for (verb, body) in [
        ("commit", json!({"result": [1]})),
        ("fail", json!({"error": "no way", "permanent": true})),
    ] {
        let mut body = body;
        let task = server.take(json!({})).await;
        body["token"] = task["token"].clone();
        server.verb(task["id"].as_str().unwrap(), verb, body).await.is(200);
    }
    server.verb("c", "cancel", json!({})).await.is(200);
    let seen = stub.seen(2).await;
    let mut told: Vec<Value> =
        seen.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    told.sort_by_key(|told| told["task"]["id"].to_string());
    let expected = json!([
        {"task": {"queue": "q", "id": "a", "state": "done", "result": [1], "error": null},
            "payload": {"n": 1}},
        {"task": {"queue": "q", "id": "b", "state": "failed", "result": null, "error": "no way"},
            "payload": {"n": 1}},
    ]);
    assert_eq!(Value::from(told), expected);
    assert_eq!((seen[0].path.as_str(), &*seen[0].headers["x-token"]), ("/back", "t"));
    let callbacks =
        server.eventually("/v1/queues/callbacks", |queue| queue["counts"]["total"] == 0).await;
    assert_eq!(callbacks["mode"], "http");
    assert_eq!(stub.count(), 2, "nobody asked about cancelled ones");
}

#[tokio::test]
async fn a_callback_is_tried_again_like_any_delivery() {
    let calls = AtomicUsize::new(0);
    let stub = Stub::start(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(500),
        _ => Reply::status(204),
    })
    .await;
    let server = server().await;
    let callback = json!({"http": {"url": stub.url("/")}});
    server.push(json!({"id": "a", "callback": callback})).await;
    server.verb("a", "cancel", json!({})).await.is(200);
    stub.seen(1).await;
    let waiting = "/v1/queues/callbacks/tasks?state=waiting";
    let page = server.eventually(waiting, |page| page["items"][0].is_object()).await;
    assert_eq!(page["items"][0]["history"][0]["status"], 500);
    server.advance(6).await;
    stub.seen(2).await;
    server.eventually("/v1/queues/callbacks", |queue| queue["counts"]["total"] == 0).await;
}

#[tokio::test]
async fn a_task_without_any_url_is_refused_or_fails_for_good() {
    let stub = Stub::ok().await;
    let server = delivering(json!({})).await;
    let detail = server.post("/v1/queues/q/tasks", json!({})).await.problem(422, "invalid");
    assert!(detail.starts_with("http.url"), "{detail}");
    server.put("/v1/queues/q", json!({"url": stub.url("/")})).await.is(200);
    server.push(json!({"id": "t", "delay": "1m"})).await;
    server.put("/v1/queues/q", json!({"url": null})).await.is(200);
    server.advance(60).await;
    let task = server.until("t", "failed").await;
    assert_eq!((&task["error"], &task["attempt"]), (&json!("no_url"), &json!(1)));
    assert_eq!(stub.count(), 0);
}

#[tokio::test]
async fn a_changed_payload_is_another_message() {
    let calls = AtomicUsize::new(0);
    let stub = Stub::start(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(500),
        _ => Reply::status(200),
    })
    .await;
    let server = delivering(json!({"url": stub.url("/")})).await;
    server.push(json!({"id": "t", "payload": 1})).await;
    server.until("t", "waiting").await;
    server.patch("/v1/queues/q/tasks/t", json!({"payload": 2})).await.is(200);
    server.advance(10).await;
    server.until("t", "done").await;
    let seen = stub.seen(2).await;
    assert_eq!((&*seen[0].body, &*seen[1].body), (&b"1"[..], &b"2"[..]));
    assert_ne!(seen[0].headers["webhook-id"], seen[1].headers["webhook-id"]);
}
