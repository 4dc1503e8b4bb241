//! The whole state of an embedded store, as its one writer thread sees it.
//!
//! Every change goes to the indexes and to the journal at once, and leaves a note of how to undo it
//! in memory. [`Shard::finish`] makes a group of changes durable; if the disk is full, the group is
//! undone on both sides.

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hasher;
use std::sync::Arc;

use hashbrown::HashMap;
use punctual_core::queue::Mode;
use punctual_core::{OwnerKey, Queue, QueueName, Settings, State, Status, TaskId};
use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher13To128};

use super::audit::{Noted, Trail};
use super::bucket::Bucket;
use super::group::Agenda;
use super::holdings::{Holdings, NOBODY};
use super::index::{Entry, Kind, NEVER, QueueIndex};
use super::journal::{Journal, JournalError, Table};
use super::memo::{KeyedRequests, Receipts, RecentSpecs};
use super::moves::Moves;
use super::owner_index::{OwnerEntry, OwnerHead, OwnerIndex, Shelves};
use super::readers::Keys;
use super::rows::{Body, KeyedRow, StatusRow, TaskRow, pack, packed, put, unpack};
use crate::clock::{Clock, Instant};
use crate::measure::LocalMeasures;
use crate::port::StoreError;

/// The state of an embedded store.
pub(super) struct Shard {
    pub(super) journal: Box<dyn Journal>,
    /// The time of the current job.
    pub(super) now: Instant,
    pub(super) queues: HashMap<u32, QueueIndex>,
    pub(super) numbers: HashMap<QueueName, u32>,
    pub(super) keyed: KeyedRequests,
    pub(super) recent: RecentSpecs,
    /// Rows of queues and owners that went, still to be removed.
    pub(super) dead: VecDeque<(Remains, u64)>,
    pub(super) owners: OwnerIndex,
    /// Which tasks each worker has.
    pub(super) holdings: Holdings,
    /// Queues whose bundles the current group changed.
    pub(super) bundled: BTreeSet<QueueName>,
    /// Whether the current group changed an owner, or the time of an alarm has come.
    pub(super) owners_touched: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) measures: Arc<LocalMeasures>,
    pub(super) hash_key: [u64; 2],
    pub(super) receipts: Receipts,
    /// The rows of what was done.
    pub(super) audit: Trail,
    pub(super) last_number: u32,
    pub(super) last_birth: u64,
    /// Births up to this one are known on disk to be used.
    pub(super) reserved_births: u64,
    pub(super) agenda: Agenda,
    pub(super) undo: Vec<Undo>,
    /// Queues touched by the current group, and how many tasks it made available in each.
    pub(super) touched: HashMap<u32, usize>,
    pub(super) buffer: Vec<u8>,
    /// What lately moved within its state.
    pub(super) moves: Moves,
    /// The tasks that were there at start.
    pub(super) tasks: Keys,
}

/// What a row that belongs to nobody any more was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Remains {
    Task,
    Owner,
    Item,
}

/// How to take back one change in memory.
pub(super) enum Undo {
    Slot {
        queue: u32,
        slot: u32,
        before: Option<Entry>,
    },
    Bucket {
        queue: u32,
        before: Bucket,
    },
    Record {
        queue: u32,
        before: Arc<Queue>,
    },
    Added {
        queue: u32,
    },
    Removed {
        index: Box<QueueIndex>,
        owners: Shelves,
        dead: usize,
    },
    Swept {
        rows: Vec<(Remains, u64)>,
    },
    Owner {
        key: OwnerKey,
        before: Option<OwnerHead>,
        dropped: Vec<u64>,
        appended: usize,
        dead: usize,
    },
    OwnerGone {
        key: OwnerKey,
        entry: Box<OwnerEntry>,
        dead: usize,
    },
    Keyed,
    Audit(Noted),
}

impl Shard {
    /// Adds a queue with initial settings.
    pub(super) fn add_queue(&mut self, name: QueueName) -> Result<u32, JournalError> {
        let settings = Settings::initial(&name);
        let queue = Queue { name, settings, paused: false, created_at: self.now.wall };
        self.insert_queue(Arc::new(queue))
    }

    /// Adds a queue under a new number.
    pub(super) fn insert_queue(&mut self, queue: Arc<Queue>) -> Result<u32, JournalError> {
        self.last_number += 1;
        let number = self.last_number;
        put(&mut *self.journal, Table::Queue, number.into(), &mut packed(&*queue))?;
        self.add_index(queue, number);
        self.undo.push(Undo::Added { queue: number });
        Ok(number)
    }

    pub(super) fn add_index(&mut self, queue: Arc<Queue>, number: u32) {
        self.numbers.insert(queue.name.clone(), number);
        self.queues.insert(number, QueueIndex::new(queue, number));
        self.touched.entry(number).or_default();
    }

