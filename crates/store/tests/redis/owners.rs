//! What people see of owners in Redis, and short ways to make and change them.

use std::collections::{BTreeMap, BTreeSet};

use punctual_core::bundle::{BundleKey, BundlePush, Get, Overwrite};
use punctual_core::plan::{Order, Phase};
use punctual_core::{
    Bundle, Owner, OwnerKey, OwnerKind, Plan, PlanId, RawJson, Settings, Span, Timestamp,
};
use punctual_store::{Changes, OwnerChange, OwnerListing, Store, StoredOwner, Written};
use punctual_testing::redis::Server;

use crate::nodes::{Node, name};

pub(crate) fn bundle_key(text: &str) -> BundleKey {
    BundleKey::parse(text).unwrap()
}

pub(crate) fn a_push(payload: RawJson, ontime: Option<Timestamp>) -> BundlePush {
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
    let order = Order { description: Some("report".to_owned()), ..Order::default() };
    let (id, rule) = (PlanId::parse(text).unwrap(), serde_json::from_str(rule).unwrap());
    let mut plan = Plan::new(id, name(station), order, rule, next_at);
    plan.next_at = Some(next_at);
    plan
}

pub(crate) fn change(
    before: Option<&StoredOwner>,
    key: OwnerKey,
    after: Option<Owner>,
) -> OwnerChange {
    let expected = before.map(|stored| stored.revision);
    OwnerChange { key, expected, after, drop_first: 0, append: Vec::new() }
}

pub(crate) fn as_bundle(stored: &StoredOwner) -> Bundle {
    match &stored.owner {
        Owner::Bundle(bundle) => Bundle::clone(bundle),
        _ => panic!("not a bundle"),
    }
}

pub(crate) fn as_plan(stored: &StoredOwner) -> Plan {
    match &stored.owner {
        Owner::Plan(plan) => Plan::clone(plan),
        _ => panic!("not a plan"),
    }
}

impl Node {
    pub(crate) async fn write(&self, changes: Changes) -> Written {
        self.0.write_one(changes.into()).await.unwrap()
    }

    pub(crate) async fn change_owner(&self, change: OwnerChange) -> Written {
        self.write(change.into()).await
    }

    pub(crate) async fn owner(&self, key: &OwnerKey) -> Option<StoredOwner> {
        self.0.owners(std::slice::from_ref(key)).await.unwrap().remove(0)
    }

    pub(crate) async fn bundle(&self, queue: &str, key: &str) -> Option<StoredOwner> {
        self.owner(&OwnerKey::bundle(&name(queue), &bundle_key(key))).await
    }

