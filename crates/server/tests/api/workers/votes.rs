//! Votes and broadcasts.

use super::{TestServer, Value, json};
use crate::api::events::Ear;

/// A vote queue with voters `a` and `b` and a task `t` they are to vote on; their tokens.
async fn open() -> (TestServer, Value, Value) {
    let server = TestServer::of_mode("vote").await;
    server.join("a", json!({})).await;
    server.join("b", json!({})).await;
    server.push(json!({"id": "t", "payload": "?"})).await;
    let a = server.given("a", 1).await.remove(0);
    let b = server.given("b", 1).await.remove(0);
    assert_eq!(
        (&a["id"], &a["payload"], &a["state"]),
        (&json!("t"), &json!("?"), &json!("assigned"))
    );
    (server, a["token"].clone(), b["token"].clone())
}

async fn confirm(server: &TestServer, token: &Value) {
    let confirmed = server.verb("t", "confirm", json!({"token": token})).await.is(200);
    assert_eq!(confirmed["state"], "running");
}

async fn commit(server: &TestServer, token: &Value, result: Value) -> Value {
    server.verb("t", "commit", json!({"token": token, "result": result})).await.is(200)
}

#[tokio::test]
async fn all_answers_are_the_result() {
    let (server, a, b) = open().await;
    assert_ne!(a, b);
    let task = server.task("t").await;
    assert_eq!((&task["state"], &task["worker"]), (&json!("running"), &Value::Null));
    confirm(&server, &a).await;
    confirm(&server, &a).await;
    let extended = server.verb("t", "extend", json!({"token": a, "hold": "2m"})).await.is(200);
    assert_eq!(extended["hold_until"], "2026-11-15T06:02:00.000Z");
    let first = commit(&server, &a, json!({"yes": 1})).await;
    assert_eq!(first["state"], "running", "one is not all");
    let again = commit(&server, &a, json!("other")).await;
    assert_eq!(again["state"], "running");
    let why = server.get("/v1/queues/q/tasks/t/why").await.is(200);
    assert!(why["text"].as_str().unwrap().contains(": b can answer"), "{why}");
    confirm(&server, &b).await;
    let done = commit(&server, &b, json!([2])).await;
    assert_eq!(
        (&done["state"], &done["result"]),
        (&json!("done"), &json!({"a": {"yes": 1}, "b": [2]}))
    );
    assert_eq!(done["history"].as_array().unwrap().len(), 2);
    // Repeats succeed after the end, too, and change nothing.
    for token in [&a, &b] {
        commit(&server, token, json!(0)).await;
    }
    assert_eq!(server.task("t").await["result"], done["result"]);
    assert_eq!(server.get("/v1/workers/a").await.is(200)["load"], 0);
}

#[tokio::test]
async fn who_does_not_answer_counts_null() {
    let (server, a, b) = open().await;
    confirm(&server, &a).await;
    commit(&server, &a, json!(1)).await;
    // Not confirmed in time.
    server.advance(10).await;
    let done = server.until("t", "done").await;
    assert_eq!(done["result"], json!({"a": 1, "b": null}));
    server.verb("t", "confirm", json!({"token": b})).await.problem(409, "stale_token");
}

#[tokio::test]
async fn if_nobody_answers_it_has_failed() {
    let (server, a, b) = open().await;
    server.verb("t", "fail", json!({"token": a, "error": "no idea"})).await.is(200);
    server.verb("t", "fail", json!({"token": a})).await.is(200);
    server.verb("t", "release", json!({"token": b})).await.is(200);
    let failed = server.task("t").await;
    assert_eq!((&failed["state"], &failed["error"]), (&json!("failed"), &json!("no_votes")));
    assert_eq!(failed["attempt"], 1, "and is not tried again");
    // A retry is another vote.
    server.verb("t", "retry", json!({})).await.is(200);
    assert_eq!(server.given("a", 1).await[0]["id"], "t");
}

#[tokio::test]
async fn who_leaves_or_is_lost_or_begins_anew_counts_null() {
    let (server, a, _) = open().await;
    server.delete("/v1/workers/b").await.is(204);
    confirm(&server, &a).await;
    assert_eq!(commit(&server, &a, json!(1)).await["result"], json!({"a": 1, "b": null}));
    let (server, a, b) = open().await;
    confirm(&server, &a).await;
    confirm(&server, &b).await;
    server.put("/v1/workers/b", json!({"session": "new"})).await.is(200);
    server.verb("t", "commit", json!({"token": b})).await.problem(409, "stale_token");
    assert_eq!(commit(&server, &a, json!(1)).await["state"], "done");
    let (server, a, b) = open().await;
    confirm(&server, &a).await;
    confirm(&server, &b).await;
    for token in [&a, &b] {
        server.verb("t", "extend", json!({"token": token, "hold": "1h"})).await.is(200);
    }
    server.advance(20).await;
    server.poll("a", json!({})).await;
    server.advance(11).await;
    server.eventually("/v1/workers/b", |worker| worker["state"] == "lost").await;
    assert_eq!(commit(&server, &a, json!(1)).await["result"], json!({"a": 1, "b": null}));
}

