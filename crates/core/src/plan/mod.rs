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
//!
//! - `order`: what a request says about a plan. `life`: what happens to it. `run`: the tasks it makes,
//!   and what becomes of it when they end.

mod life;
mod order;
mod run;

use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

pub use life::{PlanRefusal, PlanVerb};
pub use order::{GivenId, PlanPatch, same_repeat};
pub use run::{Ended, Fired, PlanResult};

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
    /// Where it stands, but for its living run.
    pub phase: Phase,
    /// How far it has come in its rule.
    pub position: Position,
    /// When it is due next, while it is scheduled and none of its runs lives.
    pub next_at: Option<Timestamp>,
    /// Its run that has not ended.
    pub living: Option<Run>,
    /// Its last run that failed for good, until another takes its number: it can be tried again.
    pub failed: Option<Run>,
    /// The number of the run that lives or comes next, from 1.
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
    /// How many results are kept with it.
    pub results: u32,
    /// How many are kept no more, so that every result has a place of its own.
    #[serde(default)]
    pub results_gone: u64,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// What a plan is to do, as it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    pub priority: i32,
    /// Capabilities their worker must have.
    pub requires: Vec<String>,
    /// Their labels.
    pub tags: Vec<String>,
    /// What to make when one ends.
    pub callback: Option<Callback>,
    /// How many results are kept.
    pub keep_results: u32,
}

/// Where a plan stands when none of its runs lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It waits for its time.
    Scheduled,
    /// Set aside.
    Paused,
    /// A run failed for good.
    Error,
    /// Nothing is to come.
    Finished,
}

/// The state a plan reads as.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumCount,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum PlanState {
    /// It waits for its time.
    Scheduled,
    /// Its run has not ended.
    Running,
    /// Set aside.
    Paused,
    /// A run failed for good.
    Error,
    /// Nothing is to come.
    Finished,
}

impl PlanState {
    /// Every state.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
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

/// A run of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its task.
    pub task: TaskId,
    /// Its number, and the place among those asked for besides the rule, as people read it.
    pub label: String,
    /// The time it was due, or asked for.
    pub due_at: Timestamp,
    /// Whether the rule made it due.
    pub is_ruled: bool,
    /// Whether it was a rule that another has replaced since.
    #[serde(default)]
    pub is_outdated: bool,
    /// When to look whether somebody came for it.
    pub watch_at: Option<Timestamp>,
}

impl Run {
    /// The time of the plan's rule that is over with it.
    fn occurrence(&self) -> Option<Timestamp> {
        (!self.is_outdated).then_some(self.due_at)
    }
}

impl Plan {
    /// The queues it names: its station, and those that callbacks of its runs make tasks in.
    pub fn queues(&self) -> Vec<QueueName> {
        std::iter::once(self.station.clone()).chain(self.order.makes_tasks_in()).collect()
    }

    /// The state it reads as.
    pub fn state(&self) -> PlanState {
        match self.phase {
            Phase::Paused => PlanState::Paused,
            _ if self.living.is_some() => PlanState::Running,
            Phase::Scheduled => PlanState::Scheduled,
            Phase::Error => PlanState::Error,
            Phase::Finished => PlanState::Finished,
        }
    }

    /// The time it waits for, if it waits for one.
    pub fn timed_at(&self) -> Option<Timestamp> {
        self.next_at.filter(|_| self.phase == Phase::Scheduled)
    }

    /// When the server must look after it: it is due, its run may be waiting in vain, or it has been
    /// kept long enough.
    pub(crate) fn alarm_at(&self) -> Option<Timestamp> {
        /// How long a finished plan stays readable.
        const KEPT: Span = Span::from_millis(24 * 60 * 60 * 1_000);
        if let Some(run) = &self.living {
            return run.watch_at;
        }
        match self.phase {
            Phase::Scheduled => self.next_at,
            Phase::Finished => self.finished_at.map(|at| at + KEPT),
            Phase::Paused | Phase::Error => None,
        }
    }
}
