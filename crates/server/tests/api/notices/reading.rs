//! Reading notices, lists of them, and sending the same one twice.

use super::*;

#[tokio::test]
async fn a_notice_reads_as_it_was_sent() {
    let server = server().await;
    // Nobody answers there, so that nothing comes of it.
    let message = json!({"id": "n", "url": "http://192.0.2.1/a", "http_method": "post",
        "content_type": "form", "data": "a=1&b=2&b=3", "callbak_url": "http://192.0.2.1/b",
        "success_flag": "ok", "notice_interval": ["1m", 5], "max_notices": 4,
        "enforce_repeate_notice": true, "headers": {"X-A": "b"}, "timeout": "9s",
        "follow_redirects": true});
    let sent = send(&server, message).await;
    for (field, value) in [
        ("url", json!("http://192.0.2.1/a")),
        ("http_method", json!("post")),
        ("content_type", json!("form")),
        ("data", json!("a=1&b=2&b=3")),
        ("notice_data", json!({"a": "1", "b": ["2", "3"]})),
        ("callback_url", json!("http://192.0.2.1/b")),
        ("success_flag", json!("ok")),
        ("notice_interval", json!([60, 5, 5])),
        ("max_notices", json!(4)),
        ("enforce_repeat_notice", json!(true)),
        ("headers", json!({"x-a": "b"})),
        ("timeout", json!(9)),
        ("follow_redirects", json!(true)),
        ("state", json!("waiting")),
        ("notice_count", json!(0)),
        ("notice_time", json!("2026-11-15T06:00:00.000Z")),
        ("success_id", json!(0)),
        ("history", json!([])),
    ] {
        assert_eq!(sent[field], value, "{field}");
    }
    let task = server.get("/v1/queues/notices/tasks/n").await.is(200);
    assert_eq!((&task["payload"], &task["queue"]), (&json!("a=1&b=2&b=3"), &json!("notices")));
    let detail = server.post("/v1/notices", json!({"id": "n", "url": "http://192.0.2.1/"})).await;
    detail.problem(409, "duplicate");
}

#[tokio::test]
async fn lists_go_by_state_and_page() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/good" => Reply::text(200, "success"),
        "/hang" => Reply::Gate,
        _ => Reply::status(500),
    })
    .await;
    let server = server().await;
    for (id, path) in
        [("a", "/good"), ("b", "/bad"), ("c", "/hang"), ("d", "/later"), ("e", "/good")]
    {
        let intervals = if id == "d" { json!([60]) } else { json!([]) };
        send(&server, json!({"id": id, "url": stub.url(path), "notice_interval": intervals})).await;
    }
    send(&server, json!({"id": "f", "url": stub.url("/later")})).await;
    server.delete("/v1/notices/f").await.is(204);
    for (state, ids) in [
        ("succeeded", vec!["a", "e"]),
        ("exhausted", vec!["b"]),
        ("delivering", vec!["c"]),
        ("waiting", vec!["d"]),
        ("cancelled", vec!["f"]),
        ("cancelled,exhausted", vec!["f", "b"]),
        ("", vec!["a", "b", "c", "d", "e", "f"]),
    ] {
        let path = format!("/v1/notices?state={state}");
        let right = |page: &Value| {
            let items = page["items"].as_array().unwrap();
            let mut read: Vec<_> = items.iter().map(|it| it["id"].as_str().unwrap()).collect();
            if !state.contains(',') {
                read.sort_unstable();
            }
            read == ids
        };
        server.eventually(&path, right).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/notices?limit=2&cursor={cursor}")).await.is(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    seen.sort();
    assert_eq!(seen, ["a", "b", "c", "d", "e", "f"]);
}

#[tokio::test]
async fn a_repeat_under_a_key_has_no_second_effect() {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let server = server().await;
    let message = json!({"url": stub.url("/")}).to_string();
    let key = [("idempotency-key", "k")];
    let first = server.raw("POST", "/v1/notices", &key, message.clone()).await;
    assert!(!first.headers.contains_key("idempotency-replayed"));
    let first = first.is(202);
    let path = format!("/v1/notices/{}", first["id"].as_str().unwrap());
    server.eventually(&path, |read| read["state"] == "succeeded").await;
    let second = server.raw("POST", "/v1/notices", &key, message.clone()).await;
    assert_eq!(second.headers["idempotency-replayed"], "true");
    let second = second.is(202);
    assert_eq!((&second["id"], &second["state"]), (&first["id"], &json!("succeeded")));
    let other = json!({"url": stub.url("/other")}).to_string();
    server.raw("POST", "/v1/notices", &key, other).await.problem(422, "invalid");
    // The same key for a task is another.
    server.raw("POST", "/v1/queues/q/tasks", &key, "{}").await.is(201);
    server.advance(86_401).await;
    server.eventually(&path, |read| read["code"] == "not_found").await;
    assert_eq!(stub.count(), 1);
}
