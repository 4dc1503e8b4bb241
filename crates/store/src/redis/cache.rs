//! Queues as a node knows them, so that a verb need not begin with a request.
//!
//! An entry is dropped when another node says that the queue changed, and when a script answers that it
//! has another revision. While nobody can say so, nothing is kept.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use punctual_core::{Queue, QueueName};

/// A queue as it was read.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// The record.
    pub(super) queue: Arc<Queue>,
    /// Its revision.
    pub(super) rev: Arc<str>,
}

/// The queues a node knows.
#[derive(Default)]
pub(super) struct Cache {
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    queues: HashMap<QueueName, Known>,
    /// The connection over which changes are heard of; none: nobody says so.
    heard_over: Option<u64>,
    /// How often something was dropped, so that a reading from before is not kept after.
    drops: u64,
}

impl Cache {
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A queue, if it is known and the connection its changes are heard over is the current one.
    pub(super) fn get(&self, name: &QueueName, current: Option<u64>) -> Option<Known> {
        let inner = self.read();
        (inner.heard_over == current).then(|| inner.queues.get(name).cloned()).flatten()
    }

    /// The moment before a reading, for [`Cache::keep`].
    pub(super) fn moment(&self) -> u64 {
        self.read().drops
    }

    /// Keeps what was read, if nothing was dropped since the moment before.
    pub(super) fn keep(&self, known: Known, moment: u64) {
        let mut inner = self.write();
        if inner.heard_over.is_some() && inner.drops == moment {
            inner.queues.insert(known.queue.name.clone(), known);
        }
    }

    /// Drops a queue.
    pub(super) fn drop(&self, name: &QueueName) {
        let mut inner = self.write();
        inner.drops += 1;
        inner.queues.remove(name);
    }

    /// Drops a queue that has another revision by now.
    pub(super) fn check(&self, name: &QueueName, rev: &str) {
        let is_stale =
            |inner: &Inner| inner.queues.get(name).is_some_and(|known| *known.rev != *rev);
        if is_stale(&self.read()) {
            self.drop(name);
        }
    }

    /// Forgets all, and whether changes are heard of from now on.
    pub(super) fn clear(&self, heard_over: Option<u64>) {
        let mut inner = self.write();
        inner.drops += 1;
        inner.queues.clear();
        inner.heard_over = heard_over;
    }
}
