//! What the port says about pushes: tasks, the request that brings them, and what came of it.

use std::sync::Arc;

use punctual_core::{Keyed, KeyedItem, QueueName, Revision, Spec};

/// Tasks to push into one queue.
#[derive(Debug, Clone)]
pub struct Push {
    /// The queue.
    pub queue: QueueName,
    /// The tasks, checked by `core`.
    pub tasks: Vec<Arc<Spec>>,
    /// The request, where it carries an `Idempotency-Key`.
    pub keyed: Option<Keyed>,
}

/// Why a task was not pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PushRefusal {
    /// A live task has that id, or it is reserved.
    #[error("a task with this id is live, or the id is reserved")]
    Duplicate,
    /// The task there is a run of a plan or a step of a flow.
    #[error("the task with this id belongs to a plan or flow")]
    Owned,
    /// The queue holds its `max`.
    #[error("the queue is full")]
    Full,
}

impl PushRefusal {
    /// Its code in the interface.
    pub fn code(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Owned => "wrong_state",
            Self::Full => "queue_full",
        }
    }
}

/// What came of a push.
#[derive(Debug, Clone, PartialEq)]
pub enum Pushed {
    /// One answer per task.
    Answers(Vec<Result<Revision, PushRefusal>>),
    /// The key was used before with the same request: its answers then.
    Replayed {
        /// The status it was answered with.
        status: u16,
        /// The answers.
        items: Vec<KeyedItem>,
    },
    /// The key was used before with another request.
    KeyReused,
    /// There is no such queue.
    NoQueue,
}
