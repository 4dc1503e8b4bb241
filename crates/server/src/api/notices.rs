//! `/v1/notices`: messages that are sent until their receiver says that it has understood.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::notice::{Message, NoticeState};
use punctual_core::{Event, QueueName, Task};
use punctual_store::KeyedItem;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::json::shortened;
use super::marks::{Marks, replayed};
use super::openapi::{Changes, Pushes, Reads};
use super::rights::Caller;
use super::schema::notice::MessageSchema;
use super::target::{OnNotice, Params, given, page_limit};
use super::view::{GoneView, NoticeView, Page};
use super::{App, Nothing, Problem, answer};
use crate::engine::{Failure, PushAnswer};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(push_notice, list_notices))
        .routes(routes!(get_notice, cancel_notice))
        .routes(routes!(retry_notice))
}

/// Writes how a notice reads now.
async fn show(app: &App, status: StatusCode, task: &Task) -> Result<Response, Failure> {
    let queue = app.engine.queue(&task.spec.queue).await?;
    match NoticeView::new(task, &queue.settings, app.viewing()) {
        Some(view) => Ok(answer(status, &view)),
        None => Err(Failure::NoNotice(task.spec.id.clone())),
    }
}

/// Send a notice.
///
/// The URL is called until its answer contains the success flag, or the notices are used up.
#[utoipa::path(post, path = "/v1/notices", tag = "notices",
    params(("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect"),
        ("traceparent" = Option<String>, Header,
            description = "The span it is made in, as W3C Trace Context says; its tasks carry it on")),
    request_body(content = MessageSchema, example = json!({
        "url": "https://example.com/hook", "content_type": "json", "data": {"order": 7},
        "notice_interval": ["10s", "1m", "10m"]
    })),
    responses((status = 202, description = "It will be sent", body = NoticeView), Pushes))]
async fn push_notice(
    State(app): State<Arc<App>>,
    caller: Caller,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let message: Message = body.read()?;
    message.check_new().map_err(Failure::from)?;
    let route = ["POST notices", ""];
    let key = marks.key(&caller, &route, body.bytes(), StatusCode::ACCEPTED, true)?;
    match app.engine.push_notice(message, key, marks.trace).await? {
        PushAnswer::Fresh(mut answers) => match answers.pop() {
            Some((_, Ok(pushed))) => {
                let shown = show(&app, StatusCode::ACCEPTED, &pushed.task).await;
                Ok(shown.map_err(Failure::after_change)?)
            }
            Some((_, Err(failure))) => Err(failure.into()),
            None => Err(Failure::Contended.into()),
        },
        PushAnswer::Replayed { status, items } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::ACCEPTED);
            let id = items.into_iter().find_map(|KeyedItem { id, .. }| id);
            let id = id.ok_or(Failure::Contended)?;
            match app.engine.notice(&id).await {
                Ok(task) => Ok(replayed(show(&app, status, &task).await?)),
                Err(Failure::NoNotice(id)) => {
                    let queue = QueueName::notices();
                    Ok(replayed(answer(status, &GoneView::new(&queue, &id))))
                }
                Err(failure) => Err(failure.into()),
            }
        }
    }
}

/// Which notices to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct NoticeParams {
    /// Only these states, separated by commas, listed in this order: `waiting`, `delivering`,
    /// `succeeded`, `exhausted`, `cancelled`.
    #[param(example = "exhausted")]
    state: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// The state of that name.
fn state(name: &str) -> Result<NoticeState, Failure> {
    NoticeState::parse(name.trim()).ok_or_else(|| {
        let names = NoticeState::ALL.map(NoticeState::name).join(", ");
        let name = shortened(name.to_owned());
        Failure::invalid("state", format!("{name:?} is none of {names}"))
    })
}

/// List notices.
#[utoipa::path(get, path = "/v1/notices", tag = "notices", params(NoticeParams),
    responses((status = 200, description = "A page of notices; it may be short or empty while `next` \
        is not null", body = Page<NoticeView>), Reads))]
async fn list_notices(
    State(app): State<Arc<App>>,
    Params(params): Params<NoticeParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let states: Vec<NoticeState> = match given(params.state) {
        Some(list) => list.split(',').map(state).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let page = app.engine.list_notices(&states, limit, given(params.cursor)).await?;
    let queue = app.engine.queue(&QueueName::notices()).await?;
    let view = |stored| NoticeView::new(stored, &queue.settings, app.viewing());
    let items = page.items.iter().filter_map(|stored| view(&stored.task)).collect();
    Ok(answer(StatusCode::OK, &Page { items, next: page.next }))
}

/// Read a notice.
#[utoipa::path(get, path = "/v1/notices/{id}", tag = "notices", params(OnNotice),
    responses((status = 200, description = "The notice", body = NoticeView), Reads))]
async fn get_notice(
    State(app): State<Arc<App>>,
    OnNotice { id }: OnNotice,
) -> Result<Response, Problem> {
    let task = app.engine.notice(&id).await?;
    Ok(show(&app, StatusCode::OK, &task).await?)
}

/// Send a notice no more, also if one is under way. It reads as `cancelled` for 24 h.
#[utoipa::path(delete, path = "/v1/notices/{id}", tag = "notices", params(OnNotice),
    responses((status = 204, description = "Cancelled"), Changes))]
async fn cancel_notice(
    State(app): State<Arc<App>>,
    OnNotice { id }: OnNotice,
) -> Result<StatusCode, Problem> {
    app.engine.happen_to_notice(&id, Event::Cancel).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send one more notice now: of one that is exhausted, or one that waits for its next.
#[utoipa::path(post, path = "/v1/notices/{id}/retry", tag = "notices", params(OnNotice),
    request_body = Nothing,
    responses((status = 200, description = "The notice after it", body = NoticeView), Changes))]
async fn retry_notice(
    State(app): State<Arc<App>>,
    OnNotice { id }: OnNotice,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    let task = app.engine.happen_to_notice(&id, Event::Retry { force: false }).await?;
    Ok(show(&app, StatusCode::OK, &task).await.map_err(Failure::after_change)?)
}
