//! Access tokens at run time: made, used, limited, revoked, and what strangers try with them.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use http_body_util::BodyExt;
use punctual_core::Span;
use punctual_server::{AccessToken, Right, Scope, ServerConfig, TokenHash, TokenLimits};
use punctual_store::Clock;
use serde_json::Value;

use super::server::Answer;
use super::{PATIENCE, TestServer, json};

/// How long something may go on after its token is good no more.
const SOON: Duration = Duration::from_secs(1);

async fn send(server: &TestServer, token: &str, call: &str, body: Value) -> Answer {
    let (method, path) = call.split_once(' ').unwrap();
    let bearer = format!("Bearer {token}");
    server.raw(method, path, &[("authorization", &bearer)], body.to_string()).await
}

/// Makes the first token, an admin who may do everything.
async fn closed() -> (TestServer, String) {
    let server = TestServer::start().await;
    let rights = json!(["admin", "read", "produce", "consume"]);
    let boss = server.post("/v1/tokens", json!({"name": "boss", "rights": rights})).await.is(201);
    let boss = boss["token"].as_str().unwrap().to_owned();
    (server, boss)
}

async fn make(server: &TestServer, by: &str, new: Value) -> String {
    let made = send(server, by, "POST /v1/tokens", new).await.is(201);
    made["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_first_token_closes_the_server() {
    let server = TestServer::start().await;
    server.get("/v1/queues").await.is(200);
    let weak = server.post("/v1/tokens", json!({"name": "weak", "rights": ["read"]})).await;
    assert!(weak.problem(422, "invalid").starts_with("rights: "));
    server.get("/v1/queues").await.is(200);
    let made = server.post("/v1/tokens", json!({"name": "boss", "rights": ["admin"]})).await;
    assert_eq!(made.headers["cache-control"], "no-store");
    let made = made.is(201);
    assert_eq!((&made["name"], &made["queues"]), (&json!("boss"), &json!(null)));
    assert_eq!((&made["requests"], &made["last_used"]), (&json!(0), &json!(null)));
    let boss = made["token"].as_str().unwrap();
    server.get("/v1/queues").await.problem(401, "unauthorized");
    server.get("/livez").await.is(200);
    // No right implies another, but an admin without queue limit gives what it has not.
    send(&server, boss, "GET /v1/queues", json!({})).await.problem(403, "forbidden");
    let reader = make(&server, boss, json!({"name": "reader", "rights": ["read"]})).await;
    send(&server, &reader, "GET /v1/queues", json!({})).await.is(200);
    send(&server, &reader, "GET /v1/tokens", json!({})).await.problem(403, "forbidden");
    // The token is nowhere to be read again.
    for call in ["GET /v1/tokens/boss", "GET /v1/tokens", "GET /v1/system/audit"] {
        let read = send(&server, boss, call, json!({})).await.is(200).to_string();
        assert!(!read.contains(boss) && !read.contains(&reader), "{call}");
    }
    let name = boss.split_once('.').unwrap().1;
    for forged in [format!("pt_{:032x}.{name}", 0), boss[..boss.len() - 1].to_owned()] {
        send(&server, &forged, "GET /v1/tokens", json!({})).await.problem(401, "unauthorized");
    }
}

#[tokio::test]
async fn bad_tokens_name_their_field_and_change_nothing() {
    let (server, boss) = closed().await;
    for (new, field) in [
        (json!({"rights": ["read"]}), "name"),
        (json!({"name": "a b", "rights": ["read"]}), "name"),
        (json!({"name": ".", "rights": ["read"]}), "name"),
        (json!({"name": "a"}), "rights"),
        (json!({"name": "a", "rights": ["write"]}), "rights"),
        (json!({"name": "a", "rights": ["read"], "queues": ["a/b"]}), "queues"),
        (json!({"name": "a", "rights": ["read"], "expires": "2020-01-01T00:00:00Z"}), "expires"),
        (json!({"name": "a", "rights": ["read"], "limits": {"connections": 0}}), "limits"),
        (json!({"name": "a", "rights": ["read"], "limits": {"speed": 1}}), "limits"),
        (json!({"name": "a", "rights": ["read"], "colour": 1}), "colour"),
    ] {
        let detail = send(&server, &boss, "POST /v1/tokens", new.clone()).await;
        let detail = detail.problem(422, "invalid");
        assert!(detail.contains(field), "{new}: {detail}");
    }
    let twice =
        send(&server, &boss, "POST /v1/tokens", json!({"name": "boss", "rights": ["read"]}));
    twice.await.problem(409, "duplicate");
    let listed = send(&server, &boss, "GET /v1/tokens", json!({})).await.is(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_limited_admin_stays_within_its_queues() {
    let (server, boss) = closed().await;
    let tenant = json!({"name": "tenant", "rights": ["admin", "read"], "queues": ["t-*"]});
    let tenant = make(&server, &boss, tenant).await;
    make(&server, &boss, json!({"name": "other", "rights": ["read"], "queues": ["o"]})).await;
    for (new, field) in [
        (json!({"name": "x", "rights": ["read"]}), "queues"),
        (json!({"name": "x", "rights": ["read"], "queues": ["*"]}), "queues"),
        (json!({"name": "x", "rights": ["read"], "queues": ["t-1", "o"]}), "queues"),
        (json!({"name": "x", "rights": ["produce"], "queues": ["t-1"]}), "rights"),
        (
            json!({"name": "x", "rights": ["read"], "queues": ["t-1"], "limits": {"queues": 101}}),
            "limits.queues",
        ),
    ] {
        let detail = send(&server, &tenant, "POST /v1/tokens", new).await.problem(403, "forbidden");
        assert!(detail.starts_with(field), "{detail}");
    }
    let own = json!({"name": "own", "rights": ["read"], "queues": ["t-1"]});
    make(&server, &tenant, own).await;
    let listed = send(&server, &tenant, "GET /v1/tokens", json!({})).await.is(200);
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["own", "tenant"]);
    // Foreign and absent ones answer alike.
    for name in ["boss", "other", "absent"] {
        for method in ["GET", "DELETE"] {
            let call = format!("{method} /v1/tokens/{name}");
            send(&server, &tenant, &call, json!({})).await.problem(404, "not_found");
        }
    }
    send(&server, &tenant, "DELETE /v1/tokens/own", json!({})).await.is(204);
    send(&server, &boss, "GET /v1/tokens/other", json!({})).await.is(200);
}

#[tokio::test]
async fn the_last_admin_cannot_be_revoked() {
    let (server, boss) = closed().await;
    let soon = server.clock.now().wall + Span::from_secs(60);
    for other in [
        json!({"name": "some", "rights": ["admin"], "queues": ["a"]}),
        json!({"name": "brief", "rights": ["admin"], "expires": soon}),
        json!({"name": "reader", "rights": ["read"]}),
    ] {
        make(&server, &boss, other).await;
    }
    let revoke = async |by: &str, name: &str| {
        send(&server, by, &format!("DELETE /v1/tokens/{name}"), json!({})).await
    };
    assert!(revoke(&boss, "boss").await.problem(409, "wrong_state").contains("last admin"));
    let second = make(&server, &boss, json!({"name": "second", "rights": ["admin"]})).await;
    revoke(&boss, "boss").await.is(204);
    send(&server, &boss, "GET /v1/queues", json!({})).await.problem(401, "unauthorized");
    revoke(&second, "second").await.problem(409, "wrong_state");
    revoke(&second, "absent").await.problem(404, "not_found");
    for name in ["some", "brief", "reader"] {
        revoke(&second, name).await.is(204);
    }
    server.get("/v1/queues").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn one_of_the_settings_counts_and_cannot_be_revoked() {
    let tokens = vec![AccessToken {
        hash: TokenHash::of("of the settings"),
        rights: vec![Right::Admin],
        queues: Scope::all(),
        limits: TokenLimits::default(),
    }];
    let server = TestServer::with(ServerConfig { tokens, ..ServerConfig::default() }).await;
    let weak = json!({"name": "a", "rights": ["read"]});
    make(&server, "of the settings", weak).await;
    let admin = make(&server, "of the settings", json!({"name": "b", "rights": ["admin"]})).await;
    for name in ["a", "b"] {
        let call = format!("DELETE /v1/tokens/{name}");
        send(&server, &admin, &call, json!({})).await.is(204);
    }
    send(&server, "of the settings", "GET /v1/tokens", json!({})).await.is(200);
}

#[tokio::test]
async fn streams_and_polls_end_with_their_token() {
    let (server, boss) = closed().await;
    let rights = json!(["read", "consume"]);
    let expires = server.clock.now().wall + Span::from_secs(60);
    for (new, end) in [
        (json!({"name": "a", "rights": rights}), "revoke"),
        (json!({"name": "b", "rights": rights, "expires": expires}), "expire"),
    ] {
        let name = new["name"].as_str().unwrap().to_owned();
        let token = make(&server, &boss, new).await;
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let mut stream = server.open("/v1/events", &headers).await;
        assert_eq!(stream.status(), 200);
        send(&server, &boss, "PUT /v1/queues/q", json!({"tag": name})).await;
        stream.frame().await.unwrap().unwrap();
        let waits = send(&server, &token, "POST /v1/queues/q/take", json!({"wait": "60s"}));
        let ends = async {
            if end == "revoke" {
                let call = format!("DELETE /v1/tokens/{name}");
                send(&server, &boss, &call, json!({})).await.is(204);
                send(&server, &token, "GET /v1/queues", json!({}))
                    .await
                    .problem(401, "unauthorized");
            } else {
                server.advance(61).await;
            }
            Instant::now()
        };
        let heard = async {
            let mut body = stream.into_data_stream();
            while let Some(Ok(_)) = body.next().await {}
            Instant::now()
        };
        let all = futures_util::future::join3(async { (waits.await, Instant::now()) }, ends, heard);
        let ((waited, polled), ended, heard) = tokio::time::timeout(PATIENCE, all).await.unwrap();
        waited.problem(401, "unauthorized");
        // Over a shared store they may hear of it before whoever revoked it does.
        for over in [polled, heard] {
            assert!(over.saturating_duration_since(ended) < SOON, "{end}");
        }
        send(&server, &token, "GET /v1/queues", json!({})).await.problem(401, "unauthorized");
    }
}

#[tokio::test]
async fn its_use_is_counted() {
    let (server, boss) = closed().await;
    let token = make(&server, &boss, json!({"name": "a", "rights": ["read"]})).await;
    for _ in 0..3 {
        send(&server, &token, "GET /v1/queues", json!({})).await.is(200);
    }
    send(&server, &token, "POST /v1/queues/q/tasks", json!({})).await.problem(403, "forbidden");
    let read = send(&server, &boss, "GET /v1/tokens/a", json!({})).await.is(200);
    assert_eq!((&read["requests"], &read["refusals"]), (&json!(4), &json!(1)));
    assert_eq!(read["last_used"], "2026-11-15T06:00:00.000Z");
}

#[tokio::test]
async fn a_token_makes_so_many_queues() {
    let (server, boss) = closed().await;
    let new = json!({"name": "a", "rights": ["admin", "produce"], "queues": ["t-*"],
        "limits": {"queues": 2}});
    let token = make(&server, &boss, new).await;
    let push = async |by: &str, queue: &str| {
        send(&server, by, &format!("POST /v1/queues/{queue}/tasks"), json!({})).await
    };
    push(&boss, "t-0").await.is(201);
    push(&token, "t-1").await.is(201);
    send(&server, &token, "PUT /v1/queues/t-2", json!({})).await.is(201);
    // One that is there counts for whoever made it.
    push(&token, "t-0").await.is(201);
    for refused in
        [push(&token, "t-3").await, send(&server, &token, "PUT /v1/queues/t-3", json!({})).await]
    {
        assert!(refused.problem(429, "limited").starts_with("queues: "));
    }
    send(&server, &token, "PUT /v1/queues/t-2", json!({"hold": 5})).await.is(200);
    push(&boss, "t-4").await.is(201);
    send(&server, &token, "DELETE /v1/queues/t-2", json!({})).await.is(204);
    push(&token, "t-3").await.is(201);
    push(&token, "t-5").await.problem(429, "limited");
}

#[tokio::test]
async fn a_token_has_so_many_connections() {
    let (server, boss) = closed().await;
    let new = json!({"name": "a", "rights": ["read"], "limits": {"connections": 1}});
    let token = make(&server, &boss, new).await;
    let bearer = format!("Bearer {token}");
    // Its answer keeps the only connection busy.
    let stream = server.open("/v1/events", &[("authorization", &bearer)]).await;
    assert_eq!(stream.status(), 200);
    let refused = send(&server, &token, "GET /v1/queues", json!({})).await;
    assert!(refused.problem(429, "limited").starts_with("connections: "));
    send(&server, &boss, "GET /v1/queues", json!({})).await.is(200);
    drop(stream);
}

#[tokio::test]
async fn a_token_has_limits() {
    let (server, boss) = closed().await;
    let new = json!({"name": "a", "rights": ["read", "produce"], "queues": ["q"],
        "limits": {"streams": 1, "bytes_in_flight": 2_000, "requests": {"limit": 6, "per": "1h"}}});
    let token = make(&server, &boss, new).await;
    let read = send(&server, &boss, "GET /v1/tokens/a", json!({})).await.is(200);
    let limits = &read["limits"];
    assert_eq!((&limits["queues"], &limits["connections"]), (&json!(100), &json!(1_000)));
    assert_eq!((&limits["streams"], &limits["bytes_in_flight"]), (&json!(1), &json!(2_000)));
    assert_eq!(limits["requests"], json!({"limit": 6, "per": 3_600}));
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let first = server.open("/v1/events", &headers).await;
    assert_eq!(first.status(), 200);
    let detail = send(&server, &token, "GET /v1/events", json!({})).await.problem(429, "limited");
    assert!(detail.starts_with("streams"), "{detail}");
    drop(first);
    let large = json!({"payload": "x".repeat(2_000)});
    let refused = send(&server, &token, "POST /v1/queues/q/tasks", large).await;
    assert!(refused.problem(429, "limited").starts_with("bytes_in_flight"));
    for _ in 0..3 {
        send(&server, &token, "POST /v1/queues/q/tasks", json!({})).await.is(201);
    }
    let refused = send(&server, &token, "POST /v1/queues/q/tasks", json!({})).await;
    assert!(refused.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 60);
    assert!(refused.problem(429, "limited").starts_with("requests"));
    // Others do not notice.
    send(&server, &boss, "POST /v1/queues/q/tasks", json!({})).await.is(201);
}
