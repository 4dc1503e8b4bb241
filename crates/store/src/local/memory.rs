//! A journal that writes nothing to disk, for `memory:`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::journal::{Journal, JournalError, ReadRows, Table, Visit};
use crate::port::StoreError;

type Rows = BTreeMap<u64, Box<[u8]>>;

/// Rows in memory, shared with their readers.
#[derive(Debug, Clone, Default)]
pub(super) struct MemoryJournal {
    tables: Arc<Mutex<[Rows; Table::ALL.len()]>>,
}

impl MemoryJournal {
    fn with<T>(&self, table: Table, act: impl FnOnce(&mut Rows) -> T) -> T {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut tables[table as usize])
    }
}

impl ReadRows for MemoryJournal {
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.with(table, |rows| rows.get(&key).map(|row| row.to_vec())))
    }

    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.with(table, |rows| rows.iter().try_for_each(|(key, row)| visit(*key, row)))
    }
}

impl Journal for MemoryJournal {
    fn put(&mut self, table: Table, key: u64, row: &[u8]) -> Result<(), JournalError> {
        self.with(table, |rows| rows.insert(key, row.into()));
        Ok(())
    }

    fn remove(&mut self, table: Table, key: u64) -> Result<(), JournalError> {
        self.with(table, |rows| rows.remove(&key));
        Ok(())
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    /// Never called: no write here fails.
    fn roll_back(&mut self) {}

    fn reader(&self) -> Result<Box<dyn ReadRows>, StoreError> {
        Ok(Box::new(self.clone()))
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }

    fn close(&mut self) {}

    fn tidy(&mut self) -> Result<bool, JournalError> {
        Ok(false)
    }
}
