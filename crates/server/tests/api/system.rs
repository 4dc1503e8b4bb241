//! The server about itself: what a caller may do, settings, tokens, the store, the servers beside it.

use punctual_server::{
    AccessToken, Right, Scope, ServerConfig, Setting, Source, TokenHash, TokenLimits,
};

use super::{TestServer, json};

fn tokens() -> Vec<AccessToken> {
    let token = |name: &str, rights: &[Right], queues| AccessToken {
        hash: TokenHash::of(name),
        rights: rights.to_vec(),
        queues,
        limits: TokenLimits::default(),
    };
    vec![
        token("boss", &Right::ALL, Scope::all()),
        token("mailer", &[Right::Consume, Right::Read], Scope::of(["mail-*".to_owned()])),
    ]
}

async fn get(server: &TestServer, token: &str, path: &str) -> super::server::Answer {
    let value = format!("Bearer {token}");
    server.raw("GET", path, &[("authorization", &value)], "").await
}

#[tokio::test]
async fn whoever_asks_hears_what_it_may_do() {
    let server = TestServer::start().await;
    let all = json!(["read", "produce", "consume", "admin"]);
    let open = json!({"open": true, "rights": all, "queues": null});
    assert_eq!(server.get("/v1/access").await.is(200), open);
    server.get("/v1/access?x=1").await.problem(422, "invalid");

    let server =
        TestServer::with(ServerConfig { tokens: tokens(), ..ServerConfig::default() }).await;
    server.get("/v1/access").await.problem(401, "unauthorized");
    get(&server, "guess", "/v1/access").await.problem(401, "unauthorized");
    let boss = json!({"open": false, "rights": all, "queues": null});
    assert_eq!(get(&server, "boss", "/v1/access").await.is(200), boss);
    let mailer = json!({"open": false, "rights": ["read", "consume"], "queues": ["mail-*"]});
    assert_eq!(get(&server, "mailer", "/v1/access").await.is(200), mailer);
}

