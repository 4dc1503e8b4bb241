//! Owners under lost answers, races of nodes, a full memory, and hands from outside.

use punctual_core::bundle::{BundleState, Get};
use punctual_core::plan::PlanState;
use punctual_core::task::Settlement;
use punctual_core::{
    Bundle, Event, NewTask, Owner, OwnerKey, OwnerKind, OwnerRef, PlanId, RawJson, Settings, Span,
    Spec, State,
};
use punctual_store::conformance::owner_of;
use punctual_store::{Changes, OwnerChange, Push, PushRefusal, Pushed, Store, Wake, Written};
use punctual_testing::redis::Server;

use crate::nodes::{Node, hear, id, name, task};
use crate::owners::{
    a_push, as_bundle, as_plan, ask, before_size, bundle_key, change, node_with_queue, number, plan,
};
use crate::proxy::Proxy;

/// FAULTS row 26.
#[tokio::test]
async fn a_step_whose_answer_is_lost_has_no_second_effect() {
    let server = Server::start();
    let proxy = Proxy::start(server.port).await;
    let node = Node::open(proxy.url()).await;
    node.put("q", |_| ()).await;
    let key = OwnerKey::bundle(&name("q"), &bundle_key("k"));
    node.bundle_push("q", "k", a_push(number(0), None)).await;
    for n in 1..20 {
        let before = node.owner(&key).await.unwrap();
        let pushed = Bundle { size: before_size(&before) + 1, ..as_bundle(&before) };
        let after = Owner::Bundle(Box::new(pushed));
        let append = vec![number(n)];
        let change = OwnerChange { append, ..change(Some(&before), key.clone(), Some(after)) };
        let spawn = vec![Spec::clone(&node.spec("q", task(&format!("t{n}"))))];
        proxy.lose_answers(1 + n as u32 % 2);
        let stepped =
            node.write(Changes { owners: vec![change], births: spawn, ..Changes::default() }).await;
        assert!(proxy.is_done());
        let Written::Records { owners, .. } = stepped else {
            panic!("its own effect was in its way")
        };
        assert_eq!(owners[0], node.owner(&key).await.map(|stored| stored.revision));
        assert_eq!(node.items(&key).await.len(), n + 1, "appended once");
        assert_eq!(node.live("q").await, n as u64);
    }
}

