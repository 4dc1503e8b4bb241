//! A store that cannot do its work, and two servers over one store.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use punctual_core::{
    Announcement, OwnerKey, PlanId, Queue, QueueName, RawJson, TaskId, Timestamp, WorkerName,
};
use punctual_server::{ServeError, ServerConfig};
use punctual_store::port::PutRefusal;
use punctual_store::{
    AuditEntry, AuditPage, Effect, EventId, Hearing, Listing, ManualClock, OwnerListing, OwnerPage,
    Page, Push, Pushed, PutQueue, QueueStats, Receipt, Store, StoreError, Stored, StoredOwner,
    Take, Taken, Transaction, Wake, Written,
};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{TestServer, json};

/// A store behind a switch.
struct Switched {
    store: Arc<dyn Store>,
    off: AtomicBool,
    /// Whether every queue lies in a place of its own, as in a Redis Cluster.
    is_spread: AtomicBool,
    dead: Notify,
    meanwhile: Mutex<Option<Meanwhile>>,
}

/// What others do right after a method was called.
type Meanwhile = (&'static str, Pin<Box<dyn Future<Output = ()> + Send>>);

impl Switched {
    fn check(&self, effect: Effect) -> Result<(), StoreError> {
        if self.off.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable { reason: "disk full".to_owned(), effect });
        }
        Ok(())
    }

    /// Lets others do something between the next call of a method and its answer.
    fn meanwhile(&self, method: &'static str, others: impl Future<Output = ()> + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some((method, Box::pin(others)));
    }

    async fn called(&self, method: &str) {
        let others = {
            let mut meanwhile = self.meanwhile.lock().unwrap();
            meanwhile.take_if(|(name, _)| *name == method)
        };
        if let Some((_, others)) = others {
            others.await;
        }
    }
}

/// Methods that fail while the switch is off and are the store's own else.
macro_rules! switched {
    ($($effect:ident fn $name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Switched {
            fn now(&self) -> Timestamp {
                self.store.now()
            }
            fn durability(&self) -> String {
                self.store.durability()
            }
            fn kind(&self) -> &'static str {
                self.store.kind()
            }
            fn wakeups(&self) -> UnboundedReceiver<Wake> {
                self.store.wakeups()
            }
            fn hearing(&self) -> Hearing {
                self.store.hearing()
            }
            fn shares_place(&self, a: &QueueName, b: &QueueName) -> bool {
                a == b || !self.is_spread.load(Ordering::SeqCst)
            }
            async fn failed(&self) -> String {
                self.dead.notified().await;
                "the disk is gone".to_owned()
            }
            async fn write(&self, transactions: Vec<Transaction>) -> Vec<Result<Written, StoreError>> {
                if let Err(failure) = self.check(Effect::None) {
                    return transactions.iter().map(|_| Err(failure.clone())).collect();
                }
                let is_task = |it: &Transaction| matches!(it, Transaction::Task(_));
                let of_tasks = !transactions.is_empty() && transactions.iter().all(is_task);
                let answers = self.store.write(transactions).await;
                self.called(if of_tasks { "write tasks" } else { "write" }).await;
                answers
            }
            $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                self.check(Effect::$effect)?;
                let answer = self.store.$name($($arg),*).await;
                self.called(stringify!($name)).await;
                answer
            })*
        }
    };
}

