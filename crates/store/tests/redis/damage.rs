//! Hands from outside: what parts records from their indexes is found, and mended from the records.

use std::collections::BTreeSet;

use punctual_core::queue::Mode;
use punctual_core::{Event, NewTask, Span, State, WorkerName};
use punctual_store::{Store, Wake};
use punctual_testing::redis::Server;

use crate::nodes::{Node, hear, id, name, task};
use crate::owners::ask;

/// Takes an id out of every sorted set.
fn erase(server: &Server, text: &str) {
    let keys: Vec<String> = server.command("KEYS punctual:*");
    for key in keys {
        if server.command::<String>(&format!("TYPE {key}")) == "zset" {
            let members: Vec<Vec<u8>> = server.command(&format!("ZRANGE {key} 0 -1"));
            for member in members.iter().filter(|member| member.ends_with(text.as_bytes())) {
                let mut remove = redis::cmd("ZREM");
                remove.arg(&key).arg(&member[..]).query::<()>(&mut server.connect()).unwrap();
            }
        }
    }
}

/// FAULTS row 15.
#[tokio::test]
async fn a_held_task_whose_hold_is_lost_is_recovered() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("q", |_| ()).await;
    let mut wakes = node.0.wakeups();
    for way in ["hold", "everywhere", "whole"] {
        node.push("q", task(way)).await;
        let held = node.take("q", 1, 700).await;
        match way {
            "hold" => {
                let member: Vec<String> = server.command("ZRANGE punctual:hold:q 0 -1");
                server.command::<i64>(&format!("ZREM punctual:hold:q {}", member[0]));
            }
            "everywhere" => erase(&server, way),
            _ => server.command::<()>("DEL punctual:hold:q punctual:state:q:running"),
        }
        hear(&mut wakes, |wake| *wake == Wake::Expired).await;
        let late = node.0.expired(9).await.unwrap();
        assert_eq!(late.len(), 1, "{way}");
        assert_eq!(late[0].task, held[0].task, "{way}");
        let change = node.change(&late[0], Event::HoldEnd).await;
        node.0.write_one(change.into()).await.unwrap().task().unwrap();
        assert_eq!(node.state("q", way).await, Some(State::Ready), "{way}");
        assert_eq!(node.take("q", 9, 60_000).await.len(), 1);
        assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
        node.0.remove(&name("q"), &[id(way)]).await.unwrap();
    }
}

/// What workers hold follows from the tasks, whatever becomes of the sets.
#[tokio::test]
async fn lost_and_false_holdings_are_found_and_mended() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("d:1", |queue| queue.settings.mode = Mode::Dispatch).await;
    let worker = WorkerName::parse("w:1").unwrap();
    for text in ["a", "b:c"] {
        node.push("d:1", task(text)).await;
    }
    let given = node.take_as("d:1", &worker, 9, None).await;
    assert_eq!(given.len(), 2);
    let held = async || {
        let mut held = node.0.holdings(&worker).await.unwrap();
        held.sort();
        held
    };
    let expected = [(name("d:1"), id("a")), (name("d:1"), id("b:c"))];
    assert_eq!(held().await, expected);
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    let key = "punctual:held:w%3A1";
    assert_eq!(server.command::<i64>(&format!("SREM {key} d%3A1:a")), 1);
    assert_eq!(node.0.check(true).await.unwrap().len(), 1, "a task is missed");
    assert_eq!(held().await, expected);
    for (key, member) in [(key, "d%3A1:ghost"), (key, "q:a"), ("punctual:held:x", "d%3A1:a")] {
        server.command::<i64>(&format!("SADD {key} {member}"));
        assert_eq!(node.0.check(false).await.unwrap().len(), 1, "{member} in {key}");
        assert_eq!(node.0.check(true).await.unwrap().len(), 1);
        assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    }
    assert_eq!(held().await, expected);
}

#[tokio::test]
async fn whatever_is_lost_from_the_indexes_is_found_and_mended() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("q", |queue| queue.settings.keep.failed = Span::from_secs(3_600)).await;
    let hour = Some(Span::from_secs(3_600));
    let expected: BTreeSet<&str> = ["failed", "high", "held", "later", "paused", "ready"].into();
    node.push("q", task("failed")).await;
    let held = node.take("q", 1, 60_000).await;
    let token = held[0].task.status.hold.unwrap().token;
    let settlement =
        punctual_core::task::Settlement::Fail { error: None, retry_in: None, permanent: true };
    let change = node.change(&held[0], Event::Settle { token, settlement }).await;
    node.0.write_one(change.into()).await.unwrap().task().unwrap();
    node.push("q", task("held")).await;
    node.take("q", 1, 60_000).await;
    node.push("q", task("paused")).await;
    let paused = node.0.read(&name("q"), &[id("paused")]).await.unwrap().remove(0).unwrap();
    let change = node.change(&paused, Event::Pause).await;
    node.0.write_one(change.into()).await.unwrap().task().unwrap();
    node.push("q", task("ready")).await;
    node.push("q", NewTask { delay: hour, ..task("later") }).await;
    node.push("q", NewTask { priority: Some(5), ..task("high") }).await;
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());

    let indexes: Vec<String> = server.command("KEYS punctual:*");
    let is_index = |key: &&String| {
        ["ready:", "due:", "state:", "hold:", "keep:", "lanes:", "agenda"]
            .iter()
            .any(|kind| key.starts_with(&format!("punctual:{kind}")))
    };
    for key in indexes.iter().filter(is_index) {
        server.command::<i64>(&format!("DEL {key}"));
        assert!(!node.0.check(false).await.unwrap().is_empty(), "{key} is missed");
        assert!(!node.0.check(true).await.unwrap().is_empty());
        let left = node.0.check(true).await.unwrap();
        assert_eq!(left, Vec::<String>::new(), "{key} is mended");
    }
    // Entries that nothing stands behind, and numbers that are wrong.
    let lane: String = server.command("HGET punctual:lanes:q 5");
    let (rest, _) = lane.rsplit_once(' ').unwrap();
    let (rest, _) = rest.rsplit_once(' ').unwrap();
    ask::<i64>(&server, &["HSET", "punctual:lanes:q", "5", &format!("{rest} 99999999999999 0")]);
    assert_eq!(node.0.check(true).await.unwrap().len(), 1, "a lane that hides its tasks");
    server.command::<i64>("ZADD punctual:state:q:running 1 0000000000000001:ghost");
    server.command::<i64>("RPUSH punctual:ready:q ghost");
    server.command::<i64>("HSET punctual:q:q number 77");
    assert!(node.0.check(true).await.unwrap().len() >= 3);
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());

    let mut listed = BTreeSet::new();
    for state in State::ALL {
        let listing = punctual_store::Listing {
            queue: name("q"),
            states: vec![state],
            cursor: None,
            limit: 100,
            sort: None,
        };
        for stored in node.0.list(listing).await.unwrap().items {
            assert!(listed.insert(stored.task.spec.id.to_string()));
        }
    }
    assert_eq!(listed.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
    let taken = node.take("q", 9, 60_000).await;
    let taken: Vec<_> = taken.iter().map(|stored| stored.task.spec.id.as_str()).collect();
    assert_eq!(taken, ["high", "ready"]);
}
