//! Plans: made, fired, counted, stopped, and asked about.

use punctual_core::{QueueName, Timestamp};
use punctual_server::ServerConfig;
use punctual_store::ManualClock;
use serde_json::Value;

use super::{TestServer, json};

/// The test clock starts at 06:00.
async fn minutely(server: &TestServer, repet: i64) -> Value {
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "minute", "plan_value": 1,
        "plan_repet": repet, "message": {"a": 1}});
    server.post("/v1/plans", plan).await.is(201)
}

async fn plan(server: &TestServer) -> Value {
    server.get("/v1/plans/p").await.is(200)
}

async fn until(server: &TestServer, state: &str) -> Value {
    server.eventually("/v1/plans/p", |plan| plan["state"] == state).await
}

/// Takes the run that must be there and commits it.
async fn work(server: &TestServer, id: &str) -> Value {
    let run = server.take(json!({"wait": 20, "worker": "w"})).await;
    assert_eq!(run["id"], id);
    server.verb(id, "commit", json!({"token": run["token"], "result": 7})).await.is(200);
    run
}

#[tokio::test]
async fn a_plan_runs_again_and_again_until_it_is_finished() {
    let server = TestServer::start().await;
    let made = minutely(&server, 2).await;
    assert_eq!(
        (&made["state"], &made["next_at"]),
        (&json!("scheduled"), &json!("2026-11-15T06:01:00.000Z"))
    );
    assert_eq!((&made["real_repet"], &made["last_state"]), (&json!(0), &json!(null)));
    assert_eq!((&made["plan_type"], &made["plan_time"]), (&json!("minute"), &json!(0)));
    server.advance(59).await;
    let queue = server.get("/v1/queues/q").await.is(200);
    assert_eq!(queue["counts"]["total"], 0, "nothing starts early");
    server.advance(1).await;
    let running = until(&server, "running").await;
    assert_eq!((&running["task"], &running["next_at"]), (&json!("p@1"), &json!(null)));
    assert_eq!(running["exec_time"], "2026-11-15T06:01:00.000Z");
    let run = work(&server, "p@1").await;
    assert_eq!(run["payload"], json!({"a": 1}));
    assert_eq!(
        run["plan"],
        json!({"plan_id": "p", "request_id": null, "caller": null, "station": "q", "description": null,
            "plan_type": "minute", "plan_value": 1, "plan_repet": 2, "real_repet": 0,
            "plan_time": "2026-11-15T06:01:00.000Z", "run": 1})
    );
    let plan = plan(&server).await;
    assert_eq!((&plan["state"], &plan["real_repet"]), (&json!("scheduled"), &json!(1)));
    assert_eq!(
        (&plan["last_state"], &plan["next_at"]),
        (&json!("ok"), &json!("2026-11-15T06:02:00.000Z"))
    );
    server.advance(60).await;
    work(&server, "p@2").await;
    let plan = until(&server, "finished").await;
    assert_eq!((&plan["real_repet"], &plan["next_at"]), (&json!(2), &json!(null)));
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(
        results["items"][1],
        json!({"run": 1, "plan_time": "2026-11-15T06:01:00.000Z",
        "worker": "w", "result": 7, "error": null, "at": "2026-11-15T06:01:00.000Z"})
    );
    assert_eq!(results["items"][0]["run"], 2);
    let first = server.get("/v1/plans/p/results?limit=1").await.is(200);
    assert_eq!(first["items"][0]["run"], 2);
    let cursor = first["next"].as_str().unwrap();
    let second = server.get(&format!("/v1/plans/p/results?limit=1&cursor={cursor}")).await.is(200);
    assert_eq!((&second["items"][0]["run"], &second["next"]), (&json!(1), &json!(null)));
    // A finished plan is kept for a day.
    server.advance(86_399).await;
    until(&server, "finished").await;
    server.advance(1).await;
    server.eventually("/v1/plans/p", |answer| answer["code"] == "not_found").await;
}

#[tokio::test]
async fn a_plan_of_type_none_runs_at_once() {
    let server = TestServer::start().await;
    let plan = json!({"plan_id": 255, "station": "q", "plan_type": 0, "messages": "now"});
    let made = server.post("/v1/plans", plan).await.is(201);
    assert_eq!((&made["plan_id"], &made["message"]), (&json!("00000000000000ff"), &json!("now")));
    work(&server, "00000000000000ff@1").await;
    let path = "/v1/plans/00000000000000ff";
    server.eventually(path, |plan| plan["state"] == "finished").await;
    let made = server.post("/v1/plans", json!({"station": "q", "plan_type": "none"})).await.is(201);
    assert_eq!(made["plan_id"].as_str().unwrap().len(), 16);
}

