//! A task as people read it.

use punctual_client::{Attempt, RawJson, Task, Timestamp};

use crate::output::{bare, or_empty};
use crate::table::record;
use crate::times::when;

/// Times taken, and how often at most.
pub(super) fn attempts(task: &Task) -> String {
    match task.max_attempts {
        -1 => task.attempt.to_string(),
        max => format!("{}/{max}", task.attempt),
    }
}

/// A task, field by field.
pub(super) fn shown(task: &Task) -> String {
    let json = |value: &Option<RawJson>| value.as_ref().map(|json| json.as_str().to_owned());
    let time = |value: Option<Timestamp>| value.map(when);
    let history: Vec<_> = task.history.iter().map(attempted).collect();
    record(vec![
        ("queue", Some(task.queue.clone())),
        ("id", Some(task.id.clone())),
        ("state", Some(task.state.to_string())),
        ("payload", Some(task.payload.as_str().to_owned())),
        ("priority", Some(task.priority.to_string())),
        ("attempt", Some(attempts(task))),
        ("created_at", time(Some(task.created_at))),
        ("due_at", time(Some(task.due_at))),
        ("taken_at", time(task.taken_at)),
        ("hold_until", time(task.hold_until)),
        ("worker", task.worker.clone()),
        ("progress", task.progress.map(|progress| progress.to_string())),
        ("message", task.message.clone()),
        ("checkpoint", json(&task.checkpoint)),
        ("result", json(&task.result)),
        ("error", task.error.clone()),
        ("finished_at", time(task.finished_at)),
        ("tags", Some(task.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("hold", task.hold.as_ref().map(bare)),
        ("retry", task.retry.as_ref().map(bare)),
        ("unique_for", task.unique_for.as_ref().map(bare)),
        ("expires", time(task.expires)),
        ("requires", Some(task.requires.join(", ")).filter(|names| !names.is_empty())),
        ("callback", task.callback.as_ref().map(bare)),
        ("http", task.http.as_ref().map(bare)),
        ("plan", json(&task.plan)),
        ("flow", json(&task.flow)),
        ("history", Some(history.join("\n")).filter(|history| !history.is_empty())),
    ])
}

fn attempted(attempt: &Attempt) -> String {
    let who = or_empty(attempt.worker.as_ref());
    let error = or_empty(attempt.error.as_deref());
    let line = format!("{} {} {who} {error}", attempt.at, bare(&attempt.outcome));
    line.trim_end().to_owned()
}
