//! What the real server does over loopback HTTP, as a process of its own.
//!
//! Ceilings of the same run: the embedded store called in process, and the server's answer to a
//! request that does nothing. Run it with `cargo xtask bench`; `-- quick` takes fewer cycles.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

#[path = "../../store/benches/cycle/mod.rs"]
mod cycle;
#[allow(dead_code, reason = "other benchmarks use the rest of it")]
mod driver;

use self::driver::{BATCH, Server};

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let cycles = if is_quick { 40_000 } else { 300_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // Thin connections need no second thread, which would be woken all the time.
    let thin = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into());
    let dir = tempfile::tempdir_in(place).unwrap();

    println!("server over loopback HTTP, {}-byte payloads", cycle::PAYLOAD_BYTES);
    let store = cycle::open(Some(&dir.path().join("in-process")));
    let in_process = runtime.block_on(cycle::drive(&store, cycles, 2, BATCH));
    drop(store);
    println!("{:<44} {in_process:>10.0} /s", "ceiling: durable cycles in process, by 100");

    let server = Server::start(&dir.path().join("server"));
    for connections in [1, 4] {
        let (batched, cost) = costing(&server, cycles, |cycles| {
            runtime.block_on(server.batched(cycles, connections))
        });
        row(&format!("cycles by {BATCH}, {connections} connections"), batched, in_process);
        println!("{:<44} {cost:>10.1} µs of the server's CPU per cycle", "");
    }
    let requests_before = thin.block_on(server.requests(cycles / 4, 64));
    let (singles, single_cost) =
        costing(&server, cycles / 8, |cycles| thin.block_on(server.singles(cycles, 64)));
    let (carried, carried_cost) =
        costing(&server, cycles / 8, |cycles| thin.block_on(server.carried(cycles, 64)));
    // Taken before and after, as the machine is not equally fast all the time.
    let requests_after = thin.block_on(server.requests(cycles / 4, 64));
    let requests = f64::midpoint(requests_before, requests_after);
    println!(
        "{:<44} {requests:>10.0} /s   ({requests_before:.0} before, {requests_after:.0} after)",
        "ceiling: empty requests, 64 connections"
    );
    row("cycles of single tasks, 64 connections", singles, in_process);
    println!("{:<44} {single_cost:>10.1} µs of the server's CPU per cycle", "");
    println!("{:<44} {:>10.2} of the rate of empty requests", "", singles * 3.0 / requests);
    row("the same, commits in the next take", carried, in_process);
    println!("{:<44} {carried_cost:>10.1} µs of the server's CPU per cycle", "");
    println!("{:<44} {:>10.2} of the rate of empty requests", "", carried * 2.0 / requests);
    let waits = runtime.block_on(server.wake_ups(&server, if is_quick { 200 } else { 1_000 }));
    println!(
        "{:<44} {:>10.2} ms median, {:.2} ms p99",
        "push to long-poll answer", waits.0, waits.1
    );
    println!("{:<44} {:>10.0} MiB", "resident", server.resident_mib());
    if !is_quick {
        runtime.block_on(server.fill("bench", 1_000_000));
        println!("{:<44} {:>10.0} MiB", "resident with 1000000 pending", server.resident_mib());
        let full = runtime.block_on(server.batched(cycles, 4));
        row("cycles by 100, 4 connections, 1000000 pending", full, in_process);
    }
}

/// A rate of cycles, and the µs of the server's CPU that each took.
fn costing(server: &Server, cycles: usize, drive: impl FnOnce(usize) -> f64) -> (f64, f64) {
    let before = server.cpu_seconds();
    let rate = drive(cycles);
    (rate, (server.cpu_seconds() - before) * 1e6 / cycles as f64)
}

fn row(what: &str, per_second: f64, ceiling: f64) {
    println!(
        "{what:<44} {per_second:>10.0} /s   {:>5.2} of the store in process",
        per_second / ceiling
    );
}