    /// Changes a queue's record.
    pub(super) fn set_queue(&mut self, number: u32, queue: Queue) -> Result<(), JournalError> {
        put(&mut *self.journal, Table::Queue, number.into(), &mut packed(&queue))?;
        let index = self.queues.get_mut(&number).expect("a known number");
        let before = index.set_queue(Arc::new(queue));
        self.undo.push(Undo::Record { queue: number, before });
        // A raised limit or the end of a pause may let tasks go.
        let ready = self.index(number).count(State::Ready);
        self.touch(number, ready as usize);
        Ok(())
    }

    /// Removes a queue with all it holds; its rows are swept later.
    pub(super) fn remove_queue(
        &mut self,
        name: &QueueName,
    ) -> Result<Option<(Arc<Queue>, Bucket)>, JournalError> {
        let Some(&number) = self.numbers.get(name) else { return Ok(None) };
        self.journal.remove(Table::Queue, number.into())?;
        self.numbers.remove(name);
        let index = self.queues.remove(&number).expect("a known number");
        let (queue, bucket) = (Arc::clone(&index.queue), index.bucket);
        index.holdings().for_each(|entry| self.holdings.moved(number, Some(entry), None));
        let births = index.births();
        let (owners, dead) = self.detach_owners(name);
        let dead = dead + births.len();
        self.dead.extend(births.into_iter().map(|birth| (Remains::Task, birth)));
        self.undo.push(Undo::Removed { index: Box::new(index), owners, dead });
        self.touched.entry(number).or_default();
        Ok(Some((queue, bucket)))
    }

    pub(super) fn index(&self, number: u32) -> &QueueIndex {
        &self.queues[&number]
    }

    pub(super) fn index_mut(&mut self, number: u32) -> &mut QueueIndex {
        self.queues.get_mut(&number).expect("a known number")
    }

    /// Marks a queue as changed, with tasks that became available in it.
    pub(super) fn touch(&mut self, number: u32, available: usize) {
        *self.touched.entry(number).or_default() += available;
    }

    /// The birth of the next task, owner, item or move: a number that was never used.
    pub(super) fn next_birth(&mut self) -> u64 {
        self.last_birth += 1;
        self.last_birth
    }

    /// Adds an entry and its status row.
    pub(super) fn insert(
        &mut self,
        number: u32,
        birth: u64,
        row: &StatusRow,
    ) -> Result<(), JournalError> {
        self.put_status(birth, row)?;
        let now = self.now;
        let index = self.queues.get_mut(&number).expect("a known number");
        let entry = entry_of(row, birth, index, &mut self.holdings, now);
        let slot = index.insert(entry, &mut self.holdings);
        self.undo.push(Undo::Slot { queue: number, slot, before: None });
        self.touch(number, available(row, now));
        Ok(())
    }

    /// Changes an entry and its status row.
    pub(super) fn update(
        &mut self,
        number: u32,
        slot: u32,
        row: &StatusRow,
    ) -> Result<(), JournalError> {
        let birth = self.index(number).entry(slot).birth;
        self.put_status(birth, row)?;
        let now = self.now;
        let index = self.queues.get_mut(&number).expect("a known number");
        let held = index.held();
        let mut entry = entry_of(row, birth, index, &mut self.holdings, now);
        let before = *index.entry(slot);
        if entry.is_held() && before.is_held() && entry.at == before.at {
            // The same hold goes on: it was measured on the steady clock when it began.
            entry.timer_at = before.timer_at;
        }
        index.replace(slot, Some(entry), &mut self.holdings);
        // A freed place lets another task go, where places are limited.
        let freed = usize::from(index.held() < held && index.queue.settings.concurrency.is_some());
        self.undo.push(Undo::Slot { queue: number, slot, before: Some(before) });
        if entry.has_moved_from(&before) {
            let version = self.next_birth();
            self.moves.note(version, number, slot, &before);
        }
        self.touch(number, available(row, now) + freed);
        Ok(())
    }

    /// Removes an entry with both its rows.
    pub(super) fn remove(&mut self, number: u32, slot: u32) -> Result<(), JournalError> {
        let entry = *self.index(number).entry(slot);
        self.journal.remove(Table::Status, entry.birth)?;
        if entry.kind != Kind::Reserved {
            self.journal.remove(Table::Spec, entry.birth)?;
        }
        let index = self.queues.get_mut(&number).expect("a known number");
        index.replace(slot, None, &mut self.holdings);
        let freed = entry.is_held() && index.queue.settings.concurrency.is_some();
        self.undo.push(Undo::Slot { queue: number, slot, before: Some(entry) });
        self.touch(number, usize::from(freed));
        Ok(())
    }

    fn put_status(&mut self, birth: u64, row: &StatusRow) -> Result<(), JournalError> {
        pack(row, &mut self.buffer);
        put(&mut *self.journal, Table::Status, birth, &mut self.buffer)
    }

