//! The server delivers bundles of queues of mode `http`.

use serde_json::Value;

use super::super::delivery::{Reply, Stub, delivering};
use super::super::{TestServer, json};
use super::path;

fn bodies(seen: &[super::super::delivery::Seen]) -> Vec<Value> {
    seen.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
}

/// A server with the queue `q`, whose bundles go to a target.
async fn to(stub: &Stub, settings: Value) -> TestServer {
    let mut all = json!({"url": stub.url("/hook"), "keep": {"done": "0s"}});
    all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    delivering(all).await
}

async fn gone(server: &TestServer) {
    server.eventually("/v1/queues/q", |queue| queue["counts"]["bundles"] == 0).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
}

#[tokio::test]
async fn all_payloads_go_in_one_request_when_due() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({})).await;
    server
        .fill("k", &[json!({"a": 1}), json!(null), json!("x")], json!({"ontime": server.at(60)}))
        .await;
    let read = server.get(&path("k")).await.is(200);
    assert_eq!((&read["state"], &read["size"]), (&json!("waiting"), &json!(3)));
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["waiting"], 1);
    server.advance(59).await;
    server.fill("k", &[json!(4)], json!({"overwrite": "always", "ontime": server.at(10)})).await;
    server.advance(9).await;
    assert_eq!(stub.count(), 0);
    server.advance(1).await;
    let seen = stub.seen(1).await;
    assert_eq!(bodies(&seen), [json!([{"a": 1}, null, "x", 4])]);
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("POST", "/hook"));
    assert_eq!(seen[0].headers["content-type"], "application/json");
    gone(&server).await;
    // The next push begins anew.
    server.fill("k", &[json!(5)], json!({})).await;
    assert_eq!(bodies(&stub.seen(2).await)[1], json!([5]));
}

#[tokio::test]
async fn a_push_due_sooner_goes_sooner() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({})).await;
    server.fill("k", &[json!(1)], json!({"ontime": server.at(1_000)})).await;
    server.fill("k", &[json!(2)], json!({"overwrite": "always"})).await;
    assert_eq!(bodies(&stub.seen(1).await), [json!([1, 2])]);
}

#[tokio::test]
async fn what_is_pushed_during_a_delivery_goes_after_it() {
    let stub = Stub::start(|_| Reply::Gate).await;
    let server = to(&stub, json!({})).await;
    server.fill("k", &[json!(1)], json!({})).await;
    stub.seen(1).await;
    assert_eq!(server.get(&path("k")).await.is(200)["state"], "delivering");
    let later = json!({"task": 2, "ontime": server.at(20)});
    let pushed = server.bundle("k", "push", later).await.is(200);
    assert_eq!(pushed, json!({"size": 2, "ontime": server.at(20)}));
    let later = json!({"task": 3, "ontime": server.at(10), "overwrite": "once"});
    let pushed = server.bundle("k", "push", later).await.is(200);
    assert_eq!(pushed["ontime"], server.at(10), "each sets the time");
    stub.open();
    let read = server.eventually(&path("k"), |read| read["size"] == 2).await;
    assert_eq!((&read["tasks"], &read["ontime"]), (&json!([2, 3]), &json!(server.at(10))));
    server.advance(9).await;
    assert_eq!(stub.count(), 1);
    server.advance(1).await;
    assert_eq!(bodies(&stub.seen(2).await), [json!([1]), json!([2, 3])]);
    gone(&server).await;
}

#[tokio::test]
async fn a_delivery_that_fails_is_repeated_with_what_came_meanwhile() {
    let stub = Stub::start(|seen| {
        let fails = seen.body == b"[1]";
        Reply::status(if fails { 500 } else { 204 })
    })
    .await;
    let server = to(&stub, json!({})).await;
    server.fill("k", &[json!(1)], json!({})).await;
    let read = server
        .eventually(&path("k"), |read| read["attempt"] == 1 && read["state"] == "waiting")
        .await;
    assert_eq!(read["ontime"], server.at(10), "the queue's retry time");
    server.advance(10).await;
    stub.seen(2).await;
    let read = server.eventually(&path("k"), |read| read["ontime"] == server.at(20)).await;
    assert_eq!(read["attempt"], 2);
    let ids: Vec<_> = stub.seen(2).await.iter().map(|s| s.headers["webhook-id"].clone()).collect();
    assert_eq!(ids[0], ids[1], "the same payloads are the same message");
    // A push counts over the retry time, and it is another message.
    let pushed = server.bundle("k", "push", json!({"task": 2, "ontime": server.at(5)})).await;
    assert_eq!(pushed.is(200)["ontime"], server.at(5));
    server.advance(5).await;
    let seen = stub.seen(3).await;
    assert_eq!(bodies(&seen)[2], json!([1, 2]));
    assert_ne!(seen[2].headers["webhook-id"], ids[0]);
    gone(&server).await;
}

