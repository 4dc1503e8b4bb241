//! What is told of bundles, notices and plans.

use super::*;
use crate::api::delivery::{self, Reply, Stub};

#[tokio::test]
async fn bundles_of_workers_are_told_of() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"abandon_after": 60})).await.is(201);
    let mut ear = Ear::open(&server, "?type=bundle.*").await;
    let push = || server.post("/v1/queues/q/bundles/k%2F1/push", json!({"task": 1}));
    push().await.is(200);
    push().await.is(200);
    let pushed = ear.hears("bundle.pushed").await;
    assert_eq!(
        (&pushed["id"], &pushed["key"], &pushed["queue"]),
        (&json!("k/1"), &json!("k/1"), &json!("q"))
    );
    assert_eq!(
        (&pushed["size"], &pushed["ontime"]),
        (&json!(1), &json!("2026-11-15T06:00:00.000Z"))
    );
    assert_eq!(ear.hears("bundle.pushed").await["size"], 2);
    server.post("/v1/queues/q/bundles/schedule", json!({})).await.is(200);
    assert_eq!(ear.hears("bundle.due").await["key"], "k/1");
    let lock = json!({"random": "r", "timeout": 60});
    server.post("/v1/queues/q/bundles/k%2F1/get", lock).await.is(200);
    let done = json!({"random": "r", "number": 1});
    server.post("/v1/queues/q/bundles/k%2F1/complete", done).await.is(200);
    let delivered = ear.hears("bundle.delivered").await;
    assert_eq!((&delivered["number"], &delivered["left"]), (&json!(1), &json!(1)));
    server.post("/v1/queues/q/bundles/schedule", json!({})).await.is(200);
    ear.hears("bundle.due").await;
    server.advance(60).await;
    assert_eq!(ear.hears("bundle.failed").await["error"], "abandoned");
    server.delete("/v1/queues/q/bundles/k%2F1").await.is(204);
    assert_eq!(ear.hears("bundle.deleted").await["key"], "k/1");
}

#[tokio::test]
async fn bundles_that_are_delivered_are_told_of() {
    let stub =
        Stub::start(|seen| Reply::text(if seen.path == "/no" { 500 } else { 200 }, "")).await;
    let server = delivery::delivering(json!({"url": stub.url("/"), "max_attempts": 1})).await;
    let mut ear = Ear::open(&server, "?type=bundle.*").await;
    server.post("/v1/queues/q/bundles/k/push", json!({"task": 1})).await.is(200);
    ear.hears("bundle.pushed").await;
    ear.hears("bundle.due").await;
    let delivered = ear.hears("bundle.delivered").await;
    assert_eq!((&delivered["number"], &delivered["left"]), (&json!(1), &json!(0)));
    server.put("/v1/queues/q", json!({"url": stub.url("/no")})).await.is(200);
    server.post("/v1/queues/q/bundles/k/push", json!({"task": 1})).await.is(200);
    ear.hears("bundle.pushed").await;
    ear.hears("bundle.due").await;
    let failed = ear.hears("bundle.failed").await;
    assert!(failed["error"].as_str().unwrap().contains("500"), "{failed}");
}

#[tokio::test]
async fn notices_are_told_of() {
    let stub =
        Stub::start(|seen| Reply::text(200, if seen.path == "/yes" { "success" } else { "no" }))
            .await;
    let server = delivery::server().await;
    let mut ear = Ear::open(&server, "?type=notice.*").await;
    let send = async |id: &str, path: &str, intervals| {
        let message = json!({"id": id, "url": stub.url(path), "notice_interval": intervals});
        server.post("/v1/notices", message).await.is(202);
    };
    send("good", "/yes", json!([600])).await;
    let sent = ear.hears("notice.sent").await;
    assert_eq!(
        (&sent["id"], &sent["notice_count"], &sent["status"]),
        (&json!("good"), &json!(1), &json!(200))
    );
    assert_eq!(ear.hears("notice.succeeded").await["success_id"], 1);
    send("bad", "/no", json!([])).await;
    ear.hears("notice.sent").await;
    assert_eq!(ear.hears("notice.exhausted").await["id"], "bad");
    send("gone", "/no", json!([600])).await;
    ear.hears("notice.sent").await;
    server.delete("/v1/notices/gone").await.is(204);
    assert_eq!(ear.hears("notice.cancelled").await["id"], "gone");
}

