//! `/v1/events`: what happens, as Server-Sent Events.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use punctual_store::EventId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::rights::Caller;
use super::target::{Params, given};
use super::{App, Problem};
use crate::events::{EventFilter, Listening, Start};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Which events to send.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EventParams {
    /// Only those that name one of these queues, separated by commas.
    queue: Option<String>,
    /// Only these, separated by commas: names, or all of a kind.
    #[serde(rename = "type")]
    #[param(example = "task.*,plan.error")]
    kind: Option<String>,
}

/// Where a client goes on from.
fn start(headers: &HeaderMap) -> Start {
    let Some(last) = headers.get("last-event-id").filter(|last| !last.is_empty()) else {
        return Start::Now;
    };
    let id = last.to_str().ok().and_then(EventId::parse);
    id.map_or(Start::Unknown, Start::After)
}

/// Hear what happens, as Server-Sent Events.
///
/// A new stream starts with new events. With `Last-Event-ID` it goes on after that one, as long as it is
/// among the last 10,000 events or 64 MiB; if it is not, the stream begins with `stream.gap`. A client that
/// reads too slowly is cut off with a last `stream.gap`. Every 15 seconds without an event a block with
/// nothing but an id says how far the stream is. The `data` of an event is a JSON object with `type`, `at`,
/// `queue` (or `queues`), `id` or `ids`, and what helps besides.
#[utoipa::path(get, path = "/v1/events", tag = "operations",
    params(EventParams, ("Last-Event-ID" = Option<String>, Header, description = "The event to go on after")),
    responses((status = 200, description = "Events, without end", body = String,
        content_type = "text/event-stream"), Reads))]
async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<EventParams>,
    headers: HeaderMap,
    listening: Option<Extension<Listening>>,
) -> Result<Response, Problem> {
    let (queues, kinds) = (given(params.queue), given(params.kind));
    let filter = EventFilter::parse(queues.as_deref(), kinds.as_deref())?.within(caller.scope());
    let listener = app.engine.events.listen(filter, start(&headers)).await?;
    if let Some(Extension(listening)) = listening {
        listening.begin();
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(listener.into_stream())).into_response())
}
