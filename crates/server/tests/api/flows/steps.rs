//! Steps become tasks when those before them are done, with their results.

use serde_json::Value;

use super::super::{TestServer, json};
use super::*;
use crate::api::delivery::{self, Reply, Stub};

#[tokio::test]
async fn a_chain_is_carried_out_one_after_the_other() {
    let server = TestServer::start().await;
    let made = make(&server, "stop", &[("a", &[]), ("b", &["a"]), ("c", &["b"])]).await;
    assert_eq!((&made["id"], &made["state"]), (&json!("f"), &json!("running")));
    assert_eq!((&made["on_failure"], &made["finished_at"]), (&json!("stop"), &json!(null)));
    assert_eq!(states_of(&made), ["ready", "pending", "pending"]);
    assert_eq!(
        made["steps"][1],
        json!({"name": "b", "queue": "q", "task": "f~b", "after": ["a"], "state": "pending",
            "waiting_for": ["a"], "result": null, "error": null})
    );
    assert_eq!(
        made["counts"],
        json!({"total": 3, "pending": 2, "living": 1, "done": 0, "failed": 0, "cancelled": 0})
    );
    server.get("/v1/queues/q/tasks/f~b").await.problem(404, "not_found");
    let task = server.task("f~a").await;
    assert_eq!(task["flow"], json!({"id": "f", "step": "a"}));
    let a = work(&server, "a", json!({"x": 1})).await;
    assert_eq!(a["payload"], json!({"do": "a"}), "no inputs without after");
    let b = take(&server, "b").await;
    assert_eq!(b["payload"], json!({"do": "b", "inputs": {"a": {"x": 1}}}));
    assert_eq!(states(&server).await, ["done", "running", "pending"]);
    server.verb("f~b", "commit", json!({"token": b["token"]})).await.is(200);
    let c = work(&server, "c", json!("end")).await;
    assert_eq!(c["payload"], json!({"do": "c", "inputs": {"b": null}}));
    let done = flow(&server).await;
    assert_eq!((&done["state"], &done["finished_at"]), (&json!("done"), &made["created_at"]));
    assert_eq!(
        (&done["steps"][0]["result"], &done["steps"][2]["result"]),
        (&json!({"x": 1}), &json!("end"))
    );
    // A repeated commit is answered as the first was, and changes nothing.
    let repeat = json!({"token": c["token"], "result": "end"});
    server.verb("f~c", "commit", repeat).await.is(200);
    assert_eq!(flow(&server).await, done);
    server.advance(7 * 86_400 - 1).await;
    assert_eq!(flow(&server).await["state"], "done");
    server.advance(1).await;
    server.eventually("/v1/flows/f", |answer| answer["code"] == "not_found").await;
    assert_eq!(server.get("/v1/flows").await.is(200)["items"], json!([]));
}

