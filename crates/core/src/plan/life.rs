//! What people do to a plan, and how it comes from one time to the next.

use std::fmt;

use super::{LastState, Order, Phase, Plan, PlanState};
use crate::calendar::{Position, Rule};
use crate::name::{PlanId, QueueName, TaskId};
use crate::time::Timestamp;

/// What people do to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanVerb {
    /// Set it aside.
    Pause,
    /// Let it go on.
    Resume,
    /// Run it now, besides its rule.
    Run,
    /// Pass over its next occurrences.
    Skip(u32),
}

impl fmt::Display for PlanVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Run => "run",
            Self::Skip(_) => "skip",
        })
    }
}

/// A verb that does not apply to a plan as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// Its state forbids it.
    #[error("{verb} does not apply to a plan that is {}", state.name())]
    State {
        /// What was asked.
        verb: PlanVerb,
        /// The state.
        state: PlanState,
    },
    /// A run was asked for before and has not ended.
    #[error("run does not apply while the run asked for before is running: task {0}")]
    Asked(TaskId),
}

impl Plan {
    /// A plan that is made now.
    pub fn new(id: PlanId, station: QueueName, order: Order, rule: Rule, now: Timestamp) -> Self {
        let mut plan = Self {
            id,
            station,
            order,
            rule,
            created_at: now,
            phase: Phase::Scheduled,
            position: Position::start(now, 0),
            next_at: None,
            living: None,
            asked: None,
            failed: None,
            number: 1,
            extra: 0,
            real_repet: 0,
            failures: None,
            skipped: 0,
            exec_time: None,
            last_state: None,
            error: None,
            results: 0,
            results_gone: 0,
            finished_at: None,
        };
        plan.advance(now);
        plan
    }

    /// Gives it another order and rule; what it has counted stays.
    #[must_use]
    pub fn replace(mut self, order: Order, rule: Rule, now: Timestamp) -> Self {
        self.order = order;
        if rule != self.rule {
            self.rule = rule;
            self.position = Position::start(now, self.position.used);
            for run in self.living.iter_mut().chain(&mut self.failed) {
                run.is_outdated = true;
            }
            if self.phase != Phase::Paused {
                self.reopen(now);
            }
        }
        self
    }

    /// Carries out a verb; none for what the plan is already. A run makes a task besides.
    pub fn carry_out(mut self, verb: PlanVerb, now: Timestamp) -> Result<Self, PlanRefusal> {
        let state = self.state();
        let refusal = PlanRefusal::State { verb, state };
        match verb {
            PlanVerb::Pause if self.phase == Phase::Finished => return Err(refusal),
            PlanVerb::Pause => {
                self.phase = Phase::Paused;
                self.next_at = None;
            }
            PlanVerb::Resume => match self.phase {
                Phase::Finished => return Err(refusal),
                Phase::Scheduled => {}
                Phase::Paused => self.reopen(now),
                Phase::Error => {
                    self.failures = None;
                    self.reopen(now);
                }
            },
            PlanVerb::Skip(n) => {
                if state != PlanState::Scheduled {
                    return Err(refusal);
                }
                for _ in 0..n {
                    let Some(at) = self.next_at else { break };
                    self.skip(Some(at), now);
                }
            }
            PlanVerb::Run => {
                if let Some(run) = self.unended_runs().find(|run| !run.is_ruled) {
                    return Err(PlanRefusal::Asked(run.task.clone()));
                }
            }
        }
        Ok(self)
    }

    /// Scheduled again: an occurrence that failed is behind it.
    fn reopen(&mut self, now: Timestamp) {
        self.phase = Phase::Scheduled;
        self.finished_at = None;
        self.error = None;
        if self.living.is_none() {
            self.advance(now);
        }
    }

    /// Passes over an occurrence.
    pub(super) fn skip(&mut self, at: Option<Timestamp>, now: Timestamp) {
        self.skipped += 1;
        self.last_state = Some(LastState::Skipped);
        self.position = self.position.after_skip(at, &self.rule);
        self.advance(now);
    }

    /// Computes the next time, if it is scheduled.
    pub(super) fn advance(&mut self, now: Timestamp) {
        self.next_at = None;
        if self.phase != Phase::Scheduled {
            return;
        }
        let next = self.rule.next(self.position, now);
        self.position = next.position;
        self.skipped += next.skipped;
        if next.skipped > 0 && self.real_repet == 0 && self.exec_time.is_none() {
            self.last_state = Some(LastState::Skipped);
        }
        self.next_at = next.at;
        if next.at.is_none() {
            self.phase = Phase::Finished;
            self.finished_at = Some(now);
        }
    }

    /// The times at which it would run next, if every run ended in time. Nothing is to come of a plan
    /// that finished, was paused, or stopped at a failed run.
    pub fn occurrences(&self, now: Timestamp, n: usize) -> Vec<Timestamp> {
        match (self.phase, &self.living) {
            (Phase::Finished | Phase::Paused | Phase::Error, _) => Vec::new(),
            (Phase::Scheduled, Some(run)) if run.is_ruled => {
                self.rule.occurrences(self.position.after_run(run.occurrence()), now, n)
            }
            (Phase::Scheduled, _) => {
                self.rule.occurrences(self.position, self.next_at.unwrap_or(now).min(now), n)
            }
        }
    }
}
