//! `/v1/dev/clock`: a clock that users move, to test what will happen later.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::openapi::Changes;
use super::schema::{Duration, Time, When};
use super::{App, Problem, answer};
use crate::code::Code;
use crate::engine::Failure;

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(move_clock))
}

/// How to move the clock: either of the two.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Move {
    /// Let that much time pass.
    #[schema(value_type = Option<Duration>)]
    advance: Option<Span>,
    /// Make it that time.
    #[schema(value_type = Option<When>)]
    set: Option<Timestamp>,
}

impl Move {
    /// By how much that moves a clock.
    fn by_ms(&self, now: Timestamp) -> Result<i64, Failure> {
        let now_ms = now.as_millis();
        match (self.advance, self.set) {
            (Some(span), None) if span.as_millis() > Timestamp::MAX.as_millis() - now_ms => {
                Err(Failure::invalid("advance", "not past the year 9999"))
            }
            (Some(span), None) => Ok(span.as_millis()),
            (None, Some(time)) => Ok(time.as_millis() - now_ms),
            _ => Err(Failure::invalid("advance", "either advance or set")),
        }
    }
}

/// The clock after it was moved.
#[derive(Serialize, ToSchema)]
struct Clock {
    /// What time it is now.
    #[schema(value_type = Time)]
    now: Timestamp,
}

/// Move the server's clock, as if it had slept; only with `serve --dev`.
///
/// It answers when all that fell due was handed out.
#[utoipa::path(post, path = "/v1/dev/clock", tag = "operations",
    request_body(content = Move, example = json!({"advance": "1h"})),
    responses((status = 200, description = "What time it is now", body = Clock), Changes))]
async fn move_clock(State(app): State<Arc<App>>, body: JsonBody) -> Result<Response, Problem> {
    let Some(clock) = &app.dev_clock else {
        let detail = "the clock can be moved only if the server was started with --dev";
        return Err(Problem::new(Code::Forbidden, detail));
    };
    let ask: Move = body.read()?;
    let clock = clock.lock().await;
    app.engine.let_deliveries_end().await;
    let now = app.engine.now();
    clock.shift(ask.by_ms(now)?).await.map_err(Failure::from)?;
    app.engine.catch_up().await.map_err(Failure::from)?;
    Ok(answer(StatusCode::OK, &Clock { now: app.engine.now() }))
}
