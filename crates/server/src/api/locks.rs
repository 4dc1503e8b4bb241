//! What workers do with bundles: schedule, get, complete, release.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::bundle::{BundleKey, Get};
use punctual_core::limits::RANDOM_BYTES_MAX;
use punctual_core::{RawJson, Refusal, Span, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::Changes;
use super::schema::{AnyJson, Duration, DurationSeconds, Time, When};
use super::target::{InQueue, OnBundle};
use super::{App, Problem, answer};
use crate::engine::{Failure, Scheduled};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(schedule))
        .routes(routes!(get_bundle))
        .routes(routes!(complete))
        .routes(routes!(release))
}

/// What a worker waits for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundleSchedule)]
struct ScheduleBody {
    /// How long to wait for a bundle to fall due, at most 60 seconds; not at all if left out.
    #[schema(value_type = Option<Duration>)]
    wait: Option<Span>,
}

/// A bundle that is due.
#[derive(Serialize, ToSchema)]
#[schema(as = BundleScheduled)]
struct ScheduledView {
    /// Its key; null: none is due.
    #[schema(value_type = Option<String>, required = true)]
    key: Option<BundleKey>,
    /// Since when it is due; only if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>, nullable = false)]
    ontime: Option<Timestamp>,
    /// How long until the first falls due; null: there is none. Only if none is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DurationSeconds>)]
    next_in: Option<Option<Span>>,
}

/// Ask for a bundle that is due. It is marked as started, and nobody else is told of it for a while.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/schedule", tag = "bundles",
    operation_id = "schedule_bundle", params(InQueue), request_body = ScheduleBody,
    responses((status = 200, description = "A due bundle, or when there will be one",
        body = ScheduledView), Changes))]
async fn schedule(
    State(app): State<Arc<App>>,
    InQueue { queue, .. }: InQueue,
    body: JsonBody,
) -> Result<Response, Problem> {
    let ScheduleBody { wait } = body.read()?;
    drop(body);
    let view = match app.engine.schedule(&queue, wait.unwrap_or_default()).await? {
        Scheduled::Due { key, ontime } => {
            ScheduledView { key: Some(key), ontime: Some(ontime), next_in: None }
        }
        Scheduled::None { next_at } => {
            let next_in = next_at.map(|at| at.since(app.engine.now()));
            ScheduledView { key: None, ontime: None, next_in: Some(next_in) }
        }
    };
    Ok(answer(StatusCode::OK, &view))
}

/// What a worker gets, and for how long.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundleGet)]
struct GetBody {
    /// How many payloads at most; all if left out.
    number: Option<u64>,
    /// How long the bundle is locked; the queue's `hold` if left out.
    #[schema(value_type = Option<Duration>)]
    timeout: Option<Span>,
    /// The caller's own value, at most 255 bytes: whoever shows it has the lock.
    random: String,
}

/// Payloads of a bundle.
#[derive(Serialize, ToSchema)]
#[schema(as = BundleGot)]
struct GotView<'a> {
    /// The payloads, in the order they were pushed; at most 10,000 and 16 MiB.
    #[schema(value_type = Vec<AnyJson>)]
    tasks: &'a [RawJson],
    /// The strings kept with the bundle.
    #[schema(value_type = Vec<String>)]
    data: &'a BTreeSet<String>,
    /// Until when the bundle is locked.
    #[schema(value_type = Time)]
    locked_until: Timestamp,
}

/// Refuses a value of the caller's own that cannot be one.
fn check_random(random: &str) -> Result<(), Failure> {
    if random.is_empty() {
        return Err(Failure::invalid("random", "not empty"));
    }
    if random.len() > RANDOM_BYTES_MAX {
        let refusal = Refusal::TooLarge { field: "random", limit_bytes: RANDOM_BYTES_MAX };
        return Err(refusal.into());
    }
    Ok(())
}

/// Lock a bundle and get its first payloads, due or not.
///
/// The same `random` again renews the lock and gets the same.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/get", tag = "bundles",
    operation_id = "get_bundle", params(OnBundle), request_body = GetBody,
    responses((status = 200, description = "The payloads", body = GotView), Changes))]
async fn get_bundle(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
    body: JsonBody,
) -> Result<Response, Problem> {
    let GetBody { number, timeout, random } = body.read()?;
    check_random(&random)?;
    let timeout = match timeout {
        Some(timeout) => timeout,
        None => app.engine.queue(&queue).await?.settings.hold,
    };
    let got = app.engine.get_bundle(&queue, &key, &Get { number, timeout, random }).await?;
    let view =
        GotView { tasks: &got.payloads, data: &got.bundle.data, locked_until: got.locked_until };
    Ok(answer(StatusCode::OK, &view))
}

/// What a worker is done with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundleComplete)]
struct CompleteBody {
    /// How many payloads, from the first on; all that were got if left out.
    number: Option<u64>,
    /// The value the bundle was got with.
    random: String,
}

/// What is left of a bundle.
#[derive(Serialize, ToSchema)]
#[schema(as = BundleCompleted)]
struct CompletedView {
    /// How many payloads; 0: the bundle is gone.
    left: u64,
}

/// The first payloads are done: they go, and the lock with them.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/complete", tag = "bundles",
    operation_id = "complete_bundle", params(OnBundle), request_body = CompleteBody,
    responses((status = 200, description = "What is left", body = CompletedView), Changes))]
async fn complete(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
    body: JsonBody,
) -> Result<Response, Problem> {
    let CompleteBody { number, random } = body.read()?;
    let left = app.engine.complete_bundle(&queue, &key, number, &random).await?;
    Ok(answer(StatusCode::OK, &CompletedView { left }))
}

/// What a worker gives back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BundleRelease)]
struct ReleaseBody {
    /// The value the bundle was got with.
    random: String,
    /// When it is due again; when the lock would have ended if left out.
    #[schema(value_type = Option<When>)]
    ontime: Option<Timestamp>,
}

/// When a bundle that was given back is due.
#[derive(Serialize, ToSchema)]
#[schema(as = BundleReleased)]
struct ReleasedView {
    /// How many payloads are in it.
    size: u64,
    /// When it is due.
    #[schema(value_type = Time)]
    ontime: Timestamp,
}

/// Give a bundle back without having dealt with it.
#[utoipa::path(post, path = "/v1/queues/{queue}/bundles/{key}/release", tag = "bundles",
    operation_id = "release_bundle", params(OnBundle), request_body = ReleaseBody,
    responses((status = 200, description = "When it is due", body = ReleasedView), Changes))]
async fn release(
    State(app): State<Arc<App>>,
    OnBundle { queue, key }: OnBundle,
    body: JsonBody,
) -> Result<Response, Problem> {
    let ReleaseBody { random, ontime } = body.read()?;
    let (size, ontime) = app.engine.release_bundle(&queue, &key, &random, ontime).await?;
    Ok(answer(StatusCode::OK, &ReleasedView { size, ontime }))
}
