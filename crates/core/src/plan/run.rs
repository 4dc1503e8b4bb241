//! The ends of a plan's runs, and what they make of it.

use super::result::answers;
use super::{LastState, Phase, Plan, Run};
use crate::json::RawJson;
use crate::name::{TaskId, WorkerName};
use crate::task::{Decision, Event, Fate, State};
use crate::time::Timestamp;
use crate::vote::Answer;

/// What the end of a run makes of its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The plan after it.
    pub plan: Plan,
    /// What is kept of the run: one result, or that of every voter.
    pub results: Vec<RawJson>,
    /// How many of the oldest results go.
    pub drop_results: usize,
}

impl Plan {
    /// What a decision about one of its runs makes of the plan. None: it is no living run of it, and
    /// the plan does not hear of it.
    pub fn after(mut self, event: &Event, decision: &Decision, now: Timestamp) -> Option<Ended> {
        let id = &decision.task.spec.id;
        if matches!(event, Event::Retry { .. })
            && let Some(revived) = self.clone().revived(id)
        {
            return Some(revived);
        }
        let run = self.unended(id)?.clone();
        let Some(outcome) = Outcome::of(decision) else {
            let has_come = decision.task.status.attempt > 0;
            return (has_come && self.somebody_came(id)).then(|| self.into());
        };
        Some(self.end_with(&run, &outcome, answers(event), now))
    }

    /// One of its runs that have not ended: that of the rule, or one that was asked for.
    fn unended(&self, task: &TaskId) -> Option<&Run> {
        self.unended_runs().find(|run| run.task == *task)
    }

    /// Its runs that have not ended.
    pub fn unended_runs(&self) -> impl Iterator<Item = &Run> {
        self.living.iter().chain(&self.asked)
    }

    /// Somebody came for a run, so nobody has to be told that nobody does. False: that was known.
    fn somebody_came(&mut self, task: &TaskId) -> bool {
        let is_shown = self.shows(task);
        let runs = self.living.iter_mut().chain(&mut self.asked);
        let watched = runs.filter(|run| run.task == *task).find_map(|run| run.watch_at.take());
        let was_missed = is_shown && self.last_state == Some(LastState::NoWorker);
        if was_missed {
            self.last_state = Some(LastState::Running);
        }
        was_missed || watched.is_some()
    }

    /// Whether `last_state` is about a run: about one that was asked for only while none of the rule
    /// lives.
    fn shows(&self, task: &TaskId) -> bool {
        self.living.as_ref().is_none_or(|run| run.task == *task)
    }

    /// A failed run is tried again: the plan goes on with it, unless it has gone on without it.
    fn revived(mut self, task: &TaskId) -> Option<Ended> {
        let run = self.failed.take().filter(|run| run.task == *task)?;
        let place = if run.is_ruled { &mut self.living } else { &mut self.asked };
        if place.is_some() {
            return None;
        }
        *place = Some(run.clone());
        if run.is_ruled {
            self.phase = Phase::Scheduled;
            self.next_at = None;
            self.finished_at = None;
            self.error = None;
        }
        if self.shows(task) {
            self.last_state = Some(LastState::Running);
        }
        Some(self.into())
    }

    /// A run is gone without a word: its queue was reset or deleted.
    pub fn lost(self, task: &TaskId, now: Timestamp) -> Ended {
        match self.unended(task).cloned() {
            Some(run) => self.end(&run, &Outcome::Skipped, now),
            None => self.into(),
        }
    }

    /// Its time has come, and its run cannot be made: that is a failed run.
    #[must_use]
    pub fn cannot_fire(self, error: String, now: Timestamp) -> Ended {
        let due_at = self.next_at.unwrap_or(now);
        let run = self.run(due_at, None);
        let mut ended = self.end(&run, &Outcome::Failed { worker: None, error }, now);
        // There is no task that could be tried again.
        ended.plan.failed = None;
        ended
    }

    /// It was looked after whether somebody came for a run.
    #[must_use]
    pub fn watched(mut self, task: &TaskId, nobody_came: bool) -> Self {
        for run in self.living.iter_mut().chain(&mut self.asked) {
            if run.task == *task {
                run.watch_at = None;
            }
        }
        if nobody_came && self.shows(task) {
            self.last_state = Some(LastState::NoWorker);
        }
        self
    }

