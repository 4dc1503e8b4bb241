//! Events of tasks: pushed, taken, and every change of state. A notice also has events of its own.
//!
//! A release, an edit and a removal make no event. A request to cancel or pause makes none either, until
//! the state changes.

use super::{Announcement, Announcements, PROGRESS, PUB};
use crate::name::WorkerName;
use crate::owner::OwnerRef;
use crate::task::{Decision, Event, Fate, Spec, State, Status, Task, Verb};
use crate::time::{Span, Timestamp};
use crate::trace::TaskSpan;

fn about(kind: &'static str, spec: &Spec, at: Timestamp) -> Announcement {
    Announcement::new(kind, at).in_queue(&spec.queue).about(spec.id.shared())
}

/// A task was pushed, by whomever.
pub fn pushed(spec: &Spec, at: Timestamp) -> Announcement {
    about("task.pushed", spec, at).ending(TaskSpan::push(spec, at))
}

/// Tasks of one queue were pushed together.
pub fn all_pushed<'a>(
    specs: impl IntoIterator<Item = &'a Spec>,
    at: Timestamp,
) -> Option<Announcement> {
    let mut specs = specs.into_iter();
    let first = pushed(specs.next()?, at);
    Some(
        specs.fold(first, |told, spec| {
            told.about(spec.id.shared()).ending(TaskSpan::push(spec, at))
        }),
    )
}

/// Tasks of one queue were handed out to one taker, to be confirmed or not.
pub fn taken<'a>(tasks: impl IntoIterator<Item = &'a Task>, at: Timestamp) -> Option<Announcement> {
    let mut tasks = tasks.into_iter();
    let first = tasks.next()?;
    let worker = first.status.worker.as_ref().map(WorkerName::shared);
    let told = about("task.taken", &first.spec, at).with_some("worker", worker);
    let told = told.taking(waited(&first.status));
    Some(
        tasks.fold(told, |told, task| {
            told.about(task.spec.id.shared()).taking(waited(&task.status))
        }),
    )
}

/// How long a task that was handed out had been ready.
fn waited(status: &Status) -> Option<Span> {
    status.hold.map(|hold| hold.since.since(status.ready_at))
}

/// How long the attempt took that a change ended.
fn lasted(before: &Task, after: &Task) -> Option<Span> {
    let is_over = before.status.hold.is_some() && after.status.hold.is_none();
    let attempt = after.status.history.last().filter(|_| is_over)?;
    Some(attempt.ended_at.since(attempt.at))
}

/// A task is broadcast to whoever listens.
pub fn published(spec: &Spec, at: Timestamp) -> Announcement {
    let plan = match &spec.owner {
        Some(OwnerRef::Plan { reads, .. }) => Some(reads.clone()),
        _ => None,
    };
    Announcement::new(format!("{PUB}{}", spec.queue), at)
        .in_queue(&spec.queue)
        .about(spec.id.shared())
        .with("payload", spec.payload.clone())
        .with_some("plan", plan)
}

/// Announces a decision about a task, after it was written.
pub fn after(
    before: &Task,
    event: &Event,
    decision: &Decision,
    at: Timestamp,
    news: &mut Announcements,
) {
    if decision.fate == Fate::Same {
        return;
    }
    if let Some(kind) = kind(event, &decision.task) {
        news.add(told(kind, before, &decision.task, at));
    }
    if before.spec.notice.is_some() && event.verb() != Verb::Clean {
        notice(before, &decision.task, at, news);
    }
    news.extend(decision.spawn.iter().map(|spec| pushed(spec, at)));
}

/// Returns the name of the event for a change of a task.
fn kind(event: &Event, after: &Task) -> Option<&'static str> {
    let is_expired = || after.status.error.as_deref() == Some("expired");
    match event {
        Event::Edit(_) | Event::Clean | Event::Vote { .. } => None,
        Event::Assign { .. } => Some("task.taken"),
        Event::Confirm { .. } => Some("task.confirmed"),
        Event::Extend { extension, .. } => {
            let says_something = extension.progress.is_some() || extension.message.is_some();
            says_something.then_some(PROGRESS)
        }
        Event::Resume => Some("task.resumed"),
        Event::Retry { .. } | Event::Reset => Some("task.retrying"),
        Event::Expire => Some("task.expired"),
        Event::Settle { .. }
        | Event::Tally { .. }
        | Event::Cancel
        | Event::Pause
        | Event::HoldEnd => match after.status.state {
            State::Done => Some("task.committed"),
            State::Failed if matches!(event, Event::HoldEnd) && is_expired() => {
                Some("task.expired")
            }
            State::Failed => Some("task.failed"),
            State::Cancelled => Some("task.cancelled"),
            State::Paused => Some("task.paused"),
            State::Waiting | State::Ready if event.verb() != Verb::Release => Some("task.retrying"),
            _ => None,
        },
    }
}

/// The state of a task after an event of this name, where that is its end.
pub fn end_of(kind: &str) -> Option<State> {
    match kind {
        "task.committed" => Some(State::Done),
        "task.failed" | "task.expired" => Some(State::Failed),
        "task.cancelled" => Some(State::Cancelled),
        _ => None,
    }
}

fn told(kind: &'static str, before: &Task, after: &Task, at: Timestamp) -> Announcement {
    let holder = before.status.worker.as_ref().filter(|_| before.status.state.is_held());
    let told = about(kind, &before.spec, at).with_some("worker", holder.map(WorkerName::shared));
    let status = &after.status;
    let told = match kind {
        "task.taken" => told.taking(waited(status)),
        _ => match lasted(before, after) {
            Some(span) => told.taking(Some(span)).ending(TaskSpan::attempt(after)),
            None => told,
        },
    };
    match kind {
        PROGRESS => told
            .with_some("progress", status.progress)
            .with_some("message", status.message.as_deref()),
        "task.failed" | "task.retrying" | "task.expired" => {
            let told =
                told.with("attempt", status.attempt).with_some("error", status.error.as_deref());
            told.with_some("due_at", (kind == "task.retrying").then(|| after.due_at()))
        }
        _ => told,
    }
}

/// Announces the outcome of a notice's attempt.
fn notice(before: &Task, after: &Task, at: Timestamp, news: &mut Announcements) {
    let of = |kind| about(kind, &before.spec, at).with("notice_count", after.notice_count());
    let error = after.status.error.as_deref();
    if after.status.notified.count > before.status.notified.count {
        let status = after.status.history.last().and_then(|attempt| attempt.status);
        news.add(of("notice.sent").with("status", status.map(u32::from)).with("error", error));
    }
    if before.status.state.is_finished() {
        return;
    }
    match after.status.state {
        State::Done => news.add(of("notice.succeeded").with("success_id", after.success_id())),
        State::Failed => news.add(of("notice.exhausted").with("error", error)),
        State::Cancelled => news.add(of("notice.cancelled")),
        _ => {}
    }
}
