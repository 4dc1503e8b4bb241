//! What the real server does over loopback HTTP with its store in Redis, alone and with a second one.
//!
//! It starts a redis-server of its own (appendfsync everysec). Ceiling of the same run: the bare
//! scripts, called over one connection. Run it with `cargo xtask bench --store redis`; `quick` takes
//! fewer cycles.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

#[path = "../../store/benches/bare/mod.rs"]
mod bare;
#[allow(dead_code, reason = "some of it is for the embedded store")]
#[path = "../../store/benches/cycle/mod.rs"]
mod cycle;
#[allow(dead_code, reason = "some of it is for the embedded store")]
mod driver;

use std::path::Path;

use punctual_testing::redis::Server as Redis;
use tokio::runtime::Runtime;

use self::bare::Bare;
use self::driver::{BATCH, Server};

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let cycles = if is_quick { 40_000 } else { 200_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let redis = Redis::start();
    let url = redis.url();
    println!("server over loopback HTTP, store in Redis, {}-byte payloads", cycle::PAYLOAD_BYTES);
    let (one, other) = (Server::start(Path::new(&url)), Server::start(Path::new(&url)));
    // The queue that the scripts are called for.
    runtime.block_on(one.batched(BATCH, 1));

    let bench = Bench { redis: &redis, servers: [&one, &other], cycles };
    let bare = || runtime.block_on(Bare::drive(&url, cycles, 2, BATCH));
    let ceiling = bench.measure("ceiling: bare scripts by 100, one connection", None, bare);
    for connections in [1, 4] {
        let what = format!("cycles by {BATCH}, {connections} connections, one server");
        let batched = || runtime.block_on(one.batched(cycles, connections));
        bench.measure(&what, Some(ceiling), batched);
    }
    let what = format!("cycles by {BATCH}, 2 connections to each of two servers");
    bench.measure(&what, Some(ceiling), || {
        runtime.block_on(async {
            let half = cycles / 2;
            let (a, b) = tokio::join!(one.batched(half, 2), other.batched(half, 2));
            a + b
        })
    });
    let singles = Bench { cycles: cycles / 10, ..bench };
    let run = || runtime.block_on(one.singles(singles.cycles, 64));
    singles.measure("cycles of single tasks, 64 connections", None, run);
    for (what, pushed_to) in [("the same server", &one), ("another server", &other)] {
        let rounds = if is_quick { 200 } else { 1_000 };
        let (median, p99) = runtime.block_on(one.wake_ups(pushed_to, rounds));
        let what = format!("push to {what} to long-poll answer");
        println!("{what:<52} {median:>8.2} ms median, {p99:.2} ms p99");
    }
    memory(&runtime, &redis, &one, if is_quick { 50_000 } else { 500_000 });
}

/// What is measured over one Redis.
#[derive(Clone, Copy)]
struct Bench<'a> {
    redis: &'a Redis,
    servers: [&'a Server; 2],
    cycles: usize,
}

impl Bench<'_> {
    /// Runs cycles, and says how many there were a second and what each cost.
    fn measure(&self, what: &str, ceiling: Option<f64>, run: impl Fn() -> f64) -> f64 {
        let served = || self.servers.iter().map(|server| server.cpu_seconds()).sum::<f64>();
        let (redis, server) = (self.redis.worked(), served());
        let per_second = run();
        let each = |seconds: f64| seconds * 1e6 / self.cycles as f64;
        let redis = each((self.redis.worked() - redis).as_secs_f64());
        let server = each(served() - server);
        let share = ceiling.map_or(String::new(), |ceiling| {
            format!("{:.2} of the ceiling, ", per_second / ceiling)
        });
        println!(
            "{what:<52} {per_second:>8.0} /s   {share}{redis:.1} µs of Redis and {server:.1} of servers each"
        );
        per_second
    }
}

/// Pushes a backlog over HTTP, under ids that the server makes, and says what each task takes in
/// Redis, and where.
fn memory(runtime: &Runtime, redis: &Redis, server: &Server, n: usize) {
    let used = || {
        let info = redis.info("memory");
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        line.unwrap().trim().parse::<f64>().unwrap()
    };
    let before = used();
    runtime.block_on(server.fill("pending", n));
    let all = (used() - before) / n as f64;
    let id: String = redis.command("LINDEX punctual:ready:pending 0");
    let record: f64 = redis.command(&format!("MEMORY USAGE punctual:t:pending:{id}"));
    let lane: f64 = redis.command("MEMORY USAGE punctual:ready:pending SAMPLES 0");
    let lane = lane / n as f64;
    println!("{:<52} {all:>8.0} bytes", format!("memory of Redis per pending task, {n} of them"));
    println!("{:<52} {record:>8.0} bytes", "  its record");
    println!("{:<52} {lane:>8.0} bytes", "  its place in the ready list");
    println!("{:<52} {:>8.0} bytes", "  the key table", all - record - lane);
}
