//! Descriptions of flows, for `/openapi.json`.

use utoipa::ToSchema;

use super::http::HttpSchema;
use super::{AnyJson, CallbackSchema, Duration, RetrySchema, When};

/// A flow as it is made.
#[derive(ToSchema)]
#[schema(as = NewFlow)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowSchema {
    /// Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Option<String>,
    /// Its steps, 1 to 10000.
    #[schema(required = true)]
    steps: Vec<StepSchema>,
    /// What a failed step does to the others.
    on_failure: Option<OnFailureSchema>,
}

/// A step of a flow: a name, what it waits for, and the fields of its task.
#[derive(ToSchema)]
#[schema(as = NewStep)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepSchema {
    /// Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`.
    name: String,
    /// The queue of its task.
    queue: String,
    /// The names of the steps that must be done before it becomes a task.
    after: Option<Vec<String>>,
    /// What is to be done. With `after` the results of those steps are added, as `inputs`.
    #[schema(required = false)]
    payload: AnyJson,
    /// When it is due; as soon as it is a task if left out.
    due: Option<When>,
    /// How long until it is due, from the moment it is a task, instead of `due`.
    delay: Option<Duration>,
    /// -100 to 100, higher first.
    #[schema(minimum = -100, maximum = 100, default = 0)]
    priority: Option<i32>,
    /// Its own hold, instead of the queue's.
    hold: Option<Duration>,
    /// Its own limit of attempts, instead of the queue's.
    max_attempts: Option<i32>,
    /// The longest one attempt may hold its task, instead of the queue's limit.
    max_runtime: Option<Duration>,
    /// Its own waits between attempts, instead of the queue's.
    retry: Option<RetrySchema>,
    /// How long the id of its task stays reserved after its end.
    unique_for: Option<Duration>,
    /// Failed if not first started by then.
    expires: Option<When>,
    /// Capabilities its worker must have; in queues of mode dispatch.
    requires: Option<Vec<String>>,
    /// Where to deliver it; in queues of mode http.
    http: Option<HttpSchema>,
    /// What to make when it ends.
    callback: Option<CallbackSchema>,
    /// Labels, at most 32 of 128 bytes.
    tags: Option<Vec<String>>,
}

/// What a failed step does to the others.
#[derive(ToSchema)]
#[schema(as = OnFailure, rename_all = "lowercase", default = "stop")]
pub(crate) enum OnFailureSchema {
    Stop,
    Continue,
}

/// Where a flow stands.
#[derive(ToSchema)]
#[schema(as = FlowState, rename_all = "lowercase")]
pub(crate) enum FlowStateSchema {
    Running,
    Paused,
    Cancelling,
    Done,
    Failed,
    Cancelled,
}
