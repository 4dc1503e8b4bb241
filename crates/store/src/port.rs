//! The port: what a store must do, atomically.
//!
//! A verb above it is: read, let `core` decide, write; on a lost race read again. A store never
//! decides policy. It keeps records and indexes in step, and answers that something is stale,
//! duplicate, full or unavailable.
//!
//! What every operation has in common:
//! - it takes effect whole, or not at all; where it takes a batch, each item by itself;
//! - an answer means durable, as far as [`Store::durability`] says;
//! - due times and holds are judged by the store's own clock, [`Store::now`];
//! - a record that `core` calls `waiting` is handed out and listed as ready once it is due, without
//!   anybody writing it again.

mod audit;
mod backup;
mod error;
mod event;
mod node;
mod owner;
mod push;
mod take;
mod transfer;

use std::hash::Hasher;
use std::sync::Arc;

use async_trait::async_trait;
use punctual_core::{
    Announcement, OwnerKey, PlanId, Queue, QueueName, RawJson, State, TaskId, Timestamp, Token,
    Verb, WorkerName,
};
use siphasher::sip::SipHasher13;
use tokio::sync::mpsc::UnboundedReceiver;

pub use self::audit::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage};
pub use self::backup::{Backup, NoBackup};
pub use self::error::{Effect, StoreError};
pub use self::event::{Announced, EventId, Heard, Hearing};
pub use self::node::NodeCard;
pub use punctual_core::{
    Change, Changes, Keyed, KeyedItem, OwnerChange, Revision, Stored, StoredOwner, Transaction,
};

pub use self::owner::{OwnerListing, OwnerPage};
pub use self::push::{Push, PushRefusal, Pushed};
pub use self::take::{Classes, Take, Taken, Taker};
pub use self::transfer::{Memories, Memory, Remembered, Transfer};

use crate::inbox::{Inbox, InboxLists};
use crate::measure::Measures;

/// A transaction that lost its race: a record has changed or is gone. Read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

/// The outcome of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The one task it was about has changed, and has this version now.
    Task(Revision),
    /// All records have changed.
    Records {
        /// The versions of the owners after it, in their order; none for one that was removed.
        owners: Vec<Option<Revision>>,
        /// The versions of the tasks after it, in their order.
        tasks: Vec<Revision>,
    },
    /// Nothing of it happened: a record has changed, was made or is gone. Read again.
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

impl Written {
    /// The version of the first task it was about, if it happened.
    pub fn task(&self) -> Result<Revision, Lost> {
        match self {
            Self::Task(revision) => Ok(*revision),
            Self::Records { tasks, .. } => tasks.first().copied().ok_or(Lost),
            Self::Lost | Self::Replayed { .. } | Self::KeyReused => Err(Lost),
        }
    }

    /// Whether the records have changed.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Task(_) | Self::Records { .. })
    }
}

impl From<Result<Revision, Lost>> for Written {
    fn from(committed: Result<Revision, Lost>) -> Self {
        committed.map_or(Self::Lost, Self::Task)
    }
}

/// A settle verb that may have been carried out before.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The task's queue.
    pub queue: QueueName,
    /// The task's id.
    pub id: TaskId,
    /// The token it was settled with.
    pub token: Token,
    /// The verb.
    pub verb: Verb,
}

impl Receipt {
    /// What stands for it where it is remembered. The same in every store.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(&self.queue, &self.id, self.token, self.verb)
    }
}

/// The fingerprint of a receipt by its parts. Its last bits are those of [`place_hash`] of the queue, so that
/// a store that is made of several parts knows where it belongs.
pub(crate) fn fingerprint(queue: &QueueName, id: &TaskId, token: Token, verb: Verb) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    hasher.write(&token.bits().to_be_bytes());
    for part in [queue.as_str(), id.as_str(), verb.name()] {
        hasher.write(part.as_bytes());
        hasher.write_u8(0xff);
    }
    (hasher.finish() << PLACE_BITS) | (place_hash(queue.as_str()) & ((1 << PLACE_BITS) - 1))
}

