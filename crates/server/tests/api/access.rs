//! Access tokens: what every route asks for, and the queues a token is good for.

use punctual_server::{AccessToken, Right, Scope, ServerConfig, TokenHash, TokenLimits};
use serde_json::Value;

use super::{TestServer, json};

/// A bundle for `http://example.com/`.
const SERVICE: &str = "k/POST/aHR0cDovL2V4YW1wbGUuY29tLw";

/// A token named after its right, good for all queues, and one good for some: `some-{right}`.
fn tokens() -> Vec<AccessToken> {
    let some = || Scope::of(["mine".to_owned(), "my-*".to_owned()]);
    let token = |name: String, right, queues| AccessToken {
        hash: TokenHash::of(&name),
        rights: vec![right],
        queues,
        limits: TokenLimits::default(),
    };
    let all = Right::ALL.map(|right| token(right.name().to_owned(), right, Scope::all()));
    let limited = Right::ALL.map(|right| token(format!("some-{}", right.name()), right, some()));
    all.into_iter().chain(limited).collect()
}

async fn server() -> TestServer {
    TestServer::with(ServerConfig { tokens: tokens(), ..ServerConfig::default() }).await
}

async fn call(server: &TestServer, token: &str, method: &str, path: &str) -> super::server::Answer {
    send(server, token, method, path, "").await
}

async fn send(
    server: &TestServer,
    token: &str,
    method: &str,
    path: &str,
    body: &str,
) -> super::server::Answer {
    let value = format!("Bearer {token}");
    server.raw(method, path, &[("authorization", &value)], body.to_owned()).await
}

/// The rights of which the interface asks for one, told apart by hand.
fn expected(route: &str) -> Option<Vec<Right>> {
    match route {
        "GET /v1/access" => Some(Right::ALL.to_vec()),
        _ => needed(route).map(|right| vec![right]),
    }
}

fn needed(route: &str) -> Option<Right> {
    let (method, path) = route.split_once(' ').unwrap();
    let consumes = [
        "/take",
        "/commit",
        "/extend",
        "/fail",
        "/release",
        "/confirm",
        "/cancelled",
        "/paused",
        "/schedule",
        "/get",
        "/complete",
    ];
    let administers =
        ["/{queue}/pause", "/{queue}/resume", "/{queue}/reset", "/dev/clock", "/v1/backup"];
    let is_open = ["/livez", "/readyz", "/openapi.json"].contains(&path);
    let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    match method {
        _ if is_open => None,
        _ if path.starts_with("/v1/system/") => Some(Right::Admin),
        _ if path.starts_with("/v1/tokens") => Some(Right::Admin),
        "GET" => Some(Right::Read),
        "POST" if path == "/v1/plans/preview" => Some(Right::Read),
        _ if path == "/v1/queues/{queue}" => Some(Right::Admin),
        "POST" if ends(&administers) => Some(Right::Admin),
        _ if path.starts_with("/v1/workers") => Some(Right::Consume),
        "POST" if path.starts_with("/v1/queues") && ends(&consumes) => Some(Right::Consume),
        _ => Some(Right::Produce),
    }
}

async fn routes(server: &TestServer) -> Vec<String> {
    let document = server.get("/openapi.json").await.is(200);
    let paths = document["paths"].as_object().unwrap();
    let of = |(path, methods): (&String, &Value)| {
        let methods: Vec<_> = methods.as_object().unwrap().keys().cloned().collect();
        let route = |method: String| format!("{} {path}", method.to_uppercase());
        methods.into_iter().map(route).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of).collect()
}

fn filled(path: &str, queue: &str) -> String {
    path.replace("{queue}", queue)
        .replace("{merge_key}/{method}/{service}", SERVICE)
        .replace("{id}", "none")
        .replace("{key}", "k")
        .replace("{worker}", "none")
        .replace("{name}", "none")
}

#[tokio::test]
async fn every_route_asks_for_its_right_and_no_other() {
    let server = server().await;
    for route in routes(&server).await {
        let (method, path) = route.split_once(' ').unwrap();
        // A stream goes on for ever once it is allowed; its own tests open it.
        if path == "/v1/events" {
            continue;
        }
        let path = filled(path, "none");
        let Some(rights) = expected(&route) else {
            assert_eq!(server.raw(method, &path, &[], "").await.status, 200, "{route}");
            continue;
        };
        let missing = server.raw(method, &path, &[], "").await;
        assert_eq!(missing.headers["www-authenticate"], "Bearer", "{route}");
        missing.problem(401, "unauthorized");
        call(&server, "wrong", method, &path).await.problem(401, "unauthorized");
        for other in Right::ALL {
            let answer = call(&server, other.name(), method, &path).await;
            if rights.contains(&other) {
                // The clock of a server that was not started with --dev is moved by nobody.
                let is_allowed = ![401, 403].contains(&answer.status.as_u16())
                    || answer.json["detail"].as_str().unwrap().contains("--dev");
                assert!(is_allowed, "{route}: {}", answer.json);
            } else {
                answer.problem(403, "forbidden");
            }
        }
    }
}