switched! {
    None fn health() -> ();
    None fn tick() -> ();
    Unknown fn announce(announcements: &[Announcement]) -> EventId;
    None fn put_queue(put: PutQueue) -> Result<(), PutRefusal>;
    None fn queue(name: &QueueName) -> Option<Arc<Queue>>;
    None fn queues() -> Vec<Arc<Queue>>;
    None fn stats(names: &[QueueName]) -> Vec<Option<QueueStats>>;
    None fn reset_queue(name: &QueueName) -> bool;
    None fn delete_queue(name: &QueueName) -> bool;
    Unknown fn push(push: Push) -> Pushed;
    None fn take(take: Take) -> Taken;
    None fn loads(workers: &[WorkerName]) -> Vec<usize>;
    None fn holdings(worker: &WorkerName) -> Vec<(QueueName, TaskId)>;
    None fn remove(queue: &QueueName, ids: &[TaskId]) -> Vec<bool>;
    None fn read(queue: &QueueName, ids: &[TaskId]) -> Vec<Option<Stored>>;
    None fn list(listing: Listing) -> Page;
    None fn settled(receipts: &[Receipt]) -> Vec<bool>;
    None fn expired(limit: usize) -> Vec<Stored>;
    None fn owners(keys: &[OwnerKey]) -> Vec<Option<StoredOwner>>;
    None fn items(key: &OwnerKey, from: usize, limit: usize) -> Vec<RawJson>;
    None fn list_owners(listing: OwnerListing) -> OwnerPage;
    None fn audit(entries: &[AuditEntry]) -> ();
    None fn audited(cursor: Option<String>, limit: usize) -> AuditPage;
    None fn timed_plans(cursor: Option<String>, limit: usize) -> OwnerPage;
    None fn station(plan: &PlanId) -> Option<QueueName>;
    None fn first_due(queue: &QueueName) -> Option<StoredOwner>;
    None fn alarms(limit: usize) -> Vec<StoredOwner>;
    None fn sweep(limit: usize) -> bool;
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap())
}

async fn switched() -> (Arc<Switched>, TestServer) {
    let clock = clock();
    let store = Arc::new(Switched {
        store: crate::store(&clock),
        off: AtomicBool::new(false),
        is_spread: AtomicBool::new(false),
        dead: Notify::new(),
        meanwhile: Mutex::new(None),
    });
    let server = TestServer::over(store.clone(), clock, ServerConfig::default()).await;
    (store, server)
}

#[tokio::test]
async fn a_store_that_cannot_write_is_unavailable_until_it_can() {
    let (store, server) = switched().await;
    server.push(json!({"id": "a"})).await;
    let taken = server.take(json!({})).await;
    store.off.store(true, Ordering::SeqCst);
    for (method, path) in [
        ("POST", "/v1/queues/q/tasks"),
        ("GET", "/v1/queues/q/tasks/a"),
        ("GET", "/v1/queues"),
        ("PUT", "/v1/queues/q"),
        ("DELETE", "/v1/queues/q"),
        ("POST", "/v1/queues/q/take"),
        ("GET", "/readyz"),
    ] {
        let answer = server.raw(method, path, &[], "").await;
        assert_eq!(answer.json["effect"], "none", "{method} {path}");
        assert_eq!(answer.problem(503, "unavailable"), "disk full");
    }
    server.get("/livez").await.is(200);
    store.off.store(false, Ordering::SeqCst);
    server.get("/readyz").await.is(200);
    server.verb("a", "commit", json!({"token": taken["token"]})).await.is(200);
}

#[tokio::test]
async fn holds_end_after_the_store_has_come_back() {
    let (store, server) = switched().await;
    server.push(json!({"id": "a"})).await;
    server.take(json!({})).await;
    store.off.store(true, Ordering::SeqCst);
    server.clock.advance(punctual_core::Span::from_secs(31));
    store.store.tick().await.unwrap();
    server.get("/v1/queues/q/tasks/a").await.problem(503, "unavailable");
    store.off.store(false, Ordering::SeqCst);
    server.until("a", "ready").await;
}

/// Takes a whole round of tasks of a queue.
async fn hold(server: &TestServer, queue: &str) {
    let count = 500;
    let tasks: Vec<_> = (0..count).map(|n| json!({"id": format!("t{n}")})).collect();
    server.post(&format!("/v1/queues/{queue}/tasks"), json!({"tasks": tasks})).await.is(200);
    let take = json!({"n": count});
    let taken = server.post(&format!("/v1/queues/{queue}/take"), take).await.is(200);
    assert_eq!(taken["tasks"].as_array().unwrap().len(), count);
}

