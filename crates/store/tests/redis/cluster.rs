//! A Cluster of three primaries.

use punctual_core::callback::{Callback, End};
use punctual_core::queue::Mode;
use punctual_core::{NewTask, OwnerKind, PlanId, QueueName, Span, State, WorkerName};
use punctual_store::conformance::random;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{Changes, DevClock, Store, Wake, Written};
use punctual_testing::redis::{Cluster, Server};

use crate::nodes::{Node, hear, id, name, ready, task};
use crate::owners::{a_push, change, number, plan};
use crate::subject::Redis;

#[test]
fn random_sequences() {
    let cluster = Cluster::start();
    random::compare(15, |clock| Redis::new(cluster.url(), clock));
}

#[test]
fn random_lists() {
    let cluster = Cluster::start();
    random::walk(30, |clock| Redis::new(cluster.url(), clock));
}

#[tokio::test]
async fn queues_are_spread_over_the_servers() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    for n in 0..60 {
        let queue = format!("queue-{n}");
        node.put(&queue, |_| ()).await;
        node.push(&queue, task("t")).await;
    }
    for server in &cluster.servers {
        let keys: Vec<String> = server.command("KEYS punctual:{*}:t:*");
        assert!(keys.len() > 5, "{} of 60 tasks are here", keys.len());
    }
    assert_eq!(node.0.queues().await.unwrap().len(), 60 + QueueName::BUILT_IN.len());
    let names: Vec<_> = (0..60).map(|n| name(&format!("queue-{n}"))).collect();
    let stats = node.0.stats(&names).await.unwrap();
    assert!(stats.iter().all(|stats| stats.unwrap().count(State::Ready) == 1));
}

#[tokio::test]
async fn nodes_hear_of_each_other() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    let mut wakes = b.0.wakeups();
    for n in 0..9 {
        let queue = format!("queue-{n}");
        a.put(&queue, |_| ()).await;
        assert!(b.take(&queue, 1, 60_000).await.is_empty());
        a.push(&queue, task("t")).await;
        hear(&mut wakes, ready(&queue)).await;
        assert_eq!(b.take(&queue, 1, 60_000).await.len(), 1);
    }
}

#[tokio::test]
async fn callbacks_reach_queues_on_other_servers() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    a.put("q", |_| ()).await;
    let mut wakes = b.0.wakeups();
    for n in 0..20 {
        let after = format!("after-{n}");
        let callback =
            Callback { on: vec![End::Done], http: None, queue: Some(name(&after)), task: None };
        a.push("q", NewTask { callback: Some(Box::new(callback)), ..task(&format!("t{n}")) }).await;
        let held = a.take("q", 1, 60_000).await;
        a.commit(&held[0]).await.unwrap();
        hear(&mut wakes, ready(&after)).await;
        assert_eq!(b.take(&after, 9, 60_000).await[0].task.spec.id, id("called-back"));
    }
}

/// Plans of one id in queues of different shards: whoever comes first has it, whatever node it asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_id_of_a_plan_is_unique_over_all_shards() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    let now = a.0.now();
    for round in 0..10 {
        let text = format!("p{round}");
        let stations: Vec<_> = (0..4).map(|n| format!("station-{round}-{n}")).collect();
        let makers = stations.iter().enumerate().map(|(n, station)| {
            let node = [&a, &b][n % 2];
            node.make_plan(plan(station, &text, now))
        });
        let made = futures_util::future::join_all(makers).await;
        let done = made.iter().filter(|made| matches!(made, Written::Records { .. })).count();
        assert_eq!(done, 1, "{made:?}");
        let winner = made.iter().position(|made| matches!(made, Written::Records { .. })).unwrap();
        let station = b.0.station(&PlanId::parse(&text).unwrap()).await.unwrap();
        assert_eq!(station, Some(name(&stations[winner])));
    }
    assert_eq!(a.listed(OwnerKind::Plan).await.len(), 10);
    assert_eq!(a.0.check(false).await.unwrap(), Vec::<String>::new());
}

/// A step ends a task whose callback belongs to another shard.
#[tokio::test]
async fn bundles_are_heard_of_and_what_steps_make_reaches_other_servers() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    let mut wakes = b.0.wakeups();
    for n in 0..12 {
        let (queue, after) = (format!("queue-{n}"), format!("after-{n}"));
        a.put(&queue, |_| ()).await;
        assert_eq!(a.bundle_push(&queue, "k", a_push(number(n), None)).await, 1);
        let is_told =
            |wake: &Wake| matches!(wake, Wake::Bundles { queue: q } if *q == name(&queue));
        hear(&mut wakes, is_told).await;
        let callback =
            Callback { on: vec![End::Done], http: None, queue: Some(name(&after)), task: None };
        a.push(&queue, NewTask { callback: Some(Box::new(callback)), ..task("t") }).await;
        let held = a.take(&queue, 1, 60_000).await.remove(0);
        let token = held.task.status.hold.unwrap().token;
        let settlement = punctual_core::task::Settlement::Commit { result: None };
        let ended = a.change(&held, punctual_core::Event::Settle { token, settlement }).await;
        let before = b.bundle(&queue, "k").await.unwrap();
        let owners = vec![change(Some(&before), before.owner.key(), None)];
        let stepped = a.write(Changes { owners, tasks: vec![ended], ..Changes::default() }).await;
        assert!(matches!(stepped, Written::Records { .. }));
        hear(&mut wakes, ready(&after)).await;
        assert_eq!(b.take(&after, 9, 60_000).await[0].task.spec.id, id("called-back"));
    }
    assert_eq!(b.listed(OwnerKind::Bundle).await, Vec::<String>::new());
}

