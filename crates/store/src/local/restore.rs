//! The way back from a backup: what a file holds, and how it becomes a store.
//!
//! Tokens never come back to life. Who held a task when the backup was made may have lost it since to
//! another, so in a store that was restored every hold is over, and nobody has a token for it.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use punctual_core::{Owner, OwnerKind, Queue, Seed, Timestamp};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;

use super::journal::{Journal, JournalError, ReadRows, Table};
use super::lock::{DirectoryLock, Note};
use super::private;
use super::rows::{Body, OwnerRow, StatusRow, check, packed, put, unpack};
use super::sqlite::{self, SqliteJournal};
use super::{FILE, LOG};
use crate::port::StoreError;

/// The name of a file that is not a store yet.
const PART: &str = "punctual.db.part";
/// All files of a store but its lock: its own, and where a server started with `--dev` notes its clock.
const FILES: [&str; 4] = [FILE, LOG, "punctual.db-shm", "dev-clock"];

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Contents {
    /// Queues, the built-in ones included.
    pub queues: u64,
    /// Tasks in any state.
    pub tasks: u64,
    /// Those of them that somebody held.
    pub held: u64,
    /// Bundles.
    pub bundles: u64,
    /// Plans.
    pub plans: u64,
    /// Flows.
    pub flows: u64,
    /// Workers that had registered.
    pub workers: u64,
}

/// What came of a restore.
#[derive(Debug)]
pub struct Restored {
    /// What the store holds now.
    pub contents: Contents,
    /// Where what was there before lies now, if anything was.
    pub aside: Option<PathBuf>,
}

impl Contents {
    /// Reads a backup from its first page to its last, and says what it holds. Fails with what is wrong
    /// with it first.
    pub fn of(file: &Path) -> Result<Self, StoreError> {
        if !file.exists() {
            return Err(StoreError::Open(format!("{}: there is no such file", file.display())));
        }
        let place = |error| match error {
            StoreError::Corrupt { place, reason } => {
                StoreError::Corrupt { place: format!("{}: {place}", file.display()), reason }
            }
            error => error,
        };
        sqlite::check_backup(file)?;
        let mut reader = reader(file)?;
        Self::count(&mut *reader).map_err(place)
    }

    fn count(reader: &mut dyn ReadRows) -> Result<Self, StoreError> {
        let mut contents = Self::default();
        let mut numbers = hashbrown::HashSet::new();
        reader.scan(Table::Queue, &mut |key, row| {
            unpack::<Queue>(Table::Queue, key, row)?;
            numbers.insert(key);
            Ok(())
        })?;
        contents.queues = numbers.len() as u64;
        reader.scan(Table::Status, &mut |key, row| {
            let row: StatusRow = unpack(Table::Status, key, row)?;
            // What is left of a queue that was deleted is no task.
            if let Body::Task(task) = row.body
                && numbers.contains(&u64::from(row.queue))
            {
                contents.tasks += 1;
                contents.held += u64::from(task.status.hold.is_some());
            }
            Ok(())
        })?;
        reader.scan(Table::Owner, &mut |key, row| {
            let row: OwnerRow = unpack(Table::Owner, key, row)?;
            if row.queue.is_some_and(|number| !numbers.contains(&u64::from(number))) {
                return Ok(());
            }
            match row.owner.key().kind {
                OwnerKind::Bundle => contents.bundles += 1,
                OwnerKind::Plan => contents.plans += 1,
                OwnerKind::Flow => contents.flows += 1,
                OwnerKind::Worker => contents.workers += 1,
                OwnerKind::Step | OwnerKind::Vote | OwnerKind::Token => {}
            }
            Ok(())
        })?;
        for table in
            [Table::Meta, Table::Spec, Table::Receipt, Table::Keyed, Table::Item, Table::Audit]
        {
            reader.scan(table, &mut |key, row| check(table, key, row))?;
        }
        Ok(contents)
    }
}

