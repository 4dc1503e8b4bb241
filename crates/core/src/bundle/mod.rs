//! A bundle's record: payloads pushed under one key that fall due together.
//!
//! The payloads lie in a list beside the record, in push order; the record only knows how many there
//! are. Who takes them out depends on the queue:
//!
//! ```text
//!   pull:  waiting ── schedule ─▶ started ── get ─▶ locked ── complete ─▶ gone, or waiting with the rest
//!             ▲                      │                │
//!             └──── abandoned: failed or dropped      └── release, lock timed out ─▶ waiting
//!   http:  a task of the queue delivers it; what the task comes to decides about the payloads
//! ```
//!
//! From a get, or the start of a delivery, until it completes, every push sets the next due time. What
//! is pushed while somebody has the payloads is `later`: it stays behind when they are gone, and its due
//! time counts instead of a retry's when they are not. `max_wait` counts from the first payload that
//! was not dealt with in vain yet, so that it fires once and leaves retries their time.

mod deliver;
mod lock;
mod push;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use deliver::{Delivering, Sent};
pub use lock::{BundleRefusal, Get};
pub use push::{BundlePush, Overwrite, Pushed};

use crate::error::{Invalid, Refusal, check_size};
use crate::http::HttpTarget;
use crate::limits::{BUNDLE_DATA_BYTES_MAX, BUNDLE_DATA_MAX, BUNDLE_KEY_BYTES_MAX};
use crate::name::{QueueName, TaskId, check_dots};
use crate::time::Timestamp;

/// The key of a bundle: any text, unique in its queue.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundleKey(Arc<str>);

impl BundleKey {
    /// Checks the text against the rule for keys.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Invalid::new("key", "1 to 2048 bytes").into());
        }
        check_size("key", text.len(), BUNDLE_KEY_BYTES_MAX)?;
        Ok(Self(Arc::from(text)))
    }

    /// Checks that a new bundle may have this key: not `.` or `..`.
    pub fn check_new(&self) -> Result<(), Invalid> {
        check_dots("key", &self.0)
    }

    /// A key that is made of parts which were checked on their own.
    pub fn composed(text: String) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared with the key.
    pub(crate) fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

impl fmt::Display for BundleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BundleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// A bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// Its queue.
    pub queue: QueueName,
    /// Its key.
    pub key: BundleKey,
    /// When its first payload was pushed.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: BundleState,
    /// How many payloads are in it.
    pub size: u64,
    /// When it is due.
    pub due_at: Timestamp,
    /// It is due no later than this.
    pub latest: Option<Timestamp>,
    /// When the first payload was pushed that was not dealt with in vain yet.
    pub first_at: Option<Timestamp>,
    /// Whether the next push sets the due time, whatever it says about that.
    pub overwrite: bool,
    /// What was pushed since the get or delivery that is under way began.
    pub later: Option<Later>,
    /// A set of strings kept with it.
    pub data: BTreeSet<String>,
    /// When it counts as abandoned, if it was scheduled and nobody got it.
    pub abandoned_at: Option<Timestamp>,
    /// The task that delivers it, in a queue of mode http.
    pub task: Option<TaskId>,
    /// Where it is delivered, if not to its queue's URL.
    pub target: Option<HttpTarget>,
    /// Whether its one payload is delivered as it was pushed, and nothing merges with it.
    pub alone: bool,
    /// Why it failed.
    pub error: Option<String>,
}

/// Where a bundle stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum BundleState {
    /// For its due time, its worker or its delivery.
    Waiting,
    /// It was scheduled, and is to be got.
    Started {
        /// When.
        at: Timestamp,
        /// Until when nobody else is told of it.
        until: Timestamp,
    },
    /// Somebody got it.
    Locked(Lock),
    /// Given up, and kept.
    Failed,
}

/// A lock on a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// What its holder shows.
    pub random: String,
    /// When it ends.
    pub until: Timestamp,
    /// How many payloads its holder got.
    pub got: u64,
    /// How many there were.
    pub had: u64,
}

/// Payloads that came after those that are being dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Later {
    /// When the first of them was pushed.
    pub first_at: Timestamp,
    /// When they are due.
    pub due_at: Timestamp,
    /// They are due no later than this.
    pub latest: Option<Timestamp>,
}

impl Bundle {
    /// The lock that is held on it now.
    pub fn lock(&self, now: Timestamp) -> Option<&Lock> {
        match &self.state {
            BundleState::Locked(lock) if lock.until > now => Some(lock),
            _ => None,
        }
    }

    /// When what was pushed last is due.
    pub fn next_due_at(&self) -> Timestamp {
        self.later.map_or(self.due_at, |later| later.due_at)
    }

    /// The word for where it stands.
    pub fn state_name(&self, now: Timestamp) -> &'static str {
        match &self.state {
            BundleState::Started { until, .. } if *until > now => "started",
            BundleState::Locked(lock) if lock.until > now => "locked",
            BundleState::Failed => "failed",
            _ => "waiting",
        }
    }

    /// When a worker may be told of it.
    pub(crate) fn scheduled_at(&self) -> Option<Timestamp> {
        let waits = self.task.is_none() && self.state != BundleState::Failed;
        waits.then_some(self.due_at)
    }

    /// Adds strings to those kept with it and takes others away.
    pub fn change_data(&mut self, add: &[String], remove: &[String]) -> Result<(), Refusal> {
        self.data.extend(add.iter().cloned());
        for text in remove {
            self.data.remove(text);
        }
        if self.data.len() > BUNDLE_DATA_MAX {
            return Err(Invalid::new("data", format!("at most {BUNDLE_DATA_MAX} of them")).into());
        }
        let bytes = self.data.iter().map(String::len).sum();
        check_size("data", bytes, BUNDLE_DATA_BYTES_MAX)
    }
}
