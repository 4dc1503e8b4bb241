//! The decisions: an event happens to a task, and this says what becomes of it.

use std::sync::Arc;

use super::event::{Edit, Event, Settlement};
use super::push::{check_priority, check_pub};
use super::state::{Edge, State, Verb, edge};
use super::{Grant, MAX_RUNTIME, Outcome, Spec, Status, Task};
use crate::error::Refusal;
use crate::name::TaskId;
use crate::patch::Patch;
use crate::queue::{Mode, Settings};
use crate::time::{Span, Timestamp};
use crate::token::Token;

/// What surrounds a decision.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The time of the event.
    pub now: Timestamp,
    /// The settings of the task's queue.
    pub queue: &'a Settings,
    /// A random number in 0…1, for the spread of retries.
    pub roll: f64,
    /// The id of the task a callback makes, if it names none.
    pub callback_id: &'a TaskId,
}

/// What becomes of a task, and what else must happen in the same atomic step.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The task as it reads after the step.
    pub task: Task,
    /// What a store does with it.
    pub fate: Fate,
    /// Tasks to make in the same step.
    pub spawn: Vec<Spec>,
    /// The settle verb and its token, if a repeat could not be answered from the record itself.
    pub receipt: Option<(Token, Verb)>,
    /// Most tasks of queues of mode dispatch that the worker who gets it may hold after the step; if it
    /// would hold more, the step does not happen.
    pub capacity: Option<usize>,
}

/// What a store does with a record after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: it did not change.
    Same,
    /// It keeps the new status.
    Keep,
    /// It keeps the new status and the edited spec.
    Rewrite,
    /// It drops the record and keeps the id reserved until then.
    Reserve(Timestamp),
    /// It drops the record.
    Remove,
}

impl Task {
    /// Says what an event makes of this task. Changes nothing by itself.
    pub fn decide(&self, event: Event, context: &Context<'_>) -> Result<Decision, Refusal> {
        let verb = event.verb();
        let state = self.status.state_at(context.now);
        if let Some(token) = event.token() {
            if self.status.settled == Some((token, verb)) {
                return Ok(self.unchanged());
            }
            if self.status.hold.is_none_or(|hold| hold.token != token) {
                return Err(Refusal::StaleToken);
            }
        }
        let edge = edge(state, verb);
        if edge == Edge::Refused {
            return Err(Refusal::WrongState { verb, state });
        }
        if verb == Verb::Reset
            && let Some(owner) = &self.spec.owner
        {
            return Err(Refusal::Owned { verb, owner: owner.kind(), state });
        }
        let mut after = self.clone();
        after.status.state = state;
        let decision = after.apply(event, context)?;
        debug_assert!(
            match edge {
                Edge::To(allowed) => allowed.contains(&decision.task.status.state),
                Edge::Removed => decision.fate == Fate::Remove,
                Edge::Refused => false,
            },
            "{state} {verb}"
        );
        Ok(decision)
    }

    fn unchanged(&self) -> Decision {
        self.clone().kept(Fate::Same)
    }

