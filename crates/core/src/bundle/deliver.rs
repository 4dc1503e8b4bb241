//! Bundles that the server delivers: what the task that does it makes of them.

use super::{Bundle, BundleState};
use crate::error::Refusal;
use crate::name::TaskId;
use crate::owner::{Around, Owner, OwnerDecision, OwnerRef};
use crate::task::{Decision, Event, Fate, NewTask, Spec, State, Status, Verb};
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// How far the delivery of a bundle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivering {
    /// No task is to deliver it.
    Not,
    /// It waits for an attempt.
    Waiting,
    /// An attempt is under way.
    Held,
}

impl Delivering {
    /// What the task that delivers a bundle says.
    pub fn of(status: Option<&Status>) -> Self {
        match status {
            Some(status) if status.state.is_held() => Self::Held,
            Some(status) if !status.state.is_finished() => Self::Waiting,
            _ => Self::Not,
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

impl Bundle {
    /// Makes the task that delivers it, when it is due.
    pub fn deliver_by(&mut self, id: TaskId, now: Timestamp) -> Spec {
        self.task = Some(id.clone());
        let trace = Some(TraceParent::root_of(self.queue.as_str(), id.as_str(), now));
        let (due, http) = (Some(self.due_at), self.target.clone().map(Box::new));
        let new = NewTask { due, http, trace, ..NewTask::default() };
        let owner = Some(OwnerRef::Bundle(self.key.clone()));
        Spec { owner, ..Spec::new(self.queue.clone(), new, id, now) }
    }

    /// Decides what an event that happened to its task makes of the bundle. The due time of what was
    /// pushed during an attempt counts instead of the task's own.
    pub(crate) fn after(
        mut self: Box<Self>,
        event: &Event,
        decision: &mut Decision,
        around: &Around<'_>,
    ) -> Result<Option<OwnerDecision>, Refusal> {
        let (state, verb) = (decision.task.status.state, event.verb());
        let is_over = decision.fate == Fate::Remove || state.is_finished();
        if self.task.as_ref() != Some(&decision.task.spec.id) {
            // Another task delivers it by now, and one is enough.
            return if is_over {
                Ok(None)
            } else {
                Err(Refusal::Owned { verb, owner: "bundle", state })
            };
        }
        if state == State::Done && verb != Verb::Clean {
            let sent = event.sent().unwrap_or(Sent { number: 0, had: 0 });
            let left = self.without(sent, around.now);
            return Ok(Some(delivered(left, sent.number, around)));
        }
        if is_over && self.state == BundleState::Failed {
            return Ok(None);
        }
        if is_over {
            let status = &decision.task.status;
            let error = match verb {
                Verb::Clean => "removed".to_owned(),
                _ => status.error.clone().unwrap_or_else(|| state.to_string()),
            };
            return Ok(Some(self.give_up(error, around)));
        }
        if state.is_held() {
            return Ok(None);
        }
        self.wait_on(verb, decision, around.now);
        Ok(Some(OwnerDecision::keep(Owner::Bundle(self))))
    }

    /// Its task waits, be it after an attempt or because somebody moved it.
    fn wait_on(&mut self, verb: Verb, decision: &mut Decision, now: Timestamp) {
        let due_at = decision.task.due_at();
        if self.state == BundleState::Failed {
            self.state = BundleState::Waiting;
            self.error = None;
        }
        let ended = matches!(verb, Verb::Deliver | Verb::HoldEnd | Verb::ForceRetry);
        if ended || self.later.is_some() {
            self.in_vain(due_at);
            if self.due_at != due_at {
                decision.task.wait_until(self.due_at, now);
            }
        } else {
            self.due_at = due_at;
        }
    }

    /// Its task came to nothing. What was pushed during the last attempt brings it back whole.
    fn give_up(mut self: Box<Self>, error: String, around: &Around<'_>) -> OwnerDecision {
        let Some(later) = self.later.take() else {
            self.fail(error);
            return OwnerDecision::keep(Owner::Bundle(self));
        };
        self.wait_for(later);
        self.overwrite = false;
        delivered(Some(self), 0, around)
    }
}

/// Some payloads are delivered; what is left gets a task of its own.
fn delivered(left: Option<Box<Bundle>>, drop_first: u64, around: &Around<'_>) -> OwnerDecision {
    let Some(mut bundle) = left else { return OwnerDecision::remove() };
    let spawn = vec![bundle.deliver_by(around.next_id.clone(), around.now)];
    OwnerDecision { owner: Some(Owner::Bundle(bundle)), drop_first, append: Vec::new(), spawn }
}
