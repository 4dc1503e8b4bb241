//! Flows: steps that become tasks when the steps before them are done.
//!
//! ```text
//!   running ──── nothing lives any more ────▶ done (every step is), or failed ── retry ─▶ running
//!     │ ▲ └─ pause ─▶ paused ─ resume ─▶ running
//!     │ └──────────── retry ─────────────┐
//!     └─ cancel ─▶ cancelling ─ nothing lives any more ─▶ cancelled
//! ```
//!
//! A flow is stored per step: one small record for the whole, with counts, and one for each step with
//! its result. What a step was given lies beside the flow, one item per step in their order, and is never
//! written again. The end of a step's task changes the flow, the step and those after it, in one atomic
//! step; nothing else of the flow is read or written. Every change of a step goes with a change of its flow,
//! so the flow's version fences all of it.
//!
//! What follows from the whole is not written into each step but read from it: a step that waits in a
//! cancelled flow, or behind a failed one where the others go on, reads as cancelled, and waits again
//! as soon as the flow, or the step that failed, is tried again.
//!
//! - `new`: what a request says about a flow, and its records. `advance`: what ends of tasks make of it.
//!   `life`: what people do to it. `inputs`: the tasks of its steps. `read`: how its steps read.

mod advance;
mod inputs;
mod life;
mod new;
mod read;

use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

pub use advance::{Advance, Heard, StepEnd};
pub use inputs::StepOrder;
pub use life::{FlowRefusal, FlowVerb};
pub use new::{CheckedFlow, MadeFlow, NewFlow, NewStep};
pub use read::{StepReading, waiting_text};

use crate::json::RawJson;
use crate::name::{FlowId, QueueName, StepName, TaskId};
use crate::time::{Span, Timestamp};

/// How long a flow can be read after its end.
pub const KEPT: Span = Span::from_millis(7 * 24 * 3_600_000);
/// How long after its tasks were made a watched flow is first compared with them.
const CHECK_FIRST: Span = Span::from_millis(30_000);
/// The longest time between two comparisons.
const CHECK_MAX: Span = Span::from_millis(600_000);

/// A flow as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Its id.
    pub id: FlowId,
    /// What a failed step does to the others.
    pub on_failure: OnFailure,
    /// Where it stands.
    pub state: FlowState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// How many steps are in each state.
    pub counts: Counts,
    /// How often it was tried again: what failed in an earlier round is to be made again.
    pub round: u32,
    /// How often all its steps had to be looked through, because what is to become of them has changed.
    pub sweeps: u32,
    /// How many of these times that was done.
    pub swept: u32,
    /// When its living steps are compared with their tasks, if the end of one may be missed.
    pub check: Option<Check>,
}

/// When a flow is compared with its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The next time.
    pub at: Timestamp,
    /// How long that is after the time before.
    pub after: Span,
}

/// How many steps of a flow are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Not tasks yet.
    pub pending: u32,
    /// Tasks that have not ended.
    pub living: u32,
    /// Done.
    pub done: u32,
    /// Failed.
    pub failed: u32,
    /// Cancelled with the flow.
    pub cancelled: u32,
}

impl Counts {
    /// How many steps there are.
    pub fn total(&self) -> u32 {
        self.pending + self.living + self.done + self.failed + self.cancelled
    }

    /// The count of a state.
    pub fn of(&mut self, state: StepState) -> &mut u32 {
        match state {
            StepState::Pending => &mut self.pending,
            StepState::Living => &mut self.living,
            StepState::Done => &mut self.done,
            StepState::Failed => &mut self.failed,
            StepState::Cancelled => &mut self.cancelled,
        }
    }
}

/// What a failed step does to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Running steps finish, the rest wait for a retry.
    #[default]
    Stop,
    /// What depends on it is cancelled, the rest goes on.
    Continue,
}

/// Where a flow stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumCount,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FlowState {
    /// Steps are under way.
    Running,
    /// No step is started until it is resumed.
    Paused,
    /// Steps under way are asked to stop.
    Cancelling,
    /// All steps are done.
    Done,
    /// A step failed, and nothing is under way.
    Failed,
    /// It ended on request.
    Cancelled,
}

