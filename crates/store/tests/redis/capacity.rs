//! A worker never holds more than it can, whoever hands out tasks of whichever shards, and whatever happens to
//! those who do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use punctual_core::queue::Mode;
use punctual_core::task::Settlement;
use punctual_core::{Event, QueueName, WorkerName};
use punctual_store::{Store, Stored};
use punctual_testing::PATIENCE;
use punctual_testing::redis::{Cluster, Server};

use crate::nodes::{Node, id, name, random_seed, task};

const QUEUES: usize = 8;

fn worker() -> WorkerName {
    WorkerName::parse("w:1").unwrap()
}

fn queue(n: usize) -> String {
    format!("queue-{}", n % QUEUES)
}

/// Queues of mode dispatch with so many tasks each.
async fn fill(node: &Node, tasks: usize) {
    for n in 0..QUEUES {
        node.put(&queue(n), |queue| queue.settings.mode = Mode::Dispatch).await;
        for number in 0..tasks {
            node.push(&queue(n), task(&format!("t{number}"))).await;
        }
    }
}

impl Node {
    /// Assigns a task by its id to a worker, if it has room, which confirms it.
    async fn assign(&self, queue: &str, text: &str, capacity: usize) -> Option<Stored> {
        let before = self.0.read(&name(queue), &[id(text)]).await.unwrap().remove(0)?;
        let token = random_seed().token(0);
        if before.task.status.hold.is_some() {
            return None;
        }
        let change =
            self.change(&before, Event::Assign { worker: worker(), token, capacity }).await;
        let task = change.decision.task.clone();
        let revision = self.0.write_one(change.into()).await.unwrap().task().ok()?;
        let confirmed = self.change(&Stored { task, revision }, Event::Confirm { token }).await;
        let task = confirmed.decision.task.clone();
        let revision = self.0.write_one(confirmed.into()).await.unwrap().task().unwrap();
        Some(Stored { task, revision })
    }

    /// Takes back all that a worker holds.
    async fn free(&self) {
        for (queue, id) in self.0.holdings(&worker()).await.unwrap() {
            self.free_one(&queue, id).await;
        }
    }

    async fn free_one(&self, queue: &QueueName, id: punctual_core::TaskId) {
        let Some(stored) = self.0.read(queue, &[id]).await.unwrap().remove(0) else { return };
        let Some(hold) = stored.task.status.hold else { return };
        let settlement = Settlement::Release { delay: None, checkpoint: None };
        let change = self.change(&stored, Event::Settle { token: hold.token, settlement }).await;
        // Whoever was quicker did the same.
        self.0.write_one(change.into()).await.unwrap();
    }
}

/// How much a worker has, as it knows itself: a task counts from when it has come to it until it is given up. So
/// it has at least that much at every instant.
#[derive(Default)]
struct View {
    has: AtomicUsize,
    most: AtomicUsize,
    done: AtomicUsize,
}

impl View {
    fn got(&self, n: usize, capacity: usize) {
        let has = self.has.fetch_add(n, Ordering::SeqCst) + n;
        assert!(has <= capacity, "it has {has} tasks and can hold {capacity}");
        self.most.fetch_max(has, Ordering::SeqCst);
    }

