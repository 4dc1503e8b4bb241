//! Events of plans: their states, and the end of each run.

use super::{Announcement, Announcements, Detail};
use crate::json::RawJson;
use crate::name::WorkerName;
use crate::plan::{Fired, LastState, Phase, Plan, Run};
use crate::task::{State, Task};
use crate::time::Timestamp;

/// An event of a plan, as listeners know it: by its description and id.
fn about(kind: &'static str, plan: &Plan, at: Timestamp) -> Announcement {
    let order = &plan.order;
    Announcement::new(kind, at)
        .in_queue(&plan.station)
        .about(plan.id.shared())
        .with("topic", order.description.as_deref())
        .with("subtopic", plan.id.shared())
        .with("caller", order.caller.as_deref())
        .with("request_id", order.request_id.as_deref())
}

/// Which run an event is about, and when that was due.
struct RunOf {
    run: RawJson,
    plan_time: Option<Timestamp>,
}

impl RunOf {
    /// The run that lives, or else the one to come.
    fn of(plan: &Plan) -> Self {
        match plan.unended_runs().next() {
            Some(run) => Self::from(run),
            None => Self { run: RawJson::of(&plan.number), plan_time: plan.next_at },
        }
    }

    fn from(run: &Run) -> Self {
        Self { run: run.number(), plan_time: Some(run.due_at) }
    }

    fn tell(&self, told: Announcement) -> Announcement {
        told.with("run", self.run.clone()).with("plan_time", self.plan_time)
    }
}

/// A plan was removed by somebody.
pub fn deleted(plan: &Plan, at: Timestamp) -> Announcement {
    about("plan.deleted", plan, at)
}

/// A plan was made, or somebody or time has changed it.
pub fn changed(before: Option<&Plan>, after: &Plan, at: Timestamp, news: &mut Announcements) {
    let Some(before) = before else {
        news.add(about("plan.created", after, at));
        if after.skipped > 0 {
            news.add(about("plan.skipped", after, at).with("skipped", after.skipped));
        }
        if after.phase == Phase::Finished {
            news.add(about("plan.finished", after, at));
        }
        return;
    };
    if after.skipped > before.skipped {
        news.add(about("plan.skipped", after, at).with("skipped", after.skipped - before.skipped));
    }
    if after.last_state == Some(LastState::NoWorker) && before.last_state != after.last_state {
        news.add(RunOf::of(after).tell(about("plan.no_worker", after, at)));
    }
    match (before.phase, after.phase) {
        (before, after) if before == after => {}
        (_, Phase::Scheduled) => news.add(about("plan.resumed", after, at)),
        (_, Phase::Paused) => news.add(about("plan.paused", after, at)),
        (_, Phase::Finished) => news.add(about("plan.finished", after, at)),
        // Said with the run that failed.
        (_, Phase::Error) => {}
    }
}

/// A plan has fired.
pub fn fired(before: &Plan, fired: &Fired, at: Timestamp, news: &mut Announcements) {
    let run = RunOf::from(&fired.run);
    let task = fired.task.as_ref().map(|task| task.id.shared());
    news.add(run.tell(about("plan.fired", before, at)).with("task", task));
    if fired.task.is_none() {
        let told =
            about("plan.succeeded", before, at).with("content", before.order.message.clone());
        let told = told.with("result", Detail::Null).with("error", Detail::Null);
        news.add(run.tell(told.with("worker", Detail::Null)));
    }
    changed(Some(before), &fired.plan, at, news);
}

/// A run of a plan cannot be made.
pub fn not_fired(before: &Plan, after: &Plan, at: Timestamp, news: &mut Announcements) {
    let told = about("plan.error", after, at).with("content", after.order.message.clone());
    let told = told.with("result", Detail::Null).with("error", after.error.as_deref());
    news.add(RunOf::of(before).tell(told.with("worker", Detail::Null)));
    changed(Some(before), after, at, news);
}

/// Announces the end of a run, and its effect on the plan.
pub(super) fn after(
    before: &Plan,
    after: &Plan,
    task: &Task,
    at: Timestamp,
    news: &mut Announcements,
) {
    let has_ended = |run: &&Run| after.unended_runs().all(|unended| unended.task != run.task);
    match before.unended_runs().find(has_ended) {
        Some(run) => ended(before, after, run, Some(task), at, news),
        None => changed(Some(before), after, at, news),
    }
}

/// A run has ended, or its task is gone without a word.
pub fn ended(
    before: &Plan,
    after: &Plan,
    run: &Run,
    task: Option<&Task>,
    at: Timestamp,
    news: &mut Announcements,
) {
    let status = task.map(|task| &task.status);
    let kind = match status.map(|status| status.state) {
        Some(State::Done) => Some("plan.succeeded"),
        Some(State::Failed) => Some("plan.error"),
        _ => None,
    };
    if let Some(kind) = kind {
        let result = status.and_then(|status| status.result.clone());
        let result = result.filter(|_| kind == "plan.succeeded");
        let worker = status.and_then(|status| status.worker.as_ref());
        let told = about(kind, after, at)
            .with("content", after.order.message.clone())
            .with("result", result)
            .with("error", status.and_then(|status| status.error.as_deref()))
            .with("worker", worker.map(WorkerName::shared));
        news.add(RunOf::from(run).tell(told));
    } else if after.skipped == before.skipped {
        news.add(RunOf::from(run).tell(about("plan.skipped", after, at)));
    }
    changed(Some(before), after, at, news);
}
