//! Events of workers: they join, drain, leave or are lost.

use super::Announcement;
use crate::time::Timestamp;
use crate::worker::{Worker, WorkerState};

/// A worker has changed. One that was lost goes without a word when it is forgotten.
pub fn changed(
    before: Option<&Worker>,
    after: Option<&Worker>,
    at: Timestamp,
) -> Option<Announcement> {
    let worker = after.or(before)?;
    let was = before.map(|worker| worker.state).filter(|state| *state != WorkerState::Lost);
    let is_same = match (before, after) {
        (Some(before), Some(after)) => before.session == after.session,
        _ => false,
    };
    let kind = match (was, after.map(|worker| worker.state)) {
        (Some(_), None) => "worker.left",
        (Some(_), Some(WorkerState::Lost)) => "worker.lost",
        (None, Some(WorkerState::Active)) => "worker.joined",
        (Some(_), Some(WorkerState::Active)) if !is_same => "worker.joined",
        (Some(WorkerState::Active), Some(WorkerState::Draining)) => "worker.draining",
        _ => return None,
    };
    let told = Announcement::new(kind, at).in_queues(&worker.queues).about(worker.name.shared());
    Some(told.with_some("session", worker.session.as_deref()))
}
