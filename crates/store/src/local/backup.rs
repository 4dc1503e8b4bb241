//! A copy of a store that is open, made beside the writer.
//!
//! SQLite writes the copy from one snapshot over a connection of its own; the writer goes on meanwhile, and
//! its log grows until the copy is made. The copy lies in the store's directory, loses its name as soon as
//! it is made, and its space when it was read.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::private;
use super::{FILE, LOG, sqlite, stopped};
use crate::port::{Backup, NoBackup, StoreError};

/// The name of a copy while it is made.
const PART: &str = "backup.part";
/// What is left free on the disk, so that the store can go on.
const RESERVE_BYTES: u64 = 64 << 20;

/// Makes copies, one at a time.
pub(super) struct Copier {
    dir: PathBuf,
    turns: Arc<Semaphore>,
}

impl Copier {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), turns: Arc::new(Semaphore::new(1)) }
    }

    /// Removes what a server left that was stopped while it made a copy.
    pub(super) fn clean(&self) {
        // There usually is none; another that cannot be removed is found when the next is made.
        let _ = std::fs::remove_file(self.dir.join(PART));
    }

    /// Makes a copy.
    pub(super) async fn copy(&self) -> Result<Backup, NoBackup> {
        let turn = self.turns.clone().try_acquire_owned().map_err(|_| NoBackup::UnderWay)?;
        let dir = self.dir.clone();
        // It goes on to its end if nobody waits for it any more, and is dropped then.
        let made = tokio::task::spawn_blocking(move || {
            let copied = copy(&dir);
            if copied.is_err() {
                let _ = std::fs::remove_file(dir.join(PART));
            }
            copied.map(|(file, bytes)| Backup { file, bytes, _turn: turn })
        });
        Ok(made.await.map_err(|_| stopped())??)
    }
}

fn copy(dir: &Path) -> Result<(File, u64), StoreError> {
    let part = dir.join(PART);
    let failed = |what: &dyn std::fmt::Display| {
        StoreError::unavailable(format!("the copy could not be written: {what}"))
    };
    check_space(dir)?;
    let _ = std::fs::remove_file(&part);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(dir.join(FILE), flags).map_err(|error| failed(&error))?;
    private::create(&part).map_err(|error| failed(&error))?;
    let target = part.to_str().ok_or_else(|| failed(&"the path of the store is not UTF-8"))?;
    connection
        .execute("VACUUM INTO ?1", [target])
        .map_err(|error| if sqlite::is_full(&error) { no_space() } else { failed(&error) })?;
    let file = File::open(&part).map_err(|error| failed(&error))?;
    std::fs::remove_file(&part).map_err(|error| failed(&error))?;
    let bytes = file.metadata().map_err(|error| failed(&error))?.len();
    Ok((file, bytes))
}

/// Refuses to begin what would fill the disk: the copy is at most as large as the store.
fn check_space(dir: &Path) -> Result<(), StoreError> {
    let Ok(stat) = rustix::fs::statvfs(dir) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let length = |name| dir.join(name).metadata().map_or(0, |file| file.len());
    if free < (length(FILE) + length(LOG)).saturating_add(RESERVE_BYTES) {
        return Err(no_space());
    }
    Ok(())
}

fn no_space() -> StoreError {
    StoreError::unavailable(
        "there is not enough space for a copy beside the store; free some and try again",
    )
}
