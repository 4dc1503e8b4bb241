//! Whole durable cycles of push, take and commit on a store in process.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use punctual_core::task::{Context, Settlement};
use punctual_core::{
    Event, NewTask, Queue, QueueName, RawJson, Seed, Settings, Spec, TaskId, Timestamp,
};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{
    Change, Classes, Push, PutQueue, Store, Stored, SystemClock, Take, Taken, Taker,
};

/// Size of every payload.
pub(crate) const PAYLOAD_BYTES: usize = 200;

/// Opens an embedded store in a directory, or in memory.
pub(crate) fn open(dir: Option<&Path>) -> Arc<LocalStore> {
    let clock = Arc::new(SystemClock::new());
    LocalStore::open(LocalOptions { dir: dir.map(Path::to_owned), clock }).unwrap()
}

/// The name of a queue.
pub(crate) fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

/// Makes a queue with initial settings, unless it is there.
pub(crate) async fn make_queue(store: &impl Store, name: &str) {
    let name = queue(name);
    if store.queue(&name).await.unwrap().is_none() {
        let settings = Settings::initial(&name);
        let queue = Queue { name, settings, paused: false, created_at: store.now() };
        store.put_queue(PutQueue { queue, before: None }).await.unwrap().unwrap();
    }
}

/// Tasks to push.
pub(crate) fn specs(
    queue: &QueueName,
    caller: usize,
    from: usize,
    n: usize,
    now: Timestamp,
) -> Vec<Arc<Spec>> {
    let payload = RawJson::of(&"x".repeat(PAYLOAD_BYTES - 2));
    let spec = |i| {
        let id = TaskId::parse(&format!("{caller:04}-{:017}", from + i)).unwrap();
        let new = NewTask { payload: Some(payload.clone()), ..NewTask::default() };
        Arc::new(Spec::new(queue.clone(), new, id, now))
    };
    (0..n).map(spec).collect()
}

/// One cycle of `n` tasks: pushed, taken, committed, each durable.
async fn cycle(
    store: &impl Store,
    queue: &QueueName,
    caller: usize,
    from: usize,
    n: usize,
    seed: u128,
) {
    let tasks = specs(queue, caller, from, n, store.now());
    store.push(Push { queue: queue.clone(), tasks, keyed: None }).await.unwrap();
    let seed = Seed::new(seed);
    let taker = Taker { seed, worker: None, n, hold: None, confirm: false, capacity: None };
    let take = Take { queue: queue.clone(), classes: Classes::all(), takers: vec![taker] };
    let Taken::Tasks { per_taker, .. } = store.take(take).await.unwrap() else { unreachable!() };
    let settings = store.queue(queue).await.unwrap().unwrap();
    let id = TaskId::parse("callback").unwrap();
    let context =
        Context { now: store.now(), queue: &settings.settings, roll: 0.5, callback_id: &id };
    let change = |stored: Stored| {
        let token = stored.task.status.hold.unwrap().token;
        let settlement = Settlement::Commit { result: None };
        let decision = stored.task.decide(Event::Settle { token, settlement }, &context).unwrap();
        Change { expected: stored.revision, decision }
    };
    let changes = per_taker.into_iter().flatten().map(change).map(Into::into).collect();
    for outcome in store.write(changes).await {
        outcome.unwrap().task().unwrap();
    }
}

/// Whole durable cycles per second, in batches, by some callers at once.
pub(crate) async fn drive(
    store: &Arc<impl Store>,
    cycles: usize,
    callers: usize,
    batch: usize,
) -> f64 {
    make_queue(&**store, "bench").await;
    let rounds = cycles / callers / batch;
    let start = Instant::now();
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let store = Arc::clone(store);
        tasks.push(tokio::spawn(async move {
            let queue = queue("bench");
            for round in 0..rounds {
                let unique = start.elapsed().as_nanos() << 64 | (caller as u128) << 32;
                let seed = unique + (round as u128) * 1_000 + 1;
                cycle(&*store, &queue, caller, round * batch, batch, seed).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    (rounds * callers * batch) as f64 / start.elapsed().as_secs_f64()
}
