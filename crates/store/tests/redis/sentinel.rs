//! A primary, a replica, and three Sentinels that make the replica the primary when that is gone.

use std::time::{Duration, Instant};

use punctual_core::{State, TaskId};
use punctual_store::conformance::random;
use punctual_store::{Push, Pushed, Store};
use punctual_testing::redis::Group;
use punctual_testing::{PATIENCE, eventually};

use crate::nodes::{Node, hear, id, name, ready, task};
use crate::subject::Redis;

async fn recovers(node: &Node, within: Duration) {
    let since = Instant::now();
    while node.0.health().await.is_err() {
        assert!(since.elapsed() < within, "it has not recovered after {within:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn random_sequences() {
    let group = Group::patient(PATIENCE);
    random::compare(15, |clock| Redis::new(group.url(), clock));
}

/// FAULTS row 27: the primary is killed under load. What is lost is counted and is of the last moments;
/// no token comes twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_primary_is_followed_by_its_replica() {
    let mut group = Group::start();
    let node = Node::open(group.url()).await;
    node.put("q", |_| ()).await;
    let mut acknowledged: Vec<(Instant, TaskId)> = Vec::new();
    let mut tokens = std::collections::BTreeSet::new();
    let mut killed_at = None;
    let mut recovered_at = None;
    for n in 0.. {
        let text = format!("t{n}");
        if n == 200 {
            group.primary.kill();
            killed_at = Some(Instant::now());
        }
        let tasks = vec![node.spec("q", task(&text))];
        let pushed = node.0.push(Push { queue: name("q"), tasks, keyed: None }).await;
        match pushed {
            Ok(Pushed::Answers(answers)) if answers[0].is_ok() => {
                acknowledged.push((Instant::now(), id(&text)));
                if killed_at.is_some() {
                    recovered_at.get_or_insert_with(Instant::now);
                }
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        if n % 20 == 0 && killed_at.is_none() {
            for stored in node.take("q", 1, 600_000).await {
                assert!(tokens.insert(stored.task.status.hold.unwrap().token.to_string()));
            }
        }
        let since = killed_at.map_or(Duration::ZERO, |at| at.elapsed());
        assert!(since < PATIENCE, "pushes work again");
        if recovered_at.is_some_and(|at| at.elapsed() > Duration::from_millis(200)) {
            break;
        }
    }
    Group::wait_until_primary(&group.replica);
    let ids: Vec<TaskId> = acknowledged.iter().map(|(_, id)| id.clone()).collect();
    let read = node.0.read(&name("q"), &ids).await.unwrap();
    let killed_at = killed_at.unwrap();
    let mut lost = 0;
    for ((at, id), stored) in acknowledged.iter().zip(read) {
        if stored.is_none() {
            lost += 1;
            let before = killed_at.saturating_duration_since(*at);
            assert!(before < Duration::from_secs(10), "{id} was lost though it is {before:?} old");
        }
    }
    assert!(lost < 50, "{lost} of {} were lost", acknowledged.len());
    for stored in node.take("q", 1_000, 60_000).await {
        assert!(tokens.insert(stored.task.status.hold.unwrap().token.to_string()), "a token twice");
    }
}

/// FAULTS row 24: a planned change of the primary; nothing is lost, and a node that asks for nothing
/// hears of it, too.
#[tokio::test]
async fn a_planned_failover_is_followed() {
    let group = Group::start();
    let node = Node::open(group.url()).await;
    let idle = Node::open(group.url()).await;
    node.put("q", |_| ()).await;
    let mut wakes = idle.0.wakeups();
    assert!(idle.take("q", 1, 60_000).await.is_empty());
    for n in 0..50 {
        node.push("q", task(&format!("t{n}"))).await;
    }
    group.sentinels[0].command::<String>("SENTINEL FAILOVER main");
    Group::wait_until_primary(&group.replica);
    recovers(&node, Duration::from_secs(30)).await;
    eventually("the old primary is a replica", || {
        let info = group.primary.info("replication");
        info.contains("role:slave").then_some(())
    });
    recovers(&node, Duration::from_secs(30)).await;
    node.push("q", task("after")).await;
    hear(&mut wakes, ready("q")).await;
    assert_eq!(idle.state("q", "after").await, Some(State::Ready));
    assert_eq!(node.live("q").await, 51, "nothing was lost");
}
