//! Plans whose runs fail, runs besides the rule, and runs whose ids are taken.

use serde_json::Value;

use super::events::Ear;
use super::{TestServer, json};

async fn minutely(server: &TestServer, on_error: Value) -> Value {
    server.put("/v1/queues/q", json!({"max_attempts": 1})).await.is(201);
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "minute", "plan_value": 1,
        "plan_repet": -1, "on_error": on_error});
    server.post("/v1/plans", plan).await.is(201)
}

/// Moves the clock to the next run, takes it, and settles it.
async fn settle(server: &TestServer, id: &str, verb: &str, mut body: Value) {
    server.advance(60).await;
    let run = server.take(json!({"wait": 20, "worker": "w"})).await;
    assert_eq!(run["id"], id);
    body["token"] = run["token"].clone();
    server.verb(id, verb, body).await.is(200);
}

async fn plan(server: &TestServer) -> Value {
    server.get("/v1/plans/p").await.is(200)
}

#[tokio::test]
async fn a_plan_told_to_continue_survives_failed_runs() {
    let server = TestServer::start().await;
    let made = minutely(&server, json!("continue")).await;
    assert_eq!((&made["on_error"], &made["failures"]), (&json!("continue"), &json!(0)));
    for n in 1..=2 {
        settle(&server, &format!("p@{n}"), "fail", json!({"error": "no"})).await;
        let plan = plan(&server).await;
        assert_eq!((&plan["state"], &plan["real_repet"]), (&json!("scheduled"), &json!(n)));
        assert_eq!((&plan["failures"], &plan["last_state"]), (&json!(n), &json!("error")));
        assert!(plan["next_at"].is_string(), "{plan}");
    }
    settle(&server, "p@3", "commit", json!({"result": 7})).await;
    let after = plan(&server).await;
    assert_eq!((&after["real_repet"], &after["failures"]), (&json!(3), &json!(0)));
    let results = server.get("/v1/plans/p/results").await.is(200);
    let brief =
        |n: usize| (results["items"][n]["run"].clone(), results["items"][n]["error"].clone());
    assert_eq!((brief(0), brief(1)), ((json!(3), json!(null)), (json!(2), json!("no"))));

    // The first run is tried again: its result changes, and nothing else.
    server.verb("p@1", "retry", json!({})).await.is(200);
    assert_eq!(plan(&server).await, after);
    let run = server.take(json!({"worker": "v"})).await;
    assert_eq!(run["id"], "p@1");
    server.verb("p@1", "commit", json!({"token": run["token"], "result": 1})).await.is(200);
    assert_eq!(plan(&server).await, after);
    let amended = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(amended["items"].as_array().unwrap().len(), 3);
    assert_eq!(amended["items"][1], results["items"][1]);
    let first = &amended["items"][2];
    assert_eq!((&first["run"], &first["worker"]), (&json!(1), &json!("v")));
    assert_eq!((&first["result"], &first["error"]), (&json!(1), &json!(null)));
    // The rule goes on as if nothing had happened.
    settle(&server, "p@4", "commit", json!({})).await;
}

#[tokio::test]
async fn a_plan_stops_after_as_many_failures_in_a_row_as_it_was_told() {
    let server = TestServer::start().await;
    let made = minutely(&server, json!({"stop_after": 2})).await;
    assert_eq!(made["on_error"], json!({"stop_after": 2}));
    settle(&server, "p@1", "fail", json!({})).await;
    assert_eq!(plan(&server).await["state"], "scheduled");
    settle(&server, "p@2", "fail", json!({"error": "again"})).await;
    let stopped = plan(&server).await;
    assert_eq!((&stopped["state"], &stopped["failures"]), (&json!("error"), &json!(2)));
    assert_eq!((&stopped["real_repet"], &stopped["error"]), (&json!(1), &json!("again")));
    let resumed = server.post("/v1/plans/p/resume", json!({})).await.is(200);
    assert_eq!((&resumed["state"], &resumed["real_repet"]), (&json!("scheduled"), &json!(1)));
    settle(&server, "p@2", "commit", json!({})).await;
    assert_eq!(plan(&server).await["real_repet"], 2);
}

