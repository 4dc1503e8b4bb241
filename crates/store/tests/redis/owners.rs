//! Owners in Redis: what people see of them there, lost answers, races of nodes, and hands from outside.

use std::collections::{BTreeMap, BTreeSet};

use punctual_core::bundle::{BundleKey, BundlePush, BundleState, Overwrite};
use punctual_core::calendar::Position;
use punctual_core::plan::{Order, PlanState};
use punctual_core::{
    Bundle, NewTask, Owner, OwnerKey, OwnerKind, OwnerRef, Plan, PlanId, RawJson, Settings, Span,
    Spec, State, Timestamp,
};
use punctual_store::{
    OwnerChange, OwnerListing, Push, PushRefusal, Pushed, Step, Stepped, Store, StoredOwner, Wake,
};

use crate::nodes::{Node, hear, id, name, task};
use crate::proxy::Proxy;
use crate::server::Server;

pub(crate) fn bundle_key(text: &str) -> BundleKey {
    BundleKey::parse(text).unwrap()
}

fn a_push(payload: RawJson, ontime: Option<Timestamp>) -> BundlePush {
    BundlePush {
        payload,
        data: Vec::new(),
        ontime,
        overwrite: Overwrite::Once,
        max_wait: None,
        target: None,
        alone: false,
    }
}

pub(crate) fn plan(station: &str, text: &str, next_at: Timestamp) -> Plan {
    let rule = r#"{"plan_type":"month","plan_value":3,"plan_time":"09:30","plan_repet":-1}"#;
    Plan {
        id: PlanId::parse(text).unwrap(),
        station: name(station),
        order: Order { description: Some("report".to_owned()), ..Order::default() },
        rule: serde_json::from_str(rule).unwrap(),
        created_at: next_at,
        state: PlanState::Scheduled,
        position: Position::start(next_at, 0),
        next_at: Some(next_at),
        living: None,
        number: 1,
        extra: 0,
        real_repet: 0,
        skipped: 0,
        exec_time: None,
        last_state: None,
        error: None,
        finished_at: None,
    }
}

fn change(before: Option<&StoredOwner>, key: OwnerKey, after: Option<Owner>) -> OwnerChange {
    let expected = before.map(|stored| stored.revision);
    OwnerChange { key, expected, after, drop_first: 0, append: Vec::new() }
}

fn as_bundle(stored: &StoredOwner) -> Bundle {
    match &stored.owner {
        Owner::Bundle(bundle) => Bundle::clone(bundle),
        Owner::Plan(_) => panic!("not a bundle"),
    }
}

fn as_plan(stored: &StoredOwner) -> Plan {
    match &stored.owner {
        Owner::Plan(plan) => Plan::clone(plan),
        Owner::Bundle(_) => panic!("not a plan"),
    }
}

impl Node {
    async fn step(&self, step: Step) -> Stepped {
        self.0.step(vec![step]).await.unwrap().remove(0)
    }

    async fn change_owner(&self, change: OwnerChange) -> Stepped {
        self.step(Step { owners: vec![change], ..Step::default() }).await
    }

    async fn owner(&self, key: &OwnerKey) -> Option<StoredOwner> {
        self.0.owners(std::slice::from_ref(key)).await.unwrap().remove(0)
    }

    async fn bundle(&self, queue: &str, key: &str) -> Option<StoredOwner> {
        self.owner(&OwnerKey::bundle(&name(queue), &bundle_key(key))).await
    }

