//! The HTTP interface over the embedded store, in memory.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod api;

use std::sync::Arc;

use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::{ManualClock, Store};

fn store(clock: &ManualClock) -> Arc<dyn Store> {
    LocalStore::open(LocalOptions { dir: None, clock: Arc::new(clock.clone()) }).unwrap()
}
