//! Routes: those there are, those there are not, who may call them, and the document about them.

use std::collections::BTreeSet;

use punctual_server::ServerConfig;

use super::{TestServer, json};

const ROUTES: &[&str] = &[
    "GET /v1/failures",
    "GET /v1/access",
    "GET /v1/hosts",
    "GET /v1/system",
    "GET /v1/system/audit",
    "GET /v1/system/config",
    "GET /v1/system/tokens",
    "GET /v1/tokens",
    "POST /v1/tokens",
    "GET /v1/tokens/{name}",
    "DELETE /v1/tokens/{name}",
    "GET /v1/events",
    "DELETE /v1/notices/{id}",
    "DELETE /v1/queues/{queue}",
    "DELETE /v1/queues/{queue}/tasks/{id}",
    "GET /livez",
    "GET /openapi.json",
    "GET /readyz",
    "GET /v1/notices",
    "GET /v1/notices/{id}",
    "GET /v1/queues",
    "GET /v1/queues/{queue}",
    "GET /v1/queues/{queue}/scale",
    "GET /v1/queues/{queue}/tasks",
    "GET /v1/queues/{queue}/tasks/{id}",
    "GET /v1/queues/{queue}/tasks/{id}/why",
    "PATCH /v1/queues/{queue}/tasks/{id}",
    "POST /v1/notices",
    "POST /v1/notices/{id}/retry",
    "POST /v1/queues/{queue}/commit",
    "POST /v1/queues/{queue}/extend",
    "POST /v1/queues/{queue}/fail",
    "POST /v1/queues/{queue}/pause",
    "POST /v1/queues/{queue}/release",
    "POST /v1/queues/{queue}/reset",
    "POST /v1/queues/{queue}/resume",
    "POST /v1/queues/{queue}/take",
    "POST /v1/queues/{queue}/tasks",
    "POST /v1/queues/{queue}/tasks/bulk",
    "POST /v1/queues/{queue}/tasks/{id}/cancel",
    "POST /v1/queues/{queue}/tasks/{id}/cancelled",
    "POST /v1/queues/{queue}/tasks/{id}/commit",
    "POST /v1/queues/{queue}/tasks/{id}/confirm",
    "POST /v1/queues/{queue}/tasks/{id}/extend",
    "POST /v1/queues/{queue}/tasks/{id}/fail",
    "POST /v1/queues/{queue}/tasks/{id}/pause",
    "POST /v1/queues/{queue}/tasks/{id}/paused",
    "POST /v1/queues/{queue}/tasks/{id}/release",
    "POST /v1/queues/{queue}/tasks/{id}/reset",
    "POST /v1/queues/{queue}/tasks/{id}/resume",
    "POST /v1/queues/{queue}/tasks/{id}/retry",
    "PUT /v1/queues/{queue}",
    "DELETE /v1/plans/{id}",
    "GET /v1/plans",
    "GET /v1/plans/{id}",
    "GET /v1/plans/{id}/occurrences",
    "GET /v1/plans/{id}/results",
    "POST /v1/backup",
    "POST /v1/dev/clock",
    "POST /v1/plans",
    "POST /v1/plans/preview",
    "POST /v1/plans/{id}/pause",
    "POST /v1/plans/{id}/resume",
    "POST /v1/plans/{id}/run",
    "POST /v1/plans/{id}/skip",
    "PUT /v1/plans/{id}",
    "GET /v1/flows",
    "GET /v1/flows/{id}",
    "POST /v1/flows",
    "POST /v1/flows/{id}/cancel",
    "POST /v1/flows/{id}/pause",
    "POST /v1/flows/{id}/resume",
    "POST /v1/flows/{id}/retry",
    "DELETE /v1/queues/{queue}/bundles/{key}",
    "GET /v1/queues/{queue}/bundles",
    "GET /v1/queues/{queue}/bundles/{key}",
    "POST /v1/queues/{queue}/bundles/schedule",
    "POST /v1/queues/{queue}/bundles/{key}/complete",
    "POST /v1/queues/{queue}/bundles/{key}/data",
    "POST /v1/queues/{queue}/bundles/{key}/get",
    "POST /v1/queues/{queue}/bundles/{key}/push",
    "POST /v1/queues/{queue}/bundles/{key}/release",
    "POST /v1/queues/{queue}/bundles/{key}/retry",
    "DELETE /v3/queue/{merge_key}/{method}/{service}",
    "POST /v3/queue/{merge_key}/{method}/{service}",
    "DELETE /v1/workers/{worker}",
    "GET /v1/workers",
    "GET /v1/workers/{worker}",
    "GET /v1/workers/{worker}/tasks",
    "POST /v1/queues/{queue}/tasks/{id}/assign",
    "POST /v1/workers/{worker}/drain",
    "POST /v1/workers/{worker}/poll",
    "PUT /v1/workers/{worker}",
    "GET /metrics",
    "GET /v1/stats",
    "GET /v1/stats/queues",
    "GET /v1/stats/totals",
    "GET /v1/plans/preview",
    "PUT /v1/plans/preview",
    "DELETE /v1/plans/preview",
    "GET /v1/queues/{queue}/tasks/bulk",
    "DELETE /v1/queues/{queue}/tasks/bulk",
    "PATCH /v1/queues/{queue}/tasks/bulk",
    "GET /v1/queues/{queue}/bundles/schedule",
    "DELETE /v1/queues/{queue}/bundles/schedule",
    "GET /v1/queues/{queue}/bundles/",
];

