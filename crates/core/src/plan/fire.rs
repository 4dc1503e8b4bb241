//! The runs that a plan makes: by its rule, or because somebody asks for one besides it.

use serde::Serialize;

use super::run::{Ended, Outcome};
use super::{LastState, Plan, Run};
use crate::calendar::PlanType;
use crate::http::HttpTarget;
use crate::json::RawJson;
use crate::name::{PlanId, QueueName, TaskId};
use crate::owner::OwnerRef;
use crate::queue::{Mode, Settings};
use crate::task::Spec;
use crate::time::{Span, Timestamp};
use crate::trace::TraceParent;

/// How long a run may lie there for workers before somebody is told that none came.
const NO_WORKER_AFTER: Span = Span::from_millis(60_000);

/// A plan that has fallen due.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    /// The plan after it.
    pub plan: Plan,
    /// The run.
    pub run: Run,
    /// Its task; none: its message goes into a bundle, and with that it is done.
    pub task: Option<Spec>,
    /// The result that is kept, where the run is done already.
    pub results: Vec<RawJson>,
    /// How many of the oldest results go.
    pub drop_results: usize,
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
        let by_workers = matches!(queue.mode, Mode::Pull | Mode::Dispatch | Mode::Vote);
        let watch_at = by_workers.then(|| now + NO_WORKER_AFTER);
        let run = if is_ruled {
            self.run(due_at, watch_at)
        } else {
            self.extra += 1;
            self.asked_run(now, watch_at)
        };
        self.exec_time = Some(now);
        if self.living.is_none() {
            self.last_state = Some(LastState::Running);
        }
        if self.order.bundle_key.is_some() {
            let done =
                self.end(&run, &Outcome::Done { worker: None, result: RawJson::null() }, now);
            let Ended { plan, results, drop_results } = done;
            return Fired { plan, run, task: None, results, drop_results };
        }
        let task = self.spec(&run, queue, exec_timeout, now);
        if is_ruled {
            self.next_at = None;
            self.failed = None;
            self.living = Some(run.clone());
        } else {
            self.asked = Some(run.clone());
        }
        Fired { plan: self, run, task: Some(task), results: Vec::new(), drop_results: 0 }
    }

    /// The run of the rule that is due at a time.
    pub(super) fn run(&self, due_at: Timestamp, watch_at: Option<Timestamp>) -> Run {
        self.labelled(self.number.to_string(), due_at, true, watch_at)
    }

    /// A run besides the rule.
    fn asked_run(&self, now: Timestamp, watch_at: Option<Timestamp>) -> Run {
        self.labelled(format!("{}.{}", self.number, self.extra), now, false, watch_at)
    }

    fn labelled(
        &self,
        label: String,
        due_at: Timestamp,
        is_ruled: bool,
        watch_at: Option<Timestamp>,
    ) -> Run {
        let task = TaskId::parse(&format!("{}@{label}", self.id))
            .expect("an id of at most 90 characters leaves room for a number");
        Run { task, label, due_at, is_ruled, is_outdated: false, watch_at }
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
}

impl Fired {
    /// The same with another id for the task, because a task that the plan did not make has the first.
    #[must_use]
    pub fn renamed(mut self, id: TaskId) -> Self {
        for run in self.plan.living.iter_mut().chain(&mut self.plan.asked) {
            if run.task == self.run.task {
                run.task = id.clone();
            }
        }
        if let Some(task) = &mut self.task {
            task.id = id.clone();
        }
        self.run.task = id;
        self
    }

    /// The same for a station that hands tasks to registered workers and has none: nobody will come, and
    /// that is said at once.
    #[must_use]
    pub fn unserved(mut self) -> Self {
        if self.task.is_some() {
            self.run.watch_at = None;
            self.plan = self.plan.watched(&self.run.task, true);
        }
        self
    }
}
