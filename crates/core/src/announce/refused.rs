//! Events of tasks that could not be made as they were to be: under another id, or not at all.

use super::{Announcement, Announcements, Detail};
use crate::name::{QueueName, TaskId};
use crate::time::Timestamp;

/// A task that somebody else made has the id, so the task is made under another one.
pub fn renamed(
    queue: &QueueName,
    id: &TaskId,
    made_as: &TaskId,
    at: Timestamp,
    news: &mut Announcements,
) {
    let told = Announcement::new("task.refused", at).in_queue(queue).about(id.shared());
    news.add(told.with("made_as", made_as.shared()).with("error", "duplicate"));
}

/// The task cannot be made at all.
pub fn not_made(
    queue: &QueueName,
    id: &TaskId,
    error: &str,
    at: Timestamp,
    news: &mut Announcements,
) {
    let told = Announcement::new("task.refused", at).in_queue(queue).about(id.shared());
    news.add(told.with("made_as", Detail::Null).with("error", error));
}