/// A worker's queues lie in several shards; what it holds is the sum over all of them.
#[tokio::test]
async fn a_worker_holds_tasks_of_many_shards() {
    let cluster = Cluster::start();
    let (a, b) = (Node::open(cluster.url()).await, Node::open(cluster.url()).await);
    let mut wakes = b.0.wakeups();
    let worker = WorkerName::parse("w").unwrap();
    for n in 0..12 {
        let queue = format!("queue-{n}");
        a.put(&queue, |queue| queue.settings.mode = Mode::Dispatch).await;
        a.push(&queue, task("t")).await;
        a.push(&queue, task("u")).await;
        let given = [&a, &b][n % 2].take_as(&queue, &worker, 9, Some(10)).await;
        assert_eq!(given.len(), if n < 5 { 2 } else { 0 });
        if n < 5 {
            hear(&mut wakes, |wake| *wake == Wake::Worker { worker: worker.clone() }).await;
        }
    }
    assert_eq!(b.0.loads(std::slice::from_ref(&worker)).await.unwrap(), [10]);
    assert_eq!(b.0.holdings(&worker).await.unwrap().len(), 10);
    let places = (0..12).map(|n| name(&format!("queue-{n}")));
    assert!(places.clone().any(|place| !a.0.shares_place(&place, &name("queue-0"))));
    assert!(places.clone().all(|place| a.0.shares_place(&place, &place)));
    for place in places {
        assert!(a.0.delete_queue(&place).await.unwrap());
    }
    assert_eq!(b.0.loads(&[worker]).await.unwrap(), [0]);
    assert_eq!(a.0.check(false).await.unwrap(), Vec::<String>::new());
}

/// The clock of all shards is moved, and a server that died half way leaves no two clocks.
#[tokio::test]
async fn a_clock_is_moved_in_every_shard() {
    let cluster = Cluster::start();
    let open = async || {
        let options = RedisOptions { is_dev: true, ..RedisOptions::new(cluster.url()) };
        RedisStore::open(options).await.unwrap()
    };
    let of_shards = |field: &str| -> Vec<(usize, String, i64)> {
        let of_server = |(place, server): (usize, &Server)| {
            let keys: Vec<String> = server.command("KEYS punctual:{*}:shard");
            let read = move |key: String| {
                let value = server.command::<i64>(&format!("HGET {key} {field}"));
                (place, key, value)
            };
            keys.into_iter().map(read).collect::<Vec<_>>()
        };
        cluster.servers.iter().enumerate().flat_map(of_server).collect()
    };
    let is_everywhere = |ahead: i64| {
        let all = of_shards("ahead");
        assert_eq!(all.len(), 64);
        assert!(all.iter().all(|(.., of_shard)| *of_shard == ahead), "{ahead}: {all:?}");
    };
    let store = open().await;
    let before = store.now();
    store.shift(3_600_000).await.unwrap();
    store.tick().await.unwrap();
    is_everywhere(3_600_000);
    assert!(store.now() >= before + Span::from_secs(3_600));
    store.shift(-600_000).await.unwrap();
    is_everywhere(3_000_000);
    let numbers = of_shards("number");
    let (place, first, _) = numbers.iter().find(|(.., number)| *number == 0).unwrap();
    let half_way = format!("HINCRBY {first} ahead 1000");
    assert_eq!(cluster.servers[*place].command::<i64>(&half_way), 3_001_000);
    drop(store);
    let store = open().await;
    is_everywhere(3_001_000);
    // Two servers move it at once.
    let (one, other) = (open().await, open().await);
    let (a, b, c) = tokio::join!(one.shift(10), other.shift(200), store.shift(3_000));
    a.and(b).and(c).unwrap();
    is_everywhere(3_004_210);
}