/// Two nodes push into one bundle while both complete what they got from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payloads_are_neither_lost_nor_doubled_when_nodes_race() {
    const PUSHES: usize = 150;
    let server = Server::start();
    let (a, b) = (node_with_queue(&server, "q").await, Node::open(server.url()).await);
    let key = OwnerKey::bundle(&name("q"), &bundle_key("k"));
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..4 {
        let node = Node([&a, &b][n % 2].0.clone());
        tasks.spawn(async move {
            for i in 0..PUSHES {
                node.bundle_push("q", "k", a_push(number(n * PUSHES + i), None)).await;
            }
            Vec::new()
        });
    }
    for n in 0..2 {
        let (node, key) = (Node([&a, &b][n].0.clone()), key.clone());
        tasks.spawn(async move {
            let mut got = Vec::new();
            for _ in 0..100 {
                let Some(before) = node.owner(&key).await else { continue };
                let most = usize::try_from(before_size(&before)).unwrap().min(7);
                let items = node.0.items(&key, 0, most).await.unwrap();
                let left = before_size(&before) - items.len() as u64;
                let bundle = Bundle { size: left, ..as_bundle(&before) };
                let after = (left > 0).then(|| Owner::Bundle(Box::new(bundle)));
                let taken = change(Some(&before), key.clone(), after);
                let taken = OwnerChange { drop_first: items.len(), ..taken };
                if let Written::Records { .. } = node.change_owner(taken).await {
                    got.extend(items);
                }
            }
            got
        });
    }
    let mut all: Vec<RawJson> = Vec::new();
    while let Some(got) = tasks.join_next().await {
        all.extend(got.unwrap());
    }
    let left = a.items(&key).await;
    let size = a.owner(&key).await.map_or(0, |stored| before_size(&stored));
    assert_eq!(left.len() as u64, size);
    all.extend(left);
    let mut numbers: Vec<usize> = all.iter().map(|item| item.as_str().parse().unwrap()).collect();
    for n in 0..4 {
        let of_one = numbers.iter().filter(|number| **number / PUSHES == n);
        assert_eq!(of_one.count(), PUSHES);
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 4 * PUSHES);
    assert_eq!(a.0.check(false).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn nodes_hear_of_bundles_and_alarms_of_each_other() {
    let server = Server::start();
    let (a, b) = (node_with_queue(&server, "q").await, Node::open(server.url()).await);
    let mut wakes = b.0.wakeups();
    let bundles = |wake: &Wake| matches!(wake, Wake::Bundles { queue } if *queue == name("q"));
    a.bundle_push("q", "k", a_push(number(1), None)).await;
    hear(&mut wakes, bundles).await;
    assert_eq!(b.0.first_due(&name("q")).await.unwrap().unwrap().owner.key().name.as_ref(), "k");
    let due = a.0.now() + Span::from_millis(300);
    a.make_plan(plan("q", "p", due)).await;
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
    assert!(b.0.now() >= due, "not before its time");
    assert_eq!(b.0.alarms(9).await.unwrap().len(), 1);
    // Whoever was first to hear of it may be gone: it is said again until somebody has dealt with it.
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
    while wakes.try_recv().is_ok() {}
    server.command::<i64>("PUBLISH punctual:action:push look");
    hear(&mut wakes, bundles).await;
}

/// `max` is for tasks that are pushed; what delivers bundles is not in its way.
#[tokio::test]
async fn deliveries_do_not_fill_a_queue() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("q", |queue| queue.settings.max = Some(2)).await;
    let now = node.0.now();
    let queue = node.0.queue(&name("q")).await.unwrap().unwrap();
    let deliver = |n: usize| {
        let key = format!("k{n}");
        let pushed = a_push(number(n), None);
        let pushed = pushed.apply(&queue, &bundle_key(&key), None, None, now).unwrap();
        let mut bundle = pushed.bundle;
        let spec = bundle.deliver_by(id(&format!("d{n}")), now);
        assert!(matches!(spec.owner, Some(OwnerRef::Bundle(_))));
        let owner = Owner::Bundle(bundle);
        let owners = vec![change(None, owner.key(), Some(owner))];
        Changes { owners, births: vec![spec], ..Changes::default() }
    };
    for stepped in node.0.write((0..3).map(deliver).map(Into::into).collect()).await {
        let stepped = stepped.unwrap();
        assert!(matches!(stepped, Written::Records { .. }));
    }
    let push = async |text: &str| {
        let tasks = vec![node.spec("q", task(text))];
        let push = Push { queue: name("q"), tasks, keyed: None };
        match node.0.push(push).await.unwrap() {
            Pushed::Answers(mut answers) => answers.remove(0).map(drop),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([push("a").await, push("b").await], [Ok(()), Ok(())]);
    assert_eq!(push("c").await, Err(PushRefusal::Full));
    let stats = node.0.stats(&[name("q")]).await.unwrap()[0].unwrap();
    assert_eq!((stats.live(), stats.bundles), (5, 3));
    // A delivery that is held and given back is still one.
    let held = node.take("q", 9, 60_000).await;
    let delivery = held.iter().find(|held| held.task.spec.id == id("d0")).unwrap();
    assert_eq!(delivery.task.spec.owner, Some(OwnerRef::Bundle(bundle_key("k0"))));
    let release = Settlement::Release { delay: None, checkpoint: None };
    let token = delivery.task.status.hold.unwrap().token;
    let given = node.change(delivery, Event::Settle { token, settlement: release }).await;
    node.0.write_one(given.into()).await.unwrap().task().unwrap();
    let read = node.0.read(&name("q"), &[id("d0")]).await.unwrap().remove(0).unwrap();
    assert_eq!(read.task.spec.owner, Some(OwnerRef::Bundle(bundle_key("k0"))));
    assert_eq!(push("c").await, Err(PushRefusal::Full));
    node.0.remove(&name("q"), &[id("a"), id("d0")]).await.unwrap();
    assert_eq!(push("c").await, Ok(()));
    assert_eq!(push("d").await, Err(PushRefusal::Full));
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_reset_of_many_bundles_is_one_step_and_leaves_nothing() {
    const BUNDLES: usize = 2_000;
    let server = Server::start();
    let node = node_with_queue(&server, "q").await;
    let now = node.0.now();
    let queue = node.0.queue(&name("q")).await.unwrap().unwrap();
    let steps = (0..BUNDLES).map(|n| {
        let key = format!("k{n}");
        let pushed = a_push(number(n), None);
        let mut bundle = pushed.apply(&queue, &bundle_key(&key), None, None, now).unwrap().bundle;
        bundle.abandoned_at = Some(now);
        let owner = Owner::Bundle(bundle);
        let append = vec![number(n)];
        let made = OwnerChange { append, ..change(None, owner.key(), Some(owner)) };
        Changes { owners: vec![made], ..Changes::default() }
    });
    for written in node.0.write(steps.map(Into::into).collect()).await {
        written.unwrap();
    }
    node.make_plan(plan("q", "p", now)).await;
    assert!(node.0.reset_queue(&name("q")).await.unwrap());
    let stats = node.0.stats(&[name("q")]).await.unwrap()[0].unwrap();
    assert_eq!(stats.bundles, 0);
    assert_eq!(node.0.alarms(10).await.unwrap().len(), 1, "alarms of what is gone do not ring");
    // A new one comes under the name of one that the sweep has not got to yet.
    node.bundle_push("q", "k1999", a_push(number(7), None)).await;
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    while node.0.sweep(300).await.unwrap() {}
    let keys: Vec<String> = server.command("KEYS punctual:queue:*");
    assert_eq!(keys.len(), 2, "its list and its record: {keys:?}");
    let left: [u64; 3] = ["timer", "bundles:due:q", "alarm"]
        .map(|index| server.command(&format!("ZCARD punctual:{index}")));
    assert_eq!(left, [1, 1, 1], "the new bundle, and the alarm of the plan");
    assert!(!server.command::<bool>("EXISTS punctual:dropped"));
    assert_eq!(node.listed(OwnerKind::Bundle).await, ["k1999"]);
    assert_eq!(node.listed(OwnerKind::Plan).await, ["p"]);
}

/// A plan that cannot be read is in `error` and does not run; the others go on.
#[tokio::test]
async fn what_cannot_be_read_keeps_nobody_else_waiting() {
    let server = Server::start();
    let node = node_with_queue(&server, "q").await;
    let now = node.0.now();
    for text in ["bad", "empty", "good", "list"] {
        node.make_plan(plan("q", text, now)).await;
    }
    for (text, n) in [("bad", 1), ("good", 2)] {
        let due = now + Span::from_secs(n);
        node.bundle_push("q", text, a_push(number(1), Some(due))).await;
    }
    server.command::<i64>("ZADD punctual:alarm 1 nonsense");
    let empty: String = server.command("GET punctual:plan:msg:q:empty");
    assert!(empty.starts_with('{'));
    server.command::<i64>("DEL punctual:plan:msg:q:empty punctual:plan:msg:q:list");
    server.command::<i64>("RPUSH punctual:plan:msg:q:list nonsense");
    server.command::<String>("SET punctual:plan:msg:q:bad nonsense");
    server.command::<i64>("HSET punctual:queue:q/bad:meta record nonsense");
    let rung = node.0.alarms(9).await.unwrap();
    assert_eq!(rung.len(), 1);
    assert_eq!(rung[0].owner.key().name.as_ref(), "good");
    let members: Vec<String> = server.command("ZRANGE punctual:plan:time:set 0 -1");
    assert_eq!(members, ["plan:msg:q:good"]);
    let first = node.0.first_due(&name("q")).await.unwrap().unwrap();
    assert_eq!(first.owner.key().name.as_ref(), "good");
    assert_eq!(node.listed(OwnerKind::Bundle).await, ["good"]);
    assert_eq!(node.listed(OwnerKind::Plan).await, ["bad", "empty", "good", "list"]);
    let key = OwnerKey::plan(&name("q"), &PlanId::parse("bad").unwrap());
    let bad = node.owner(&key).await.unwrap();
    let read = as_plan(&bad);
    assert_eq!(
        (read.state(), read.order.description.as_deref()),
        (PlanState::Error, Some("report"))
    );
    assert!(read.error.unwrap().contains("cannot be read"));
    assert!(node.0.owners(&[OwnerKey::bundle(&name("q"), &bundle_key("bad"))]).await.is_err());
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    // Whoever resumes it writes it anew.
    let after = Owner::Plan(Box::new(plan("q", "bad", now)));
    node.change_owner(change(Some(&bad), key.clone(), Some(after.clone()))).await;
    assert_eq!(node.owner(&key).await.unwrap().owner, after);
    assert_eq!(node.0.alarms(9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_lost_from_the_indexes_of_owners_is_found_and_mended() {
    let server = Server::start();
    let node = node_with_queue(&server, "q").await;
    let now = node.0.now();
    node.make_plan(plan("q", "p", now + Span::from_secs(60))).await;
    node.bundle_push("q", "k", a_push(number(1), None)).await;
    let settings =
        Settings { abandon_after: Some(Span::from_secs(50)), ..Settings::initial(&name("q")) };
    node.with_bundle("q", "k", |bundle| bundle.start(&settings, now)).await;
    let bundle = node.bundle("q", "k").await.unwrap();
    assert!(matches!(as_bundle(&bundle).state, BundleState::Started { .. }));
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    for index in [
        "timer",
        "bundles",
        "bundles:q",
        "bundles:due:q",
        "alarm",
        "plans",
        "plans:q",
        "plan:ids",
        "plan:time:set",
        "agenda",
    ] {
        assert_eq!(server.command::<i64>(&format!("DEL punctual:{index}")), 1, "{index}");
        assert!(!node.0.check(false).await.unwrap().is_empty(), "{index} is missed");
        assert!(!node.0.check(true).await.unwrap().is_empty());
        assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new(), "{index} is mended");
    }
    for (index, member) in [
        ("timer", "q/ghost"),
        ("bundles", "ghost"),
        ("bundles:q", "ghost"),
        ("bundles:due:q", "ghost"),
        ("alarm", "plan:q:ghost"),
        ("alarm", "nonsense"),
        ("plan:ids", "ghost q"),
        ("plans:q", "ghost"),
        ("plan:time:set", "plan:msg:q:ghost"),
    ] {
        ask::<i64>(&server, &["ZADD", &format!("punctual:{index}"), "1", member]);
        assert_eq!(node.0.check(true).await.unwrap().len(), 1, "{member} in {index}");
        assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    }
    assert_eq!(node.bundle("q", "k").await, Some(bundle));
    assert_eq!(node.listed(OwnerKind::Plan).await, ["p"]);
}

/// Owners that are alike whatever they are: a flow, its steps, a worker, a vote.
#[tokio::test]
async fn what_is_lost_from_the_indexes_of_other_owners_is_found_and_mended() {
    let server = Server::start();
    let node = node_with_queue(&server, "q").await;
    let now = node.0.now() + Span::from_secs(60);
    let kinds = [OwnerKind::Flow, OwnerKind::Step, OwnerKind::Worker, OwnerKind::Vote];
    let owners = kinds.map(|kind| owner_of(kind, "q", "n", now));
    let owners_made = owners.iter().map(|owner| change(None, owner.key(), Some(owner.clone())));
    let step = Changes { owners: owners_made.collect(), ..Changes::default() };
    assert!(matches!(node.write(step).await, Written::Records { .. }));
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    for kind in kinds.map(OwnerKind::name) {
        for index in [format!("{kind}s"), format!("{kind}s:q"), "alarm".to_owned()] {
            assert_eq!(server.command::<i64>(&format!("DEL punctual:{index}")), 1, "{index}");
            assert!(!node.0.check(false).await.unwrap().is_empty(), "{index} is missed");
            assert!(!node.0.check(true).await.unwrap().is_empty());
            assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new(), "{index}");
        }
        let ghosts = [
            (format!("{kind}s"), "ghost".to_owned()),
            (format!("{kind}s:q"), "ghost".to_owned()),
            ("alarm".to_owned(), format!("{kind}:q:ghost")),
        ];
        for (index, member) in ghosts {
            ask::<i64>(&server, &["ZADD", &format!("punctual:{index}"), "1", &member]);
            assert_eq!(node.0.check(true).await.unwrap().len(), 1, "{member} in {index}");
            assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
        }
    }
    for owner in &owners {
        assert_eq!(node.owner(&owner.key()).await.unwrap().owner, *owner);
    }
    // One that cannot be read keeps no other waiting.
    let mut wakes = node.0.wakeups();
    let soon = owner_of(OwnerKind::Flow, "soon", "", node.0.now());
    let bad = owner_of(OwnerKind::Flow, "bad", "", node.0.now());
    for owner in [&bad, &soon] {
        node.change_owner(change(None, owner.key(), Some(owner.clone()))).await;
    }
    server.command::<i64>("HSET punctual:flow:bad:bad packed nonsense");
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
    let rung = node.0.alarms(9).await.unwrap();
    assert_eq!(rung.len(), 1);
    assert_eq!(rung[0].owner, soon);
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
}

/// Out of memory, nothing is pushed into bundles; what is there can be finished.
#[tokio::test]
async fn out_of_memory_bundles_can_still_be_completed() {
    let server = Server::start();
    let node = node_with_queue(&server, "q").await;
    node.bundle_push("q", "k", a_push(number(1), None)).await;
    let before = node.bundle("q", "k").await.unwrap();
    server.command::<String>("CONFIG SET maxmemory 1");
    let pushed = Owner::Bundle(Box::new(Bundle { size: 2, ..as_bundle(&before) }));
    let more = change(Some(&before), pushed.key(), Some(pushed));
    let more = OwnerChange { append: vec![number(2)], ..more };
    let step = Changes { owners: vec![more], ..Changes::default() };
    let refused = node.0.write_one(step.into()).await.unwrap_err();
    assert!(refused.to_string().contains("out of memory"), "{refused}");
    assert_eq!(node.items(&before.owner.key()).await, [number(1)]);
    let now = node.0.now();
    node.with_bundle("q", "k", |bundle| {
        let get = Get { number: None, timeout: Span::from_secs(9), random: "r".to_owned() };
        bundle.get(&get, 1, now).unwrap();
    })
    .await;
    let locked = node.bundle("q", "k").await.unwrap();
    let stepped = node.change_owner(change(Some(&locked), locked.owner.key(), None)).await;
    assert!(matches!(stepped, Written::Records { .. }));
    assert_eq!(node.bundle("q", "k").await, None);
}

/// The end of a task and what it makes of its owner are one step, lost together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_nodes_that_end_one_run_exactly_one_wins() {
    let server = Server::start();
    let (a, b) = (node_with_queue(&server, "q").await, Node::open(server.url()).await);
    let made = plan("q", "p", a.0.now());
    let key = OwnerKey::plan(&made.station, &made.id);
    a.make_plan(made.clone()).await;
    for round in 1..=50 {
        let text = format!("p@{round}");
        a.push("q", NewTask { priority: Some(1), ..task(&text) }).await;
        let held = a.take("q", 1, 60_000).await.remove(0);
        let before = a.owner(&key).await.unwrap();
        let end = async |node: &Node, event| {
            let ended = node.change(&held, event).await;
            let mut after = as_plan(&before);
            after.real_repet += 1;
            let after = Owner::Plan(Box::new(after));
            let owner = change(Some(&before), key.clone(), Some(after));
            let owners = vec![OwnerChange { append: vec![number(round)], ..owner }];
            let tasks = vec![ended];
            matches!(
                node.write(Changes { owners, tasks, ..Changes::default() }).await,
                Written::Records { .. }
            )
        };
        let token = held.task.status.hold.unwrap().token;
        let settlement = Settlement::Commit { result: None };
        let settle = Event::Settle { token, settlement };
        let (one, other) = tokio::join!(end(&a, settle), end(&b, Event::HoldEnd));
        assert!(one ^ other, "exactly one of them wins");
        let stored = a.owner(&key).await.unwrap();
        assert_eq!(as_plan(&stored).real_repet, round as u64);
        assert_eq!(a.items(&key).await.len(), round);
        let state = b.state("q", &text).await;
        assert_eq!(state.is_none(), one, "{state:?}");
        assert!(one || state == Some(State::Ready), "{state:?}");
        a.0.remove(&name("q"), &[id(&text)]).await.unwrap();
    }
    assert_eq!(a.0.check(false).await.unwrap(), Vec::<String>::new());
}