/// A bundle for `http://example.com/`.
const SERVICE: &str = "k/POST/aHR0cDovL2V4YW1wbGUuY29tLw";

/// The last rows of the table: the plan `preview`, the task `bulk` and the bundle `schedule`, described
/// by the rows for all of them, and another spelling of a path.
const ALIASES: usize = 9;

#[tokio::test]
async fn the_document_describes_exactly_the_routes() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await.is(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert(format!("{} {path}", method.to_uppercase()));
            assert!(operation["summary"].is_string(), "{method} {path}");
            assert!(operation["responses"].is_object(), "{method} {path}");
        }
    }
    let routes: BTreeSet<String> =
        ROUTES[..ROUTES.len() - ALIASES].iter().map(|route| (*route).to_owned()).collect();
    assert_eq!(described, routes);
    // Every schema that is named is there.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_slash_at_the_end_of_a_path_says_nothing() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q/", json!({})).await.is(201);
    server.post("/v1/queues/q/tasks/", json!({"id": "a"})).await.is(201);
    let read = server.get("/v1/queues/q/tasks/a/").await.is(200);
    assert_eq!(read, server.get("/v1/queues/q/tasks/a").await.is(200));
    let listed = server.get("/v1/queues/q/tasks/?state=ready&limit=1").await.is(200);
    assert_eq!(listed["items"][0]["id"], "a");
    server.get("/v1/queues/q/bundles/").await.is(200);
    server.get("/v1/queues/q/tasks//").await.problem(404, "not_found");
}

