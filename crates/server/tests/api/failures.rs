//! What failed: grouped by error, and recovered since a time.

use serde_json::Value;

use super::{TestServer, json};

/// Pushes a task and lets it fail for good.
async fn fail(server: &TestServer, queue: &str, id: &str, error: &str) {
    let path = format!("/v1/queues/{queue}");
    server.post(&format!("{path}/tasks"), json!({"id": id})).await.is(201);
    let taken = server.post(&format!("{path}/take"), json!({})).await.is(200);
    let task = &taken["tasks"][0];
    assert_eq!(task["id"], id);
    let body = json!({"token": task["token"], "error": error, "permanent": true});
    server.post(&format!("{path}/tasks/{id}/fail"), body).await.is(200);
}

#[tokio::test]
async fn what_failed_alike_is_told_together() {
    let server = TestServer::start().await;
    let nothing = json!({"items": [], "next": null});
    assert_eq!(server.get("/v1/failures").await.is(200), nothing);
    fail(&server, "q", "a", "no route\nstack 1").await;
    server.advance(10).await;
    fail(&server, "q", "b", "no route\nstack 2").await;
    fail(&server, "p", "c", "no route").await;
    server.advance(10).await;
    fail(&server, "q", "d", "disk full").await;
    let told = server.get("/v1/failures").await.is(200);
    let group = |queue: &str, error: &str, count: usize, at: i64, id: &str| {
        json!({"queue": queue, "error": error, "count": count, "id": id,
            "last_at": if at == 20 { "2026-11-15T06:00:20.000Z" } else { "2026-11-15T06:00:10.000Z" }})
    };
    let items = json!([
        group("q", "disk full", 1, 20, "d"),
        group("p", "no route", 1, 10, "c"),
        group("q", "no route", 2, 10, "b"),
    ]);
    assert_eq!(told, json!({"items": items, "next": null}));
    let of_p = server.get("/v1/failures?queue=p").await.is(200);
    assert_eq!(of_p["items"], json!([group("p", "no route", 1, 10, "c")]));
    // A group is retried by the error it is told by.
    let bulk = json!({"verb": "retry", "filter": {"state": "failed", "error": "no route"}});
    let bulked = server.post("/v1/queues/q/tasks/bulk", bulk).await.is(200);
    assert_eq!(bulked, json!({"matched": 2, "changed": 2, "next": null}));
    assert_eq!(
        server.get("/v1/failures?queue=q").await.is(200)["items"].as_array().unwrap().len(),
        1
    );
    server.get("/v1/failures?queue=none").await.problem(404, "not_found");
    for bad in ["queue=a%20b", "cursor=x", "cursor=q%20x%20y", "limit=5"] {
        server.get(&format!("/v1/failures?{bad}")).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn one_call_examines_ten_thousand() {
    let server = TestServer::start().await;
    // The model looks through all its tasks again and again.
    let kind = server.get("/v1/system").await.is(200)["store"]["kind"].clone();
    if kind == "model" {
        return;
    }
    server.put("/v1/queues/q", json!({})).await.is(201);
    server.put("/v1/queues/r", json!({})).await.is(201);
    let expires = "2026-11-15T06:00:01Z";
    for _ in 0..11 {
        let tasks: Vec<Value> = (0..1_000).map(|_| json!({"expires": expires})).collect();
        server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    }
    server.post("/v1/queues/r/tasks", json!({"expires": expires})).await.is(201);
    server.advance(2).await;
    server.eventually("/v1/queues/q", |queue| queue["counts"]["failed"] == 11_000).await;
    server.eventually("/v1/queues/r", |queue| queue["counts"]["failed"] == 1).await;
    let first = server.get("/v1/failures").await.is(200);
    assert_eq!(
        (&first["items"][0]["count"], &first["items"][0]["error"]),
        (&json!(10_000), &json!("expired"))
    );
    let cursor: String =
        first["next"].as_str().unwrap().bytes().map(|byte| format!("%{byte:02X}")).collect();
    let second = server.get(&format!("/v1/failures?cursor={cursor}")).await.is(200);
    let mut counts: Vec<_> =
        second["items"].as_array().unwrap().iter().map(|item| item["count"].as_u64()).collect();
    counts.sort_unstable();
    assert_eq!((counts, &second["next"]), (vec![Some(1), Some(1_000)], &json!(null)));
}

#[tokio::test]
async fn what_failed_since_a_time_is_recovered() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"retry": {"intervals": [3_600]}})).await.is(201);
    fail(&server, "q", "before", "x").await;
    server.advance(100).await;
    fail(&server, "q", "during", "x").await;
    server.push(json!({"id": "waits"})).await;
    let taken = server.take(json!({})).await;
    server.verb("waits", "fail", json!({"token": taken["token"], "error": "x"})).await.is(200);
    server.push(json!({"id": "fresh", "delay": 60})).await;
    server.put("/v1/queues/q", json!({"keep": {"done": "1h"}})).await.is(200);
    server.push(json!({"id": "done"})).await;
    let taken = server.take(json!({})).await;
    server.verb("done", "commit", json!({"token": taken["token"]})).await.is(200);
    let ids = async |query: &str| -> Vec<String> {
        let page = server.get(&format!("/v1/queues/q/tasks?{query}")).await.is(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("since=2026-11-15T06:01:40Z").await, ["waits", "during", "done"]);
    assert_eq!(ids("since=2026-11-15T06:01:40.001Z").await, [""; 0]);
    assert_eq!(ids("since=1794722400&state=failed").await, ["before", "during"]);
    server.get("/v1/queues/q/tasks?since=yesterday").await.problem(422, "invalid");
    let bulk = |since: Value| json!({"verb": "retry", "filter": {"state": ["failed", "waiting"], "since": since}});
    let path = "/v1/queues/q/tasks/bulk";
    let bulked = server.post(path, bulk(json!("2026-11-15T06:01:40Z"))).await.is(200);
    assert_eq!(bulked, json!({"matched": 2, "changed": 2, "next": null}));
    assert_eq!(server.task("before").await["state"], "failed");
    for id in ["during", "waits"] {
        assert_eq!(server.task(id).await["state"], "ready");
    }
    server.post(path, bulk(json!("soon"))).await.problem(422, "invalid");
}
