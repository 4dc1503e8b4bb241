//! `/v1/access`: what whoever asks may do.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::rights::Caller;
use super::schema::RightSchema;
use super::target::{NoParams, Params};
use super::{App, answer};
use crate::access::{Right, Scope};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(access))
}

/// What whoever asks may do.
#[derive(Serialize, ToSchema)]
#[schema(as = Access)]
struct AccessView {
    /// Whether the server has no tokens, so that everybody may do everything.
    open: bool,
    /// The rights.
    #[schema(value_type = Vec<RightSchema>, example = json!(["read", "produce"]))]
    rights: Vec<Right>,
    /// The queues they hold for, `*` at the end for any ending; null: for all.
    #[schema(value_type = Option<Vec<String>>, required = true)]
    queues: Scope,
}

/// Say what the token that was sent is good for. Any token may ask.
#[utoipa::path(get, path = "/v1/access", tag = "operations",
    responses((status = 200, description = "Its rights and queues", body = AccessView), Reads))]
async fn access(caller: Caller, _: Params<NoParams>) -> Response {
    let rights = Right::ALL.into_iter().filter(|right| caller.0.has(*right)).collect();
    let view = AccessView { open: caller.0.is_open(), rights, queues: caller.scope() };
    answer(StatusCode::OK, &view)
}
