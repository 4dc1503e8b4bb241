//! The runs of a plan: the tasks it makes, and what becomes of it when they end.

use serde::{Deserialize, Serialize};

use super::{LastState, Phase, Plan, Run};
use crate::calendar::PlanType;
use crate::http::HttpTarget;
use crate::json::RawJson;
use crate::name::{PlanId, QueueName, TaskId, WorkerName};
use crate::owner::OwnerRef;
use crate::queue::{Mode, Settings};
use crate::task::{Decision, Event, Fate, Spec, State};
use crate::time::{Span, Timestamp};
use crate::trace::TraceParent;
use crate::vote::Answer;

/// How long a run may lie there for workers before somebody is told that none came.
const NO_WORKER_AFTER: Span = Span::from_millis(60_000);

/// A plan that has fallen due.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    /// The plan after it.
    pub plan: Plan,
    /// Its run; none: its message goes into a bundle, and with that it is done.
    pub task: Option<Spec>,
    /// The result that is kept, where the run is done already.
    pub results: Vec<RawJson>,
    /// How many of the oldest results go.
    pub drop_results: usize,
}

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

/// What is kept of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanResult {
    /// Which run.
    pub run: RawJson,
    /// The time it was due.
    pub plan_time: Timestamp,
    /// Who made it.
    pub worker: Option<WorkerName>,
    /// What it came to.
    pub result: RawJson,
    /// What went wrong.
    pub error: Option<String>,
    /// When it ended.
    pub at: Timestamp,
}

/// What a run tells its worker about the plan.
#[derive(Serialize)]
struct Reads<'a> {
    plan_id: &'a PlanId,
    request_id: &'a Option<String>,
    caller: &'a Option<String>,
    station: &'a QueueName,
    description: &'a Option<String>,
    plan_type: Option<PlanType>,
    plan_value: Option<i64>,
    plan_repet: Option<i64>,
    real_repet: u64,
    plan_time: Timestamp,
    run: RawJson,
}

impl Plan {
    /// Its time has come, or somebody asked for a run besides the rule. `exec_timeout` is the hold of
    /// runs that name none.
    pub fn fire(
        mut self,
        is_ruled: bool,
        queue: &Settings,
        exec_timeout: Option<Span>,
        now: Timestamp,
    ) -> Fired {
        let due_at = self.next_at.filter(|_| is_ruled).unwrap_or(now);
        let label = if is_ruled {
            self.number.to_string()
        } else {
            self.extra += 1;
            format!("{}.{}", self.number, self.extra)
        };
        let name = format!("{}@{label}", self.id);
        let task =
            TaskId::parse(&name).expect("an id of at most 90 characters leaves room for a number");
        let by_workers = matches!(queue.mode, Mode::Pull | Mode::Dispatch | Mode::Vote);
        let watch_at = by_workers.then(|| now + NO_WORKER_AFTER);
        let run = Run { task, label, due_at, is_ruled, is_outdated: false, watch_at };
        self.exec_time = Some(now);
        self.last_state = Some(LastState::Running);
        if self.order.bundle_key.is_some() {
            self.living = Some(run.clone());
            let done =
                self.end(&run, &Outcome::Done { worker: None, result: RawJson::null() }, now);
            let Ended { plan, results, drop_results } = done;
            return Fired { plan, task: None, results, drop_results };
        }
        let task = self.spec(&run, queue, exec_timeout, now);
        if is_ruled {
            self.next_at = None;
            self.failed = None;
        }
        self.living = Some(run);
        Fired { plan: self, task: Some(task), results: Vec::new(), drop_results: 0 }
    }

    fn spec(
        &self,
        run: &Run,
        queue: &Settings,
        exec_timeout: Option<Span>,
        now: Timestamp,
    ) -> Spec {
        let fields = self.rule.fields();
        let reads = RawJson::of(&Reads {
            plan_id: &self.id,
            request_id: &self.order.request_id,
            caller: &self.order.caller,
            station: &self.station,
            description: &self.order.description,
            plan_type: fields.plan_type,
            plan_value: fields.plan_value,
            plan_repet: fields.plan_repet,
            real_repet: self.real_repet,
            plan_time: run.due_at,
            run: run.number(),
        });
        let mut new = self.order.task();
        new.due = Some(run.due_at);
        new.hold = new.hold.or(exec_timeout);
        if queue.mode == Mode::Http {
            new.http = Some(self.announced(new.http.unwrap_or_default(), run));
        }
        let owner = Some(OwnerRef::Plan { id: self.id.clone(), reads });
        // Every run is a story of its own.
        let (station, task) = (self.station.as_str(), run.task.as_str());
        new.trace = Some(TraceParent::root_of(station, task, run.due_at));
        Spec { owner, ..Spec::new(self.station.clone(), new, run.task.clone(), now) }
    }

    /// The target with headers that tell whoever is called which run it is.
    fn announced(&self, mut target: Box<HttpTarget>, run: &Run) -> Box<HttpTarget> {
        target.headers.set("punctual-plan-id", self.id.as_str());
        target.headers.set("punctual-plan-time", &run.due_at.to_string());
        target.headers.set("punctual-plan-run", &run.label);
        target
    }

