//! How a task reads.

use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::Attempt;
use punctual_core::{FlowId, OwnerRef, StepName};
use punctual_core::{
    QueueName, RawJson, RetryPolicy, Settings, Span, State, Task, TaskId, Timestamp, Token,
    TraceParent, Verb, WorkerName,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CallbackView, HttpView, Viewing};
use crate::api::answer;
use crate::api::schema::{
    AnyJson, AttemptSchema, CallbackSchema, DurationSeconds, RetrySchema, StateSchema, Time,
};
use crate::engine::Outcome;

/// A task.
#[derive(Serialize, ToSchema)]
#[schema(as = Task)]
pub(crate) struct TaskView<'a> {
    /// Its queue.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// Its id.
    #[schema(value_type = String)]
    id: &'a TaskId,
    /// Where it stands.
    #[schema(value_type = StateSchema)]
    state: State,
    /// What was pushed; not in a list that asks for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AnyJson, required = false)]
    payload: Option<&'a RawJson>,
    /// The first 200 characters of the payload's JSON text, in a list with `payload=preview`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    payload_preview: Option<&'a str>,
    /// Higher goes first.
    priority: i8,
    /// When it was pushed.
    #[schema(value_type = Time)]
    created_at: Timestamp,
    /// When it is due, or its next attempt is.
    #[schema(value_type = Time)]
    due_at: Timestamp,
    /// When its worker got it, or confirmed it.
    #[schema(value_type = Option<Time>, required = true)]
    taken_at: Option<Timestamp>,
    /// While held: when the hold, or the time to confirm, ends.
    #[schema(value_type = Option<Time>, required = true)]
    hold_until: Option<Timestamp>,
    /// Its worker, while held and after the end.
    #[schema(value_type = Option<String>, required = true)]
    worker: Option<&'a WorkerName>,
    /// Times taken.
    attempt: u32,
    /// Takes before it is failed; -1 for no limit.
    #[schema(value_type = i32)]
    max_attempts: MaxAttempts,
    /// The longest one attempt may hold it, if it says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DurationSeconds>, nullable = false)]
    max_runtime: Option<Span>,
    /// How far it is, from 0 to 1.
    #[schema(required = true)]
    progress: Option<f64>,
    /// What its holder last said.
    #[schema(value_type = Option<String>, required = true)]
    message: Option<&'a str>,
    /// What its next holder needs to go on.
    #[schema(value_type = AnyJson)]
    checkpoint: Option<&'a RawJson>,
    /// What it came to.
    #[schema(value_type = AnyJson)]
    result: Option<&'a RawJson>,
    /// What went wrong last.
    #[schema(value_type = Option<String>, required = true)]
    error: Option<&'a str>,
    /// When it ended.
    #[schema(value_type = Option<Time>, required = true)]
    finished_at: Option<Timestamp>,
    /// Labels.
    #[schema(value_type = Vec<String>)]
    tags: &'a [String],
    /// The span it was pushed in, if it belongs to a trace: carry it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    traceparent: Option<TraceParent>,
    /// Its own hold, where that is not the queue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DurationSeconds>, nullable = false)]
    hold: Option<Span>,
    /// Its own waits between attempts, where they are not the queue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RetrySchema>, nullable = false)]
    retry: Option<&'a RetryPolicy>,
    /// How long its id stays reserved after its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DurationSeconds>, nullable = false)]
    unique_for: Option<Span>,
    /// The time by which it must have started; else it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>, nullable = false)]
    expires: Option<Timestamp>,
    /// Capabilities its worker must have.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    requires: &'a [String],
    /// The task to make when it ends; values of secret headers read as `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CallbackSchema>, nullable = false)]
    callback: Option<CallbackView>,
    /// Where it is delivered, if it says so itself; values of secret headers read as `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    http: Option<HttpView<'a>>,
    /// The plan it is a run of.
    #[schema(value_type = AnyJson)]
    plan: Option<&'a RawJson>,
    /// The flow it is a step of.
    flow: Option<FlowPart<'a>>,
    /// The last 20 attempts, oldest first.
    #[schema(value_type = Vec<AttemptSchema>)]
    history: &'a [Attempt],
    /// The holder's token; only in the answer to its take.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    token: Option<Token>,
}

/// How much of its payload a task in a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PayloadShown {
    /// All of it.
    #[default]
    Full,
    /// The first 200 characters of its JSON text, as `payload_preview`.
    Preview,
    /// Nothing.
    None,
}