#[tokio::test]
async fn a_run_that_fails_for_good_stops_the_plan() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"max_attempts": 1})).await.is(201);
    minutely(&server, -1).await;
    server.advance(60).await;
    let run = server.take(json!({"wait": 20})).await;
    server.verb("p@1", "fail", json!({"token": run["token"], "error": "no"})).await.is(200);
    let stopped = plan(&server).await;
    assert_eq!((&stopped["state"], &stopped["last_state"]), (&json!("error"), &json!("error")));
    assert_eq!((&stopped["error"], &stopped["next_at"]), (&json!("no"), &json!(null)));
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"][0]["error"], "no");
    // The failed run is tried again: the plan goes on with it.
    server.verb("p@1", "retry", json!({})).await.is(200);
    assert_eq!(plan(&server).await["state"], "running");
    let run = server.take(json!({})).await;
    server.verb("p@1", "fail", json!({"token": run["token"]})).await.is(200);
    assert_eq!(plan(&server).await["state"], "error");
    server.verb("p@1", "reset", json!({})).await.problem(409, "wrong_state");
    // Resumed, it goes on with the next occurrence, and uses the number again.
    server.advance(90).await;
    let resumed = server.post("/v1/plans/p/resume", json!({})).await.is(200);
    assert_eq!(
        (&resumed["state"], &resumed["next_at"]),
        (&json!("scheduled"), &json!("2026-11-15T06:03:00.000Z"))
    );
    server.advance(30).await;
    work(&server, "p@1").await;
    assert_eq!(plan(&server).await["real_repet"], 1);
}

#[tokio::test]
async fn cancelled_removed_and_dropped_runs_are_skipped() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    for n in 1..=4 {
        server.advance(60).await;
        server.eventually("/v1/plans/p", |plan| plan["task"] == format!("p@{n}")).await;
        match n {
            1 => drop(server.verb("p@1", "cancel", json!({})).await.is(200)),
            2 => drop(server.delete("/v1/queues/q/tasks/p@2").await.is(204)),
            3 => drop(server.post("/v1/queues/q/reset", json!({})).await.is(200)),
            _ => drop(server.delete("/v1/queues/q").await.is(204)),
        }
        let plan = plan(&server).await;
        assert_eq!((&plan["state"], &plan["skipped"]), (&json!("scheduled"), &json!(n)), "{n}");
        assert_eq!((&plan["real_repet"], &plan["last_state"]), (&json!(0), &json!("skipped")));
    }
}

#[tokio::test]
async fn a_run_that_was_dropped_without_a_word_is_found_at_the_next_start() {
    let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
    let (store, config) = (crate::store(&clock), ServerConfig::default());
    let server = TestServer::over(store.clone(), clock.clone(), config.clone()).await;
    minutely(&server, -1).await;
    server.advance(60).await;
    server.take(json!({"wait": 20})).await;
    // As if the server had died right after it dropped the tasks.
    store.reset_queue(&QueueName::parse("q").unwrap()).await.unwrap();
    assert_eq!(plan(&server).await["state"], "running");
    let next = TestServer::over(store, clock, config).await;
    let found = next.eventually("/v1/plans/p", |plan| plan["state"] == "scheduled").await;
    assert_eq!((&found["skipped"], &found["last_state"]), (&json!(1), &json!("skipped")));
}

#[tokio::test]
async fn pause_resume_skip_and_run() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    let skipped = server.post("/v1/plans/p/skip", json!({"n": 2})).await.is(200);
    assert_eq!(
        (&skipped["next_at"], &skipped["skipped"]),
        (&json!("2026-11-15T06:03:00.000Z"), &json!(2))
    );
    server.post("/v1/plans/p/skip", json!({"n": 0})).await.problem(422, "invalid");
    let paused = server.post("/v1/plans/p/pause", json!({})).await.is(200);
    assert_eq!((&paused["state"], &paused["next_at"]), (&json!("paused"), &json!(null)));
    server.post("/v1/plans/p/skip", json!({})).await.problem(409, "wrong_state");
    server.advance(600).await;
    let asked = server.post("/v1/plans/p/run", json!({})).await.is(200);
    assert_eq!((&asked["task"], &asked["state"]), (&json!("p@1.1"), &json!("paused")));
    let detail = server.post("/v1/plans/p/run", json!({})).await.problem(409, "wrong_state");
    assert!(detail.contains("run does not apply"), "{detail}");
    let run = work(&server, "p@1.1").await;
    assert_eq!(run["plan"]["run"], "1.1");
    let resumed = server.post("/v1/plans/p/resume", json!({})).await.is(200);
    assert_eq!((&resumed["state"], &resumed["real_repet"]), (&json!("scheduled"), &json!(0)));
    assert_eq!(resumed["next_at"], "2026-11-15T06:10:00.000Z");
    let results = server.get("/v1/plans/p/results").await.is(200);
    assert_eq!(results["items"][0]["run"], "1.1");
}

