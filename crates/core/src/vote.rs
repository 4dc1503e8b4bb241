//! Votes: one task, an answer from every worker that was registered when it started.
//!
//! A vote lies beside its task, which is `running` without a holder of its own. Each voter has a
//! ballot with its own token, time to confirm and hold. Answers are the vote's items, so that one more
//! does not rewrite the others; the last one ends the task.

use serde::{Deserialize, Serialize};

use crate::name::{QueueName, TaskId, WorkerName};
use crate::time::{Span, Timestamp};
use crate::token::Token;

/// A vote under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The task's queue.
    pub queue: QueueName,
    /// The task.
    pub task: TaskId,
    /// One per voter.
    pub ballots: Vec<Ballot>,
}

/// What one voter has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ballot {
    /// The voter.
    pub worker: WorkerName,
    /// Its token.
    pub token: Token,
    /// The length of its hold once it has confirmed.
    pub hold: Span,
    /// Where it stands.
    pub state: BallotState,
}

/// Where a ballot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BallotState {
    /// Handed out, not confirmed.
    Assigned {
        /// When the time to confirm ends.
        until: Timestamp,
    },
    /// Confirmed.
    Running {
        /// When the hold ends.
        until: Timestamp,
    },
    /// Answered, or given up: it counts null.
    Over,
}

impl Vote {
    /// When the first of its ballots runs out.
    pub fn alarm_at(&self) -> Option<Timestamp> {
        let until = |ballot: &Ballot| match ballot.state {
            BallotState::Assigned { until } | BallotState::Running { until } => Some(until),
            BallotState::Over => None,
        };
        self.ballots.iter().filter_map(until).min()
    }
}