    /// What a decision about one of its runs makes of the plan. None: it is no living run of it, and
    /// the plan does not hear of it.
    pub fn after(mut self, event: &Event, decision: &Decision, now: Timestamp) -> Option<Ended> {
        let status = &decision.task.status;
        let id = &decision.task.spec.id;
        if matches!(event, Event::Retry { .. }) && self.living.is_none() {
            return self.revived(id);
        }
        let run = self.living.clone().filter(|run| run.task == *id)?;
        let outcome = match status.state {
            State::Done => Outcome::Done {
                worker: status.worker.clone(),
                result: status.result.clone().unwrap_or_default(),
            },
            State::Failed => Outcome::Failed {
                worker: status.worker.clone(),
                error: status.error.clone().unwrap_or_else(|| "failed".to_owned()),
            },
            State::Cancelled => Outcome::Skipped,
            _ if decision.fate == Fate::Remove => Outcome::Skipped,
            _ if status.attempt == 0 => return None,
            _ => {
                // Somebody came for it, so nobody has to be told that nobody does.
                let living = self.living.as_mut().filter(|run| run.watch_at.is_some())?;
                living.watch_at = None;
                return Some(Ended { plan: self, results: Vec::new(), drop_results: 0 });
            }
        };
        let answers = match event {
            Event::Tally { answers, .. } => answers.as_slice(),
            _ => &[],
        };
        Some(self.end_with(&run, &outcome, answers, now))
    }

    /// A failed run is tried again: the plan goes on with it, unless it has gone on without it.
    fn revived(mut self, task: &TaskId) -> Option<Ended> {
        let run = self.failed.take().filter(|run| run.task == *task)?;
        if run.is_ruled {
            self.phase = Phase::Scheduled;
            self.next_at = None;
            self.finished_at = None;
        }
        self.error = None;
        self.last_state = Some(LastState::Running);
        self.living = Some(run);
        Some(Ended { plan: self, results: Vec::new(), drop_results: 0 })
    }

    /// Its living run is gone without a word: its queue was reset or deleted.
    pub fn lost(self, now: Timestamp) -> Ended {
        match self.living.clone() {
            Some(run) => self.end(&run, &Outcome::Skipped, now),
            None => Ended { plan: self, results: Vec::new(), drop_results: 0 },
        }
    }

    /// Its time has come, and its message cannot be pushed: it stands still until somebody resumes it.
    #[must_use]
    pub fn stop(mut self, error: String) -> Self {
        self.position = self.position.after_failure(self.next_at.take());
        if self.phase == Phase::Scheduled {
            self.phase = Phase::Error;
        }
        self.last_state = Some(LastState::Error);
        self.error = Some(error);
        self
    }

    /// It was looked after whether somebody came for its run.
    #[must_use]
    pub fn watched(mut self, nobody_came: bool) -> Self {
        if let Some(run) = &mut self.living {
            run.watch_at = None;
        }
        if nobody_came {
            self.last_state = Some(LastState::NoWorker);
        }
        self
    }

    fn end(self, run: &Run, outcome: &Outcome, now: Timestamp) -> Ended {
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
        self.living = None;
        let at = run.occurrence();
        let mut results: Vec<RawJson> = match answers {
            [] => outcome.result(run, now).into_iter().collect(),
            answers => answers.iter().map(|answer| run.voted(answer, now)).collect(),
        };
        if self.order.keep_results == 0 {
            results.clear();
        }
        match outcome {
            Outcome::Done { .. } => {
                self.last_state = Some(LastState::Ok);
                self.error = None;
                if run.is_ruled {
                    self.real_repet += 1;
                    self.position = self.position.after_run(at);
                    self.next_number();
                    self.advance(now);
                }
            }
            Outcome::Failed { error, .. } => {
                self.last_state = Some(LastState::Error);
                self.error = Some(error.clone());
                if run.is_ruled {
                    self.position = self.position.after_failure(at);
                    self.failed = Some(run.clone());
                    self.next_at = None;
                    if self.phase == Phase::Scheduled {
                        self.phase = Phase::Error;
                    }
                } else if self.failed.as_ref().is_none_or(|failed| !failed.is_ruled) {
                    self.failed = Some(run.clone());
                }
            }
            Outcome::Skipped if run.is_ruled => {
                self.next_number();
                self.skip(at, now);
            }
            Outcome::Skipped => self.last_state = Some(LastState::Skipped),
        }
        let drop_results = self.keep(results.len() as u32);
        Ended { plan: self, results, drop_results }
    }

    fn next_number(&mut self) {
        self.number += 1;
        self.extra = 0;
        self.failed = None;
    }

    /// Counts the results of a run, and says how many of the oldest have to go for them. All of one
    /// run are kept together.
    fn keep(&mut self, more: u32) -> usize {
        self.results += more;
        let over = self.results.saturating_sub(self.order.keep_results.max(more));
        self.results -= over;
        self.results_gone += u64::from(over);
        over as usize
    }
}

/// How a run ended.
enum Outcome {
    Done { worker: Option<WorkerName>, result: RawJson },
    Failed { worker: Option<WorkerName>, error: String },
    Skipped,
}

impl Outcome {
    /// What is kept of it.
    fn result(&self, run: &Run, at: Timestamp) -> Option<RawJson> {
        let (worker, result, error) = match self {
            Self::Done { worker, result } => (worker.clone(), result.clone(), None),
            Self::Failed { worker, error } => {
                (worker.clone(), RawJson::null(), Some(error.clone()))
            }
            Self::Skipped => return None,
        };
        let kept =
            PlanResult { run: run.number(), plan_time: run.due_at, worker, result, error, at };
        Some(RawJson::of(&kept))
    }
}

impl Run {
    /// What is kept of one voter's answer to it.
    fn voted(&self, answer: &Answer, at: Timestamp) -> RawJson {
        RawJson::of(&PlanResult {
            run: self.number(),
            plan_time: self.due_at,
            worker: Some(answer.worker.clone()),
            result: answer.result.clone(),
            error: answer.error.clone(),
            at,
        })
    }

    /// Its number as a program reads it: a number, or a text for one besides the rule.
    pub(crate) fn number(&self) -> RawJson {
        if self.is_ruled { RawJson::stored(&self.label) } else { RawJson::of(&self.label) }
    }
}
