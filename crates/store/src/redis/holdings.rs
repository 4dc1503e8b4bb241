//! What workers hold: sets that change with the tasks.

use punctual_core::{QueueName, TaskId, WorkerName};

use super::node::Node;
use crate::port::StoreError;

impl Node {
    pub(super) async fn loads(&self, _workers: &[WorkerName]) -> Result<Vec<usize>, StoreError> {
        Err(StoreError::unavailable("the Redis store does not count holdings yet"))
    }

    pub(super) async fn holdings(
        &self,
        _worker: &WorkerName,
    ) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
        Err(StoreError::unavailable("the Redis store does not know holdings yet"))
    }
}