#[tokio::test]
async fn a_bundle_that_failed_is_kept_retried_and_revived() {
    let stub =
        Stub::start(|seen| Reply::status(if seen.body.contains(&b'9') { 200 } else { 500 })).await;
    let server = to(&stub, json!({"max_attempts": 2})).await;
    server.fill("k", &[json!(1)], json!({})).await;
    let is_waiting = |read: &Value| read["attempt"] == 1 && read["state"] == "waiting";
    server.eventually(&path("k"), is_waiting).await;
    server.bundle("k", "retry", json!({})).await.is(200);
    let read = server.eventually(&path("k"), |read| read["state"] == "failed").await;
    assert_eq!((&read["size"], &read["attempt"]), (&json!(1), &json!(2)));
    assert!(read["error"].as_str().unwrap().contains("500"), "{read}");
    let sent = &read["history"][1];
    assert_eq!((&sent["status"], &sent["http"]["sent_bytes"]), (&json!(500), &json!(3)));
    assert!(sent["http"]["first_byte"].is_number() && sent["http"]["url"].is_string(), "{read}");
    let list = server.get("/v1/queues/q/bundles?state=failed").await.is(200);
    assert_eq!(list["items"][0]["key"], "k");
    // Retried on request: one more, and it fails again.
    server.bundle("k", "retry", json!({})).await.is(200);
    stub.seen(3).await;
    server.eventually(&path("k"), |read| read["state"] == "failed").await;
    // The next push revives it whole, with attempts from 0.
    server.fill("k", &[json!(2)], json!({})).await;
    stub.seen(4).await;
    let read = server.eventually(&path("k"), is_waiting).await;
    assert_eq!(read["size"], 2);
    server.fill("k", &[json!(9)], json!({})).await;
    assert_eq!(bodies(&stub.seen(5).await)[4], json!([1, 2, 9]));
    gone(&server).await;
}

#[tokio::test]
async fn a_push_during_the_last_attempt_revives_the_bundle() {
    let stub = Stub::start(|seen| match seen.body.as_slice() {
        b"[1]" => Reply::Answer(500, Vec::new(), Vec::new()),
        _ => Reply::status(200),
    })
    .await;
    let slow = Stub::start(|_| Reply::Gate).await;
    let server = to(&slow, json!({"max_attempts": 1, "timeout": 1})).await;
    server.fill("k", &[json!(1)], json!({})).await;
    slow.seen(1).await;
    server.fill("k", &[json!(2)], json!({"ontime": server.at(30)})).await;
    server.put("/v1/queues/q", json!({"url": stub.url("/")})).await.is(200);
    let later = server.at(30);
    let read = server.eventually(&path("k"), |read| read["ontime"] == later).await;
    assert_eq!((&read["state"], &read["size"]), (&json!("waiting"), &json!(2)));
    server.advance(30).await;
    assert_eq!(bodies(&stub.seen(1).await), [json!([1, 2])]);
    gone(&server).await;
}

#[tokio::test]
async fn the_task_of_a_bundle_is_a_task_like_others() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({})).await;
    server.fill("k", &[json!(1)], json!({"ontime": server.at(60)})).await;
    let task = server.get(&path("k")).await.is(200)["task"].as_str().unwrap().to_owned();
    // Its due time is the bundle's.
    let moved = json!({"due": server.at(90)});
    server.patch(&format!("/v1/queues/q/tasks/{task}"), moved).await.is(200);
    assert_eq!(server.get(&path("k")).await.is(200)["ontime"], server.at(90));
    server.verb(&task, "reset", json!({})).await.problem(409, "wrong_state");
    // Without it the bundle is kept as failed, and pushed or retried it gets another.
    server.verb(&task, "cancel", json!({})).await.is(200);
    let read = server.get(&path("k")).await.is(200);
    assert_eq!((&read["state"], &read["error"]), (&json!("failed"), &json!("cancelled")));
    server.bundle("k", "retry", json!({})).await.is(200);
    assert_eq!(bodies(&stub.seen(1).await), [json!([1])]);
    gone(&server).await;
    server.fill("k", &[json!(1)], json!({"ontime": server.at(60)})).await;
    let task = server.get(&path("k")).await.is(200)["task"].as_str().unwrap().to_owned();
    server.delete(&format!("/v1/queues/q/tasks/{task}")).await.is(204);
    assert_eq!(server.get(&path("k")).await.is(200)["error"], "removed");
    // Deleting the bundle deletes its task.
    server.fill("k", &[json!(1)], json!({"ontime": server.at(60)})).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1);
    server.delete(&path("k")).await.is(204);
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
}

