//! What lies in Redis, for those who look there: names and fields as documented in `docs/redis.md`.

use std::collections::{BTreeMap, BTreeSet};

use punctual_core::task::Edit;
use punctual_core::{Event, NewTask, Patch, RawJson, Span, State, TaskId};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Listing, Store, Stored};
use punctual_testing::redis::Server;

use crate::nodes::{Node, id, name, task};

type Hash = BTreeMap<String, String>;

#[tokio::test]
async fn queues_and_tasks_are_hashes_with_the_names_of_the_contract() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("jobs", |queue| {
        queue.settings.tag = Some("blue".to_owned());
        queue.settings.max = Some(1_024);
    })
    .await;
    let ids: Vec<String> = ["b", "a", "c"].map(str::to_owned).into();
    for text in &ids {
        node.push("jobs", task(text)).await;
    }
    let queue: Hash = server.command("HGETALL punctual:q:jobs");
    let shown = ["type", "tag", "max", "alias", "number"].map(|field| queue[field].as_str());
    assert_eq!(shown, ["queue", "blue", "1024", "punctual:ready:jobs", "3"]);
    let ready: Vec<String> = server.command(&format!("LRANGE {} 0 -1", queue["alias"]));
    assert_eq!(ready, ids, "the ready ids in order");

    let waiting: Hash = server.command("HGETALL punctual:t:jobs:b");
    assert_eq!((waiting["id"].as_str(), waiting["status"].as_str()), ("b", "ready"));
    let shown = ["taken", "timeout", "counter"].map(|field| waiting[field].as_str());
    assert_eq!(shown, ["0", "0", "0"]);
    let created: f64 = waiting["create"].parse().unwrap();
    assert!(created > 1_600_000_000.0 && waiting["create"].contains('.'));

    let held = node.take("jobs", 1, 30_000).await.remove(0);
    let running: Hash = server.command("HGETALL punctual:t:jobs:b");
    assert_eq!((running["status"].as_str(), running["counter"].as_str()), ("running", "1"));
    let time = |field: &str| running[field].parse::<f64>().unwrap();
    assert!((time("timeout") - time("taken") - 30.0).abs() < 0.001);
    let until = held.task.status.hold.unwrap().until.as_millis() as f64;
    assert!((time("timeout") * 1_000.0 - until).abs() < 1.0);
    node.commit(&held).await.unwrap();
    assert_eq!(server.command::<u64>("EXISTS punctual:t:jobs:b"), 0);
    assert_eq!(server.command::<String>("HGET punctual:q:jobs number"), "2");
}

#[tokio::test]
async fn names_are_escaped_and_large_payloads_lie_beside() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("a:b", |_| ()).await;
    let large = RawJson::of(&"x".repeat(2_000));
    let new = NewTask { payload: Some(large.clone()), ..task("c:d") };
    node.push("a:b", new).await;
    node.push("a:b", NewTask { delay: Some(Span::from_secs(60)), ..task("e:f") }).await;
    let payload: String = server.command("GET punctual:p:a%3Ab:c%3Ad");
    assert_eq!(payload, large.as_str());
    assert_eq!(server.command::<String>("HGET punctual:t:a%3Ab:e%3Af status"), "waiting");
    let read = node.take("a:b", 9, 60_000).await;
    assert_eq!((&read[0].task.spec.id, &read[0].task.spec.payload), (&id("c:d"), &large));
    node.commit(&read[0]).await.unwrap();
    assert_eq!(server.command::<u64>("EXISTS punctual:p:a%3Ab:c%3Ad"), 0);
}

#[tokio::test]
async fn a_store_without_tasks_leaves_little_behind() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let keys = || -> BTreeSet<String> {
        let keys: Vec<String> = server.command("KEYS *");
        let is_memory = |key: &String| key.contains(":calls:") || key.contains(":r:");
        keys.into_iter().filter(|key| !is_memory(key)).collect()
    };
    let before = keys();
    node.put("q", |_| ()).await;
    for n in 0..50 {
        let delay = (n % 3 == 0).then(|| Span::from_millis(1));
        let priority = Some(n % 7);
        node.push("q", NewTask { delay, priority, ..task(&format!("t{n}")) }).await;
    }
    let mut left = 50;
    while left > 0 {
        for stored in node.take("q", 9, 60_000).await {
            node.commit(&stored).await.unwrap();
            left -= 1;
        }
    }
    Store::tick(&*node.0).await.unwrap();
    Store::delete_queue(&*node.0, &name("q")).await.unwrap();
    while Store::sweep(&*node.0, 100).await.unwrap() {}
    let agenda = BTreeSet::from(["punctual:agenda".to_owned()]);
    let after = keys();
    let more: Vec<_> = after.difference(&before).filter(|key| !agenda.contains(*key)).collect();
    assert!(more.is_empty(), "{more:?}");
}

