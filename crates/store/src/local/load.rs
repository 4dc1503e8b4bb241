//! Start: the indexes rebuilt from the journal.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use hashbrown::HashMap;
use punctual_core::{Queue, QueueName};

use super::audit::Trail;
use super::group::{ALARMS, Agenda};
use super::holdings::Holdings;
use super::journal::{Journal, JournalError, Table};
use super::memo::{KeyedRequests, Receipts, RecentSpecs};
use super::memory::MemoryJournal;
use super::moves::Moves;
use super::owner_index::OwnerIndex;
use super::readers::Keys;
use super::rows::{
    BirthsRow, Body, KeyedRow, MetaRow, ReceiptRow, StatusRow, missing, packed, put, unpack,
};
use super::shard::{Remains, Shard, entry_of};
use crate::clock::Clock;
use crate::port::StoreError;

/// Where the facts about the store lie.
const META_FACTS: u64 = 1;
/// Where the births lie that may have been given out.
pub(super) const META_BIRTHS: u64 = 2;

impl Shard {
    /// Rebuilds the indexes from a journal.
    pub(super) fn load(
        mut journal: Box<dyn Journal>,
        clock: Arc<dyn Clock>,
        random: [u64; 2],
    ) -> Result<Self, StoreError> {
        let now = clock.now();
        let meta = match journal.get(Table::Meta, META_FACTS)? {
            Some(row) => unpack(Table::Meta, META_FACTS, &row)?,
            None => {
                // Every store has queues, and without these facts none of its tasks is found.
                journal.scan(Table::Queue, &mut |_, _| Err(missing(Table::Meta, META_FACTS)))?;
                let meta = MetaRow { hash_key: random };
                let stored = put(&mut *journal, Table::Meta, META_FACTS, &mut packed(&meta));
                stored.map_err(|error| StoreError::Open(error.to_string()))?;
                meta
            }
        };
        let births = match journal.get(Table::Meta, META_BIRTHS)? {
            Some(row) => unpack(Table::Meta, META_BIRTHS, &row)?,
            None => BirthsRow { last: 0 },
        };
        let mut shard = Self {
            journal,
            now,
            queues: HashMap::new(),
            numbers: HashMap::new(),
            keyed: KeyedRequests::default(),
            recent: RecentSpecs::default(),
            dead: VecDeque::new(),
            owners: OwnerIndex::default(),
            holdings: Holdings::default(),
            bundled: BTreeSet::new(),
            owners_touched: false,
            measures: Arc::default(),
            clock,
            hash_key: meta.hash_key,
            receipts: Receipts::default(),
            audit: Trail::default(),
            last_number: 0,
            last_birth: births.last,
            reserved_births: births.last,
            agenda: Agenda::default(),
            undo: Vec::new(),
            touched: HashMap::new(),
            buffer: Vec::new(),
            moves: Moves::default(),
            tasks: Keys::default(),
        };
        shard.scan()?;
        shard.make_built_in_queues().map_err(|error| StoreError::Open(error.to_string()))?;
        Ok(shard)
    }

    fn scan(&mut self) -> Result<(), StoreError> {
        // The journal is lent out for the scan, so that its rows can be filed as they come.
        let mut journal = std::mem::replace(&mut self.journal, Box::new(MemoryJournal::default()));
        let scanned = self.scan_journal(&mut *journal);
        self.journal = journal;
        scanned
    }

    fn scan_journal(&mut self, journal: &mut dyn Journal) -> Result<(), StoreError> {
        journal.scan(Table::Queue, &mut |key, row| {
            let queue: Queue = unpack(Table::Queue, key, row)?;
            let number = u32::try_from(key).unwrap_or(u32::MAX);
            self.last_number = self.last_number.max(number);
            self.add_index(Arc::new(queue), number);
            Ok(())
        })?;
        journal.scan(Table::Status, &mut |key, row| {
            let row: StatusRow = unpack(Table::Status, key, row)?;
            self.last_birth = self.last_birth.max(key);
            // A number is not used again while rows of a queue that had it are left.
            self.last_number = self.last_number.max(row.queue);
            if matches!(row.body, Body::Task(_)) {
                self.tasks.add(key);
            }
            let now = self.now;
            match self.queues.get_mut(&row.queue) {
                Some(index) => {
                    let entry = entry_of(&row, key, index, &mut self.holdings, now);
                    index.insert(entry, &mut self.holdings);
                }
                None => self.dead.push_back((Remains::Task, key)),
            }
            Ok(())
        })?;
        self.load_owners(journal)?;
        journal.scan(Table::Receipt, &mut |key, row| {
            self.receipts.add(key, unpack::<ReceiptRow>(Table::Receipt, key, row)?);
            Ok(())
        })?;
        journal.scan(Table::Keyed, &mut |key, row| {
            let row: KeyedRow = unpack(Table::Keyed, key, row)?;
            self.keyed.add(key, row.key, row.at);
            Ok(())
        })?;
        journal.scan(Table::Audit, &mut |key, row| {
            self.audit.load(key, unpack(Table::Audit, key, row)?);
            Ok(())
        })?;
        let numbers: Vec<u32> = self.queues.keys().copied().collect();
        for number in numbers {
            self.advance_queue(number, 0);
        }
        self.advance_queue(ALARMS, 0);
        // Nothing has changed: everybody who starts looks for themselves.
        self.holdings.undone();
        Ok(())
    }

    /// Checks that every task has its spec and every spec its task.
    pub(super) fn check_specs(&self, specs: &Keys) -> Result<(), StoreError> {
        if self.tasks == *specs {
            return Ok(());
        }
        let (mut tasks, mut specs) = (BTreeSet::new(), BTreeSet::new());
        let mut reader = self.journal.reader()?;
        reader.scan(Table::Status, &mut |key, row| {
            let row: StatusRow = unpack(Table::Status, key, row)?;
            if matches!(row.body, Body::Task(_)) {
                tasks.insert(key);
            }
            Ok(())
        })?;
        reader.scan(Table::Spec, &mut |key, _| {
            specs.insert(key);
            Ok(())
        })?;
        let lone = tasks.symmetric_difference(&specs).next().copied().unwrap_or_default();
        let place = format!("row {lone}");
        let reason = "tables status and spec do not agree on it".to_owned();
        Err(StoreError::Corrupt { place, reason })
    }

    fn make_built_in_queues(&mut self) -> Result<(), JournalError> {
        for name in QueueName::BUILT_IN {
            let name = QueueName::parse(name).expect("built-in names follow the rule");
            if !self.numbers.contains_key(&name) {
                self.add_queue(name)?;
            }
        }
        self.journal.commit()?;
        self.undo.clear();
        Ok(())
    }
}