    fn gives_up(&self) {
        self.has.fetch_sub(1, Ordering::SeqCst);
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Hands out tasks of all queues until all are done, some by their ids.
async fn hand_out(node: Arc<Node>, number: usize, tasks: usize, capacity: usize, view: Arc<View>) {
    for round in number.. {
        if view.done.load(Ordering::SeqCst) == tasks * QUEUES {
            return;
        }
        let queue = queue(round);
        let given = if round % 3 == 0 {
            let text = format!("t{}", round / QUEUES % tasks);
            node.assign(&queue, &text, capacity).await.into_iter().collect()
        } else {
            node.take_as(&queue, &worker(), 1 + round % 2, Some(capacity)).await
        };
        view.got(given.len(), capacity);
        for stored in &given {
            // Others go on meanwhile.
            node.0.loads(&[worker()]).await.unwrap();
            view.gives_up();
            node.commit(stored).await.unwrap();
        }
    }
}

async fn race(url: String, capacity: usize) {
    const TASKS: usize = 20;
    let nodes = [Arc::new(Node::open(url.clone()).await), Arc::new(Node::open(url).await)];
    fill(&nodes[0], TASKS).await;
    let view = Arc::new(View::default());
    let mut racing = tokio::task::JoinSet::new();
    for number in 0..6 {
        let node = nodes[number % 2].clone();
        racing.spawn(hand_out(node, number, TASKS, capacity, view.clone()));
    }
    let all = async {
        while let Some(ended) = racing.join_next().await {
            ended.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("all is handed out in the end");
    assert_eq!(view.most.load(Ordering::SeqCst), capacity, "it was full at times");
    assert_eq!(nodes[1].0.loads(&[worker()]).await.unwrap(), [0]);
    assert_eq!(nodes[0].0.check(false).await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capacity_holds_at_every_instant() {
    let server = Server::start();
    race(server.url(), 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capacity_holds_at_every_instant_over_all_shards() {
    let cluster = Cluster::start();
    race(cluster.url(), 3).await;
    let spread: BTreeSet<_> = (0..QUEUES).map(|n| cluster.home(&queue(n)).0).collect();
    assert!(spread.len() > 2, "the queues lie in several shards: {spread:?}");
}

/// Gets a worker all it can hold, of one queue, though others may have places for it that they do not use.
async fn fill_up(node: &Node, queue: &str, capacity: usize) {
    let filled = async {
        loop {
            node.free().await;
            let given = node.take_as(queue, &worker(), capacity, Some(capacity)).await;
            // What somebody who was cut off gets late is taken back as well.
            let load = node.0.loads(&[worker()]).await.unwrap()[0];
            assert!(load <= capacity, "{load}");
            if given.len() == capacity {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, filled).await.expect("no place is lost");
}

/// A server that ends anywhere between asking for places and using them keeps none of them.
#[tokio::test]
async fn places_of_who_was_cut_off_are_not_lost() {
    let cluster = Cluster::start();
    let (cut, whole) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    fill(&whole, 4).await;
    for n in 0..60 {
        let (queue_name, worker) = (queue(n), worker());
        let begun = cut.take_as(&queue_name, &worker, 2, Some(3));
        // Wherever it is by then.
        let _ = tokio::time::timeout(Duration::from_micros(n as u64 * 40), begun).await;
        fill_up(&whole, &queue(n + 1), 3).await;
        whole.free().await;
    }
    assert_eq!(whole.0.check(false).await.unwrap(), Vec::<String>::new());
}

/// What is known of a worker's places may get lost; then what it holds is counted.
#[tokio::test]
async fn places_that_were_forgotten_are_counted() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    fill(&node, 4).await;
    assert_eq!(node.take_as(&queue(0), &worker(), 2, Some(5)).await.len(), 2);
    assert_eq!(node.take_as(&queue(1), &worker(), 2, Some(5)).await.len(), 2);
    for server in &cluster.servers {
        for key in server.command::<Vec<String>>("KEYS punctual:{*}:allowed:*") {
            assert_eq!(server.command::<i64>(&format!("DEL {key}")), 1);
        }
    }
    assert_eq!(node.take_as(&queue(2), &worker(), 2, Some(5)).await.len(), 1);
    assert!(node.take_as(&queue(3), &worker(), 2, Some(5)).await.is_empty());
    assert!(node.assign(&queue(3), "t0", 5).await.is_none());
    node.free().await;
    assert!(node.assign(&queue(3), "t0", 5).await.is_some());
    assert_eq!(node.take_as(&queue(4), &worker(), 9, Some(5)).await.len(), 4);
}
