//! Bad input: refused by the name of its field, and nothing stored.

use punctual_core::http::Reach;

use super::*;

#[tokio::test]
async fn bad_messages_are_refused_by_field() {
    let server = server().await;
    let url = "http://192.0.2.1/";
    for (message, field) in [
        (json!({}), "url"),
        (json!({"url": null}), "url"),
        (json!({"url": 7}), "url"),
        (json!({"url": "example.com"}), "url"),
        (json!({"url": "ftp://example.com/"}), "url"),
        (json!({"url": "http://a:b@example.com/"}), "url"),
        (json!({"url": "http://example.com/\r\nx: y"}), "url"),
        (json!({"url": url, "http_method": "put"}), "http_method"),
        (json!({"url": url, "content_type": "text/plain"}), "content_type"),
        (json!({"url": url, "content_type": "xml", "data": "<a><b></a>"}), "data"),
        (
            json!({"url": url, "content_type": "xml", "data": "<a/>", "http_method": "get"}),
            "http_method",
        ),
        (json!({"url": url, "content_type": "xml", "data": [1]}), "data"),
        (json!({"url": url, "content_type": "json", "data": "{"}), "data"),
        (json!({"url": url, "content_type": "json", "data": 7, "http_method": "get"}), "data"),
        (json!({"url": url, "data": [1]}), "data"),
        (json!({"url": url, "callback_url": "nowhere"}), "callback_url"),
        (json!({"url": url, "callback_url": url, "callbak_url": url}), "callback_url"),
        (json!({"url": url, "enforce_repeat_notice": 1}), "enforce_repeat_notice"),
        (
            json!({"url": url, "enforce_repeat_notice": true, "enforce_repeate_notice": true}),
            "enforce_repeat_notice",
        ),
        (json!({"url": url, "success_flag": 1}), "success_flag"),
        (json!({"url": url, "notice_interval": "10s"}), "notice_interval"),
        (json!({"url": url, "notice_interval": ["soon"]}), "notice_interval"),
        (json!({"url": url, "notice_interval": [-1]}), "notice_interval"),
        (json!({"url": url, "max_notices": 0}), "max_notices"),
        (json!({"url": url, "max_notices": 1.5}), "max_notices"),
        (json!({"url": url, "headers": {"a": "b\r\nc: d"}}), "headers"),
        (json!({"url": url, "headers": {"Content-Length": "1"}}), "headers"),
        (json!({"url": url, "headers": ["a"]}), "headers"),
        (json!({"url": url, "timeout": 0}), "timeout"),
        (json!({"url": url, "follow_redirects": "yes"}), "follow_redirects"),
        (json!({"url": url, "id": "a b"}), "id"),
        (json!({"url": url, "notice_count": 1}), "notice_count"),
        (json!({"url": url, "colour": "red"}), "colour"),
    ] {
        let detail = server.post("/v1/notices", message.clone()).await.problem(422, "invalid");
        assert!(detail.contains(field), "{message}: {detail}");
    }
    server.raw("POST", "/v1/notices", &[], "{").await.problem(400, "bad_json");
    server.raw("POST", "/v1/notices", &[], "[]").await.problem(422, "invalid");
    let large = json!({"url": url, "data": "x".repeat(1 << 20)});
    server.post("/v1/notices", large).await.problem(413, "too_large");
    let long = json!({"url": url, "http_method": "get", "data": "x".repeat(8 << 10)});
    server.post("/v1/notices", long).await.problem(422, "invalid");
    assert_eq!(server.get("/v1/notices").await.is(200)["items"], json!([]));
}

#[tokio::test]
async fn private_targets_are_refused_when_stored() {
    let server = reaching(Reach::public()).await;
    for url in ["http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://2130706433/"] {
        let detail = server.post("/v1/notices", json!({"url": url})).await.problem(422, "invalid");
        assert!(detail.starts_with("url: ") && detail.contains("private"), "{detail}");
        let back = json!({"url": "http://192.0.2.1/", "callback_url": url});
        let detail = server.post("/v1/notices", back).await.problem(422, "invalid");
        assert!(detail.starts_with("callback_url: "), "{detail}");
    }
}

#[tokio::test]
async fn what_is_no_notice_is_not_found() {
    let server = server().await;
    let plain = json!({"id": "t", "http": {"url": "http://192.0.2.1/"}, "delay": 60});
    server.post("/v1/queues/notices/tasks", plain).await.is(201);
    for id in ["t", "none"] {
        server.get(&format!("/v1/notices/{id}")).await.problem(404, "not_found");
        server.delete(&format!("/v1/notices/{id}")).await.problem(404, "not_found");
        let retry = format!("/v1/notices/{id}/retry");
        server.post(&retry, json!({})).await.problem(404, "not_found");
    }
    assert_eq!(server.get("/v1/notices").await.is(200)["items"], json!([]));
    server.get("/v1/notices?state=done").await.problem(422, "invalid");
    server.get("/v1/notices?limit=0").await.problem(422, "invalid");
    server.get("/v1/notices?colour=red").await.problem(422, "invalid");
    server.get("/v1/notices?cursor=x").await.problem(422, "invalid");
    server.get("/v1/notices/a%20b").await.problem(422, "invalid");
}

#[tokio::test]
async fn verbs_apply_in_their_states_only() {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let server = server().await;
    send(&server, json!({"id": "n", "url": stub.url("/")})).await;
    until(&server, "succeeded", 1).await;
    let detail = server.delete("/v1/notices/n").await.problem(409, "wrong_state");
    assert!(detail.contains("succeeded"), "{detail}");
    server.post("/v1/notices/n/retry", json!({})).await.problem(409, "wrong_state");
    server.post("/v1/notices/n/retry", json!({"force": true})).await.problem(422, "invalid");
}
