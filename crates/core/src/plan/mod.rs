//! A plan's record: work that a calendar makes due, once or again and again.
//!
//! ```text
//!   scheduled ── due: pushes its run ─▶ running ── done, cancelled, removed ─▶ scheduled, or finished
//!       ▲                                   └────── failed for good ─▶ error ── resume ─▶ scheduled
//!       │                                                  (with `on_error` `continue`: scheduled)
//!       └── resume ── paused ◀── pause
//! ```
//!
//! At most one run of the rule lives at a time, and one that was asked for besides it. The end of the rule's and the
//! computing of the next time are one step, so a live plan always has exactly one thing to come: a time, or the end of its run.
//!
//! - `order`: what a request says about a plan. `life`: what happens to it. `fire`: the tasks it
//!   makes. `run`: what becomes of it when they end. `policy`: whether it goes on after a failed run. `result`: what
//!   is kept of runs.

mod fire;
mod life;
mod order;
mod policy;
mod result;
mod run;

use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

pub use fire::Fired;
pub use life::{PlanRefusal, PlanVerb};
pub use order::{GivenId, PlanPatch, same_repeat};
pub use policy::OnError;
pub use result::PlanResult;
pub use run::Ended;

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
    /// The run of its rule that has not ended.
    pub living: Option<Run>,
    /// The run asked for besides the rule that has not ended.
    #[serde(default)]
    pub asked: Option<Run>,
    /// Its last run that failed for good, until another takes its number: it can be tried again.
    pub failed: Option<Run>,
    /// The number of the run that lives or comes next, from 1.
    pub number: u64,
    /// Runs asked for besides the rule, under the current number.
    pub extra: u32,
    /// Runs that were done, and those that failed while the plan went on.
    pub real_repet: u64,
    /// Runs that failed in a row.
    #[serde(default)]
    pub failures: Option<u32>,
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
    /// What a run that fails for good makes of the plan; none: it stops.
    #[serde(default)]
    pub on_error: Option<OnError>,
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
    /// When the server must look whether somebody came for it.
    fn ring(&self) -> Option<(Timestamp, Ring<'_>)> {
        self.watch_at.map(|at| (at, Ring::Watch(self)))
    }

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
            _ if self.is_running() => PlanState::Running,
            Phase::Scheduled => PlanState::Scheduled,
            Phase::Error => PlanState::Error,
            Phase::Finished => PlanState::Finished,
        }
    }

    /// Whether a run of its rule has not ended.
    fn is_running(&self) -> bool {
        self.living.as_ref().is_some_and(|run| run.is_ruled)
    }

    /// The time it waits for, if it waits for one.
    pub fn timed_at(&self) -> Option<Timestamp> {
        self.next_at.filter(|_| self.phase == Phase::Scheduled)
    }

    /// When the server must look after it.
    pub(crate) fn alarm_at(&self) -> Option<Timestamp> {
        self.next_ring().map(|(at, _)| at)
    }

    /// The reason why its alarm rings, when it does.
    pub fn ring(&self) -> Option<Ring<'_>> {
        self.next_ring().map(|(_, ring)| ring)
    }

    fn next_ring(&self) -> Option<(Timestamp, Ring<'_>)> {
        /// How long a finished plan stays readable.
        const KEPT: Span = Span::from_millis(24 * 60 * 60 * 1_000);
        let asked = self.asked.as_ref().and_then(Run::ring);
        let rule = match (&self.living, self.phase) {
            (Some(run), _) => run.ring(),
            (None, Phase::Scheduled) => self.next_at.map(|at| (at, Ring::Fire)),
            (None, Phase::Finished) if self.asked.is_none() => {
                self.finished_at.map(|at| (at + KEPT, Ring::Remove))
            }
            (None, _) => None,
        };
        asked.into_iter().chain(rule).min_by_key(|(at, _)| *at)
    }
}

/// The reason why the alarm of a plan rings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ring<'a> {
    /// It is due.
    Fire,
    /// The run may be waiting in vain.
    Watch(&'a Run),
    /// It has finished and was kept long enough.
    Remove,
}
