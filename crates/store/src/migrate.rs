//! Everything from one store to another, of whatever kinds.
//!
//! ```text
//!   queues ──▶ tasks, queue by queue ──▶ owners with their items ──▶ what is remembered and was done ──▶ compare
//! ```
//!
//! Nobody uses either store meanwhile. Of what is moved a chunk is in memory at a time, and of the largest
//! queue eight bytes per task: tasks keep their order, which is that of their births, but every store gives
//! out births of its own. What was read and what has arrived are summed up, and must be the same.

mod pages;
mod tally;

use punctual_core::{OwnerKind, QueueName};

use self::pages::audit_trail;
pub(crate) use self::pages::{OwnerPages, TaskPages};
pub use self::tally::{Sum, Tally};
use crate::port::{
    Memory, OwnerChange, PutQueue, Remembered, Revision, StoreError, Stored, StoredOwner, Transfer,
    Written,
};

/// Items of an owner that are moved at a time.
const ITEMS: usize = 500;
/// Memories that are moved at a time.
const MEMORIES: usize = 500;

/// Why not everything was moved.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// There is something in the store that everything was to be moved to.
    #[error("the target is not empty: {0}")]
    NotEmpty(String),
    /// Somebody else changes the target.
    #[error("{0} was not put: somebody else uses the target")]
    InUse(String),
    /// What has arrived is not what was there.
    #[error("what arrived is not what was there: {0}; the source is as it was")]
    Differs(String),
    /// A store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fails if a store holds anything but the queues that every store has.
pub async fn require_empty(store: &dyn Transfer) -> Result<(), MigrateError> {
    let names: Vec<QueueName> =
        store.queues().await?.iter().map(|queue| queue.name.clone()).collect();
    if let Some(name) = names.iter().find(|name| !name.is_built_in()) {
        return Err(MigrateError::NotEmpty(format!("there is a queue {name}")));
    }
    for (name, stats) in names.iter().zip(store.stats(&names).await?) {
        if stats.is_some_and(|stats| stats.counts != [0; 10]) {
            return Err(MigrateError::NotEmpty(format!("there are tasks in queue {name}")));
        }
    }
    for kind in OwnerKind::ALL {
        if let Some(page) = OwnerPages::new(store, kind).next().await?
            && let Some(first) = page.first()
        {
            return Err(MigrateError::NotEmpty(format!("there is {}", first.owner.key())));
        }
    }
    if !store.audited(None, 1).await?.items.is_empty() {
        return Err(MigrateError::NotEmpty("it has an audit trail of its own".to_owned()));
    }
    Ok(())
}

/// Moves everything to a store that is empty, and compares. `moved` hears how many records were moved.
pub async fn migrate(
    from: &dyn Transfer,
    to: &dyn Transfer,
    moved: &(dyn Fn(u64) + Sync),
) -> Result<Tally, MigrateError> {
    require_empty(to).await?;
    from.gather().await?;
    let mut migration = Migration { from, to, moved, tally: Tally::default() };
    migration.queues().await?;
    for kind in OwnerKind::ALL {
        migration.owners(kind).await?;
    }
    migration.memories().await?;
    migration.audit().await?;
    let Migration { tally, .. } = migration;
    let mut arrived = Tally::of(to).await?;
    // What is remembered is forgotten by itself; it was counted on its way.
    arrived.take_memories_of(&tally);
    match tally.difference(&arrived) {
        Some(difference) => Err(MigrateError::Differs(difference)),
        None => Ok(tally),
    }
}

struct Migration<'a> {
    from: &'a dyn Transfer,
    to: &'a dyn Transfer,
    moved: &'a (dyn Fn(u64) + Sync),
    tally: Tally,
}