#[tokio::test]
async fn a_plan_is_replaced_and_keeps_its_counts() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    server.advance(60).await;
    work(&server, "p@1").await;
    let patch = json!({"plan_type": "cron", "cron": "0 9 * * *", "plan_repet": 5, "timezone": "Asia/Shanghai",
        "description": "d"});
    let put = server.put("/v1/plans/p", patch).await.is(200);
    assert_eq!((&put["real_repet"], &put["message"]), (&json!(1), &json!({"a": 1})));
    assert_eq!(
        (&put["next_at"], &put["description"]),
        (&json!("2026-11-16T01:00:00.000Z"), &json!("d"))
    );
    server.put("/v1/plans/p", json!({"description": null})).await.is(200);
    assert_eq!(plan(&server).await["description"], json!(null));
    server.put("/v1/plans/p", json!({"station": "other"})).await.problem(422, "invalid");
    server.put("/v1/plans/p", json!({"plan_id": "other"})).await.problem(422, "invalid");
    let made = server
        .put(
            "/v1/plans/new",
            json!({"station": "q", "plan_type": "time", "plan_time": 1_800_000_000}),
        )
        .await
        .is(201);
    assert_eq!(made["next_at"], "2027-01-15T08:00:00.000Z");
    let times = server.get("/v1/plans/p/occurrences?n=2").await.is(200);
    assert_eq!(
        times,
        json!({"items": ["2026-11-16T01:00:00.000Z", "2026-11-17T01:00:00.000Z"], "next": null})
    );
}

#[tokio::test]
async fn a_plan_takes_and_reads_both_names_of_its_queue_and_of_its_repeats() {
    let server = TestServer::start().await;
    let rule = |fields: Value| {
        let mut plan = json!({"plan_type": "hour", "plan_value": 1});
        plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        plan
    };
    for (n, fields) in [
        json!({"queue": "q", "repeat": 3}),
        json!({"station": "q", "plan_repet": 3}),
        json!({"queue": "q", "station": "q", "repeat": 3, "plan_repet": 3}),
    ]
    .into_iter()
    .enumerate()
    {
        let plan = server.put(&format!("/v1/plans/p{n}"), rule(fields)).await.is(201);
        for (name, value) in [
            ("queue", json!("q")),
            ("station", json!("q")),
            ("repeat", json!(3)),
            ("plan_repet", json!(3)),
        ] {
            assert_eq!(plan[name], value, "{name}");
        }
    }
    assert_eq!(server.put("/v1/plans/p0", json!({"repeat": 4})).await.is(200)["plan_repet"], 4);
    for (fields, field) in [
        (json!({"queue": "q", "station": "r", "repeat": 1}), "queue"),
        (json!({"queue": "q", "repeat": 1, "plan_repet": 2}), "repeat"),
        (json!({"repeat": 1}), "station"),
    ] {
        let detail = server.post("/v1/plans", rule(fields)).await.problem(422, "invalid");
        assert!(detail.starts_with(field), "{detail}");
    }
    let preview = server.post("/v1/plans/preview", rule(json!({"repeat": 2}))).await.is(200);
    assert_eq!(preview["items"].as_array().unwrap().len(), 2);
    let both = rule(json!({"repeat": 2, "plan_repet": 3}));
    server.post("/v1/plans/preview", both).await.problem(422, "invalid");
    for query in ["queue=q", "station=q", "queue=q&station=q"] {
        let page = server.get(&format!("/v1/plans?{query}")).await.is(200);
        assert_eq!(page["items"].as_array().unwrap().len(), 3, "{query}");
    }
    server.get("/v1/plans?queue=q&station=r").await.problem(422, "invalid");
}

