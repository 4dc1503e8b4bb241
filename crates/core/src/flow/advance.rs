//! What the ends of tasks make of a flow: one or many at once, in one atomic step.
//!
//! An [`Advance`] holds the records that a step of the store is about. It is told what ended, asks for the
//! records it needs besides, and gives back those that have changed.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::StepOrder;
use super::{Flow, FlowState, FlowStep, OnFailure, StepState};
use crate::error::Refusal;
use crate::json::RawJson;
use crate::limits::{PAYLOAD_BYTES_MAX, RESULT_BYTES_MAX};
use crate::name::{StepName, TaskId};
use crate::task::{Decision, Event, Fate, Settlement, Spec, State};
use crate::time::Timestamp;

/// What a flow hears of something that happened to the task of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// Nothing that matters to it.
    Nothing,
    /// The step has ended.
    Ended(StepEnd),
    /// A step that failed is tried again.
    Revived,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub enum StepEnd {
    /// Done.
    Done(RawJson),
    /// Failed, with what went wrong.
    Failed(String),
    /// Cancelled, with what went wrong if anything did.
    Cancelled(Option<String>),
}

impl StepEnd {
    /// The end of a step whose task is gone without a word: its queue was reset or deleted.
    pub fn removed() -> Self {
        Self::Failed("removed".to_owned())
    }

    /// The end of a step whose task cannot be made.
    pub fn not_made(error: &str) -> Self {
        Self::Failed(format!("cannot_be_made: {error}"))
    }
}

impl Flow {
    /// Says what a decision about the task of a step means for the flow.
    pub fn hear(
        &self,
        step: &FlowStep,
        event: &Event,
        decision: &Decision,
    ) -> Result<Heard, Refusal> {
        let status = &decision.task.status;
        if self.state_of(step) != StepState::Living {
            return match event {
                Event::Retry { force } => self.hear_retry(step, *force, decision),
                _ => Ok(Heard::Nothing),
            };
        }
        Ok(Heard::Ended(match status.state {
            State::Done => ending_well(event, status.result.clone().unwrap_or_default())?,
            State::Failed => {
                StepEnd::Failed(status.error.clone().unwrap_or_else(|| "failed".to_owned()))
            }
            State::Cancelled => StepEnd::Cancelled(status.error.clone()),
            _ if decision.fate == Fate::Remove => StepEnd::removed(),
            _ => return Ok(Heard::Nothing),
        }))
    }

    /// A failed task is tried again: the flow goes on with it, unless it has gone on without it.
    fn hear_retry(
        &self,
        step: &FlowStep,
        force: bool,
        decision: &Decision,
    ) -> Result<Heard, Refusal> {
        let is_failed = self.state_of(step) == StepState::Failed;
        let goes_on =
            matches!(self.state, FlowState::Running | FlowState::Paused | FlowState::Failed);
        if is_failed && goes_on {
            return Ok(Heard::Revived);
        }
        let verb = Event::Retry { force }.verb();
        let state = decision.task.status.state;
        Err(Refusal::Owned { verb, owner: "flow", state })
    }
}

/// The end of a task that is done. A worker can still say it in fewer words; what the server itself
/// collected cannot be said otherwise.
fn ending_well(event: &Event, result: RawJson) -> Result<StepEnd, Refusal> {
    let is_worker = matches!(event, Event::Settle { settlement: Settlement::Commit { .. }, .. });
    if is_worker && result.len() > RESULT_BYTES_MAX {
        return Err(Refusal::TooLarge { field: "result", limit_bytes: RESULT_BYTES_MAX });
    }
    if result.len() > PAYLOAD_BYTES_MAX {
        return Ok(StepEnd::Failed("result_too_large".to_owned()));
    }
    Ok(StepEnd::Done(result))
}

/// A flow and some of its steps, on the way from one state to the next.
#[derive(Debug, Clone)]
pub struct Advance {
    flow: Flow,
    steps: BTreeMap<StepName, FlowStep>,
    changed: BTreeSet<StepName>,
    /// Steps that became done and whose successors have not heard of it.
    done: Vec<StepName>,
    /// Steps that may be started.
    ready: BTreeSet<StepName>,
}

impl Advance {
    /// A flow of which no step is known yet.
    pub fn new(flow: Flow) -> Self {
        let (steps, changed) = (BTreeMap::new(), BTreeSet::new());
        Self { flow, steps, changed, done: Vec::new(), ready: BTreeSet::new() }
    }

    /// The flow as it stands.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Tasks were made of it whose ends it may miss.
    pub fn watch(&mut self, now: Timestamp) {
        self.flow.watch(now);
    }

    /// A step, if it is known.
    pub fn step(&self, name: &StepName) -> Option<&FlowStep> {
        self.steps.get(name)
    }

    /// Makes a step known. What is known already may have changed, and stays.
    pub fn know(&mut self, step: FlowStep) {
        self.steps.entry(step.name.clone()).or_insert(step);
    }

