//! How requests may come and how answers go: encodings, headers, and what browsers are kept from.

use std::io::Read;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;

use super::connections::exchange;
use super::{TestServer, json};

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

async fn fetch(
    server: &TestServer,
    path: &str,
    headers: &[(&str, &str)],
) -> (hyper::HeaderMap, Bytes) {
    let (parts, body) = server.open(path, headers).await.into_parts();
    (parts.headers, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn an_encoded_body_is_refused_with_a_hint() {
    let server = TestServer::start().await;
    for coding in ["gzip", "br", "deflate", "zstd", "gzip, identity"] {
        let headers = [("content-encoding", coding)];
        let answer = server.raw("POST", "/v1/queues/q/tasks", &headers, "{}").await;
        let detail = answer.problem(415, "unsupported");
        assert!(detail.contains("Content-Encoding") && detail.contains(coding), "{detail}");
        server.raw("PUT", "/v1/queues/q", &headers, "{}").await.problem(415, "unsupported");
    }
    let headers = [("content-encoding", "identity")];
    server.raw("POST", "/v1/queues/q/tasks", &headers, "{}").await.is(201);
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_accept_it() {
    let server = TestServer::start().await;
    let large = json!({"text": "a word and another ".repeat(20_000)});
    server.push(json!({"id": "small"})).await;
    server.push(json!({"id": "large", "payload": large})).await;
    let accepts = [("accept-encoding", "br, gzip;q=0.8")];
    for path in ["/v1/queues/q/tasks/large", "/v1/queues/q/tasks", "/openapi.json", "/metrics"] {
        let (headers, plain) = fetch(&server, path, &[]).await;
        assert!(!headers.contains_key("content-encoding"), "{path}");
        assert_eq!(headers["vary"], "accept-encoding", "{path}");
        let (headers, packed) = fetch(&server, path, &accepts).await;
        assert_eq!(headers["content-encoding"], "gzip", "{path}");
        assert_eq!(headers["vary"], "accept-encoding", "{path}");
        assert_eq!(headers["content-length"], packed.len().to_string(), "{path}");
        assert!(packed.len() * 2 < plain.len(), "{path}");
        if path != "/metrics" {
            assert_eq!(unpacked(&packed), plain, "{path}");
        }
    }
    let (headers, small) = fetch(&server, "/v1/queues/q/tasks/small", &accepts).await;
    assert!(!headers.contains_key("content-encoding"));
    assert!(small.starts_with(b"{"));
    let none = [("accept-encoding", "gzip;q=0, identity")];
    let (headers, _) = fetch(&server, "/v1/queues/q/tasks/large", &none).await;
    assert!(!headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn a_compressed_take_is_a_take() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "payload": "x".repeat(5_000)})).await;
    let headers = [("accept-encoding", "gzip")];
    let answer = server.raw("POST", "/v1/queues/q/take", &headers, "{}").await;
    assert_eq!(answer.headers["content-encoding"], "gzip");
    answer.is(200);
    server.until("a", "running").await;
}

#[tokio::test]
async fn a_stream_of_events_is_not_compressed() {
    let server = TestServer::start().await;
    let stream = server.open("/v1/events", &[("accept-encoding", "gzip")]).await;
    assert!(!stream.headers().contains_key("content-encoding"));
    assert_eq!(stream.headers()["cache-control"], "no-store");
    server.push(json!({"payload": "x".repeat(5_000)})).await;
    let frame = stream.into_body().frame().await.unwrap().unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    assert!(text.contains("data:") || text.contains("id:"), "{text}");
}

#[tokio::test]
async fn browsers_neither_guess_nor_store_nor_share_answers() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let answers = [
        server.get("/v1/queues/q/tasks/a").await,
        server.get("/v1/queues/none").await,
        server.get("/none").await,
        server.post("/v1/queues/q/take", json!({})).await,
        server.raw("POST", "/v1/queues/q/tasks", &[], "no JSON").await,
        server.delete("/v1/queues/q/tasks/a").await,
        server.get("/openapi.json").await,
        server.get("/livez").await,
    ];
    for answer in answers {
        let headers = &answer.headers;
        assert_eq!(headers["x-content-type-options"], "nosniff", "{answer:?}");
        assert_eq!(headers["cache-control"], "no-store", "{answer:?}");
        assert_eq!(headers["cross-origin-resource-policy"], "same-origin", "{answer:?}");
    }
}

#[tokio::test]
async fn changes_say_once_where_they_come_from_and_go_to() {
    let server = TestServer::start().await;
    let path = "/v1/queues/q/tasks";
    for (site, status) in [("same-origin", 201), ("none", 201), ("cross-site", 403)] {
        let answer = server.raw("POST", path, &[("sec-fetch-site", site)], "{}").await;
        assert_eq!(answer.status.as_u16(), status, "{site}");
    }
    server.raw("GET", path, &[("sec-fetch-site", "cross-site")], "").await.is(200);
    let own = format!("Host: {}\r\n", server.address);
    let origin = format!("Origin: http://{}\r\n", server.address);
    for (version, headers, status) in [
        ("1.1", own.clone(), "201"),
        ("1.0", String::new(), "201"),
        ("1.1", String::new(), "403"),
        ("1.1", format!("{own}{own}"), "403"),
        ("1.1", format!("{own}{origin}"), "201"),
        ("1.1", format!("{own}{origin}{origin}"), "403"),
        ("1.1", "Host: [::1]evil.example\r\n".to_owned(), "403"),
        ("1.1", "Host: user@127.0.0.1\r\n".to_owned(), "403"),
        ("1.1", "Host: 127.0.0.1:port\r\n".to_owned(), "403"),
        ("1.1", "Host: \r\n".to_owned(), "403"),
    ] {
        let text = format!(
            "POST {path} HTTP/{version}\r\n{headers}Connection: close\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        let answer = exchange(&mut server.connect().await, &text).await;
        let expected = format!("HTTP/{version} {status}");
        assert!(answer.starts_with(&expected), "{headers:?}: {answer}");
    }
    let counts: Value = server.get("/v1/queues/q").await.is(200)["counts"].clone();
    assert_eq!(counts["total"], 5, "what was refused changed nothing");
}
