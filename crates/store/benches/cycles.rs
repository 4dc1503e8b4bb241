//! What the embedded store can do, called in process: whole durable cycles of push, take, commit.
//!
//! Every number stands beside a ceiling measured in the same run, because machines are noisy. Run it
//! with `cargo xtask bench`; `-- quick` takes fewer cycles.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual_core::task::{Context, Settlement};
use punctual_core::{
    Event, NewTask, Queue, QueueName, RawJson, Seed, Settings, Spec, TaskId, Timestamp,
};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{Change, Push, PutQueue, Store, Stored, SystemClock, Take, Taken, Taker};

const BATCH: usize = 128;
const PENDING: usize = 1_000_000;
const PAYLOAD_BYTES: usize = 200;

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let cycles = if is_quick { 50_000 } else { 400_000 };
    let pending = if is_quick { PENDING / 10 } else { PENDING };
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let dir =
        tempfile::tempdir_in(std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into())).unwrap();

    println!("embedded store in process, {PAYLOAD_BYTES}-byte payloads, batches of {BATCH}");
    let syncs = raw_syncs(dir.path());
    println!("{:<44} {syncs:>10.0} /s", "ceiling: write 4 KiB + fdatasync");

    let memory = open(None);
    let ceiling = runtime.block_on(run(&memory, cycles, 2));
    row("ceiling: cycles in memory, no journal", ceiling, ceiling);

    let store = open(Some(&dir.path().join("a")));
    let empty = runtime.block_on(run(&store, cycles, 2));
    row("durable cycles, empty", empty, ceiling);
    let one = runtime.block_on(run(&store, cycles / 4, 1));
    row("durable cycles, empty, one caller", one, ceiling);
    let singles = runtime.block_on(run_singles(&store, cycles / 8, 64));
    row("durable cycles, single tasks, 64 callers", singles, ceiling);

    let before = resident_mib();
    let start = Instant::now();
    runtime.block_on(fill(&store, pending));
    let pushed = pending as f64 / start.elapsed().as_secs_f64();
    row("durable pushes alone", pushed, ceiling);
    println!(
        "{:<44} {:>10.0} MiB ({:.0} before)",
        format!("resident with {pending} pending"),
        resident_mib(),
        before
    );
    let full = runtime.block_on(run(&store, cycles, 2));
    row(&format!("durable cycles, {pending} pending"), full, ceiling);
    let singles = runtime.block_on(run_singles(&store, cycles / 8, 64));
    row(&format!("single tasks, 64 callers, {pending} pending"), singles, ceiling);

    drop(store);
    let start = Instant::now();
    let store = open(Some(&dir.path().join("a")));
    println!(
        "{:<44} {:>10.2} s",
        format!("start with {pending} pending"),
        start.elapsed().as_secs_f64()
    );
    println!("{:<44} {:>10.0} MiB", "resident after that start", resident_mib());
    drop(store);
}

fn row(what: &str, per_second: f64, ceiling: f64) {
    println!("{what:<44} {per_second:>10.0} /s   {:>5.2} of the ceiling", per_second / ceiling);
}

fn open(dir: Option<&Path>) -> Arc<LocalStore> {
    let clock = Arc::new(SystemClock::new());
    LocalStore::open(LocalOptions { dir: dir.map(Path::to_owned), clock }).unwrap()
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

async fn make_queue(store: &LocalStore, name: &str) {
    let name = queue(name);
    if store.queue(&name).await.unwrap().is_none() {
        let settings = Settings::initial(&name);
        let queue = Queue { name, settings, paused: false, created_at: store.now() };
        store.put_queue(PutQueue { queue, before: None }).await.unwrap().unwrap();
    }
}

fn specs(
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
    store: &LocalStore,
    queue: &QueueName,
    caller: usize,
    from: usize,
    n: usize,
    seed: u128,
) {
    let tasks = specs(queue, caller, from, n, store.now());
    store.push(Push { queue: queue.clone(), tasks, keyed: None }).await.unwrap();
    let taker = Taker { seed: Seed::new(seed), worker: None, n, hold: None, confirm: false };
    let take = Take { queue: queue.clone(), classes: None, takers: vec![taker] };
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
    let changes: Vec<Change> = per_taker.into_iter().flatten().map(change).collect();
    for outcome in store.commit(changes).await.unwrap() {
        outcome.unwrap();
    }
}

async fn run(store: &Arc<LocalStore>, cycles: usize, callers: usize) -> f64 {
    drive(store, cycles, callers, BATCH).await
}

async fn run_singles(store: &Arc<LocalStore>, cycles: usize, callers: usize) -> f64 {
    drive(store, cycles, callers, 1).await
}

async fn drive(store: &Arc<LocalStore>, cycles: usize, callers: usize, batch: usize) -> f64 {
    make_queue(store, "bench").await;
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
                cycle(&store, &queue, caller, round * batch, batch, seed).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    (rounds * callers * batch) as f64 / start.elapsed().as_secs_f64()
}

/// Pushes a backlog that stays.
async fn fill(store: &Arc<LocalStore>, n: usize) {
    make_queue(store, "bench").await;
    let queue = queue("bench");
    for from in (0..n).step_by(1_000) {
        let tasks = specs(&queue, 9_999, from, 1_000, store.now());
        store.push(Push { queue: queue.clone(), tasks, keyed: None }).await.unwrap();
    }
}

fn raw_syncs(dir: &Path) -> f64 {
    let mut file = std::fs::File::create(dir.join("raw")).unwrap();
    let page = [7u8; 4096];
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed() < Duration::from_secs(1) {
        file.write_all(&page).unwrap();
        file.sync_data().unwrap();
        n += 1;
    }
    f64::from(n) / start.elapsed().as_secs_f64()
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
    kib / 1024.0
}