/// How many bits of a fingerprint say where it belongs.
pub(crate) const PLACE_BITS: u32 = 16;

/// What decides in which part of a store a queue of that name lies.
pub(crate) fn place_hash(name: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A queue to be stored.
#[derive(Debug, Clone)]
pub struct PutQueue {
    /// The queue as it shall be.
    pub queue: Queue,
    /// The queue as it was when the decision was made; none: it did not exist.
    pub before: Option<Arc<Queue>>,
}

/// Why a queue was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutRefusal {
    /// It is not as it was: read again.
    Lost,
    /// Its mode would change while it holds tasks or bundles.
    HoldsTasks,
}

/// What a queue holds. Answered from indexes, never by a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Tasks per state, in the order of [`State::ALL`].
    pub counts: [u64; 10],
    /// Since when the oldest ready task is ready.
    pub oldest_ready_at: Option<Timestamp>,
    /// When the rate limit lets the next task go, if it does not now.
    pub rate_at: Option<Timestamp>,
    /// Its bundles.
    pub bundles: u64,
}

impl QueueStats {
    /// Tasks in one state.
    pub fn count(&self, state: State) -> u64 {
        self.counts[state as usize]
    }

    /// Tasks that have not ended.
    pub fn live(&self) -> u64 {
        State::ALL.into_iter().filter(|s| !s.is_finished()).map(|s| self.count(s)).sum()
    }

    /// Tasks somebody has.
    pub fn held(&self) -> u64 {
        State::ALL.into_iter().filter(|s| s.is_held()).map(|s| self.count(s)).sum()
    }
}

/// A page to read of a queue's tasks.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The queue.
    pub queue: QueueName,
    /// Only these states, each once; they are listed one after the other, in this order.
    pub states: Vec<State>,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// Most records to read.
    pub limit: usize,
    /// The states, all of them finished, are one list in this order, by when each task ended.
    pub sort: Option<Sort>,
}

/// The order of finished tasks, by when they ended, then by birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The one that ended first comes first.
    Oldest,
    /// The one that ended last comes first.
    Newest,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Tasks in the states asked for; ready ones in hand-out order.
    pub items: Vec<Stored>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}

/// Something became possible: whoever waits for it should look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// A queue may have tasks to hand out.
    Ready {
        /// The queue.
        queue: QueueName,
        /// How many, as a hint; at least 1.
        count: usize,
    },
    /// Holds or expiry times have passed: call [`Store::expired`].
    Expired,
    /// Something is to be removed: call [`Store::sweep`].
    Sweep,
    /// The bundles of a queue, or when they are due, have changed: whoever waits for the first that
    /// is due should call [`Store::first_due`] again.
    Bundles {
        /// The queue.
        queue: QueueName,
    },
    /// Owners must be looked after: call [`Store::alarms`].
    Alarms,
    /// What a worker holds has changed, or something was asked of it, as a task of it became
    /// cancelling or pausing: it should look again at [`Store::holdings`], and whoever assigns may
    /// have room.
    Worker {
        /// The worker.
        worker: WorkerName,
    },
    /// Another server that shares the store has opened a vote: who has a voice may wait at this one.
    Vote {
        /// The task's queue.
        queue: QueueName,
        /// The task.
        task: TaskId,
    },
}

