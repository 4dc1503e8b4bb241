//! kill -9 at random moments under load: nothing that was acknowledged may be lost.
//!
//! A real server runs on a directory. Many clients at once push tasks (one by one, in batches, under
//! an Idempotency-Key, with ids that stay reserved, with callbacks), take them, confirm, extend,
//! commit, fail, release, cancel, pause, resume, retry, reset, edit and remove them, and change the
//! settings of queues. A ledger keeps what was acknowledged, and what was sent and not answered.
//! Then the server is killed in the middle of it, sometimes again while it starts, and started on
//! the same directory. Now everything must be as the ledger says:
//!
//! - every task is in exactly one state, one that it was acknowledged in, or that a request without
//!   an answer may have led to; with the attempts that were counted;
//! - nothing finished or removed comes back, and there is nothing that nobody pushed;
//! - holds go on: a token from before the crash commits; a repeated commit succeeds; a token that
//!   has ended does not; no token is ever seen twice;
//! - callbacks are there exactly if their task has ended; a keyed push happened once;
//! - counts are what lists show, and opening the store again shows the same.
//!
//! `redis` does the same with two servers over one Redis, `power` with a disk whose power fails.
//!
//! `PUNCTUAL_CRASH_ROUNDS` says how often; `PUNCTUAL_CRASH_POWER` cuts the power; `PUNCTUAL_SEED` repeats the choices of a run, though not
//! the timing of the machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod ledger;
mod load;
mod power;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
mod random;
mod redis;
mod rules;
mod work;

use std::fs::File;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use punctual_client::{Client, QueueChanges, RawJson, RetryPolicy, Span};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::ledger::{AFTER, ATTEMPTS_MAX, BRIEF, GONE, KEPT, Ledger, SETTINGS, WORKED};
use crate::load::Hand;
use crate::power::Disk;
use crate::process::{Server, serve};
use crate::random::Random;

const HANDS: usize = 10;
/// Tasks after which the queues are emptied, so that a long run does not list ever more of them.
const TASKS_MAX: usize = 8_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost() {
    let (rounds, mut random) = settings();
    let dir = tempfile::tempdir().unwrap();
    let disk = std::env::var_os("PUNCTUAL_CRASH_POWER").map(|_| Disk::new());
    let store = disk.as_ref().map_or(dir.path().to_owned(), Disk::path).join("store");
    let start = || start_over(&store, dir.path());
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let mut server = start();
    set_up(&server.client()).await;
    for round in 1..=rounds {
        let before = ledger.lock().unwrap().answers;
        let load = Load::start(&[&server], &ledger, &mut random);
        let killed_after = a_while(&mut random);
        tokio::time::sleep(killed_after).await;
        match &disk {
            Some(disk) => disk.fail_under(server),
            None => server.kill(),
        }
        load.ended().await;
        let unanswered = ledger.lock().unwrap().unanswered();
        if random.percent(30) {
            kill_while_starting(&store, Duration::from_millis(random.below(60) as u64));
        }
        let begun = Instant::now();
        server = start();
        let restart = begun.elapsed();
        let hand = hand(&server, &ledger, &mut random, false);
        check::check(&hand).await;
        if random.percent(30) {
            let picture = check::picture(&server.client()).await;
            server.kill();
            server = start();
            assert_eq!(picture, check::picture(&server.client()).await, "opened again");
        }
        let tasks = tidy(&server.client(), &ledger).await;
        let answers = ledger.lock().unwrap().answers - before;
        println!(
            "round {round}: killed after {killed_after:?} and {answers} answers, {unanswered} \
             without; {tasks} tasks; restart took {restart:?}"
        );
    }
    server.stop();
    complain_of_panics(dir.path());
}

/// How many rounds, and by which chance.
#[expect(clippy::print_stdout, reason = "a run that failed can be repeated")]
fn settings() -> (u32, Random) {
    let rounds: u32 = setting("PUNCTUAL_CRASH_ROUNDS").unwrap_or(6);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let seed: u64 = setting("PUNCTUAL_SEED").unwrap_or(now.as_nanos() as u64);
    println!("{rounds} rounds, PUNCTUAL_SEED={seed}");
    (rounds, Random::new(seed))
}

fn setting<T: FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().ok().unwrap_or_else(|| panic!("{name}: {value:?} is no number")))
}

/// A server over a store that logs into a directory.
fn start_over(store: &Path, dir: &Path) -> Server {
    let log = File::options().append(true).create(true).open(dir.join("log")).unwrap();
    let mut command = serve(store);
    command.stderr(log);
    Server::of(command)
}

fn kill_while_starting(store: &Path, after: Duration) {
    let mut command = serve(store);
    let mut process = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    process.kill().unwrap();
    process.wait().unwrap();
}

async fn set_up(client: &Client) {
    let long = Span::from_secs(3_600);
    let all = RawJson::of(&json!({"done": "1h", "failed": "1h", "cancelled": "1h"}));
    let changes = || QueueChanges::new().max_attempts(ATTEMPTS_MAX as i32);
    let later = RetryPolicy::Intervals(vec![long]);
    let worked = changes().hold(long).confirm_within(long).retry(&later);
    client.put_queue(KEPT, &worked.clone().set("keep", all.clone())).await.unwrap();
    client.put_queue(GONE, &worked).await.unwrap();
    let short = Span::from_millis(300);
    let brief = changes().hold(short).confirm_within(short).set("keep", all);
    client.put_queue(BRIEF, &brief).await.unwrap();
    let setting = u64::from(Ledger::default().setting.0);
    client.put_queue(SETTINGS, &QueueChanges::new().max(setting)).await.unwrap();
}

fn hand(
    server: &Server,
    ledger: &Arc<Mutex<Ledger>>,
    random: &mut Random,
    is_keeper: bool,
) -> Hand {
    let (client, ledger) = (server.client(), Arc::clone(ledger));
    Hand { client, ledger, random: random.fork(), is_keeper }
}

/// How long there is load before something is killed.
fn a_while(random: &mut Random) -> Duration {
    Duration::from_millis(50 + random.below(1_200) as u64)
}

/// Hands at work.
struct Load {
    hands: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Load {
    /// Puts hands to work on some servers.
    fn start(servers: &[&Server], ledger: &Arc<Mutex<Ledger>>, random: &mut Random) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let start = |index: usize| {
            let hand = hand(servers[index % servers.len()], ledger, random, index == 0);
            tokio::spawn(hand.work(Arc::clone(&stop)))
        };
        Self { hands: (0..HANDS).map(start).collect(), stop }
    }

    /// Has all hands finish what they do.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits until no hand is at work any more.
    async fn ended(self) {
        for hand in self.hands {
            hand.await.unwrap();
        }
    }
}

/// Empties the queues now and then.
async fn tidy(client: &Client, ledger: &Mutex<Ledger>) -> usize {
    let tasks = ledger.lock().unwrap().records.len();
    if tasks > TASKS_MAX {
        for queue in WORKED.into_iter().chain([AFTER]) {
            client.reset_queue(queue).await.unwrap();
        }
        let mut ledger = ledger.lock().unwrap();
        ledger.records.retain(|_, record| !WORKED.contains(&record.queue));
        ledger.stale.clear();
    }
    tasks
}

fn complain_of_panics(dir: &Path) {
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
