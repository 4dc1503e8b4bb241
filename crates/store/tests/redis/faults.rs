//! Faults of Redis and of the way to it, caused for real: FAULTS rows 13, 24 to 26, and 28 to 30.

use std::future::Future;
use std::time::{Duration, Instant};

use punctual_core::{State, TaskId};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Effect, Push, Pushed, Store, StoreError};
use punctual_testing::redis::Server;
use punctual_testing::{PATIENCE, free_port};

use crate::nodes::{Node, hear, id, name, ready, task};
use crate::proxy::Proxy;

/// How soon a node works again after the fault has ended.
const RECOVERY: Duration = Duration::from_secs(30);

async fn node(url: String) -> Node {
    let node = Node::open(url).await;
    node.put("q", |_| ()).await;
    node
}

/// Waits until the store can be used again, and fails if that takes longer than it may.
async fn recovers(node: &Node) {
    let since = Instant::now();
    while node.0.health().await.is_err() {
        assert!(since.elapsed() < RECOVERY, "it has not recovered after {RECOVERY:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A request that is refused, with the reason and whether it may have taken effect.
async fn refused<T>(request: impl Future<Output = Result<T, StoreError>>) -> (String, Effect) {
    match request.await {
        Err(StoreError::Unavailable { reason, effect }) => (reason, effect),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was carried out"),
    }
}

async fn push(node: &Node, text: &str) -> Result<Pushed, StoreError> {
    let tasks = vec![node.spec("q", task(text))];
    node.0.push(Push { queue: name("q"), tasks, keyed: None }).await
}

/// One push, one take, one commit.
async fn cycle(node: &Node, text: &str) {
    node.push("q", task(text)).await;
    let taken = node.take("q", 1, 60_000).await;
    assert_eq!(taken[0].task.spec.id, id(text));
    node.commit(&taken[0]).await.unwrap();
    assert_eq!(node.live("q").await, 0);
}

/// Rows 13 and 26.
#[tokio::test]
async fn a_lost_answer_has_no_second_effect() {
    let server = Server::start();
    let proxy = Proxy::start(server.port).await;
    let node = node(proxy.url()).await;
    cycle(&node, "warm").await;
    for round in 0..20 {
        let text = format!("t{round}");
        proxy.lose_answers(1 + round % 2);
        node.push("q", task(&text)).await;
        assert!(proxy.is_done());
        assert_eq!(node.live("q").await, 1, "pushed once, and not refused as its own duplicate");

        proxy.lose_answers(1 + round % 2);
        let taken = node.take("q", 5, 60_000).await;
        assert!(proxy.is_done());
        assert_eq!(taken.len(), 1, "what was handed out is handed out again, to the same taker");
        let read = node.0.read(&name("q"), &[id(&text)]).await.unwrap();
        assert_eq!(read[0].as_ref(), Some(&taken[0]));

        proxy.lose_answers(1 + round % 2);
        node.commit(&taken[0]).await.unwrap();
        assert!(proxy.is_done());
        assert_eq!(node.live("q").await, 0);

        node.push("q", task(&text)).await;
        proxy.lose_answers(1);
        assert_eq!(node.0.remove(&name("q"), &[id(&text)]).await.unwrap(), [true]);
    }
}

#[tokio::test]
async fn a_lost_request_is_sent_again() {
    let server = Server::start();
    let proxy = Proxy::start(server.port).await;
    let node = node(proxy.url()).await;
    for round in 0..10 {
        proxy.lose_requests(1);
        cycle(&node, &format!("t{round}")).await;
        assert!(proxy.is_done());
    }
}

/// A take whose answer never comes: its caller is told that it is not known, and the hold ends by itself.
#[tokio::test]
async fn an_answer_that_never_comes_is_told() {
    let server = Server::start();
    let proxy = Proxy::start(server.port).await;
    let node = node(proxy.url()).await;
    proxy.lose_answers(1_000);
    let (reason, effect) = refused(push(&node, "t")).await;
    assert_eq!(effect, Effect::Unknown, "{reason}");
    proxy.lose_answers(0);
    recovers(&node).await;
    // The push was carried out once, or not at all; repeating it under its id is safe either way.
    let _ = push(&node, "t").await.unwrap();
    assert_eq!(node.live("q").await, 1);
}

/// Row 24, without Sentinels: the server is a replica for a while.
#[tokio::test]
async fn a_server_that_becomes_a_replica_is_not_written_to() {
    let server = Server::start();
    let node = node(server.url()).await;
    cycle(&node, "before").await;
    let nowhere = free_port();
    server.command::<String>(&format!("REPLICAOF 127.0.0.1 {nowhere}"));
    let (reason, effect) = refused(push(&node, "meanwhile")).await;
    assert_eq!(effect, Effect::None, "{reason}");
    assert!(reason.contains("replica"), "{reason}");
    assert!(node.0.health().await.is_err());
    server.command::<String>("REPLICAOF NO ONE");
    recovers(&node).await;
    cycle(&node, "after").await;
}

/// Row 25: MASTERDOWN is what a replica says that lost its primary and serves nothing stale.
#[tokio::test]
async fn a_replica_without_its_primary_is_told() {
    let server = Server::start();
    let node = node(server.url()).await;
    server.command::<String>("CONFIG SET replica-serve-stale-data no");
    server.command::<String>(&format!("REPLICAOF 127.0.0.1 {}", free_port()));
    let (reason, effect) = refused(push(&node, "meanwhile")).await;
    assert_eq!(effect, Effect::None, "{reason}");
    server.command::<String>("REPLICAOF NO ONE");
    recovers(&node).await;
    cycle(&node, "after").await;
}

/// Row 25: out of memory, pushes are refused with the reason; what is there can still be finished.
#[tokio::test]
async fn out_of_memory_takes_and_commits_go_on() {
    let server = Server::start();
    let node = node(server.url()).await;
    for n in 0..3 {
        node.push("q", task(&format!("t{n}"))).await;
    }
    server.command::<String>("CONFIG SET maxmemory 1");
    let (reason, effect) = refused(push(&node, "more")).await;
    assert_eq!(effect, Effect::None);
    assert!(reason.contains("out of memory"), "{reason}");
    assert!(node.0.health().await.is_err());
    let taken = node.take("q", 2, 60_000).await;
    assert_eq!(taken.len(), 2);
    for stored in &taken {
        node.commit(stored).await.unwrap();
    }
    node.0.remove(&name("q"), &[id("t2")]).await.unwrap();
    assert_eq!(node.live("q").await, 0);
    server.command::<String>("CONFIG SET maxmemory 0");
    recovers(&node).await;
    cycle(&node, "after").await;
}

/// Row 25: too few replicas.
#[tokio::test]
async fn too_few_replicas_are_told() {
    let server = Server::start();
    let node = node(server.url()).await;
    server.command::<String>("CONFIG SET min-replicas-to-write 1");
    let (reason, effect) = refused(push(&node, "meanwhile")).await;
    assert_eq!(effect, Effect::None);
    assert!(reason.contains("replicas"), "{reason}");
    server.command::<String>("CONFIG SET min-replicas-to-write 0");
    cycle(&node, "after").await;
}

/// `WAIT`: an answer that not enough replicas have is no success.
#[tokio::test]
async fn an_answer_waits_for_its_replicas() {
    let server = Server::start();
    let options = RedisOptions { wait_replicas: 1, ..RedisOptions::new(server.url()) };
    let node = Node(RedisStore::open(options).await.unwrap());
    assert!(node.0.durability().contains("1 replica has it"), "{}", node.0.durability());
    let (reason, effect) = refused(node.0.tick()).await;
    assert_eq!(effect, Effect::Unknown);
    assert!(reason.contains("0 of 1 replicas"), "{reason}");
    let primary = server.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &primary]);
    punctual_testing::eventually("the replica is up to date", || {
        let info = replica.info("replication");
        info.contains("master_link_status:up").then_some(())
    });
    node.put("q", |_| ()).await;
    cycle(&node, "after").await;
    let pushes = (0..50).map(|n| format!("t{n}"));
    let pushes = pushes.map(async |text| node.push("q", task(&text)).await);
    futures_util::future::join_all(pushes).await;
    let replicated: u64 = replica.command("LLEN punctual:ready:q");
    assert_eq!(replicated, 50, "every push that was answered is there");
}

/// Row 25: a script of somebody else keeps Redis busy.
#[tokio::test]
async fn a_busy_server_is_waited_for() {
    let server = Server::start();
    let node = node(server.url()).await;
    server.command::<String>("CONFIG SET busy-reply-threshold 100");
    let mut other = server.connect();
    let endless = std::thread::spawn(move || {
        redis::cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut other)
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let killer = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.command::<String>("SCRIPT KILL");
    };
    let (pushed, ()) = tokio::join!(push(&node, "t"), killer);
    assert!(matches!(pushed.unwrap(), Pushed::Answers(answers) if answers[0].is_ok()));
    assert!(endless.join().unwrap().is_err());
}

/// Row 25: scripts are loaded again.
#[tokio::test]
async fn flushed_scripts_are_loaded_again() {
    let server = Server::start();
    let node = node(server.url()).await;
    for round in 0..3 {
        server.command::<String>("SCRIPT FLUSH");
        cycle(&node, &format!("t{round}")).await;
    }
}

/// Row 25 and 13 of a restart: killed under load, with every write synced, nothing acknowledged is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_under_load_nothing_acknowledged_is_lost() {
    let mut server = Server::with(&[
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        "--key-load-delay",
        "500",
    ]);
    let node = node(server.url()).await;
    let mut acknowledged: Vec<TaskId> = Vec::new();
    for round in 0..4 {
        let pusher = async {
            for n in 0..40 {
                let text = format!("t{round}-{n}");
                match push(&node, &text).await {
                    Ok(Pushed::Answers(answers)) if answers[0].is_ok() => {
                        acknowledged.push(id(&text));
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => assert!(error.is_retryable(), "{error}"),
                }
            }
        };
        let killer = async {
            tokio::time::sleep(Duration::from_millis(15 + 10 * round)).await;
            server.kill();
            tokio::time::sleep(Duration::from_millis(100)).await;
            server.run();
        };
        tokio::join!(pusher, killer);
        recovers(&node).await;
        let read = node.0.read(&name("q"), &acknowledged).await.unwrap();
        for (id, stored) in acknowledged.iter().zip(read) {
            assert!(stored.is_some(), "{id} was acknowledged and is gone");
        }
    }
    let all = node.take("q", 1_000, 60_000).await;
    assert!(all.len() >= acknowledged.len());
    assert_eq!(node.take("q", 1, 60_000).await.len(), 0);
}

/// Row 28.
#[tokio::test]
async fn after_a_flush_the_store_begins_anew() {
    let server = Server::start();
    let node = node(server.url()).await;
    node.push("q", task("t")).await;
    server.command::<String>("FLUSHALL");
    let pushed = push(&node, "u").await.unwrap();
    assert_eq!(pushed, Pushed::NoQueue, "its queue is gone, and that is said");
    let queues = node.0.queues().await.unwrap();
    let names: Vec<_> = queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["bundles", "callbacks", "notices"], "what always exists is there again");
    node.put("q", |_| ()).await;
    cycle(&node, "after").await;
}

