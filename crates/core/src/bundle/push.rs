//! A push into a bundle: when it is due from then on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::deliver::Delivering;
use super::{Bundle, BundleKey, BundleState, Later};
use crate::error::{Refusal, check_size};
use crate::http::HttpTarget;
use crate::json::RawJson;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::queue::Queue;
use crate::time::{Span, Timestamp};

/// Whether a push moves the due time of a bundle that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overwrite {
    /// It does.
    Always,
    /// It does not.
    #[default]
    Once,
}

/// Something that is pushed into a bundle.
#[derive(Debug, Clone, Default)]
pub struct BundlePush {
    /// The payload.
    pub payload: RawJson,
    /// Strings to keep with the bundle.
    pub data: Vec<String>,
    /// When it is due; now if left out.
    pub ontime: Option<Timestamp>,
    /// Whether that moves the due time of a bundle that exists.
    pub overwrite: Overwrite,
    /// It is due no later than that long after its first payload.
    pub max_wait: Option<Span>,
    /// Where it is delivered, if not to the queue's URL.
    pub target: Option<HttpTarget>,
    /// Whether nothing merges with it.
    pub alone: bool,
}

/// What a push made of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Pushed {
    /// The bundle with one payload more.
    pub bundle: Box<Bundle>,
    /// How many payloads went before that, as the bundle they were in was dropped.
    pub drop_first: u64,
    /// When its delivery must begin, if that is new: in a queue of mode http.
    pub deliver_at: Option<Timestamp>,
}

impl BundlePush {
    /// Checks every field.
    pub fn check(&self) -> Result<(), Refusal> {
        check_size("task", self.payload.len(), PAYLOAD_BYTES_MAX)
    }

    /// Adds it to a bundle, or makes one. `delivering` is how far the delivery is, where the server
    /// delivers; none: workers take it.
    pub fn apply(
        &self,
        queue: &Queue,
        key: &BundleKey,
        before: Option<Box<Bundle>>,
        delivering: Option<Delivering>,
        now: Timestamp,
    ) -> Result<Pushed, Refusal> {
        let size_before = before.as_ref().map_or(0, |bundle| bundle.size);
        let lapsed = before.and_then(|bundle| bundle.lapsed(&queue.settings, now));
        let drop_first = if lapsed.is_none() { size_before } else { 0 };
        let due_before = lapsed.as_ref().map(|bundle| bundle.due_at);
        let mut bundle = match lapsed {
            Some(mut bundle) => {
                bundle.join(self, delivering, now);
                bundle
            }
            None => Box::new(self.first(queue, key, now)),
        };
        bundle.size += 1;
        bundle.change_data(&self.data, &[])?;
        let deliver_at = match delivering {
            None | Some(Delivering::Held) => None,
            Some(Delivering::Not) => Some(bundle.due_at),
            Some(Delivering::Waiting) => Some(bundle.due_at).filter(|at| Some(*at) != due_before),
        };
        Ok(Pushed { bundle, drop_first, deliver_at })
    }

    fn first(&self, queue: &Queue, key: &BundleKey, now: Timestamp) -> Bundle {
        let later = self.later(now);
        Bundle {
            queue: queue.name.clone(),
            key: key.clone(),
            created_at: now,
            state: BundleState::Waiting,
            size: 0,
            due_at: later.due_at,
            latest: later.latest,
            first_at: Some(now),
            overwrite: false,
            later: None,
            data: BTreeSet::new(),
            abandoned_at: None,
            task: None,
            target: self.target.clone(),
            alone: self.alone,
            error: None,
        }
    }

    /// What it asks for when nothing was pushed before it.
    fn later(&self, now: Timestamp) -> Later {
        let latest = self.max_wait.map(|span| now + span);
        Later { first_at: now, due_at: earlier(self.ontime.unwrap_or(now), latest), latest }
    }
}

impl Bundle {
    /// Something joins the payloads that are there.
    fn join(&mut self, push: &BundlePush, delivering: Option<Delivering>, now: Timestamp) {
        let due_at = push.ontime.unwrap_or(now);
        if self.state == BundleState::Failed {
            // The first push after it failed brings it back whole.
            self.state = BundleState::Waiting;
            self.error = None;
            self.wait_for(push.later(now));
        } else if self.lock(now).is_some() || delivering == Some(Delivering::Held) {
            let before = self.later.unwrap_or_else(|| push.later(now));
            let latest = sooner(before.latest, push.max_wait.map(|span| before.first_at + span));
            self.later = Some(Later { due_at: earlier(due_at, latest), latest, ..before });
            self.wait_for_lock();
        } else {
            let first_at = *self.first_at.get_or_insert(now);
            self.latest = sooner(self.latest, push.max_wait.map(|span| first_at + span));
            let sets = self.overwrite || push.overwrite == Overwrite::Always;
            let due_at = earlier(if sets { due_at } else { self.due_at }, self.latest);
            self.move_to(due_at);
        }
    }
}

fn earlier(at: Timestamp, latest: Option<Timestamp>) -> Timestamp {
    latest.map_or(at, |latest| at.min(latest))
}

fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}
