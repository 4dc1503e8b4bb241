//! What was done of late.

use std::collections::VecDeque;

use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

/// The last things that were done, the newest last.
#[derive(Default)]
pub(super) struct Trail {
    entries: VecDeque<AuditEntry>,
    /// How many were forgotten: the number of the first.
    forgotten: usize,
}

impl Trail {
    pub(super) fn add(&mut self, entries: &[AuditEntry]) {
        self.entries.extend(entries.iter().cloned());
        let over = self.entries.len().saturating_sub(AUDIT_ENTRIES_MAX);
        self.entries.drain(..over);
        self.forgotten += over;
    }

    /// Reads a page of entries before a place.
    pub(super) fn page(&self, cursor: Option<&str>, limit: usize) -> Result<AuditPage, StoreError> {
        let end = self.forgotten + self.entries.len();
        let before: usize =
            cursor.map_or(Ok(end), str::parse).map_err(|_| StoreError::BadCursor)?;
        let older = before.min(end).saturating_sub(self.forgotten);
        let first = older.saturating_sub(limit);
        let items = self.entries.range(first..older).rev().cloned().collect();
        let next = (first > 0).then(|| (self.forgotten + first).to_string());
        Ok(AuditPage { items, next })
    }
}
