//! What people do to a flow as a whole.

use super::super::{TestServer, json};
use super::*;

#[tokio::test]
async fn a_cancelled_flow_waits_for_those_who_are_at_work() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &[]), ("c", &["a"])]).await;
    let a = take(&server, "a").await;
    let cancelled = act(&server, "cancel").await;
    assert_eq!(cancelled["state"], "cancelling");
    assert_eq!(states_of(&cancelled), ["cancelling", "cancelled", "cancelled"]);
    assert_eq!(act(&server, "cancel").await["state"], "cancelling");
    for verb in ["pause", "resume", "retry"] {
        let path = format!("/v1/flows/f/{verb}");
        let detail = server.post(&path, json!({})).await.problem(409, "wrong_state");
        assert!(detail.contains("cancelling"), "{detail}");
    }
    let extended = server.verb("f~a", "extend", json!({"token": a["token"]})).await.is(200);
    assert_eq!(extended["cancel"], true);
    server.verb("f~a", "cancelled", json!({"token": a["token"]})).await.is(200);
    let ended = flow(&server).await;
    assert_eq!(ended["state"], "cancelled");
    assert_eq!(states_of(&ended), ["cancelled", "cancelled", "cancelled"]);
    assert_eq!(act(&server, "cancel").await, ended);
    // Tried again, all that was cancelled is made anew.
    assert_eq!(states_of(&act(&server, "retry").await), ["ready", "ready", "pending"]);
    work(&server, "a", json!(1)).await;
    work(&server, "b", json!(1)).await;
    work(&server, "c", json!(1)).await;
    assert_eq!(flow(&server).await["state"], "done");
    server.post("/v1/flows/f/cancel", json!({})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn a_commit_wins_over_a_cancel() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    let a = take(&server, "a").await;
    act(&server, "cancel").await;
    server.verb("f~a", "commit", json!({"token": a["token"], "result": 1})).await.is(200);
    let ended = flow(&server).await;
    assert_eq!(ended["state"], "cancelled");
    assert_eq!(states_of(&ended), ["done", "cancelled"]);
    // A hold that ends is as good as a word.
    assert_eq!(states_of(&act(&server, "retry").await), ["done", "ready"]);
    take(&server, "b").await;
    assert_eq!(act(&server, "cancel").await["state"], "cancelling");
    server.advance(31).await;
    server.eventually("/v1/flows/f", |flow| flow["state"] == "cancelled").await;
}

#[tokio::test]
async fn a_paused_flow_starts_nothing_until_it_is_resumed() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &[]), ("c", &["a"]), ("d", &["b", "c"])]).await;
    let a = take(&server, "a").await;
    let paused = act(&server, "pause").await;
    assert_eq!(paused["state"], "paused");
    assert_eq!(states_of(&paused), ["running", "paused", "pending", "pending"]);
    assert_eq!(act(&server, "pause").await["state"], "paused");
    server.post("/v1/flows/f/retry", json!({})).await.problem(409, "wrong_state");
    server.verb("f~a", "commit", json!({"token": a["token"], "result": 1})).await.is(200);
    idle(&server).await;
    let paused = flow(&server).await;
    assert_eq!(states_of(&paused), ["done", "paused", "pending", "pending"]);
    let why = server.get("/v1/queues/q/tasks/f~c/why").await.is(200);
    assert_eq!((&why["reason"], &why["state"]), (&json!("flow_paused"), &json!("pending")));
    let resumed = act(&server, "resume").await;
    assert_eq!(resumed["state"], "running");
    assert_eq!(states_of(&resumed), ["done", "ready", "ready", "pending"]);
    work(&server, "b", json!(2)).await;
    work(&server, "c", json!(3)).await;
    work(&server, "d", json!(4)).await;
    assert_eq!(flow(&server).await["state"], "done");
    server.post("/v1/flows/f/pause", json!({})).await.problem(409, "wrong_state");
    server.post("/v1/flows/f/resume", json!({})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn a_task_paused_by_itself_stays_so_when_its_flow_is_resumed() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &[])]).await;
    server.verb("f~a", "pause", json!({})).await.is(200);
    act(&server, "pause").await;
    assert_eq!(states(&server).await, ["paused", "paused"]);
    assert_eq!(states_of(&act(&server, "resume").await), ["paused", "ready"]);
    act(&server, "pause").await;
    assert_eq!(act(&server, "cancel").await["state"], "cancelled");
}

