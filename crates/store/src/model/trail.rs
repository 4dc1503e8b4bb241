//! What was done of late.

use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

/// The last things that were done, each with its number, the newest last.
#[derive(Default)]
pub(super) struct Trail {
    entries: Vec<(usize, AuditEntry)>,
    next: usize,
}

impl Trail {
    pub(super) fn add(&mut self, entries: &[AuditEntry]) {
        for entry in entries {
            self.entries.push((self.next, entry.clone()));
            self.next += 1;
            let is_like =
                |other: &AuditEntry| other.who == entry.who && other.action == entry.action;
            let alike = self.entries.iter().filter(|(_, other)| is_like(other)).count();
            if alike > AUDIT_ENTRIES_MAX
                && let Some(oldest) = self.entries.iter().position(|(_, other)| is_like(other))
            {
                self.entries.remove(oldest);
            }
        }
    }

    /// Reads a page of entries before a place.
    pub(super) fn page(&self, cursor: Option<&str>, limit: usize) -> Result<AuditPage, StoreError> {
        let before: usize =
            cursor.map_or(Ok(self.next), str::parse).map_err(|_| StoreError::BadCursor)?;
        let older = self.entries.partition_point(|(number, _)| *number < before);
        let first = older.saturating_sub(limit);
        let page = &self.entries[first..older];
        let items = page.iter().rev().map(|(_, entry)| entry.clone()).collect();
        let next = page.first().filter(|_| first > 0).map(|(number, _)| number.to_string());
        Ok(AuditPage { items, next })
    }
}