/// FAULTS row 27: a slot moves to another server under load; requests wait, nothing is lost or doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_may_move_to_another_server() {
    let cluster = std::sync::Arc::new(Cluster::start());
    let node = Node::open(cluster.url()).await;
    let other = Node::open(cluster.url()).await;
    node.put("q", |_| ()).await;
    for n in 0..100 {
        node.push("q", task(&format!("before-{n}"))).await;
    }
    let (prefix, from) = cluster.home("q");
    let slot: u16 = cluster.servers[0].command(&format!("CLUSTER KEYSLOT {prefix}shard"));
    let mover = cluster.clone();
    let moved = tokio::task::spawn_blocking(move || mover.move_slot(slot, from, (from + 1) % 3));
    let (mut pushed, mut refused) = (0, 0);
    while !moved.is_finished() || pushed < 20 {
        assert!(refused < 20, "requests are carried out again");
        let tasks = vec![node.spec("q", task(&format!("while-{}", pushed + refused)))];
        let push = punctual_store::Push { queue: name("q"), tasks, keyed: None };
        match node.0.push(push).await {
            Ok(punctual_store::Pushed::Answers(answers)) if answers[0].is_ok() => pushed += 1,
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                refused += 1;
            }
        }
    }
    moved.await.unwrap();
    assert_eq!(node.live("q").await, 100 + pushed, "{refused} were refused");
    let mut wakes = other.0.wakeups();
    let taken = other.take("q", 1_000, 600_000).await;
    assert_eq!(taken.len() as u64, 100 + pushed);
    assert!(other.take("q", 1, 60_000).await.is_empty());
    // Words about the shard come from its new server.
    let heard = async {
        for n in 0.. {
            node.push("q", task(&format!("after-{n}"))).await;
            let wait = std::time::Duration::from_millis(500);
            if tokio::time::timeout(wait, hear(&mut wakes, ready("q"))).await.is_ok() {
                return;
            }
            other.take("q", 1, 60_000).await;
        }
    };
    tokio::time::timeout(punctual_testing::PATIENCE, heard)
        .await
        .expect("the other node hears of it");
}

/// FAULTS row 27a: a node ended after it handed a callback over and before it noted that. Whoever finds
/// the entry hands it over again, and nothing comes of it.
#[tokio::test]
async fn a_callback_handed_over_twice_is_made_once() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    node.put("q", |_| ()).await;
    let (home, server) = cluster.home("q");
    // A queue of another shard.
    let mut after = None;
    for n in 0..20 {
        let queue = format!("after-{n}");
        node.put(&queue, |_| ()).await;
        let (prefix, place) = cluster.home(&queue);
        if prefix != home {
            after = Some((queue, prefix, place));
        }
    }
    let (queue, prefix, place) = after.unwrap();
    let number: usize = cluster.servers[place].command(&format!("HGET {prefix}shard number"));
    let spec = node.spec(&queue, task("made"));
    let mut entry = b"9000000000000001 ".to_vec();
    entry.extend(postcard::to_stdvec(&*spec).unwrap());
    let leave_entry = || {
        let mut connection = cluster.servers[server].connect();
        let outbox = format!("outbox:{number}");
        let mut leave = redis::pipe();
        leave.cmd("RPUSH").arg(format!("{home}{outbox}")).arg(&entry[..]);
        leave.cmd("ZADD").arg(format!("{home}agenda")).arg(1).arg(outbox);
        leave.query::<()>(&mut connection).unwrap();
    };
    for round in 0..3 {
        leave_entry();
        node.0.tick().await.unwrap();
        let taken = node.take(&queue, 9, 60_000).await;
        assert_eq!(taken.len(), usize::from(round == 0), "made once");
        for stored in &taken {
            assert_eq!(stored.task.spec, spec);
            node.commit(stored).await.unwrap();
        }
        let left: u64 = cluster.servers[server].command(&format!("EXISTS {home}outbox:{number}"));
        assert_eq!(left, 0, "it is removed where it was noted");
    }
}

/// One server of three is away: the others go on, and all is well when it is back.
#[tokio::test]
async fn a_server_that_is_away_stops_only_its_shards() {
    let mut cluster = Cluster::start();
    for server in &cluster.servers {
        server.command::<String>("CONFIG SET cluster-require-full-coverage no");
        server.command::<String>("CONFIG SET appendfsync always");
    }
    let node = Node::open(cluster.url()).await;
    let mut homes = std::collections::BTreeMap::new();
    for n in 0..20 {
        let queue = format!("queue-{n}");
        node.put(&queue, |_| ()).await;
        homes.entry(cluster.home(&queue).1).or_insert(queue);
    }
    let now = node.0.now();
    for (place, queue) in &homes {
        node.make_plan(plan(queue, &format!("plan-{place}"), now)).await;
    }
    cluster.servers[1].kill();
    for place in [0, 2] {
        node.push(&homes[&place], task("meanwhile")).await;
        let id = PlanId::parse(&format!("plan-{place}")).unwrap();
        assert_eq!(node.0.station(&id).await.unwrap(), Some(name(&homes[&place])));
    }
    assert_eq!(node.0.alarms(9).await.unwrap().len(), 2, "those that can be reached");
    assert!(node.0.station(&PlanId::parse("plan-1").unwrap()).await.unwrap_err().is_retryable());
    let tasks = vec![node.spec(&homes[&1], task("meanwhile"))];
    let push = punctual_store::Push { queue: name(&homes[&1]), tasks, keyed: None };
    let refused = node.0.push(push).await.unwrap_err();
    assert!(refused.is_retryable(), "{refused}");
    assert!(node.0.health().await.is_err());
    cluster.servers[1].run();
    let since = std::time::Instant::now();
    while let Err(error) = node.0.health().await {
        assert!(since.elapsed() < std::time::Duration::from_secs(60), "it comes back: {error}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    for place in 0..3 {
        node.push(&homes[&place], task("after")).await;
    }
}
