//! A store that moves to another one instead of restarting, as the conformance suite wants it.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::Subject;
use punctual_store::local::{Filling, LocalOptions, LocalStore};
use punctual_store::migrate::migrate;
use punctual_store::model::ModelStore;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{ManualClock, Store, Transfer};
use punctual_testing::redis::new_prefix;

/// Where a store may be.
#[derive(Clone)]
pub(crate) enum Kind {
    Model,
    Memory,
    Disk,
    Redis(String),
}

/// A store that goes to another place whenever it is restarted.
pub(crate) struct Traveller {
    store: Arc<dyn Transfer>,
    redis: Option<Arc<RedisStore>>,
    _dir: Option<tempfile::TempDir>,
    route: Vec<Kind>,
    stop: usize,
    clock: ManualClock,
}

async fn open_redis(url: &str, clock: &ManualClock) -> Arc<RedisStore> {
    let prefix = new_prefix();
    let clock: Arc<dyn punctual_store::Clock> = Arc::new(clock.clone());
    let options = RedisOptions { prefix, clock: Some(clock), ..RedisOptions::new(url) };
    RedisStore::open(options).await.unwrap()
}

fn open_local(dir: Option<&std::path::Path>, clock: &ManualClock) -> Arc<LocalStore> {
    let clock = Arc::new(clock.clone());
    LocalStore::open(LocalOptions { dir: dir.map(ToOwned::to_owned), clock }).unwrap()
}

impl Traveller {
    /// A new store at the first place of a route.
    pub(crate) async fn new(route: Vec<Kind>, clock: ManualClock) -> Self {
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
