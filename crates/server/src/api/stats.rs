//! `/v1/stats`: what happened lately, and what there is, in numbers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{QueueName, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::rights::Caller;
use super::target::{NoParams, Params, given};
use super::view::TotalsView;
use super::{App, Problem, answer};
use crate::engine::Failure;
use crate::events::{Count, MINUTES, STEP_SECS, STEPS, Series};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(stats)).routes(routes!(queue_stats)).routes(routes!(totals))
}

/// What to count.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatsParams {
    /// Only what happened in this queue.
    queue: Option<String>,
}

/// How much happened in each ten seconds of the last hour; the last number is of those under way.
#[derive(Serialize, ToSchema)]
#[schema(as = Stats)]
struct StatsView {
    /// The length of a step, in seconds.
    #[schema(example = 10)]
    step: u64,
    /// When the first step began.
    #[schema(value_type = String, format = DateTime)]
    from: Timestamp,
    /// Tasks that came in, per step.
    pushed: Vec<u32>,
    /// Tasks that were handed out, per step.
    taken: Vec<u32>,
    /// Tasks that ended well, per step.
    done: Vec<u32>,
    /// Tasks that ended badly, per step.
    failed: Vec<u32>,
}

impl From<Series> for StatsView {
    fn from(series: Series) -> Self {
        Self {
            step: STEP_SECS,
            from: series.from,
            pushed: series.of(Count::Pushed),
            taken: series.of(Count::Taken),
            done: series.of(Count::Done),
            failed: series.of(Count::Failed),
        }
    }
}

/// How much happened in a queue in each minute of the last hour; the last number is of the one under way.
#[derive(Serialize, ToSchema)]
#[schema(as = QueueStats)]
struct QueueStatsView {
    /// The queue.
    #[schema(value_type = String)]
    queue: QueueName,
    /// The length of a step, in seconds.
    #[schema(example = 60)]
    step: u64,
    /// Tasks that came in, per step.
    pushed: Vec<u32>,
    /// Tasks that ended well, per step.
    done: Vec<u32>,
    /// Tasks that ended badly, per step.
    failed: Vec<u32>,
}

impl From<(QueueName, Series)> for QueueStatsView {
    fn from((queue, series): (QueueName, Series)) -> Self {
        Self {
            queue,
            step: STEP_SECS * (STEPS / MINUTES) as u64,
            pushed: series.of(Count::Pushed),
            done: series.of(Count::Done),
            failed: series.of(Count::Failed),
        }
    }
}

/// Queues in which something happened.
#[derive(Serialize, ToSchema)]
#[schema(as = AllQueueStats)]
struct AllQueueStatsView {
    /// The queues, by name; at most 2000.
    items: Vec<QueueStatsView>,
}

/// Count what happened in the last hour.
///
/// Counted from events, those of all servers that share the store included, and kept in memory: a server
/// that has just started knows little of what was before.
#[utoipa::path(get, path = "/v1/stats", tag = "operations", params(StatsParams),
    responses((status = 200, description = "The counts", body = StatsView), Reads))]
async fn stats(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<StatsParams>,
) -> Result<Response, Problem> {
    let queue = given(params.queue).map(|name| QueueName::parse(&name)).transpose();
    let queue = queue.map_err(|invalid| Failure::Refused(invalid.into()))?;
    match &queue {
        Some(queue) => caller.check_all([queue])?,
        None => caller.check_unlimited()?,
    }
    let series = app.engine.events.stats.series(queue.as_ref(), app.engine.now());
    Ok(answer(StatusCode::OK, &StatsView::from(series)))
}

/// Count what happened in the last hour in each queue, for sparklines.
///
/// Queues in which nothing happened are left out.
#[utoipa::path(get, path = "/v1/stats/queues", tag = "operations",
    responses((status = 200, description = "The counts", body = AllQueueStatsView), Reads))]
async fn queue_stats(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(NoParams {}): Params<NoParams>,
) -> Result<Response, Problem> {
    let scope = caller.scope();
    let wanted = |queue: &QueueName| scope.covers(queue);
    let items = app.engine.events.stats.by_queue(wanted, app.engine.now());
    let items = items.into_iter().map(QueueStatsView::from).collect();
    Ok(answer(StatusCode::OK, &AllQueueStatsView { items }))
}

/// Count what all queues hold together.
///
/// Of a token that is good for some queues, those.
#[utoipa::path(get, path = "/v1/stats/totals", tag = "operations",
    responses((status = 200, description = "The totals", body = TotalsView), Reads))]
async fn totals(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(NoParams {}): Params<NoParams>,
) -> Result<Response, Problem> {
    let totals = app.engine.totals(&caller.scope()).await?;
    Ok(answer(StatusCode::OK, &TotalsView::new(&totals, app.viewing())))
}
