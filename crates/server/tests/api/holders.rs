//! What holders say: confirm, extend, commit, fail, release, cancelled, paused; and when their holds
//! end.

use serde_json::Value;

use super::{TestServer, json};

/// A server with one task `a` that is held; the holder's token.
async fn held() -> (TestServer, Value) {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "payload": 1})).await;
    let taken = server.take(json!({"worker": "w1"})).await;
    (server, taken["token"].clone())
}

#[tokio::test]
async fn a_taken_task_is_running_and_shows_its_token_to_its_taker_only() {
    let (server, token) = held().await;
    let token = token.as_str().unwrap();
    assert!(!token.is_empty());
    let task = server.task("a").await;
    assert_eq!(task["state"], "running");
    assert_eq!(task["worker"], "w1");
    assert_eq!(task["attempt"], 1);
    assert_eq!(task["taken_at"], "2026-11-15T06:00:00.000Z");
    assert_eq!(task["hold_until"], "2026-11-15T06:00:30.000Z");
    assert_eq!(task.get("token"), None);
}

#[tokio::test]
async fn confirm_starts_the_hold() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({"confirm": true, "hold": 60})).await;
    assert_eq!(taken["state"], "assigned");
    assert_eq!(taken["hold_until"], "2026-11-15T06:00:10.000Z");
    server.advance(5).await;
    for _ in 0..2 {
        let confirmed = server.verb("a", "confirm", json!({"token": taken["token"]})).await.is(200);
        assert_eq!(confirmed["state"], "running");
        assert_eq!(confirmed["taken_at"], "2026-11-15T06:00:05.000Z");
        assert_eq!(confirmed["hold_until"], "2026-11-15T06:01:05.000Z");
    }
}

#[tokio::test]
async fn nobody_holds_a_task_longer_than_the_longest_run() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"max_runtime": "1m"})).await.is(201);
    server.push(json!({"id": "a", "max_attempts": 1})).await;
    let taken = server.take(json!({"hold": 3600})).await;
    assert_eq!(taken["hold_until"], "2026-11-15T06:01:00.000Z");
    server.advance(20).await;
    let more = json!({"token": taken["token"], "hold": "1h"});
    let extended = server.verb("a", "extend", more).await.is(200);
    assert_eq!(extended["hold_until"], "2026-11-15T06:01:00.000Z");
    server.advance(40).await;
    let failed = server.until("a", "failed").await;
    assert_eq!((&failed["error"], failed.get("max_runtime")), (&json!("max_runtime"), None));
    assert_eq!(failed["history"][0]["outcome"], "lost");
    server.verb("a", "commit", json!({"token": taken["token"]})).await.problem(409, "stale_token");

    server.push(json!({"id": "b", "max_runtime": "20s"})).await;
    let taken = server.take(json!({"confirm": true})).await;
    assert_eq!(taken["hold_until"], "2026-11-15T06:01:10.000Z", "the time to confirm");
    let confirmed = server.verb("b", "confirm", json!({"token": taken["token"]})).await.is(200);
    assert_eq!(confirmed["hold_until"], "2026-11-15T06:01:20.000Z");
    assert_eq!(server.task("b").await["max_runtime"], 20);
    for body in [json!({"max_runtime": 0}), json!({"max_runtime": "soon"})] {
        let problem = server.post("/v1/queues/q/tasks", body.clone()).await.problem(422, "invalid");
        assert!(problem.contains("max_runtime"), "{problem}");
        server.put("/v1/queues/q", body).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn what_is_not_confirmed_in_time_is_ready_for_another() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({"confirm": true, "worker": "w"})).await;
    server.advance(11).await;
    let task = server.until("a", "ready").await;
    assert_eq!(task["history"][0]["outcome"], "unconfirmed");
    assert_eq!(task["history"][0]["worker"], "w");
    server.verb("a", "confirm", json!({"token": taken["token"]})).await.problem(409, "stale_token");
    assert_ne!(server.take(json!({})).await["token"], taken["token"]);
}

