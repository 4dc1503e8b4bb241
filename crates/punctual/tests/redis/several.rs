//! Servers over more than one Redis: a primary that Sentinels name, and a Cluster.

use std::path::Path;
use std::time::{Duration, Instant};

use punctual_client::{Callback, Commit, NewTask, Span, Take};
use punctual_testing::redis::{Cluster, Group};

use crate::process::{PATIENCE, Server, punctual};
use crate::raw;
use crate::task::take_one;

/// All that a task goes through, from one server to the other.
async fn tour(one: &Server, other: &Server, queue: &str) {
    let waiting = other.client();
    one.client().put_queue(queue, &Default::default()).await.unwrap();
    let name = queue.to_owned();
    let taker = tokio::spawn(async move {
        take_one(&waiting, &name, &Take::new().wait(Span::from_secs(60))).await
    });
    let task = NewTask::new("x").callback(Callback::new(format!("after-{queue}")));
    one.client().push(queue, &task).await.unwrap();
    let taken = taker.await.unwrap();
    one.client().commit(taken.held(), &Commit::default()).await.unwrap();
    until_there(other, &format!("after-{queue}")).await;
}

/// Waits until a queue holds a task, as it may be made in another shard a moment later.
async fn until_there(server: &Server, queue: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if server.client().queue(queue).await.is_ok_and(|queue| queue.counts.ready == 1) {
            return;
        }
        assert!(Instant::now() < deadline, "nothing comes to {queue}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[track_caller]
fn examine(url: &str) {
    let output = punctual().args(["doctor", "--store", url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// FAULTS row 27.
#[tokio::test]
async fn servers_follow_their_sentinels_to_another_primary() {
    let mut group = Group::start();
    let url = group.url();
    let (one, other) = (Server::start(Path::new(&url)), Server::start(Path::new(&url)));
    tour(&one, &other, "before").await;
    group.primary.kill();
    Group::wait_until_primary(&group.replica);
    let since = Instant::now();
    for server in [&one, &other] {
        while raw::readiness(server.address()) != 200 {
            assert!(since.elapsed() < PATIENCE, "not ready");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    tour(&one, &other, "after").await;
    examine(&url);
    let ready = raw::send(one.address(), "GET", "/readyz", b"");
    assert!(ready.body.contains("redis sentinel"), "{ready:?}");
    one.stop();
    other.stop();
}

/// Row 27a: tasks that end in one shard and call back into others.
#[tokio::test]
async fn servers_work_over_a_cluster() {
    let mut cluster = Cluster::start();
    let url = cluster.url();
    let (one, other) = (Server::start(Path::new(&url)), Server::start(Path::new(&url)));
    for n in 0..6 {
        tour(&one, &other, &format!("q{n}")).await;
    }
    examine(&url);
    let ready = raw::send(one.address(), "GET", "/readyz", b"");
    assert!(ready.body.contains("redis cluster"), "{ready:?}");

    // With one of its servers away, some shards are; then all are there again.
    let (_, home) = cluster.home("q0");
    cluster.servers[home].kill();
    assert_eq!(raw::readiness(one.address()), 503);
    let error = one.client().push("q0", &NewTask::new("x")).await.unwrap_err();
    assert_eq!(error.code(), Some("unavailable"), "{error}");
    cluster.servers[home].run();
    let deadline = Instant::now() + PATIENCE;
    while raw::readiness(one.address()) != 200 || raw::readiness(other.address()) != 200 {
        let said = [&one, &other].map(|server| raw::send(server.address(), "GET", "/readyz", b""));
        assert!(Instant::now() < deadline, "not ready: {said:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tour(&one, &other, "again").await;
    examine(&url);
}
