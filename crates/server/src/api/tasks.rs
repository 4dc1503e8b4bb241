//! `…/tasks`: reading, listing, editing, removing, and why one is not running.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use punctual_core::task::Edit;
use punctual_core::{Event, Patch, RawJson, RetryPolicy, Timestamp};
use punctual_store::{Sort, Stored};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::conditions::{Condition, tagged};
use super::json::shortened;
use super::openapi::{Changes, Conditional, Reads};
use super::schema::{AnyJson, Duration, RetrySchema, When, WhySchema};
use super::target::{InQueue, OnTask, given, page_limit, wait_of};
use super::view::{AnswerView, GoneView, Page, PayloadShown, TaskView, verb_answer};
use super::{App, Problem, answer};
use crate::engine::{Ask, Failure, Filter, Outcome, Waited};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_tasks))
        .routes(routes!(get_task, edit_task, delete_task))
        .routes(routes!(why))
        // A task may be called `bulk`, like the route for many.
        .route("/v1/queues/{queue}/tasks/bulk", get(get_task).patch(edit_task).delete(delete_task))
}

/// Which tasks to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TaskParams {
    /// Only these states, separated by commas, listed in this order. Left out: what is held first,
    /// then what is ready, waiting, paused, and what has ended.
    #[param(example = "ready,waiting")]
    state: Option<String>,
    /// Only those with this tag.
    tag: Option<String>,
    /// Only those whose id begins so.
    id: Option<String>,
    /// Only those that this worker holds, or held when they ended.
    worker: Option<String>,
    /// Only those whose error contains this.
    error: Option<String>,
    /// Only those whose payload contains this.
    q: Option<String>,
    /// Only those that finished, or last failed, at this time or later.
    #[param(value_type = Option<When>)]
    since: Option<String>,
    /// How much of each payload to show: all of it; `payload_preview`, the first 200 characters of its JSON text;
    /// or nothing.
    #[param(inline, default = "full")]
    payload: Option<PayloadShown>,
    /// Lists finished tasks by when they ended, whatever their state, after all others.
    #[param(inline)]
    sort: Option<SortParam>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// The order of finished tasks.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SortParam {
    /// The one that ended last comes first.
    Newest,
    /// The one that ended first comes first.
    Oldest,
}

impl From<SortParam> for Sort {
    fn from(sort: SortParam) -> Self {
        match sort {
            SortParam::Newest => Self::Newest,
            SortParam::Oldest => Self::Oldest,
        }
    }
}

/// The states of a list separated by commas.
fn states(list: &str) -> Result<Vec<punctual_core::State>, Failure> {
    list.split(',').map(str::trim).map(state).collect()
}

/// A time in a query.
fn since(text: &str) -> Result<Timestamp, Failure> {
    let rule = "Unix seconds, or RFC 3339 with its + written as %2B";
    Timestamp::parse(text).ok_or_else(|| Failure::invalid("since", rule))
}

/// The state of that name.
pub(super) fn state(name: &str) -> Result<punctual_core::State, Failure> {
    punctual_core::State::parse(name).ok_or_else(|| {
        let names = punctual_core::State::ALL.map(punctual_core::State::name).join(", ");
        let name = shortened(name.to_owned());
        Failure::invalid("state", format!("{name:?} is none of {names}"))
    })
}

/// List tasks. `state=ready` lists them in the order in which they are handed out.
#[utoipa::path(get, path = "/v1/queues/{queue}/tasks", tag = "tasks",
    params(InQueue, TaskParams),
    responses((status = 200, description = "A page of tasks; it may be short or empty while `next` \
        is not null", body = Page<TaskView>), Reads))]
async fn list_tasks(
    State(app): State<Arc<App>>,
    InQueue { queue, params }: InQueue<TaskParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let filter = Filter {
        states: given(params.state).map_or(Ok(Vec::new()), |list| states(&list))?,
        tag: given(params.tag),
        id: given(params.id),
        worker: given(params.worker),
        sort: params.sort.map(Sort::from),
        error: given(params.error),
        text: given(params.q),
        since: given(params.since).map(|text| since(&text)).transpose()?,
        ..Filter::default()
    };
    let record = app.engine.queue(&queue).await?;
    let page = app.engine.list(&queue, &filter, limit, given(params.cursor)).await?;
    let (viewing, shown) = (app.viewing(), params.payload.unwrap_or_default());
    let items = page
        .items
        .iter()
        .map(|Stored { task, .. }| {
            TaskView::new(task, &record.settings, viewing).with_payload(shown)
        })
        .collect();
    Ok(answer(StatusCode::OK, &Page { items, next: page.next }))
}

/// How to read a task.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadParams {
    /// How long to wait for its end, at most 60 seconds; not at all if left out.
    #[param(value_type = Option<Duration>, example = "30s")]
    wait: Option<String>,
}

