//! The right that each route asks for, and on which queue.
//!
//! What a path names is checked before the request gets anywhere. A plan, flow or worker names its
//! queues in its record: those are checked where it is read, by [`Caller::check_all`].

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use punctual_core::{Invalid, QueueName};

use super::App;
use super::target::part;
use crate::access::{Access, Right, Scope};
use crate::engine::Failure;

/// What a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing.
    Nothing,
    /// A right, on what the request names.
    Right(Right),
}

/// What a route asks for, by its method and its path as it was declared.
pub(super) fn needs(method: &Method, path: &str) -> Needs {
    use Right::{Admin, Consume, Produce, Read};
    let last = path.rsplit('/').next().unwrap_or_default();
    let right = match path {
        "/livez" | "/readyz" | "/openapi.json" | "/docs" | "/" => return Needs::Nothing,
        _ if matches!(*method, Method::GET | Method::HEAD) => Read,
        "/v1/plans/preview" if *method == Method::POST => Read,
        "/v1/dev/clock" | "/v1/queues/{queue}" => Admin,
        _ if path.starts_with("/v1/workers") => Consume,
        _ if is_of_queue(path) => match last {
            "pause" | "resume" | "reset" => Admin,
            "take" | "commit" | "extend" | "fail" | "release" => Consume,
            _ => Produce,
        },
        _ if path.starts_with("/v1/queues/{queue}/tasks/{id}/") => match last {
            "confirm" | "extend" | "commit" | "fail" | "release" | "cancelled" | "paused" => {
                Consume
            }
            _ => Produce,
        },
        _ if path.starts_with("/v1/queues/{queue}/bundles/") => match last {
            "schedule" | "get" | "complete" | "release" => Consume,
            _ => Produce,
        },
        _ => Produce,
    };
    Needs::Right(right)
}

/// Whether a path is a queue's own: `/v1/queues/{queue}/verb`.
fn is_of_queue(path: &str) -> bool {
    path.strip_prefix("/v1/queues/{queue}/").is_some_and(|rest| !rest.contains('/'))
}

/// The queue a path names, or stands for.
fn queue_of(path: &str, uri: &Uri) -> Result<Option<QueueName>, Failure> {
    if path.starts_with("/v1/queues/{queue}") {
        let named = QueueName::parse(&part(uri, 2, "queue")?);
        return named.map(Some).map_err(|invalid: Invalid| Failure::Refused(invalid.into()));
    }
    Ok(if path.starts_with("/v3/") {
        Some(QueueName::bundles())
    } else if path.starts_with("/v1/notices") {
        Some(QueueName::notices())
    } else {
        None
    })
}

/// Whether a path names nothing that belongs to a queue, neither itself nor through its record.
fn names_none(path: &str) -> bool {
    matches!(path, "/v1/plans/preview" | "/v1/dev/clock" | "/metrics")
}

/// Refuses what a path alone shows not to be allowed.
pub(super) fn check(
    access: &Access,
    method: &Method,
    path: &str,
    uri: &Uri,
) -> Result<(), Failure> {
    let Needs::Right(right) = needs(method, path) else { return Ok(()) };
    if !access.has(right) {
        let detail = format!("this needs a token with the right {}", right.name());
        return Err(Failure::Forbidden(detail));
    }
    if access.scope().is_all() {
        return Ok(());
    }
    match queue_of(path, uri)? {
        Some(queue) => within(&access.scope(), &queue),
        None if names_none(path) => {
            let detail = "this concerns all queues, and the token is good for some";
            Err(Failure::Forbidden(detail.to_owned()))
        }
        None => Ok(()),
    }
}

fn within(scope: &Scope, queue: &QueueName) -> Result<(), Failure> {
    if scope.covers(queue) {
        return Ok(());
    }
    Err(Failure::Forbidden(format!("the token is not good for queue {queue}")))
}

/// Who makes a request.
pub(crate) struct Caller(pub(crate) Access);

impl Caller {
    /// The queues a list may show.
    pub(super) fn scope(&self) -> Scope {
        self.0.scope()
    }

    /// Refuses if one of these queues is none of the caller's.
    pub(super) fn check_all<'a>(
        &self,
        queues: impl IntoIterator<Item = &'a QueueName>,
    ) -> Result<(), Failure> {
        let scope = self.scope();
        queues.into_iter().try_for_each(|queue| within(&scope, queue))
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Self::Rejection> {
        let access = parts.extensions.get::<Access>().cloned();
        Ok(Self(access.expect("every request passes the guard")))
    }
}
