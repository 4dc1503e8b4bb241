//! How a flow ends when not all goes well: stopped, gone on without a part, or ended from outside.

use super::super::events::Ear;
use super::super::{TestServer, json};
use super::*;

#[tokio::test]
async fn after_a_failure_nothing_is_started_and_what_runs_finishes() {
    let server = TestServer::start().await;
    let steps: [(&str, &[&str]); 4] = [("a", &[]), ("b", &[]), ("c", &["b"]), ("d", &["a", "c"])];
    make(&server, "stop", &steps).await;
    let a = take(&server, "a").await;
    let b = take(&server, "b").await;
    let failed = json!({"token": a["token"], "error": "no", "permanent": true});
    server.verb("f~a", "fail", failed).await.is(200);
    assert_eq!(flow(&server).await["state"], "running", "b lives");
    server.verb("f~b", "commit", json!({"token": b["token"], "result": 2})).await.is(200);
    idle(&server).await;
    let failed = flow(&server).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(states_of(&failed), ["failed", "done", "pending", "pending"]);
    assert_eq!(
        (&failed["steps"][0]["error"], &failed["counts"]["failed"]),
        (&json!("no"), &json!(1))
    );
    // The task is tried again: the flow goes on, also with what the failure held up.
    server.verb("f~a", "retry", json!({})).await.is(200);
    assert_eq!(flow(&server).await["state"], "running");
    server.eventually("/v1/flows/f", |flow| flow["steps"][2]["state"] == "ready").await;
    let mut taken = Vec::new();
    for _ in 0..2 {
        let task = server.take(json!({})).await;
        let path = task["id"].as_str().unwrap().to_owned();
        server.verb(&path, "commit", json!({"token": task["token"], "result": 1})).await.is(200);
        taken.push(path);
    }
    taken.sort();
    assert_eq!(taken, ["f~a", "f~c"]);
    work(&server, "d", json!(null)).await;
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn the_others_go_on_without_what_depends_on_a_failed_step() {
    let server = TestServer::start().await;
    let steps: [(&str, &[&str]); 6] = [
        ("a", &[]),
        ("b", &[]),
        ("c", &["a"]),
        ("d", &["c", "b"]),
        ("e", &["b"]),
        ("g", &["d", "e"]),
    ];
    make(&server, "continue", &steps).await;
    fail(&server, "a").await;
    assert_eq!(
        states(&server).await,
        ["failed", "ready", "cancelled", "cancelled", "pending", "cancelled"]
    );
    work(&server, "b", json!(2)).await;
    work(&server, "e", json!(5)).await;
    let failed = flow(&server).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(
        failed["counts"],
        json!({"total": 6, "pending": 0, "living": 0, "done": 2, "failed": 1, "cancelled": 3})
    );
    let listed = server.get("/v1/flows?state=failed").await.is(200);
    assert_eq!(listed["items"][0]["counts"], failed["counts"]);
    // What was cancelled because of it waits again when it is tried again.
    server.verb("f~a", "retry", json!({})).await.is(200);
    assert_eq!(states(&server).await, ["ready", "done", "pending", "pending", "done", "pending"]);
    work(&server, "a", json!(1)).await;
    work(&server, "c", json!(3)).await;
    let d = work(&server, "d", json!(4)).await;
    assert_eq!(d["payload"]["inputs"], json!({"c": 3, "b": 2}));
    work(&server, "g", json!(7)).await;
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn a_task_that_is_cancelled_removed_or_dropped_is_a_failed_step() {
    for way in ["cancel", "clean", "reset", "delete"] {
        let server = TestServer::start().await;
        make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
        match way {
            "cancel" => drop(server.verb("f~a", "cancel", json!({})).await.is(200)),
            "clean" => drop(server.delete("/v1/queues/q/tasks/f~a").await.is(204)),
            "reset" => drop(server.post("/v1/queues/q/reset", json!({})).await),
            _ => drop(server.delete("/v1/queues/q").await.is(204)),
        }
        let failed = flow(&server).await;
        assert_eq!(failed["state"], "failed", "{way}");
        assert_eq!(states_of(&failed), ["failed", "pending"], "{way}");
        let error = if way == "cancel" { "cancelled" } else { "removed" };
        assert_eq!(failed["steps"][0]["error"], error);
        act(&server, "retry").await;
        work(&server, "a", json!(1)).await;
        work(&server, "b", json!(2)).await;
        assert_eq!(flow(&server).await["state"], "done", "{way}");
    }
}

#[tokio::test]
async fn a_step_is_neither_reset_nor_replaced() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    server.verb("f~a", "reset", json!({})).await.problem(409, "wrong_state");
    server.post("/v1/queues/q/tasks", json!({"id": "f~a"})).await.problem(409, "duplicate");
    fail(&server, "a").await;
    server.verb("f~a", "reset", json!({})).await.problem(409, "wrong_state");
    server.post("/v1/queues/q/tasks", json!({"id": "f~a"})).await.problem(409, "wrong_state");
}

#[tokio::test]
async fn a_step_whose_id_another_task_has_gets_another() {
    let server = TestServer::start().await;
    for id in ["f~a", "f~b"] {
        server.push(json!({"id": id, "delay": 3_600})).await;
    }
    let mut ear = Ear::open(&server, "?type=task.refused").await;
    let steps = json!([{"name": "a", "queue": "q"}, {"name": "b", "queue": "q", "after": ["a"]},
        {"name": "a~2", "queue": "q", "after": ["b"]}]);
    let made = server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    assert_eq!(made["steps"][0]["task"], "f~a~3", "another step will have f~a~2");
    let refused = ear.hears("task.refused").await;
    assert_eq!((&refused["id"], &refused["made_as"]), (&json!("f~a"), &json!("f~a~3")));
    for id in ["f~a~3", "f~b~2", "f~a~2"] {
        let step = server.take(json!({"wait": 20})).await;
        assert_eq!(step["id"], id);
        server.verb(id, "commit", json!({"token": step["token"], "result": id})).await.is(200);
    }
    let refused = ear.hears("task.refused").await;
    assert_eq!((&refused["id"], &refused["made_as"]), (&json!("f~b"), &json!("f~b~2")));
    let done = super::flow(&server).await;
    assert_eq!((&done["state"], &done["steps"][1]["task"]), (&json!("done"), &json!("f~b~2")));
    // The tasks that had the ids are as they were.
    assert_eq!(server.get("/v1/queues/q/tasks/f~a").await.is(200)["state"], "waiting");
}

#[tokio::test]
async fn a_renamed_step_fails_and_is_retried_like_any() {
    let server = TestServer::start().await;
    server.push(json!({"id": "f~a", "delay": 3_600})).await;
    make(&server, "stop", &[("a", &[])]).await;
    let step = server.take(json!({"wait": 20})).await;
    let fail = json!({"token": step["token"], "permanent": true});
    server.verb("f~a~2", "fail", fail).await.is(200);
    assert_eq!(flow(&server).await["state"], "failed");
    act(&server, "retry").await;
    let step = server.take(json!({"wait": 20})).await;
    assert_eq!(step["id"], "f~a~2");
    server.verb("f~a~2", "commit", json!({"token": step["token"]})).await.is(200);
    assert_eq!(flow(&server).await["state"], "done");
}

#[tokio::test]
async fn results_are_at_most_so_large() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    let a = take(&server, "a").await;
    let result = "x".repeat((64 << 10) - 1);
    let commit = json!({"token": a["token"], "result": result});
    let detail = server.verb("f~a", "commit", commit).await.problem(413, "too_large");
    assert!(detail.contains("result"), "{detail}");
    assert_eq!(states(&server).await, ["running", "pending"], "nothing has changed");
    let many = json!({"tasks": [{"id": "f~a", "token": a["token"], "result": result}]});
    let answered = server.post("/v1/queues/q/commit", many).await.is(200);
    assert_eq!(answered["results"][0]["code"], "too_large");
    let commit = json!({"token": a["token"], "result": result[1..]});
    server.verb("f~a", "commit", commit).await.is(200);
    assert_eq!(take(&server, "b").await["payload"]["inputs"]["a"], result[1..]);
}

