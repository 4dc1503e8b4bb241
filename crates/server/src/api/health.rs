//! `/livez` and `/readyz`: whether the server runs, and whether it can do its work.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Unready;
use super::{App, Problem, answer};
use crate::code::Code;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(livez)).routes(routes!(readyz))
}

/// That the server runs.
#[derive(Serialize, ToSchema)]
struct Live {
    /// Always true.
    live: bool,
}

/// That the server can do its work.
#[derive(Serialize, ToSchema)]
struct Ready {
    /// Always true; if not ready, the answer is 503.
    ready: bool,
    /// The kind of store.
    #[schema(example = "local")]
    store: &'static str,
    /// What an acknowledgement is worth.
    durability: String,
}

/// Whether the server runs.
#[utoipa::path(get, path = "/livez", tag = "operations",
    responses((status = 200, description = "It runs", body = Live)))]
async fn livez() -> Response {
    answer(StatusCode::OK, &Live { live: true })
}

/// Whether the server can do its work.
#[utoipa::path(get, path = "/readyz", tag = "operations",
    responses((status = 200, description = "It can", body = Ready), Unready))]
async fn readyz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if app.draining.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Unavailable, "the server is stopping; call another one"));
    }
    let (store, durability) = app.engine.health().await?;
    Ok(answer(StatusCode::OK, &Ready { ready: true, store, durability }))
}
