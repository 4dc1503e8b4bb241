//! What was done of late: rows that count up. Of each token and kind the oldest is removed as others come,
//! so that nobody pushes out what somebody else did.

use std::collections::{BTreeSet, VecDeque};

use hashbrown::HashMap;

use super::journal::{JournalError, ReadRows, Table};
use super::rows::{packed, put, unpack};
use super::shard::{Shard, Undo};
use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

/// Who did what.
type Deed = (String, String);

/// The rows there are.
pub(super) struct Trail {
    next: u64,
    rows: BTreeSet<u64>,
    /// The rows of each, the oldest first.
    rings: HashMap<Deed, VecDeque<u64>>,
}

/// A row that was added, and the one that went for it.
pub(super) struct Noted {
    deed: Deed,
    row: u64,
    dropped: Option<u64>,
}

impl Default for Trail {
    fn default() -> Self {
        Self { next: 1, rows: BTreeSet::new(), rings: HashMap::new() }
    }
}

impl Trail {
    /// Adds a row that was read.
    pub(super) fn load(&mut self, row: u64, entry: AuditEntry) {
        self.next = row + 1;
        self.rows.insert(row);
        self.rings.entry((entry.who, entry.action)).or_default().push_back(row);
    }

    /// The row of a new entry, and the one that goes for it.
    fn plan(&self, entry: &AuditEntry) -> Noted {
        let deed = (entry.who.clone(), entry.action.clone());
        let full = self.rings.get(&deed).filter(|ring| ring.len() >= AUDIT_ENTRIES_MAX);
        let dropped = full.and_then(|ring| ring.front().copied());
        Noted { row: self.next, deed, dropped }
    }

    fn add(&mut self, Noted { deed, row, dropped }: &Noted) {
        self.next = row + 1;
        self.rows.insert(*row);
        let ring = self.rings.entry(deed.clone()).or_default();
        ring.push_back(*row);
        if let Some(dropped) = dropped {
            ring.pop_front();
            self.rows.remove(dropped);
        }
    }

    /// Takes back the last entry that was added.
    pub(super) fn undo(&mut self, Noted { deed, row, dropped }: Noted) {
        self.next = row;
        self.rows.remove(&row);
        let ring = self.rings.entry(deed).or_default();
        ring.pop_back();
        if let Some(dropped) = dropped {
            ring.push_front(dropped);
            self.rows.insert(dropped);
        }
    }

    /// The rows of a page before a place, the newest first, and where the next begins.
    pub(super) fn page(&self, before: u64, limit: usize) -> (Vec<u64>, Option<u64>) {
        let mut rows: Vec<u64> = self.rows.range(..before).rev().take(limit + 1).copied().collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().copied().filter(|_| has_more);
        (rows, next)
    }
}

impl Shard {
    /// Notes things that were done.
    pub(super) fn note_done(&mut self, entries: &[AuditEntry]) -> Result<(), JournalError> {
        for entry in entries {
            let noted = self.audit.plan(entry);
            self.audit.add(&noted);
            let (row, dropped) = (noted.row, noted.dropped);
            self.undo.push(Undo::Audit(noted));
            put(&mut *self.journal, Table::Audit, row, &mut packed(entry))?;
            if let Some(dropped) = dropped {
                self.journal.remove(Table::Audit, dropped)?;
            }
        }
        Ok(())
    }
}

/// Reads rows.
pub(super) fn read_page(
    reader: &mut dyn ReadRows,
    (rows, next): (Vec<u64>, Option<u64>),
) -> Result<AuditPage, StoreError> {
    let mut items = Vec::with_capacity(rows.len());
    for (key, row) in rows.iter().zip(reader.get_many(Table::Audit, &rows)?) {
        // One that is missing was over the limit by the time it was read.
        if let Some(row) = row {
            items.push(unpack(Table::Audit, *key, &row)?);
        }
    }
    Ok(AuditPage { items, next: next.map(|next| next.to_string()) })
}