impl FlowState {
    /// Every state.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it has ended.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowStep {
    /// The flow.
    pub flow: FlowId,
    /// Its name.
    pub name: StepName,
    /// Its place among the steps as they were given, and of what it was given beside the flow.
    pub position: u32,
    /// The queue of its task.
    pub queue: QueueName,
    /// The steps that wait for it.
    pub before: Vec<StepName>,
    /// How many of the steps it waits for are not done.
    pub missing: u32,
    /// Where it stood when it was last written; see [`Flow::state_of`].
    pub state: StepState,
    /// The flow's round in which it came there.
    pub round: u32,
    /// When its last task was made, which tells that from those before it.
    pub made_at: Option<Timestamp>,
    /// The id of its task, where that is not the one that follows from its name.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Whether its task was paused with the flow.
    pub paused: bool,
    /// What it came to.
    pub result: Option<RawJson>,
    /// What went wrong.
    pub error: Option<String>,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// Not a task yet.
    Pending,
    /// A task that has not ended.
    Living,
    /// Its task is done.
    Done,
    /// Its task failed, was cancelled or removed, or could not be made.
    Failed,
    /// Its task was cancelled with the flow.
    Cancelled,
}

impl Flow {
    /// When the server must look after it: its steps have to be looked through or compared with their
    /// tasks, or it has been kept long enough.
    pub(crate) fn alarm_at(&self) -> Option<Timestamp> {
        if self.is_to_be_swept() {
            return Some(self.created_at);
        }
        self.gone_at().or_else(|| self.check_at())
    }

    /// When its living steps are to be compared with their tasks.
    pub fn check_at(&self) -> Option<Timestamp> {
        self.check.filter(|_| !self.state.is_finished()).map(|check| check.at)
    }

    /// Tasks were made of it whose ends it may miss.
    pub fn watch(&mut self, now: Timestamp) {
        self.check = Some(Check { at: now + CHECK_FIRST, after: CHECK_FIRST });
    }

    /// It was compared with its tasks: later and later again, as long as any of them lives.
    #[must_use]
    pub fn checked(mut self, now: Timestamp) -> Self {
        let next = |check: Check| {
            let after = Span::from_millis(check.after.as_millis() * 2).min(CHECK_MAX);
            Check { at: now + after, after }
        };
        self.check = self.check.filter(|_| self.counts.living > 0).map(next);
        self
    }

    /// Whether all its steps have to be looked through.
    pub fn is_to_be_swept(&self) -> bool {
        self.sweeps != self.swept
    }

    /// When it is no longer kept.
    pub fn gone_at(&self) -> Option<Timestamp> {
        self.finished_at.map(|at| at + KEPT)
    }

    /// Where a step stands: what failed in an earlier round waits to be made again.
    pub fn state_of(&self, step: &FlowStep) -> StepState {
        match step.state {
            StepState::Failed | StepState::Cancelled if step.round < self.round => {
                StepState::Pending
            }
            state => state,
        }
    }

    /// Whether steps may be started that wait for nothing any more.
    pub fn may_start(&self) -> bool {
        let is_stopped = self.on_failure == OnFailure::Stop && self.counts.failed > 0;
        self.state == FlowState::Running && !is_stopped
    }

    /// Whether a step is to be started now.
    pub fn is_startable(&self, step: &FlowStep) -> bool {
        self.may_start() && step.missing == 0 && self.state_of(step) == StepState::Pending
    }
}

impl FlowStep {
    /// The id of its task.
    pub fn task_id(&self) -> TaskId {
        self.task.clone().unwrap_or_else(|| self.first_id())
    }

    /// Sets the id of its task.
    pub(crate) fn set_task_id(&mut self, id: TaskId) {
        self.task = Some(id).filter(|id| *id != self.first_id());
    }

    /// The id that its task has unless another task keeps it.
    ///
    /// # Panics
    /// Never: two names of at most 90 characters leave room for what joins them.
    pub fn first_id(&self) -> TaskId {
        TaskId::parse(&format!("{}~{}", self.flow, self.name))
            .expect("two names of at most 90 characters make an id")
    }
}
