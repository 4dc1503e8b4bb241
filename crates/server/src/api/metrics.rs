//! `/metrics`: what is measured, for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::HeaderValue;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::openapi::Reads;
use super::target::{NoParams, Params};

const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Whether a client would rather have OpenMetrics.
fn wants_open_metrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|accepted| accepted.contains("application/openmetrics-text"))
}

/// Read what is measured, for Prometheus.
///
/// Counters and times are this server's since it started; how much queues hold is the store's, and the
/// same at every server that shares it.
#[utoipa::path(get, path = "/metrics", tag = "operations",
    responses((status = 200, description = "Metrics, as OpenMetrics where that is accepted", body = String,
        content_type = "text/plain"), Reads))]
async fn metrics(
    State(app): State<Arc<App>>,
    Params(NoParams {}): Params<NoParams>,
    headers: HeaderMap,
) -> Response {
    let is_open_metrics = wants_open_metrics(&headers);
    let kind = if is_open_metrics { OPEN_METRICS } else { PROMETHEUS };
    let text = app.engine.metrics(&app.requests, is_open_metrics).await;
    ([(CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
}
