//! What was done of late: rows that count up, the oldest removed as others come.

use std::ops::Range;

use super::journal::{JournalError, ReadRows, Table};
use super::rows::{packed, put, unpack};
use super::shard::{Shard, Undo};
use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

impl Shard {
    /// Notes things that were done.
    pub(super) fn note_done(&mut self, entries: &[AuditEntry]) -> Result<(), JournalError> {
        self.undo.push(Undo::Audit { before: self.audit.clone() });
        for entry in entries {
            put(&mut *self.journal, Table::Audit, self.audit.end, &mut packed(entry))?;
            self.audit.end += 1;
            if self.audit.end - self.audit.start > AUDIT_ENTRIES_MAX as u64 {
                self.journal.remove(Table::Audit, self.audit.start)?;
                self.audit.start += 1;
            }
        }
        Ok(())
    }
}

/// Reads a page of the rows there are: those before a place, the newest first.
pub(super) fn read_page(
    reader: &mut dyn ReadRows,
    rows: Range<u64>,
    before: u64,
    limit: usize,
) -> Result<AuditPage, StoreError> {
    let end = rows.end.min(before);
    let first = end.saturating_sub(limit as u64).max(rows.start);
    let keys: Vec<u64> = (first..end).rev().collect();
    let mut items = Vec::with_capacity(keys.len());
    for (key, row) in keys.iter().zip(reader.get_many(Table::Audit, &keys)?) {
        // One that is missing was over the limit by the time it was read.
        if let Some(row) = row {
            items.push(unpack(Table::Audit, *key, &row)?);
        }
    }
    Ok(AuditPage { items, next: (first > rows.start).then(|| first.to_string()) })
}