    /// Pushes into a bundle as the server does: read, decide, step, and again if that was lost.
    pub(crate) async fn bundle_push(&self, queue: &str, key: &str, push: BundlePush) -> u64 {
        loop {
            let before = self.bundle(queue, key).await;
            let payload = push.payload.clone();
            let bundle = before.as_ref().map(as_bundle);
            let made = push.clone();
            let queue = self.0.queue(&name(queue)).await.unwrap().unwrap();
            let bundle = bundle.map(Box::new);
            let key = bundle_key(key);
            let pushed = made.apply(&queue, &key, bundle, None, self.0.now()).unwrap().bundle;
            let size = pushed.size;
            let owner = Owner::Bundle(pushed);
            let append = vec![payload];
            let change = change(before.as_ref(), owner.key(), Some(owner));
            match self.change_owner(OwnerChange { append, ..change }).await {
                Written::Records { .. } => return size,
                Written::Lost => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Changes a bundle that is there.
    pub(crate) async fn with_bundle(&self, queue: &str, key: &str, act: impl FnOnce(&mut Bundle)) {
        let before = self.bundle(queue, key).await.unwrap();
        let mut bundle = as_bundle(&before);
        act(&mut bundle);
        let after = Owner::Bundle(Box::new(bundle));
        let change = change(Some(&before), after.key(), Some(after));
        assert!(matches!(self.change_owner(change).await, Written::Records { .. }));
    }

    pub(crate) async fn make_plan(&self, plan: Plan) -> Written {
        let owner = Owner::Plan(Box::new(plan));
        self.change_owner(change(None, owner.key(), Some(owner))).await
    }

    pub(crate) async fn items(&self, key: &OwnerKey) -> Vec<RawJson> {
        self.0.items(key, 0, 10_000).await.unwrap()
    }

    pub(crate) async fn listed(&self, kind: OwnerKind) -> Vec<String> {
        let listing =
            OwnerListing { kind, queue: None, prefix: String::new(), cursor: None, limit: 1_000 };
        let items = self.0.list_owners(listing).await.unwrap().items;
        items.iter().map(|stored| stored.owner.key().name.to_string()).collect()
    }
}

pub(crate) fn number(n: usize) -> RawJson {
    RawJson::of(&n)
}

/// A command whose words may hold spaces.
pub(crate) fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query(&mut server.connect()).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

pub(crate) async fn node_with_queue(server: &Server, queue: &str) -> Node {
    let node = Node::open(server.url()).await;
    node.put(queue, |_| ()).await;
    node
}

pub(crate) fn before_size(stored: &StoredOwner) -> u64 {
    as_bundle(stored).size
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
        let random = "a random".to_owned();
        bundle.get(&Get { number: Some(1), timeout: minute, random }, 2, now).unwrap();
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
    let bundle = Box::new(as_bundle(&before));
    let (gone, left) = bundle.complete(None, "a random", now).unwrap();
    let after = Owner::Bundle(left.unwrap());
    let completed = change(Some(&before), after.key(), Some(after));
    let drop_first = usize::try_from(gone).unwrap();
    let stepped = node.change_owner(OwnerChange { drop_first, ..completed }).await;
    assert!(matches!(stepped, Written::Records { .. }));
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
    assert!(matches!(node.make_plan(made.clone()).await, Written::Records { .. }));
    let member = "plan:msg:a%3Astation:00000000000000ff";
    let timer: Vec<(String, f64)> = server.command("ZRANGE punctual:plan:time:set 0 -1 WITHSCORES");
    assert_eq!(timer[0].0, member);
    assert!((timer[0].1 * 1_000.0 - due.as_millis() as f64).abs() < 1.0);
    let record: String = server.command(&format!("GET punctual:{member}"));
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["plan_id"], "00000000000000ff");
    assert_eq!((&record["station"], &record["state"]), (&"a:station".into(), &"scheduled".into()));
    assert_eq!((&record["description"], &record["no_keep"]), (&"report".into(), &false.into()));
    let fields = "request_id caller plan_type plan_value plan_repet plan_time message real_repet";
    for field in fields.split(' ').chain(["exec_time", "last_state"]) {
        assert!(record.get(field).is_some(), "{field}: {record}");
    }
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
        assert!(matches!(stepped, Written::Records { .. }), "{n}");
        assert_eq!(node.items(&key).await, kept);
        assert_eq!(results().len(), kept.len(), "one JSON array");
    }
    assert_eq!(node.0.items(&key, 1, 1).await.unwrap(), kept[1..2]);

    // What has no time to come is not in the timer.
    for (phase, is_timed) in
        [(Phase::Error, false), (Phase::Scheduled, true), (Phase::Paused, false)]
    {
        let before = node.owner(&key).await.unwrap();
        let after = Owner::Plan(Box::new(Plan { phase, ..made.clone() }));
        node.change_owner(change(Some(&before), key.clone(), Some(after))).await;
        let timed: u64 = server.command("ZCARD punctual:plan:time:set");
        assert_eq!(timed == 1, is_timed, "{phase:?}");
    }
    let before = node.owner(&key).await.unwrap();
    node.change_owner(change(Some(&before), key.clone(), None)).await;
    let left: Vec<String> = server.command("KEYS punctual:plan*");
    assert_eq!(left, Vec::<String>::new());
}
