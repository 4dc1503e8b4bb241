//! What is moved from and to other stores, besides queues and owners. A page here is all there is.

use async_trait::async_trait;
use punctual_core::QueueName;

use super::ModelStore;
use super::contents::{Contents, Kept};
use super::shelf::Record;
use crate::clock::Instant;
use crate::port::{Memories, Memory, Remembered, StoreError, Stored, Transfer};

impl Contents {
    fn admit(&mut self, queue: &QueueName, tasks: Vec<Stored>, now: Instant) -> bool {
        let Some(shelf) = self.queues.get_mut(queue) else { return false };
        for Stored { task, revision } in tasks {
            let mut record = Record { revision, task, hold_ends_ms: None };
            record.time_hold(now);
            shelf.records.entry(record.task.spec.id.clone()).or_insert(record);
        }
        true
    }

    fn remembered(&self, memory: &Memory) -> Vec<Remembered> {
        match memory {
            Memory::Reserved(queue) => {
                let reserved = self.queues.get(queue).map(|shelf| &shelf.reserved);
                let item = |(id, until): (&_, &_)| Remembered::Reserved {
                    queue: queue.clone(),
                    id: Clone::clone(id),
                    until: *until,
                };
                reserved.into_iter().flatten().map(item).collect()
            }
            Memory::Receipts => {
                let item = |(at, fingerprint): &(_, u64)| Remembered::Receipt {
                    at: *at,
                    fingerprint: *fingerprint,
                };
                self.receipts.iter().map(item).collect()
            }
            Memory::Keyed => {
                let kept = |key: &u128| self.keyed.get(key).map(|kept| (*key, kept.clone()));
                let item = |(key, kept): (u128, Kept)| {
                    let Kept { at, queue, request, status, items } = kept;
                    Remembered::Keyed { at, queue, key, request, status, items }
                };
                self.keyed_order.iter().filter_map(kept).map(item).collect()
            }
        }
    }

    fn take_over(&mut self, item: Remembered) {
        match item {
            Remembered::Reserved { queue, id, until } => {
                if let Some(shelf) = self.queues.get_mut(&queue) {
                    shelf.reserved.insert(id, until);
                }
            }
            Remembered::Receipt { at, fingerprint } => self.receipts.push_back((at, fingerprint)),
            Remembered::Keyed { at, queue, key, request, status, items } => {
                self.keyed.insert(key, Kept { at, queue, request, status, items });
                self.keyed_order.push_back(key);
            }
        }
    }
}

#[async_trait]
impl Transfer for ModelStore {
    async fn reserve_births(&self, _queue: &QueueName, count: u64) -> Result<u64, StoreError> {
        let mut contents = self.inner.lock();
        let first = contents.next_birth();
        for _ in 1..count {
            contents.next_birth();
        }
        Ok(first)
    }

    async fn admit(&self, queue: &QueueName, tasks: Vec<Stored>) -> Result<(), StoreError> {
        match self.inner.change(None, |contents, now| contents.admit(queue, tasks, now)) {
            true => Ok(()),
            false => Err(StoreError::Open(format!("there is no queue {queue}"))),
        }
    }

    async fn remembered(
        &self,
        memory: &Memory,
        _cursor: Option<String>,
    ) -> Result<Memories, StoreError> {
        Ok(Memories { items: self.inner.lock().remembered(memory), next: None })
    }

    async fn remember(&self, items: Vec<Remembered>) -> Result<(), StoreError> {
        let mut contents = self.inner.lock();
        items.into_iter().for_each(|item| contents.take_over(item));
        Ok(())
    }
}
