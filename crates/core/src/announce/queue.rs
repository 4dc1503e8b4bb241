//! What queues announce: that they are no longer as they were.

use strum::IntoStaticStr;

use super::Announcement;
use crate::name::QueueName;
use crate::time::Timestamp;

/// What was done to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Change {
    /// It was made.
    Created,
    /// Its settings were changed.
    Settings,
    /// It hands out nothing any more.
    Paused,
    /// It hands out tasks again.
    Resumed,
    /// All it held was dropped.
    Reset,
    /// It is gone.
    Deleted,
}

/// Something was done to a queue.
pub fn changed(queue: &QueueName, change: Change, at: Timestamp) -> Announcement {
    Announcement::new("queue.changed", at)
        .in_queue(queue)
        .about(queue.shared())
        .with("change", <&str>::from(change))
}
