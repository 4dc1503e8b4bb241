//! What happened, written down: with its queue, ids and worker, and nothing of what they carry.

use std::fmt;
use std::sync::Arc;

use punctual_core::Announcement;
use tracing::{Level, debug, enabled, info, warn};

/// Ids that are named of one event.
const IDS_MAX: usize = 10;

/// How much an event is worth writing down: what somebody should look at, what somebody did to the whole,
/// and all the rest.
fn level(kind: &str) -> Level {
    match kind {
        "worker.lost" | "plan.error" | "plan.no_worker" | "bundle.failed" | "notice.exhausted"
        | "task.refused" => Level::WARN,
        "queue.changed" | "worker.joined" | "worker.left" | "worker.draining" | "plan.created"
        | "token.created" | "token.revoked" | "plan.deleted" | "plan.paused" | "plan.resumed"
        | "flow.failed" | "flow.cancelled" => Level::INFO,
        _ => Level::DEBUG,
    }
}

/// The first of some ids.
struct Ids<'a>(&'a [Arc<str>]);

impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, id) in self.0.iter().take(IDS_MAX).enumerate() {
            write!(f, "{}{id}", if place > 0 { " " } else { "" })?;
        }
        match self.0.len().saturating_sub(IDS_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Writes down what happened.
pub(super) fn note(news: &Announcement) {
    let level = level(news.kind());
    if level == Level::DEBUG && !enabled!(Level::DEBUG) {
        return;
    }
    let (event, ids) = (news.kind(), Ids(news.ids()));
    let queue = news.queues().first().map(tracing::field::display);
    let worker = news.text("worker");
    match level {
        Level::WARN => warn!(event, queue, id = %ids, worker, "happened"),
        Level::INFO => info!(event, queue, id = %ids, worker, "happened"),
        _ => debug!(event, queue, id = %ids, worker, "happened"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ids_are_named_in_short() {
        let ids: Vec<Arc<str>> = (0..12).map(|n| n.to_string().into()).collect();
        assert_eq!(Ids(&ids[..2]).to_string(), "0 1");
        assert_eq!(Ids(&ids).to_string(), "0 1 2 3 4 5 6 7 8 9 and 2 more");
        assert_eq!(Ids(&[]).to_string(), "");
    }
}
