//! A push into a bundle: when it is due from then on.

use serde::{Deserialize, Serialize};

use super::deliver::Delivering;
use super::{Bundle, BundleKey, BundleState, Later};
use crate::error::{Invalid, Refusal, check_size};
use crate::http::HttpTarget;
use crate::json::RawJson;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::name::QueueName;
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
#[derive(Debug, Clone)]
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
    pub bundle: Bundle,
    /// When its delivery must begin, if that is new: in a queue of mode http.
    pub deliver_at: Option<Timestamp>,
}

impl BundlePush {
    /// Checks every field.
    pub fn check(&self) -> Result<(), Refusal> {
        check_size("task", self.payload.len(), PAYLOAD_BYTES_MAX)?;
        if self.max_wait.is_some_and(Span::is_zero) {
            return Err(Invalid::new("max_wait", "longer than 0").into());
        }
        Ok(())
    }

    /// Adds it to a bundle, or makes one. `delivering` is how far the delivery is, where the server
    /// delivers; it stands for a bundle that workers take from if there is none.
    pub fn apply(
        self,
        queue: &QueueName,
        key: &BundleKey,
        before: Option<Bundle>,
        delivering: Option<Delivering>,
        now: Timestamp,
    ) -> Result<Pushed, Refusal> {
        let due_at = self.ontime.unwrap_or(now);
        let latest = self.max_wait.map(|span| now + span);
        let mut bundle = match before {
            None => Bundle {
                queue: queue.clone(),
                key: key.clone(),
                created_at: now,
                state: BundleState::Waiting,
                size: 0,
                due_at: earlier(due_at, latest),
                latest,
                first_at: now,
                asked_at: due_at,
                overwrite: false,
                later: None,
                data: Default::default(),
                abandoned_at: None,
                task: None,
                target: self.target,
                alone: self.alone,
                error: None,
            },
            Some(bundle) => bundle,
        };
        let before_at = bundle.due_at;
        if bundle.size > 0 {
            bundle.join(due_at, self.overwrite, self.max_wait, delivering, now);
        }
        bundle.size += 1;
        bundle.asked_at = due_at;
        bundle.change_data(self.data, &[])?;
        let deliver_at = match delivering {
            None | Some(Delivering::Held) => None,
            Some(Delivering::Not) => Some(bundle.due_at),
            Some(_) => (bundle.due_at != before_at).then_some(bundle.due_at),
        };
        Ok(Pushed { bundle, deliver_at })
    }
}

impl Bundle {
    /// Something joins the payloads that are there.
    fn join(
        &mut self,
        due_at: Timestamp,
        overwrite: Overwrite,
        max_wait: Option<Span>,
        delivering: Option<Delivering>,
        now: Timestamp,
    ) {
        if self.state == BundleState::Failed {
            self.revive(due_at, max_wait, now);
        } else if self.lock(now).is_some() || delivering == Some(Delivering::Held) {
            self.add_later(due_at, max_wait, now);
        } else {
            self.latest = sooner(self.latest, max_wait.map(|span| self.first_at + span));
            let is_started = matches!(self.state, BundleState::Started { .. });
            let sets = self.overwrite
                || overwrite == Overwrite::Always
                || delivering == Some(Delivering::Retrying);
            // A worker was just told of it: until it comes, or does not, the time stands.
            if sets && !is_started {
                self.due_at = due_at;
            }
            if !is_started {
                self.due_at = earlier(self.due_at, self.latest);
            }
        }
    }

    /// The first push after it failed brings it back whole.
    fn revive(&mut self, due_at: Timestamp, max_wait: Option<Span>, now: Timestamp) {
        self.state = BundleState::Waiting;
        self.error = None;
        self.overwrite = false;
        self.later = None;
        self.first_at = now;
        self.latest = max_wait.map(|span| now + span);
        self.due_at = earlier(due_at, self.latest);
    }

    fn add_later(&mut self, due_at: Timestamp, max_wait: Option<Span>, now: Timestamp) {
        let before = self.later.unwrap_or(Later { first_at: now, due_at, latest: None });
        let latest = sooner(before.latest, max_wait.map(|span| before.first_at + span));
        self.later = Some(Later { due_at: earlier(due_at, latest), latest, ..before });
        self.wait_for_lock();
    }

    /// A locked bundle is due again when its lock ends, or when what came later is due after that.
    pub(super) fn wait_for_lock(&mut self) {
        if let BundleState::Locked(lock) = &self.state {
            self.due_at = self.later.map_or(lock.until, |later| later.due_at.max(lock.until));
        }
    }
}

fn earlier(at: Timestamp, latest: Option<Timestamp>) -> Timestamp {
    latest.map_or(at, |latest| at.min(latest))
}

fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}
