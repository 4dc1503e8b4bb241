//! Flows, checked from outside: made, carried out, ended and tried again.

mod ends;
mod input;
mod large;
mod reading;
mod steps;
mod verbs;

use serde_json::Value;

use super::{TestServer, json};

/// Makes a flow `f` of steps in the queue `q`: each a name and what it waits for.
async fn make(server: &TestServer, on_failure: &str, steps: &[(&str, &[&str])]) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(name, after)| {
            json!({"name": name, "queue": "q", "after": after, "payload": {"do": name},
            "max_attempts": 1})
        })
        .collect();
    let flow = json!({"id": "f", "on_failure": on_failure, "steps": steps});
    server.post("/v1/flows", flow).await.is(201)
}

async fn flow(server: &TestServer) -> Value {
    server.get("/v1/flows/f").await.is(200)
}

/// The states of the steps of `f`, in their order.
async fn states(server: &TestServer) -> Vec<String> {
    states_of(&flow(server).await)
}

fn states_of(flow: &Value) -> Vec<String> {
    let steps = flow["steps"].as_array().unwrap();
    steps.iter().map(|step| step["state"].as_str().unwrap().to_owned()).collect()
}

/// Takes a task that must be there, by its step.
async fn take(server: &TestServer, step: &str) -> Value {
    let task = server.take(json!({"worker": "w"})).await;
    assert_eq!(task["id"], format!("f~{step}"));
    task
}

/// Takes a step's task and commits it.
async fn work(server: &TestServer, step: &str, result: Value) -> Value {
    let task = take(server, step).await;
    let commit = json!({"token": task["token"], "result": result});
    server.verb(&format!("f~{step}"), "commit", commit).await.is(200);
    task
}

/// Takes a step's task and fails it for good.
async fn fail(server: &TestServer, step: &str) {
    let task = take(server, step).await;
    let failed = json!({"token": task["token"], "error": "no", "permanent": true});
    server.verb(&format!("f~{step}"), "fail", failed).await.is(200);
}

/// Nothing is to be taken from `q`.
async fn idle(server: &TestServer) {
    let taken = server.post("/v1/queues/q/take", json!({"n": 10})).await.is(200);
    assert_eq!(taken["tasks"], json!([]));
}

async fn act(server: &TestServer, verb: &str) -> Value {
    server.post(&format!("/v1/flows/f/{verb}"), json!({})).await.is(200)
}
