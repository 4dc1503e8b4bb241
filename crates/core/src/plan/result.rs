//! The results of runs that a plan keeps.

use serde::{Deserialize, Serialize};

use super::run::{Ended, Outcome};
use super::{Plan, Run};
use crate::json::RawJson;
use crate::name::WorkerName;
use crate::owner::OwnerRef;
use crate::task::{Decision, Event, State, Task};
use crate::time::Timestamp;
use crate::vote::Answer;

/// The kept result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanResult {
    /// The number of the run.
    pub run: RawJson,
    /// The time it was due.
    pub plan_time: Timestamp,
    /// The worker that executed it.
    pub worker: Option<WorkerName>,
    /// The result.
    pub result: RawJson,
    /// The error.
    pub error: Option<String>,
    /// When it ended.
    pub at: Timestamp,
}

/// Names a run: its number and its time, as its task tells them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RunName {
    run: RawJson,
    plan_time: Timestamp,
}

impl RunName {
    /// The run that a task is, if it is one.
    fn of(task: &Task) -> Option<Self> {
        match &task.spec.owner {
            Some(OwnerRef::Plan { reads, .. }) => serde_json::from_str(reads.as_str()).ok(),
            _ => None,
        }
    }

    fn is_of(&self, result: &RawJson) -> bool {
        serde_json::from_str::<Self>(result.as_str()).is_ok_and(|name| name == *self)
    }

    /// The results of an outcome: one, or one of each voter.
    fn results(&self, outcome: &Outcome, answers: &[Answer], at: Timestamp) -> Vec<RawJson> {
        let result = |worker, result, error| {
            let (run, plan_time) = (self.run.clone(), self.plan_time);
            RawJson::of(&PlanResult { run, plan_time, worker, result, error, at })
        };
        if !answers.is_empty() {
            let voted = |answer: &Answer| {
                let Answer { worker, result: said, error, .. } = answer.clone();
                result(Some(worker), said, error)
            };
            return answers.iter().map(voted).collect();
        }
        match outcome.clone() {
            Outcome::Done { worker, result: said } => vec![result(worker, said, None)],
            Outcome::Failed { worker, error } => {
                vec![result(worker, RawJson::null(), Some(error))]
            }
            Outcome::Skipped => Vec::new(),
        }
    }
}

impl Run {
    /// Its results.
    pub(super) fn results(
        &self,
        outcome: &Outcome,
        answers: &[Answer],
        at: Timestamp,
    ) -> Vec<RawJson> {
        RunName { run: self.number(), plan_time: self.due_at }.results(outcome, answers, at)
    }
}

impl Plan {
    /// Whether a decision ends a run that failed before and that the plan has gone past. Only its kept
    /// result changes then, see [`Plan::amend`].
    pub fn is_past(&self, event: &Event, decision: &Decision) -> bool {
        let Task { spec, status } = &decision.task;
        matches!(status.state, State::Done | State::Failed)
            && !matches!(event, Event::Clean)
            && self.results > 0
            && !self.unended_runs().any(|run| run.task == spec.id)
            // A plan of the same id that was deleted may have made it.
            && spec.created_at >= self.created_at
    }

    /// Replaces the result of such a run. `kept` are all results of the plan; if there are more than can
    /// be read at once, the new one is added at the end.
    pub fn amend(
        mut self,
        kept: Vec<RawJson>,
        event: &Event,
        decision: &Decision,
        now: Timestamp,
    ) -> Option<Ended> {
        let name = RunName::of(&decision.task)?;
        let outcome = Outcome::of(decision)?;
        let new = name.results(&outcome, answers(event), now);
        if kept.len() < self.results as usize {
            let drop_results = self.keep(new.len() as u32);
            return Some(Ended { plan: self, results: new, drop_results });
        }
        let place = kept.iter().position(|result| name.is_of(result))?;
        let drop_results = kept.len();
        let mut results: Vec<RawJson> =
            kept.into_iter().filter(|result| !name.is_of(result)).collect();
        results.splice(place..place, new);
        self.results = results.len() as u32;
        Some(Ended { plan: self, results, drop_results })
    }

    /// Counts the results of a run, and says how many of the oldest have to go for them. All of one
    /// run are kept together.
    pub(super) fn keep(&mut self, more: u32) -> usize {
        self.results += more;
        let over = self.results.saturating_sub(self.order.keep_results.max(more));
        self.results -= over;
        self.results_gone += u64::from(over);
        over as usize
    }
}

/// The answers of voters, where an event counts them.
pub(super) fn answers(event: &Event) -> &[Answer] {
    match event {
        Event::Tally { answers, .. } => answers,
        _ => &[],
    }
}