#[tokio::test]
async fn a_plan_that_is_paused_stopped_or_finished_has_no_occurrences() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    let count = async || {
        let times = server.get("/v1/plans/p/occurrences?n=3").await.is(200);
        times["items"].as_array().unwrap().len()
    };
    assert_eq!(count().await, 3);
    server.post("/v1/plans/p/pause", json!({})).await.is(200);
    assert_eq!(count().await, 0);
    server.post("/v1/plans/p/resume", json!({})).await.is(200);
    assert_eq!(count().await, 3);
    server.advance(60).await;
    let run = server.take(json!({"wait": 20})).await;
    assert_eq!(count().await, 3, "running");
    let fail = json!({"token": run["token"], "permanent": true});
    server.verb("p@1", "fail", fail).await.is(200);
    until(&server, "error").await;
    assert_eq!(count().await, 0);
    server.post("/v1/plans/p/resume", json!({})).await.is(200);
    assert_eq!(count().await, 3);
    let past = json!({"plan_type": "time", "plan_time": 1});
    assert_eq!(server.put("/v1/plans/p", past).await.is(200)["state"], "finished");
    assert_eq!(count().await, 0);
}

#[tokio::test]
async fn plans_are_listed_read_and_deleted() {
    let server = TestServer::start().await;
    for (id, station) in [("a", "q"), ("b", "q"), ("c", "other"), ("preview", "z")] {
        let plan = json!({"plan_id": id, "station": station, "plan_type": "hour", "plan_value": 1, "plan_repet": -1});
        server.post("/v1/plans", plan).await.is(201);
    }
    server.post("/v1/plans/b/pause", json!({})).await.is(200);
    let ids = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|plan| plan["plan_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&server.get("/v1/plans").await.is(200)), ["c", "a", "b", "preview"]);
    assert_eq!(ids(&server.get("/v1/plans?station=q").await.is(200)), ["a", "b"]);
    assert_eq!(ids(&server.get("/v1/plans?state=paused,error").await.is(200)), ["b"]);
    let page = server.get("/v1/plans?limit=3").await.is(200);
    let rest =
        server.get(&format!("/v1/plans?limit=3&cursor={}", encoded(&page["next"]))).await.is(200);
    assert_eq!(ids(&rest), ["preview"]);
    assert_eq!(server.get("/v1/plans/preview").await.is(200)["station"], "z");
    server.delete("/v1/plans/preview").await.is(204);
    server.delete("/v1/plans/preview").await.problem(404, "not_found");
    server.get("/v1/plans?state=busy").await.problem(422, "invalid");
    server.get("/v1/plans?colour=red").await.problem(422, "invalid");
}

fn encoded(cursor: &Value) -> String {
    let text = cursor.as_str().unwrap();
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[tokio::test]
async fn a_deleted_plans_run_goes_on_unheard() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    server.advance(60).await;
    until(&server, "running").await;
    server.delete("/v1/plans/p").await.is(204);
    work(&server, "p@1").await;
    server.get("/v1/plans/p").await.problem(404, "not_found");
}

#[tokio::test]
async fn two_plans_cannot_have_one_id() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    let again = json!({"plan_id": "p", "station": "other", "plan_type": "none"});
    server.post("/v1/plans", again).await.problem(409, "duplicate");
    let key = [("idempotency-key", "k")];
    let body =
        json!({"station": "q", "plan_type": "hour", "plan_value": 1, "plan_repet": 1}).to_string();
    let first = server.raw("POST", "/v1/plans", &key, body.clone()).await.is(201);
    let second = server.raw("POST", "/v1/plans", &key, body).await;
    assert_eq!(second.headers["idempotency-replayed"], "true");
    assert_eq!(second.is(201)["plan_id"], first["plan_id"]);
    let other = json!({"station": "z", "plan_type": "none"}).to_string();
    server.raw("POST", "/v1/plans", &key, other).await.problem(422, "invalid");
    assert_eq!(server.get("/v1/plans").await.is(200)["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn nobody_comes_for_a_run() {
    let server = TestServer::start().await;
    minutely(&server, -1).await;
    server.advance(60).await;
    until(&server, "running").await;
    server.advance(60).await;
    let plan = server.eventually("/v1/plans/p", |plan| plan["last_state"] == "no_worker").await;
    assert_eq!(plan["state"], "running", "the task waits");
    work(&server, "p@1").await;
    let plan = server.eventually("/v1/plans/p", |plan| plan["task"] == "p@2").await;
    assert_eq!(plan["real_repet"], 1, "the next was due in the same moment");
}

#[tokio::test]
async fn a_preview_stores_nothing() {
    let server = TestServer::start().await;
    let rule = json!({"plan_type": "month", "plan_value": 0, "plan_time": "09:30", "plan_repet": -1, "n": 3});
    let times = server.post("/v1/plans/preview", rule).await.is(200);
    assert_eq!(
        times["items"],
        json!(["2026-11-30T09:30:00.000Z", "2026-12-31T09:30:00.000Z", "2027-01-31T09:30:00.000Z"])
    );
    let few = json!({"plan_type": "day", "plan_value": 1, "plan_repet": 2});
    let times = server.post("/v1/plans/preview", few).await.is(200);
    assert_eq!(times["items"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/v1/plans").await.is(200)["items"], json!([]));
}

#[tokio::test]
async fn wrong_plans_name_their_field_and_store_nothing() {
    let server = TestServer::start().await;
    for (plan, field) in [
        (json!({"plan_type": "none"}), "station"),
        (json!({"station": "q"}), "plan_type"),
        (json!({"station": "q", "plan_type": "eternity"}), "plan_type"),
        (json!({"station": "q", "plan_type": 9}), "plan_type"),
        (json!({"station": "q", "plan_type": "time"}), "plan_time"),
        (
            json!({"station": "q", "plan_type": "minute", "plan_value": 32768, "plan_repet": 1}),
            "plan_value",
        ),
        (
            json!({"station": "q", "plan_type": "minute", "plan_value": 1.5, "plan_repet": 1}),
            "plan_value",
        ),
        (json!({"station": "q", "plan_type": "day", "plan_value": 1}), "plan_repet"),
        (
            json!({"station": "q", "plan_type": "day", "plan_value": 1, "plan_repet": 0}),
            "plan_repet",
        ),
        (
            json!({"station": "q", "plan_type": "day", "plan_value": 1, "plan_repet": -2}),
            "plan_repet",
        ),
        (
            json!({"station": "q", "plan_type": "week", "plan_value": 7, "plan_repet": 1}),
            "plan_value",
        ),
        (
            json!({"station": "q", "plan_type": "month", "plan_value": -32, "plan_repet": 1}),
            "plan_value",
        ),
        (json!({"station": "q", "plan_type": "cron", "plan_repet": 1}), "cron"),
        (json!({"station": "q", "plan_type": "cron", "cron": "* * *", "plan_repet": 1}), "cron"),
        (json!({"station": "q", "plan_type": "none", "timezone": "Nowhere"}), "timezone"),
        (json!({"station": "q", "plan_type": "none", "plan_id": "a b"}), "plan_id"),
        (json!({"station": "q", "plan_type": "none", "plan_id": "x".repeat(91)}), "plan_id"),
        (json!({"station": "a b", "plan_type": "none"}), "station"),
        (json!({"station": "q", "plan_type": "none", "message": 1, "messages": 1}), "messages"),
        (
            json!({"station": "q", "plan_type": "none", "http": {"url": "http://example.com/"}}),
            "http",
        ),
        (json!({"station": "notices", "plan_type": "none"}), "http.url"),
        (
            json!({"station": "notices", "plan_type": "none", "http": {"url": "http://127.0.0.1/"}}),
            "http.url",
        ),
        (json!({"station": "q", "plan_type": "none", "colour": 1}), "colour"),
        (json!({"station": "q", "plan_type": "none", "priority": 200}), "priority"),
        (json!({"station": "q", "plan_type": "none", "keep_results": -1}), "keep_results"),
    ] {
        let detail = server.post("/v1/plans", plan.clone()).await.problem(422, "invalid");
        assert!(detail.contains(field), "{plan}: {detail}");
    }
    assert_eq!(server.get("/v1/plans").await.is(200)["items"], json!([]));
    let large = json!({"station": "q", "plan_type": "none", "message": "x".repeat(1 << 20)});
    server.post("/v1/plans", large).await.problem(413, "too_large");
    for path in ["/v1/plans/none", "/v1/plans/none/results", "/v1/plans/none/occurrences"] {
        server.get(path).await.problem(404, "not_found");
    }
    for verb in ["pause", "resume", "run", "skip"] {
        server.post(&format!("/v1/plans/none/{verb}"), json!({})).await.problem(404, "not_found");
    }
    server.post("/v1/dev/clock", json!({"advance": 1})).await.problem(403, "forbidden");
}