#[tokio::test]
async fn a_round_of_ended_holds_that_comes_to_nothing_is_not_the_last() {
    // Whichever queue comes first, its whole round is gone by the time of its commit.
    for (gone, left) in [("a", "b"), ("b", "a")] {
        let (store, server) = switched().await;
        hold(&server, "a").await;
        hold(&server, "b").await;
        let server = Arc::new(server);
        let other = server.clone();
        store.meanwhile("expired", async move {
            other.delete(&format!("/v1/queues/{gone}")).await.is(204);
        });
        server.advance(31).await;
        let path = format!("/v1/queues/{left}");
        server.eventually(&path, |queue| queue["counts"]["ready"] == 500).await;
    }
}

#[tokio::test]
async fn a_bulk_clean_leaves_alone_what_no_longer_matches() {
    let (store, server) = switched().await;
    for id in ["a", "b", "c"] {
        server.push(json!({"id": id, "max_attempts": 1})).await;
        let taken = server.take(json!({})).await;
        server.verb(id, "fail", json!({"token": taken["token"]})).await.is(200);
    }
    let server = Arc::new(server);
    let other = server.clone();
    store.meanwhile("list", async move {
        other.push(json!({"id": "b", "payload": "new"})).await;
        other.verb("c", "retry", json!({})).await.is(200);
    });
    let body = json!({"verb": "clean", "filter": {"state": "failed"}});
    let cleaned = server.post("/v1/queues/q/tasks/bulk", body).await.is(200);
    assert_eq!(cleaned, json!({"matched": 3, "changed": 1, "next": null}));
    server.get("/v1/queues/q/tasks/a").await.problem(404, "not_found");
    assert_eq!(server.task("b").await["payload"], "new");
    assert_eq!(server.task("c").await["state"], "ready");
}

/// A store that goes away right after it has done something.
#[tokio::test]
async fn what_took_effect_is_not_denied() {
    let (store, server) = switched().await;
    let off_after = |method| {
        let switch = store.clone();
        store.meanwhile(method, async move { switch.off.store(true, Ordering::SeqCst) });
    };
    let on = || store.off.store(false, Ordering::SeqCst);
    server.put("/v1/queues/q", json!({"max_attempts": 7})).await.is(201);
    off_after("push");
    let pushed = server.post("/v1/queues/q/tasks", json!({"id": "a"})).await.is(201);
    assert_eq!(pushed["max_attempts"], 7);
    on();
    off_after("put_queue");
    let answer = server.put("/v1/queues/q", json!({"max_attempts": 8})).await;
    assert_eq!(answer.json["effect"], "unknown");
    answer.problem(503, "unavailable");
    on();
    assert_eq!(server.get("/v1/queues/q").await.is(200)["max_attempts"], 8);
    off_after("reset_queue");
    let answer = server.post("/v1/queues/q/reset", json!({})).await;
    assert_eq!(answer.json["effect"], "unknown");
    on();
    let answer = server.get("/v1/queues/q").await.is(200);
    assert_eq!(answer["counts"]["total"], 0);
}

#[tokio::test]
async fn a_server_ends_with_its_store() {
    let (store, mut server) = switched().await;
    server.get("/readyz").await.is(200);
    store.dead.notify_one();
    let ended = server.stopped().await;
    assert!(matches!(ended, Err(ServeError::Store(reason)) if reason == "the disk is gone"));
}

/// Two servers over one store, neither of which hears what the other does.
async fn pair() -> (TestServer, TestServer) {
    let clock = clock();
    let store = crate::store(&clock);
    let config = ServerConfig::default();
    let first = TestServer::over(store.clone(), clock.clone(), config.clone()).await;
    first.get("/readyz").await.is(200);
    let second = TestServer::over(store, clock, config).await;
    (first, second)
}