#[tokio::test]
async fn a_token_is_good_for_its_queues_only() {
    let server = server().await;
    for route in routes(&server).await {
        let (method, path) = route.split_once(' ').unwrap();
        let Some(right) = needed(&route) else { continue };
        let token = format!("some-{}", right.name());
        if path.contains("{queue}") {
            let answer = call(&server, &token, method, &filled(path, "theirs")).await;
            // Whether it exists is none of its business.
            answer.problem(403, "forbidden");
            for mine in ["mine", "my-queue"] {
                let answer = call(&server, &token, method, &filled(path, mine)).await;
                assert_ne!(answer.status, 403, "{route}: {}", answer.json);
            }
        } else if path.starts_with("/v3/") || path.starts_with("/v1/notices") {
            let answer = call(&server, &token, method, &filled(path, "")).await;
            answer.problem(403, "forbidden");
        }
    }
    call(&server, "some-read", "GET", "/v1/stats").await.problem(403, "forbidden");
    let theirs = call(&server, "some-read", "GET", "/v1/stats?queue=theirs").await;
    theirs.problem(403, "forbidden");
    call(&server, "some-read", "GET", "/v1/stats?queue=mine").await.is(200);
    call(&server, "some-read", "GET", "/v1/stats/queues").await.is(200);
    call(&server, "some-read", "GET", "/v1/stats/totals").await.is(200);
    call(&server, "some-read", "GET", "/metrics").await.problem(403, "forbidden");
    call(&server, "read", "GET", "/metrics").await.is(200);
    for path in ["/v1/system", "/v1/hosts"] {
        call(&server, "some-read", "GET", path).await.problem(403, "forbidden");
    }
    for path in ["/v1/system/config", "/v1/system/tokens", "/v1/system/audit"] {
        call(&server, "some-admin", "GET", path).await.problem(403, "forbidden");
    }
    for path in ["/v1/plans/preview", "/v1/dev/clock", "/v1/backup"] {
        for right in ["some-read", "some-admin"] {
            call(&server, right, "POST", path).await.problem(403, "forbidden");
        }
    }
}