/// Row 28.
#[tokio::test]
async fn after_a_restart_without_data_the_store_begins_anew() {
    let mut server = Server::with(&[]);
    let options = RedisOptions { allow_unsafe: true, ..RedisOptions::new(server.url()) };
    let node = Node(RedisStore::open(options).await.unwrap());
    node.put("q", |_| ()).await;
    node.push("q", task("t")).await;
    server.kill();
    server.run();
    recovers(&node).await;
    assert_eq!(node.0.queues().await.unwrap().len(), 3);
    assert_eq!(node.0.queue(&name("q")).await.unwrap(), None);
    node.put("q", |_| ()).await;
    cycle(&node, "after").await;
}

/// Row 29.
#[tokio::test]
async fn a_redis_that_would_lose_tasks_is_refused() {
    let server = Server::with(&[]);
    let open = |allow_unsafe| {
        RedisStore::open(RedisOptions { allow_unsafe, ..RedisOptions::new(server.url()) })
    };
    let refusal = |opened: Result<_, StoreError>| opened.err().expect("it is refused").to_string();
    assert!(refusal(open(false).await).contains("appendonly"));
    let allowed = open(true).await.unwrap();
    assert!(allowed.durability().contains("loses everything"), "{}", allowed.durability());
    server.command::<String>("CONFIG SET appendonly yes");
    assert!(open(false).await.unwrap().durability().contains("everysec"));
    server.command::<String>("CONFIG SET appendfsync always");
    assert!(open(false).await.unwrap().durability().contains("every answer is on its disk"));
    server.command::<String>("CONFIG SET maxmemory-policy allkeys-lru");
    assert!(refusal(open(false).await).contains("noeviction"));
    assert!(open(true).await.unwrap().durability().contains("removes tasks"));
}

