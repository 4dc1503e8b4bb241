//! What workers hold. A shard knows what they hold of its queues; a worker's load is the sum over all.

use punctual_core::{QueueName, TaskId, WorkerName};

use super::answer::Part;
use super::fields::corrupt;
use super::keys::unescaped;
use super::node::Node;
use super::scripts::HOLDINGS;
use crate::port::StoreError;

impl Node {
    pub(super) async fn loads(&self, workers: &[WorkerName]) -> Result<Vec<usize>, StoreError> {
        let count = async |shard| self.holdings_in(shard, "count", workers).await;
        let mut loads = vec![0; workers.len()];
        for counts in self.everywhere(count).await? {
            for (load, count) in loads.iter_mut().zip(counts) {
                *load += count.count()?;
            }
        }
        Ok(loads)
    }

    pub(super) async fn holdings(
        &self,
        worker: &WorkerName,
    ) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
        let workers = std::slice::from_ref(worker);
        let list = async |shard| self.holdings_in(shard, "list", workers).await;
        let mut held = Vec::new();
        for lists in self.everywhere(list).await? {
            for list in lists {
                for member in list.list()? {
                    held.push(read_member(&member.text()?)?);
                }
            }
        }
        Ok(held)
    }

    pub(super) async fn holdings_in(
        &self,
        shard: usize,
        what: &str,
        workers: &[WorkerName],
    ) -> Result<Vec<Part>, StoreError> {
        let mut call = self.call(&HOLDINGS, shard).await;
        call.arg(what);
        for worker in workers {
            call.arg(worker.as_str());
        }
        call.send().await?.body.list()
    }
}

/// An entry: the task's queue, escaped, a colon, and its id.
pub(super) fn read_member(text: &str) -> Result<(QueueName, TaskId), StoreError> {
    let parts = text.split_once(':').and_then(|(queue, id)| {
        Some((QueueName::parse(&unescaped(queue)).ok()?, TaskId::parse(id).ok()?))
    });
    parts.ok_or_else(|| corrupt("what a worker holds", format!("{text:?} is not a task")))
}
