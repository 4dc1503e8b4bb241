//! `…/bundles`: payloads that fall due together, pushed and looked after.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use punctual_core::bundle::{BundleKey, BundlePush, Overwrite};
use punctual_core::{QueueName, RawJson, Span, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::marks::{Marks, replayed};
use super::openapi::{Changes, Pushes, Reads};
use super::rights::Caller;
use super::schema::{AnyJson, Duration, Time, When};
use super::target::{InQueue, OnBundle, given, new_name, page_limit};
use super::view::{BundleView, Page};
use super::{App, Nothing, Problem, answer};
use crate::engine::{BundleFilter, BundleReading, Failure, Pushing};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_bundles))
        .routes(routes!(read_bundle, delete_bundle))
        .routes(routes!(push_bundle))
        .routes(routes!(change_data))
        .routes(routes!(retry_bundle))
        // A bundle may be called `schedule`, like the route for workers.
        .route("/v1/queues/{queue}/bundles/schedule", get(read_bundle).delete(delete_bundle))
}

/// Which bundles to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BundleParams {
    /// Only those in this state.
    #[param(example = "failed")]
    state: Option<String>,
    /// Only those whose key begins so.
    key: Option<String>,
    /// Most items on the page, 1 to 1000.
    #[param(default = 50, minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

/// List bundles, by key.
#[utoipa::path(get, path = "/v1/queues/{queue}/bundles", tag = "bundles",
    params(InQueue, BundleParams),
    responses((status = 200, description = "A page of bundles; it may be short or empty while \
        `next` is not null", body = Page<BundleView>), Reads))]
async fn list_bundles(
    State(app): State<Arc<App>>,
    InQueue { queue, params }: InQueue<BundleParams>,
) -> Result<Response, Problem> {
    let limit = page_limit(params.limit)?;
    let state = given(params.state);
    if let Some(state) = &state
        && !BundleReading::STATES.contains(&state.as_str())
    {
        let rule = format!("one of {}", BundleReading::STATES.join(", "));
        return Err(Failure::invalid("state", rule).into());
    }
    let filter = BundleFilter { state, prefix: given(params.key) };
    let page = app.engine.list_bundles(&queue, &filter, limit, given(params.cursor)).await?;
    let viewing = app.viewing();
    let items = page.items.iter().map(|reading| BundleView::new(reading, viewing)).collect();
    Ok(answer(StatusCode::OK, &Page { items, next: page.next }))
}

/// Read a bundle and its first payloads.
#[utoipa::path(get, path = "/v1/queues/{queue}/bundles/{key}", tag = "bundles", params(OnBundle),
    responses((status = 200, description = "The bundle", body = BundleView), Reads))]
async fn read_bundle(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
) -> Result<Response, Problem> {
    read(&app, &queue, &key).await
}

/// How a bundle reads now.
async fn read(app: &App, queue: &QueueName, key: &BundleKey) -> Result<Response, Problem> {
    let (reading, payloads) = app.engine.read_bundle(queue, key).await?;
    let view = BundleView::new(&reading, app.viewing()).whole(&reading, &payloads);
    Ok(answer(StatusCode::OK, &view))
}

/// Something to push into a bundle.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundlePush)]
struct PushBody {
    /// The payload.
    #[schema(value_type = AnyJson)]
    task: RawJson,
    /// Strings to keep with the bundle, each once.
    data: Option<Vec<String>>,
    /// When it is due; now if left out.
    #[schema(value_type = Option<When>)]
    ontime: Option<Timestamp>,
    /// `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
    #[schema(value_type = Option<String>)]
    overwrite: Option<Overwrite>,
    /// It is due no later than that long after its first payload.
    #[schema(value_type = Option<Duration>)]
    max_wait: Option<Span>,
}

/// What a push is answered with.
#[derive(Serialize, ToSchema)]
#[schema(as = BundlePushed)]
pub(super) struct PushedView<'a> {
    /// The bundle's key; only where it was not in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub(super) key: Option<&'a BundleKey>,
    /// When what was pushed is due; null: a repeated request, and the bundle is gone by now.
    #[schema(value_type = Option<Time>, required = true)]
    pub(super) ontime: Option<Timestamp>,
    /// How many payloads are in the bundle.
    pub(super) size: u64,
    /// The bundle's queue, if it is gone by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub(super) queue: Option<&'a QueueName>,
    /// The bundle's key, if it is gone by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub(super) id: Option<&'a BundleKey>,
}

