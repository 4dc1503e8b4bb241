//! The model against the suite that every store must pass.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::{self, Subject};
use punctual_store::model::ModelStore;
use punctual_store::{ManualClock, Store};

struct Model(Arc<ModelStore>);

#[async_trait]
impl Subject for Model {
    fn store(&self) -> Arc<dyn Store> {
        self.0.clone()
    }

    async fn restart(&mut self) -> bool {
        self.0.restart();
        true
    }
}

async fn make(clock: ManualClock) -> Model {
    Model(Arc::new(ModelStore::new(Arc::new(clock))))
}

#[tokio::test]
async fn conformance() {
    conformance::run_all(make).await;
}

#[test]
fn random_sequences() {
    conformance::random::compare(256, make);
}

#[test]
fn random_lists() {
    conformance::random::walk(256, make);
}