#[tokio::test]
async fn what_a_task_or_plan_names_elsewhere_counts_too() {
    let server = server().await;
    let push = async |body: &str| {
        send(&server, "some-produce", "POST", "/v1/queues/mine/tasks", body).await
    };
    push(r#"{"id":"a","callback":{"queue":"my-other"}}"#).await.is(201);
    for callback in [
        r#"{"queue":"theirs"}"#,
        r#"{"http":{"url":"http://example.com/"}}"#,
        r#"{"queue":"mine","task":{"callback":{"queue":"theirs"}}}"#,
    ] {
        push(&format!(r#"{{"callback":{callback}}}"#)).await.problem(403, "forbidden");
        let batch = push(&format!(r#"{{"tasks":[{{"callback":{callback}}},{{}}]}}"#)).await.is(200);
        assert_eq!(batch["results"][0]["code"], "forbidden");
        assert_eq!(batch["results"][1]["ok"], true);
    }
    let plan = |id: &str, station: &str, more: &str| {
        let rule = r#""plan_type":"day","plan_value":1,"plan_repet":-1"#;
        format!(r#"{{"plan_id":"{id}","station":"{station}",{rule}{more}}}"#)
    };
    let create =
        async |token: &str, body: String| send(&server, token, "POST", "/v1/plans", &body).await;
    create("some-produce", plan("p", "mine", "")).await.is(201);
    create("some-produce", plan("q", "theirs", "")).await.problem(403, "forbidden");
    let callback = r#","callback":{"queue":"theirs"}"#;
    create("some-produce", plan("q", "mine", callback)).await.problem(403, "forbidden");
    create("produce", plan("theirs", "theirs", "")).await.is(201);
    create("produce", plan("both", "mine", callback)).await.is(201);
    for id in ["theirs", "both"] {
        let path = format!("/v1/plans/{id}");
        for (method, verb) in
            [("GET", ""), ("GET", "/results"), ("GET", "/occurrences"), ("DELETE", ""), ("PUT", "")]
        {
            let token = if method == "GET" { "some-read" } else { "some-produce" };
            let answer = call(&server, token, method, &format!("{path}{verb}")).await;
            match method {
                "PUT" => answer.problem(403, "forbidden"),
                _ => answer.problem(404, "not_found"),
            };
        }
        for verb in ["pause", "resume", "run", "skip"] {
            let answer = call(&server, "some-produce", "POST", &format!("{path}/{verb}")).await;
            answer.problem(404, "not_found");
        }
    }
    let listed = async |token: &str, path: &str, name: &str| -> Vec<String> {
        let page = call(&server, token, "GET", path).await.is(200);
        let items = page["items"].as_array().unwrap();
        items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("some-read", "/v1/plans", "plan_id").await, ["p"]);
    assert_eq!(listed("read", "/v1/plans", "plan_id").await.len(), 3);
    assert_eq!(listed("some-read", "/v1/queues", "name").await, ["mine"]);
    let totals = call(&server, "some-read", "GET", "/v1/stats/totals").await.is(200);
    let mine = call(&server, "some-read", "GET", "/v1/queues/mine").await.is(200);
    assert_eq!((&totals["queues"], &totals["counts"]), (&json!(1), &mine["counts"]));

    let flow = async |token: &str, id: &str, queue: &str, more: &str| {
        let step = format!(r#"{{"name":"a","queue":"{queue}"{more}}}"#);
        let body = format!(r#"{{"id":"{id}","steps":[{step}]}}"#);
        send(&server, token, "POST", "/v1/flows", &body).await
    };
    flow("some-produce", "f", "mine", "").await.is(201);
    flow("some-produce", "g", "theirs", "").await.problem(403, "forbidden");
    flow("some-produce", "g", "mine", callback).await.problem(403, "forbidden");
    flow("produce", "theirs", "theirs", "").await.is(201);
    call(&server, "some-read", "GET", "/v1/flows/f").await.is(200);
    call(&server, "some-read", "GET", "/v1/flows/theirs").await.problem(404, "not_found");
    for verb in ["cancel", "pause", "resume", "retry"] {
        let path = format!("/v1/flows/theirs/{verb}");
        call(&server, "some-produce", "POST", &path).await.problem(404, "not_found");
    }
    assert_eq!(listed("some-read", "/v1/flows", "id").await, ["f"]);
    assert_eq!(listed("read", "/v1/flows", "id").await.len(), 2);
}

#[tokio::test]
async fn what_a_worker_has_is_seen_by_those_who_see_all_its_queues() {
    let server = server().await;
    for queue in ["mine", "theirs"] {
        let path = format!("/v1/queues/{queue}");
        send(&server, "admin", "PUT", &path, r#"{"mode":"dispatch"}"#).await.is(201);
    }
    let join = async |queues: &str| {
        let body = format!(r#"{{"queues":[{queues}],"capacity":9}}"#);
        send(&server, "consume", "PUT", "/v1/workers/w", &body).await.is(200);
    };
    let had = async |token: &str| call(&server, token, "GET", "/v1/workers/w/tasks").await;
    join(r#""mine","theirs""#).await;
    for queue in ["mine", "theirs"] {
        let path = format!("/v1/queues/{queue}/tasks");
        send(&server, "produce", "POST", &path, r#"{"id":"t"}"#).await.is(201);
        let deadline = tokio::time::Instant::now() + super::PATIENCE;
        while call(&server, "read", "GET", &format!("{path}/t")).await.is(200)["worker"] != "w" {
            assert!(tokio::time::Instant::now() < deadline, "nobody is given the task");
        }
    }
    had("some-read").await.problem(404, "not_found");
    assert_eq!(had("read").await.is(200)["items"].as_array().unwrap().len(), 2);
    // It still has a task of a queue that it does not serve any more.
    join(r#""mine""#).await;
    let mine = had("some-read").await.is(200);
    assert_eq!(mine["items"].as_array().unwrap().len(), 1);
    assert_eq!(mine["items"][0]["queue"], "mine");
}

#[tokio::test]
async fn one_bearers_keys_are_not_anothers() {
    let mut tokens = tokens();
    tokens.push(AccessToken { hash: TokenHash::of("second"), ..tokens[1].clone() });
    let config = ServerConfig { tokens, ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    for (token, replayed) in [("produce", false), ("produce", true), ("second", false)] {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "k")];
        let answer = server.raw("POST", "/v1/queues/q/tasks", &headers, "{}").await;
        assert_eq!(answer.headers.contains_key("idempotency-replayed"), replayed, "{token}");
        answer.is(201);
    }
}

#[tokio::test]
async fn a_token_stands_in_its_header_and_nowhere_else() {
    let server = server().await;
    for (name, value) in [
        ("authorization", "Basic read"),
        ("authorization", "read"),
        ("authorization", "Bearer"),
        ("authorization", "Bearer "),
        ("cookie", "token=read"),
    ] {
        let answer = server.raw("GET", "/v1/queues", &[(name, value)], "").await;
        answer.problem(401, "unauthorized");
    }
    server.get("/v1/queues?token=read").await.problem(401, "unauthorized");
    server.get("/none").await.problem(401, "unauthorized");
    call(&server, "read", "GET", "/none").await.problem(404, "not_found");
    // Whoever has a token may call the server by any name, but a page of another site may not act.
    let headers = [("authorization", "bearer read"), ("host", "queue.example")];
    server.raw("GET", "/v1/queues", &headers, "").await.is(200);
    let headers = [("authorization", "Bearer produce"), ("origin", "http://evil.example")];
    let answer = server.raw("POST", "/v1/queues/q/tasks", &headers, "{}").await;
    answer.problem(403, "forbidden");
    let detail = call(&server, "produce", "GET", "/v1/queues").await.problem(403, "forbidden");
    assert_eq!(detail, "this needs a token with the right read");
    assert_eq!(json!(detail).as_str().map(|text| text.contains("produce")), Some(false));
}