    /// Carries out an event whose verb applies.
    fn apply(mut self, event: Event, context: &Context<'_>) -> Result<Decision, Refusal> {
        let now = context.now;
        let state = self.status.state;
        let max_runtime = self.max_runtime(context.queue);
        let status = &mut *self.status;
        match event {
            Event::Confirm { .. } => {
                if state != State::Assigned {
                    return Ok(self.unchanged());
                }
                status.state = State::Running;
                status.start(now);
                if let Some(hold) = &mut status.hold {
                    hold.until = now + hold.length;
                }
                status.cap_hold(max_runtime);
            }
            Event::Extend { extension, .. } => {
                if let Some(hold) = &mut status.hold {
                    hold.length = extension.hold.unwrap_or(hold.length);
                    hold.until = now + hold.length;
                }
                status.cap_hold(max_runtime);
                status.progress = extension.progress.or(status.progress);
                status.message = extension.message.or(status.message.take());
                status.checkpoint = extension.checkpoint.or(status.checkpoint.take());
            }
            Event::Settle { token, settlement } => {
                return Ok(self.settle(token, settlement, context));
            }
            Event::Assign { worker, token, capacity } => {
                status.take(Grant {
                    token,
                    worker: Some(worker),
                    now,
                    hold: self.spec.hold.unwrap_or(context.queue.hold),
                    confirm_within: Some(context.queue.confirm_within),
                    max_runtime,
                });
                return Ok(Decision { capacity: Some(capacity), ..self.kept(Fate::Keep) });
            }
            Event::Vote { until, settled } => return Ok(self.vote(until, settled, now)),
            Event::Tally { answers, settled } => return Ok(self.tally(answers, settled, context)),
            Event::Cancel => match state {
                State::Cancelling | State::Cancelled => return Ok(self.unchanged()),
                // The server itself has notices and votes, and nobody else has to hear of the end.
                State::Running | State::Pausing
                    if self.spec.notice.is_none() && context.queue.mode != Mode::Vote =>
                {
                    status.state = State::Cancelling;
                }
                _ => {
                    if state.is_held() {
                        status.untake(now, Outcome::Cancelled, None);
                    }
                    return Ok(self.end(State::Cancelled, context));
                }
            },
            Event::Pause => match state {
                State::Running if context.queue.mode != Mode::Vote => {
                    status.state = State::Pausing;
                }
                State::Pausing | State::Paused => return Ok(self.unchanged()),
                _ => {
                    if state.is_held() {
                        status.untake(now, Outcome::Paused, None);
                        status.granted += 1;
                    }
                    status.worker = None;
                    status.taken_at = None;
                    status.state = State::Paused;
                }
            },
            Event::Resume if state == State::Pausing => status.state = State::Running,
            Event::Resume => {
                let due = self.due_at();
                self.status.queue(due, now);
            }
            Event::Retry { force } => {
                if matches!(state, State::Waiting | State::Ready) && status.attempt == 0 {
                    let verb = if force { Verb::ForceRetry } else { Verb::Retry };
                    return Err(Refusal::WrongState { verb, state });
                }
                if state == State::Ready {
                    // The time of its retry has come by itself.
                    return Ok(self.unchanged());
                }
                if state.is_held() {
                    status.untake(now, Outcome::Freed, None);
                }
                status.reopen();
                // Whoever asks for it now does not want it to expire.
                status.starts = status.starts.max(1);
                status.due_at = Some(now);
                status.queue(now, now);
                if self.is_used_up(context.queue) {
                    let limit = self.max_attempts(context.queue).limit().unwrap_or(0);
                    self.status.granted = self.used() + 1 - limit;
                }
            }
            Event::Reset => {
                // Like new, but a settle verb repeated by its holder is still answered.
                let settled = status.settled;
                // Like new, it must not be over at once.
                let is_late = self.spec.expires.is_some_and(|at| at <= now);
                let starts = u32::from(is_late);
                let new = Status { settled, starts, ..Status::new(self.spec.due_at, now) };
                // What is like new keeps its place in the line.
                if (Status { ready_at: status.ready_at, ..new.clone() }) == *status {
                    return Ok(self.unchanged());
                }
                *status = new;
            }
            Event::Edit(edit) => return self.edit(edit, context),
            Event::HoldEnd => return Ok(self.lose(context)),
            Event::Expire => return Ok(self.expire(context)),
            Event::Clean => {
                // Gone without an end: no callback, no receipt, nothing reserved.
                status.hold = None;
                return Ok(self.kept(Fate::Remove));
            }
        }
        Ok(self.kept(Fate::Keep))
    }

    /// A decision that nothing follows from.
    pub fn kept(self, fate: Fate) -> Decision {
        Decision { task: self, fate, spawn: Vec::new(), receipt: None, capacity: None }
    }

