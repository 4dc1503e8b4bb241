//! How a flow reads.

use punctual_core::flow::{Counts, FlowState, OnFailure};
use punctual_core::{Flow, FlowId, QueueName, RawJson, StepName, TaskId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::schema::flow::{FlowStateSchema, OnFailureSchema};
use crate::api::schema::{AnyJson, Time};
use crate::engine::{FlowReading, FlowStepReading};

/// A flow with all its steps.
#[derive(Serialize, ToSchema)]
#[schema(as = Flow)]
pub(crate) struct FlowView<'a> {
    #[serde(flatten)]
    summary: FlowSummaryView<'a>,
    /// Its steps, in the order given.
    steps: Vec<StepView<'a>>,
}

/// A flow without its steps.
#[derive(Serialize, ToSchema)]
#[schema(as = FlowSummary)]
pub(crate) struct FlowSummaryView<'a> {
    /// Its id.
    #[schema(value_type = String)]
    id: &'a FlowId,
    /// Where it stands.
    #[schema(value_type = FlowStateSchema)]
    state: FlowState,
    /// What a failed step does to the others.
    #[schema(value_type = OnFailureSchema)]
    on_failure: OnFailure,
    /// When it was made.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When it ended.
    #[schema(value_type = Option<Time>)]
    finished_at: Option<Timestamp>,
    /// How many steps it has, and in which states.
    counts: FlowCountsView,
}

/// How many steps a flow has, and in which states.
#[derive(Serialize, ToSchema)]
#[schema(as = FlowCounts)]
pub(crate) struct FlowCountsView {
    /// All of them.
    total: u32,
    /// Not tasks yet.
    pending: u32,
    /// Tasks that have not ended.
    living: u32,
    /// Done.
    done: u32,
    /// Failed.
    failed: u32,
    /// Cancelled, with the flow or because one before it failed.
    cancelled: u32,
}

/// A step of a flow.
#[derive(Serialize, ToSchema)]
#[schema(as = FlowStep)]
struct StepView<'a> {
    /// Its name.
    #[schema(value_type = String)]
    name: &'a StepName,
    /// The queue of its task.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// The id of its task.
    #[schema(value_type = String)]
    task: TaskId,
    /// The steps that must be done before it becomes a task.
    #[schema(value_type = Vec<String>)]
    after: &'a [StepName],
    /// `pending` until it is a task, then its task's state.
    state: &'static str,
    /// Those of `after` that are not done, while it is pending.
    #[serde(skip_serializing_if = "<[StepName]>::is_empty")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    waiting_for: &'a [StepName],
    /// What it came to.
    #[schema(value_type = AnyJson)]
    result: Option<&'a RawJson>,
    /// Whether it has a result that is not told here, because all of them together are over 8 MiB.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>, nullable = false)]
    result_left_out: bool,
    /// What went wrong.
    error: Option<&'a str>,
}

/// A flow that is gone.
#[derive(Serialize)]
pub(crate) struct GoneFlowView<'a> {
    id: &'a str,
    // What is gone is of no queue any more, but whatever is gone names one.
    queue: Option<&'a str>,
}

impl<'a> GoneFlowView<'a> {
    /// What is left to say of a flow.
    pub(crate) fn new(id: &'a str) -> Self {
        Self { id, queue: None }
    }
}

impl<'a> FlowView<'a> {
    /// A flow as it reads.
    pub(crate) fn new(reading: &'a FlowReading) -> Self {
        let counts = reading.flow.counts;
        let summary = FlowSummaryView::with(&reading.flow, counts);
        Self { summary, steps: reading.steps.iter().map(StepView::new).collect() }
    }
}

impl<'a> FlowSummaryView<'a> {
    /// A flow as it reads in a list.
    pub(crate) fn new(flow: &'a Flow) -> Self {
        Self::with(flow, flow.counts_read())
    }

    fn with(flow: &'a Flow, counts: Counts) -> Self {
        Self {
            id: &flow.id,
            state: flow.state,
            on_failure: flow.on_failure,
            created_at: flow.created_at,
            finished_at: flow.finished_at,
            counts: FlowCountsView {
                total: counts.total(),
                pending: counts.pending,
                living: counts.living,
                done: counts.done,
                failed: counts.failed,
                cancelled: counts.cancelled,
            },
        }
    }
}

impl<'a> StepView<'a> {
    fn new(reading: &'a FlowStepReading) -> Self {
        let FlowStepReading { step, after, waiting_for, state, left_out } = reading;
        // What an earlier round left behind is not what it came to.
        let is_over = matches!(*state, "done" | "failed" | "cancelled");
        Self {
            name: &step.name,
            queue: &step.queue,
            task: step.task_id(),
            after,
            state,
            waiting_for,
            result: step.result.as_ref(),
            result_left_out: *left_out,
            error: step.error.as_deref().filter(|_| is_over),
        }
    }
}
