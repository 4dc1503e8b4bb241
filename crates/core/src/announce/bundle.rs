//! Events of bundles: payloads that come in and go out.

use super::{Announcement, Announcements};
use crate::bundle::{Bundle, BundleKey, BundleState};
use crate::name::QueueName;
use crate::owner::{Owner, OwnerDecision};
use crate::task::{Decision, Event, State, Verb};
use crate::time::Timestamp;

fn about(kind: &'static str, queue: &QueueName, key: &BundleKey, at: Timestamp) -> Announcement {
    let key = key.shared();
    Announcement::new(kind, at).in_queue(queue).about(key.clone()).with("key", key)
}

/// Something was pushed into a bundle; this is how it is then.
pub fn pushed(bundle: &Bundle, at: Timestamp) -> Announcement {
    about("bundle.pushed", &bundle.queue, &bundle.key, at)
        .with("size", bundle.size)
        .with("ontime", bundle.next_due_at())
}

/// A bundle is due, and a worker was told of it or its delivery begins.
pub fn due(queue: &QueueName, key: &BundleKey, at: Timestamp) -> Announcement {
    about("bundle.due", queue, key, at)
}

/// The first payloads of a bundle are dealt with.
pub fn delivered(
    queue: &QueueName,
    key: &BundleKey,
    number: u64,
    left: u64,
    at: Timestamp,
) -> Announcement {
    about("bundle.delivered", queue, key, at).with("number", number).with("left", left)
}

/// A bundle was removed by somebody.
pub fn deleted(queue: &QueueName, key: &BundleKey, at: Timestamp) -> Announcement {
    about("bundle.deleted", queue, key, at)
}

fn failed(bundle: &Bundle, at: Timestamp) -> Announcement {
    about("bundle.failed", &bundle.queue, &bundle.key, at).with("error", bundle.error.as_deref())
}

/// Announces that a bundle failed or was dropped because no worker got it in time.
pub fn lapsed(before: &Bundle, after: Option<&Bundle>, at: Timestamp) -> Option<Announcement> {
    match after {
        Some(after) => {
            let is_new = after.state == BundleState::Failed && before.state != BundleState::Failed;
            is_new.then(|| failed(after, at))
        }
        None => Some(deleted(&before.queue, &before.key, at).with("error", "abandoned")),
    }
}

/// Announces the outcome of the task that delivers a bundle.
pub(super) fn after(
    before: &Bundle,
    event: &Event,
    decision: &Decision,
    after: &OwnerDecision,
    at: Timestamp,
    news: &mut Announcements,
) {
    let bundle = match &after.owner {
        Some(Owner::Bundle(bundle)) => Some(bundle),
        _ => None,
    };
    if decision.task.status.state == State::Done && event.verb() != Verb::Clean {
        let number = event.sent().map_or(0, |sent| sent.number);
        let left = bundle.map_or(0, |bundle| bundle.size);
        news.add(delivered(&before.queue, &before.key, number, left, at));
    } else if let Some(bundle) = bundle {
        news.extend(lapsed(before, Some(bundle), at));
    }
}
