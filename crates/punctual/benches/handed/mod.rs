//! Tasks that are handed out: how long from a push until a worker has it, for 100 registered workers and
//! for 100 that wait in a take; and events, heard by 100 listeners.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::driver::Server;

const WORKERS: usize = 100;
const LISTENERS: usize = 100;
const MAKERS: usize = 16;
/// One push every two milliseconds: far from what the server can do, so that nothing waits in line.
const PACE: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(60);

/// When tasks arrived at workers, by the number they were pushed with.
type Arrivals = UnboundedSender<(usize, Instant)>;

/// How long tasks take to their workers.
pub(crate) async fn latency(dir: &Path, tasks: usize) {
    let pulled = measure(&dir.join("pulled"), tasks, "pull").await;
    report("push to the answer of one of 100 takes", &pulled, &pulled);
    let given = measure(&dir.join("given"), tasks, "dispatch").await;
    report("push to the poll of one of 100 workers", &given, &pulled);
}

fn report(what: &str, latencies: &[f64], pulled: &[f64]) {
    let at =
        |latencies: &[f64], share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| at(latencies, share));
    let ratio = p50 / at(pulled, 0.5);
    println!("{what:<44} {p50:>7.2} ms   p99 {p99:.2} ms   max {max:.2} ms   {ratio:.2} of a take");
}

/// The latencies of tasks in milliseconds, sorted.
async fn measure(store: &Path, tasks: usize, mode: &str) -> Vec<f64> {
    let server = Arc::new(Server::start(store));
    let mut connection = server.connect().await;
    let settings = json!({"mode": mode}).to_string();
    connection.send("PUT", "/v1/queues/q", &settings).await;
    let (arrivals, mut arrived) = unbounded_channel();
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let (server, arrivals) = (server.clone(), arrivals.clone());
        let is_given = mode == "dispatch";
        workers.spawn(async move { work(&server, number, is_given, &arrivals).await });
    }
    // All of them wait before the first task comes.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut pushed = Vec::with_capacity(tasks);
    let mut pace = tokio::time::interval(PACE);
    for n in 0..tasks {
        pace.tick().await;
        let body = json!({"id": format!("t{n}"), "payload": n}).to_string();
        pushed.push(Instant::now());
        connection.send("POST", "/v1/queues/q/tasks", &body).await;
    }
    let mut latencies = Vec::with_capacity(tasks);
    while latencies.len() < tasks {
        let next = tokio::time::timeout(PATIENCE, arrived.recv()).await;
        let (n, at) = next.unwrap().unwrap();
        latencies.push((at - pushed[n]).as_secs_f64() * 1e3);
    }
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// Takes or is given tasks, one at a time, and commits each at once.
async fn work(server: &Server, number: usize, is_given: bool, arrivals: &Arrivals) {
    let mut connection = server.connect().await;
    let worker = format!("/v1/workers/w{number}");
    if is_given {
        connection.send("PUT", &worker, r#"{"queues":["q"]}"#).await;
    }
    let poll = format!("{worker}/poll");
    loop {
        let tasks = if is_given {
            connection.send("POST", &poll, r#"{"wait":30}"#).await;
            "assignments"
        } else {
            connection.send("POST", "/v1/queues/q/take", r#"{"wait":30}"#).await;
            "tasks"
        };
        let now = Instant::now();
        let answer: Value = serde_json::from_slice(connection.body()).unwrap();
        for task in answer[tasks].as_array().unwrap() {
            let n = task["payload"].as_u64().unwrap() as usize;
            if arrivals.send((n, now)).is_err() {
                return;
            }
            let body = json!({"token": task["token"]}).to_string();
            let path = format!("/v1/queues/q/tasks/t{n}");
            if is_given {
                connection.send("POST", &format!("{path}/confirm"), &body).await;
            }
            connection.send("POST", &format!("{path}/commit"), &body).await;
        }
    }
}

/// How fast tasks are pushed that nobody hears of, and that 100 listeners do.
pub(crate) async fn events(dir: &Path, tasks: usize) {
    let (alone, _) = push(&dir.join("unheard"), tasks, 0).await;
    println!("{:<44} {:>8.0} /s", "pushes that nobody hears of", tasks as f64 / alone);
    let (pushed, heard) = push(&dir.join("heard"), tasks, LISTENERS).await;
    let rate = (tasks * LISTENERS) as f64 / heard;
    let (per_second, ratio) = (tasks as f64 / pushed, alone / pushed);
    println!(
        "{:<44} {per_second:>8.0} /s   {ratio:.2} of that",
        "pushes that 100 listeners hear of"
    );
    println!("{:<44} {rate:>8.0} /s", "events, all listeners together");
}

/// Pushes tasks one by one; the seconds until all were pushed, and until all listeners have heard all.
async fn push(store: &Path, tasks: usize, listeners: usize) -> (f64, f64) {
    let server = Arc::new(Server::start(store));
    let mut hearing = JoinSet::new();
    for _ in 0..listeners {
        let connection = server.connect().await;
        hearing.spawn(connection.hear(
            "/v1/events?type=task.pushed",
            "\nevent: task.pushed",
            tasks,
        ));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let start = Instant::now();
    let mut pushing = JoinSet::new();
    for maker in 0..MAKERS {
        let server = server.clone();
        pushing.spawn(async move {
            let mut connection = server.connect().await;
            for _ in (maker..tasks).step_by(MAKERS) {
                connection.send("POST", "/v1/queues/q/tasks", "{}").await;
            }
        });
    }
    while let Some(ended) = pushing.join_next().await {
        ended.unwrap();
    }
    let pushed = start.elapsed().as_secs_f64();
    while let Some(ended) = tokio::time::timeout(PATIENCE, hearing.join_next()).await.unwrap() {
        ended.unwrap();
    }
    (pushed, start.elapsed().as_secs_f64())
}
