//! The model as the conformance suite wants it.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_store::conformance::Subject;
use punctual_store::model::ModelStore;
use punctual_store::{ManualClock, Store};

pub(crate) struct Model(Arc<ModelStore>);

impl Model {
    pub(crate) async fn new(clock: ManualClock) -> Self {
        Self(Arc::new(ModelStore::new(Arc::new(clock))))
    }
}

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
