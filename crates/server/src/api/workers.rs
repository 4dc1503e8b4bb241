//! `/v1/workers`: those who are given tasks, and how they hear of them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::worker::{WorkerPatch, WorkerState};
use punctual_core::{Patch, QueueName, Span, WorkerName};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::{Changes, Reads};
use super::rights::Caller;
use super::schema::Duration;
use super::target::{OnWorker, Params, given, page_limit};
use super::view::{OrdersView, Page, TaskView, WorkerView};
use super::{App, Nothing, Problem, answer};
use crate::access::Scope;
use crate::engine::{Failure, PollAsk, WorkerFilter, WorkerReading};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_workers))
        .routes(routes!(put_worker, get_worker, delete_worker))
        .routes(routes!(list_holdings))
        .routes(routes!(poll_worker))
        .routes(routes!(drain_worker))
}

/// What a worker says about itself. What is left out stays as it was; `null` sets it back.
#[derive(ToSchema)]
#[schema(as = Join)]
#[expect(dead_code, reason = "describes `core`'s request")]
pub(super) struct JoinSchema {
    /// The queues it serves, 1 to 1000. They need not exist yet.
    #[schema(max_items = 1_000)]
    queues: Option<Vec<String>>,
    /// What it is capable of, at most 64.
    #[schema(max_items = 64)]
    capabilities: Option<Vec<String>>,
    /// Most tasks of dispatch queues it holds at once, 1 to 10000.
    #[schema(minimum = 1, maximum = 10_000, default = 1)]
    capacity: Option<u32>,
    /// Which incarnation it is: another one takes everything from the one before.
    #[schema(max_length = 200)]
    session: Option<String>,
}

/// How to hear what is new.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Poll)]
struct PollBody {
    /// How long to wait for something new, at most 60 seconds.
    #[schema(value_type = Option<Duration>)]
    wait: Option<Span>,
    /// Which incarnation asks; one that has been followed by another is refused.
    session: Option<String>,
}

/// Which workers to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WorkerParams {
    /// Only those that serve this queue.
    queue: Option<String>,
    /// Only those in these states, separated by commas.
    state: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// Which of a worker's tasks to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HoldingsParams {
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

impl WorkerParams {
    fn filter(&self, scope: Scope) -> Result<WorkerFilter, Failure> {
        let queue = match given(self.queue.clone()) {
            Some(name) => Some(
                QueueName::parse(&name)
                    .map_err(|invalid| Failure::invalid("queue", invalid.rule))?,
            ),
            None => None,
        };
        let mut states = Vec::new();
        for name in self.state.iter().flat_map(|list| list.split(',')).filter(|n| !n.is_empty()) {
            let state = WorkerState::ALL.into_iter().find(|state| state.name() == name);
            let rule = "any of active, draining, lost, separated by commas";
            states.push(state.ok_or_else(|| Failure::invalid("state", rule))?);
        }
        Ok(WorkerFilter { queue, states, scope })
    }
}

/// Refuses a worker that serves a queue the caller's token is not good for, as if it were not there.
async fn check(app: &App, caller: &Caller, worker: &WorkerName) -> Result<(), Failure> {
    if caller.scope().is_all() {
        return Ok(());
    }
    let queues = app.engine.worker(worker).await?.worker.queues;
    caller.check_all(&queues).map_err(|_| Failure::NoWorker(worker.clone()))
}

fn view(reading: &WorkerReading) -> Response {
    answer(StatusCode::OK, &WorkerView::from(reading))
}

/// List workers, by name.
#[utoipa::path(get, path = "/v1/workers", tag = "workers", params(WorkerParams),
    responses((status = 200, description = "A page of workers", body = Page<WorkerView>), Reads))]
async fn list_workers(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<WorkerParams>,
) -> Result<Response, Problem> {
    let (limit, filter) = (page_limit(params.limit)?, params.filter(caller.scope())?);
    let (readings, next) = app.engine.list_workers(&filter, limit, given(params.cursor)).await?;
    let items = readings.iter().map(WorkerView::from).collect();
    Ok(answer(StatusCode::OK, &Page { items, next }))
}

/// Join as a worker, or change what was said then.
///
/// Another `session` under the name is a new incarnation: what the one before held goes back. What can
/// only be read is ignored.
#[utoipa::path(put, path = "/v1/workers/{worker}", tag = "workers", params(OnWorker),
    request_body(content = JoinSchema, example = json!({
        "queues": ["render"], "capabilities": ["gpu"], "capacity": 4, "session": "host7-1731"
    })),
    responses((status = 200, description = "The worker", body = WorkerView), Changes))]