/// What a store must do.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The time by the store's clock.
    fn now(&self) -> Timestamp;

    /// In a few words, what an acknowledgement is worth.
    fn durability(&self) -> String;

    /// The name of the kind of store, for people.
    fn kind(&self) -> &'static str;

    /// The stream of wake-ups. There is one; a second call gets one that has ended.
    fn wakeups(&self) -> UnboundedReceiver<Wake>;

    /// The stream of events, its own and those of all servers that share the store. There is one; a
    /// second call gets one that has ended.
    fn hearing(&self) -> Hearing;

    /// Lets events be heard in this order, and says which was the last. Events inform and are no promise:
    /// an error means that some of them may never be heard.
    async fn announce(&self, announcements: &[Announcement]) -> Result<EventId, StoreError>;

    /// Succeeds if reads and writes are possible now.
    async fn health(&self) -> Result<(), StoreError>;

    /// Resolves with the reason when the store has stopped for good and the process must end.
    async fn failed(&self) -> String;

    /// Looks at the clock again, after it was moved, and returns when all that fell due is marked.
    async fn tick(&self) -> Result<(), StoreError>;

    /// Stores a queue, if it is still as it was.
    async fn put_queue(&self, put: PutQueue) -> Result<Result<(), PutRefusal>, StoreError>;

    /// Reads a queue. Cheap: every verb begins with it.
    async fn queue(&self, name: &QueueName) -> Result<Option<Arc<Queue>>, StoreError>;

    /// Reads all queues, by name.
    async fn queues(&self) -> Result<Vec<Arc<Queue>>, StoreError>;

    /// What queues hold, in the order asked; none for one that does not exist.
    async fn stats(&self, names: &[QueueName]) -> Result<Vec<Option<QueueStats>>, StoreError>;

    /// Drops all tasks and bundles of a queue in one step, whatever their state; plans stay. False: no
    /// such queue.
    async fn reset_queue(&self, name: &QueueName) -> Result<bool, StoreError>;

    /// Drops a queue with its tasks and bundles in one step; plans stay. False: no such queue.
    async fn delete_queue(&self, name: &QueueName) -> Result<bool, StoreError>;

    /// Pushes tasks. Each is refused by itself if a live task has its id, the id is reserved, or the
    /// queue holds its `max` (tasks that deliver bundles do not count); it replaces a finished task
    /// that is kept.
    async fn push(&self, push: Push) -> Result<Pushed, StoreError>;

    /// Hands out ready tasks: higher priority first, then by the queue's order; none from a paused
    /// queue, none over its concurrency or rate, none past its expiry, none over a
    /// worker's capacity, and per taker at most 16 MiB of payloads and checkpoints (at least one task). Each record is taken with [`punctual_core::Status::take`].
    async fn take(&self, take: Take) -> Result<Taken, StoreError>;

    /// How many tasks each of these workers holds, in their order: tasks of queues of mode dispatch
    /// that it was given and has not settled. Answered from an index, never by a scan.
    async fn loads(&self, workers: &[WorkerName]) -> Result<Vec<usize>, StoreError>;

    /// The tasks a worker holds, as [`Store::loads`] counts them, in no order.
    async fn holdings(&self, worker: &WorkerName) -> Result<Vec<(QueueName, TaskId)>, StoreError>;

    /// Carries out transactions in any order, each whole or not at all, each answered by itself; an error
    /// concerns only its own transaction. Each happens if every record is still the expected version, and no
    /// worker gets more than a decision's `capacity` by it. Tasks it makes are never refused for `max`; one
    /// whose id is live already is not made again; one whose queue does not exist gets a queue with initial
    /// settings.
    async fn write(&self, transactions: Vec<Transaction>) -> Vec<Result<Written, StoreError>>;

    /// Carries out one transaction.
    async fn write_one(&self, transaction: Transaction) -> Result<Written, StoreError> {
        self.write(vec![transaction]).await.pop().unwrap_or(Ok(Written::Lost))
    }

    /// Removes tasks, whatever their state. False: no such task.
    async fn remove(&self, queue: &QueueName, ids: &[TaskId]) -> Result<Vec<bool>, StoreError>;

    /// Reads tasks, in the order asked; none for one that does not exist.
    async fn read(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<Option<Stored>>, StoreError>;

    /// Reads a page of a queue's tasks. What stays in its state throughout is listed exactly once,
    /// where it stood when the first page was read. For that a store remembers what has moved since: at
    /// least the last 10,000 moves, for an hour or until it is stopped.
    async fn list(&self, listing: Listing) -> Result<Page, StoreError>;

    /// Whether settle verbs were carried out before, as far as that is remembered: 10 minutes, and
    /// the last 1,000,000.
    async fn settled(&self, receipts: &[Receipt]) -> Result<Vec<bool>, StoreError>;

    /// Tasks whose hold has ended or that were not started in time, as many as `limit`. They stay
    /// here until a commit changes them.
    async fn expired(&self, limit: usize) -> Result<Vec<Stored>, StoreError>;

    /// Reads owners, in the order asked; none for one that does not exist.
    async fn owners(&self, keys: &[OwnerKey]) -> Result<Vec<Option<StoredOwner>>, StoreError>;

    /// Reads items of an owner from `from` on, in their order: at most `limit`, and at most 16 MiB
    /// of them (at least one, if there is one).
    async fn items(
        &self,
        key: &OwnerKey,
        from: usize,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError>;

    /// Reads a page of owners, a short one where they are large: about 8 MiB is enough. What is
    /// there throughout is listed exactly once.
    async fn list_owners(&self, listing: OwnerListing) -> Result<OwnerPage, StoreError>;

    /// Reads a page of the plans that wait for a time, the soonest first, a short one where they are
    /// large. What waits for the same time throughout is listed exactly once.
    async fn timed_plans(
        &self,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError>;

    /// The queue a plan belongs to; none: no such plan.
    async fn station(&self, plan: &PlanId) -> Result<Option<QueueName>, StoreError>;

    /// The owner of a queue that is due first by [`punctual_core::Owner::due_at`], by name where several are, whether
    /// or not it is due yet.
    async fn first_due(&self, queue: &QueueName) -> Result<Option<StoredOwner>, StoreError>;

    /// Owners whose [`punctual_core::Owner::alarm_at`] has come, the earliest first, as many as `limit`. They stay
    /// here until a step changes them.
    async fn alarms(&self, limit: usize) -> Result<Vec<StoredOwner>, StoreError>;

    /// Removes what is no longer to be kept: finished tasks past their time, reservations that have
    /// ended, leftovers of owners that went and of queues that were reset or deleted. At most about `limit` records; true
    /// if there is more to do.
    async fn sweep(&self, limit: usize) -> Result<bool, StoreError>;

    /// Tells all servers that share the store that one is there. An hour after it last did so it is
    /// forgotten. A store that no two servers share has nobody to tell.
    async fn attend(&self, _card: &NodeCard) -> Result<(), StoreError> {
        Ok(())
    }

    /// Tells them that a server has ended.
    async fn leave(&self, _id: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// The servers that share the store, as they last said, in no order.
    async fn nodes(&self) -> Result<Vec<NodeCard>, StoreError> {
        Ok(Vec::new())
    }

    /// Notes things that were done, in their order. The last [`AUDIT_ENTRIES_MAX`] of each token and kind
    /// are kept.
    async fn audit(&self, entries: &[AuditEntry]) -> Result<(), StoreError>;

    /// Reads what was done, by whichever server, the newest first.
    async fn audited(&self, cursor: Option<String>, limit: usize) -> Result<AuditPage, StoreError>;

    /// About how many bytes it takes where it keeps its records, if that can be told.
    async fn bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Whether no other server can be using it, so that what one held is held by nobody when another
    /// starts.
    fn is_exclusive(&self) -> bool {
        false
    }

    /// What it measures of itself.
    fn measures(&self) -> Measures {
        Measures::None
    }

    /// Whether the records of both queues lie in one place, so that one step can change both.
    fn shares_place(&self, _a: &QueueName, _b: &QueueName) -> bool {
        true
    }

    /// Makes a copy of all there is at one moment, while everything goes on. One at a time.
    async fn backup(&self) -> Result<Backup, NoBackup> {
        Err(NoBackup::Unsupported(
            "the server copies only the embedded store; use Redis's own backup, or stop the servers and \
             copy the store to a directory with punctual migrate",
        ))
    }

    /// The inbox over two lists beside this store. An error: it has none, or not by these names.
    fn inbox(&self, _lists: InboxLists) -> Result<Arc<dyn Inbox>, StoreError> {
        Err(StoreError::Open("notices.list: only a Redis store has lists".to_owned()))
    }
}