#[tokio::test]
async fn the_policy_is_changed_and_reset_and_the_counts_stay() {
    let server = TestServer::start().await;
    minutely(&server, json!("continue")).await;
    settle(&server, "p@1", "fail", json!({})).await;
    let path = "/v1/plans/p";
    let hourly = json!({"plan_type": "hour", "plan_value": 1, "plan_repet": -1});
    let replaced = server.put(path, hourly).await.is(200);
    assert_eq!((&replaced["on_error"], &replaced["failures"]), (&json!("continue"), &json!(1)));
    assert_eq!(replaced["real_repet"], 1);
    let reset = server.put(path, json!({"on_error": null})).await.is(200);
    assert_eq!(reset["on_error"], "stop");
    let back = server.put(path, plan(&server).await).await.is(200);
    assert_eq!(back["failures"], 1, "what reads is written back");
    for wrong in [json!("go"), json!(3), json!({"stop_after": 0}), json!({"stop": 1})] {
        let detail = server.put(path, json!({"on_error": wrong})).await.problem(422, "invalid");
        assert!(detail.starts_with("on_error"), "{detail}");
    }
}

#[tokio::test]
async fn a_run_that_cannot_be_pushed_is_a_failed_run() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"mode": "pull"})).await.is(201);
    let plan_of = json!({"plan_id": "p", "station": "q", "plan_type": "minute", "plan_value": 1,
        "plan_repet": -1, "bundle_key": "k", "on_error": "continue"});
    server.post("/v1/plans", plan_of).await.is(201);
    server.put("/v1/queues/q", json!({"mode": "pub"})).await.is(200);
    server.advance(60).await;
    let failed = server.eventually("/v1/plans/p", |plan| plan["failures"] == 1).await;
    assert_eq!((&failed["state"], &failed["real_repet"]), (&json!("scheduled"), &json!(1)));
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"][0]["error"], failed["error"]);
}

#[tokio::test]
async fn a_run_besides_the_rule_never_makes_the_plan_running() {
    let server = TestServer::start().await;
    minutely(&server, json!("stop")).await;
    let asked = server.post("/v1/plans/p/run", json!({})).await.is(200);
    assert_eq!((&asked["state"], &asked["task"]), (&json!("scheduled"), &json!("p@1.1")));
    assert_eq!((&asked["last_state"], &asked["next_at"]), (&json!("running"), &made_next()));
    let detail = server.post("/v1/plans/p/run", json!({})).await.problem(409, "wrong_state");
    assert!(detail.contains("p@1.1"), "{detail}");
    // The rule goes its own way meanwhile.
    server.advance(60).await;
    let running = server.eventually("/v1/plans/p", |plan| plan["state"] == "running").await;
    assert_eq!(running["task"], "p@1");
    let mut tokens = std::collections::BTreeMap::new();
    for _ in 0..2 {
        let run = server.take(json!({"wait": 20, "worker": "w"})).await;
        tokens.insert(run["id"].as_str().unwrap().to_owned(), run["token"].clone());
    }
    let fail = json!({"token": tokens["p@1.1"], "error": "no", "permanent": true});
    server.verb("p@1.1", "fail", fail).await.is(200);
    let still = plan(&server).await;
    assert_eq!((&still["state"], &still["last_state"]), (&json!("running"), &json!("running")));
    // Now that it has ended, another may run beside the rule's.
    let second = server.post("/v1/plans/p/run", json!({})).await.is(200);
    assert_eq!(second["state"], "running");
    server.verb("p@1", "commit", json!({"token": tokens["p@1"]})).await.is(200);
    let done = plan(&server).await;
    assert_eq!((&done["state"], &done["real_repet"]), (&json!("scheduled"), &json!(1)));
    assert_eq!(done["failures"], 0);
    let run = server.take(json!({})).await;
    assert_eq!(run["id"], "p@1.2");
    server.verb("p@1.2", "commit", json!({"token": run["token"], "result": 5})).await.is(200);
    let results = server.get("/v1/plans/p/results").await.is(200);
    let runs: Vec<_> = results["items"].as_array().unwrap().iter().map(|it| &it["run"]).collect();
    assert_eq!(runs, [&json!("1.2"), &json!(1), &json!("1.1")]);
}

