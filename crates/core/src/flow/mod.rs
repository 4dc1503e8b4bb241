//! Flows: steps that become tasks when the steps before them are done.
//!
//! A flow is stored per step: one small record for the whole, with counts, and one for each step with
//! its result. The end of a step's task changes the flow, the step and those after it, in one atomic
//! step; nothing else of the flow is read or written.

use serde::{Deserialize, Serialize};

use crate::json::RawJson;
use crate::name::{FlowId, QueueName, StepName};
use crate::task::NewTask;
use crate::time::{Span, Timestamp};

/// How long a flow can be read after its end.
pub const KEPT: Span = Span::from_millis(7 * 24 * 3_600_000);

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
    /// How many steps are in each state, in the order of [`StepState`].
    pub counts: [u32; 5],
    /// When the server must look after it.
    pub alarm_at: Option<Timestamp>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Paused, Self::Cancelling, Self::Done, Self::Failed, Self::Cancelled];

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelling => "cancelling",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowStep {
    /// The flow.
    pub flow: FlowId,
    /// Its name.
    pub name: StepName,
    /// Its place among the steps as they were given.
    pub position: u32,
    /// The queue of its task.
    pub queue: QueueName,
    /// Its task as it was given.
    pub task: NewTask,
    /// The steps it waits for.
    pub after: Vec<StepName>,
    /// The steps that wait for it.
    pub before: Vec<StepName>,
    /// How many of the steps it waits for are not done.
    pub missing: u32,
    /// Where it stands.
    pub state: StepState,
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
    /// It will not become a task, because one before it failed or the flow was cancelled.
    Cancelled,
}