#[tokio::test]
async fn the_document_describes_exactly_what_is_answered() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await.is(200);
    let check = |value: &serde_json::Value, name: &str| {
        let schema = &document["components"]["schemas"][name];
        let given: BTreeSet<&String> = value.as_object().unwrap().keys().collect();
        let described: BTreeSet<&String> =
            schema["properties"].as_object().unwrap().keys().collect();
        assert!(given.is_subset(&described), "{name}: {given:?} {described:?}");
        for required in schema["required"].as_array().unwrap() {
            assert!(value.get(required.as_str().unwrap()).is_some(), "{name}: {required}");
        }
    };
    let queue = server.put("/v1/queues/q", json!({"rate": {"limit": 9, "per": 1}})).await.is(201);
    check(&queue, "Queue");
    check(&queue["counts"], "Counts");
    check(&queue["rate"], "Rate");
    check(&server.get("/v1/queues").await.is(200), "Page_Queue");
    check(&server.push(json!({"id": "a"})).await, "Task");
    check(&server.get("/v1/queues/q/tasks/a/why").await.is(200), "Why");
    let taken = server.post("/v1/queues/q/take", json!({"commit": []})).await.is(200);
    check(&taken, "Taken");
    let task = &taken["tasks"][0];
    check(task, "Task");
    let body = json!({"token": task["token"]});
    check(&server.verb("a", "extend", body.clone()).await.is(200), "Extended");
    let item = json!({"tasks": [{"id": "a", "token": task["token"]}, {}]});
    let extended = server.post("/v1/queues/q/extend", item).await.is(200);
    check(&extended, "Results");
    check(&extended["results"][0], "Result");
    check(&extended["results"][1], "Result");
    let done = server.verb("a", "commit", body.clone()).await.is(200);
    check(&done, "Task");
    check(&done["history"][0], "Attempt");
    check(&server.verb("a", "commit", body).await.is(200), "Gone");
    let bulk = server
        .post("/v1/queues/q/tasks/bulk", json!({"verb": "clean", "filter": {}}))
        .await
        .is(200);
    check(&bulk, "Bulked");
    check(&server.get("/v1/queues/q/tasks").await.is(200), "Page_Task");
    let notice = json!({"id": "n", "url": "http://192.0.2.1/"});
    check(&server.post("/v1/notices", notice).await.is(202), "Notice");
    check(&server.get("/v1/notices").await.is(200), "Page_Notice");
    let steps = json!([{"name": "a", "queue": "q"}, {"name": "b", "queue": "q", "after": ["a"]}]);
    let flow = server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    check(&flow["steps"][1], "FlowStep");
    check(&flow["counts"], "FlowCounts");
    let flows = server.get("/v1/flows").await.is(200);
    check(&flows["items"][0], "FlowSummary");
    check(&flows, "Page_FlowSummary");
    check(&server.get("/v1/queues/q/tasks/f~b/why").await.is(200), "Why");
    check(&server.get("/none").await.json, "Problem");
    check(&server.get("/v1/failures").await.is(200), "Page_FailureGroup");
    check(&server.get("/v1/access").await.is(200), "Access");
    check(&server.get("/v1/hosts").await.is(200), "Page_Host");
    let system = server.get("/v1/system").await.is(200);
    check(&system, "System");
    check(&system["store"], "StoreState");
    check(&system["nodes"][0], "Node");
    check(&server.get("/v1/system/config").await.is(200), "Config");
    let audit = server.get("/v1/system/audit").await.is(200);
    check(&audit, "Page_Audited");
    check(&audit["items"][0], "Audited");
    check(&server.get("/v1/system/tokens").await.is(200), "Tokens");
    check(&server.get("/readyz").await.is(200), "Ready");
}

