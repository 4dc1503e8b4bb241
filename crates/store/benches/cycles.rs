//! What the embedded store can do, called in process: whole durable cycles of push, take, commit.
//!
//! Every number stands beside a ceiling measured in the same run, because machines are noisy. Run it
//! with `cargo xtask bench`; `-- quick` takes fewer cycles.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

mod cycle;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual_store::local::LocalStore;
use punctual_store::{Push, Store};

use self::cycle::{PAYLOAD_BYTES, drive, make_queue, open, queue, specs};

const BATCH: usize = 128;
const PENDING: usize = 1_000_000;

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
    let ceiling = runtime.block_on(drive(&memory, cycles, 2, BATCH));
    row("ceiling: cycles in memory, no journal", ceiling, ceiling);

    let store = open(Some(&dir.path().join("a")));
    let empty = runtime.block_on(drive(&store, cycles, 2, BATCH));
    row("durable cycles, empty", empty, ceiling);
    let one = runtime.block_on(drive(&store, cycles / 4, 1, BATCH));
    row("durable cycles, empty, one caller", one, ceiling);
    let singles = runtime.block_on(drive(&store, cycles / 8, 64, 1));
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
    let full = runtime.block_on(drive(&store, cycles, 2, BATCH));
    row(&format!("durable cycles, {pending} pending"), full, ceiling);
    let singles = runtime.block_on(drive(&store, cycles / 8, 64, 1));
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

/// Pushes a backlog that stays.
async fn fill(store: &Arc<LocalStore>, n: usize) {
    make_queue(&**store, "bench").await;
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