/// Read a task, now or when it has ended.
///
/// With `wait` the answer comes when the task has ended, or after that time with the task as it is then. One
/// that ended and is not kept answers its `queue`, `id` and `state`.
#[utoipa::path(get, path = "/v1/queues/{queue}/tasks/{id}", tag = "tasks", params(OnTask, ReadParams),
    responses((status = 200, description = "The task", body = AnswerView), Reads))]
async fn get_task(
    State(app): State<Arc<App>>,
    OnTask { queue, id, params }: OnTask<ReadParams>,
) -> Result<Response, Problem> {
    let wait = wait_of(params.wait)?;
    let waiter = wait.map(|wait| (app.engine.waiter(&queue, &id), wait));
    let record = app.engine.queue(&queue).await?;
    let mut stored = app.engine.stored(&queue, &id).await?;
    if let Some((waiter, wait)) = waiter {
        // On the heap, as most requests do not wait.
        match Box::pin(app.engine.wait_for_end(waiter, stored, wait)).await? {
            Waited::Task(ended) => stored = *ended,
            Waited::Gone(None) => return Err(Failure::NoTask { queue, id }.into()),
            Waited::Gone(end) => {
                return Ok(answer(StatusCode::OK, &GoneView::new(&queue, &id).ended(end)));
            }
        }
    }
    let task = &stored.task;
    let shown = answer(StatusCode::OK, &TaskView::new(task, &record.settings, app.viewing()));
    Ok(tagged(shown, &task.spec.etag()))
}

/// What to change about a task that nobody has taken. What is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Edit)]
struct EditBody {
    /// A new payload.
    #[serde(default, deserialize_with = "any_json")]
    #[schema(value_type = AnyJson, required = false)]
    payload: Option<RawJson>,
    /// A new due time; null: now.
    #[serde(default)]
    #[schema(value_type = Option<When>)]
    due: Patch<Timestamp>,
    /// A new priority, -100 to 100; null: 0.
    #[serde(default)]
    #[schema(value_type = Option<i32>)]
    priority: Patch<i32>,
    /// New labels; null: none.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    tags: Patch<Vec<String>>,
    /// New waits between attempts; null: the queue's.
    #[serde(default)]
    #[schema(value_type = Option<RetrySchema>)]
    retry: Patch<RetryPolicy>,
    /// A new time by which it must have started; null: none.
    #[serde(default)]
    #[schema(value_type = Option<When>)]
    expires: Patch<Timestamp>,
}

/// Tells a payload of `null` from none.
fn any_json<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(json).map(Some)
}

/// Change what was pushed, while nobody has taken it.
#[utoipa::path(patch, path = "/v1/queues/{queue}/tasks/{id}", tag = "tasks",
    params(OnTask, Condition),
    request_body(content = EditBody, example = json!({"priority": 10, "due": "2026-11-15T06:50:28Z"})),
    responses((status = 200, description = "The task after it", body = TaskView), Changes,
        Conditional))]
async fn edit_task(
    State(app): State<Arc<App>>,
    OnTask { queue, id, .. }: OnTask,
    condition: Condition,
    body: JsonBody,
) -> Result<Response, Problem> {
    let EditBody { payload, due, priority, tags, retry, expires } = body.read()?;
    let if_match = condition.0;
    let edit = Edit { payload, due, priority, tags, retry, expires, if_match };
    let ask = Ask { id: id.clone(), event: Event::Edit(edit) };
    ask.check()?;
    let outcome = app.engine.happen_to_one(&queue, ask).await?;
    let shown = verb_answer(&queue, &id, &outcome, app.viewing());
    Ok(match &outcome {
        Outcome::Task { task, .. } => tagged(shown, &task.spec.etag()),
        Outcome::Before { .. } => shown,
    })
}

/// Remove a task, whatever its state.
#[utoipa::path(delete, path = "/v1/queues/{queue}/tasks/{id}", tag = "tasks", params(OnTask),
    responses((status = 204, description = "Gone"), Changes))]
async fn delete_task(
    State(app): State<Arc<App>>,
    OnTask { queue, id, .. }: OnTask,
) -> Result<StatusCode, Problem> {
    app.engine.clean(&queue, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Say why a task is not running now.
#[utoipa::path(get, path = "/v1/queues/{queue}/tasks/{id}/why", tag = "tasks", params(OnTask),
    responses((status = 200, description = "The reason", body = WhySchema), Reads))]
async fn why(
    State(app): State<Arc<App>>,
    OnTask { queue, id, .. }: OnTask,
) -> Result<Response, Problem> {
    Ok(answer(StatusCode::OK, &app.engine.why(&queue, &id).await?))
}