#[tokio::test]
async fn extend_holds_longer_and_reports() {
    let (server, token) = held().await;
    server.advance(20).await;
    let body = json!({
        "token": token, "hold": "1m", "progress": 0.5, "message": "half way", "checkpoint": [1]
    });
    let extended = server.verb("a", "extend", body).await.is(200);
    let until = "2026-11-15T06:01:20.000Z";
    assert_eq!(extended, json!({"hold_until": until, "cancel": false, "pause": false}));
    let task = server.task("a").await;
    assert_eq!(task["hold_until"], until);
    assert_eq!((&task["progress"], &task["message"]), (&json!(0.5), &json!("half way")));
    assert_eq!(task["checkpoint"], json!([1]));
    // Without a length it is as long as before, and what is left out stays.
    server.advance(30).await;
    let extended = server.verb("a", "extend", json!({"token": token})).await.is(200);
    assert_eq!(extended["hold_until"], "2026-11-15T06:01:50.000Z");
    assert_eq!(server.task("a").await["message"], "half way");
}

#[tokio::test]
async fn a_holder_hears_of_cancel_and_pause() {
    let (server, token) = held().await;
    server.verb("a", "pause", json!({})).await.is(200);
    let heard = server.verb("a", "extend", json!({"token": token})).await.is(200);
    assert_eq!((&heard["cancel"], &heard["pause"]), (&json!(false), &json!(true)));
    server.verb("a", "cancel", json!({})).await.is(200);
    let heard = server.verb("a", "extend", json!({"token": token})).await.is(200);
    assert_eq!((&heard["cancel"], &heard["pause"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn commit_ends_a_task_and_may_be_repeated() {
    let (server, token) = held().await;
    let body = json!({"token": token, "result": {"ok": true}});
    let done = server.verb("a", "commit", body.clone()).await.is(200);
    assert_eq!((&done["state"], &done["result"]), (&json!("done"), &json!({"ok": true})));
    assert_eq!(done["finished_at"], "2026-11-15T06:00:00.000Z");
    assert_eq!(done["hold_until"], Value::Null);
    assert_eq!(done["history"][0]["outcome"], "done");
    // It is not kept, so only its name is left.
    server.get("/v1/queues/q/tasks/a").await.problem(404, "not_found");
    let again = server.verb("a", "commit", body.clone()).await.is(200);
    assert_eq!((&again["queue"], &again["id"]), (&json!("q"), &json!("a")));
    // Also after the id was pushed again, whose new life it leaves alone.
    server.push(json!({"id": "a"})).await;
    server.verb("a", "commit", body.clone()).await.is(200);
    assert_eq!(server.task("a").await["state"], "ready");
    let other = server.take(json!({})).await;
    server.verb("a", "commit", body.clone()).await.is(200);
    server.verb("a", "commit", json!({"token": other["token"]})).await.is(200);
    // For 10 minutes.
    server.advance(601).await;
    server.verb("a", "commit", body).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_kept_task_answers_repeated_commits_as_it_reads() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"keep": {"done": "1d"}})).await.is(201);
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({})).await;
    let body = json!({"token": taken["token"], "result": 1});
    let done = server.verb("a", "commit", body.clone()).await.is(200);
    server.advance(3_600).await;
    assert_eq!(server.verb("a", "commit", body).await.is(200), done);
    assert_eq!(server.task("a").await, done);
    let other = json!({"token": taken["token"]});
    server.verb("a", "fail", other).await.problem(409, "stale_token");
}

