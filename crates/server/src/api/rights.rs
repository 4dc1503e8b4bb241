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
    /// A token, whatever it is good for.
    Token,
    /// A right, on what the request names.
    Right(Right),
}

/// What a request asks for, by its method and path. What is no route asks for something all the same.
pub(super) fn needs(method: &Method, path: &str) -> Needs {
    use Right::{Admin, Consume, Produce, Read};
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let is_post = *method == Method::POST;
    Needs::Right(match parts[..] {
        ["livez" | "readyz" | "openapi.json" | "docs" | ""] | ["assets", ..] | ["docs", ""] => {
            return Needs::Nothing;
        }
        ["v1", "access"] => return Needs::Token,
        ["v1", "system", _, ..] | ["v1", "tokens", ..] => Admin,
        _ if matches!(*method, Method::GET | Method::HEAD) => Read,
        ["v1", "plans", "preview"] if is_post => Read,
        ["v1", "backup"] | ["v1", "dev", ..] | ["v1", "queues", _] => Admin,
        ["v1", "workers", ..] => Consume,
        ["v1", "queues", _, "pause" | "resume" | "reset"] => Admin,
        ["v1", "queues", _, "take" | "commit" | "extend" | "fail" | "release"] => Consume,
        ["v1", "queues", _, "tasks", _, verb] if is_settling(verb) => Consume,
        ["v1", "queues", _, "bundles", "schedule"] if is_post => Consume,
        ["v1", "queues", _, "bundles", _, "get" | "complete" | "release"] => Consume,
        _ => Produce,
    })
}

/// Whether a request may wait for something to happen.
pub(super) fn may_wait(method: &Method, path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next();
    *method == Method::POST && matches!(last, Some("take" | "poll" | "schedule"))
}

/// Whether a request says what became of a task or bundle that its sender holds, or that it goes on.
pub(super) fn settles(method: &Method, path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    *method == Method::POST && (is_settling(last) || last == "complete")
}

/// Whether a request is answered also when the server has no place left for others.
pub(super) fn is_vital(method: &Method, path: &str) -> bool {
    matches!(path, "/livez" | "/readyz") || settles(method, path)
}

/// Whether a verb is one that a task's holder uses.
fn is_settling(verb: &str) -> bool {
    matches!(verb, "confirm" | "extend" | "commit" | "fail" | "release" | "cancelled" | "paused")
}

/// What a path is about.
enum About {
    /// A queue.
    Queue(QueueName),
    /// No queue at all, neither by itself nor through a record.
    All,
    /// A record that names its queues, or a list of what the caller may see.
    Records,
}

fn about(uri: &Uri) -> Result<About, Failure> {
    let parts: Vec<&str> = uri.path().split('/').skip(1).collect();
    Ok(match parts[..] {
        ["v1", "queues", _, ..] => {
            let named = QueueName::parse(&part(uri, 2, "queue")?);
            About::Queue(named.map_err(|invalid: Invalid| Failure::Refused(invalid.into()))?)
        }
        ["v3", ..] => About::Queue(QueueName::bundles()),
        ["v1", "notices", ..] => About::Queue(QueueName::notices()),
        ["v1", "plans", "preview"]
        | ["v1", "backup" | "dev" | "system" | "hosts", ..]
        | ["metrics"] => About::All,
        _ => About::Records,
    })
}

/// Refuses what a path alone shows not to be allowed.
pub(super) fn check(access: &Access, needs: Needs, uri: &Uri) -> Result<(), Failure> {
    let Needs::Right(right) = needs else { return Ok(()) };
    if !access.has(right) {
        let detail = format!("this needs a token with the right {}", right.name());
        return Err(Failure::Forbidden(detail));
    }
    if access.scope().is_all() {
        return Ok(());
    }
    match about(uri)? {
        About::Queue(queue) => within(&access.scope(), &queue),
        About::Records => Ok(()),
        About::All => Err(limited()),
    }
}

fn limited() -> Failure {
    Failure::Forbidden("this concerns all queues, and the token is good for some".to_owned())
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

    /// Refuses a caller that is limited to some queues.
    pub(super) fn check_unlimited(&self) -> Result<(), Failure> {
        if self.scope().is_all() { Ok(()) } else { Err(limited()) }
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
        // Where there are tokens, the guard has let nobody pass without one.
        Ok(Self(parts.extensions.get::<Access>().cloned().unwrap_or_else(Access::all)))
    }
}
