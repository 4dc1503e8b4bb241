//! Dispatch: the server hands out tasks by itself, for queues of mode `dispatch`, `vote` and `pub`.
//!
//! ```text
//!   store.wakeups ─▶ Dispatch::call ─▶ dispatcher ─▶ assign: store.take for workers with free places
//!   workers join  ─▶                     │        ─▶ engine.open_votes: for all who serve the queue
//!   a place is free ▶                    │        ─▶ engine.publish: announced, and done
//!                                        ▼
//!                                     roster: who is there, was heard of, waits in a poll
//! ```
//!
//! - `dispatcher`: one loop per server, which looks at one queue at a time. `turns`: whoever was served
//!   longest ago comes first. `assign`: one round of a dispatch queue. `roster`: the workers this node
//!   knows of.
//!
//! Who gets a task is a matter of loads as they were last known; that nobody gets more than its
//! capacity, and nothing is handed out twice, is the store's to guarantee.

mod assign;
mod dispatcher;
mod roster;
mod turns;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_core::QueueName;

pub(crate) use self::dispatcher::Dispatcher;
pub(crate) use self::roster::{Roster, Told};
use crate::calls::Calls;

/// What the dispatcher shares with the rest of the server.
#[derive(Default)]
pub(crate) struct Dispatch {
    calls: Calls,
    /// Queues that may have tasks for which nobody had a place when they were last looked at.
    hungry: Mutex<HashSet<QueueName>>,
}

impl Dispatch {
    fn hungry(&self) -> MutexGuard<'_, HashSet<QueueName>> {
        self.hungry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a queue may have tasks to hand out.
    pub(crate) fn call(&self, queue: QueueName) {
        self.hungry().insert(queue.clone());
        self.calls.call(queue);
    }

    /// Says that somebody can be given tasks of these queues.
    pub(crate) fn join(&self, queues: &[QueueName]) {
        self.hungry().extend(queues.iter().cloned());
        self.calls.call_all(queues.iter().cloned());
    }

    /// Says that somebody who serves these queues may have a place free.
    pub(crate) fn freed(&self, queues: &[QueueName]) {
        let hungry: Vec<QueueName> = {
            let hungry = self.hungry();
            queues.iter().filter(|queue| hungry.contains(*queue)).cloned().collect()
        };
        self.calls.call_all(hungry);
    }

    /// Resolves when all that can be handed out now has been.
    pub(crate) async fn begun(&self) {
        self.calls.begun().await;
    }
}
