//! What is noted of what people do to a server: who did what to which queue, and what came of it.
//!
//! Noted are the changes that need the right `admin`, what is done to many tasks at once or cannot be
//! undone, and tokens that were refused. Each is a log line of the target `audit`, and an entry that the
//! store keeps. No token, payload or setting is ever in one.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use punctual_store::{AuditEntry, Store};
use tokio::time::Instant;
use tracing::{info, warn};

/// How long an answer waits for its entry.
const PATIENCE: Duration = Duration::from_secs(1);
/// Refusals that are noted at once, and how often one more is.
const REFUSALS_MAX: f64 = 20.0;
const REFUSALS_PER_SECOND: f64 = 1.0;
/// Tokens whose refusals are counted, before those are forgotten that were not refused lately.
const BUCKETS_MAX: usize = 1_000;
/// Most characters of a path in an entry.
const TARGET_CHARS_MAX: usize = 300;

/// What a request does, if that is to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deed {
    action: &'static str,
    target: String,
}

impl Deed {
    /// What a request does, by its method and path. None: nothing that is noted.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return None;
        }
        let mut parts = [""; 7];
        for (place, part) in parts.iter_mut().zip(path.split('/').skip(1)) {
            *place = part;
        }
        let is = |wanted: Method| *method == wanted;
        let deed = |action, target: &str| Some(Self { action, target: shortened(target) });
        match parts {
            ["v1", "queues", queue, "", ..] if is(Method::PUT) => deed("queue.put", queue),
            ["v1", "queues", queue, "", ..] if is(Method::DELETE) => deed("queue.delete", queue),
            ["v1", "queues", queue, "pause", "", ..] => deed("queue.pause", queue),
            ["v1", "queues", queue, "resume", "", ..] => deed("queue.resume", queue),
            ["v1", "queues", queue, "reset", "", ..] => deed("queue.reset", queue),
            ["v1", "queues", queue, "tasks", "bulk", "", ..] if is(Method::POST) => {
                deed("task.bulk", queue)
            }
            ["v1", "queues", queue, "tasks", id, "reset", ""] => {
                deed("task.reset", &format!("{queue}/{id}"))
            }
            ["v1", "queues", queue, "tasks", id, "", ..] if is(Method::DELETE) => {
                deed("task.delete", &format!("{queue}/{id}"))
            }
            ["v1", "tokens", "", ..] if is(Method::POST) => deed("token.create", ""),
            ["v1", "tokens", name, "", ..] if is(Method::DELETE) => deed("token.revoke", name),
            ["v1", "dev", "clock", ..] => deed("dev.clock", ""),
            ["v1", "backup", ..] => deed("backup", ""),
            _ => None,
        }
    }

    /// A token that is none of the server's, or no token where one is needed.
    pub(crate) fn refused(method: &Method, path: &str) -> Self {
        Self { action: "token.refused", target: shortened(&format!("{method} {path}")) }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(TARGET_CHARS_MAX).collect()
}

/// Where deeds are noted.
pub(crate) struct Audit {
    store: Arc<dyn Store>,
    /// Of each, so that nobody's refusals keep those of others out.
    refusals: Mutex<HashMap<String, Bucket>>,
}

/// How many refusals may be noted now.
struct Bucket {
    level: f64,
    at: Instant,
}

impl Audit {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, refusals: Mutex::default() }
    }

    /// Notes what came of a deed. Whoever tries in vain again and again is noted now and then.
    pub(crate) async fn note(
        &self,
        deed: Deed,
        who: String,
        from: Option<SocketAddr>,
        status: u16,
    ) {
        // What is not there was not touched, and anybody can ask for it.
        if status == 404 || (matches!(status, 401 | 403) && !self.may_note_refusal(&who)) {
            return;
        }
        let from = from.map_or_else(String::new, |address| address.to_string());
        let Deed { action, target } = deed;
        info!(target: "audit", who, from, action, what = target, status, "noted");
        let (store, action) = (self.store.clone(), action.to_owned());
        let entry = AuditEntry { at: store.now(), who, from, action, target, status };
        // Whoever asked may be gone before it is noted.
        let noting = tokio::spawn(async move {
            if let Err(error) = store.audit(std::slice::from_ref(&entry)).await {
                warn!(%error, action = entry.action, "what was done is noted in the log only");
            }
        });
        let _ = tokio::time::timeout(PATIENCE, noting).await;
    }

    fn may_note_refusal(&self, who: &str) -> bool {
        let mut buckets = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if buckets.len() >= BUCKETS_MAX {
            let since = |bucket: &Bucket| now.duration_since(bucket.at).as_secs_f64();
            buckets.retain(|_, bucket| since(bucket) * REFUSALS_PER_SECOND < REFUSALS_MAX);
        }
        let full = || Bucket { level: REFUSALS_MAX, at: now };
        let bucket = buckets.entry(who.to_owned()).or_insert_with(full);
        let refilled = now.duration_since(bucket.at).as_secs_f64() * REFUSALS_PER_SECOND;
        bucket.level = (bucket.level + refilled).min(REFUSALS_MAX);
        bucket.at = now;
        if bucket.level < 1.0 {
            return false;
        }
        bucket.level -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_server_or_many_tasks_is_noted() {
        let action = |method: Method, path: &str| {
            Deed::of(&method, path).map(|deed| (deed.action, deed.target))
        };
        for (method, path, expected) in [
            (Method::PUT, "/v1/queues/q", Some(("queue.put", "q"))),
            (Method::DELETE, "/v1/queues/q", Some(("queue.delete", "q"))),
            (Method::POST, "/v1/queues/q/reset", Some(("queue.reset", "q"))),
            (Method::POST, "/v1/queues/q/tasks/bulk", Some(("task.bulk", "q"))),
            (Method::DELETE, "/v1/queues/q/tasks/bulk", Some(("task.delete", "q/bulk"))),
            (Method::POST, "/v1/queues/q/tasks/a/reset", Some(("task.reset", "q/a"))),
            (Method::POST, "/v1/tokens", Some(("token.create", ""))),
            (Method::DELETE, "/v1/tokens/a", Some(("token.revoke", "a"))),
            (Method::GET, "/v1/tokens/a", None),
            (Method::POST, "/v1/backup", Some(("backup", ""))),
            (Method::POST, "/v1/dev/clock", Some(("dev.clock", ""))),
            (Method::GET, "/v1/queues/q", None),
            (Method::POST, "/v1/queues/q/tasks", None),
            (Method::POST, "/v1/queues/q/take", None),
            (Method::POST, "/v1/queues/q/tasks/a/commit", None),
            (Method::POST, "/v1/queues/q/tasks/a/reset/x", None),
            (Method::POST, "/", None),
        ] {
            let expected = expected.map(|(action, target)| (action, target.to_owned()));
            assert_eq!(action(method, path), expected, "{path}");
        }
        assert_eq!(Deed::refused(&Method::GET, &"x".repeat(999)).target.len(), TARGET_CHARS_MAX);
    }
}
