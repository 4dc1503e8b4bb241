//! `/v1/hosts`: the targets of deliveries, and how they are doing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::openapi::Reads;
use super::schema::Time;
use super::target::{NoParams, Params};
use super::view::Page;
use super::{App, answer};
use crate::delivery::{HostReading, HostState};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list_hosts))
}

/// A target of deliveries, as this server sees it.
#[derive(Serialize, ToSchema)]
#[schema(as = Host)]
struct HostView {
    /// Its host and port.
    #[schema(example = "example.com:443")]
    host: String,
    /// `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt
    /// at a time shall show whether it is back.
    state: HostState,
    /// Attempts under way.
    in_flight: usize,
    /// Queues that have more for it than it is given.
    waiting: usize,
    /// Tasks that failed since it last answered, at most 10.
    failures: usize,
    /// While it is open: when it is probed.
    #[schema(value_type = Option<Time>, required = true)]
    retry_at: Option<Timestamp>,
}

impl From<HostReading> for HostView {
    fn from(reading: HostReading) -> Self {
        let HostReading { host, state, in_flight, waiting, failures, retry_at } = reading;
        Self { host: host.to_string(), state, in_flight, waiting, failures, retry_at }
    }
}

/// List the targets of deliveries: those that something is under way for, and those known of late.
///
/// Every server has its own view of them.
#[utoipa::path(get, path = "/v1/hosts", tag = "operations",
    responses((status = 200, description = "All targets, by name", body = Page<HostView>), Reads))]
async fn list_hosts(State(app): State<Arc<App>>, _: Params<NoParams>) -> Response {
    let readings = app.engine.deliveries.readings(app.engine.now());
    let items = readings.into_iter().map(HostView::from).collect();
    answer(StatusCode::OK, &Page { items, next: None })
}
