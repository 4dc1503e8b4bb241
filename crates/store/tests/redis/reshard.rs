//! Slots move between the servers of a Cluster under load, as an operator moves them: with
//! `redis-cli --cluster reshard`. A ledger knows what was acknowledged.
//!
//! `PUNCTUAL_RESHARD_ROUNDS` says how often they move there and back; without it once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use punctual_core::{NewTask, RawJson, Span};
use punctual_store::{
    Classes, Effect, Push, Pushed, Store, StoreError, Stored, Take, Taken, Taker,
};
use punctual_testing::redis::Cluster;

use crate::nodes::{Node, id, name, random_seed, task};

/// The lowest slots, which are those of the first server; two shards lie in them.
const SLOTS: u16 = 512;
/// Tasks that lie in each queue before anything moves, so that moving takes a while.
const TASKS: usize = 3_000;

/// The work of one client, and what it was told.
#[derive(Default)]
struct Ledger {
    /// Pushes that were acknowledged.
    pushed: BTreeSet<String>,
    /// Pushes that were refused as having changed nothing.
    refused: BTreeSet<String>,
    /// Commits that were acknowledged.
    committed: Vec<String>,
    /// Requests of unknown effect: a server did not answer in time, which a busy machine causes as well.
    doubts: usize,
}

/// Whether an error says that nothing was changed.
fn is_none(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable { effect, .. } => *effect == Effect::None,
        other => panic!("{other:?}"),
    }
}

impl Ledger {
    async fn push(&mut self, node: &Node, queue: &str, texts: Vec<String>) {
        let spec = |text: &String| {
            let payload = Some(RawJson::of(&"x".repeat(500)));
            node.spec(queue, NewTask { id: Some(id(text)), payload, ..NewTask::default() })
        };
        let tasks = texts.iter().map(spec).collect();
        match node.0.push(Push { queue: name(queue), tasks, keyed: None }).await {
            Ok(Pushed::Answers(answers)) => {
                assert!(answers.iter().all(Result::is_ok), "{answers:?}");
                self.pushed.extend(texts);
            }
            Ok(other) => panic!("{texts:?}: {other:?}"),
            Err(error) if is_none(&error) => self.refused.extend(texts),
            Err(_) => self.doubts += 1,
        }
    }

    /// Takes some tasks and commits them. Says whether there were any.
    async fn work(&mut self, node: &Node, queue: &str) -> bool {
        let (seed, hold) = (random_seed(), Some(Span::from_secs(600)));
        let taker = Taker { seed, worker: None, n: 5, hold, confirm: false, capacity: None };
        let take = Take { queue: name(queue), classes: Classes::all(), takers: vec![taker] };
        let taken = match node.0.take(take).await {
            Ok(Taken::Tasks { mut per_taker, .. }) => per_taker.remove(0),
            Ok(Taken::NoQueue) => panic!("the queue {queue} is gone"),
            Err(error) => {
                self.doubts += usize::from(!is_none(&error));
                return true;
            }
        };
        for stored in &taken {
            self.commit(node, stored).await;
        }
        !taken.is_empty()
    }

    /// Commits a task, however often it takes.
    async fn commit(&mut self, node: &Node, stored: &Stored) {
        let (since, mut is_doubtful) = (Instant::now(), false);
        let outcome = loop {
            match node.try_commit(stored).await {
                Ok(outcome) => break outcome,
                Err(error) => is_doubtful |= !is_none(&error),
            }
            assert!(since.elapsed() < punctual_testing::PATIENCE, "commits are carried out again");
        };
        assert!(outcome.is_ok() || is_doubtful, "a task was changed by somebody else");
        self.committed.push(stored.task.spec.id.to_string());
    }
}

