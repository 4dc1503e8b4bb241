//! Flows as large as they may be.

use serde_json::Value;

use super::super::{TestServer, json};
use super::*;

const STEPS: usize = 10_000;

/// Takes and commits all there is, many at a time, until there is nothing more.
async fn work_off(server: &TestServer) -> usize {
    let mut done = 0;
    let mut commits = Vec::<Value>::new();
    loop {
        let body = json!({"n": 1000, "commit": commits});
        let taken = server.post("/v1/queues/q/take", body).await.is(200);
        let results = taken["committed"].as_array().unwrap();
        assert!(results.iter().all(|result| result["ok"] == true));
        let tasks = taken["tasks"].as_array().unwrap();
        if tasks.is_empty() {
            return done;
        }
        done += tasks.len();
        commits = tasks
            .iter()
            .map(|task| json!({"id": task["id"], "token": task["token"], "result": 1}))
            .collect();
    }
}

#[tokio::test]
async fn ten_thousand_steps_fan_out_and_in() {
    let server = TestServer::start().await;
    let names: Vec<String> = (0..STEPS - 2).map(|n| format!("s{n}")).collect();
    let mut steps = vec![json!({"name": "first", "queue": "q"})];
    steps.extend(names.iter().map(|name| json!({"name": name, "queue": "q", "after": ["first"]})));
    steps.push(json!({"name": "last", "queue": "q", "after": names}));
    let made = server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    assert_eq!(made["counts"]["pending"], STEPS - 1);
    work(&server, "first", json!(1)).await;
    let is_started = |list: &Value| list["items"][0]["counts"]["living"] == STEPS - 2;
    server.eventually("/v1/flows", is_started).await;
    assert_eq!(work_off(&server).await, STEPS - 1);
    let done = flow(&server).await;
    assert_eq!((&done["state"], &done["counts"]["done"]), (&json!("done"), &json!(STEPS)));
    server.advance(7 * 86_400).await;
    server.eventually("/v1/flows", |list| list["items"] == json!([])).await;
}

#[tokio::test]
async fn ten_thousand_steps_are_cancelled_and_made_again() {
    let server = TestServer::start().await;
    let steps: Vec<_> =
        (0..STEPS).map(|n| json!({"name": format!("s{n}"), "queue": "q"})).collect();
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    assert_eq!(act(&server, "cancel").await["state"], "cancelled");
    idle(&server).await;
    let retried = act(&server, "retry").await;
    assert_eq!(
        (&retried["state"], &retried["counts"]["living"]),
        (&json!("running"), &json!(STEPS))
    );
    assert_eq!(act(&server, "pause").await["steps"][7]["state"], "paused");
    assert_eq!(act(&server, "resume").await["steps"][7]["state"], "ready");
    assert_eq!(work_off(&server).await, STEPS);
    assert_eq!(flow(&server).await["state"], "done");
}
