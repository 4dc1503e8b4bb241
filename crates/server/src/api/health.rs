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
#[utoipa::path(get, path = "/livez", tag = "operations", security(()),
    responses((status = 200, description = "It runs", body = Live)))]
async fn livez() -> Response {
    answer(StatusCode::OK, &Live { live: true })
}

/// Whether the server can do its work.
#[utoipa::path(get, path = "/readyz", tag = "operations", security(()),
    responses((status = 200, description = "It can", body = Ready), Unready))]
async fn readyz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if app.draining.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Unavailable, "the server is stopping; call another one"));
    }
    let (store, durability) = app.engine.health().await?;
    Ok(answer(StatusCode::OK, &Ready { ready: true, store, durability }))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use punctual_store::SystemClock;
    use punctual_store::model::ModelStore;

    use super::*;
    use crate::ServerConfig;
    use crate::engine::Engine;
    use crate::presence::Presence;

    #[tokio::test]
    async fn a_server_that_stops_is_not_ready() {
        let store = Arc::new(ModelStore::new(Arc::new(SystemClock::new())));
        let config = ServerConfig::default();
        let (engine, _returned) = Engine::new(store.clone(), &config, Arc::default());
        let presence = Arc::new(Presence::new(store, None, None));
        let app = Arc::new(App::new(engine, presence, &config));
        let api = crate::api::Api::new(app.clone());
        let status = async |path: &str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            api.clone().answer(request).await.status().as_u16()
        };
        assert_eq!((status("/readyz").await, status("/livez").await), (200, 200));
        app.drain();
        assert_eq!((status("/readyz").await, status("/livez").await), (503, 200));
    }
}