/// What leaves a list from its middle leaves an empty place; they do not pile up.
#[tokio::test]
async fn lists_do_not_grow_by_what_leaves_them() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("q", |queue| queue.paused = true).await;
    node.push("q", task("first")).await;
    let mut longest = 0;
    node.push("q", task("t0")).await;
    for n in 1..1_500 {
        node.push("q", task(&format!("t{n}"))).await;
        let gone = [id(&format!("t{}", n - 1))];
        Store::remove(&*node.0, &name("q"), &gone).await.unwrap();
        longest = longest.max(server.command::<u64>("LLEN punctual:ready:q"));
    }
    assert!(longest < 1_200, "{longest} entries for two tasks");
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    Store::remove(&*node.0, &name("q"), &[id("first")]).await.unwrap();
    assert_eq!(server.command::<u64>("LLEN punctual:ready:q"), 1);
    node.put("q", |queue| queue.paused = false).await;
    assert_eq!(node.take("q", 9, 60_000).await[0].task.spec.id, id("t1499"));
}

#[tokio::test]
async fn the_prefix_may_be_empty_and_stores_do_not_meet() {
    let server = Server::start();
    let open = |prefix: &str| {
        let options = RedisOptions { prefix: prefix.to_owned(), ..RedisOptions::new(server.url()) };
        async { Node(RedisStore::open(options).await.unwrap()) }
    };
    let (bare, other) = (open("").await, open("other").await);
    for node in [&bare, &other] {
        node.put("q", |_| ()).await;
        node.push("q", task("t")).await;
    }
    assert_eq!(server.command::<u64>("EXISTS t:q:t other:t:q:t"), 2);
    assert_eq!(bare.take("q", 9, 60_000).await.len(), 1);
    assert_eq!(other.live("q").await, 1);
    assert_eq!(other.take("q", 9, 60_000).await.len(), 1);
}

/// Moves within a state, of which only so many are remembered.
#[tokio::test]
async fn a_list_goes_on_at_another_node_and_moves_are_forgotten() {
    let server = Server::start();
    let (a, b) = (Node::open(server.url()).await, Node::open(server.url()).await);
    a.put("q:1", |_| ()).await;
    for n in 0..500 {
        a.push("q:1", task(&format!("a:{n}"))).await;
    }
    let list = async |node: &Node, cursor: Option<String>, limit: usize| {
        let (queue, states) = (name("q:1"), vec![State::Ready]);
        node.0.list(Listing { queue, states, cursor, limit, sort: None }).await.unwrap()
    };
    let to = |priority: i32| Edit { priority: Patch::Set(priority), ..Edit::default() };
    let all = list(&a, None, 500).await.items;
    let first = list(&a, None, 250).await;
    for (number, stored) in all.iter().enumerate() {
        let edit = to([-1, 1][number / 4 % 2]);
        let change = b.change(stored, Event::Edit(edit)).await;
        b.0.write_one(change.into()).await.unwrap().task().unwrap();
    }
    let rest = list(&b, first.next, 500).await.items;
    let ids = |all: &[Stored]| -> Vec<TaskId> {
        all.iter().map(|stored| stored.task.spec.id.clone()).collect()
    };
    assert_eq!(ids(&rest), ids(&all[250..]));
    assert_eq!(server.command::<usize>("ZCARD punctual:moves:q%3A1"), 500);
    for round in 0..20 {
        let mut changes = Vec::new();
        for stored in list(&a, None, 500).await.items {
            changes.push(a.change(&stored, Event::Edit(to(round + 10))).await.into());
        }
        assert!(a.0.write(changes).await.iter().all(|written| written.as_ref().unwrap().is_done()));
    }
    assert_eq!(server.command::<usize>("ZCARD punctual:moves:q%3A1"), 10_000);
    let seconds = server.command::<i64>("TTL punctual:moves:q%3A1");
    assert!((1..=3_600).contains(&seconds), "{seconds}");
    assert!(a.0.reset_queue(&name("q:1")).await.unwrap());
    assert_eq!(server.command::<usize>("EXISTS punctual:moves:q%3A1"), 0);
}
