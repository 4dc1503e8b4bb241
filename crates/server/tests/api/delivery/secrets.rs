//! What signs a delivery, and who gets to see what is secret.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use standardwebhooks::Webhook;

use super::*;

/// Lets the server's clock show the real time, which verifiers go by.
fn show_real_time(server: &TestServer) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let millis = i64::try_from(now.as_millis()).unwrap();
    server.clock.set_wall(punctual_core::Timestamp::from_millis(millis));
    millis / 1_000
}

fn headers(seen: &Seen) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, seen.headers[name].parse().unwrap());
    }
    headers
}

#[tokio::test]
async fn deliveries_are_signed_so_that_others_can_verify_them() {
    let stub = Stub::ok().await;
    let server = server().await;
    let now = show_real_time(&server);
    let hmac = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let ed25519 = format!("whsk_{}", STANDARD.encode([7; 32]));
    put_queue(&server, json!({"url": stub.url("/"), "secret": [hmac, ed25519, "plain text"]}))
        .await;
    server.push(json!({"id": "t", "payload": {"text": "déjà vu", "n": 1.50}})).await;
    server.until("t", "done").await;
    let seen = &stub.seen(1).await[0];
    let sent: i64 = seen.headers["webhook-timestamp"].parse().unwrap();
    assert!((now..now + 20).contains(&sent));
    Webhook::new(hmac).unwrap().verify(&seen.body, &headers(seen)).unwrap();
    Webhook::from_bytes(b"plain text".to_vec())
        .unwrap()
        .verify(&seen.body, &headers(seen))
        .unwrap();
    assert!(Webhook::new("whsec_AAAA").unwrap().verify(&seen.body, &headers(seen)).is_err());
    let signatures: Vec<&str> = seen.headers["webhook-signature"].split(' ').collect();
    assert_eq!(signatures.len(), 3);
    let v1a = STANDARD.decode(signatures[1].strip_prefix("v1a,").unwrap()).unwrap();
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]).verifying_key();
    let body = std::str::from_utf8(&seen.body).unwrap();
    let message = format!("{}.{sent}.{body}", seen.headers["webhook-id"]);
    let v1a = ed25519_dalek::Signature::from_slice(&v1a).unwrap();
    key.verify_strict(message.as_bytes(), &v1a).unwrap();
    // Rotation: the new one is added to those there are, then the old ones go.
    server.put("/v1/queues/q", json!({"secret": ["whsec_AQIDBA==", "***"]})).await.is(200);
    server.push(json!({"id": "u"})).await;
    server.until("u", "done").await;
    let seen = &stub.seen(2).await[1];
    for secret in [hmac, "whsec_AQIDBA=="] {
        Webhook::new(secret).unwrap().verify(&seen.body, &headers(seen)).unwrap();
    }
}

#[tokio::test]
async fn what_is_the_queues_goes_to_its_origin_only() {
    let (stub, other) = (Stub::ok().await, Stub::ok().await);
    let server = delivering(json!({"url": stub.url("/hook"), "secret": "s",
        "headers": {"Authorization": "Bearer b", "X-Mine": "1"}}))
    .await;
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b", "http": {"url": stub.url("/elsewhere")}})).await;
    server.push(json!({"id": "c", "http": {"url": other.url("/hook")}})).await;
    for id in ["a", "b", "c"] {
        server.until(id, "done").await;
    }
    for seen in stub.seen(2).await {
        assert_eq!(seen.headers["authorization"], "Bearer b");
        assert!(seen.headers.contains_key("webhook-signature"));
    }
    let seen = &other.seen(1).await[0];
    for name in ["authorization", "x-mine", "webhook-signature"] {
        assert!(!seen.headers.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn secrets_are_not_read_back() {
    let stub = Stub::start(|_| Reply::status(500)).await;
    let reach = Reach::everywhere();
    let delivery = DeliveryConfig { reach, ..DeliveryConfig::default() };
    let secret_headers = vec!["X-Mine".to_owned()];
    let config = ServerConfig { delivery, secret_headers, ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    let headers = json!({"authorization": "hush", "x-api-key": "hush", "Cookie": "hush",
        "proxy-authorization": "hush", "x-mine": "hush", "x-plain": "plain"});
    put_queue(&server, json!({"url": stub.url("/"), "secret": "hush", "headers": headers})).await;
    let callback = json!({"http": {"url": stub.url("/told"), "headers": headers}});
    server.push(json!({"id": "t", "http": {"headers": headers}, "callback": callback})).await;
    let task = server.until("t", "waiting").await;
    let queue = server.get("/v1/queues/q").await.is(200);
    let listed = server.get("/v1/queues/q/tasks").await.is(200);
    let replayed = server.verb("t", "retry", json!({})).await.is(200);
    for read in [&task, &queue, &listed, &replayed] {
        let text = read.to_string();
        assert!(!text.contains("hush") && text.contains("plain") && text.contains("***"), "{text}");
    }
    assert_eq!(task["callback"]["http"]["headers"], task["http"]["headers"]);
    assert_eq!(queue["secret"], "***");
    // What was read, written back, changes nothing.
    let back = json!({"secret": queue["secret"], "headers": queue["headers"]});
    server.put("/v1/queues/q", back).await.is(200);
    let seen = stub.seen(2).await;
    server.push(json!({"id": "u"})).await;
    let last = stub.seen(3).await.pop().unwrap();
    assert_eq!(last.headers["authorization"], "hush");
    assert_eq!((&*last.headers["x-mine"], &*last.headers["cookie"]), ("hush", "hush"));
    assert!(seen[0].headers.contains_key("webhook-signature"));
}
