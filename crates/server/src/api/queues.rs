//! `/v1/queues`: settings, pausing, emptying, deleting.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::queue::{Mode, SettingsPatch};
use punctual_core::{QueueName, Settings};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::conditions::{Condition, tagged};
use super::openapi::{Changes, Conditional, Reads};
use super::rights::Caller;
use super::schema::{ModeSchema, SettingsSchema};
use super::target::{InQueue, Params, given, page_limit};
use super::view::{Page, QueueView, ScaleView};
use super::{App, Nothing, Problem, answer};
use crate::engine::{Failure, QueueFilter, QueueReading};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_queues))
        .routes(routes!(put_queue, get_queue, delete_queue))
        .routes(routes!(reset_queue))
        .routes(routes!(pause_queue))
        .routes(routes!(resume_queue))
        .routes(routes!(scale_queue))
}

/// Which queues to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct QueueParams {
    /// Only those with this tag.
    tag: Option<String>,
    /// Only those of this mode.
    #[param(value_type = Option<ModeSchema>)]
    mode: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

impl QueueParams {
    fn filter(&self) -> Result<QueueFilter, Failure> {
        let mode = match self.mode.as_deref().filter(|mode| !mode.is_empty()) {
            Some(name) => {
                let parsed = Mode::deserialize(serde::de::value::StrDeserializer::<
                    serde::de::value::Error,
                >::new(name));
                let rule = "one of pull, dispatch, http, vote, pub";
                Some(parsed.map_err(|_| Failure::invalid("mode", rule))?)
            }
            None => None,
        };
        Ok(QueueFilter { tag: given(self.tag.clone()), mode, ..QueueFilter::default() })
    }
}

fn view(app: &App, status: StatusCode, reading: &QueueReading) -> Response {
    let shown = answer(status, &QueueView::new(reading, app.viewing()));
    tagged(shown, &reading.queue.settings.etag(&app.secret_headers))
}

/// Writes how a queue reads after a change.
async fn show(app: &App, status: StatusCode, queue: &QueueName) -> Result<Response, Problem> {
    let reading = app.engine.read_queue(queue).await.map_err(Failure::after_change)?;
    Ok(view(app, status, &reading))
}

/// List queues, by name.
#[utoipa::path(get, path = "/v1/queues", tag = "queues", params(QueueParams),
    responses((status = 200, description = "A page of queues", body = Page<QueueView>), Reads))]
async fn list_queues(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<QueueParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let cursor = match given(params.cursor.clone()) {
        Some(cursor) => Some(
            QueueName::parse(&cursor)
                .map_err(|_| Failure::invalid("cursor", "not one that a list answered"))?,
        ),
        None => None,
    };
    let filter = QueueFilter { scope: caller.scope(), ..params.filter()? };
    let (readings, next) = app.engine.list_queues(&filter, limit, cursor.as_ref()).await?;
    let viewing = app.viewing();
    let items = readings.iter().map(|reading| QueueView::new(reading, viewing)).collect();
    let next = next.map(|name| name.to_string());
    Ok(answer(StatusCode::OK, &Page { items, next }))
}

/// Create a queue, or change its settings.
///
/// A field that is left out stays as it is; `null` sets it back to its default. What can only be read is
/// ignored, so that what was read can be changed and written back.
#[utoipa::path(put, path = "/v1/queues/{queue}", tag = "queues", params(InQueue, Condition),
    request_body(content = SettingsSchema, example = json!({
        "hold": "1m", "max_attempts": 3, "retry": {"first": "5s", "factor": 2, "max": "1h"},
        "rate": {"limit": 100, "per": "1s"}, "keep": {"done": "1h"}
    })),
    responses((status = 201, description = "Created", body = QueueView),
        (status = 200, description = "Changed", body = QueueView), Changes, Conditional))]
async fn put_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    condition: Condition,
    body: JsonBody,
) -> Result<Response, Problem> {
    let patch: SettingsPatch = body.read_back(QueueView::READ_ONLY)?;
    let is_met = |settings: Option<&Settings>| {
        condition.check(|| settings.map(|settings| settings.etag(&app.secret_headers)))
    };
    let created = app.engine.put_queue(&queue, patch, is_met).await?;
    show(&app, if created { StatusCode::CREATED } else { StatusCode::OK }, &queue).await
}

/// Read a queue: its settings, and what it holds.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues", params(InQueue),
    responses((status = 200, description = "The queue", body = QueueView), Reads))]
async fn get_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
) -> Result<Response, Problem> {
    let reading = app.engine.read_queue(&queue).await?;
    Ok(view(&app, StatusCode::OK, &reading))
}

/// Delete a queue and all it holds.
#[utoipa::path(delete, path = "/v1/queues/{queue}", tag = "queues", params(InQueue),
    responses((status = 204, description = "Gone"), Changes))]
async fn delete_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
) -> Result<StatusCode, Problem> {
    app.engine.delete_queue(&queue).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Drop all tasks of a queue; its settings stay.
#[utoipa::path(post, path = "/v1/queues/{queue}/reset", tag = "queues", params(InQueue),
    request_body = Nothing,
    responses((status = 200, description = "The empty queue", body = QueueView), Changes))]
async fn reset_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    app.engine.reset_queue(&queue).await?;
    show(&app, StatusCode::OK, &queue).await
}

/// Hand out nothing until resumed. Pushes still work.
#[utoipa::path(post, path = "/v1/queues/{queue}/pause", tag = "queues", params(InQueue),
    request_body = Nothing,
    responses((status = 200, description = "The paused queue", body = QueueView), Changes))]
async fn pause_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    app.engine.pause_queue(&queue, true).await?;
    show(&app, StatusCode::OK, &queue).await
}

/// Hand out tasks again.
#[utoipa::path(post, path = "/v1/queues/{queue}/resume", tag = "queues", params(InQueue),
    request_body = Nothing,
    responses((status = 200, description = "The queue", body = QueueView), Changes))]
async fn resume_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    app.engine.pause_queue(&queue, false).await?;
    show(&app, StatusCode::OK, &queue).await
}

/// Say how many workers a queue has and needs, as this server has seen lately.
#[utoipa::path(get, path = "/v1/queues/{queue}/scale", tag = "queues", params(InQueue),
    responses((status = 200, description = "Its workers", body = ScaleView), Reads))]
async fn scale_queue(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
) -> Result<Response, Problem> {
    let scale = app.engine.scale(&queue).await?;
    Ok(answer(StatusCode::OK, &ScaleView::from(scale)))
}
