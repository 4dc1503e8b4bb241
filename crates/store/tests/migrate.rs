//! Everything from one store to another: whatever happened in one, goes on in the other as if nothing had
//! been moved.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use punctual_core::{NewTask, Queue, QueueName, RawJson, Settings, Spec, TaskId};
use punctual_store::conformance::{self, Subject};
use punctual_store::local::{Filling, LocalOptions, LocalStore};
use punctual_store::migrate::{MigrateError, Tally, migrate};
use punctual_store::model::ModelStore;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{ManualClock, Push, PutQueue, Store, SystemClock, Transfer};
use punctual_testing::redis::{Cluster, Server};

/// Where a store may be.
#[derive(Clone)]
enum Kind {
    Model,
    Memory,
    Disk,
    Redis(String),
}

/// A store that goes to another place whenever it is restarted.
struct Traveller {
    store: Arc<dyn Transfer>,
    redis: Option<Arc<RedisStore>>,
    _dir: Option<tempfile::TempDir>,
    route: Vec<Kind>,
    stop: usize,
    clock: ManualClock,
}

async fn open_redis(url: &str, clock: &ManualClock) -> Arc<RedisStore> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let prefix = format!("test{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let clock: Arc<dyn punctual_store::Clock> = Arc::new(clock.clone());
    let options = RedisOptions { prefix, clock: Some(clock), ..RedisOptions::new(url) };
    RedisStore::open(options).await.unwrap()
}

fn open_local(dir: Option<&std::path::Path>, clock: &ManualClock) -> Arc<LocalStore> {
    let clock = Arc::new(clock.clone());
    LocalStore::open(LocalOptions { dir: dir.map(ToOwned::to_owned), clock }).unwrap()
}

impl Traveller {
    async fn new(route: Vec<Kind>, clock: ManualClock) -> Self {
        let store: Arc<dyn Transfer> = Arc::new(ModelStore::new(Arc::new(clock.clone())));
        let mut new = Self { store, redis: None, _dir: None, route, stop: 0, clock };
        new.travel().await;
        new
    }

    async fn travel(&mut self) {
        if let Some(redis) = self.redis.take() {
            let findings = redis.check(false).await.unwrap();
            assert!(findings.is_empty(), "records and indexes differ: {findings:?}");
        }
        let kind = self.route[self.stop % self.route.len()].clone();
        self.stop += 1;
        let clock = &self.clock;
        let from = self.store.clone();
        let go = async |to: &dyn Transfer| migrate(&*from, to, &|_| ()).await.unwrap();
        match kind {
            Kind::Model => {
                let to = Arc::new(ModelStore::new(Arc::new(clock.clone())));
                go(&*to).await;
                self.store = to;
            }
            Kind::Memory => {
                let to = open_local(None, clock);
                go(&*to).await;
                self.store = to;
            }
            Kind::Disk => {
                let dir = tempfile::tempdir().unwrap();
                let filling = Filling::begin(dir.path(), Arc::new(clock.clone())).unwrap();
                go(filling.store()).await;
                filling.finish().unwrap();
                self.store = open_local(Some(dir.path()), clock);
                self._dir = Some(dir);
            }
            Kind::Redis(url) => {
                let to = open_redis(&url, clock).await;
                go(&*to).await;
                self.store = to.clone();
                self.redis = Some(to);
            }
        }
    }
}

#[async_trait]
impl Subject for Traveller {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn restart(&mut self) -> bool {
        self.travel().await;
        true
    }

    /// None of the clocks is set while others are not.
    fn has_one_clock(&self) -> bool {
        true
    }

