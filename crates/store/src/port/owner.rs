//! What the port says about owners: how they are read, and the steps that change them with their tasks.

use punctual_core::{Owner, OwnerKey, OwnerKind, QueueName, RawJson, Spec};

use super::{Change, Keyed, KeyedItem, Revision};

/// An owner together with the version that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredOwner {
    /// The owner's record.
    pub owner: Owner,
    /// The version.
    pub revision: Revision,
}

/// A change of one owner, fenced on the version it was decided from.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerChange {
    /// Which owner.
    pub key: OwnerKey,
    /// The version the change was decided from; none: there was no such owner.
    pub expected: Option<Revision>,
    /// The record as it shall be; none: the owner goes, and its items with it.
    pub after: Option<Owner>,
    /// How many items go, from the first on, before others are added.
    pub drop_first: usize,
    /// Items that are added at the end.
    pub append: Vec<RawJson>,
}

/// Changes of owners and their tasks that happen together or not at all. All of them concern one
/// queue, but for tasks that decisions make elsewhere, such as callbacks. What goes with a queue is made only in a
/// queue that exists, a plan only if no queue has one of its id; otherwise the step is lost.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Owners to change; each at most once.
    pub owners: Vec<OwnerChange>,
    /// Decisions about tasks, as in a commit.
    pub tasks: Vec<Change>,
    /// Tasks to make after that, as a decision would: never refused for `max`, not made again if the
    /// id is live, in a queue with initial settings if it does not exist. One that has an owner may
    /// replace a finished one that has.
    pub spawn: Vec<Spec>,
    /// The request, where it carries an `Idempotency-Key`. What it remembers is complete as it is.
    pub keyed: Option<Keyed>,
}

impl Step {
    /// The queue that all of it concerns.
    pub(crate) fn queue(&self) -> Option<&QueueName> {
        let owners = self.owners.iter().map(|change| &change.key.queue);
        let tasks = self.tasks.iter().map(|change| &change.decision.task.spec.queue);
        owners.chain(tasks).chain(self.spawn.iter().map(|spec| &spec.queue)).next()
    }
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Stepped {
    /// All of it happened.
    Done {
        /// The versions of the owners after it, in their order; none for one that went.
        owners: Vec<Option<Revision>>,
        /// The versions of the tasks after it, in their order.
        tasks: Vec<Revision>,
    },
    /// Nothing of it happened: a record has changed, came or is gone. Read again.
    Lost,
    /// The key was used before with the same request: its answers then.
    Replayed {
        /// The status it was answered with.
        status: u16,
        /// The answers.
        items: Vec<KeyedItem>,
    },
    /// The key was used before with another request.
    KeyReused,
}

/// A page to read of owners, ordered by queue and name.
#[derive(Debug, Clone)]
pub struct OwnerListing {
    /// Which kind.
    pub kind: OwnerKind,
    /// Only those of this queue.
    pub queue: Option<QueueName>,
    /// Only those whose name begins like this.
    pub prefix: String,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// Most records to read.
    pub limit: usize,
}

/// A page of owners that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerPage {
    /// The owners.
    pub items: Vec<StoredOwner>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}