#[tokio::test]
async fn fail_waits_for_the_retry_until_the_attempts_are_used_up() {
    let server = TestServer::start().await;
    let settings = json!({"max_attempts": 2, "retry": {"intervals": [10]}});
    server.put("/v1/queues/q", settings).await.is(201);
    server.push(json!({"id": "a"})).await;
    let first = server.take(json!({"worker": "w"})).await;
    let body = json!({"token": first["token"], "error": "refused"});
    let waiting = server.verb("a", "fail", body.clone()).await.is(200);
    assert_eq!((&waiting["state"], &waiting["error"]), (&json!("waiting"), &json!("refused")));
    assert_eq!(waiting["due_at"], "2026-11-15T06:00:10.000Z");
    assert_eq!(
        waiting["history"],
        json!([{
            "at": "2026-11-15T06:00:00.000Z", "ended_at": "2026-11-15T06:00:00.000Z", "worker": "w",
            "outcome": "failed", "error": "refused", "status": null, "http": null
        }])
    );
    // Repeated with its token until the next take.
    server.verb("a", "fail", body.clone()).await.is(200);
    server.advance(10).await;
    let second = server.take(json!({})).await;
    assert_eq!(second["attempt"], 2);
    server.verb("a", "fail", body).await.problem(409, "stale_token");
    let failed = server.verb("a", "fail", json!({"token": second["token"]})).await.is(200);
    assert_eq!(failed["state"], "failed");
    assert_eq!(server.task("a").await["history"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn fail_may_choose_its_retry_or_none() {
    let (server, token) = held().await;
    let waiting = server.verb("a", "fail", json!({"token": token, "retry_in": "1h"})).await.is(200);
    assert_eq!(waiting["due_at"], "2026-11-15T07:00:00.000Z");
    server.verb("a", "retry", json!({})).await.is(200);
    let taken = server.take(json!({})).await;
    let body = json!({"token": taken["token"], "permanent": true, "error": "no such user"});
    assert_eq!(server.verb("a", "fail", body).await.is(200)["state"], "failed");
}

#[tokio::test]
async fn release_gives_a_task_back_and_the_take_does_not_count() {
    let (server, token) = held().await;
    let body = json!({"token": token, "delay": 5, "checkpoint": {"at": 3}});
    let released = server.verb("a", "release", body.clone()).await.is(200);
    assert_eq!((&released["state"], &released["attempt"]), (&json!("waiting"), &json!(0)));
    assert_eq!(released["checkpoint"], json!({"at": 3}));
    assert_eq!((&released["worker"], &released["taken_at"]), (&Value::Null, &Value::Null));
    server.verb("a", "release", body.clone()).await.is(200);
    server.advance(5).await;
    let taken = server.take(json!({})).await;
    assert_eq!((&taken["attempt"], &taken["checkpoint"]), (&json!(1), &json!({"at": 3})));
    server.verb("a", "release", body).await.problem(409, "stale_token");
}

#[tokio::test]
async fn a_holder_acknowledges_cancel() {
    let (server, token) = held().await;
    let body = json!({"token": token, "error": "stopped", "result": 1, "checkpoint": 2});
    server.verb("a", "cancelled", body.clone()).await.problem(409, "wrong_state");
    assert_eq!(server.verb("a", "cancel", json!({})).await.is(200)["state"], "cancelling");
    let cancelled = server.verb("a", "cancelled", body.clone()).await.is(200);
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!((&cancelled["result"], &cancelled["checkpoint"]), (&json!(1), &json!(2)));
    server.verb("a", "cancelled", body).await.is(200);
}

#[tokio::test]
async fn a_holder_acknowledges_pause() {
    let (server, token) = held().await;
    let body = json!({"token": token, "checkpoint": {"page": 9}});
    server.verb("a", "paused", body.clone()).await.problem(409, "wrong_state");
    assert_eq!(server.verb("a", "pause", json!({})).await.is(200)["state"], "pausing");
    let paused = server.verb("a", "paused", body.clone()).await.is(200);
    assert_eq!((&paused["state"], &paused["checkpoint"]), (&json!("paused"), &json!({"page": 9})));
    server.verb("a", "paused", body).await.is(200);
    let resumed = server.verb("a", "resume", json!({})).await.is(200);
    assert_eq!((&resumed["state"], &resumed["checkpoint"]), (&json!("ready"), &json!({"page": 9})));
}

#[tokio::test]
async fn commit_wins_over_cancel_and_fail_does_not() {
    for (verb, state) in [("commit", "done"), ("fail", "cancelled"), ("release", "cancelled")] {
        let (server, token) = held().await;
        server.verb("a", "cancel", json!({})).await.is(200);
        let ended = server.verb("a", verb, json!({"token": token})).await.is(200);
        assert_eq!(ended["state"], state, "{verb}");
        // The repeat of what removed the task is answered from its receipt.
        let again = server.verb("a", verb, json!({"token": token})).await.is(200);
        assert_eq!((&again["queue"], &again["id"]), (&json!("q"), &json!("a")));
    }
    let (server, token) = held().await;
    server.verb("a", "pause", json!({})).await.is(200);
    assert_eq!(server.verb("a", "fail", json!({"token": token})).await.is(200)["state"], "paused");
}

#[tokio::test]
async fn a_hold_that_ends_frees_its_task() {
    let (server, token) = held().await;
    server.advance(31).await;
    let task = server.until("a", "ready").await;
    assert_eq!(task["history"][0]["outcome"], "lost");
    for (verb, body) in [
        ("commit", json!({"token": token})),
        ("extend", json!({"token": token})),
        ("fail", json!({"token": token})),
        ("release", json!({"token": token})),
        ("confirm", json!({"token": token})),
    ] {
        server.verb("a", verb, body).await.problem(409, "stale_token");
    }
    let taken = server.take(json!({})).await;
    assert_eq!(taken["attempt"], 2);
    server.verb("a", "commit", json!({"token": token})).await.problem(409, "stale_token");
    server.verb("a", "commit", json!({"token": taken["token"]})).await.is(200);
    server.verb("a", "extend", json!({"token": token})).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_task_whose_holders_are_always_lost_fails_in_the_end() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a", "max_attempts": 2})).await;
    server.take(json!({})).await;
    server.advance(31).await;
    server.until("a", "ready").await;
    server.take(json!({})).await;
    server.advance(31).await;
    assert_eq!(server.until("a", "failed").await["attempt"], 2);
}

#[tokio::test]
async fn holds_that_end_while_cancelling_or_pausing_end_so() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"keep": {"cancelled": "1h"}})).await.is(201);
    for (verb, state) in [("cancel", "cancelled"), ("pause", "paused")] {
        server.push(json!({"id": verb})).await;
        server.take(json!({})).await;
        server.verb(verb, verb, json!({})).await.is(200);
        server.advance(31).await;
        server.until(verb, state).await;
    }
}