/// The beginning of a text, cut between characters.
fn preview(text: &str) -> &str {
    const CHARS: usize = 200;
    let end = text.char_indices().nth(CHARS).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

/// Which step of which flow a task is.
#[derive(Serialize, ToSchema)]
struct FlowPart<'a> {
    /// The flow.
    #[schema(value_type = String)]
    id: &'a FlowId,
    /// The step.
    #[schema(value_type = String)]
    step: &'a StepName,
}

impl<'a> TaskView<'a> {
    /// A task as it reads now.
    pub(crate) fn new(task: &'a Task, queue: &Settings, viewing: Viewing<'_>) -> Self {
        let Task { spec, status } = task;
        let (plan, flow) = match &spec.owner {
            Some(OwnerRef::Plan { reads, .. }) => (Some(reads), None),
            Some(OwnerRef::Flow { id, step }) => (None, Some(FlowPart { id, step })),
            Some(OwnerRef::Bundle(_)) | None => (None, None),
        };
        Self {
            queue: &spec.queue,
            id: &spec.id,
            state: status.state_at(viewing.now),
            payload: Some(&spec.payload),
            payload_preview: None,
            priority: spec.priority,
            created_at: spec.created_at,
            due_at: task.due_at(),
            taken_at: status.taken_at,
            hold_until: status.hold.map(|hold| hold.until),
            worker: status.worker.as_ref(),
            attempt: status.attempt,
            max_attempts: task.max_attempts(queue),
            max_runtime: spec.max_runtime,
            progress: status.progress,
            message: status.message.as_deref(),
            checkpoint: status.checkpoint.as_ref(),
            result: status.result.as_ref(),
            error: status.error.as_deref(),
            finished_at: status.finished_at,
            tags: &spec.tags,
            traceparent: spec.traceparent(),
            hold: spec.hold.filter(|hold| *hold != queue.hold),
            retry: spec.retry.as_ref().filter(|retry| **retry != queue.retry),
            unique_for: spec.unique_for,
            expires: spec.expires,
            requires: &spec.requires,
            callback: spec.callback.as_deref().map(|it| CallbackView::new(it, viewing)),
            http: spec.http.as_ref().map(|target| HttpView::new(target, viewing)),
            plan,
            flow,
            history: &status.history,
            token: None,
        }
    }

    /// The same with as much of its payload as is asked for.
    pub(crate) fn with_payload(self, shown: PayloadShown) -> Self {
        match shown {
            PayloadShown::Full => self,
            PayloadShown::Preview => {
                let payload_preview = self.payload.map(|payload| preview(payload.as_str()));
                Self { payload: None, payload_preview, ..self }
            }
            PayloadShown::None => Self { payload: None, ..self },
        }
    }

    /// The same with its holder's token.
    pub(crate) fn with_token(self, task: &Task) -> Self {
        Self { token: task.status.hold.map(|hold| hold.token), ..self }
    }
}

/// What is left to say of a task that is gone.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Gone)]
pub(crate) struct GoneView<'a> {
    /// Its queue.
    #[schema(value_type = String)]
    queue: &'a QueueName,
    /// Its id.
    #[schema(value_type = String)]
    id: &'a TaskId,
    /// Where it stood at its end, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<StateSchema>, nullable = false)]
    state: Option<State>,
}

/// A task; or its name, where the task is gone.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = TaskOrGone)]
#[expect(clippy::large_enum_variant, reason = "lives only as long as it is written")]
pub(crate) enum AnswerView<'a> {
    /// A task.
    Task(TaskView<'a>),
    /// Its name.
    Gone(GoneView<'a>),
}

impl<'a> GoneView<'a> {
    /// A task of which only its name is known.
    pub(crate) fn new(queue: &'a QueueName, id: &'a TaskId) -> Self {
        Self { queue, id, state: None }
    }

    /// The same with the state it ended in, if that is known.
    pub(crate) fn ended(self, state: Option<State>) -> Self {
        Self { state, ..self }
    }
}

/// The answer to a verb: the task after it.
pub(crate) fn verb_answer(
    queue: &QueueName,
    id: &TaskId,
    outcome: &Outcome,
    viewing: Viewing<'_>,
) -> Response {
    let view = match outcome {
        Outcome::Task { task, queue, .. } => {
            AnswerView::Task(TaskView::new(task, &queue.settings, viewing))
        }
        Outcome::Before { verb } => {
            let state = match verb {
                Verb::Commit => Some(State::Done),
                Verb::Cancelled => Some(State::Cancelled),
                _ => None,
            };
            AnswerView::Gone(GoneView { state, ..GoneView::new(queue, id) })
        }
    };
    answer(StatusCode::OK, &view)
}
