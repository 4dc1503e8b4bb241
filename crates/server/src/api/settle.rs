//! What holders say about the tasks they hold.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use punctual_core::task::{Acknowledgement, Extension, Settlement};
use punctual_core::{Event, RawJson, Span, TaskId, Token};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::JsonBody;
use super::control::happen;
use super::openapi::Changes;
use super::schema::{AnyJson, Duration};
use super::target::OnTask;
use super::view::{AnswerView, ExtendView};
use super::{App, Problem, answer};
use crate::engine::{Ask, Failure, Outcome};

/// The routes of this file.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(confirm))
        .routes(routes!(extend))
        .routes(routes!(commit))
        .routes(routes!(fail))
        .routes(routes!(release))
        .routes(routes!(cancelled))
        .routes(routes!(paused))
}

/// The bodies of a holder's verb, alone and as an item of a batch, and what they stand for.
macro_rules! bodies {
    ($(
        $(#[$doc:meta])*
        $alone:ident as $alone_name:ident, $item:ident as $item_name:ident
        { $($(#[$meta:meta])* $field:ident: $type:ty,)* }
        |$token:ident| $event:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(as = $alone_name)]
        struct $alone {
            /// The token the take answered.
            #[schema(value_type = String)]
            token: Token,
            $($(#[$meta])* $field: $type,)*
        }

        impl From<$alone> for Event {
            fn from(body: $alone) -> Self {
                let $alone { token: $token, $($field,)* } = body;
                $event
            }
        }

        $(#[$doc])*
        #[derive(Debug, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(as = $item_name)]
        pub(super) struct $item {
            /// The task's id.
            #[schema(value_type = String)]
            id: TaskId,
            /// The token the take answered.
            #[schema(value_type = String)]
            token: Token,
            $($(#[$meta])* $field: $type,)*
        }

        impl From<$item> for Ask {
            fn from(body: $item) -> Self {
                let $item { id, token: $token, $($field,)* } = body;
                Self { id, event: $event }
            }
        }
    )*};
}

bodies! {
    /// More time, and how far it is.
    ExtendBody as Extend, ExtendItem as ExtendItem {
        /// The new length of the hold, from now; as long as before if left out.
        #[schema(value_type = Option<Duration>)]
        hold: Option<Span>,
        /// How far it is, from 0 to 1.
        progress: Option<f64>,
        /// A word on where it is, at most 4 KiB.
        message: Option<String>,
        /// What its next holder would need to go on.
        #[schema(value_type = AnyJson, required = false)]
        checkpoint: Option<RawJson>,
    }
    |token| Event::Extend { token, extension: Extension { hold, progress, message, checkpoint } };

    /// Done.
    CommitBody as Commit, CommitItem as CommitItem {
        /// What it came to.
        #[schema(value_type = AnyJson, required = false)]
        result: Option<RawJson>,
    }
    |token| Event::Settle { token, settlement: Settlement::Commit { result } };

    /// Failed.
    FailBody as Fail, FailItem as FailItem {
        /// What went wrong, at most 4 KiB.
        error: Option<String>,
        /// The wait until the next attempt, instead of the policy's.
        #[schema(value_type = Option<Duration>)]
        retry_in: Option<Span>,
        /// Whether trying again is no use.
        #[schema(default = false)]
        permanent: Option<bool>,
    }
    |token| {
        let permanent = permanent.unwrap_or_default();
        Event::Settle { token, settlement: Settlement::Fail { error, retry_in, permanent } }
    };

    /// Given back.
    ReleaseBody as Release, ReleaseItem as ReleaseItem {
        /// The wait until it is ready again.
        #[schema(value_type = Option<Duration>)]
        delay: Option<Span>,
        /// What its next holder needs to go on.
        #[schema(value_type = AnyJson, required = false)]
        checkpoint: Option<RawJson>,
    }
    |token| Event::Settle { token, settlement: Settlement::Release { delay, checkpoint } };
}

/// That the holder has the task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Confirm)]
struct ConfirmBody {
    /// The token the take answered.
    #[schema(value_type = String)]
    token: Token,
}

/// What a holder leaves behind when it stops on request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Acknowledgement)]
struct StopBody {
    /// The token the take answered.
    #[schema(value_type = String)]
    token: Token,
    /// What its next holder needs to go on.
    #[schema(value_type = AnyJson, required = false)]
    checkpoint: Option<RawJson>,
    /// What it came to so far.
    #[schema(value_type = AnyJson, required = false)]
    result: Option<RawJson>,
    /// What went wrong, at most 4 KiB.
    error: Option<String>,
}

impl StopBody {
    fn event(self, settlement: fn(Acknowledgement) -> Settlement) -> Event {
        let Self { token, checkpoint, result, error } = self;
        let settlement = settlement(Acknowledgement { checkpoint, result, error });
        Event::Settle { token, settlement }
    }
}

/// Confirm an assignment: the task is `running` and its hold begins.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/confirm", tag = "holders", params(OnTask),
    request_body = ConfirmBody,
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn confirm(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let ConfirmBody { token } = body.read()?;
    happen(&app, target, Event::Confirm { token }).await
}

/// Hold a task longer, and report. Also how a holder hears of cancel and pause.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/extend", tag = "holders", params(OnTask),
    request_body(content = ExtendBody, example = json!({"token": "…", "progress": 0.5})),
    responses((status = 200, description = "Until when, and what is asked of the holder",
        body = ExtendView), Changes))]
async fn extend(
    State(app): State<Arc<App>>,
    OnTask { queue, id, .. }: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    let ask = Ask { id, event: body.read::<ExtendBody>()?.into() };
    ask.check()?;
    match app.engine.happen_to_one(&queue, ask).await? {
        Outcome::Task { task, .. } => Ok(answer(StatusCode::OK, &ExtendView::new(&task))),
        Outcome::Before { .. } => Err(Failure::Contended.into()),
    }
}

/// Say that a task is done.
///
/// A repeat with the same token succeeds as well: while the task is kept, else for 10 minutes.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/commit", tag = "holders", params(OnTask),
    request_body(content = CommitBody, example = json!({"token": "…", "result": {"sent": true}})),
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn commit(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    happen(&app, target, body.read::<CommitBody>()?.into()).await
}

/// Say that an attempt failed: the task waits for its retry, or is `failed`.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/fail", tag = "holders", params(OnTask),
    request_body(content = FailBody, example = json!({"token": "…", "error": "no route to host"})),
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn fail(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    happen(&app, target, body.read::<FailBody>()?.into()).await
}

/// Give a task back; the take does not count.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/release", tag = "holders", params(OnTask),
    request_body(content = ReleaseBody, example = json!({"token": "…", "delay": "1m"})),
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn release(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    happen(&app, target, body.read::<ReleaseBody>()?.into()).await
}

/// Acknowledge a cancel.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/cancelled", tag = "holders", params(OnTask),
    request_body = StopBody,
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn cancelled(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    happen(&app, target, body.read::<StopBody>()?.event(Settlement::Cancelled)).await
}

/// Acknowledge a pause.
#[utoipa::path(post, path = "/v1/queues/{queue}/tasks/{id}/paused", tag = "holders", params(OnTask),
    request_body = StopBody,
    responses((status = 200, description = "The task after it", body = AnswerView), Changes))]
async fn paused(
    State(app): State<Arc<App>>,
    target: OnTask,
    body: JsonBody,
) -> Result<Response, Problem> {
    happen(&app, target, body.read::<StopBody>()?.event(Settlement::Paused)).await
}
