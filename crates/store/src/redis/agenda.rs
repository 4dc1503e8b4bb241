//! When a node has to look at a shard again: the earliest moment it knows of, per shard.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The moments, and who waits for the first of them.
pub(super) struct Agenda {
    next_ms: Mutex<Vec<Option<i64>>>,
    sooner: Notify,
}

impl Agenda {
    /// Nothing is known: every shard is to be looked at now.
    pub(super) fn new(shards: usize) -> Self {
        Self { next_ms: Mutex::new(vec![Some(0); shards]), sooner: Notify::new() }
    }

    /// A shard has to be looked at no later than this.
    pub(super) fn no_later_than(&self, shard: usize, at_ms: i64) {
        let mut next_ms = self.next_ms.lock().unwrap_or_else(PoisonError::into_inner);
        if next_ms[shard].is_none_or(|next| at_ms < next) {
            next_ms[shard] = Some(at_ms);
            self.sooner.notify_one();
        }
    }

    /// Takes a shard off, before it is looked at: what comes meanwhile is put on again.
    pub(super) fn take_off(&self, shard: usize) {
        self.next_ms.lock().unwrap_or_else(PoisonError::into_inner)[shard] = None;
    }

    /// The first shard to be looked at, and when.
    pub(super) fn first(&self) -> Option<(usize, i64)> {
        let next_ms = self.next_ms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = next_ms.iter().enumerate().filter_map(|(shard, at)| Some((shard, (*at)?)));
        known.min_by_key(|(_, at)| *at)
    }

    /// What was far away may be near.
    pub(super) fn clock_moved(&self) {
        self.sooner.notify_one();
    }

    /// Resolves when a moment may be earlier than before.
    pub(super) async fn changed(&self) {
        self.sooner.notified().await;
    }
}
