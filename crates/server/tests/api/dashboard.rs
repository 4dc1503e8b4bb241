//! The files of the dashboard and of the API reference: open to everybody, kept by browsers, and allowed
//! to load nothing from elsewhere.

use punctual_server::{AccessToken, Right, Scope, ServerConfig, TokenHash, TokenLimits};

use super::TestServer;

/// The paths of the files that the page names.
fn named(page: &str) -> Vec<String> {
    let paths = page.split('"').filter(|text| text.starts_with("assets/"));
    paths.map(|path| format!("/{path}")).collect()
}

#[tokio::test]
async fn pages_and_all_they_name_are_served_with_their_types() {
    let server = TestServer::start().await;
    for (path, files) in [("/", 21), ("/docs", 4)] {
        page_is_whole(&server, path, files).await;
    }
}

async fn page_is_whole(server: &TestServer, path: &str, files: usize) {
    let page = server.get(path).await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(page.headers.get_all("content-type").iter().count(), 1);
    assert_eq!(page.headers["cache-control"], "no-cache");
    let policy = page.headers["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
    let page = page.is(200);
    let paths = named(page.as_str().unwrap());
    assert!(paths.len() >= files, "{paths:?}");
    for path in paths {
        let file = server.get(&path).await;
        let kind = match path.rsplit('.').next().unwrap() {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(file.status, 200, "{path}");
        let kinds: Vec<_> = file.headers.get_all("content-type").iter().collect();
        assert_eq!(kinds, [kind], "{path}");
        assert_eq!(file.headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(file.headers["x-content-type-options"], "nosniff");
        assert_eq!(file.headers["referrer-policy"], "no-referrer");
    }
}

#[tokio::test]
async fn files_are_sent_compressed_and_once() {
    let server = TestServer::start().await;
    let plain = server.get("/").await;
    let tag = plain.headers["etag"].to_str().unwrap().to_owned();
    let gzip = server.raw("GET", "/", &[("accept-encoding", "br, gzip;q=1, deflate")], "").await;
    assert_eq!(gzip.headers["content-encoding"], "gzip");
    assert_eq!(gzip.headers["vary"], "accept-encoding");
    let none = server.raw("GET", "/", &[("accept-encoding", "gzip;q=0")], "").await;
    assert!(!none.headers.contains_key("content-encoding"));
    for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
        let same = server.raw("GET", "/", &[("if-none-match", &known)], "").await;
        assert_eq!((same.status.as_u16(), same.json.is_null()), (304, true), "{known}");
        assert_eq!(same.headers["etag"], tag.as_str());
    }
    let head = server.raw("HEAD", "/", &[], "").await;
    assert_eq!(head.is(200), serde_json::Value::Null);
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_nothing_is_taken() {
    let server = TestServer::start().await;
    let page = server.get("/").await.is(200);
    let script = named(page.as_str().unwrap()).into_iter().find(|path| path.ends_with("main.js"));
    let script = script.unwrap();
    let old = script.replacen(script.split('/').nth(2).unwrap(), "0123456789abcdef", 1);
    for path in [&old, "/assets/x", "/assets/../Cargo.toml", &format!("{script}/..")] {
        server.get(path).await.problem(404, "not_found");
    }
    server.raw("POST", "/", &[], "").await.problem(405, "method_not_allowed");
    let foreign = server.raw("GET", "/", &[("host", "evil.example")], "").await;
    foreign.problem(403, "forbidden");
}

#[tokio::test]
async fn no_token_is_asked_for() {
    let token = AccessToken {
        hash: TokenHash::of("x"),
        rights: vec![Right::Read],
        queues: Scope::all(),
        limits: TokenLimits::default(),
    };
    let config = ServerConfig { tokens: vec![token], ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    for page in ["/", "/docs"] {
        let page = server.get(page).await.is(200);
        let path = named(page.as_str().unwrap()).remove(0);
        server.get(&path).await.is(200);
    }
    server.get("/openapi.json").await.is(200);
    server.get("/v1/queues").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn the_reference_shows_this_server_and_takes_a_token() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/docs/").await.headers["location"], "../docs");
    let foreign = server.raw("GET", "/docs", &[("host", "evil.example")], "").await;
    foreign.problem(403, "forbidden");
    let page = server.get("/docs").await.is(200);
    let page = page.as_str().unwrap();
    assert_eq!(page.matches("<script").count(), page.matches("\"></script>").count());
    let start = named(page).into_iter().find(|path| path.ends_with("start.js")).unwrap();
    let start = server.get(&start).await.is(200);
    assert!(start.as_str().unwrap().contains("url: \"openapi.json\""), "{start}");
    let document = server.get("/openapi.json").await.is(200);
    let scheme = &document["components"]["securitySchemes"]["token"];
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&"http".into(), &"bearer".into()));
    assert_eq!(document["security"], super::json!([{}, {"token": []}]));
}