    fn moves(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn what_outlives_a_restart_outlives_a_journey() {
    let (server, cluster) = (Server::start(), Cluster::start());
    let (redis, cluster) = (Kind::Redis(server.url()), Kind::Redis(cluster.url()));
    let routes = [
        [Kind::Model, Kind::Disk],
        [Kind::Disk, redis.clone()],
        [redis.clone(), Kind::Memory],
        [Kind::Memory, cluster.clone()],
        [cluster, redis],
    ];
    for route in routes {
        conformance::run_restarts(|clock| Traveller::new(route.to_vec(), clock)).await;
    }
}

#[test]
fn sequences_go_on_in_other_embedded_stores() {
    let route = [Kind::Memory, Kind::Disk, Kind::Model];
    conformance::random::compare(60, |clock| Traveller::new(route.to_vec(), clock));
}

#[test]
fn sequences_go_on_between_files_and_redis() {
    let server = Server::start();
    let route = [Kind::Disk, Kind::Redis(server.url()), Kind::Memory, Kind::Redis(server.url())];
    conformance::random::compare(60, |clock| Traveller::new(route.to_vec(), clock));
}

#[test]
fn sequences_go_on_between_redis_and_a_cluster() {
    let (server, cluster) = (Server::start(), Cluster::start());
    let route = [Kind::Redis(cluster.url()), Kind::Redis(server.url()), Kind::Model];
    conformance::random::compare(6, |clock| Traveller::new(route.to_vec(), clock));
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

async fn push(store: &dyn Store, name: &str, count: usize) {
    let (settings, created_at) = (Settings::default(), store.now());
    let put = Queue { name: queue(name), settings, paused: false, created_at };
    let _ = store.put_queue(PutQueue { queue: put, before: None }).await.unwrap();
    let new = NewTask { payload: Some(RawJson::of(&"x".repeat(2_000))), ..NewTask::default() };
    let spec = |n| {
        let id = TaskId::parse(&format!("t{n}")).unwrap();
        Arc::new(Spec::new(queue(name), new.clone(), id, store.now()))
    };
    let tasks = (0..count).map(spec).collect();
    store.push(Push { queue: queue(name), tasks, keyed: None }).await.unwrap();
}

#[tokio::test]
async fn a_store_that_holds_something_is_no_target() {
    let clock = Arc::new(SystemClock::new());
    let (from, to) = (ModelStore::new(clock.clone()), ModelStore::new(clock));
    push(&from, "q", 3).await;
    push(&to, "bundles", 1).await;
    let refused = migrate(&from, &to, &|_| ()).await;
    assert!(matches!(refused, Err(MigrateError::NotEmpty(_))), "{refused:?}");
    assert_eq!(to.queues().await.unwrap().len(), QueueName::BUILT_IN.len(), "nothing was moved");
}

#[tokio::test]
async fn a_directory_becomes_a_store_whole_or_not_at_all() {
    let clock = Arc::new(SystemClock::new());
    let from = ModelStore::new(clock.clone());
    push(&from, "q", 1_200).await;
    let dir = tempfile::tempdir().unwrap();
    let filling = Filling::begin(dir.path(), clock.clone()).unwrap();
    assert!(Filling::begin(dir.path(), clock.clone()).is_err(), "somebody fills it");
    migrate(&from, filling.store(), &|_| ()).await.unwrap();
    // Interrupted at the last moment.
    drop(filling);
    assert!(!dir.path().join("punctual.db").exists());

    let filling = Filling::begin(dir.path(), clock.clone()).unwrap();
    let tally = migrate(&from, filling.store(), &|_| ()).await.unwrap();
    filling.finish().unwrap();
    assert!(Filling::begin(dir.path(), clock.clone()).is_err(), "there is a store now");
    let options = LocalOptions { dir: Some(dir.path().to_owned()), clock };
    let store = LocalStore::open(options).unwrap();
    assert_eq!(Tally::of(&*store).await.unwrap().difference(&tally), None);
    assert!(!dir.path().join("migrating").exists());
}

#[tokio::test]
async fn a_redis_that_is_half_filled_is_refused_until_it_is_cleared() {
    let (server, clock) = (Server::start(), Arc::new(SystemClock::new()));
    let from = ModelStore::new(clock);
    push(&from, "q", 700).await;
    let options = || RedisOptions::new(server.url());
    assert!(!RedisStore::presence(&options()).await.unwrap().is_made);
    let to = RedisStore::open(options()).await.unwrap();
    to.set_filling(true).await.unwrap();
    migrate(&from, &*to, &|_| ()).await.unwrap();
    let presence = RedisStore::presence(&options()).await.unwrap();
    assert!(presence.is_made && presence.is_filling, "{presence:?}");
    assert_eq!(presence.servers, Some(1));
    drop(to);

    let refused = RedisStore::open(options()).await.err().unwrap().to_string();
    assert!(refused.contains("--force"), "{refused}");
    let to = RedisStore::open(RedisOptions { is_filled: true, ..options() }).await.unwrap();
    to.clear().await.unwrap();
    let left: Vec<String> = server.command("KEYS punctual:t:*");
    assert_eq!(left, [""; 0]);
    migrate(&from, &*to, &|_| ()).await.unwrap();
    to.set_filling(false).await.unwrap();
    assert!(to.check(false).await.unwrap().is_empty());
    drop(to);
    RedisStore::open(options()).await.unwrap();
}