    /// The holder ends its hold.
    pub(super) fn settle(
        mut self,
        token: Token,
        settlement: Settlement,
        context: &Context<'_>,
    ) -> Decision {
        let now = context.now;
        let state = self.status.state;
        let verb = settlement.verb();
        let status = &mut *self.status;
        let mut end = None;
        match settlement {
            Settlement::Commit { result } => {
                status.untake(now, Outcome::Done, None);
                status.result = Some(result.unwrap_or_default());
                status.error = None;
                end = Some(State::Done);
            }
            Settlement::Cancelled(left) | Settlement::Paused(left) => {
                let outcome =
                    if state == State::Pausing { Outcome::Paused } else { Outcome::Cancelled };
                status.untake(now, outcome, left.error.as_deref());
                status.checkpoint = left.checkpoint.or(status.checkpoint.take());
                status.result = left.result.or(status.result.take());
                status.error = left.error.or(status.error.take());
            }
            Settlement::Release { delay, checkpoint } => {
                status.untake(now, Outcome::Released, None);
                status.checkpoint = checkpoint.or(status.checkpoint.take());
                status.attempt -= 1;
                status.starts -= u32::from(state != State::Assigned);
                if !matches!(state, State::Pausing | State::Cancelling) {
                    let due = now + delay.unwrap_or_default();
                    status.due_at = Some(due);
                    status.queue(due, now);
                }
            }
            Settlement::Delivered(delivery) => return self.deliver(token, *delivery, context),
            Settlement::Fail { error, retry_in, permanent } => {
                status.untake(now, Outcome::Failed, error.as_deref());
                status.error = Some(error.unwrap_or_else(|| "failed".to_owned()));
                if !matches!(state, State::Pausing | State::Cancelling) {
                    status.failures += 1;
                    if permanent || self.is_used_up(context.queue) {
                        end = Some(State::Failed);
                    } else {
                        self.wait_for_retry(retry_in, context);
                    }
                }
            }
        }
        self.status.settled = Some((token, verb));
        match (end, state) {
            (Some(end), _) => self.end(end, context),
            (None, State::Pausing) => self.pause(verb == Verb::Release),
            (None, State::Cancelling) => self.end(State::Cancelled, context),
            (None, _) => self.kept(Fate::Keep),
        }
    }

    /// The hold is over and its holder was not heard of.
    fn lose(mut self, context: &Context<'_>) -> Decision {
        let now = context.now;
        let state = self.status.state;
        if matches!(context.queue.mode, Mode::Vote | Mode::Pub) && !self.is_asked_to_stop() {
            return self.begin_again(now);
        }
        let (outcome, error) = match state {
            State::Assigned => (Outcome::Unconfirmed, "not confirmed in time"),
            _ if self.has_run_too_long(context.queue) => (Outcome::Lost, MAX_RUNTIME),
            _ => (Outcome::Lost, "its hold ended before its worker was heard of"),
        };
        self.status.untake(now, outcome, Some(error).filter(|it| *it == MAX_RUNTIME));
        match state {
            State::Pausing => return self.pause(false),
            State::Cancelling => return self.end(State::Cancelled, context),
            _ => {}
        }
        self.status.error = Some(error.to_owned());
        self.status.failures += 1;
        if self.is_used_up(context.queue) {
            return self.end(State::Failed, context);
        }
        self.status.due_at = Some(now);
        self.status.queue(now, now);
        if self.expires_at().is_some_and(|at| at <= now) {
            return self.expire(context);
        }
        self.kept(Fate::Keep)
    }

    /// Whether its hold lasted as long as one may.
    fn has_run_too_long(&self, queue: &Settings) -> bool {
        match (self.status.hold, self.status.taken_at, self.max_runtime(queue)) {
            (Some(hold), Some(started), Some(max)) => hold.until >= started + max,
            _ => false,
        }
    }

    fn is_asked_to_stop(&self) -> bool {
        matches!(self.status.state, State::Pausing | State::Cancelling)
    }

