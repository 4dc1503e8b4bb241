//! What anybody may ask of a task: cancel, pause, resume, retry, reset, assign.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use punctual_core::{Event, WorkerName};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::Changes;
use super::target::{OnTask, new_name};
use super::view::{TaskView, verb_answer};
use super::{App, Nothing, Problem};
use crate::engine::Ask;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(cancel))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(retry))
        .routes(routes!(reset))
        .routes(routes!(assign))
}

/// Lets something happen to a task and answers how it reads then.
pub(super) async fn happen(app: &App, target: OnTask, event: Event) -> Result<Response, Problem> {
    let OnTask { queue, id, .. } = target;
    let ask = Ask { id: id.clone(), event };
    ask.check()?;
    let outcome = app.engine.happen_to_one(&queue, ask).await?;
    Ok(verb_answer(&queue, &id, &outcome, app.viewing()))
}

/// Cancel a task.
///
/// Not running: it is `cancelled` at once. Running: it is `cancelling` until its holder has heard of
/// it and answers, or its hold ends.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/cancel", tag = "tasks", params(OnTask),
    operation_id = "cancel_task", request_body = Nothing,
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn cancel(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    happen(&app, target, Event::Cancel).await
}

/// Set a task aside.
///
/// Not running: it is `paused` at once. Running: it is `pausing` until its holder has heard of it and
/// answers, or its hold ends.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/pause", tag = "tasks", params(OnTask),
    operation_id = "pause_task", request_body = Nothing,
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn pause(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    happen(&app, target, Event::Pause).await
}

/// Let a paused task go on, from its checkpoint.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/resume", tag = "tasks", params(OnTask),
    operation_id = "resume_task", request_body = Nothing,
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn resume(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    happen(&app, target, Event::Resume).await
}

/// How to try again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RetryNow)]
struct RetryBody {
    /// Also if it is running: its holder's token goes stale.
    #[schema(default = false)]
    force: Option<bool>,
}

/// Try a task again now that has failed or waits for its retry.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/retry", tag = "tasks", params(OnTask),
    operation_id = "retry_task", request_body(content = RetryBody, example = json!({"force": true})),
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn retry(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let RetryBody { force } = body.read()?;
    happen(&app, target, Event::Retry { force: force.unwrap_or_default() }).await
}

/// Make a task like new: attempts, progress, checkpoint and history are cleared.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/reset", tag = "tasks", params(OnTask),
    operation_id = "reset_task", request_body = Nothing,
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn reset(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    happen(&app, target, Event::Reset).await
}

/// Whom to give a task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Assign)]
struct AssignBody {
    /// A registered worker that serves the queue.
    #[schema(value_type = String)]
    worker: WorkerName,
}

/// Assign a ready task of a dispatch queue to a worker, which has to confirm it.
///
/// It works on a paused queue as well. A worker that has no place free, is draining, does not serve the
/// queue or lacks what the task requires is refused.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/assign", tag = "tasks", params(OnTask),
    operation_id = "assign_task", request_body = AssignBody,
    responses((status = 200, description = "The task after it", body = TaskView), Changes))]
async fn assign(
    State(app): State<Arc<App>>,
    OnTask { queue, id, .. }: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let AssignBody { worker } = body.read()?;
    new_name(worker.check_new())?;
    let outcome = app.engine.assign(&queue, &id, &worker).await?;
    Ok(verb_answer(&queue, &id, &outcome, app.viewing()))
}
