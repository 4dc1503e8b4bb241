//! Workers that registered: the queues they serve, what they are capable of, and whether they were
//! heard of lately.

use serde::{Deserialize, Serialize};

use crate::name::{QueueName, WorkerName};
use crate::time::{Span, Timestamp};

/// How long a worker may be silent before it is lost.
pub const SILENCE: Span = Span::from_millis(30_000);

/// How long a lost worker can still be read, for people who wonder what became of it.
const LOST_KEPT: Span = Span::from_millis(24 * 3_600_000);

/// A worker that registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its name.
    pub name: WorkerName,
    /// The queues it serves.
    pub queues: Vec<QueueName>,
    /// What it is capable of.
    pub capabilities: Vec<String>,
    /// Most tasks it holds at once.
    pub capacity: u32,
    /// Which incarnation it is, as it says itself.
    pub session: Option<String>,
    /// Where it stands.
    pub state: WorkerState,
    /// When this incarnation joined.
    pub joined_at: Timestamp,
    /// When it was last heard of, as far as that was written down.
    pub seen_at: Timestamp,
}

/// Where a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    /// It is given tasks.
    Active,
    /// It is given no more tasks and finishes what it has.
    Draining,
    /// It was not heard of for too long. It has nothing, and is kept for people to see.
    Lost,
}

impl Worker {
    /// When the server must look whether it is still there, or that it may be forgotten.
    pub fn alarm_at(&self) -> Timestamp {
        match self.state {
            WorkerState::Active | WorkerState::Draining => self.seen_at + SILENCE,
            WorkerState::Lost => self.seen_at + LOST_KEPT,
        }
    }
}
