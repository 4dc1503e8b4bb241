//! What the port says about moving everything from one store to another, while nobody uses either.
//!
//! Queues, tasks, owners and items are read by the operations of [`Store`], and queues and owners written by
//! them, too. This is the rest: tasks that are put as they are, and what a store remembers besides.

use async_trait::async_trait;
use punctual_core::{QueueName, TaskId, Timestamp};

use super::{KeyedItem, Store, StoreError, Stored};

/// Which of the things that a store remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// Ids of a queue that are reserved, though their tasks are gone.
    Reserved(QueueName),
    /// Receipts of settle verbs.
    Receipts,
    /// Requests with an `Idempotency-Key`.
    Keyed,
}

/// One thing that a store remembers.
#[derive(Debug, Clone, PartialEq)]
pub enum Remembered {
    /// An id that is reserved, though its task is gone.
    Reserved {
        /// The queue.
        queue: QueueName,
        /// The id.
        id: TaskId,
        /// Until when.
        until: Timestamp,
    },
    /// A settle verb that was carried out.
    Receipt {
        /// When.
        at: Timestamp,
        /// Which, by [`super::Receipt::fingerprint`].
        fingerprint: u64,
    },
    /// A request that was answered.
    Keyed {
        /// When.
        at: Timestamp,
        /// The queue it was about, if that is known.
        queue: Option<QueueName>,
        /// Hash of access token, path and key.
        key: u128,
        /// Hash of the request's body.
        request: u128,
        /// The status it was answered with.
        status: u16,
        /// The answers to its items.
        items: Vec<KeyedItem>,
    },
}

/// A page of what a store remembers, oldest first where that matters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memories {
    /// What is on the page.
    pub items: Vec<Remembered>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}

/// A store whose contents can be moved to another, and the other way round. Nobody else uses it meanwhile.
#[async_trait]
pub trait Transfer: Store {
    /// Brings together what is on its way between parts of the store, so that all of it is read.
    async fn gather(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Births for so many tasks of a queue, greater than all that were given out: the first of them.
    async fn reserve_births(&self, queue: &QueueName, count: u64) -> Result<u64, StoreError>;

    /// Puts tasks of a queue as they are, under births that were reserved for it. Whose id is there
    /// already, is left out.
    async fn admit(&self, queue: &QueueName, tasks: Vec<Stored>) -> Result<(), StoreError>;

    /// Reads a page of what is remembered.
    async fn remembered(
        &self,
        memory: &Memory,
        cursor: Option<String>,
    ) -> Result<Memories, StoreError>;

    /// Remembers what another store did, in the order given.
    async fn remember(&self, items: Vec<Remembered>) -> Result<(), StoreError>;
}