impl Migration<'_> {
    async fn queues(&mut self) -> Result<(), MigrateError> {
        for queue in self.from.queues().await? {
            let before = self.to.queue(&queue.name).await?;
            let put = PutQueue { queue: (*queue).clone(), before };
            if self.to.put_queue(put).await?.is_err() {
                return Err(MigrateError::InUse(format!("queue {}", queue.name)));
            }
            self.tally.add_queue(&queue);
            self.tasks(&queue.name).await?;
            self.memory(Memory::Reserved(queue.name.clone())).await?;
        }
        Ok(())
    }

    async fn tasks(&mut self, queue: &QueueName) -> Result<(), MigrateError> {
        let mut births = Vec::new();
        let mut pages = TaskPages::new(self.from, queue);
        while let Some(page) = pages.next().await? {
            births.extend(page.iter().map(|stored| stored.revision.birth));
        }
        births.sort_unstable();
        // One that became due while this went on was read in both its states.
        births.dedup();
        let first = self.to.reserve_births(queue, births.len() as u64).await?;
        let mut is_read = vec![false; births.len()];
        let mut pages = TaskPages::new(self.from, queue);
        while let Some(page) = pages.next().await? {
            let mut tasks = Vec::with_capacity(page.len());
            for Stored { task, revision } in page {
                let Ok(rank) = births.binary_search(&revision.birth) else {
                    let id = &task.spec.id;
                    let what = format!("task {id} of queue {queue} came while its queue was read");
                    return Err(MigrateError::Differs(what));
                };
                if !std::mem::replace(&mut is_read[rank], true) {
                    self.tally.add_task(&task);
                    let revision = Revision { birth: first + rank as u64, ..revision };
                    tasks.push(Stored { task, revision });
                }
            }
            (self.moved)(tasks.len() as u64);
            self.to.admit(queue, tasks).await?;
        }
        Ok(())
    }

    async fn owners(&mut self, kind: OwnerKind) -> Result<(), MigrateError> {
        let mut pages = OwnerPages::new(self.from, kind);
        while let Some(page) = pages.next().await? {
            let (mut steps, mut counts) = (Vec::new(), Vec::new());
            for StoredOwner { owner, .. } in page {
                self.tally.add_owner(&owner);
                let key = owner.key();
                let append = self.from.items(&key, 0, ITEMS).await?;
                append.iter().for_each(|item| self.tally.add_item(&key, item));
                counts.push(append.len());
                let change =
                    OwnerChange { key, expected: None, after: Some(owner), drop_first: 0, append };
                steps.push(change);
            }
            (self.moved)(steps.len() as u64);
            let writes = steps.iter().cloned().map(Into::into).collect();
            let written = self.to.write(writes).await;
            for ((change, count), written) in steps.into_iter().zip(counts).zip(written) {
                let revision = revision(&change, written?)?;
                if count > 0 {
                    self.more_items(change, count, revision).await?;
                }
            }
        }
        Ok(())
    }

    /// Moves the items of an owner that did not go with it.
    async fn more_items(
        &mut self,
        mut change: OwnerChange,
        mut count: usize,
        mut expected: Revision,
    ) -> Result<(), MigrateError> {
        loop {
            let append = self.from.items(&change.key, count, ITEMS).await?;
            if append.is_empty() {
                return Ok(());
            }
            append.iter().for_each(|item| self.tally.add_item(&change.key, item));
            count += append.len();
            change = OwnerChange { expected: Some(expected), append, ..change };
            let written = self.to.write(vec![change.clone().into()]).await.remove(0);
            expected = revision(&change, written?)?;
        }
    }

    async fn memories(&mut self) -> Result<(), MigrateError> {
        // Stores that forget the oldest first need them in their order, and not all tell them so.
        let mut receipts = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.from.remembered(&Memory::Receipts, cursor).await?;
            for item in page.items {
                if let Remembered::Receipt { at, fingerprint } = item {
                    receipts.push((at, fingerprint));
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        receipts.sort_unstable();
        let receipt =
            |(at, fingerprint): &_| Remembered::Receipt { at: *at, fingerprint: *fingerprint };
        for chunk in receipts.chunks(MEMORIES) {
            self.remember(chunk.iter().map(receipt).collect()).await?;
        }
        self.memory(Memory::Keyed).await
    }

    async fn audit(&mut self) -> Result<(), MigrateError> {
        let trail = audit_trail(self.from).await?;
        self.tally.add_audit(&trail);
        for chunk in trail.chunks(MEMORIES) {
            self.to.audit(chunk).await?;
        }
        Ok(())
    }

    async fn memory(&mut self, memory: Memory) -> Result<(), MigrateError> {
        let mut cursor = None;
        loop {
            let page = self.from.remembered(&memory, cursor).await?;
            for chunk in page.items.chunks(MEMORIES) {
                self.remember(chunk.to_vec()).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    async fn remember(&mut self, items: Vec<Remembered>) -> Result<(), MigrateError> {
        items.iter().for_each(|item| self.tally.add_memory(item));
        Ok(self.to.remember(items).await?)
    }
}

/// The version of an owner that was put.
fn revision(change: &OwnerChange, stepped: Written) -> Result<Revision, MigrateError> {
    let revision = match &stepped {
        Written::Records { owners, .. } => owners.first().copied().flatten(),
        _ => None,
    };
    revision.ok_or_else(|| MigrateError::InUse(change.key.to_string()))
}
