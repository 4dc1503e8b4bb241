//! The HTTP interface over the model store.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod api;

use std::sync::Arc;

use punctual_store::model::ModelStore;
use punctual_store::{ManualClock, Store};

fn store(clock: &ManualClock) -> Arc<dyn Store> {
    Arc::new(ModelStore::new(Arc::new(clock.clone())))
}