#[tokio::test]
async fn a_step_waits_for_all_before_it() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("d", &["c", "b"]), ("b", &["a"]), ("c", &["a"]), ("a", &[])]).await;
    work(&server, "a", json!(1)).await;
    let (b, c) = (take(&server, "b").await, take(&server, "c").await);
    server.verb("f~c", "commit", json!({"token": c["token"], "result": 3})).await.is(200);
    idle(&server).await;
    assert_eq!(flow(&server).await["steps"][0]["waiting_for"], json!(["b"]));
    server.verb("f~b", "commit", json!({"token": b["token"], "result": 2})).await.is(200);
    let d = work(&server, "d", json!(4)).await;
    assert_eq!(d["payload"]["inputs"], json!({"c": 3, "b": 2}));
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn many_steps_committed_at_once_are_one_step_of_their_flow() {
    let server = TestServer::start().await;
    let names: Vec<String> = (0..100).map(|n| format!("s{n:03}")).collect();
    let mut steps = vec![json!({"name": "first", "queue": "q"})];
    for name in &names {
        steps.push(json!({"name": name, "queue": "q", "after": ["first"], "payload": [name]}));
    }
    steps.push(json!({"name": "last", "queue": "q", "after": names, "payload": 7}));
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    work(&server, "first", json!(true)).await;
    let mut taken = server.post("/v1/queues/q/take", json!({"n": 1000})).await.is(200);
    let tasks = taken["tasks"].as_array_mut().unwrap();
    assert_eq!(tasks.len(), 100);
    assert_eq!(tasks[7]["payload"], json!({"payload": ["s007"], "inputs": {"first": true}}));
    let mut commits: Vec<Value> = tasks
        .iter()
        .map(|task| json!({"id": task["id"], "token": task["token"], "result": task["id"]}))
        .collect();
    // The same word twice in a batch has one effect.
    commits.push(commits[0].clone());
    let answered = server.post("/v1/queues/q/commit", json!({"tasks": commits})).await.is(200);
    let results = answered["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["ok"] == true), "{answered}");
    let last = work(&server, "last", json!(null)).await;
    assert_eq!(last["payload"]["payload"], 7);
    assert_eq!(last["payload"]["inputs"].as_object().unwrap().len(), 100);
    assert_eq!(last["payload"]["inputs"]["s042"], "f~s042");
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn the_fields_of_tasks_hold_for_steps() {
    let server = TestServer::start().await;
    let steps = json!([
        {"name": "a", "queue": "q", "priority": 5, "tags": ["t"], "hold": 90, "max_attempts": 9},
        {"name": "b", "queue": "other", "after": ["a"], "delay": "1m", "payload": {"inputs": 0},
            "callback": {"on": ["done"], "queue": "heard", "task": {"payload": "b"}}}
    ]);
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    let a = server.task("f~a").await;
    assert_eq!(
        (&a["priority"], &a["tags"], &a["max_attempts"]),
        (&json!(5), &json!(["t"]), &json!(9))
    );
    server.advance(600).await;
    work(&server, "a", json!(1)).await;
    let b = server.get("/v1/queues/other/tasks/f~b").await.is(200);
    assert_eq!(
        (&b["state"], &b["due_at"]),
        (&json!("waiting"), &json!("2026-11-15T06:11:00.000Z"))
    );
    assert_eq!(b["payload"], json!({"inputs": {"a": 1}}), "what it was given makes way");
    assert_eq!(states(&server).await, ["done", "waiting"]);
    server.advance(60).await;
    let taken = server.post("/v1/queues/other/take", json!({"wait": 20})).await.is(200);
    let token = &taken["tasks"][0]["token"];
    server.post("/v1/queues/other/tasks/f~b/commit", json!({"token": token})).await.is(200);
    let heard = server.post("/v1/queues/heard/take", json!({"wait": 20})).await.is(200);
    assert_eq!(heard["tasks"][0]["payload"]["task"]["id"], "f~b");
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn numbers_of_any_size_come_through_unchanged() {
    let server = TestServer::start().await;
    let body = r#"{"id":"f","steps":[{"name":"a","queue":"q"},
        {"name":"b","queue":"q","after":["a"],"payload":{"n":12345678901234567890.10}}]}"#;
    server.raw("POST", "/v1/flows", &[], body).await.is(201);
    let a = take(&server, "a").await;
    let commit = format!(r#"{{"token":{},"result":98765432109876543210.50}}"#, a["token"]);
    server.raw("POST", "/v1/queues/q/tasks/f~a/commit", &[], commit).await.is(200);
    let found = server.get("/v1/queues/q/tasks?q=98765432109876543210.50").await.is(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let found = server.get("/v1/queues/q/tasks?q=12345678901234567890.10").await.is(200);
    assert_eq!(found["items"][0]["id"], "f~b");
}

#[tokio::test]
async fn the_server_delivers_steps_of_http_queues() {
    let server = delivery::server().await;
    let stub = Stub::start(|_| Reply::text(200, r#"{"n":1.50}"#)).await;
    server.put("/v1/queues/calls", json!({"mode": "http"})).await.is(201);
    let steps = json!([
        {"name": "a", "queue": "calls", "payload": {"n": 1}, "http": {"url": stub.url("/ok")}},
        {"name": "b", "queue": "q", "after": ["a"]}
    ]);
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    server.eventually("/v1/flows/f", |flow| flow["steps"][0]["state"] == "done").await;
    let b = work(&server, "b", json!(null)).await;
    assert_eq!(b["payload"]["inputs"], json!({"a": {"n": 1.5}}));
    assert_eq!(flow(&server).await["state"], "done");
}