    /// The status row of a slot, read only where the entry does not tell it.
    pub(super) fn row(&mut self, number: u32, slot: u32) -> Result<StatusRow, JournalError> {
        let index = self.index(number);
        let entry = *index.entry(slot);
        if entry.is_plain {
            let at = punctual_core::Timestamp::from_millis(entry.at);
            let mut status = Status::new(at, at);
            status.state = entry.state().unwrap_or(State::Ready);
            return Ok(StatusRow {
                queue: number,
                id: entry.id,
                change: entry.change,
                body: Body::Task(TaskRow {
                    priority: entry.priority,
                    class: index.classes.name(entry.class).to_string(),
                    bytes: entry.bytes,
                    hold: None,
                    max_runtime: None,
                    expires: None,
                    delivers: entry.delivers,
                    status: status.into(),
                }),
            });
        }
        let broken = |error: StoreError| JournalError::Broken(error.to_string());
        let row = self.journal.get(Table::Status, entry.birth).map_err(broken)?;
        let row = row.ok_or_else(|| {
            JournalError::Broken(format!("table status has no row {}", entry.birth))
        })?;
        unpack(Table::Status, entry.birth, &row).map_err(broken)
    }

    pub(super) fn set_bucket(&mut self, number: u32, bucket: Bucket) {
        let before = std::mem::replace(&mut self.index_mut(number).bucket, bucket);
        self.undo.push(Undo::Bucket { queue: number, before });
    }

    pub(super) fn add_keyed(&mut self, row: KeyedRow) -> Result<(), JournalError> {
        let key = self.keyed.next_row();
        put(&mut *self.journal, Table::Keyed, key, &mut packed(&row))?;
        self.keyed.add(key, row.key, row.at);
        self.undo.push(Undo::Keyed);
        Ok(())
    }

    /// Removes rows of queues and owners that are gone.
    pub(super) fn remove_dead(&mut self, limit: usize) -> Result<usize, JournalError> {
        let count = limit.min(self.dead.len());
        for (remains, row) in self.dead.range(..count) {
            let tables: &[Table] = match remains {
                Remains::Task => &[Table::Status, Table::Spec],
                Remains::Owner => &[Table::Owner],
                Remains::Item => &[Table::Item],
            };
            for table in tables {
                self.journal.remove(*table, *row)?;
            }
        }
        let rows = self.dead.drain(..count).collect();
        self.undo.push(Undo::Swept { rows });
        Ok(count)
    }

    pub(super) fn note_receipt(&mut self, fingerprint: u64) {
        self.receipts.note(fingerprint);
    }

    pub(super) fn knows_receipt(&self, fingerprint: u64) -> bool {
        self.receipts.knows(fingerprint)
    }

    /// The hash of an id: 128 keyed bits, which stand for the id in the indexes.
    pub(super) fn hash_id(&self, id: &TaskId) -> [u64; 2] {
        let mut hasher = SipHasher13To128::new_with_keys(self.hash_key[0], self.hash_key[1]);
        hasher.write(id.as_str().as_bytes());
        let hash = hasher.finish128();
        [hash.h1, hash.h2]
    }
}

/// Tasks a row makes available for taking.
fn available(row: &StatusRow, now: Instant) -> usize {
    match &row.body {
        Body::Task(task) => usize::from(task.status.state_at(now.wall) == State::Ready),
        Body::Reserved { .. } => 0,
    }
}

/// The number of a task's holder, if that is kept.
fn holder(status: &Status, queue: &Queue, holdings: &mut Holdings) -> u32 {
    let is_kept = queue.settings.mode == Mode::Dispatch && status.state.is_held();
    match &status.worker {
        Some(worker) if is_kept => holdings.number(worker),
        _ => NOBODY,
    }
}

/// The entry that stands for a row of a queue.
pub(super) fn entry_of(
    row: &StatusRow,
    birth: u64,
    index: &mut QueueIndex,
    holdings: &mut Holdings,
    now: Instant,
) -> Entry {
    let task = match &row.body {
        Body::Reserved { until, .. } => {
            let reserved = Entry::new(row.id, birth, Kind::Reserved);
            return Entry { timer_at: until.as_millis(), change: row.change, ..reserved };
        }
        Body::Task(task) => task,
    };
    let status = &task.status;
    let state = status.state_at(now.wall);
    let at = match status.hold {
        Some(hold) => hold.until,
        None => status.finished_at.unwrap_or(status.ready_at),
    };
    let timer_at = if let Some(hold) = status.hold {
        let left = hold.until.since(now.wall);
        // A wall clock set back while the server was down must not stretch a hold.
        let left = if state == State::Assigned { left } else { left.min(hold.length) };
        now.steady_ms + left.as_millis()
    } else if state.is_finished() {
        status.keep_until.unwrap_or(now.wall).as_millis()
    } else {
        task.expires.filter(|_| status.is_unstarted()).map_or(NEVER, |at| at.as_millis())
    };
    let mut untouched = Status::new(status.ready_at, status.ready_at);
    untouched.state = status.state;
    Entry {
        at: at.as_millis(),
        timer_at,
        change: row.change,
        bytes: task.bytes,
        class: index.classes.number(&task.class),
        holder: holder(status, &index.queue, holdings),
        priority: task.priority,
        delivers: task.delivers,
        is_plain: task.hold.is_none()
            && task.max_runtime.is_none()
            && task.expires.is_none()
            && **status == untouched,
        ..Entry::new(row.id, birth, Kind::Task(state))
    }
}
