//! Connections: protocols, limits of bodies, and the end of the server.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use punctual_server::{AccessToken, Right, Scope, ServerConfig, TokenHash, TokenLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{PATIENCE, TestServer, json};

/// Sends a text and reads until the server closes.
pub(crate) async fn exchange(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn cleartext_http2_is_spoken_on_the_same_port() {
    let server = TestServer::start().await;
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Full<Bytes>>();
    let uri = format!("http://{}/v1/queues/q/tasks", server.address);
    let request = hyper::Request::post(uri).body(Full::from(r#"{"id":"a"}"#)).unwrap();
    let response = client.request(request).await.unwrap();
    assert_eq!(response.version(), hyper::Version::HTTP_2);
    assert_eq!(response.status(), 201);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["id"], "a");
}

#[tokio::test]
async fn a_connection_goes_on_after_a_refused_request() {
    let server = TestServer::start().await;
    let mut stream = server.connect().await;
    let text = exchange(
        &mut stream,
        "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\n{x}\
         GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    assert!(text.contains("HTTP/1.1 200"), "{text}");
}

#[tokio::test]
async fn a_connection_goes_on_after_a_body_that_nobody_wanted() {
    let server = TestServer::start().await;
    for (request, status) in [
        ("POST /v1/nowhere HTTP/1.1\r\nHost: 127.0.0.1", 404),
        ("PUT /v1/queues/q/take HTTP/1.1\r\nHost: 127.0.0.1", 405),
        ("POST /v1/queues/a%20b/tasks HTTP/1.1\r\nHost: 127.0.0.1", 422),
        ("POST /v1/queues/q/tasks HTTP/1.1\r\nHost: example.com", 403),
        ("GET /v1/queues HTTP/1.1\r\nHost: 127.0.0.1", 200),
    ] {
        for (length, body) in
            [("Content-Length: 2", "{}"), ("Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n")]
        {
            let mut stream = server.connect().await;
            let head = format!("{request}\r\n{length}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut byte = [0];
            let early = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut byte));
            assert!(early.await.is_err(), "{request}: answered before its body came");
            let next = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
            let text = exchange(&mut stream, &format!("{body}{next}")).await;
            assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {text}");
            assert_eq!(text.matches("HTTP/1.1 ").count(), 2, "{request}: {text}");
        }
    }
}

/// A server with a token of its settings, `t`: it asks its store for nothing before it answers, and the
/// clock of a store does not stand still with that of a test.
async fn guarded() -> TestServer {
    let token = AccessToken {
        hash: TokenHash::of("t"),
        rights: vec![Right::Produce],
        queues: Scope::all(),
        limits: TokenLimits::default(),
    };
    TestServer::with(ServerConfig { tokens: vec![token], ..ServerConfig::default() }).await
}

#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_wait_for_a_body_that_does_not_come() {
    let server = guarded().await;
    let mut stream = server.connect().await;
    let head = "POST /v1/nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\n\
                Content-Length: 10\r\n\r\n{";
    let text = exchange(&mut stream, head).await;
    assert!(text.starts_with("HTTP/1.1 404"), "{text}");
}

#[tokio::test]
async fn a_body_over_64_mebibytes_is_refused_before_it_is_sent() {
    let server = TestServer::start().await;
    let mut stream = server.connect().await;
    let head = "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\n\
                Content-Length: 67108865\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn a_body_over_64_mebibytes_is_refused_after_it_was_sent() {
    let server = TestServer::start().await;
    let body = Bytes::from(vec![b' '; (64 << 20) + 1]);
    server.raw("POST", "/v1/queues/q/tasks", &[], body.clone()).await.problem(413, "too_large");
    // The same in pieces whose sum is not known at first.
    let mut stream = server.connect().await;
    let head = "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..65 {
        stream.write_all(format!("{:x}\r\n", 1 << 20).as_bytes()).await.unwrap();
        stream.write_all(&body[..1 << 20]).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
    }
    let answer = exchange(&mut stream, "0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains(r#""code":"too_large""#), "{answer}");
    // A body of exactly the limit is only wrong, or not even that.
    let exact = body.slice(1..);
    server.raw("POST", "/v1/queues/q/tasks", &[], exact).await.is(201);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_closed() {
    let server = TestServer::start().await;
    for start in ["", "PRI * HT", "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let closed = stream.read_to_end(&mut rest);
        let closed = tokio::time::timeout(Duration::from_secs(100), closed).await;
        assert!(closed.is_ok(), "{start:?}");
        assert!(!rest.starts_with(b"HTTP/1.1 2"), "{start:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    let server = guarded().await;
    let mut stream = server.connect().await;
    let head = "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\n\
                Content-Length: 10\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn a_server_that_stops_lets_waiting_takes_go_and_finishes() {
    let mut server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    let mut stream = server.connect().await;
    let take = "POST /v1/queues/q/take HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 11\r\n\r\n\
                {\"wait\":60}";
    stream.write_all(take.as_bytes()).await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut byte)).await;
    assert!(early.is_err(), "it did not wait");
    server.stop();
    let answer = exchange(&mut stream, "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with(r#"{"tasks":[]}"#), "{answer}");
    server.stopped().await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn tasks_a_taker_did_not_get_are_given_back_before_the_server_ends() {
    let clock = punctual_store::ManualClock::new(punctual_core::Timestamp::from_millis(1));
    let store = crate::store(&clock);
    let config = punctual_server::ServerConfig::default();
    let mut server = TestServer::over(store.clone(), clock.clone(), config.clone()).await;
    for _ in 0..15 {
        server.push(json!({"payload": "x".repeat(1_000_000)})).await;
    }
    let mut stream = server.connect().await;
    let take = "POST /v1/queues/q/take HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n\
                {\"n\":100}";
    stream.write_all(take.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    server.stop();
    drop(stream);
    server.stopped().await.unwrap();
    let next = TestServer::over(store, clock, config).await;
    assert_eq!(next.get("/v1/queues/q").await.is(200)["counts"]["ready"], 15);
}

#[tokio::test]
async fn the_last_places_are_kept_for_settling_and_health() {
    let config = ServerConfig { connections_max: 40, ..Default::default() };
    let server = TestServer::with(config).await;
    let ask = async |request: &str| {
        let mut stream = server.connect().await;
        let head = "Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: 2";
        exchange(&mut stream, &format!("{request} HTTP/1.1\r\n{head}\r\n\r\n{{}}")).await
    };
    // Silent connections take all places but those that are kept.
    let mut silent = Vec::new();
    for _ in 0..38 {
        silent.push(server.connect().await);
    }
    let refused = ask("GET /v1/queues").await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    for (request, has_place) in [
        ("GET /livez", true),
        ("GET /readyz", true),
        ("POST /v1/queues/q/tasks/t/commit", true),
        ("POST /v1/queues/q/fail", true),
        ("POST /v1/queues/q/take", false),
        ("GET /v1/queues/q/tasks/commit", false),
    ] {
        let answer = ask(request).await;
        assert_eq!(!answer.starts_with("HTTP/1.1 503"), has_place, "{request}: {answer}");
    }
    drop(silent);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !ask("GET /v1/queues").await.starts_with("HTTP/1.1 200") {
        assert!(tokio::time::Instant::now() < deadline, "places are free again");
    }
}
