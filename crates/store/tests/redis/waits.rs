//! `--wait-replicas`: an answer says that so many replicas have the write, whatever happens meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual_core::TaskId;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Push, Pushed, Store};
use punctual_testing::PATIENCE;
use punctual_testing::redis::Group;

use crate::nodes::{Node, id, name, task};

/// Requests that are under way at a time.
const PUSHERS: usize = 32;

/// What is pushed meanwhile, and how much of it was acknowledged.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    acknowledged: AtomicUsize,
}

impl Load {
    /// Pushes until the load is over, and names what was acknowledged.
    async fn push(&self, node: &Node, pusher: usize) -> BTreeSet<TaskId> {
        let mut acknowledged = BTreeSet::new();
        for n in 0.. {
            let text = format!("t{pusher}-{n}");
            let push =
                Push { queue: name("q"), tasks: vec![node.spec("q", task(&text))], keyed: None };
            match node.0.push(push).await {
                Ok(Pushed::Answers(answers)) => {
                    assert!(answers[0].is_ok(), "{text}: {answers:?}");
                    acknowledged.insert(id(&text));
                    self.acknowledged.fetch_add(1, Ordering::Relaxed);
                }
                Ok(other) => panic!("{text}: {other:?}"),
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            tokio::task::yield_now().await;
        }
        acknowledged
    }

    /// Waits until so many more pushes were acknowledged.
    async fn goes_on(&self, more: usize) {
        let (since, wanted) = (Instant::now(), self.acknowledged.load(Ordering::Relaxed) + more);
        while self.acknowledged.load(Ordering::Relaxed) < wanted {
            assert!(since.elapsed() < PATIENCE, "pushes are acknowledged again");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The primary is frozen, its replica takes over, and the old primary wakes up with requests that it has
/// not answered yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_primary_confirms_nothing_that_is_lost() {
    let group = Group::start();
    let options = RedisOptions { wait_replicas: 1, ..RedisOptions::new(group.url()) };
    let node = Arc::new(Node(RedisStore::open(options).await.unwrap()));
    node.put("q", |_| ()).await;
    let load = Arc::new(Load::default());
    let pushers: Vec<_> = (0..PUSHERS)
        .map(|pusher| {
            let (load, node) = (load.clone(), node.clone());
            tokio::spawn(async move { load.push(&node, pusher).await })
        })
        .collect();
    load.goes_on(200).await;
    group.primary.pause();
    Group::wait_until_primary(&group.replica);
    group.primary.go_on();
    load.goes_on(200).await;
    load.is_over.store(true, Ordering::Relaxed);
    let mut acknowledged = BTreeSet::new();
    for pusher in pushers {
        acknowledged.extend(pusher.await.unwrap());
    }
    let ids: Vec<TaskId> = acknowledged.into_iter().collect();
    let mut lost = Vec::new();
    for some in ids.chunks(500) {
        let read = node.0.read(&name("q"), some).await.unwrap();
        lost.extend(some.iter().zip(read).filter(|(_, read)| read.is_none()).map(|(id, _)| id));
    }
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), ids.len());
}