/// A client pushes, takes and commits until all slots have moved.
async fn client(
    node: Arc<Node>,
    queue: String,
    number: usize,
    is_moving: Arc<AtomicBool>,
) -> Ledger {
    let mut ledger = Ledger::default();
    for n in 0_u32.. {
        ledger.push(&node, &queue, vec![format!("{number}-{n}")]).await;
        if n % 4 == 0 {
            ledger.work(&node, &queue).await;
        }
        if !is_moving.load(Ordering::Relaxed) {
            break;
        }
    }
    ledger
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_while_slots_move_there_and_back() {
    let rounds = std::env::var("PUNCTUAL_RESHARD_ROUNDS").map_or(1, |text| text.parse().unwrap());
    let cluster = Arc::new(Cluster::start());
    let nodes =
        [Arc::new(Node::open(cluster.url()).await), Arc::new(Node::open(cluster.url()).await)];
    let (mut queues, mut warm_up) = (Vec::new(), Ledger::default());
    for n in 0.. {
        let queue = format!("queue-{n}");
        nodes[0].put(&queue, |_| ()).await;
        // Every server has every script then.
        warm_up.push(&nodes[0], &queue, vec![format!("first-{queue}")]).await;
        assert!(warm_up.work(&nodes[0], &queue).await);
        if cluster.slot(&queue) < SLOTS {
            queues.push(queue);
        }
        if queues.len() == 3 {
            break;
        }
    }
    let mut ledgers = vec![warm_up];
    for queue in &queues {
        let mut ledger = Ledger::default();
        let texts = (0..TASKS).map(|n| format!("before-{queue}-{n}")).collect();
        ledger.push(&nodes[0], queue, texts).await;
        ledgers.push(ledger);
    }
    let is_moving = Arc::new(AtomicBool::new(true));
    let clients: Vec<_> = (0..6)
        .map(|number| {
            let (node, queue) = (nodes[number % 2].clone(), queues[number % 3].clone());
            tokio::spawn(client(node, queue, number, is_moving.clone()))
        })
        .collect();
    let mover = cluster.clone();
    let moved = tokio::task::spawn_blocking(move || {
        for _ in 0..rounds {
            mover.reshard(SLOTS, 0, 1);
            mover.reshard(SLOTS, 1, 0);
        }
    });
    let moved = moved.await;
    is_moving.store(false, Ordering::Relaxed);
    for client in clients {
        ledgers.push(client.await.unwrap());
    }
    moved.expect("redis-cli moves all slots");
    let mut rest = Ledger::default();
    for queue in &queues {
        while rest.work(&nodes[1], queue).await {}
    }
    ledgers.push(rest);

    let all = |of: fn(&Ledger) -> Vec<String>| ledgers.iter().flat_map(of).collect::<Vec<_>>();
    let pushed = all(|ledger| ledger.pushed.iter().cloned().collect());
    let refused = all(|ledger| ledger.refused.iter().cloned().collect());
    let committed = all(|ledger| ledger.committed.clone());
    let doubts: usize = ledgers.iter().map(|ledger| ledger.doubts).sum();
    let unique: BTreeSet<&String> = committed.iter().collect();
    assert_eq!(unique.len(), committed.len(), "tasks were committed twice");
    assert!(!refused.iter().any(|text| unique.contains(text)), "a refused push took effect");
    let mut missing: Vec<_> = pushed.iter().filter(|text| !unique.contains(text)).collect();
    // A take whose answer was lost holds tasks that nobody has got.
    for queue in &queues {
        let ids: Vec<_> = missing.iter().map(|text| id(text)).collect();
        let read = nodes[1].0.read(&name(queue), &ids).await.unwrap();
        let mut is_there = read.iter().map(Option::is_some);
        missing.retain(|_| is_there.next() != Some(true));
    }
    let (lost, count) = (missing.len(), pushed.len());
    assert_eq!(lost, 0, "of {count} acknowledged pushes, with {doubts} doubts: {missing:?}");
    assert_eq!(nodes[0].0.check(false).await.unwrap(), Vec::<String>::new());
    assert!(pushed.len() > queues.len() * TASKS, "clients were served meanwhile");
}

/// Fails unless a push and a read are refused after 5 seconds, as having changed nothing.
async fn is_refused(node: &Node, queue: &str) {
    let since = Instant::now();
    let tasks = vec![node.spec(queue, task("refused"))];
    let (queue, ids) = (name(queue), [id("first")]);
    let push = Push { queue: queue.clone(), tasks, keyed: None };
    let (pushed, read) = tokio::join!(node.0.push(push), node.0.read(&queue, &ids));
    for error in [pushed.unwrap_err(), read.unwrap_err()] {
        assert!(is_none(&error), "{error:?}");
        assert!(error.to_string().contains("is being moved"), "{error}");
    }
    assert!(since.elapsed() >= Duration::from_secs(5), "after {:?}", since.elapsed());
}

/// A move that has stopped half way, at the worst place: what says that there is a shard has arrived, its
/// queues have not.
#[tokio::test]
async fn half_a_shard_is_not_served() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    let mut ledger = Ledger::default();
    // Both servers have the scripts.
    for n in 0..20 {
        let queue = format!("queue-{n}");
        node.put(&queue, |_| ()).await;
        ledger.push(&node, &queue, vec![format!("first-{queue}")]).await;
    }
    let (queue, (prefix, from)) = ("queue-0", cluster.home("queue-0"));
    let (slot, to) = (cluster.slot(queue), (from + 1) % 3);
    // Nothing has moved yet: keys that do not exist are with nobody.
    cluster.open_slot(slot, from, to);
    is_refused(&node, queue).await;
    cluster.close_slot(slot);
    cluster.open_slot(slot, from, to);
    cluster.migrate(&[format!("{prefix}shard")], from, to);
    is_refused(&node, queue).await;
    cluster.finish_slot(slot, from, to);
    ledger.push(&node, queue, vec!["after".to_owned()]).await;
    assert!(ledger.pushed.contains("after"));
    assert_eq!(node.live(queue).await, 2);
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
}
