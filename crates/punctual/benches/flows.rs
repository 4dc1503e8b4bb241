//! Flows of the real server over the embedded store, against plain tasks in the same run: chains, whose
//! steps come one after the other, and fans of 100 steps between a first and a last. Then tasks that are
//! handed out to registered workers, and events.
//!
//! Of flows two workers take whatever there is and commit it. Run it with `cargo xtask bench flows`; `-- quick`
//! does a tenth.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

#[allow(dead_code, reason = "other benchmarks use the rest of it")]
#[path = "../../store/benches/cycle/mod.rs"]
mod cycle;
#[allow(dead_code, reason = "other benchmarks use the rest of it")]
mod driver;
mod handed;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::driver::Server;

const WORKERS: usize = 2;
const MAKERS: usize = 16;
const CHAIN: usize = 10;
const FAN: usize = 100;
const PATIENCE: Duration = Duration::from_secs(300);

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let tasks = if is_quick { 10_000 } else { 100_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let place = std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into());
    let dir = tempfile::tempdir_in(place).unwrap();
    println!("flows of the server, the embedded store on disk, {tasks} tasks each");
    let plain = runtime.block_on(plain(&dir.path().join("plain"), tasks));
    report("plain tasks, pushed one by one", tasks, 1, plain, plain);
    let chain = steps((0..CHAIN).map(|n| (n, n.checked_sub(1).into_iter().collect())));
    let taken = runtime.block_on(flows(&dir.path().join("chain"), tasks / CHAIN, &chain));
    report("chains of 10 steps", tasks, CHAIN, taken, plain);
    let last = (FAN + 1, (1..=FAN).collect());
    let fan = (0..=FAN).map(|n| (n, if n == 0 { Vec::new() } else { vec![0] })).chain([last]);
    let fan = steps(fan);
    let count = tasks / (FAN + 2);
    let taken = runtime.block_on(flows(&dir.path().join("fan"), count, &fan));
    report("fans of 100 between a first and a last", count * (FAN + 2), FAN + 2, taken, plain);
    runtime.block_on(handed::latency(dir.path(), tasks / 20));
    runtime.block_on(handed::events(dir.path(), tasks / 5));
}

fn steps(steps: impl Iterator<Item = (usize, Vec<usize>)>) -> Value {
    let name = |n: usize| format!("s{n:03}");
    let step = |(n, after): (usize, Vec<usize>)| {
        let after: Vec<String> = after.into_iter().map(name).collect();
        json!({"name": name(n), "queue": "steps", "after": after, "payload": {"n": n}})
    };
    steps.map(step).collect()
}

fn report(what: &str, tasks: usize, each: usize, taken: Duration, plain: Duration) {
    let rate = |taken: Duration, count: usize| count as f64 / taken.as_secs_f64();
    let ratio = taken.as_secs_f64() / plain.as_secs_f64();
    let flows = rate(taken, tasks / each);
    println!(
        "{what:<44} {:>8.0} tasks/s {flows:>8.0} /s   {ratio:>5.2} times as long",
        rate(taken, tasks)
    );
}

async fn plain(store: &Path, tasks: usize) -> Duration {
    let server = Arc::new(Server::start(store));
    let push = |_| ("/v1/queues/steps/tasks", json!({"payload": {"n": 1}}).to_string());
    run(&server, tasks, tasks, push).await
}

async fn flows(store: &Path, flows: usize, steps: &Value) -> Duration {
    let server = Arc::new(Server::start(store));
    let body = Arc::new(json!({"steps": steps}).to_string());
    let tasks = flows * steps.as_array().unwrap().len();
    run(&server, flows, tasks, move |_| ("/v1/flows", String::clone(&body))).await
}

/// Makes something while workers take and commit, until so many tasks are done.
async fn run<F>(server: &Arc<Server>, requests: usize, tasks: usize, request: F) -> Duration
where
    F: Fn(usize) -> (&'static str, String) + Clone + Send + Sync + 'static,
{
    server.connect().await.send("PUT", "/v1/queues/steps", "{}").await;
    let done = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for maker in 0..MAKERS {
        let (server, request) = (server.clone(), request.clone());
        running.spawn(async move {
            let mut connection = server.connect().await;
            for n in (maker..requests).step_by(MAKERS) {
                let (path, body) = request(n);
                connection.send("POST", path, &body).await;
            }
        });
    }
    for _ in 0..WORKERS {
        let (server, done) = (server.clone(), done.clone());
        running.spawn(async move {
            let mut connection = server.connect().await;
            while done.load(Ordering::Relaxed) < tasks {
                assert!(start.elapsed() < PATIENCE, "not all of it was done");
                let take = r#"{"n":100,"wait":0.2}"#;
                connection.send("POST", "/v1/queues/steps/take", take).await;
                let answer: Value = serde_json::from_slice(connection.body()).unwrap();
                let count = answer["tasks"].as_array().unwrap().len();
                if count > 0 {
                    let commit = connection.settlements();
                    connection.send("POST", "/v1/queues/steps/commit", &commit).await;
                    done.fetch_add(count, Ordering::Relaxed);
                }
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    start.elapsed()
}