    /// A step has ended.
    pub fn end(&mut self, name: &StepName, end: StepEnd) {
        let is_cancelling = self.flow.state == FlowState::Cancelling;
        let Some(step) = self.steps.get_mut(name) else { return };
        step.paused = false;
        let state = match end {
            StepEnd::Done(result) => {
                step.result = Some(result);
                self.done.push(name.clone());
                StepState::Done
            }
            StepEnd::Failed(error) => {
                step.error = Some(error);
                StepState::Failed
            }
            StepEnd::Cancelled(error) if is_cancelling => {
                step.error = error;
                StepState::Cancelled
            }
            StepEnd::Cancelled(error) => {
                step.error = Some(error.unwrap_or_else(|| "cancelled".to_owned()));
                StepState::Failed
            }
        };
        self.move_to(name, state);
    }

    /// The task of a failed step is tried again.
    pub fn revive(&mut self, name: &StepName) {
        let Some(step) = self.steps.get_mut(name) else { return };
        step.error = None;
        self.move_to(name, StepState::Living);
        if self.flow.state == FlowState::Failed {
            self.flow.state = FlowState::Running;
            self.flow.finished_at = None;
        }
        // What could have been started but for the failure is to be found.
        if self.flow.on_failure == OnFailure::Stop && self.flow.may_start() {
            self.flow.sweeps = self.flow.sweeps.wrapping_add(1);
        }
    }

    /// Sets the id under which the task of a step is made.
    pub fn set_task_id(&mut self, name: &StepName, id: TaskId) {
        if let Some(step) = self.steps.get_mut(name) {
            step.set_task_id(id);
        }
    }

    /// Notes whether a step's task is paused with the flow.
    pub fn set_paused(&mut self, name: &StepName, paused: bool) {
        let Some(step) = self.steps.get_mut(name) else { return };
        step.paused = paused;
        self.changed.insert(name.clone());
    }

    fn move_to(&mut self, name: &StepName, state: StepState) {
        let Some(step) = self.steps.get_mut(name) else { return };
        let before = self.flow.state_of(step);
        *self.flow.counts.of(before) -= 1;
        *self.flow.counts.of(state) += 1;
        step.state = state;
        step.round = self.flow.round;
        self.changed.insert(name.clone());
    }

    /// Steps that must be known before [`Self::follow`].
    pub fn unknown(&self) -> Vec<StepName> {
        let after = self.done.iter().filter_map(|name| self.steps.get(name));
        let names: BTreeSet<&StepName> = after.flat_map(|step| &step.before).collect();
        names.into_iter().filter(|name| !self.steps.contains_key(*name)).cloned().collect()
    }

    /// Tells the steps after those that are done.
    pub fn follow(&mut self) {
        for name in std::mem::take(&mut self.done) {
            let before = self.steps.get(&name).map(|step| step.before.clone()).unwrap_or_default();
            for successor in before {
                let Some(step) = self.steps.get_mut(&successor) else { continue };
                step.missing = step.missing.saturating_sub(1);
                self.changed.insert(successor.clone());
                if step.missing == 0 {
                    self.ready.insert(successor);
                }
            }
        }
    }

    /// All known steps that are to be started are ready.
    pub fn find_ready(&mut self) {
        let startable = self.steps.values().filter(|step| self.flow.is_startable(step));
        self.ready.extend(startable.map(|step| step.name.clone()));
    }

    /// Steps to be started now, in the order of their names: at most so many, and whether there are more.
    pub fn ready(&mut self, limit: usize) -> (Vec<StepName>, bool) {
        let ready = std::mem::take(&mut self.ready).into_iter();
        let startable =
            |name: &StepName| self.steps.get(name).is_some_and(|step| self.flow.is_startable(step));
        let mut ready: Vec<StepName> = ready.filter(startable).collect();
        let is_more = ready.len() > limit;
        ready.truncate(limit);
        (ready, is_more)
    }

    /// Leaves what is ready and not started to a look through all steps.
    pub fn leave_rest(&mut self) {
        self.flow.sweeps = self.flow.sweeps.wrapping_add(1);
    }

    /// Notes that all steps have been looked through, as often as was asked for until then.
    pub fn swept(&mut self, sweeps: u32) {
        self.flow.swept = sweeps;
    }

    /// Starts a step; `results` are those of the steps it waits for, none if they are too large. Answers its
    /// task, if it becomes one: it fails if its inputs are too large, and stays if another just failed.
    pub fn start(
        &mut self,
        name: &StepName,
        order: StepOrder,
        results: Option<&[RawJson]>,
        now: Timestamp,
    ) -> Option<Spec> {
        let step = self.steps.get(name).filter(|step| self.flow.is_startable(step))?;
        let spec = results.and_then(|results| order.spec(&self.flow, step, results, now));
        if let Some(step) = self.steps.get_mut(name) {
            step.error = spec.is_none().then(|| "inputs_too_large".to_owned());
            step.made_at = Some(now);
        }
        self.move_to(name, if spec.is_some() { StepState::Living } else { StepState::Failed });
        spec
    }

    /// The flow, and the steps that have changed.
    pub fn finish(mut self, now: Timestamp) -> (Flow, Vec<FlowStep>) {
        self.flow.settle(now);
        let Self { flow, mut steps, changed, .. } = self;
        let steps = changed.iter().filter_map(|name| steps.remove(name));
        (flow, steps.collect())
    }
}