#[tokio::test]
async fn settings_and_tokens_are_told_without_secrets() {
    let setting = |name: &str, value, source| Setting { name: name.to_owned(), value, source };
    let settings = vec![
        setting("listen", json!("127.0.0.1:1"), Source::Flag),
        setting("tokens", json!("***"), Source::File),
        setting("plan_exec_timeout", json!(null), Source::Default),
    ];
    let config = ServerConfig { tokens: tokens(), settings, ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    let items = json!([
        {"name": "listen", "value": "127.0.0.1:1", "source": "flag"},
        {"name": "tokens", "value": "***", "source": "file"},
        {"name": "plan_exec_timeout", "value": null, "source": "default"},
    ]);
    let config = get(&server, "boss", "/v1/system/config").await.is(200);
    assert_eq!(config, json!({"items": items}));
    let told = get(&server, "boss", "/v1/system/tokens").await.is(200);
    // As `printf boss | sha256sum` begins.
    assert_eq!(told["items"][0]["hash"], "a5e7c002");
    assert_eq!(told["items"][1]["queues"], json!(["mail-*"]));
    assert_eq!(told["items"][1]["rights"], json!(["consume", "read"]));
    assert_eq!(told["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_store_and_this_server_are_told() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    let system = server.get("/v1/system").await.is(200);
    assert_eq!(system["now"], "2026-11-15T06:00:00.000Z");
    assert_eq!(system["started_at"], system["now"]);
    assert_eq!(system["dev"], false);
    assert_eq!(system["store"]["available"], true);
    assert_eq!(system["store"]["problem"], json!(null));
    assert_eq!(system["store"]["queues"], 4, "the one made, and three that always are");
    assert!(system["store"]["kind"].is_string() && system["version"].is_string());
    let nodes = system["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0]["address"], server.address.to_string());
    assert_eq!((&nodes[0]["this"], nodes[0]["id"].as_str().unwrap().len()), (&json!(true), 16));
    server.advance(60).await;
    let later = server.get("/v1/system").await.is(200);
    assert_eq!(
        later["nodes"][0]["seen_at"], "2026-11-15T06:01:00.000Z",
        "whoever answers is there"
    );
    assert_eq!(later["started_at"], system["started_at"]);
}

/// What is noted, as action, target, status and who; the newest first.
async fn noted(server: &TestServer, token: &str) -> Vec<(String, String, u64, String)> {
    let page = get(server, token, "/v1/system/audit").await.is(200);
    let text = |item: &serde_json::Value, name: &str| item[name].as_str().unwrap().to_owned();
    let items = page["items"].as_array().unwrap().clone();
    for item in &items {
        assert!(text(item, "from").starts_with("127.0.0.1:"), "{item}");
        assert_eq!(item["at"], "2026-11-15T06:00:00.000Z");
    }
    let of = |item: &serde_json::Value| {
        let status = item["status"].as_u64().unwrap();
        (text(item, "action"), text(item, "target"), status, text(item, "who"))
    };
    items.iter().map(of).collect()
}

#[tokio::test]
async fn what_was_done_is_noted() {
    let server =
        TestServer::with(ServerConfig { tokens: tokens(), ..ServerConfig::default() }).await;
    let send = async |token: &str, method: &str, path: &str| {
        let value = format!("Bearer {token}");
        server.raw(method, path, &[("authorization", &value)], "").await.status.as_u16()
    };
    assert_eq!(send("boss", "PUT", "/v1/queues/q").await, 201);
    assert_eq!(send("boss", "POST", "/v1/queues/q/tasks").await, 201);
    // What is not there was not touched: it is not noted.
    assert_eq!(send("boss", "POST", "/v1/queues/q/tasks/none/reset").await, 404);
    assert_eq!(send("mailer", "POST", "/v1/queues/q/pause").await, 403);
    assert_eq!(send("guess-hush-hush", "GET", "/v1/queues").await, 401);
    assert_eq!(send("boss", "DELETE", "/v1/queues/q").await, 204);
    let entry = |action: &str, target: &str, status, who: &str| {
        (action.to_owned(), target.to_owned(), status, who.to_owned())
    };
    let (boss, mailer) = ("a5e7c002", TokenHash::of("mailer").short());
    let expected = [
        entry("queue.delete", "q", 204, boss),
        entry("token.refused", "GET /v1/queues", 401, "unknown"),
        entry("queue.pause", "q", 403, &mailer),
        entry("queue.put", "q", 201, boss),
    ];
    assert_eq!(noted(&server, "boss").await, expected);
    let page = get(&server, "boss", "/v1/system/audit?limit=2").await.is(200);
    let next = page["next"].as_str().unwrap();
    let rest = get(&server, "boss", &format!("/v1/system/audit?cursor={next}")).await.is(200);
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (2, &json!(null)));
    get(&server, "boss", "/v1/system/audit?cursor=x").await.problem(422, "invalid");
    get(&server, "boss", "/v1/system/audit?limit=0").await.problem(422, "invalid");
}

#[tokio::test]
async fn whoever_guesses_tokens_does_not_fill_the_log() {
    let server =
        TestServer::with(ServerConfig { tokens: tokens(), ..ServerConfig::default() }).await;
    for _ in 0..60 {
        server.get("/v1/queues").await.problem(401, "unauthorized");
    }
    let count = noted(&server, "boss").await.len();
    assert!((20..=40).contains(&count), "{count}");
}

#[tokio::test]
async fn without_tokens_everybody_is_nobody_in_particular() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    server.post("/v1/queues/q/tasks/bulk", json!({"verb": "clean", "filter": {}})).await.is(200);
    let who: Vec<_> =
        noted(&server, "").await.into_iter().map(|entry| (entry.0, entry.3)).collect();
    let open = |action: &str| (action.to_owned(), "open".to_owned());
    assert_eq!(who, [open("task.bulk"), open("queue.put")]);
}

#[tokio::test]
async fn nothing_was_delivered_to_anybody_yet() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/v1/hosts").await.is(200), json!({"items": [], "next": null}));
}