#[tokio::test]
async fn a_step_whose_inputs_are_too_large_fails() {
    let server = TestServer::start().await;
    let names: Vec<String> = (0..17).map(|n| format!("s{n:02}")).collect();
    let mut steps: Vec<_> = names.iter().map(|name| json!({"name": name, "queue": "q"})).collect();
    steps.push(json!({"name": "all", "queue": "q", "after": names}));
    steps.push(json!({"name": "few", "queue": "q", "after": names[..15]}));
    steps.push(json!({"name": "then", "queue": "q", "after": ["all"]}));
    let flow = json!({"id": "f", "steps": steps, "on_failure": "continue"});
    server.post("/v1/flows", flow).await.is(201);
    let taken = server.post("/v1/queues/q/take", json!({"n": 17})).await.is(200);
    let result = "x".repeat((64 << 10) - 2);
    for task in taken["tasks"].as_array().unwrap() {
        let commit = json!({"token": task["token"], "result": result});
        server.verb(task["id"].as_str().unwrap(), "commit", commit).await.is(200);
    }
    let read = super::flow(&server).await;
    let all = &read["steps"][17];
    assert_eq!((&all["state"], &all["error"]), (&json!("failed"), &json!("inputs_too_large")));
    server.get("/v1/queues/q/tasks/f~all").await.problem(404, "not_found");
    assert_eq!(
        (&read["steps"][18]["state"], &read["steps"][19]["state"]),
        (&json!("ready"), &json!("cancelled"))
    );
    work(&server, "few", json!(1)).await;
    assert_eq!(super::flow(&server).await["state"], "failed");
}

#[tokio::test]
async fn a_lost_worker_and_used_up_attempts_count_as_for_any_task() {
    let server = TestServer::start().await;
    make(&server, "stop", &[("a", &[]), ("b", &["a"])]).await;
    take(&server, "a").await;
    server.advance(31).await;
    let failed = server.eventually("/v1/flows/f", |flow| flow["state"] == "failed").await;
    assert_eq!(states_of(&failed), ["failed", "pending"]);
    assert!(failed["steps"][0]["error"].as_str().unwrap().contains("hold"));
}
