//! `/v1/failures`: failed tasks by what went wrong.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{QueueName, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::rights::Caller;
use super::schema::Time;
use super::target::{Params, given};
use super::view::Page;
use super::{App, Problem, answer};
use crate::engine::{Failure, FailureGroup};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list_failures))
}

/// Which failures to group.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FailureParams {
    /// Only those of this queue.
    queue: Option<String>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// Failed tasks of one queue that failed alike.
#[derive(Serialize, ToSchema)]
#[schema(as = FailureGroup)]
struct GroupView {
    /// The queue.
    #[schema(value_type = String)]
    queue: QueueName,
    /// The beginning of their error, fit to find them by; null: they have none.
    #[schema(required = true)]
    error: Option<String>,
    /// How many there are on this page.
    count: usize,
    /// When the last of them failed.
    #[schema(value_type = Option<Time>, required = true)]
    last_at: Option<Timestamp>,
    /// The id of that one.
    #[schema(value_type = String)]
    id: TaskId,
}

impl From<FailureGroup> for GroupView {
    fn from(group: FailureGroup) -> Self {
        let FailureGroup { queue, error, count, last_at, id } = group;
        Self { queue, error, count, last_at, id }
    }
}

/// Group failed tasks by queue and error, those that failed last first.
///
/// One call examines at most 10000 tasks. While `next` is not null, more tasks follow, also of groups that
/// were named.
#[utoipa::path(get, path = "/v1/failures", tag = "operations", params(FailureParams),
    responses((status = 200, description = "Groups", body = Page<GroupView>), Reads))]
async fn list_failures(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<FailureParams>,
) -> Result<Response, Problem> {
    let named = |name: String| {
        QueueName::parse(&name).map_err(|invalid| Failure::invalid("queue", invalid.rule))
    };
    let queue = given(params.queue).map(named).transpose()?;
    caller.check_all(&queue)?;
    let cursor = given(params.cursor);
    let scope = caller.scope();
    let (groups, next) = app.engine.failures(queue.as_ref(), &scope, cursor.as_deref()).await?;
    let items = groups.into_iter().map(GroupView::from).collect();
    Ok(answer(StatusCode::OK, &Page { items, next }))
}