#[tokio::test]
async fn a_redis_that_is_not_there_or_not_ours_is_told() {
    let nowhere = format!("redis://127.0.0.1:{}", free_port());
    let refused = RedisStore::open(RedisOptions::new(nowhere)).await.err().unwrap();
    assert!(refused.is_retryable(), "it may be started later: {refused}");
    let server = Server::with(&["--appendonly", "yes", "--requirepass", "secret"]);
    let locked = RedisStore::open(RedisOptions::new(server.url())).await.err().unwrap();
    assert!(locked.to_string().contains("password"), "{locked}");
    assert!(!locked.is_retryable());
    let url = format!("redis://:secret@127.0.0.1:{}/3", server.port);
    let node = node(url.clone()).await;
    cycle(&node, "t").await;
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    redis::cmd("HSET")
        .arg(("punctual:shard", "format", "99"))
        .query::<()>(&mut connection)
        .unwrap();
    let url = format!("redis://:secret@127.0.0.1:{}/3", server.port);
    let newer = RedisStore::open(RedisOptions::new(url)).await.err().unwrap();
    assert!(newer.to_string().contains("format 99"), "{newer}");
}

/// Row 30.
#[tokio::test]
async fn a_server_that_hangs_is_told_and_comes_back() {
    let server = Server::start();
    let node = node(server.url()).await;
    cycle(&node, "before").await;
    server.pause();
    let since = Instant::now();
    let (reason, effect) = refused(push(&node, "meanwhile")).await;
    assert_eq!(effect, Effect::Unknown, "{reason}");
    assert!(since.elapsed() < PATIENCE);
    let since = Instant::now();
    let (_, effect) = refused(push(&node, "later")).await;
    assert_eq!(effect, Effect::None, "nothing was sent");
    assert!(since.elapsed() < RECOVERY, "while it is away, that is said soon");
    assert!(node.0.health().await.is_err());
    server.go_on();
    recovers(&node).await;
    // Whether it came through is not known; repeated under its id, it is there once.
    let _ = push(&node, "meanwhile").await.unwrap();
    assert_eq!(node.state("q", "meanwhile").await, Some(State::Ready));
    assert_eq!(node.live("q").await, 1);
}