fn made_next() -> Value {
    json!("2026-11-15T06:01:00.000Z")
}

#[tokio::test]
async fn a_run_besides_the_rule_is_possible_in_every_state() {
    let server = TestServer::start().await;
    minutely(&server, json!("stop")).await;
    settle(&server, "p@1", "fail", json!({"error": "no"})).await;
    let asked = server.post("/v1/plans/p/run", json!({})).await.is(200);
    assert_eq!((&asked["state"], &asked["task"]), (&json!("error"), &json!("p@1.1")));
    let run = server.take(json!({})).await;
    server.verb("p@1.1", "commit", json!({"token": run["token"]})).await.is(200);
    let stopped = plan(&server).await;
    assert_eq!((&stopped["state"], &stopped["error"]), (&json!("error"), &json!("no")));
    // A run whose queue is reset is found to be gone.
    server.post("/v1/plans/p/run", json!({})).await.is(200);
    server.post("/v1/queues/q/reset", json!({})).await.is(200);
    server.post("/v1/plans/p/run", json!({})).await.is(200);
}

#[tokio::test]
async fn a_run_whose_id_is_taken_gets_another() {
    let server = TestServer::start().await;
    minutely(&server, json!("stop")).await;
    for id in ["p@1", "p@1~2"] {
        server.post("/v1/queues/q/tasks", json!({"id": id, "delay": 3_600})).await.is(201);
    }
    let mut ear = Ear::open(&server, "?type=task.refused").await;
    settle(&server, "p@1~3", "commit", json!({"result": 1})).await;
    let refused = ear.hears("task.refused").await;
    assert_eq!((&refused["queue"], &refused["id"]), (&json!("q"), &json!("p@1")));
    assert_eq!((&refused["made_as"], &refused["error"]), (&json!("p@1~3"), &json!("duplicate")));
    let after = plan(&server).await;
    assert_eq!((&after["state"], &after["real_repet"]), (&json!("scheduled"), &json!(1)));
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"][0]["run"], 1);
    settle(&server, "p@2", "commit", json!({})).await;
}

#[tokio::test]
async fn a_plan_made_anew_does_not_hear_of_the_old_plans_run() {
    let server = TestServer::start().await;
    minutely(&server, json!("continue")).await;
    server.advance(60).await;
    let old = server.take(json!({"wait": 20})).await;
    assert_eq!(old["id"], "p@1");
    server.delete("/v1/plans/p").await.is(204);
    let anew = json!({"plan_id": "p", "station": "q", "plan_type": "minute", "plan_value": 1,
        "plan_repet": -1});
    server.post("/v1/plans", anew).await.is(201);
    let keep = json!({"token": old["token"], "hold": 600});
    server.verb("p@1", "extend", keep).await.is(200);
    server.advance(60).await;
    let running = server.eventually("/v1/plans/p", |plan| plan["state"] == "running").await;
    assert_eq!(running["task"], "p@1~2");
    let fail = json!({"token": old["token"], "error": "old", "permanent": true});
    server.verb("p@1", "fail", fail).await.is(200);
    assert_eq!(plan(&server).await, running);
    let run = server.take(json!({"wait": 20})).await;
    assert_eq!((&run["id"], &run["plan"]["run"]), (&json!("p@1~2"), &json!(1)));
    server.verb("p@1~2", "commit", json!({"token": run["token"]})).await.is(200);
    let after = plan(&server).await;
    assert_eq!((&after["real_repet"], &after["state"]), (&json!(1), &json!("scheduled")));
    // Not even when the old run is tried again.
    server.verb("p@1", "retry", json!({})).await.is(200);
    let old = server.take(json!({})).await;
    server.verb("p@1", "commit", json!({"token": old["token"], "result": "old"})).await.is(200);
    assert_eq!(plan(&server).await, after);
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"].as_array().unwrap().len(), 1);
    assert_eq!(results["items"][0]["result"], json!(null));
}