    /// The server that carried it out is gone, and nobody tried anything.
    fn begin_again(mut self, now: Timestamp) -> Decision {
        self.status.attempt = self.status.attempt.saturating_sub(1);
        self.status.hold = None;
        self.status.queue(now, now);
        self.kept(Fate::Keep)
    }

    /// It was not started in time.
    fn expire(mut self, context: &Context<'_>) -> Decision {
        self.status.error = Some("expired".to_owned());
        self.end(State::Failed, context)
    }

    fn wait_for_retry(&mut self, retry_in: Option<Span>, context: &Context<'_>) {
        let policy = self.spec.retry.as_ref().unwrap_or(&context.queue.retry);
        let wait = retry_in.unwrap_or_else(|| policy.wait(self.status.failures, context.roll));
        let due = context.now + wait;
        self.status.due_at = Some(due);
        self.status.queue(due, context.now);
    }

    /// Sets a held task aside. A pause interrupts an attempt, it does not use it up: the take counts,
    /// and another one is granted for it. A release has taken the take back already.
    pub(super) fn pause(mut self, is_released: bool) -> Decision {
        self.status.granted += u32::from(!is_released);
        self.status.state = State::Paused;
        self.status.worker = None;
        self.status.taken_at = None;
        self.kept(Fate::Keep)
    }

    /// Ends the task: how long it stays, and what its callback makes.
    pub(super) fn end(mut self, state: State, context: &Context<'_>) -> Decision {
        let now = context.now;
        let keep = context.queue.keep.of(state);
        let status = &mut *self.status;
        status.state = state;
        status.finished_at = Some(now);
        status.keep_until = Some(now + keep);
        status.reserved_until = self.spec.unique_for.map(|span| now + span);
        if state == State::Done {
            status.progress = status.progress.map(|_| 1.0);
        }
        let fate = match status.reserved_until {
            _ if !keep.is_zero() => Fate::Keep,
            Some(until) => Fate::Reserve(until),
            None => Fate::Remove,
        };
        // A commit is answered again even after the id was pushed anew, so it always leaves one.
        let receipt =
            status.settled.filter(|(_, verb)| fate != Fate::Keep || *verb == Verb::Commit);
        let callback = self.spec.callback.as_ref();
        let spawn =
            callback.and_then(|callback| callback.spawn(&self, now, context.callback_id.clone()));
        Decision { spawn: spawn.into_iter().collect(), receipt, ..self.kept(fate) }
    }

    fn edit(mut self, edit: Edit, context: &Context<'_>) -> Result<Decision, Refusal> {
        edit.check()?;
        if let Some(condition) = &edit.if_match {
            condition.check(Some(&self.spec.etag()))?;
        }
        let mut spec = Spec::clone(&self.spec);
        spec.payload = edit.payload.unwrap_or(spec.payload);
        if context.queue.mode == Mode::Pub {
            check_pub(Some(&spec.payload))?;
        }
        if let (Some(notice), Some(http)) = (&spec.notice, &spec.http) {
            notice.check(http, &spec.payload)?;
        }
        spec.priority = check_priority(edit.priority.apply(spec.priority.into(), 0))?;
        spec.tags = edit.tags.apply(spec.tags, Vec::new());
        spec.retry = edit.retry.apply_optional(spec.retry);
        spec.expires = edit.expires.apply_optional(spec.expires);
        if edit.due != Patch::Keep {
            spec.due_at = edit.due.apply(spec.due_at, context.now);
            self.status.due_at = None;
            if self.status.state != State::Paused {
                self.status.queue(spec.due_at, context.now);
            }
        }
        self.spec = Arc::new(spec);
        Ok(self.kept(Fate::Rewrite))
    }
}

impl Status {
    /// Takes back an end.
    fn reopen(&mut self) {
        self.finished_at = None;
        self.keep_until = None;
        self.reserved_until = None;
    }
}
