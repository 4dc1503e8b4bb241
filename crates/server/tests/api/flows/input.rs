//! What is no flow is refused, by the field at fault; a repeated request has no second effect.

use punctual_server::ServerConfig;
use serde_json::Value;

use super::super::{TestServer, json};
use super::*;

#[tokio::test]
async fn wrong_flows_are_refused_by_name() {
    let server = TestServer::start().await;
    let step = |name: &str, after: &[&str]| json!({"name": name, "queue": "q", "after": after});
    let with = |field: &str, value: Value| {
        let mut wrong = step("b", &["a"]);
        wrong[field] = value;
        json!({"steps": [step("a", &[]), wrong]})
    };
    let many: Vec<Value> = (0..10_001).map(|n| step(&format!("s{n}"), &[])).collect();
    for (flow, place) in [
        (json!({}), "steps: "),
        (json!({"steps": []}), "steps: "),
        (json!({"steps": many}), "steps: "),
        (json!({"steps": {}}), "steps"),
        (json!({"steps": [[]]}), "steps[0]"),
        (json!({"steps": [1]}), "steps[0]"),
        (json!({"steps": [{"queue": "q"}]}), "steps[0].name: "),
        (json!({"steps": [{"name": "a"}]}), "steps[0].queue: "),
        (json!({"steps": [step("a b", &[])]}), "steps[0].name: "),
        (json!({"steps": [step(&"x".repeat(91), &[])]}), "steps[0].name: "),
        (json!({"steps": [step("a", &[]), step("a", &[])]}), "steps[1].name: "),
        (json!({"steps": [step("a", &["a"])]}), "steps[0].after: "),
        (json!({"steps": [step("a", &["x"])]}), "steps[0].after: "),
        (json!({"steps": [step("a", &[]), step("b", &["a", "a"])]}), "steps[1].after: "),
        (
            json!({"steps": [step("z", &["c"]), step("a", &["c"]), step("b", &["a"]), step("c", &["b"])]}),
            ".after: ",
        ),
        (json!({"id": "x".repeat(91), "steps": [step("a", &[])]}), "id: "),
        (json!({"id": "a/b", "steps": [step("a", &[])]}), "id: "),
        (json!({"on_failure": "panic", "steps": [step("a", &[])]}), "on_failure: "),
        (json!({"colour": 1, "steps": [step("a", &[])]}), "colour"),
        (with("id", json!("t")), "steps[1]"),
        (with("colour", json!(1)), "colour"),
        (with("priority", json!(101)), "steps[1].priority: "),
        (with("hold", json!(0)), "steps[1].hold: "),
        (with("max_attempts", json!(0)), "steps[1].max_attempts"),
        (with("tags", json!([""])), "steps[1].tags: "),
        (with("http", json!({"url": "http://example.com/"})), "steps[1].http: "),
        (with("requires", json!(["gpu"])), "steps[1].requires: "),
        (with("callback", json!({"on": []})), "steps[1].callback.on: "),
        (with("due", json!("soon")), "steps[1].due"),
        (with("after", json!("a")), "steps[1].after"),
    ] {
        let answer = server.post("/v1/flows", flow.clone()).await;
        let detail = answer.problem(422, "invalid");
        assert!(detail.contains(place), "{place}: {detail}");
    }
    let detail = server
        .post("/v1/flows", with("payload", json!("x".repeat(1 << 20))))
        .await
        .problem(413, "too_large");
    assert!(detail.contains("payload"), "{detail}");
    server.raw("POST", "/v1/flows", &[], "{").await.problem(400, "bad_json");
    server.raw("POST", "/v1/flows", &[], "[]").await.problem(422, "invalid");
    assert_eq!(server.get("/v1/flows").await.is(200)["items"], json!([]));
    assert_eq!(server.get("/v1/queues/q").await.status, 404, "nothing was made");
    server.post("/v1/flows/f/cancel", json!({"why": 1})).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_step_follows_the_rules_of_its_queue() {
    let server = TestServer::start().await;
    server.put("/v1/queues/calls", json!({"mode": "http"})).await.is(201);
    let flow = |http: Value| json!({"steps": [{"name": "a", "queue": "calls", "http": http}]});
    let answer = server.post("/v1/flows", flow(json!(null))).await;
    assert!(answer.problem(422, "invalid").contains("steps[0].http.url: "));
    let answer = server.post("/v1/flows", flow(json!({"url": "http://127.0.0.1:9/"}))).await;
    assert!(answer.problem(422, "invalid").contains("steps[0].http.url: "));
}

#[tokio::test]
async fn queues_are_made_with_the_flow_if_they_may_be() {
    let server = TestServer::start().await;
    let flow = json!({"id": "f", "steps": [{"name": "a", "queue": "q"},
        {"name": "b", "queue": "later", "after": ["a"]}]});
    server.post("/v1/flows", flow.clone()).await.is(201);
    server.get("/v1/queues/later").await.is(200);
    let config = ServerConfig { auto_create: false, ..ServerConfig::default() };
    let server = TestServer::with(config).await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    server.post("/v1/flows", flow.clone()).await.problem(404, "not_found");
    server.put("/v1/queues/later", json!({})).await.is(201);
    server.post("/v1/flows", flow).await.is(201);
}

#[tokio::test]
async fn steps_are_never_refused_by_a_full_queue() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"max": 1})).await.is(201);
    make(&server, "stop", &[("a", &[]), ("b", &[]), ("c", &["a"])]).await;
    server.post("/v1/queues/q/tasks", json!({})).await.problem(429, "queue_full");
    work(&server, "a", json!(1)).await;
    assert_eq!(states(&server).await, ["done", "ready", "ready"]);
}

#[tokio::test]
async fn ids_are_generated() {
    let server = TestServer::start().await;
    let flow = json!({"steps": [{"name": "a", "queue": "q"}]});
    let made = server.post("/v1/flows", flow).await.is(201);
    let id = made["id"].as_str().unwrap();
    assert!((22..=26).contains(&id.len()), "{id}");
    assert_eq!(made["steps"][0]["task"], format!("{id}~a"));
    server.task(&format!("{id}~a")).await;
}

#[tokio::test]
async fn a_repeated_request_has_no_second_effect() {
    let server = TestServer::start().await;
    let headers = [("idempotency-key", "k1")];
    let post =
        async |body: Value| server.raw("POST", "/v1/flows", &headers, body.to_string()).await;
    let flow = json!({"id": "f", "steps": [{"name": "a", "queue": "q"}]});
    let first = post(flow.clone()).await;
    assert!(!first.headers.contains_key("idempotency-replayed"));
    first.is(201);
    for state in ["ready", "done"] {
        let again = post(flow.clone()).await;
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(states_of(&again.is(201)), [state]);
        if state == "ready" {
            work(&server, "a", json!(1)).await;
        }
    }
    post(json!({"steps": [{"name": "b", "queue": "q"}]})).await.problem(422, "invalid");
    // Gone, it still reads as what it was.
    server.advance(7 * 86_400).await;
    server.eventually("/v1/flows/f", |answer| answer["code"] == "not_found").await;
    server
        .raw("POST", "/v1/flows", &[("idempotency-key", "")], flow.to_string())
        .await
        .problem(422, "invalid");
}