#[tokio::test]
async fn every_route_answers_its_method_and_no_other() {
    let server = TestServer::start().await;
    let mut paths: std::collections::BTreeMap<String, BTreeSet<&str>> = Default::default();
    for route in ROUTES {
        let (method, path) = route.split_once(' ').unwrap();
        let path = path.replace("{queue}", "none").replace("{id}", "t");
        let path = path
            .replace("{worker}", "w")
            .replace("{key}", "k")
            .replace("{merge_key}/{method}/{service}", SERVICE);
        // A stream that is allowed goes on for ever.
        let path = path.replace("/v1/events", "/v1/events?type=none");
        paths.entry(path).or_default().insert(method);
    }
    for (path, methods) in paths {
        for method in ["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"] {
            let answer = server.raw(method, &path, &[], "").await;
            if methods.contains(method) {
                assert_ne!(answer.status, 405, "{method} {path}");
                let text = answer.json.to_string();
                assert!(!text.contains("there is no /"), "{method} {path}: {text}");
            } else {
                let allow = answer.headers["allow"].to_str().unwrap().to_owned();
                for allowed in &methods {
                    assert!(allow.contains(allowed), "{method} {path}: {allow}");
                }
                answer.problem(405, "method_not_allowed");
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_route_is_not_found() {
    let server = TestServer::start().await;
    for path in [
        "/v1",
        "/v1/",
        "/v1/queues//",
        "/v2/queues",
        "/v1/queues/q/tasks/a/eat",
        "/v1/queues/q/tasks/a/commit/x",
        "//v1/queues",
    ] {
        server.get(path).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn names_in_paths_follow_the_rule() {
    let server = TestServer::start().await;
    for name in ["a%20b", "%C3%A9", "a%2Fb", "%FF", "*", &"x".repeat(201)] {
        server.get(&format!("/v1/queues/{name}")).await.problem(422, "invalid");
        server.get(&format!("/v1/queues/q/tasks/{name}")).await.problem(422, "invalid");
        server.put(&format!("/v1/queues/{name}"), json!({})).await.problem(422, "invalid");
    }
    for name in ["A.b_c:d@e~f-9", "%41%7E", &"x".repeat(200)] {
        server.put(&format!("/v1/queues/{name}"), json!({})).await.is(201);
    }
    assert_eq!(server.get("/v1/queues/A~").await.is(200)["name"], "A~");
    server.get("/v1/queues/A~?colour=1").await.problem(422, "invalid");
    server.get("/v1/queues/A~?").await.is(200);
}

#[tokio::test]
async fn a_task_may_be_called_like_a_route() {
    let server = TestServer::start().await;
    for id in ["bulk", "why", "take", "tasks"] {
        let path = format!("/v1/queues/q/tasks/{id}");
        server.push(json!({"id": id})).await;
        assert_eq!(server.get(&path).await.is(200)["id"], id);
        assert_eq!(server.patch(&path, json!({"priority": 1})).await.is(200)["priority"], 1);
        assert_eq!(server.get(&format!("{path}/why")).await.is(200)["reason"], "no_taker");
        let taken = server.take(json!({})).await;
        server.verb(id, "release", json!({"token": taken["token"]})).await.is(200);
        server.delete(&path).await.is(204);
    }
    server.put("/v1/queues/tasks", json!({})).await.is(201);
    server.post("/v1/queues/tasks/tasks", json!({"id": "tasks"})).await.is(201);
    server.get("/v1/queues/tasks/tasks/tasks").await.is(200);
}

#[tokio::test]
async fn only_those_who_call_the_server_by_its_name_are_served() {
    let hosts = vec!["queue.internal".to_owned()];
    let server = TestServer::with(ServerConfig { hosts, ..ServerConfig::default() }).await;
    for (host, served) in [
        ("127.0.0.1", true),
        ("localhost:23334", true),
        ("[::1]:23334", true),
        ("queue.internal:23334", true),
        ("evil.example", false),
        ("evil.example:23334", false),
    ] {
        let headers = [("host", host)];
        let answer = server.raw("GET", "/v1/queues", &headers, "").await;
        if served {
            answer.is(200);
        } else {
            answer.problem(403, "forbidden");
            server.raw("POST", "/v1/queues/q/tasks", &headers, "").await.problem(403, "forbidden");
            server.raw("GET", "/none", &headers, "").await.problem(403, "forbidden");
        }
        server.raw("GET", "/livez", &headers, "").await.is(200);
        server.raw("GET", "/readyz", &headers, "").await.is(200);
    }
}

#[tokio::test]
async fn pages_of_other_sites_change_nothing() {
    let server = TestServer::start().await;
    let own = format!("http://{}", server.address);
    let path = "/v1/queues/q/tasks";
    server.raw("POST", path, &[("origin", &own)], "").await.is(201);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let headers = [("origin", origin)];
        server.raw("POST", path, &headers, "").await.problem(403, "forbidden");
        server.raw("PUT", "/v1/queues/q", &headers, "").await.problem(403, "forbidden");
        server.raw("DELETE", "/v1/queues/q", &headers, "").await.problem(403, "forbidden");
        server.raw("GET", path, &headers, "").await.is(200);
    }
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1);
}

#[tokio::test]
async fn health_is_told() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/livez").await.is(200), json!({"live": true}));
    let ready = server.get("/readyz").await.is(200);
    assert_eq!(ready["ready"], true);
    assert!(ready["store"].is_string() && ready["durability"].is_string());
}
