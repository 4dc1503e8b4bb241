//! Events of flows: their start and their end.

use super::{Announcement, Announcements};
use crate::flow::{Flow, FlowState};
use crate::time::Timestamp;

/// A flow was made, or what happened to its steps has changed it.
pub fn changed(before: Option<&Flow>, after: &Flow, at: Timestamp, news: &mut Announcements) {
    let about = |kind| Announcement::new(kind, at).about(after.id.shared());
    if before.is_none() {
        news.add(about("flow.started"));
    }
    if before.is_some_and(|before| before.state == after.state) {
        return;
    }
    match after.state {
        FlowState::Done => news.add(about("flow.done")),
        FlowState::Failed => news.add(about("flow.failed")),
        FlowState::Cancelled => news.add(about("flow.cancelled")),
        FlowState::Running | FlowState::Paused | FlowState::Cancelling => {}
    }
}
