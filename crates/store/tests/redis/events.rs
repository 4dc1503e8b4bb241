//! Events over several nodes, and when Redis loses them.

use std::time::Duration;

use punctual_core::Announcement;
use punctual_core::limits::EVENTS_MAX;
use punctual_store::{EventId, Heard, Hearing, Store};
use punctual_testing::PATIENCE;
use punctual_testing::redis::{Cluster, Group, Server};

use crate::nodes::{Node, name};

fn event(node: &Node, id: &str) -> Announcement {
    Announcement::new("task.pushed", node.0.now()).in_queue(&name("q")).about(id.into())
}

async fn announce(node: &Node, id: &str) -> EventId {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        match node.0.announce(&[event(node, id)]).await {
            Ok(id) => return id,
            Err(error) => assert!(tokio::time::Instant::now() < deadline, "{error}"),
        }
    }
}

async fn next(hearing: &mut Hearing) -> Heard {
    tokio::time::timeout(PATIENCE, hearing.recv()).await.expect("something is heard").unwrap()
}

async fn each_hears_the_other(url: String) {
    let (a, b) = (Node::open(url.clone()).await, Node::open(url.clone()).await);
    let (mut at_a, mut at_b) = (a.0.hearing(), b.0.hearing());
    assert_eq!(next(&mut at_a).await, next(&mut at_b).await);
    for (node, id) in [(&a, "1"), (&b, "2"), (&a, "3")] {
        announce(node, id).await;
        assert_eq!(next(&mut at_a).await, next(&mut at_b).await);
    }
    // One that comes later hears what was, under the same ids.
    let late = Node::open(url).await;
    let past = next(&mut late.0.hearing()).await;
    assert_eq!((past.after, past.events.len()), (EventId::default(), 3));
    let last = announce(&late, "4").await;
    assert_eq!(next(&mut at_a).await.events[0].id, last);
}

#[tokio::test]
async fn nodes_hear_each_other() {
    let server = Server::start();
    each_hears_the_other(server.url()).await;
}

#[tokio::test]
async fn nodes_of_a_cluster_hear_each_other() {
    let cluster = Cluster::start();
    each_hears_the_other(cluster.url()).await;
}

#[tokio::test]
async fn what_is_flushed_is_missed_and_that_is_known() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let mut hearing = node.0.hearing();
    next(&mut hearing).await;
    announce(&node, "a").await;
    let last = next(&mut hearing).await.events[0].id;
    // Within the same millisecond the first entry after it would have the id of the last before it.
    let millis = || {
        let (seconds, micros): (u64, u64) = server.command("TIME");
        seconds * 1_000 + micros / 1_000
    };
    while millis() <= last.0 {}
    server.command::<String>("FLUSHALL");
    announce(&node, "b").await;
    let heard = next(&mut hearing).await;
    assert_ne!(heard.after, last);
    assert!(heard.events[0].id > last);
    // From there on nothing is missing.
    announce(&node, "c").await;
    assert_eq!(next(&mut hearing).await.after, heard.events[0].id);
}

#[tokio::test]
async fn a_redis_that_was_away_is_heard_again() {
    let mut server = Server::start();
    let node = Node::open(server.url()).await;
    let mut hearing = node.0.hearing();
    next(&mut hearing).await;
    announce(&node, "a").await;
    let last = next(&mut hearing).await.events[0].id;
    server.kill();
    server.run();
    announce(&node, "b").await;
    let heard = next(&mut hearing).await;
    assert!(heard.events[0].data.contains("\"b\""), "{heard:?}");
    assert!(heard.events[0].id > last);
}

#[tokio::test]
async fn events_follow_another_primary() {
    let mut group = Group::start();
    let node = Node::open(group.url()).await;
    let mut hearing = node.0.hearing();
    next(&mut hearing).await;
    announce(&node, "a").await;
    next(&mut hearing).await;
    group.primary.kill();
    Group::wait_until_primary(&group.replica);
    announce(&node, "b").await;
    assert!(next(&mut hearing).await.events[0].data.contains("\"b\""));
}

#[tokio::test]
async fn what_is_broadcast_is_published_as_well() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let mut connection = server.connect();
    let mut channel = connection.as_pubsub();
    channel.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    channel.subscribe("punctual:pub:news%3A1").unwrap();
    let said = Announcement::new("pub.news:1", node.0.now()).in_queue(&name("news:1"));
    let said = said.about("t".into()).with("payload", 7_u64);
    node.0.announce(&[event(&node, "x"), said.clone()]).await.unwrap();
    let heard: String = channel.get_message().unwrap().get_payload().unwrap();
    assert_eq!(heard, serde_json::to_string(&said).unwrap());
}

#[tokio::test]
async fn only_the_window_is_kept() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let mut hearing = node.0.hearing();
    next(&mut hearing).await;
    for round in 0..60 {
        let some: Vec<_> = (0..500).map(|n| event(&node, &format!("{round}-{n}"))).collect();
        node.0.announce(&some).await.unwrap();
        assert_eq!(next(&mut hearing).await.events.len(), 500);
    }
    let kept: usize = server.command("XLEN punctual:events");
    // Redis drops whole blocks of entries only.
    assert!((EVENTS_MAX / 500..60).contains(&kept), "{kept} entries of 500 events");
}

#[tokio::test]
async fn waiting_for_events_costs_nothing() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let mut hearing = node.0.hearing();
    next(&mut hearing).await;
    let calls = || {
        let stats = server.info("commandstats");
        let line =
            stats.lines().find(|line| line.starts_with("cmdstat_xread:")).unwrap().to_owned();
        line.split("calls=").nth(1).unwrap().split(',').next().unwrap().parse::<u64>().unwrap()
    };
    let before = calls();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(calls() <= before + 1);
}
