//! The embedded store, on disk and in memory, as the conformance suite wants it.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::Subject;
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{ManualClock, Store};

pub(crate) struct Local {
    store: Option<Arc<LocalStore>>,
    dir: Option<tempfile::TempDir>,
    clock: ManualClock,
}

impl Local {
    pub(crate) async fn on_disk(clock: ManualClock) -> Self {
        Self::open(Some(tempfile::tempdir().unwrap()), clock)
    }

    pub(crate) async fn in_memory(clock: ManualClock) -> Self {
        Self::open(None, clock)
    }

    fn open(dir: Option<tempfile::TempDir>, clock: ManualClock) -> Self {
        let path = dir.as_ref().map(|dir| dir.path().to_owned());
        let options = LocalOptions { dir: path, clock: Arc::new(clock.clone()) };
        Self { store: Some(LocalStore::open(options).unwrap()), dir, clock }
    }
}

#[async_trait]
impl Subject for Local {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().unwrap()
    }

    async fn restart(&mut self) -> bool {
        let Some(dir) = self.dir.take() else { return false };
        self.store = None;
        *self = Self::open(Some(dir), self.clock.clone());
        true
    }
}