    /// Pushes into a bundle as the server does: read, decide, step, and again if that was lost.
    async fn bundle_push(&self, queue: &str, key: &str, push: BundlePush) -> u64 {
        loop {
            let before = self.bundle(queue, key).await;
            let payload = push.payload.clone();
            let bundle = before.as_ref().map(as_bundle);
            let made = push.clone();
            let (queue, key) = (name(queue), bundle_key(key));
            let pushed = made.apply(&queue, &key, bundle, None, self.0.now()).unwrap().bundle;
            let size = pushed.size;
            let owner = Owner::Bundle(Box::new(pushed));
            let append = vec![payload];
            let change = change(before.as_ref(), owner.key(), Some(owner));
            match self.change_owner(OwnerChange { append, ..change }).await {
                Stepped::Done { .. } => return size,
                Stepped::Lost => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Changes a bundle that is there.
    async fn with_bundle(&self, queue: &str, key: &str, act: impl FnOnce(Bundle) -> Bundle) {
        let before = self.bundle(queue, key).await.unwrap();
        let after = Owner::Bundle(Box::new(act(as_bundle(&before))));
        let change = change(Some(&before), after.key(), Some(after));
        assert!(matches!(self.change_owner(change).await, Stepped::Done { .. }));
    }

    pub(crate) async fn make_plan(&self, plan: Plan) -> Stepped {
        let owner = Owner::Plan(Box::new(plan));
        self.change_owner(change(None, owner.key(), Some(owner))).await
    }

    async fn items(&self, key: &OwnerKey) -> Vec<RawJson> {
        self.0.items(key, 0, 10_000).await.unwrap()
    }

    pub(crate) async fn listed(&self, kind: OwnerKind) -> Vec<String> {
        let listing =
            OwnerListing { kind, queue: None, prefix: String::new(), cursor: None, limit: 1_000 };
        let items = self.0.list_owners(listing).await.unwrap().items;
        items.iter().map(|stored| stored.owner.key().name.to_string()).collect()
    }
}

fn number(n: usize) -> RawJson {
    RawJson::of(&n)
}

/// A command whose words may hold spaces.
fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query(&mut server.connect()).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

async fn node_with_queue(server: &Server, queue: &str) -> Node {
    let node = Node::open(server.url()).await;
    node.put(queue, |_| ()).await;
    node
}

#[tokio::test]
async fn a_bundle_lies_under_the_names_of_the_seeds() {
    let server = Server::start();
    let node = node_with_queue(&server, "a:q").await;
    let due = node.0.now() + Span::from_secs(3_600);
    let mut push = a_push(RawJson::parse(r#"{"n": 1.50}"#).unwrap(), Some(due));
    push.data = vec!["user 7".to_owned(), "user 8".to_owned()];
    assert_eq!(node.bundle_push("a:q", "mail/50%:é", push).await, 1);
    assert_eq!(node.bundle_push("a:q", "mail/50%:é", a_push(number(2), None)).await, 2);

    let member = "a%3Aq/mail/50%25%3Aé";
    let key = format!("punctual:queue:{member}");
    let timer: Vec<(String, f64)> =
        ask(&server, &["ZRANGE", "punctual:timer", "0", "-1", "WITHSCORES"]);
    assert_eq!(timer.len(), 1);
    assert_eq!(timer[0].0, member);
    let score = |score: f64, at: Timestamp| (score * 1_000.0 - at.as_millis() as f64).abs() < 1.0;
    assert!(score(timer[0].1, due), "Unix seconds, with a fraction");
    let payloads: Vec<String> = ask(&server, &["LRANGE", &key, "0", "-1"]);
    assert_eq!(payloads, [r#"{"n": 1.50}"#, "2"], "as they were pushed, in order");
    let data: BTreeSet<String> = ask(&server, &["SMEMBERS", &format!("{key}:data")]);
    assert_eq!(data, BTreeSet::from(["user 7".to_owned(), "user 8".to_owned()]));
    let meta: BTreeMap<String, String> = ask(&server, &["HGETALL", &format!("{key}:meta")]);
    assert_eq!((meta["change"].as_str(), meta["birth"].len()), ("1", 16));
    let record: serde_json::Value = serde_json::from_str(&meta["record"]).unwrap();
    assert_eq!((&record["size"], &record["queue"]), (&2.into(), &"a:q".into()));
    let exists = |suffix: &str| ask::<bool>(&server, &["EXISTS", &format!("{key}:{suffix}")]);
    assert!(!exists("locker") && !exists("overwrite") && !exists("start"));

    // Schedule: it is started.
    let settings = Settings::initial(&name("a:q"));
    let now = node.0.now();
    node.with_bundle("a:q", "mail/50%:é", |bundle| bundle.start(&settings, now)).await;
    let started: f64 = ask(&server, &["GET", &format!("{key}:start")]);
    assert!(score(started, now));

    // Get: it is locked for a while, and the timer goes to the end of the lock.
    let (minute, now) = (Span::from_secs(60), node.0.now());
    node.with_bundle("a:q", "mail/50%:é", |bundle| {
        bundle.get(Some(1), 2, minute, "a random", now).unwrap().bundle
    })
    .await;
    assert_eq!(ask::<String>(&server, &["GET", &format!("{key}:locker")]), "a random");
    let left: i64 = ask(&server, &["PTTL", &format!("{key}:locker")]);
    assert!(left > 50_000 && left <= 60_000, "{left}");
    assert!(exists("overwrite") && !exists("start"));
    let at: f64 = ask(&server, &["ZSCORE", "punctual:timer", member]);
    assert!(score(at, now + minute));

    // Complete one, then delete: nothing is left behind.
    let before = node.bundle("a:q", "mail/50%:é").await.unwrap();
    let now = node.0.now();
    let (left, gone) = as_bundle(&before).complete(None, "a random", now).unwrap();
    let after = Owner::Bundle(Box::new(left.unwrap()));
    let completed = change(Some(&before), after.key(), Some(after));
    let drop_first = usize::try_from(gone).unwrap();
    let stepped = node.change_owner(OwnerChange { drop_first, ..completed }).await;
    assert!(matches!(stepped, Stepped::Done { .. }));
    let payloads: Vec<String> = ask(&server, &["LRANGE", &key, "0", "-1"]);
    assert_eq!(payloads, ["2"]);
    assert!(!exists("locker") && !exists("overwrite") && exists("data"));
    let before = node.bundle("a:q", "mail/50%:é").await.unwrap();
    assert_eq!(as_bundle(&before).data.len(), 2, "the data is kept until the bundle goes");
    node.change_owner(change(Some(&before), before.owner.key(), None)).await;
    let left: Vec<String> = server.command("KEYS punctual:*");
    let of_bundles = |key: &&String| {
        ["queue:", "bundles", "timer"].iter().any(|word| key["punctual:".len()..].starts_with(word))
    };
    assert_eq!(left.iter().filter(of_bundles).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_plan_lies_under_the_names_of_the_seeds() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let due = node.0.now() + Span::from_secs(3_600);
    let made = plan("a:station", "00000000000000ff", due);
    assert!(matches!(node.make_plan(made.clone()).await, Stepped::Done { .. }));
    let member = "plan:msg:a%3Astation:00000000000000ff";
    let timer: Vec<(String, f64)> = server.command("ZRANGE punctual:plan:time:set 0 -1 WITHSCORES");
    assert_eq!(timer[0].0, member);
    assert!((timer[0].1 * 1_000.0 - due.as_millis() as f64).abs() < 1.0);
    let record: String = server.command(&format!("GET punctual:{member}"));
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!((&record["station"], &record["state"]), (&"a:station".into(), &"scheduled".into()));
    assert_eq!(record["order"]["description"], "report");
    let work = "punctual:plan:work:a%3Astation:00000000000000ff";
    let results = || -> Vec<serde_json::Value> {
        serde_json::from_str(&server.command::<String>(&format!("GET {work}"))).unwrap()
    };
    let key = OwnerKey::plan(&made.station, &made.id);
    let texts = ["{\"run\": 1}", "[2,\"],[\"]", "3.0", "null"];
    let mut kept: Vec<RawJson> = Vec::new();
    for (n, text) in texts.iter().cycle().take(10).enumerate() {
        let before = node.owner(&key).await.unwrap();
        assert_eq!(as_plan(&before), made);
        let item = RawJson::parse(text).unwrap();
        let drop_first = usize::from(kept.len() == 3);
        kept.drain(..drop_first);
        kept.push(item.clone());
        let again = change(Some(&before), key.clone(), Some(before.owner.clone()));
        let stepped =
            node.change_owner(OwnerChange { drop_first, append: vec![item], ..again }).await;
        assert!(matches!(stepped, Stepped::Done { .. }), "{n}");
        assert_eq!(node.items(&key).await, kept);
        assert_eq!(results().len(), kept.len(), "one JSON array");
    }
    assert_eq!(node.0.items(&key, 1, 1).await.unwrap(), kept[1..2]);

    // What has no time to come is not in the timer.
    for (state, is_timed) in
        [(PlanState::Error, false), (PlanState::Scheduled, true), (PlanState::Paused, false)]
    {
        let before = node.owner(&key).await.unwrap();
        let after = Owner::Plan(Box::new(Plan { state, ..made.clone() }));
        node.change_owner(change(Some(&before), key.clone(), Some(after))).await;
        let timed: u64 = server.command("ZCARD punctual:plan:time:set");
        assert_eq!(timed == 1, is_timed, "{state:?}");
    }
    let before = node.owner(&key).await.unwrap();
    node.change_owner(change(Some(&before), key.clone(), None)).await;
    let left: Vec<String> = server.command("KEYS punctual:plan*");
    assert_eq!(left, Vec::<String>::new());
}

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
        let stepped = node.step(Step { owners: vec![change], spawn, ..Step::default() }).await;
        assert!(proxy.is_done());
        let Stepped::Done { owners, .. } = stepped else { panic!("its own effect was in its way") };
        assert_eq!(owners[0], node.owner(&key).await.map(|stored| stored.revision));
        assert_eq!(node.items(&key).await.len(), n + 1, "appended once");
        assert_eq!(node.live("q").await, n as u64);
    }
}

fn before_size(stored: &StoredOwner) -> u64 {
    as_bundle(stored).size
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
                if let Stepped::Done { .. } = node.change_owner(taken).await {
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
    let deliver = |n: usize| {
        let key = format!("k{n}");
        let pushed = a_push(number(n), None);
        let bundle = pushed.apply(&name("q"), &bundle_key(&key), None, None, now).unwrap().bundle;
        let bundle = bundle.delivered_by(id(&format!("d{n}")));
        let spec = bundle.delivery(id(&format!("d{n}")), now);
        assert!(matches!(spec.owner, Some(OwnerRef::Bundle(_))));
        let owner = Owner::Bundle(Box::new(bundle));
        let owners = vec![change(None, owner.key(), Some(owner))];
        Step { owners, spawn: vec![spec], ..Step::default() }
    };
    for stepped in node.0.step((0..3).map(deliver).collect()).await.unwrap() {
        assert!(matches!(stepped, Stepped::Done { .. }));
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
    let release = punctual_core::task::Settlement::Release { delay: None, checkpoint: None };
    let token = delivery.task.status.hold.unwrap().token;
    let given =
        node.change(delivery, punctual_core::Event::Settle { token, settlement: release }).await;
    node.0.commit(vec![given]).await.unwrap()[0].unwrap();
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
    let steps = (0..BUNDLES).map(|n| {
        let key = format!("k{n}");
        let pushed = a_push(number(n), None);
        let mut bundle =
            pushed.apply(&name("q"), &bundle_key(&key), None, None, now).unwrap().bundle;
        bundle.abandoned_at = Some(now);
        let owner = Owner::Bundle(Box::new(bundle));
        let append = vec![number(n)];
        let made = OwnerChange { append, ..change(None, owner.key(), Some(owner)) };
        Step { owners: vec![made], ..Step::default() }
    });
    node.0.step(steps.collect()).await.unwrap();
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
    for text in ["bad", "good"] {
        node.make_plan(plan("q", text, now)).await;
    }
    for (text, n) in [("bad", 1), ("good", 2)] {
        let due = now + Span::from_secs(n);
        node.bundle_push("q", text, a_push(number(1), Some(due))).await;
    }
    server.command::<i64>("ZADD punctual:alarm 1 nonsense");
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
    assert_eq!(node.listed(OwnerKind::Plan).await, ["bad", "good"]);
    let key = OwnerKey::plan(&name("q"), &PlanId::parse("bad").unwrap());
    let bad = node.owner(&key).await.unwrap();
    let read = as_plan(&bad);
    assert_eq!((read.state, read.order.description.as_deref()), (PlanState::Error, Some("report")));
    assert!(read.error.unwrap().contains("cannot be read"));
    assert!(node.bundle_error("bad").await);
    assert_eq!(node.0.check(false).await.unwrap(), Vec::<String>::new());
    // Whoever resumes it writes it anew.
    let after = Owner::Plan(Box::new(plan("q", "bad", now)));
    node.change_owner(change(Some(&bad), key.clone(), Some(after.clone()))).await;
    assert_eq!(node.owner(&key).await.unwrap().owner, after);
    assert_eq!(node.0.alarms(9).await.unwrap().len(), 2);
}

impl Node {
    async fn bundle_error(&self, key: &str) -> bool {
        self.0.owners(&[OwnerKey::bundle(&name("q"), &bundle_key(key))]).await.is_err()
    }
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
    let step = Step { owners: vec![more], ..Step::default() };
    let refused = node.0.step(vec![step]).await.unwrap_err();
    assert!(refused.to_string().contains("out of memory"), "{refused}");
    assert_eq!(node.items(&before.owner.key()).await, [number(1)]);
    let now = node.0.now();
    node.with_bundle("q", "k", |bundle| {
        bundle.get(None, 1, Span::from_secs(9), "r", now).unwrap().bundle
    })
    .await;
    let locked = node.bundle("q", "k").await.unwrap();
    let stepped = node.change_owner(change(Some(&locked), locked.owner.key(), None)).await;
    assert!(matches!(stepped, Stepped::Done { .. }));
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
                node.step(Step { owners, tasks, ..Step::default() }).await,
                Stepped::Done { .. }
            )
        };
        let token = held.task.status.hold.unwrap().token;
        let settlement = punctual_core::task::Settlement::Commit { result: None };
        let settle = punctual_core::Event::Settle { token, settlement };
        let (one, other) = tokio::join!(end(&a, settle), end(&b, punctual_core::Event::HoldEnd));
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
