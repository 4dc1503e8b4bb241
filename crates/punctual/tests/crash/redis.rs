//! The same with two servers over one Redis that syncs every write: a server is killed, or Redis, or
//! all at once.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use punctual_testing::redis::Server as Redis;

use crate::ledger::{KEPT, Ledger};
use crate::process::{PATIENCE, Server, punctual};
use crate::{Load, a_while, check, complain_of_panics, hand, set_up, settings, start_over, tidy};

/// What is killed in a round.
#[derive(Debug, Clone, Copy)]
enum Victim {
    /// One of the servers; the other goes on.
    Node,
    /// Redis, which is started again at once: whoever waits for an answer gets it.
    Redis,
    /// Redis, which is away until all have noticed.
    RedisForLong,
    /// Everything.
    All,
}

const VICTIMS: [Victim; 4] = [Victim::Node, Victim::Redis, Victim::RedisForLong, Victim::All];

/// How long the load goes on after something was killed that others make up for.
const AFTERWARDS: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_over_redis() {
    let (rounds, mut random) = settings();
    let dir = tempfile::tempdir().unwrap();
    let mut redis = Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let url = redis.url();
    let start = || start_over(Path::new(&url), dir.path());
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let (mut one, mut other) = (start(), start());
    set_up(&one.client()).await;
    for round in 1..=rounds {
        let victim = VICTIMS[round as usize % VICTIMS.len()];
        let before = ledger.lock().unwrap().answers;
        if !matches!(victim, Victim::Node) {
            ledger.lock().unwrap().doubt_takes();
        }
        let load = Load::start(&[&one, &other], &ledger, &mut random);
        tokio::time::sleep(a_while(&mut random)).await;
        match victim {
            Victim::Node => {
                one.kill();
                one = start();
                tokio::time::sleep(AFTERWARDS).await;
                load.stop();
                load.ended().await;
            }
            Victim::Redis => {
                redis.kill();
                redis.run();
                tokio::time::sleep(AFTERWARDS).await;
                load.stop();
                load.ended().await;
            }
            Victim::RedisForLong => {
                redis.kill();
                load.ended().await;
                redis.run();
            }
            Victim::All => {
                redis.kill();
                one.kill();
                other.kill();
                load.ended().await;
                redis.run();
                (one, other) = (start(), start());
            }
        }
        let unanswered = ledger.lock().unwrap().unanswered();
        until_there(&one).await;
        until_there(&other).await;
        check::check(&hand(&one, &ledger, &mut random, false)).await;
        let picture = check::picture(&one.client()).await;
        assert_eq!(picture, check::picture(&other.client()).await, "both read the same");
        examine(&url);
        std::mem::swap(&mut one, &mut other);
        let tasks = tidy(&one.client(), &ledger).await;
        let answers = ledger.lock().unwrap().answers - before;
        println!(
            "round {round}: killed {victim:?}; {answers} answers, {unanswered} without; {tasks} tasks"
        );
    }
    one.stop();
    other.stop();
    complain_of_panics(dir.path());
}

/// Waits until a server has its store again.
async fn until_there(server: &Server) {
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = server.client().queue(KEPT).await {
        assert!(Instant::now() < deadline, "it does not come back: {error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Records and indexes agree.
fn examine(url: &str) {
    let output = punctual().args(["doctor", "--store", url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
