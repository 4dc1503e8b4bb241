//! What the port says about takes: who takes, what may be handed out, and what was.

use std::sync::Arc;

use punctual_core::{QueueName, Seed, Span, Timestamp, WorkerName};

use super::Stored;

/// A take from one queue on behalf of one or more takers, served in their order.
#[derive(Debug, Clone)]
pub struct Take {
    /// The queue.
    pub queue: QueueName,
    /// What these takers can serve, all together.
    pub classes: Classes,
    /// Who takes, and how much.
    pub takers: Vec<Taker>,
}

/// How many tasks of each lane class a take may hand out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// Of these classes, so many each.
    pub named: Vec<(Arc<str>, usize)>,
    /// Of every other class, so many each.
    pub others: usize,
    /// Only classes all of whose capabilities are among these, and the one that asks for none; none
    /// given: all classes.
    pub covered_by: Option<Arc<[Arc<str>]>>,
}

impl Classes {
    /// As many as there are, of every class.
    pub fn all() -> Self {
        Self { named: Vec::new(), others: usize::MAX, covered_by: None }
    }

    /// As many as there are, of every class that asks for no more than these capabilities.
    pub fn covered_by<C: Into<Arc<str>>>(capabilities: impl IntoIterator<Item = C>) -> Self {
        Self { covered_by: Some(capabilities.into_iter().map(Into::into).collect()), ..Self::all() }
    }

    /// Whether all that a class asks for is there. It is the sorted capabilities a task requires, as
    /// [`punctual_core::Spec::lane_class`] writes them.
    pub fn covers(&self, class: &str) -> bool {
        let Some(capabilities) = &self.covered_by else { return true };
        class.is_empty()
            || class.split('\n').all(|asked| capabilities.iter().any(|there| **there == *asked))
    }

    /// How many of a class.
    pub fn room(&self, class: &str) -> usize {
        if !self.covers(class) {
            return 0;
        }
        let named = self.named.iter().find(|(name, _)| **name == *class);
        named.map_or(self.others, |(_, room)| *room)
    }
}

/// One taker of a take.
#[derive(Debug, Clone)]
pub struct Taker {
    /// Where the tokens come from; a repeated call with one seed hands out nothing twice.
    pub seed: Seed,
    /// Its name.
    pub worker: Option<WorkerName>,
    /// How many tasks at most.
    pub n: usize,
    /// The hold it asks for, instead of the task's or queue's.
    pub hold: Option<Span>,
    /// Whether it will confirm.
    pub confirm: bool,
    /// Most tasks of queues of mode dispatch that its worker may hold in all; none beyond that are
    /// handed to it.
    pub capacity: Option<usize>,
}

/// What a take handed out.
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    /// There is no such queue.
    NoQueue,
    /// What each taker got.
    Tasks {
        /// Per taker, in their order.
        per_taker: Vec<Vec<Stored>>,
        /// When the rate limit lets the next task go, if that is what stopped the take.
        again_at: Option<Timestamp>,
        /// Classes with more ready tasks than the take had room for, in no order: those that were
        /// named, and those it handed out from.
        left_out: Vec<Arc<str>>,
    },
}