#[tokio::test]
async fn what_a_server_remembers_of_a_task_never_overrules_the_store() {
    let (first, second) = pair().await;
    // Cancelled elsewhere: the acknowledgement is not refused as out of place.
    first.push(json!({"id": "a"})).await;
    let taken = first.take(json!({})).await;
    second.verb("a", "cancel", json!({})).await.is(200);
    let heard = first.verb("a", "extend", json!({"token": taken["token"]})).await.is(200);
    assert_eq!(heard["cancel"], true);
    first.verb("a", "cancelled", json!({"token": taken["token"]})).await.is(200);
    // Freed and taken elsewhere: the old token is stale, whatever is remembered.
    first.push(json!({"id": "b"})).await;
    let old = first.take(json!({})).await;
    second.verb("b", "retry", json!({"force": true})).await.is(200);
    let new = second.take(json!({})).await;
    for verb in ["confirm", "extend", "commit", "fail", "release"] {
        let body = json!({"token": old["token"]});
        first.verb("b", verb, body).await.problem(409, "stale_token");
    }
    // Settled here although it was handed out there, and repeated there.
    first.verb("b", "commit", json!({"token": new["token"]})).await.is(200);
    second.verb("b", "commit", json!({"token": new["token"]})).await.is(200);
    second.verb("b", "fail", json!({"token": new["token"]})).await.problem(404, "not_found");
}

#[tokio::test]
async fn batches_mix_what_is_remembered_and_what_is_not() {
    let (first, second) = pair().await;
    let tasks: Vec<_> = (0..6).map(|n| json!({"id": format!("t{n}")})).collect();
    first.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    let here = first.post("/v1/queues/q/take", json!({"n": 3})).await.is(200);
    let there = second.post("/v1/queues/q/take", json!({"n": 3})).await.is(200);
    first.verb("t0", "pause", json!({})).await.is(200);
    second.verb("t1", "pause", json!({})).await.is(200);
    let named = |task: &serde_json::Value| json!({"id": task["id"], "token": task["token"]});
    let all: Vec<_> = [here, there]
        .iter()
        .flat_map(|taken| taken["tasks"].as_array().unwrap().iter().map(named).collect::<Vec<_>>())
        .collect();
    let extended = first.post("/v1/queues/q/extend", json!({"tasks": all})).await.is(200);
    let pauses: Vec<bool> = extended["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["pause"].as_bool().unwrap())
        .collect();
    assert_eq!(pauses, [true, true, false, false, false, false]);
    let failed = first.post("/v1/queues/q/fail", json!({"tasks": all})).await.is(200);
    assert!(failed["results"].as_array().unwrap().iter().all(|result| result["ok"] == true));
    assert_eq!(second.task("t1").await["state"], "paused");
    assert_eq!(second.task("t5").await["state"], "waiting");
}

/// FAULTS row 27a: a server is gone between the end of a step's task and what that makes of its flow, which
/// lies elsewhere.
#[tokio::test]
async fn a_flow_hears_of_an_end_that_nobody_told_it() {
    let (store, first) = switched().await;
    store.is_spread.store(true, Ordering::SeqCst);
    first.get("/readyz").await.is(200);
    let second =
        TestServer::over(store.clone(), first.clock.clone(), ServerConfig::default()).await;
    let steps = json!([{"name": "a", "queue": "q"}, {"name": "b", "queue": "q", "after": ["a"]}]);
    first.post("/v1/flows", json!({"id": "f", "steps": steps})).await.is(201);
    let a = first.take(json!({"hold": "10m"})).await;
    second.advance(31).await;
    let read = second.get("/v1/flows/f").await.is(200);
    assert_eq!(read["steps"][0]["state"], "running", "what lives is left alone: {read}");

    let (committed, is_committed) = tokio::sync::oneshot::channel();
    store.meanwhile("write tasks", async {
        let _ = committed.send(());
        std::future::pending().await
    });
    let commit = json!({"token": a["token"], "result": 7});
    tokio::select! {
        answer = first.verb("f~a", "commit", commit) => panic!("{answer:?}"),
        done = is_committed => done.unwrap(),
    }
    // The first comparison found nothing to do, so the next is after twice the time.
    second.advance(61).await;
    second.eventually("/v1/flows/f", |flow| flow["steps"][0]["result"] == 7).await;
    let b = second.take(json!({})).await;
    assert_eq!(b["payload"]["inputs"], json!({"a": 7}));
    second.verb("f~b", "commit", json!({"token": b["token"]})).await.is(200);
    second.eventually("/v1/flows/f", |flow| flow["state"] == "done").await;
}
