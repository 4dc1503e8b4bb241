//! Events over Redis: every server streams those of all, and a client goes on at any of them.

use punctual_client::NewTask;
use punctual_testing::redis::Server as Redis;

use crate::ear::Ear;
use crate::node;
use crate::process::Server;

async fn push(server: &Server, id: &str) {
    server.client().push("q", &NewTask::new("x").id(id)).await.unwrap();
}

/// The next event is the push of a task; its id.
#[track_caller]
fn hears(ear: &mut Ear, task: &str) -> String {
    let (id, kind, data) = ear.next().expect("the stream goes on");
    assert_eq!((kind.as_str(), data["id"].as_str()), ("task.pushed", Some(task)));
    id
}

#[tokio::test]
async fn every_server_streams_the_events_of_all() {
    let redis = Redis::start();
    let (one, other) = (node(&redis), node(&redis));
    let (mut at_one, mut at_other) = (Ear::open(&one, ""), Ear::open(&other, ""));
    push(&one, "a").await;
    let first = hears(&mut at_one, "a");
    assert_eq!(hears(&mut at_other, "a"), first, "under the same id");
    push(&other, "b").await;
    assert_eq!(hears(&mut at_one, "b"), hears(&mut at_other, "b"));
    // A client goes on elsewhere, also at a server that was not there before.
    let resume = format!("last-event-id: {first}\r\n");
    hears(&mut Ear::open(&other, &resume), "b");
    one.stop();
    push(&other, "c").await;
    let last = hears(&mut at_other, "c");
    let third = node(&redis);
    let mut at_third = Ear::open(&third, &resume);
    hears(&mut at_third, "b");
    assert_eq!(hears(&mut at_third, "c"), last);
    push(&third, "d").await;
    hears(&mut at_third, "d");
    hears(&mut at_other, "d");
}

#[tokio::test]
async fn what_redis_has_lost_is_a_gap() {
    let redis = Redis::start();
    let server = node(&redis);
    let mut ear = Ear::open(&server, "");
    push(&server, "a").await;
    hears(&mut ear, "a");
    redis.command::<String>("FLUSHALL");
    push(&server, "b").await;
    assert_eq!(ear.next().unwrap().1, "stream.gap");
    let last = hears(&mut ear, "b");
    let mut again = Ear::open(&server, &format!("last-event-id: {last}\r\n"));
    push(&server, "c").await;
    hears(&mut again, "c");
    hears(&mut ear, "c");
}

#[tokio::test]
async fn streams_go_on_when_redis_was_away() {
    let mut redis = Redis::start();
    let server = node(&redis);
    let mut ear = Ear::open(&server, "");
    push(&server, "a").await;
    hears(&mut ear, "a");
    redis.kill();
    redis.run();
    while server.client().push("q", &NewTask::new("x").id("b")).await.is_err() {}
    // What was under way while Redis was away may be missing, and then that is told.
    let (_, kind, data) = ear.next().unwrap();
    if kind != "stream.gap" {
        assert_eq!(data["id"], "b");
    }
    push(&server, "c").await;
    while ear.next().unwrap().2["id"] != "c" {}
}
