//! Redirects: only on request, checked at every step, and nothing secret for strangers.

use std::sync::Arc;

use super::*;

#[tokio::test]
async fn a_redirect_is_a_failure_unless_it_shall_be_followed() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/" => Reply::redirect(302, "/there?x=1"),
        _ => Reply::text(200, "here"),
    })
    .await;
    let server = delivering(json!({"url": stub.url("/")})).await;
    server.push(json!({"id": "no"})).await;
    let task = server.until("no", "waiting").await;
    assert_eq!(task["error"], "the target answered with status 302");
    server.push(json!({"id": "yes", "payload": 7, "http": {"follow_redirects": true}})).await;
    let task = server.until("yes", "done").await;
    assert_eq!(task["result"], "here");
    let http = &task["history"][0]["http"];
    assert_eq!((&http["redirects"], &http["method"]), (&json!(1), &json!("GET")));
    assert_eq!(http["url"], stub.url("/there?x=1"));
    let seen = stub.seen(3).await;
    assert_eq!((seen[2].method.as_str(), seen[2].body.len()), ("GET", 0));
    assert!(!seen[2].headers.contains_key("content-type"));
}

#[tokio::test]
async fn the_method_is_kept_where_the_status_says_so() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/" => Reply::redirect(308, "/there"),
        _ => Reply::status(200),
    })
    .await;
    let server = delivering(json!({"url": stub.url("/"), "secret": "s"})).await;
    server.push(json!({"id": "t", "payload": 7, "http": {"follow_redirects": true}})).await;
    server.until("t", "done").await;
    let seen = stub.seen(2).await;
    assert_eq!((seen[1].method.as_str(), &*seen[1].body), ("POST", &b"7"[..]));
    assert!(seen[1].headers.contains_key("webhook-signature"), "the same origin");
}

#[tokio::test]
async fn strangers_get_no_secrets() {
    let stranger = Arc::new(Stub::ok().await);
    let there = stranger.url("/");
    let stub = Stub::start(move |_| Reply::redirect(307, &there)).await;
    let server = delivering(json!({"url": stub.url("/"), "secret": "s",
        "headers": {"x-queue": "1", "x-api-key": "k"}}))
    .await;
    let http = json!({"follow_redirects": true,
        "headers": {"authorization": "a", "cookie": "c", "x-own": "1",
            "content-type": "application/vnd.own+json"}});
    server.push(json!({"id": "t", "http": http})).await;
    server.until("t", "done").await;
    let first = &stub.seen(1).await[0].headers;
    for name in ["webhook-signature", "x-queue", "x-api-key", "authorization", "cookie", "x-own"] {
        assert!(first.contains_key(name), "{name}");
    }
    let second = &stranger.seen(1).await[0].headers;
    for name in ["webhook-signature", "x-queue", "x-api-key", "authorization", "cookie", "x-own"] {
        assert!(!second.contains_key(name), "{name}");
    }
    assert_eq!(second["content-type"], "application/vnd.own+json");
}

#[tokio::test]
async fn a_redirect_inside_is_refused() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/metadata" => Reply::redirect(302, "http://169.254.169.254/latest/"),
        "/name" => Reply::redirect(302, "http://inside.example/"),
        "/spelled" => Reply::redirect(302, "http://0x7f.2/"),
        "/file" => Reply::redirect(302, "file:///etc/passwd"),
        "/user" => Reply::redirect(302, "http://u:p@127.0.0.1/"),
        _ => Reply::redirect(302, "/again"),
    })
    .await;
    let resolver = Names::new(&[("inside.example", &[&["10.0.0.1"]])]);
    let reach = Reach::with(vec!["127.0.0.1".parse().unwrap()]);
    let server = with(DeliveryConfig { reach, resolver, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({})).await;
    for (path, state, error) in [
        ("metadata", "failed", "private_target"),
        ("name", "failed", "private_target"),
        ("spelled", "failed", "private_target"),
        ("file", "waiting", "it redirects to what is no http:// or https:// URL"),
        ("user", "waiting", "it redirects to what is no http:// or https:// URL"),
        ("again", "waiting", "it redirects more than 5 times"),
    ] {
        let url = stub.url(&format!("/{path}"));
        server.push(json!({"id": path, "http": {"url": url, "follow_redirects": true}})).await;
        assert_eq!(server.until(path, state).await["error"], error, "{path}");
    }
}
