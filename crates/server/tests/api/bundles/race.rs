//! Every payload is in exactly one successful delivery, in push order, however pushes and deliveries
//! race.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::task::JoinSet;

use super::super::delivery::{Reply, Stub, delivering};
use super::super::{TestServer, json};
use super::path;

const PUSHERS: u64 = 8;
const EACH: u64 = 125;

/// Pushes a thousand payloads `[pusher, number]` into two bundles, as fast as they are taken.
async fn push(server: &Arc<TestServer>) {
    let mut pushers = JoinSet::new();
    for pusher in 0..PUSHERS {
        let server = server.clone();
        pushers.spawn(async move {
            let key = format!("k{}", pusher % 2);
            for number in 0..EACH {
                server.fill(&key, &[json!([pusher, number])], json!({})).await;
            }
        });
    }
    pushers.join_all().await;
}

/// Checks that each payload is there once, and those of one pusher in their order.
fn check(payloads: impl Iterator<Item = Value>) {
    let mut next = [0; PUSHERS as usize];
    for payload in payloads {
        let (pusher, number) = (payload[0].as_u64().unwrap(), payload[1].as_u64().unwrap());
        assert_eq!(number, next[pusher as usize], "of pusher {pusher}");
        next[pusher as usize] += 1;
    }
    assert_eq!(next, [EACH; PUSHERS as usize]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pushes_race_deliveries() {
    // Every third delivery fails.
    let (calls, accepted) = (AtomicUsize::new(0), Arc::new(Mutex::new(Vec::new())));
    let accepting = accepted.clone();
    let stub = Stub::start(move |seen| {
        let is_accepted = calls.fetch_add(1, Ordering::SeqCst) % 3 != 1;
        if is_accepted {
            accepting.lock().unwrap().push(seen.body.clone());
        }
        Reply::Answer(if is_accepted { 200 } else { 503 }, Vec::new(), Vec::new())
    })
    .await;
    let settings = json!({"url": stub.url("/"), "max_attempts": -1,
        "retry": {"intervals": [0]}, "keep": {"done": "0s"}});
    let server = Arc::new(delivering(settings).await);
    push(&server).await;
    server.eventually("/v1/queues/q", |queue| queue["counts"]["bundles"] == 0).await;
    let accepted = accepted.lock().unwrap();
    let payloads = |body: &Vec<u8>| serde_json::from_slice::<Vec<Value>>(body).unwrap();
    check(accepted.iter().flat_map(payloads));
    assert!(stub.under_way_max() <= 2, "one delivery per bundle at a time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pushes_race_workers() {
    let server = Arc::new(TestServer::start().await);
    server.put("/v1/queues/q", json!({})).await.is(201);
    let pushing = tokio::spawn({
        let server = server.clone();
        async move { push(&server).await }
    });
    let mut taken = Vec::new();
    while taken.len() < (PUSHERS * EACH) as usize {
        let due = server.post("/v1/queues/q/bundles/schedule", json!({"wait": 20})).await.is(200);
        let key = due["key"].as_str().unwrap();
        let got = server.bundle(key, "get", json!({"random": "w", "timeout": 60})).await.is(200);
        let tasks = got["tasks"].as_array().unwrap();
        // It is not always done with all of them.
        let number = tasks.len().div_ceil(2);
        taken.extend_from_slice(&tasks[..number]);
        let done = json!({"random": "w", "number": number});
        server.bundle(key, "complete", done).await.is(200);
    }
    pushing.await.unwrap();
    check(taken.into_iter());
    for key in ["k0", "k1"] {
        server.get(&path(key)).await.problem(404, "not_found");
    }
}
