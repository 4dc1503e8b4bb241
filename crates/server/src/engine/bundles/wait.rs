//! Those who wait for a bundle to fall due: a bell per queue, as long as somebody listens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_core::QueueName;
use tokio::sync::Notify;

/// All bells.
#[derive(Default)]
pub(crate) struct Bells {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    bells: HashMap<QueueName, (usize, Arc<Notify>)>,
    closed: bool,
}

/// One who listens; leaving ends it.
pub(super) struct Listener<'a> {
    bells: &'a Bells,
    queue: QueueName,
    bell: Arc<Notify>,
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
        Some(Listener { bells: self, queue: queue.clone(), bell })
    }

    /// Says that the bundles of a queue, or what may be done with them, have changed.
    pub(crate) fn ring(&self, queue: &QueueName) {
        if let Some((_, bell)) = self.lock().bells.get(queue) {
            bell.notify_waiters();
        }
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
    /// What resolves at the next ring after this call.
    pub(super) fn next(&self) -> tokio::sync::futures::Notified<'_> {
        self.bell.notified()
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let mut inner = self.bells.lock();
        if let Some((count, _)) = inner.bells.get_mut(&self.queue) {
            *count -= 1;
            if *count == 0 {
                inner.bells.remove(&self.queue);
            }
        }
    }
}