#[tokio::test]
async fn a_paused_flow_ends_when_all_is_done_or_when_it_is_resumed() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    let a = take(&server, "a").await;
    act(&server, "pause").await;
    let failed = json!({"token": a["token"], "error": "no", "permanent": true});
    server.verb("f~a", "fail", failed).await.is(200);
    assert_eq!(flow(&server).await["state"], "paused");
    assert_eq!(act(&server, "resume").await["state"], "failed");
    act(&server, "retry").await;
    work(&server, "a", json!(1)).await;
    let b = take(&server, "b").await;
    act(&server, "pause").await;
    server.verb("f~b", "commit", json!({"token": b["token"]})).await.is(200);
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn a_retry_makes_failed_steps_again_and_keeps_what_is_done() {
    let server = TestServer::start().await;
    make(&server, "continue", &[("a", &[]), ("b", &[]), ("c", &["a", "b"]), ("d", &["c"])]).await;
    work(&server, "a", json!("first")).await;
    fail(&server, "b").await;
    assert_eq!(states(&server).await, ["done", "failed", "cancelled", "cancelled"]);
    assert_eq!(flow(&server).await["state"], "failed");
    let retried = act(&server, "retry").await;
    assert_eq!((&retried["state"], &retried["finished_at"]), (&json!("running"), &json!(null)));
    assert_eq!(states_of(&retried), ["done", "ready", "pending", "pending"]);
    assert_eq!(retried["steps"][1]["error"], json!(null));
    assert_eq!(server.task("f~b").await["attempt"], 0, "it is a fresh task");
    server.post("/v1/flows/f/retry", json!({})).await.problem(409, "wrong_state");
    work(&server, "b", json!("second")).await;
    let c = work(&server, "c", json!(3)).await;
    assert_eq!(c["payload"]["inputs"], json!({"a": "first", "b": "second"}));
    work(&server, "d", json!(4)).await;
    assert_eq!(flow(&server).await["state"], "done");
    server.post("/v1/flows/f/retry", json!({})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn an_ended_flow_makes_way_for_another_of_its_id() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    let flow = json!({"id": "f", "steps": [{"name": "a", "queue": "q"}, {"name": "x", "queue": "q", "after": ["a"]}]});
    server.post("/v1/flows", flow.clone()).await.problem(409, "duplicate");
    work(&server, "a", json!(1)).await;
    fail(&server, "b").await;
    let made = server.post("/v1/flows", flow).await.is(201);
    assert_eq!(states_of(&made), ["ready", "pending"]);
    // The task of the flow before is nobody's step any more.
    server.verb("f~b", "retry", json!({})).await.is(200);
    server.delete("/v1/queues/q/tasks/f~b").await.is(204);
    work(&server, "a", json!(1)).await;
    let x = work(&server, "x", json!(1)).await;
    assert_eq!(x["payload"], json!({"payload": null, "inputs": {"a": 1}}));
    assert_eq!(super::flow(&server).await["state"], "done");
}

#[tokio::test]
async fn steps_are_made_again_though_their_ids_are_to_be_unique() {
    let server = TestServer::start().await;
    let steps = json!([{"name": "a", "queue": "q", "max_attempts": 1, "unique_for": "7d"}]);
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    fail(&server, "a").await;
    act(&server, "retry").await;
    work(&server, "a", json!(1)).await;
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    work(&server, "a", json!(2)).await;
    assert_eq!(flow(&server).await["state"], "done");
}
