//! A Redis store as the conformance suite wants it: with its own prefix, and a clock that stands still.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::Subject;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{ManualClock, Store};
use punctual_testing::redis::new_prefix;

pub(crate) struct Redis {
    store: Option<Arc<RedisStore>>,
    url: String,
    prefix: String,
    clock: ManualClock,
}

impl Redis {
    /// A new store at a URL.
    pub(crate) async fn new(url: String, clock: ManualClock) -> Self {
        Self::under(new_prefix(), url, clock).await
    }

    /// A new store under a prefix at a URL.
    pub(crate) async fn under(prefix: String, url: String, clock: ManualClock) -> Self {
        let mut redis = Self { store: None, url, prefix, clock };
        redis.open().await;
        redis
    }

    async fn open(&mut self) {
        let options = RedisOptions {
            prefix: self.prefix.clone(),
            clock: Some(Arc::new(self.clock.clone())),
            ..RedisOptions::new(&*self.url)
        };
        self.store = Some(RedisStore::open(options).await.unwrap());
    }
}

#[async_trait]
impl Subject for Redis {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().unwrap()
    }

    async fn restart(&mut self) -> bool {
        let store = self.store.take().unwrap();
        let findings = store.check(false).await.unwrap();
        assert!(findings.is_empty(), "records and indexes differ: {findings:?}");
        drop(store);
        self.open().await;
        true
    }

    fn has_one_clock(&self) -> bool {
        true
    }
}