impl<'a> PushedView<'a> {
    /// A push as it reads: the bundle's size and due time, or that it is gone.
    pub(super) fn new(
        queue: &'a QueueName,
        key: &'a BundleKey,
        now: Option<(u64, Timestamp)>,
    ) -> Self {
        match now {
            Some((size, ontime)) => {
                Self { key: None, ontime: Some(ontime), size, queue: None, id: None }
            }
            None => Self { key: None, ontime: None, size: 0, queue: Some(queue), id: Some(key) },
        }
    }
}

/// Push a payload into a bundle.
///
/// Workers take it from a queue of mode `pull`, made if it does not exist; the server delivers it from a
/// queue of mode `http` that has a `url`.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/push", tag = "bundles",
    params(OnBundle, ("Idempotency-Key" = Option<String>, Header,
        description = "1 to 255 ASCII characters; a repeat under the same key has no second effect")),
    request_body(content = PushBody, example = json!({
        "task": {"order": 17}, "ontime": "2026-11-15T18:00:00Z", "overwrite": "always"
    })),
    responses((status = 200, description = "Pushed", body = PushedView), Pushes))]
async fn push_bundle(
    State(app): State<Arc<App>>,
    caller: Caller,
    OnBundle { queue, key: bundle }: OnBundle,
    marks: Marks,
    body: JsonBody,
) -> Result<Response, Problem> {
    let PushBody { task, data, ontime, overwrite, max_wait } = body.read()?;
    new_name(bundle.check_new())?;
    let route = ["POST bundles", queue.as_str(), bundle.as_str()];
    let keyed = marks.key(&caller, &route, body.bytes(), StatusCode::OK, true)?;
    let (data, overwrite) = (data.unwrap_or_default(), overwrite.unwrap_or_default());
    let push =
        BundlePush { payload: task, data, ontime, overwrite, max_wait, ..BundlePush::default() };
    let pushing = Pushing { key: bundle, own: None, push, keyed };
    let pushed = app.engine.push_bundle(&queue, &pushing).await?;
    let view = PushedView::new(&queue, &pushing.key, pushed.now);
    let response = answer(StatusCode::OK, &view);
    Ok(if pushed.replayed { replayed(response) } else { response })
}

/// Strings kept with a bundle.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundleData)]
struct DataBody {
    /// Strings to add.
    add: Option<Vec<String>>,
    /// Strings to take away, after that.
    remove: Option<Vec<String>>,
}

/// Add strings to those kept with a bundle, and take others away.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/data", tag = "bundles",
    params(OnBundle), request_body = DataBody,
    responses((status = 200, description = "The bundle after it", body = BundleView), Changes))]
async fn change_data(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
    body: JsonBody,
) -> Result<Response, Problem> {
    let DataBody { add, remove } = body.read()?;
    let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
    app.engine.change_data(&queue, &key, &add, &remove).await?;
    read(&app, &queue, &key).await
}

/// Have a bundle dealt with now that failed, or that waits for its time or its next attempt.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/retry", tag = "bundles",
    params(OnBundle), request_body = Nothing,
    responses((status = 200, description = "The bundle after it", body = BundleView), Changes))]
async fn retry_bundle(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
    body: JsonBody,
) -> Result<Response, Problem> {
    let Nothing {} = body.read()?;
    let before = app.engine.retry_bundle(&queue, &key).await?;
    match read(&app, &queue, &key).await {
        // It was delivered before it could be read.
        Err(problem) if problem.code == crate::code::Code::NotFound => {
            Ok(answer(StatusCode::OK, &BundleView::new(&before, app.viewing())))
        }
        read => read,
    }
}

/// Remove a bundle and all that is in it.
#[utoipa::path(delete, path = "/v1/queues/{queue}/bundles/{key}", tag = "bundles", params(OnBundle),
    responses((status = 204, description = "Gone"), Changes))]
async fn delete_bundle(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
) -> Result<StatusCode, Problem> {
    app.engine.delete_bundle(&queue, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
