//! What workers may not say.

use super::{TestServer, json};

#[tokio::test]
async fn bad_requests_are_refused_by_field() {
    let server = TestServer::of_mode("dispatch").await;
    let path = "/v1/workers/w";
    for (body, field) in [
        (json!({}), "queues"),
        (json!({"queues": []}), "queues"),
        (json!({"queues": null}), "queues"),
        (json!({"queues": ["a b"]}), "queues"),
        (json!({"queues": "q"}), "queues"),
        (json!({"queues": ["q"], "capacity": 0}), "capacity"),
        (json!({"queues": ["q"], "capacity": 10_001}), "capacity"),
        (json!({"queues": ["q"], "capacity": -1}), "capacity"),
        (json!({"queues": ["q"], "capabilities": [""]}), "capabilities"),
        (json!({"queues": ["q"], "capabilities": ["a\nb"]}), "capabilities"),
        (json!({"queues": ["q"], "session": ""}), "session"),
        (json!({"queues": ["q"], "colour": 1}), "colour"),
    ] {
        let detail = server.put(path, body.clone()).await.problem(422, "invalid");
        assert!(detail.contains(field), "{body}: {detail}");
    }
    let long = json!({"queues": ["q"], "capabilities": ["x".repeat(129)]});
    server.put(path, long).await.problem(413, "too_large");
    let long = json!({"queues": ["q"], "session": "x".repeat(201)});
    server.put(path, long).await.problem(413, "too_large");
    server.get(path).await.problem(404, "not_found");
    server.post("/v1/workers/w/poll", json!({})).await.problem(404, "not_found");
    server.post("/v1/workers/w/drain", json!({})).await.problem(404, "not_found");
    server.delete(path).await.problem(404, "not_found");
    server.put("/v1/workers/a%20b", json!({"queues": ["q"]})).await.problem(422, "invalid");
    server.join("w", json!({})).await;
    server.post("/v1/workers/w/poll", json!({"wait": 61})).await.problem(422, "invalid");
    server.post("/v1/workers/w/poll", json!({"n": 1})).await.problem(422, "invalid");
    server.post("/v1/workers/w/poll", json!({"session": "x"})).await.problem(409, "stale_token");
    server.push(json!({"id": "a"})).await;
    let assign = "/v1/queues/q/tasks/a/assign";
    server.post(assign, json!({})).await.problem(422, "invalid");
    server.post(assign, json!({"worker": "a b"})).await.problem(422, "invalid");
    for (mode, field) in [("vote", "requires"), ("pub", "requires"), ("pull", "requires")] {
        server.put(&format!("/v1/queues/{mode}"), json!({"mode": mode})).await.is(201);
        let body = json!({"requires": ["x"]});
        let detail =
            server.post(&format!("/v1/queues/{mode}/tasks"), body).await.problem(422, "invalid");
        assert!(detail.contains(field));
    }
    let http = json!({"http": {"url": "http://192.0.2.1/"}});
    server.post("/v1/queues/q/tasks", http).await.problem(422, "invalid");
}