impl Restored {
    /// Makes a store of a backup in a directory that has none, or with `force` in the place of the one it
    /// has, which is kept aside. A directory that a server uses is refused. Nothing is changed there
    /// before all of it is written and checked.
    pub fn new(backup: &Path, dir: &Path, force: bool, now: Timestamp) -> Result<Self, StoreError> {
        let contents = Contents::of(backup)?;
        let mut lock = DirectoryLock::acquire(dir)?;
        let holds_store = lock.is_made() || FILES.iter().any(|name| dir.join(name).exists());
        if holds_store && !force {
            return Err(StoreError::Open(format!(
                "{}: there is a store already; choose an empty directory, or --force to put it aside",
                dir.display()
            )));
        }
        let part = dir.join(PART);
        let written = copy(backup, &part).and_then(|()| end_holds(&part, now));
        if let Err(error) = written {
            let _ = std::fs::remove_file(&part);
            return Err(error);
        }
        let moved = || -> std::io::Result<Option<PathBuf>> {
            let aside = holds_store.then(|| put_aside(dir, now)).transpose()?;
            std::fs::rename(&part, dir.join(FILE))?;
            File::open(dir)?.sync_all()?;
            Ok(aside)
        };
        let aside = moved().map_err(|error| failed(dir, &error))?;
        lock.write(Note::Made)?;
        Ok(Self { contents, aside })
    }
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Open(format!("{}: {error}", path.display()))
}

fn reader(file: &Path) -> Result<Box<dyn ReadRows>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(file, flags).map_err(|error| failed(file, &error))?;
    Ok(sqlite::reader(connection))
}

fn copy(backup: &Path, part: &Path) -> Result<(), StoreError> {
    let written = || -> std::io::Result<()> {
        let mut from = File::open(backup)?;
        if part.symlink_metadata().is_ok() {
            std::fs::remove_file(part)?;
        }
        let mut to = private::create(part)?;
        std::io::copy(&mut from, &mut to)?;
        to.flush()?;
        to.sync_all()
    };
    written().map_err(|error| failed(part, &error))
}

/// Takes every task from its holder, and every open ballot from its voter.
fn end_holds(part: &Path, now: Timestamp) -> Result<(), StoreError> {
    let seed = || {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| failed(part, &error))?;
        Ok::<_, StoreError>(Seed::new(u128::from_ne_bytes(random)))
    };
    let mut reader = reader(part)?;
    let mut changed: Vec<(Table, u64, Vec<u8>)> = Vec::new();
    reader.scan(Table::Status, &mut |key, row| {
        let mut row: StatusRow = unpack(Table::Status, key, row)?;
        if let Body::Task(task) = &mut row.body
            && task.status.hold.is_some()
        {
            task.status.orphan(seed()?.token(0), now);
            row.change += 1;
            changed.push((Table::Status, key, packed(&row)));
        }
        Ok(())
    })?;
    reader.scan(Table::Owner, &mut |key, row| {
        let mut row: OwnerRow = unpack(Table::Owner, key, row)?;
        if let Owner::Vote(vote) = &mut row.owner {
            vote.orphan(seed()?);
            row.change += 1;
            changed.push((Table::Owner, key, packed(&row)));
        }
        Ok(())
    })?;
    drop(reader);
    let mut journal = SqliteJournal::open(part)?;
    let mut write = || -> Result<(), JournalError> {
        for (table, key, row) in &mut changed {
            put(&mut journal, *table, *key, row)?;
        }
        journal.commit()?;
        // Its log goes into the file, which is renamed without it.
        journal.close();
        Ok(())
    };
    write().map_err(|error| failed(part, &error))
}

/// Moves the files of a store into a directory beside them, and says which.
fn put_aside(dir: &Path, now: Timestamp) -> std::io::Result<PathBuf> {
    let aside = dir.join(format!("before-{}", now.as_millis()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&aside)?;
    for name in FILES.iter().filter(|name| dir.join(name).exists()) {
        std::fs::rename(dir.join(name), aside.join(name))?;
    }
    File::open(&aside)?.sync_all()?;
    Ok(aside)
}
