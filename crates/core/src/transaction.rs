//! Transactions: changes of records that happen together or not at all, and the versions they are fenced on.
//!
//! A store keeps records and answers with their versions. A decision names the version it was made from; a
//! store carries it out only if the record is still that version.

use serde::{Deserialize, Serialize};

use crate::json::RawJson;
use crate::name::{QueueName, TaskId};
use crate::owner::{Owner, OwnerDecision, OwnerKey};
use crate::task::{Decision, Spec, Task};

/// The version of a record, on which a change of it is fenced.
///
/// `birth` is new for every push, so a task pushed again under an old id is another task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision {
    /// Which record: its insertion number.
    pub birth: u64,
    /// How often it has changed.
    pub change: u32,
}

impl Revision {
    /// A version that no record has: a change that expects it is always lost.
    pub const NEVER: Self = Self { birth: 0, change: 0 };
}

/// A task together with the version that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The task.
    pub task: Task,
    /// The version.
    pub revision: Revision,
}

/// An owner together with the version that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredOwner {
    /// The owner's record.
    pub owner: Owner,
    /// The version.
    pub revision: Revision,
}

/// A decision about a task, fenced on the version it was made from.
#[derive(Debug, Clone)]
pub struct Change {
    /// The version the decision was made from.
    pub expected: Revision,
    /// The decision.
    pub decision: Decision,
}

/// A change of one owner, fenced on the version it was decided from.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerChange {
    /// Which owner.
    pub key: OwnerKey,
    /// The version the change was decided from; none: there was no such owner.
    pub expected: Option<Revision>,
    /// The record after the change; none: the owner is removed together with its items.
    pub after: Option<Owner>,
    /// How many items are removed, from the first on, before others are added.
    pub drop_first: usize,
    /// Items that are added at the end.
    pub append: Vec<RawJson>,
}

impl OwnerChange {
    /// Writes a record and leaves its items alone.
    pub fn put(owner: Owner, expected: Option<Revision>) -> Self {
        let (drop_first, append) = (0, Vec::new());
        Self { key: owner.key(), expected, after: Some(owner), drop_first, append }
    }

    /// Removes an owner and its items.
    pub fn remove(key: OwnerKey, expected: Revision) -> Self {
        Self { key, expected: Some(expected), after: None, drop_first: 0, append: Vec::new() }
    }
}

/// A request to be remembered in the same transaction, so that repeating it has no second effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyed {
    /// Hash of access token, path and key.
    pub key: u128,
    /// Hash of the request's body.
    pub request: u128,
    /// The HTTP status it is answered with if it takes effect.
    pub status: u16,
    /// Whether it is remembered only if its one task was pushed.
    pub single: bool,
    /// One answer per item of the request. The store fills in the codes of the tasks it is given,
    /// whose positions here are `positions`.
    pub items: Vec<KeyedItem>,
    /// The positions of a push's tasks in `items`.
    pub positions: Vec<usize>,
}

/// The answer to one item of a keyed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedItem {
    /// The id, if the item had or got one.
    pub id: Option<TaskId>,
    /// The error code, if it was refused.
    pub code: Option<String>,
}

/// Changes that happen together or not at all.
#[derive(Debug, Clone)]
pub enum Transaction {
    /// A decision about one task, and the tasks it makes. The common case: it allocates nothing.
    Task(Change),
    /// Changes of several records.
    Records(Box<Changes>),
}

/// Changes of owners and their tasks that happen together or not at all.
///
/// All of them concern one queue, except for tasks that decisions make elsewhere, such as callbacks. An
/// owner that goes with its queue is made only in a queue that exists, and a plan only if no other queue has
/// one of its id; otherwise the transaction is lost.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Owners to change; each at most once.
    pub owners: Vec<OwnerChange>,
    /// Decisions about tasks.
    pub tasks: Vec<Change>,
    /// Tasks to make after that, as a decision would: never refused for `max`, not made again if the
    /// id is live, in a queue with initial settings if it does not exist. One that has an owner may
    /// replace a finished one that has.
    pub births: Vec<Spec>,
    /// The request, where it carries an `Idempotency-Key`. It is remembered as it is given.
    pub keyed: Option<Keyed>,
}

impl Changes {
    /// Changes one owner, as it was decided.
    pub fn of_owner(key: OwnerKey, expected: Revision, decision: OwnerDecision) -> Self {
        let OwnerDecision { owner: after, drop_first, append, spawn: births } = decision;
        let drop_first = usize::try_from(drop_first).unwrap_or(usize::MAX);
        let owner = OwnerChange { key, expected: Some(expected), after, drop_first, append };
        Self { owners: vec![owner], births, ..Self::default() }
    }

    /// The queue that all of it concerns.
    pub fn queue(&self) -> Option<&QueueName> {
        let owners = self.owners.iter().map(|change| &change.key.queue);
        let tasks = self.tasks.iter().map(|change| &change.decision.task.spec.queue);
        owners.chain(tasks).chain(self.births.iter().map(|spec| &spec.queue)).next()
    }
}

impl From<OwnerChange> for Changes {
    fn from(change: OwnerChange) -> Self {
        Self { owners: vec![change], ..Self::default() }
    }
}

impl From<Changes> for Transaction {
    fn from(changes: Changes) -> Self {
        Self::Records(Box::new(changes))
    }
}

impl From<OwnerChange> for Transaction {
    fn from(change: OwnerChange) -> Self {
        Changes::from(change).into()
    }
}

impl From<Change> for Transaction {
    fn from(change: Change) -> Self {
        Self::Task(change)
    }
}
