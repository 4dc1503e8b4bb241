//! A plan's record: work that a calendar makes due, once or again and again.
//!
//! ```text
//!   scheduled ── due: pushes its run ─▶ running ── done, cancelled, removed ─▶ scheduled, or finished
//!       ▲                                   └────── failed for good ─▶ error ── resume ─▶ scheduled
//!       └── resume ── paused ◀── pause
//! ```
//!
//! At most one run lives at a time. Its end and the computing of the next time are one step, so a
//! live plan always has exactly one thing to come: a time, or the end of its run.

use serde::{Deserialize, Serialize};

use crate::bundle::BundleKey;
use crate::calendar::{Position, Rule};
use crate::callback::Callback;
use crate::http::HttpTarget;
use crate::json::RawJson;
use crate::name::{PlanId, QueueName, TaskId};
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::time::{Span, Timestamp};

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its id, unique among all plans.
    pub id: PlanId,
    /// The queue its runs are pushed to.
    pub station: QueueName,
    /// What it was given besides its rule.
    pub order: Order,
    /// When it is due.
    pub rule: Rule,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where it stands.
    pub state: PlanState,
    /// How far it has come in its rule.
    pub position: Position,
    /// When it is due next.
    pub next_at: Option<Timestamp>,
    /// Its run that has not ended.
    pub living: Option<Run>,
    /// The number of the run that is living or comes next, from 1.
    pub number: u64,
    /// Runs asked for besides the rule, under the current number.
    pub extra: u32,
    /// Runs that were done.
    pub real_repet: u64,
    /// Occurrences that were skipped.
    pub skipped: u64,
    /// When it last pushed a run.
    pub exec_time: Option<Timestamp>,
    /// How its last run stands or ended.
    pub last_state: Option<LastState>,
    /// What went wrong last.
    pub error: Option<String>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// What a plan is to do, as it was given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Order {
    /// The caller's own id for it.
    pub request_id: Option<String>,
    /// Who made it.
    pub caller: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The payload of its runs.
    pub message: RawJson,
    /// Where they are delivered.
    pub http: Option<HttpTarget>,
    /// The bundle of the station that it pushes into instead of making tasks.
    pub bundle_key: Option<BundleKey>,
    /// The hold of its runs.
    pub hold: Option<Span>,
    /// Their limit of attempts.
    pub max_attempts: Option<MaxAttempts>,
    /// Their waits between attempts.
    pub retry: Option<RetryPolicy>,
    /// Their priority.
    pub priority: i8,
    /// Capabilities their worker must have.
    pub requires: Vec<String>,
    /// Their labels.
    pub tags: Vec<String>,
    /// What to make when one ends.
    pub callback: Option<Callback>,
    /// How many results are kept.
    pub keep_results: u32,
}

/// Where a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanState {
    /// It waits for its time.
    Scheduled,
    /// Its run has not ended.
    Running,
    /// Set aside.
    Paused,
    /// A run failed for good, or the plan cannot be read.
    Error,
    /// Nothing is to come.
    Finished,
}

/// How a plan's last run stands or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastState {
    /// Done.
    Ok,
    /// Not ended.
    Running,
    /// Failed for good.
    Error,
    /// Nobody came to take it.
    NoWorker,
    /// Skipped, cancelled or removed.
    Skipped,
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its task.
    pub task: TaskId,
    /// The time it was due by the rule; none: it was asked for besides the rule.
    pub due_at: Option<Timestamp>,
    /// When to look whether somebody came for it.
    pub watch_at: Option<Timestamp>,
}

impl Plan {
    /// When the server must look after it: it is due, its run may be waiting in vain, or it has been
    /// kept long enough.
    pub(crate) fn alarm_at(&self) -> Option<Timestamp> {
        /// How long a finished plan stays readable.
        const KEPT: Span = Span::from_millis(24 * 60 * 60 * 1_000);
        match self.state {
            PlanState::Scheduled => self.next_at,
            PlanState::Running => self.living.as_ref().and_then(|run| run.watch_at),
            PlanState::Finished => self.finished_at.map(|at| at + KEPT),
            PlanState::Paused | PlanState::Error => None,
        }
    }
}
