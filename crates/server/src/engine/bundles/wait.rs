//! Those who wait for a bundle to fall due: a bell per queue, as long as somebody listens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_core::QueueName;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// All bells.
#[derive(Default)]
pub(crate) struct Bells {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    bells: HashMap<QueueName, (usize, Arc<Notify>)>,
    /// How often all bells were rung.
    rings: u64,
    /// Who listens, and which of these rings he has looked after.
    looked: HashMap<u64, u64>,
    joined: u64,
    closed: bool,
}

/// One who listens; leaving ends it.
pub(super) struct Listener<'a> {
    bells: &'a Bells,
    queue: QueueName,
    number: u64,
    bell: Arc<Notify>,
}

/// A look at the bundles that is under way.
pub(super) struct Looking<'a> {
    /// How often all bells had been rung when it began.
    pub(super) rings: u64,
    /// Resolves at the next ring after the look began.
    pub(super) rung: Notified<'a>,
}

impl Bells {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for changes of a queue's bundles. None: nobody waits any more.
    pub(super) fn listen(&self, queue: &QueueName) -> Option<Listener<'_>> {
        let mut inner = self.lock();
        if inner.closed {
            return None;
        }
        let (count, bell) = inner.bells.entry(queue.clone()).or_default();
        *count += 1;
        let bell = bell.clone();
        inner.joined += 1;
        let (number, rings) = (inner.joined, inner.rings);
        inner.looked.insert(number, rings);
        Some(Listener { bells: self, queue: queue.clone(), number, bell })
    }

    /// Says that the bundles of a queue, or what may be done with them, have changed.
    pub(crate) fn ring(&self, queue: &QueueName) {
        if let Some((_, bell)) = self.lock().bells.get(queue) {
            bell.notify_waiters();
        }
    }

    /// Says that the bundles of every queue may be due.
    pub(crate) fn ring_all(&self) {
        let mut inner = self.lock();
        inner.rings += 1;
        inner.bells.values().for_each(|(_, bell)| bell.notify_waiters());
    }

    /// Whether all who listen have looked after all bells were rung.
    pub(crate) fn is_quiet(&self) -> bool {
        let inner = self.lock();
        inner.looked.values().all(|rings| *rings == inner.rings)
    }

    /// Lets all who wait go.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.bells.values().for_each(|(_, bell)| bell.notify_waiters());
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }
}

impl Listener<'_> {
    /// Begins a look. A ring from here on is not missed.
    pub(super) fn look(&self) -> Looking<'_> {
        let inner = self.bells.lock();
        Looking { rings: inner.rings, rung: self.bell.notified() }
    }

    /// Ends a look that found nothing.
    pub(super) fn looked(&self, rings: u64) {
        self.bells.lock().looked.insert(self.number, rings);
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let mut inner = self.bells.lock();
        inner.looked.remove(&self.number);
        if let Some((count, _)) = inner.bells.get_mut(&self.queue) {
            *count -= 1;
            if *count == 0 {
                inner.bells.remove(&self.queue);
            }
        }
    }
}
