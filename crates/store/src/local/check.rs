//! Looks through a store that no server has open.

use std::path::Path;
use std::sync::Arc;

use super::lock::DirectoryLock;
use super::{FILE, LOG, LocalOptions, LocalStore, sqlite};
use crate::clock::SystemClock;
use crate::port::StoreError;

impl LocalStore {
    /// Whether there is a store in a directory.
    pub fn is_at(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    /// Checks the store in a directory: its file page by page, every record by its checksum, and that
    /// each task is there whole. Indexes are made anew from the records by every start, so there is
    /// nothing else to compare. Nothing is changed but what any start would change.
    ///
    /// Fails with what is wrong first, with that there is no store, or that a server has it open.
    pub fn check(dir: &Path) -> Result<(), StoreError> {
        let file = dir.join(FILE);
        if !file.exists() && !dir.join("lock").exists() {
            return Err(StoreError::Open(format!("{}: there is no store", dir.display())));
        }
        let lock = DirectoryLock::acquire(dir)?;
        lock.check_files(&file, &dir.join(LOG))?;
        sqlite::check_pages(&file)?;
        drop(lock);
        let clock = Arc::new(SystemClock::new());
        Self::open(LocalOptions { dir: Some(dir.to_owned()), clock }).map(drop)
    }
}