#[tokio::test]
async fn one_task_delivers_a_bundle_also_after_it_failed() {
    let stub = Stub::start(|_| Reply::status(500)).await;
    let server = to(&stub, json!({"max_attempts": 1})).await;
    server.fill("k", &[json!(1)], json!({})).await;
    let read = server.eventually(&path("k"), |read| read["state"] == "failed").await;
    let old = read["task"].as_str().unwrap().to_owned();
    server.fill("k", &[json!(2)], json!({"ontime": server.at(60)})).await;
    server.verb(&old, "retry", json!({})).await.problem(404, "not_found");
    let counts = server.get("/v1/queues/q").await.is(200)["counts"].clone();
    assert_eq!((&counts["total"], &counts["failed"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn a_paused_queue_delivers_nothing_and_bundles_do_not_count_in_max() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({"max": 1})).await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    for key in ["a", "b", "c"] {
        server.fill(key, &[json!(1)], json!({})).await;
    }
    server.push(json!({"id": "t", "payload": {}})).await;
    server.post("/v1/queues/q/tasks", json!({})).await.problem(429, "queue_full");
    assert_eq!(stub.count(), 0);
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    stub.seen(4).await;
    gone(&server).await;
}

#[tokio::test]
async fn a_large_bundle_goes_in_pieces() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({})).await;
    server.post("/v1/queues/q/pause", json!({})).await.is(200);
    let large = json!("x".repeat((1 << 20) - 2));
    let payloads: Vec<_> = (0..18).map(|_| large.clone()).collect();
    server.fill("k", &payloads, json!({})).await;
    server.post("/v1/queues/q/resume", json!({})).await.is(200);
    let seen = bodies(&stub.seen(2).await);
    let sizes: Vec<_> = seen.iter().map(|body| body.as_array().unwrap().len()).collect();
    assert_eq!(sizes, [16, 2]);
    gone(&server).await;
}

#[tokio::test]
async fn workers_have_no_say_where_the_server_delivers() {
    let stub = Stub::ok().await;
    let server = to(&stub, json!({})).await;
    server.fill("k", &[json!(1)], json!({"ontime": server.at(60)})).await;
    let schedule = server.post("/v1/queues/q/bundles/schedule", json!({})).await;
    schedule.problem(409, "wrong_state");
    for verb in ["get", "complete", "release"] {
        server.bundle("k", verb, json!({"random": "r"})).await.problem(409, "wrong_state");
    }
    let bare = server.put("/v1/queues/bare", json!({"mode": "http"})).await;
    bare.is(201);
    let push = server.post("/v1/queues/bare/bundles/k/push", json!({"task": 1})).await;
    assert!(push.problem(422, "invalid").contains("url"));
}

#[tokio::test]
async fn endless_pushes_do_not_put_off_what_has_waited_long_enough() {
    let stub = Stub::start(|_| Reply::Gate).await;
    let server = to(&stub, json!({})).await;
    let push = json!({"overwrite": "always", "max_wait": 30});
    let mut pushed = 0;
    // For half a minute every push puts it off by ten seconds, then it goes all the same.
    for _ in 0..10 {
        let mut body = push.clone();
        body["ontime"] = server.at(10).into();
        pushed += 1;
        server.fill("k", &[json!(pushed)], body).await;
        if stub.count() > 0 {
            break;
        }
        server.advance(5).await;
    }
    let first = bodies(&stub.seen(1).await)[0].as_array().unwrap().len();
    assert!((6..=7).contains(&first), "those of the first thirty seconds: {first}");
    stub.open();
    drop(server);
}

#[tokio::test]
async fn a_target_that_may_not_be_reached_is_refused() {
    let server = TestServer::start().await;
    let settings = json!({"mode": "http", "url": "http://127.0.0.1:9/"});
    server.put("/v1/queues/q", settings).await.problem(422, "invalid");
    drop(server);
    let server = super::super::delivery::reaching(punctual_core::http::Reach::public()).await;
    let service = "aHR0cDovLzEyNy4wLjAuMTo5Lw";
    let detail = server.post(&format!("/v3/queue/k/POST/{service}"), json!({})).await;
    assert!(detail.problem(422, "invalid").starts_with("service"));
}
