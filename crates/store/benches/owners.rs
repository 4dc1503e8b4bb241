//! What bundles and plans cost in the embedded store, called in process.
//!
//! A push into a bundle must not know how much is in it, so the cost per payload is told early and
//! late. Run it with `cargo xtask bench owners`; `-- quick` takes fewer.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

#[allow(dead_code, reason = "other benchmarks use the rest of it")]
mod cycle;

use std::sync::Arc;
use std::time::Instant;

use punctual_core::bundle::{BundleKey, BundlePush};
use punctual_core::plan::Order;
use punctual_core::{Owner, OwnerKey, Plan, PlanId, QueueName, RawJson, Span};
use punctual_store::local::LocalStore;
use punctual_store::{OwnerChange, Revision, Store};

use self::cycle::{PAYLOAD_BYTES, make_queue, open, queue};

/// Callers that push at once, each into bundles of its own.
const CALLERS: usize = 64;

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let (payloads, keys) = if is_quick { (100_000, 1_000) } else { (1_000_000, 10_000) };
    let plans = if is_quick { 10_000 } else { 100_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let dir =
        tempfile::tempdir_in(std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into())).unwrap();
    let path = dir.path().join("a");

    println!("owners in the embedded store, {PAYLOAD_BYTES}-byte payloads, {CALLERS} callers");
    let store = open(Some(&path));
    let tenth = payloads / 10;
    let early = runtime.block_on(push(&store, 0..tenth, keys));
    line(&format!("bundle pushes, the first {tenth} over {keys} keys"), early);
    // By now the caches are full, so that what is added from here on is the payloads' own.
    let before = resident_bytes();
    runtime.block_on(push(&store, tenth..payloads - tenth, keys));
    let late = runtime.block_on(push(&store, payloads - tenth..payloads, keys));
    line(&format!("bundle pushes, the last {tenth} of {payloads}"), late);
    memory("resident per payload", before, payloads - tenth);

    let large = runtime.block_on(fill_one(&store, payloads));
    line(&format!("payloads into one bundle, up to {payloads}"), large);
    let one = runtime.block_on(push_one(&store));
    line("single pushes into that bundle", one);
    let start = Instant::now();
    runtime.block_on(drop_one(&store));
    println!("{:<52} {:>10.2} ms", "dropping that bundle", millis(start));

    let before = resident_bytes();
    let made = runtime.block_on(plan(&store, plans));
    line(&format!("plans made, with an alarm each, up to {plans}"), made);
    memory("resident per plan", before, plans);
    let start = Instant::now();
    let rung = runtime.block_on(store.alarms(1_000)).unwrap().len();
    println!("{:<52} {:>10.2} ms", format!("reading {rung} alarms"), millis(start));

    drop(store);
    let start = Instant::now();
    drop(open(Some(&path)));
    let what = format!("start and stop with {payloads} payloads, {plans} plans");
    println!("{what:<52} {:>10.2} ms", millis(start));
}

fn line(what: &str, per_second: f64) {
    println!("{what:<52} {per_second:>10.0} /s   {:>8.1} µs each", 1e6 / per_second);
}

fn memory(what: &str, before: f64, n: usize) {
    println!("{what:<52} {:>10.0} bytes", (resident_bytes() - before) / n as f64);
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn payload() -> RawJson {
    RawJson::of(&"x".repeat(PAYLOAD_BYTES - 2))
}

/// Pushes payloads into the bundle of a key: read, decide, step.
async fn push_into(store: &LocalStore, queue: &QueueName, key: &str, append: Vec<RawJson>) {
    let owner_key = OwnerKey::bundle(queue, &BundleKey::parse(key).unwrap());
    let before = store.owners(std::slice::from_ref(&owner_key)).await.unwrap().remove(0);
    let expected = before.as_ref().map(|stored| stored.revision);
    let bundle = before.map(|stored| match stored.owner {
        Owner::Bundle(bundle) => bundle,
        _ => unreachable!(),
    });
    let record = store.queue(queue).await.unwrap().unwrap();
    let push = BundlePush { payload: payload(), ..BundlePush::default() };
    let key = BundleKey::parse(key).unwrap();
    let pushed = push.apply(&record, &key, bundle, None, store.now()).unwrap();
    let after = Some(Owner::Bundle(pushed.bundle));
    change(store, owner_key, expected, after, append).await;
}

async fn change(
    store: &LocalStore,
    key: OwnerKey,
    expected: Option<Revision>,
    after: Option<Owner>,
    append: Vec<RawJson>,
) {
    let change = OwnerChange { key, expected, after, drop_first: 0, append };
    assert!(store.write_one(change.into()).await.unwrap().is_done());
}

/// Single pushes per second, spread over keys.
async fn push(store: &Arc<LocalStore>, range: std::ops::Range<usize>, keys: usize) -> f64 {
    make_queue(&**store, "bench").await;
    let start = Instant::now();
    let n = range.len();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (store, range) = (Arc::clone(store), range.clone());
            tokio::spawn(async move {
                let queue = queue("bench");
                for n in range.filter(|n| n % keys % CALLERS == caller) {
                    let key = format!("customer-{:06}", n % keys);
                    push_into(&store, &queue, &key, vec![payload()]).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    n as f64 / start.elapsed().as_secs_f64()
}

/// Payloads per second into one bundle, many at a time.
async fn fill_one(store: &LocalStore, n: usize) -> f64 {
    let start = Instant::now();
    for _ in (0..n).step_by(1_000) {
        push_into(store, &queue("bench"), "one", vec![payload(); 1_000]).await;
    }
    n as f64 / start.elapsed().as_secs_f64()
}

async fn push_one(store: &LocalStore) -> f64 {
    const PUSHES: usize = 1_000;
    let start = Instant::now();
    for _ in 0..PUSHES {
        push_into(store, &queue("bench"), "one", vec![payload()]).await;
    }
    PUSHES as f64 / start.elapsed().as_secs_f64()
}

async fn drop_one(store: &LocalStore) {
    let key = OwnerKey::bundle(&queue("bench"), &BundleKey::parse("one").unwrap());
    let before = store.owners(std::slice::from_ref(&key)).await.unwrap().remove(0).unwrap();
    change(store, key, Some(before.revision), None, Vec::new()).await;
}

/// Plans per second, made in steps of many; each tenth is due at once.
async fn plan(store: &LocalStore, n: usize) -> f64 {
    const BATCH: usize = 100;
    let rule = r#"{"plan_type":"day","plan_value":1,"plan_repet":-1}"#;
    let rule: punctual_core::calendar::Rule = serde_json::from_str(rule).unwrap();
    let now = store.now();
    let start = Instant::now();
    for from in (0..n).step_by(BATCH) {
        let step = |n: usize| {
            let next_at =
                if n.is_multiple_of(10) { now } else { now + Span::from_secs(3_600 + n as i64) };
            let id = PlanId::parse(&format!("plan-{n:012}")).unwrap();
            let order = Order { message: payload(), ..Order::default() };
            let mut plan = Plan::new(id, queue("bench"), order, rule.clone(), now);
            plan.next_at = Some(next_at);
            let owner = Owner::Plan(Box::new(plan));
            let change = OwnerChange {
                key: owner.key(),
                expected: None,
                after: Some(owner),
                drop_first: 0,
                append: Vec::new(),
            };
            change.into()
        };
        for written in store.write((from..from + BATCH).map(step).collect()).await {
            written.unwrap();
        }
    }
    n as f64 / start.elapsed().as_secs_f64()
}

fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
    kib * 1024.0
}