    pub(super) fn end(self, run: &Run, outcome: &Outcome, now: Timestamp) -> Ended {
        self.end_with(run, outcome, &[], now)
    }

    /// Ends a run. Where workers voted on it, what each of them said is kept.
    fn end_with(
        mut self,
        run: &Run,
        outcome: &Outcome,
        answers: &[Answer],
        now: Timestamp,
    ) -> Ended {
        let is_shown = self.shows(&run.task);
        for place in [&mut self.living, &mut self.asked] {
            place.take_if(|unended| unended.task == run.task);
        }
        if !run.is_ruled {
            return self.end_asked(run, outcome, answers, is_shown, now);
        }
        let at = run.occurrence();
        let mut results = run.results(outcome, answers, now);
        if self.order.keep_results == 0 {
            results.clear();
        }
        match outcome {
            Outcome::Done { .. } => {
                self.last_state = Some(LastState::Ok);
                self.error = None;
                self.failures = None;
                self.go_on(at, now);
            }
            Outcome::Failed { error, .. } => {
                self.last_state = Some(LastState::Error);
                self.error = Some(error.clone());
                if self.count_failure() {
                    self.go_on(at, now);
                } else {
                    self.position = self.position.after_failure(at);
                    self.failed = Some(run.clone());
                    self.next_at = None;
                    if self.phase == Phase::Scheduled {
                        self.phase = Phase::Error;
                    }
                }
            }
            Outcome::Skipped => {
                self.next_number();
                self.skip(at, now);
            }
        }
        let drop_results = self.keep(results.len() as u32);
        Ended { plan: self, results, drop_results }
    }

    /// Ends a run that was asked for besides the rule: its result is kept, and the rule goes on as it
    /// would without it.
    fn end_asked(
        mut self,
        run: &Run,
        outcome: &Outcome,
        answers: &[Answer],
        is_shown: bool,
        now: Timestamp,
    ) -> Ended {
        let mut results = run.results(outcome, answers, now);
        if self.order.keep_results == 0 {
            results.clear();
        }
        let (last_state, error) = match outcome {
            Outcome::Done { .. } => (LastState::Ok, None),
            Outcome::Failed { error, .. } => (LastState::Error, Some(error.clone())),
            Outcome::Skipped => (LastState::Skipped, self.error.clone()),
        };
        if is_shown {
            self.last_state = Some(last_state);
        }
        // The error of a plan that stopped says why it did.
        if is_shown && self.phase != Phase::Error {
            self.error = error;
        }
        let is_failed = matches!(outcome, Outcome::Failed { .. });
        if is_failed && self.failed.as_ref().is_none_or(|failed| !failed.is_ruled) {
            self.failed = Some(run.clone());
        }
        let drop_results = self.keep(results.len() as u32);
        Ended { plan: self, results, drop_results }
    }

    /// The run that was due at `at` counts: on to the next time.
    fn go_on(&mut self, at: Option<Timestamp>, now: Timestamp) {
        self.real_repet += 1;
        self.position = self.position.after_run(at);
        self.next_number();
        self.advance(now);
    }

    fn next_number(&mut self) {
        self.number += 1;
        self.extra = 0;
        self.failed = None;
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Done { worker: Option<WorkerName>, result: RawJson },
    Failed { worker: Option<WorkerName>, error: String },
    Skipped,
}

impl Outcome {
    /// The outcome of a run that a decision ends.
    pub(super) fn of(decision: &Decision) -> Option<Self> {
        let status = &decision.task.status;
        let worker = status.worker.clone();
        match status.state {
            State::Done => {
                Some(Self::Done { worker, result: status.result.clone().unwrap_or_default() })
            }
            State::Failed => {
                let error = status.error.clone().unwrap_or_else(|| "failed".to_owned());
                Some(Self::Failed { worker, error })
            }
            State::Cancelled => Some(Self::Skipped),
            _ => (decision.fate == Fate::Remove).then_some(Self::Skipped),
        }
    }
}

impl From<Plan> for Ended {
    /// Only the plan has changed.
    fn from(plan: Plan) -> Self {
        Self { plan, results: Vec::new(), drop_results: 0 }
    }
}

impl Run {
    /// Its number as a program reads it: a number, or a text for one besides the rule.
    pub(crate) fn number(&self) -> RawJson {
        if self.is_ruled { RawJson::stored(&self.label) } else { RawJson::of(&self.label) }
    }
}
