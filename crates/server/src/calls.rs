//! Calls to look at queues, from those who hear of work to the one loop that does it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_core::QueueName;
use tokio::sync::{Notify, watch};

/// Queues that may have work, and whether the loop is through with all it was called for.
pub(crate) struct Calls {
    queues: Mutex<HashSet<QueueName>>,
    called: Notify,
    idle: watch::Sender<bool>,
}

impl Default for Calls {
    fn default() -> Self {
        Self { queues: Mutex::default(), called: Notify::new(), idle: watch::Sender::new(false) }
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashSet<QueueName>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a queue may have work.
    pub(crate) fn call(&self, queue: QueueName) {
        let mut queues = self.lock();
        self.idle.send_replace(false);
        if queues.insert(queue) && queues.len() == 1 {
            self.called.notify_one();
        }
    }

    /// Says that several queues may have work, all at once.
    pub(crate) fn call_all(&self, called: impl IntoIterator<Item = QueueName>) {
        let mut queues = self.lock();
        let were_none = queues.is_empty();
        queues.extend(called);
        if !queues.is_empty() {
            self.idle.send_replace(false);
            if were_none {
                self.called.notify_one();
            }
        }
    }

    /// Waits for calls, and returns the queues that were called.
    pub(crate) async fn next(&self) -> HashSet<QueueName> {
        loop {
            self.called.notified().await;
            let mut queues = self.lock();
            if !queues.is_empty() {
                return std::mem::take(&mut *queues);
            }
        }
    }

    /// The loop has nothing more to begin, or something again.
    pub(crate) fn is_through(&self, is_through: bool) {
        let queues = self.lock();
        self.idle.send_replace(is_through && queues.is_empty());
    }

    /// Resolves when the loop has begun all that it was called for and has room for.
    pub(crate) async fn begun(&self) {
        // With the sender in this very place, the wait cannot fail.
        let _ = self.idle.subscribe().wait_for(|idle| *idle).await;
    }
}

/// Queues that may have work, in the order in which that was heard.
#[derive(Default)]
pub(crate) struct Due {
    line: VecDeque<QueueName>,
    known: HashSet<QueueName>,
}

impl Due {
    /// A queue may have work. It keeps the place it has.
    pub(crate) fn push(&mut self, queue: QueueName) {
        if self.known.insert(queue.clone()) {
            self.line.push_back(queue);
        }
    }

    /// The next queue to look at.
    pub(crate) fn pop(&mut self) -> Option<QueueName> {
        let queue = self.line.pop_front()?;
        self.known.remove(&queue);
        Some(queue)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }
}
