//! Bundles that the server delivers: what the task that does it makes of them.

use super::{Bundle, BundleState};
use crate::name::TaskId;
use crate::owner::OwnerRef;
use crate::task::{Decision, Fate, NewTask, Spec, State, Status};
use crate::time::Timestamp;

/// How far the delivery of a bundle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivering {
    /// No task is to deliver it.
    Not,
    /// It waits for its first attempt.
    Unstarted,
    /// An attempt is under way.
    Held,
    /// It waits for another attempt.
    Retrying,
}

impl Delivering {
    /// What the task that delivers a bundle says.
    pub fn of(status: Option<&Status>) -> Self {
        match status {
            None => Self::Not,
            Some(status) if status.state.is_finished() => Self::Not,
            Some(status) if status.state.is_held() => Self::Held,
            Some(status) if status.attempt == 0 => Self::Unstarted,
            Some(_) => Self::Retrying,
        }
    }
}

/// The payloads an attempt carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// How many, from the first on.
    pub number: u64,
    /// How many there were when it began.
    pub had: u64,
}

/// What becomes of a bundle in the same step as of its task.
#[derive(Debug, Clone, PartialEq)]
pub struct After {
    /// The bundle; none: nothing is left of it.
    pub bundle: Option<Bundle>,
    /// How many payloads were delivered, from the first on.
    pub delivered: u64,
    /// The task that delivers the rest.
    pub spawn: Option<Spec>,
}

impl Bundle {
    /// The task that delivers it.
    pub fn delivery(&self, id: TaskId, now: Timestamp) -> Spec {
        let due = Some(self.due_at);
        let new = NewTask { due, http: self.target.clone(), ..NewTask::default() };
        let owner = Some(OwnerRef::Bundle(self.key.clone()));
        Spec { owner, ..Spec::new(self.queue.clone(), new, id, now) }
    }

    /// Decides what a decision about its task makes of the bundle, and lets the due time of what was
    /// pushed meanwhile count instead of the retry's. `next_id` names the task for the rest. None: the
    /// bundle stays as it is.
    pub fn after(
        mut self,
        decision: &mut Decision,
        sent: Sent,
        next_id: TaskId,
        now: Timestamp,
    ) -> Option<After> {
        let removed = decision.fate == Fate::Remove;
        let status = &decision.task.status;
        match status.state {
            State::Done => {
                let mut left = self.without(sent.number, sent.had, now);
                let spawn = left.as_mut().map(|bundle| bundle.deliver_rest(next_id, now));
                Some(After { bundle: left, delivered: sent.number, spawn })
            }
            State::Failed | State::Cancelled => {
                let error = status.error.clone().unwrap_or_else(|| status.state.to_string());
                Some(self.given_up(error, next_id, now))
            }
            _ if removed => Some(self.given_up("removed".to_owned(), next_id, now)),
            State::Waiting | State::Ready if status.attempt > 0 => {
                let due_at = self.later.take().map_or(status.ready_at, |later| later.due_at);
                decision.task.wait_until(due_at, now);
                self.due_at = due_at;
                Some(After { bundle: Some(self), delivered: 0, spawn: None })
            }
            _ => None,
        }
    }

    /// Its task came to nothing. What was pushed during the last attempt brings it back.
    fn given_up(mut self, error: String, next_id: TaskId, now: Timestamp) -> After {
        let spawn = if let Some(later) = self.later.take() {
            self.due_at = later.due_at;
            Some(self.deliver_rest(next_id, now))
        } else {
            self.fail(error);
            None
        };
        After { bundle: Some(self), delivered: 0, spawn }
    }

    fn deliver_rest(&mut self, id: TaskId, now: Timestamp) -> Spec {
        self.task = Some(id.clone());
        self.delivery(id, now)
    }

    /// The same bundle as it waits for a new task, after a push or a retry brought it back.
    #[must_use]
    pub fn delivered_by(mut self, task: TaskId) -> Self {
        self.task = Some(task);
        if self.state == BundleState::Failed {
            self.state = BundleState::Waiting;
            self.error = None;
        }
        self
    }
}