#[tokio::test]
async fn strangers_change_nothing() {
    let (server, a, _) = open().await;
    let stranger = json!({"token": "0123456789abcdef0123456789abcdef", "result": 1});
    for verb in ["confirm", "commit", "extend", "fail", "release"] {
        let mut body = stranger.clone();
        if verb != "commit" {
            body.as_object_mut().unwrap().remove("result");
        }
        server.verb("t", verb, body).await.problem(409, "stale_token");
    }
    server.verb("t", "commit", json!({"token": a})).await.problem(409, "wrong_state");
    confirm(&server, &a).await;
    let large = "x".repeat(64 << 10);
    let body = json!({"token": a, "result": large});
    assert!(server.verb("t", "commit", body).await.problem(413, "too_large").contains("result"));
    server.verb("t", "cancelled", json!({"token": a})).await.problem(409, "wrong_state");
    assert_eq!(server.task("t").await["state"], "running");
    server.verb("none", "commit", json!({"token": a})).await.problem(404, "not_found");
    let batch = json!({"tasks": [{"id": "t", "token": a, "result": 5}]});
    let committed = server.post("/v1/queues/q/commit", batch).await.is(200);
    assert_eq!(committed["results"][0]["ok"], true);
}

#[tokio::test]
async fn cancel_pause_and_removal_make_all_tokens_stale() {
    for verb in ["cancel", "pause", "clean", "reset", "empty"] {
        let (server, a, b) = open().await;
        confirm(&server, &a).await;
        let state = match verb {
            "clean" => {
                server.delete("/v1/queues/q/tasks/t").await.is(204);
                None
            }
            "empty" => {
                server.post("/v1/queues/q/reset", json!({})).await.is(200);
                None
            }
            verb => Some(server.verb("t", verb, json!({})).await.is(200)["state"].clone()),
        };
        match verb {
            "cancel" => assert_eq!(state.unwrap(), "cancelled"),
            "pause" => assert_eq!(state.unwrap(), "paused"),
            _ => {}
        }
        for token in [&a, &b] {
            let answer = server.verb("t", "commit", json!({"token": token})).await;
            assert!([404, 409].contains(&answer.status.as_u16()), "{verb}: {}", answer.json);
        }
        if verb == "pause" {
            assert_eq!(server.poll("b", json!({})).await["assignments"], json!([]));
            server.verb("t", "resume", json!({})).await.is(200);
        }
        if verb == "pause" || verb == "reset" {
            let again = server.given("a", 1).await.remove(0);
            assert_ne!(again["token"], a, "{verb}");
            let again = again["token"].clone();
            confirm(&server, &again).await;
            commit(&server, &again, json!(1)).await;
        } else {
            server.push(json!({"id": "t"})).await;
            assert_ne!(server.given("a", 1).await[0]["token"], a, "{verb}");
        }
    }
}

#[tokio::test]
async fn a_vote_waits_for_somebody_who_serves_the_queue() {
    let server = TestServer::of_mode("vote").await;
    server.push(json!({"id": "t"})).await;
    let why = server.get("/v1/queues/q/tasks/t/why").await.is(200);
    assert_eq!(why["reason"], "no_worker");
    server.join("a", json!({})).await;
    server.given("a", 1).await;
    // Who comes later has no voice, and who drains has none in what comes later.
    server.join("b", json!({})).await;
    assert_eq!(server.poll("b", json!({})).await["assignments"], json!([]));
    server.post("/v1/workers/a/drain", json!({})).await.is(200);
    server.push(json!({"id": "u"})).await;
    assert_eq!(server.given("b", 1).await[0]["id"], "u");
    let ids = server.poll("a", json!({})).await["assignments"].clone();
    assert_eq!(ids.as_array().unwrap().len(), 1);
    assert_eq!(ids[0]["id"], "t");
}

#[tokio::test]
async fn a_plan_keeps_what_every_voter_said() {
    let server = TestServer::of_mode("vote").await;
    server.join("a", json!({})).await;
    server.join("b", json!({})).await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "none"});
    server.post("/v1/plans", plan).await.is(201);
    for (name, result) in [("a", Some(json!(1))), ("b", None)] {
        let task = server.given(name, 1).await.remove(0);
        assert_eq!(task["plan"]["plan_id"], "p");
        match result {
            Some(result) => drop(server.work(&task, result).await),
            None => {
                let body = json!({"token": task["token"], "error": "no"});
                server.verb("p@1", "fail", body).await.is(200);
            }
        }
    }
    let plan = server.eventually("/v1/plans/p", |plan| plan["state"] == "finished").await;
    assert_eq!((&plan["real_repet"], &plan["last_state"]), (&json!(1), &json!("ok")));
    let results = server.get("/v1/plans/p/results").await.is(200)["items"].clone();
    let said: Vec<_> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (
                item["run"].clone(),
                item["worker"].clone(),
                item["result"].clone(),
                item["error"].clone(),
            )
        })
        .collect();
    assert_eq!(said.len(), 2);
    assert!(said.contains(&(json!(1), json!("a"), json!(1), Value::Null)), "{said:?}");
    assert!(said.contains(&(json!(1), json!("b"), Value::Null, json!("no"))), "{said:?}");
}