async fn put_worker(
    State(app): State<Arc<App>>,
    OnWorker { worker, .. }: OnWorker,
    caller: Caller,
    body: JsonBody,
) -> Result<Response, Problem> {
    let patch: WorkerPatch = body.read_back(WorkerView::READ_ONLY)?;
    if let Patch::Set(queues) = &patch.queues {
        caller.check_all(queues)?;
    }
    if !caller.scope().is_all() {
        match app.engine.worker(&worker).await {
            Ok(reading) => caller.check_all(&reading.worker.queues)?,
            Err(Failure::NoWorker(_)) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(view(&app.engine.join(&worker, patch).await?))
}

/// Read a worker.
#[utoipa::path(get, path = "/v1/workers/{worker}", tag = "workers", params(OnWorker),
    responses((status = 200, description = "The worker", body = WorkerView), Reads))]
async fn get_worker(
    State(app): State<Arc<App>>,
    OnWorker { worker, .. }: OnWorker,
    caller: Caller,
) -> Result<Response, Problem> {
    check(&app, &caller, &worker).await?;
    Ok(view(&app.engine.worker(&worker).await?))
}

/// List what a worker has: tasks it was given and has not settled, and those it has yet to vote on.
#[utoipa::path(get, path = "/v1/workers/{worker}/tasks", tag = "workers",
    params(OnWorker, HoldingsParams),
    responses((status = 200, description = "A page of tasks", body = Page<TaskView>), Reads))]
async fn list_holdings(
    State(app): State<Arc<App>>,
    OnWorker { worker, params }: OnWorker<HoldingsParams>,
    caller: Caller,
) -> Result<Response, Problem> {
    let (limit, cursor) = (page_limit(params.limit)?, given(params.cursor));
    check(&app, &caller, &worker).await?;
    let engine = &app.engine;
    let page = engine.list_holdings(&worker, &caller.scope(), limit, cursor.as_deref()).await?;
    let viewing = app.viewing();
    let items = page
        .items
        .iter()
        .map(|(queue, stored)| TaskView::new(&stored.task, &queue.settings, viewing))
        .collect();
    Ok(answer(StatusCode::OK, &Page { items, next: page.next }))
}

/// Leave: what the worker held is ready for others at once, and those takes do not count.
#[utoipa::path(delete, path = "/v1/workers/{worker}", tag = "workers", params(OnWorker),
    responses((status = 204, description = "Gone"), Changes))]
async fn delete_worker(
    State(app): State<Arc<App>>,
    OnWorker { worker, .. }: OnWorker,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    check(&app, &caller, &worker).await?;
    app.engine.leave(&worker).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Hear what is new: tasks to confirm, and what is to be stopped. It is also the heartbeat.
///
/// Assignments repeat until they are confirmed. A worker that was not heard of for 30 seconds is lost.
#[utoipa::path(post, path = "/v1/workers/{worker}/poll", tag = "workers", params(OnWorker),
    request_body(content = PollBody, example = json!({"wait": "30s", "session": "host7-1731"})),
    responses((status = 200, description = "What is for it", body = OrdersView), Changes))]
async fn poll_worker(
    State(app): State<Arc<App>>,
    OnWorker { worker, .. }: OnWorker,
    caller: Caller,
    body: JsonBody,
) -> Result<Response, Problem> {
    let PollBody { wait, session } = body.read()?;
    let ask = PollAsk { wait: wait.unwrap_or_default(), session };
    ask.check()?;
    check(&app, &caller, &worker).await?;
    drop(body);
    let orders = app.engine.poll(&worker, &ask).await?;
    Ok(answer(StatusCode::OK, &OrdersView::new(&orders, app.viewing())))
}

/// Give a worker no more tasks; it finishes what it has.
#[utoipa::path(post, path = "/v1/workers/{worker}/drain", tag = "workers", params(OnWorker),
    request_body = Nothing,
    responses((status = 200, description = "The worker", body = WorkerView), Changes))]
async fn drain_worker(
    State(app): State<Arc<App>>,
    OnWorker { worker, .. }: OnWorker,
    caller: Caller,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    check(&app, &caller, &worker).await?;
    Ok(view(&app.engine.drain(&worker).await?))
}
