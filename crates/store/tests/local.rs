//! The embedded store, on disk and in memory, against the suite that every store must pass.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::{self, Subject};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{ManualClock, Store};

struct Local {
    store: Option<Arc<LocalStore>>,
    dir: Option<tempfile::TempDir>,
    clock: ManualClock,
}

impl Local {
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

#[tokio::test]
async fn conformance_on_disk() {
    conformance::run_all(|clock| async { Local::open(Some(tempfile::tempdir().unwrap()), clock) })
        .await;
}

#[tokio::test]
async fn conformance_in_memory() {
    conformance::run_all(|clock| async { Local::open(None, clock) }).await;
}

#[test]
fn random_sequences_on_disk() {
    conformance::random::compare(100, |clock| async {
        Local::open(Some(tempfile::tempdir().unwrap()), clock)
    });
}

#[test]
fn random_sequences_in_memory() {
    conformance::random::compare(300, |clock| async { Local::open(None, clock) });
}

#[test]
fn random_lists_on_disk() {
    conformance::random::walk(50, |clock| async {
        Local::open(Some(tempfile::tempdir().unwrap()), clock)
    });
}

#[test]
fn random_lists_in_memory() {
    conformance::random::walk(300, |clock| async { Local::open(None, clock) });
}