#[tokio::test]
async fn plans_are_told_of() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({"max_attempts": 1})).await.is(201);
    let mut ear = Ear::open(&server, "?type=plan.*").await;
    let plan = json!({"plan_id": "p", "station": "q", "description": "nightly", "caller": "me",
        "request_id": "r1", "message": {"do": 1}, "plan_type": "minute", "plan_value": 5,
        "plan_repet": 2, "no_keep": true});
    server.post("/v1/plans", plan).await.is(201);
    let created = ear.hears("plan.created").await;
    assert_eq!((&created["topic"], &created["subtopic"]), (&json!("nightly"), &json!("p")));
    assert_eq!((&created["caller"], &created["request_id"]), (&json!("me"), &json!("r1")));
    assert_eq!((&created["id"], &created["queue"]), (&json!("p"), &json!("q")));
    server.post("/v1/plans/p/pause", json!({})).await.is(200);
    ear.hears("plan.paused").await;
    server.post("/v1/plans/p/resume", json!({})).await.is(200);
    ear.hears("plan.resumed").await;
    server.advance(300).await;
    let fired = ear.hears("plan.fired").await;
    assert_eq!((&fired["run"], &fired["task"]), (&json!(1), &json!("p@1")));
    assert_eq!(fired["plan_time"], "2026-11-15T06:05:00.000Z");
    server.advance(60).await;
    assert_eq!(ear.hears("plan.no_worker").await["run"], 1);
    let task = server.take(json!({"worker": "w"})).await;
    server.verb("p@1", "commit", json!({"token": task["token"], "result": 7})).await.is(200);
    let succeeded = ear.hears("plan.succeeded").await;
    assert_eq!((&succeeded["content"], &succeeded["result"]), (&json!({"do": 1}), &json!(7)));
    assert_eq!((&succeeded["worker"], &succeeded["run"]), (&json!("w"), &json!(1)));
    assert_eq!((&succeeded["error"], &succeeded["topic"]), (&json!(null), &json!("nightly")));
    assert_eq!(succeeded["plan_time"], "2026-11-15T06:05:00.000Z");
    server.advance(300).await;
    ear.hears("plan.fired").await;
    let task = server.take(json!({"worker": "w"})).await;
    server.verb("p@2", "fail", json!({"token": task["token"], "error": "no"})).await.is(200);
    let error = ear.hears("plan.error").await;
    assert_eq!((&error["error"], &error["content"]), (&json!("no"), &json!({"do": 1})));
    assert_eq!((&error["result"], &error["run"]), (&json!(null), &json!(2)));
    server.post("/v1/plans/p/resume", json!({})).await.is(200);
    ear.hears("plan.resumed").await;
    server.post("/v1/plans/p/skip", json!({"n": 1})).await.is(200);
    assert_eq!(ear.hears("plan.skipped").await["skipped"], 1);
    ear.hears("plan.finished").await;
    server.delete("/v1/plans/p").await.is(204);
    assert_eq!(ear.hears("plan.deleted").await["id"], "p");
}

#[tokio::test]
async fn a_run_that_is_cancelled_and_one_into_a_bundle_are_told() {
    let server = TestServer::start().await;
    let mut ear = Ear::open(&server, "?queue=q").await;
    let plan = json!({"plan_id": "p", "station": "q", "plan_type": "none"});
    server.post("/v1/plans", plan).await.is(201);
    ear.hears("queue.changed").await;
    ear.hears("plan.created").await;
    ear.hears("plan.fired").await;
    assert_eq!(ear.hears("task.pushed").await["id"], "p@1");
    server.verb("p@1", "cancel", json!({})).await.is(200);
    ear.hears("plan.skipped").await;
    ear.hears("plan.finished").await;
    ear.hears("task.cancelled").await;
    let plan = json!({"plan_id": "b", "station": "q", "plan_type": "none", "bundle_key": "k",
        "message": 5});
    server.post("/v1/plans", plan).await.is(201);
    ear.hears("plan.created").await;
    ear.hears("plan.fired").await;
    assert_eq!(ear.hears("plan.succeeded").await["content"], 5);
    ear.hears("plan.finished").await;
    assert_eq!(ear.hears("bundle.pushed").await["key"], "k");
}
