//! What the Redis store can do: whole cycles of push, take, commit, beside the bare scripts, and what a
//! pending task takes in Redis's memory.
//!
//! It starts a redis-server of its own (appendfsync everysec). Run it with
//! `cargo bench -p punctual-store --bench redis`; `-- quick` takes fewer cycles.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

mod bare;
#[allow(dead_code, reason = "some of it is for the embedded store")]
mod cycle;

use std::sync::Arc;
use std::time::Instant;

use punctual_core::TaskId;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Push, Store};
use punctual_testing::redis::Server;

use self::bare::Bare;
use self::cycle::{PAYLOAD_BYTES, drive, make_queue, queue, specs};

const BATCH: usize = 100;

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let cycles = if is_quick { 20_000 } else { 200_000 };
    let pending = if is_quick { 50_000 } else { 1_000_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = Server::start();
    println!("Redis store in process, {PAYLOAD_BYTES}-byte payloads, batches of {BATCH}");
    let open = || runtime.block_on(RedisStore::open(RedisOptions::new(server.url()))).unwrap();
    let store = open();
    runtime.block_on(make_queue(&*store, "bench"));

    let url = server.url();
    let measure = |what: &str, cycles: usize, ceiling: Option<f64>, run: &dyn Fn() -> f64| {
        let before = server.worked();
        let per_second = run();
        let worked = (server.worked() - before).as_secs_f64() * 1e6 / cycles as f64;
        let share = per_second / ceiling.unwrap_or(per_second);
        println!(
            "{what:<46} {per_second:>8.0} /s  {share:>5.2} of its ceiling  {worked:>5.1} µs of Redis each"
        );
        per_second
    };
    let bare = |cycles, callers, batch| runtime.block_on(Bare::drive(&url, cycles, callers, batch));
    let one = |cycles, callers, batch| runtime.block_on(drive(&store, cycles, callers, batch));
    let ceiling =
        measure("ceiling: bare scripts, one connection", cycles, None, &|| bare(cycles, 2, BATCH));
    measure("cycles, one node", cycles, Some(ceiling), &|| one(cycles, 2, BATCH));
    let second = open();
    measure("cycles, two nodes", cycles, Some(ceiling), &|| {
        runtime.block_on(async {
            let half = cycles / 2;
            let (a, b) =
                tokio::join!(drive(&store, half, 1, BATCH), drive(&second, half, 1, BATCH));
            a + b
        })
    });
    let few = cycles / 8;
    let ceiling_of_singles =
        measure("ceiling: bare scripts, single, 64 callers", few, None, &|| bare(few, 64, 1));
    measure("cycles, single tasks, 64 callers", few, Some(ceiling_of_singles), &|| one(few, 64, 1));

    memory(&runtime, &server, &store, pending);
    let what = format!("cycles, {pending} pending");
    measure(&what, cycles, Some(ceiling), &|| one(cycles, 2, BATCH));
}

/// Pushes a backlog under generated ids, and says what each task takes and where.
fn memory(runtime: &tokio::runtime::Runtime, server: &Server, store: &Arc<RedisStore>, n: usize) {
    let used = || {
        let info: String = server.command("INFO memory");
        let line =
            info.lines().find_map(|line| line.strip_prefix("used_memory:").map(str::to_owned));
        line.unwrap().trim().parse::<f64>().unwrap()
    };
    let before = used();
    let start = Instant::now();
    let name = queue("pending");
    runtime.block_on(async {
        make_queue(&**store, "pending").await;
        for from in (0..n).step_by(500) {
            let mut tasks = specs(&name, 0, from, 500, store.now());
            for (i, spec) in tasks.iter_mut().enumerate() {
                // As long as the ids the server makes.
                let id = TaskId::parse(&format!("{:026x}", u128::from((from + i) as u64) << 40))
                    .unwrap();
                Arc::make_mut(spec).id = id;
            }
            store.push(Push { queue: name.clone(), tasks, keyed: None }).await.unwrap();
        }
    });
    let pushed = n as f64 / start.elapsed().as_secs_f64();
    println!("{:<50} {pushed:>10.0} /s", "pushes alone");
    let key = format!("punctual:t:pending:{:026x}", 0);
    let record: f64 = server.command(&format!("MEMORY USAGE {key}"));
    let lane: f64 = server.command("MEMORY USAGE punctual:ready:pending SAMPLES 0");
    let (all, lane) = ((used() - before) / n as f64, lane / n as f64);
    let encoding: String = server.command(&format!("OBJECT ENCODING {key}"));
    println!("{:<50} {all:>10.0} bytes", format!("memory per pending task, {n} of them"));
    println!("{:<50} {record:>10.0} bytes ({encoding})", "  its record");
    println!("{:<50} {lane:>10.0} bytes", "  its place in the ready list");
    println!("{:<50} {:>10.0} bytes", "  the key table", all - record - lane);
}
