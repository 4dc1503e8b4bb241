//! Plans of the real server over the embedded store: how late they fire, and what each costs.
//!
//! First every plan fires once a minute, evenly spread, so that each one's fair share of the time is its
//! own moment. Then all of them are due at one moment, and the fair share of the n-th is n steps of an
//! even ramp. Two workers take and commit the runs. Run it with `cargo xtask bench plans`; `-- quick`
//! stops at 10,000 plans.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports to a terminal")]

#[allow(dead_code, reason = "other benchmarks use the rest of it")]
#[path = "../../store/benches/cycle/mod.rs"]
mod cycle;
#[allow(dead_code, reason = "other benchmarks use the rest of it")]
mod driver;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use self::driver::Server;

const WORKERS: usize = 2;
const MAKERS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(300);

fn main() {
    let is_quick = std::env::args().any(|arg| arg == "quick");
    let sizes: &[usize] = if is_quick { &[10_000] } else { &[10_000, 100_000] };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let place = std::env::var("PUNCTUAL_BENCH_DIR").unwrap_or(".".into());
    let dir = tempfile::tempdir_in(place).unwrap();
    println!("plans of the server, the embedded store on disk; load average {}", load());
    for plans in sizes.iter().copied() {
        println!("{plans} plans");
        runtime.block_on(every_minute(&dir.path().join(format!("spread-{plans}")), plans));
        runtime.block_on(at_one_moment(&dir.path().join(format!("burst-{plans}")), plans));
    }
    println!("load average at the end {}", load());
}

/// Every plan fires once in a minute, each at a moment of its own.
async fn every_minute(store: &Path, plans: usize) {
    let server = Arc::new(Server::start(store));
    let first_ms = now_ms() + making_ms(plans);
    let before = server.resident_mib();
    let rule = move |n: usize| {
        let base_ms = first_ms - 60_000 + (n as i64 * 60_000) / plans as i64;
        json!({"plan_type": "minute", "plan_value": 1, "plan_repet": -1,
            "plan_time": base_ms as f64 / 1e3})
    };
    make(&server, plans, rule).await;
    let bytes = (server.resident_mib() - before) * 1048576.0 / plans as f64;
    assert!(now_ms() < first_ms, "the plans were made too slowly to be measured");
    tokio::time::sleep(Duration::from_millis((first_ms - now_ms()).unsigned_abs())).await;
    let cpu = server.cpu_seconds();
    let runs = work(&server, plans).await;
    let cpu = (server.cpu_seconds() - cpu) * 1e6 / runs.len() as f64;
    percentiles("  once a minute, spread: fired after", runs.iter().map(Run::fired).collect());
    percentiles("  in a worker's hands after", runs.iter().map(Run::taken).collect());
    println!("{:<44} {cpu:>10.1} µs of CPU, take and commit included", "  one run");
    println!("{:<44} {bytes:>10.0} bytes resident", "  one plan");
}

/// All plans are due at one moment.
async fn at_one_moment(store: &Path, plans: usize) {
    let server = Arc::new(Server::start(store));
    let due_ms = now_ms() + making_ms(plans);
    let rule = move |_| json!({"plan_type": "time", "plan_time": due_ms as f64 / 1e3});
    make(&server, plans, rule).await;
    assert!(now_ms() < due_ms, "the plans were made too slowly to be measured");
    let cpu = server.cpu_seconds();
    let runs = work(&server, plans).await;
    let cpu = (server.cpu_seconds() - cpu) * 1e6 / runs.len() as f64;
    let mut fired: Vec<f64> = runs.iter().map(Run::fired).collect();
    fired.sort_by(f64::total_cmp);
    let last = fired[fired.len() - 1];
    let rate = fired.len() as f64 / (last / 1e3);
    println!(
        "{:<44} {last:>10.0} ms   {rate:>8.0} /s",
        "  all at one moment: the last fired after"
    );
    let step = last / fired.len() as f64;
    let off = fired.iter().enumerate().map(|(n, at)| (at - step * n as f64).abs()).collect();
    percentiles("  off from its fair share", off);
    println!("{:<44} {cpu:>10.1} µs of CPU, take and commit included", "  one run");
}

/// A run as its worker saw it.
struct Run {
    due_ms: i64,
    fired_ms: i64,
    taken_ms: i64,
}

impl Run {
    fn read(task: &Value) -> Self {
        let ms = |time: &Value| {
            let time = punctual_client::Timestamp::parse(time.as_str().unwrap());
            time.unwrap().as_millis()
        };
        Self {
            due_ms: ms(&task["plan"]["plan_time"]),
            fired_ms: ms(&task["created_at"]),
            taken_ms: ms(&task["taken_at"]),
        }
    }

    fn fired(&self) -> f64 {
        (self.fired_ms - self.due_ms) as f64
    }

    fn taken(&self) -> f64 {
        (self.taken_ms - self.due_ms) as f64
    }
}

/// Makes plans whose runs go to one station.
async fn make<F>(server: &Arc<Server>, plans: usize, rule: F)
where
    F: Fn(usize) -> Value + Copy + Send + 'static,
{
    let maker = |maker: usize| {
        let server = server.clone();
        tokio::spawn(async move {
            let mut connection = server.connect().await;
            for n in (maker..plans).step_by(MAKERS) {
                let mut plan = rule(n);
                plan["plan_id"] = json!(format!("p{n:06}"));
                plan["station"] = json!("runs");
                connection.send("POST", "/v1/plans", &plan.to_string()).await;
            }
        })
    };
    let start = Instant::now();
    let makers: Vec<_> = (0..MAKERS).map(maker).collect();
    for maker in makers {
        maker.await.unwrap();
    }
    let rate = plans as f64 / start.elapsed().as_secs_f64();
    println!("{:<44} {rate:>10.0} /s", "  made, each in a request of its own");
}

/// Takes and commits until so many runs were taken.
async fn work(server: &Arc<Server>, plans: usize) -> Vec<Run> {
    let taken = Arc::new(std::sync::Mutex::new(Vec::with_capacity(plans)));
    let worker = |_| {
        let (server, taken) = (server.clone(), taken.clone());
        tokio::spawn(async move {
            let mut connection = server.connect().await;
            let start = Instant::now();
            while taken.lock().unwrap().len() < plans {
                assert!(start.elapsed() < PATIENCE, "not all plans fired");
                let take = r#"{"n":1000,"wait":1}"#;
                connection.send("POST", "/v1/queues/runs/take", take).await;
                let answer: Value = serde_json::from_slice(connection.body()).unwrap();
                let tasks = answer["tasks"].as_array().unwrap();
                if tasks.is_empty() {
                    continue;
                }
                let commit = connection.settlements();
                connection.send("POST", "/v1/queues/runs/commit", &commit).await;
                taken.lock().unwrap().extend(tasks.iter().map(Run::read));
            }
        })
    };
    let workers: Vec<_> = (0..WORKERS).map(worker).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let mut taken = taken.lock().unwrap();
    taken.drain(..).collect()
}

/// Time enough to make plans, and a little more.
fn making_ms(plans: usize) -> i64 {
    plans as i64 / 2 + 5_000
}

fn percentiles(what: &str, mut ms: Vec<f64>) {
    ms.sort_by(f64::total_cmp);
    let at = |share: f64| ms[((ms.len() - 1) as f64 * share) as usize];
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    println!("{what:<44} {p50:>10.0} ms   p99 {p99:.0} ms   max {max:.0} ms");
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// How busy the machine is, over the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