#[tokio::test]
async fn a_flow_goes_on_with_what_voters_said() {
    let server = TestServer::of_mode("vote").await;
    server.join("a", json!({})).await;
    let steps =
        json!([{"name": "s", "queue": "q"}, {"name": "z", "queue": "next", "after": ["s"]}]);
    server.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    let task = server.given("a", 1).await.remove(0);
    server.work(&task, json!(1)).await;
    let next = server.post("/v1/queues/next/take", json!({"wait": 20})).await.is(200);
    assert_eq!(next["tasks"][0]["payload"]["inputs"], json!({"s": {"a": 1}}));
    server.verb("f~s", "commit", json!({"token": task["token"]})).await.is(200);
}

#[tokio::test]
async fn what_happens_to_workers_and_broadcasts_is_told() {
    let server = TestServer::of_mode("pub").await;
    let mut ear = Ear::open(&server, "?type=pub.q").await;
    server.push(json!({"id": "t", "payload": {"x": 1}})).await;
    let heard = ear.hears("pub.q").await;
    assert_eq!((&heard["queue"], &heard["id"]), (&json!("q"), &json!("t")));
    assert_eq!(heard["payload"], json!({"x": 1}));
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "none", "message": 5});
    server.post("/v1/plans", plan).await.is(201);
    let heard = ear.hears("pub.q").await;
    assert_eq!((&heard["payload"], &heard["plan"]["plan_id"]), (&json!(5), &json!("p")));
    let mut ear = Ear::open(&server, "?type=worker.*").await;
    server.join("w", json!({"session": "s"})).await;
    let heard = ear.hears("worker.joined").await;
    assert_eq!((&heard["id"], &heard["session"]), (&json!("w"), &json!("s")));
    server.post("/v1/workers/w/drain", json!({})).await.is(200);
    ear.hears("worker.draining").await;
    server.delete("/v1/workers/w").await.is(204);
    ear.hears("worker.left").await;
    server.join("v", json!({})).await;
    ear.hears("worker.joined").await;
    server.advance(31).await;
    assert_eq!(ear.hears("worker.lost").await["id"], "v");
}

#[tokio::test]
async fn what_is_broadcast_is_done_at_once() {
    let server = TestServer::of_mode("pub").await;
    let callback = json!({"queue": "after"});
    server.push(json!({"id": "t", "payload": 1, "callback": callback})).await;
    server.until("t", "done").await;
    let after = server.post("/v1/queues/after/take", json!({"wait": 20})).await.is(200);
    assert_eq!(after["tasks"][0]["payload"]["task"]["state"], "done");
    let large = json!({"payload": "x".repeat(64 << 10)});
    let refused = server.post("/v1/queues/q/tasks", large).await.problem(413, "too_large");
    assert!(refused.contains("payload"), "{refused}");
    server.push(json!({"id": "later", "delay": 60})).await;
    let large = json!({"payload": "x".repeat(64 << 10)});
    server.patch("/v1/queues/q/tasks/later", large).await.problem(413, "too_large");
    server.advance(60).await;
    server.until("later", "done").await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "none", "message": 5});
    server.post("/v1/plans", plan).await.is(201);
    server.eventually("/v1/plans/p", |plan| plan["state"] == "finished").await;
    server.post("/v1/queues/q/take", json!({})).await.problem(409, "wrong_state");
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    server.push(json!({"id": "paused"})).await;
    assert_eq!(server.task("paused").await["state"], "ready");
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    server.until("paused", "done").await;
}

#[tokio::test]
async fn a_vote_without_workers_is_told_at_once_and_no_votes_is_a_failure() {
    let server = TestServer::of_mode("vote").await;
    let mut ear = Ear::open(&server, "?type=plan.*").await;
    let plan_of = json!({"plan_id": "p", "station": "q", "plan_type": "minute", "plan_value": 1,
        "plan_repet": -1, "on_error": "continue"});
    server.post("/v1/plans", plan_of).await.is(201);
    ear.hears("plan.created").await;
    server.advance(60).await;
    ear.hears("plan.fired").await;
    assert_eq!(ear.hears("plan.no_worker").await["run"], 1);
    server.join("w", json!({})).await;
    let ballot = server.given("w", 1).await.remove(0);
    server.verb("p@1", "confirm", json!({"token": ballot["token"]})).await.is(200);
    server.verb("p@1", "fail", json!({"token": ballot["token"], "error": "no"})).await.is(200);
    let failed = server.eventually("/v1/plans/p", |plan| plan["failures"] == 1).await;
    assert_eq!((&failed["state"], &failed["real_repet"]), (&json!("scheduled"), &json!(1)));
    assert_eq!(failed["error"], "no_votes");
}