/// Row 30: a short hang is waited for.
#[tokio::test]
async fn a_server_that_sleeps_a_while_is_waited_for() {
    let server = Server::start();
    let node = node(server.url()).await;
    let mut other = server.connect();
    let sleeper = std::thread::spawn(move || {
        redis::cmd("DEBUG").arg("SLEEP").arg("1").query::<String>(&mut other).unwrap()
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    cycle(&node, "t").await;
    sleeper.join().unwrap();
}

/// While Redis is away nobody asks in a tight loop, and waiting takers hear when it is back.
#[tokio::test]
async fn a_node_waits_patiently_and_hears_what_it_missed() {
    let server = Server::start();
    let proxy = Proxy::start(server.port).await;
    let node = node(proxy.url()).await;
    let other = Node::open(server.url()).await;
    let mut wakes = node.0.wakeups();
    assert!(node.take("q", 1, 60_000).await.is_empty());
    let before = proxy.connections();
    proxy.lose_requests(1_000);
    let _ = node.0.health().await;
    other.push("q", task("t")).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let tries = proxy.connections() - before;
    assert!((1..30).contains(&tries), "{tries} tries in two seconds");
    proxy.lose_requests(0);
    hear(&mut wakes, ready("q")).await;
    assert_eq!(node.take("q", 1, 60_000).await.len(), 1);
}