#[tokio::test]
async fn tokens_of_others_and_texts_that_are_none_are_stale() {
    let (server, _) = held().await;
    for token in ["", "x", "00000000000000000000000000000000", &"f".repeat(32), "\u{1f600}"] {
        for verb in ["confirm", "extend", "commit", "fail", "release", "cancelled", "paused"] {
            let body = json!({"token": token});
            server.verb("a", verb, body.clone()).await.problem(409, "stale_token");
            server.verb("nobody", verb, body).await.problem(404, "not_found");
        }
    }
    assert_eq!(server.task("a").await["state"], "running");
}

#[tokio::test]
async fn a_token_is_for_its_own_task_only() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b"})).await;
    let a = server.take(json!({})).await;
    let b = server.take(json!({})).await;
    server.verb("a", "commit", json!({"token": b["token"]})).await.problem(409, "stale_token");
    server.verb("b", "commit", json!({"token": a["token"]})).await.problem(409, "stale_token");
    server.verb("a", "commit", json!({"token": a["token"]})).await.is(200);
    server.verb("b", "commit", json!({"token": b["token"]})).await.is(200);
}

#[tokio::test]
async fn a_commit_is_repeated_after_its_queue_was_deleted() {
    let server = TestServer::start().await;
    server.push(json!({"id": "a"})).await;
    server.push(json!({"id": "b"})).await;
    let taken = server.take(json!({})).await;
    let never_committed = server.take(json!({})).await;
    let (done, lost) =
        (json!({"token": taken["token"]}), json!({"token": never_committed["token"]}));
    server.verb("a", "commit", done.clone()).await.is(200);
    server.delete("/v1/queues/q").await.is(204);
    let repeated = server.verb("a", "commit", done.clone()).await.is(200);
    assert_eq!(repeated, json!({"queue": "q", "id": "a", "state": "done"}));
    server.verb("a", "fail", done.clone()).await.problem(404, "not_found");
    server.verb("b", "commit", lost).await.problem(404, "not_found");

    let (a, b) = (
        json!({"id": "a", "token": taken["token"]}),
        json!({"id": "b", "token": never_committed["token"]}),
    );
    let batch = json!({"tasks": [b, a]});
    let results = server.post("/v1/queues/q/commit", batch).await.is(200)["results"].clone();
    assert_eq!((&results[0]["code"], &results[1]["ok"]), (&json!("not_found"), &json!(true)));
    let none = json!({"tasks": [b]});
    server.post("/v1/queues/q/commit", none).await.problem(404, "not_found");

    let took = server.post("/v1/queues/q/take", json!({"commit": [a], "wait": 60})).await.is(200);
    assert_eq!(took, json!({"tasks": [], "committed": [{"id": "a", "ok": true}]}));
    server.post("/v1/queues/q/take", json!({"commit": [b]})).await.problem(404, "not_found");

    server.advance(601).await;
    server.verb("a", "commit", done).await.problem(404, "not_found");
}
