//! Waiting for the end of a task.
//!
//! Whoever waits holds nothing but a place among the waiters, which it takes before it reads the task for
//! the first time. It reads the task again when it is woken, and once more when its time is over: an event
//! may be lost on its way from another server.

use std::time::Duration;

use punctual_core::limits::WAIT_MS_MAX;
use punctual_core::{QueueName, Span, State, TaskId};
use punctual_store::Stored;
use tokio::time::{Instant, timeout_at};

use super::{Engine, Failure};
use crate::events::Waiter;

/// How long the announcement of an end is waited for, once the task is found to be gone: it is made right
/// after the task was removed.
const ANNOUNCED_WITHIN: Duration = Duration::from_secs(1);

/// A task that was waited for.
pub(crate) enum Waited {
    /// The task as it reads now: it has ended, or the time is over.
    Task(Box<Stored>),
    /// It is gone, or another task has its id. The state it ended in; none: it was removed.
    Gone(Option<State>),
}

/// Checks how long a request wants to wait.
pub(crate) fn check_wait(wait: Span) -> Result<Duration, Failure> {
    if wait.as_millis() > WAIT_MS_MAX {
        return Err(Failure::invalid("wait", "at most 60 seconds"));
    }
    Ok(Duration::from_millis(wait.as_millis().unsigned_abs()))
}

impl Engine {
    /// Begins to wait for the end of a task, before it is read or even pushed.
    pub(crate) fn waiter(&self, queue: &QueueName, id: &TaskId) -> Waiter {
        self.events.waiters.wait_for(queue, id)
    }

    /// Waits until a task has ended, or the time is over, or the server stops. `known` is the task as it was
    /// read, or pushed, after the wait began.
    pub(crate) async fn wait_for_end(
        &self,
        mut waiter: Waiter,
        known: Stored,
        wait: Duration,
    ) -> Result<Waited, Failure> {
        let mut until = Instant::now() + wait;
        let birth = known.revision.birth;
        let (queue, id) = (known.task.spec.queue.clone(), known.task.spec.id.clone());
        let mut is_there = !known.task.status.state.is_finished();
        if !is_there || wait.is_zero() {
            return Ok(Waited::Task(Box::new(known)));
        }
        loop {
            let is_over = {
                let woken = async {
                    tokio::select! {
                        () = waiter.woken() => false,
                        () = self.events.closed() => true,
                    }
                };
                timeout_at(until, woken).await.unwrap_or(true)
            };
            let told = waiter.told();
            // An end before the task was pushed was that of an earlier one under its id, or two servers do not
            // agree on the time.
            let end = told.end.filter(|end| end.at >= known.task.spec.created_at);
            match self.stored(&queue, &id).await {
                Ok(stored) if stored.revision.birth == birth => {
                    if is_over || stored.task.status.state.is_finished() {
                        return Ok(Waited::Task(Box::new(stored)));
                    }
                }
                Ok(_) | Err(Failure::NoTask { .. } | Failure::NoQueue(_)) => {
                    if end.is_some() || told.is_removed || is_over {
                        return Ok(Waited::Gone(told.end.map(|end| end.state)));
                    }
                    if is_there {
                        is_there = false;
                        until = until.min(Instant::now() + ANNOUNCED_WITHIN);
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}
