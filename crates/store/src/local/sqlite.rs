//! The journal on disk: SQLite in WAL mode, one fsync per commit.
//!
//! Tables are `(key INTEGER PRIMARY KEY, row BLOB)`, without further indexes. `user_version` is the
//! format of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::journal::{Journal, JournalError, ReadRows, Table, Visit};
use super::private;
use super::wal::{Leftover, leftover};
use crate::port::StoreError;

/// The format this version writes.
const FORMAT: i64 = 4;
/// The format of release 0.1. Its rows are read, and rewritten when they change.
const FORMAT_OLDEST: i64 = 3;
/// What a file has before its first use.
const NO_FORMAT: i64 = 0;
/// "PNCT": tells our files from other SQLite databases.
const APPLICATION_ID: i64 = 0x504E_4354;
/// Pages after which the write-ahead log is moved into the file.
const CHECKPOINT_PAGES: i32 = 4_000;
/// Free pages worth giving back to the file system.
const TIDY_PAGES_MIN: i64 = 4_096;
/// Free pages given back at a time.
const TIDY_PAGES_STEP: i64 = 1_024;
/// Free space with which nobody needs to look closer.
const AMPLE_BYTES: u64 = 1 << 30;
/// How long another program that has the file locked is waited for.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// SQLite could not grow its shared memory file: the disk is full there, too.
const IOERR_SHMSIZE: i32 = 4_874;
/// A file ends where it should not: damage, not a disk that fails.
const IOERR_SHORT_READ: i32 = 522;
/// A file, or the directory it lies in, could not be synced.
const IOERR_SYNCS: [i32; 2] = [1_034, 1_290];

/// A journal in one SQLite file.
pub(super) struct SqliteJournal {
    connection: Connection,
    path: PathBuf,
    is_open: bool,
    /// How long the write-ahead log is, as of the last commit.
    log_pages: Arc<AtomicI32>,
}

impl SqliteJournal {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let open = |problem: String| StoreError::Open(format!("{}: {problem}", path.display()));
        let sql = |error: rusqlite::Error| open(error.to_string());
        let is_unclean = check_log(path)?;
        private::ensure(path).map_err(|error| open(error.to_string()))?;
        // SQLite makes its other files like this one; those of an earlier version may be there already.
        for ending in ["-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            private::restrict(Path::new(&name));
        }
        let mut connection = Connection::open(path).map_err(sql)?;
        keep_log(&connection, true).map_err(sql)?;
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
        // A file without a page is one whose making was interrupted.
        let pages: i64 = pragma("page_count").map_err(sql)?;
        if pages == 0 {
            connection
                .execute_batch(&format!(
                    "BEGIN; PRAGMA auto_vacuum=INCREMENTAL;
                     PRAGMA application_id={APPLICATION_ID}; COMMIT;"
                ))
                .map_err(sql)?;
        }
        let application: i64 = pragma("application_id").map_err(sql)?;
        let format: i64 = pragma("user_version").map_err(sql)?;
        if application != APPLICATION_ID {
            return Err(open("not a Punctual store".to_owned()));
        }
        if format > FORMAT {
            return Err(open(format!(
                "format {format} is newer than this version's {FORMAT}; use a newer punctual"
            )));
        }
        if format < FORMAT_OLDEST && format != NO_FORMAT {
            return Err(open(format!(
                "format {format} is from before the first release and is not read any more; \
                 start with a new directory"
            )));
        }
        connection
            .execute_batch(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;
                 PRAGMA cache_size=-16000;",
            )
            .map_err(sql)?;
        let mode: String =
            connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(sql)?;
        if mode != "wal" {
            return Err(open(format!("this file system allows no write-ahead log, only {mode}")));
        }
        if is_unclean {
            empty_log(&connection).map_err(open)?;
        }
        let log_pages = Arc::new(AtomicI32::new(0));
        let noted = Arc::clone(&log_pages);
        // Instead of the hook by which SQLite would move the log into the file and keep errors to
        // itself.
        let note = move |_: &mut Wal, pages| {
            noted.store(pages, Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(note)).map_err(sql)?;
        for table in Table::ALL {
            connection
                .execute_batch(&format!(
                    "CREATE TABLE IF NOT EXISTS {} (key INTEGER PRIMARY KEY, row BLOB NOT NULL);",
                    table.name()
                ))
                .map_err(sql)?;
        }
        // Rows that vanish from the large tables are missed: each of a task has its counterpart in
        // the other table, and an owner knows how many items it has.
        for table in Table::ALL {
            if matches!(table, Table::Status | Table::Spec | Table::Item) {
                continue;
            }
            check_structure(&connection, table)?;
        }
        if format != FORMAT {
            connection.pragma_update(None, "user_version", FORMAT).map_err(sql)?;
        }
        connection.set_prepared_statement_cache_capacity(3 * Table::ALL.len());
        Ok(Self { connection, path: path.to_owned(), is_open: false, log_pages })
    }

    fn pragma(&self, name: &str) -> rusqlite::Result<i64> {
        self.connection.pragma_query_value(None, name, |row| row.get(0))
    }

    /// Runs a prepared statement inside the current transaction, beginning one if there is none.
    fn write(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<(), JournalError> {
        if !self.is_open {
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(sorted)?;
            self.is_open = true;
        }
        self.connection.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(sorted)?;
        Ok(())
    }

    /// Moves a log that has grown long into the file. It stays as it is if there is no space.
    fn shorten_log(&self) -> Result<(), JournalError> {
        if self.log_pages.load(Ordering::Relaxed) < CHECKPOINT_PAGES {
            return Ok(());
        }
        let moved = self.connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE);
        match moved.map_err(sorted) {
            Ok(_) | Err(JournalError::Full) => Ok(()),
            Err(broken) => Err(broken),
        }
    }
}

/// Refuses a table whose pages do not fit together: rows of it may have vanished.
fn check_structure(connection: &Connection, table: Table) -> Result<(), StoreError> {
    let sql = format!("PRAGMA quick_check({})", table.name());
    let verdict: String = connection
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|error| unreadable(table, None, &error))?;
    if verdict == "ok" {
        return Ok(());
    }
    let place = format!("table {}", table.name());
    Err(StoreError::Corrupt { place, reason: first_reason(&verdict) })
}

/// The first thing that is wrong, in one line; SQLite says first in which database.
fn first_reason(verdict: &str) -> String {
    let mut lines = verdict.lines();
    lines.find(|line| !line.starts_with("***")).unwrap_or(verdict).to_owned()
}

/// Reads a whole file, and refuses one whose pages do not fit together.
pub(super) fn check_pages(path: &Path) -> Result<(), StoreError> {
    check_log(path)?;
    let open = |error: rusqlite::Error| StoreError::Open(format!("{}: {error}", path.display()));
    let connection = Connection::open(path).map_err(open)?;
    keep_log(&connection, true).map_err(open)?;
    let verdict: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(open)?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(StoreError::Corrupt { place: path.display().to_string(), reason: first_reason(&verdict) })
}

/// Refuses a file that is no backup of a store of this format, or whose pages do not fit together.
pub(super) fn check_backup(path: &Path) -> Result<(), StoreError> {
    let open = |problem: &dyn std::fmt::Display| {
        StoreError::Open(format!("{}: {problem}", path.display()))
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| open(&error))?;
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    let is_ours = pragma("application_id").is_ok_and(|id: i64| id == APPLICATION_ID);
    if !is_ours {
        return Err(open(&"not a backup of a Punctual store"));
    }
    let format: i64 = pragma("user_version").map_err(|error| open(&error))?;
    if !(FORMAT_OLDEST..=FORMAT).contains(&format) {
        return Err(open(&format!(
            "format {format}, and this version reads formats {FORMAT_OLDEST} to {FORMAT}; use the \
             version that wrote it"
        )));
    }
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    let reason = match verdict {
        Ok::<String, _>(verdict) if verdict == "ok" => return Ok(()),
        Ok(verdict) => first_reason(&verdict),
        Err(error) => error.to_string(),
    };
    Err(StoreError::Corrupt { place: path.display().to_string(), reason })
}

/// Says whether the log is left as it is when the file is closed, instead of being moved into it.
/// Only a clean end moves it: a store that is refused is not touched, and after a failed sync none
/// is tried again. It could succeed, and still have lost what the first one was to write.
fn keep_log(connection: &Connection, is_kept: bool) -> rusqlite::Result<bool> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept)
}

/// Says what an unclean stop left in the write-ahead log, and refuses a damaged one. True: it left something
/// that counts.
fn check_log(path: &Path) -> Result<bool, StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let Leftover { committed_bytes, torn_bytes, damaged_at } = leftover(Path::new(&log));
    if let Some(at) = damaged_at {
        return Err(StoreError::Corrupt {
            place: format!("the write-ahead log from byte {at} on"),
            reason: "it is damaged, and acknowledged changes follow".to_owned(),
        });
    }
    if torn_bytes > 0 {
        tracing::warn!(committed_bytes, torn_bytes, "cut a torn tail off the write-ahead log");
    } else if committed_bytes > 0 {
        tracing::info!(committed_bytes, "recovering the write-ahead log of an unclean stop");
    }
    Ok(committed_bytes > 0)
}

/// Moves all of a log that an unclean stop left behind into the file.
///
/// If a sync of the log failed, parts of it may be in the kernel's cache only, and no later sync of the log writes
/// them. New commits behind such a hole would be lost with it at the next power cut. In the file they are written
/// again, and synced.
fn empty_log(connection: &Connection) -> Result<(), String> {
    let moved = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    match moved {
        Ok((0, in_log, moved)) if in_log == moved => Ok(()),
        Ok(_) => Err("another program reads the file, so its log cannot be moved into it; \
                      stop that program"
            .to_owned()),
        Err(error) if is_full(&error) => {
            Err("the disk is full, so the log of an unclean stop cannot be \
                      moved into the file; free some space"
                .to_owned())
        }
        Err(error) => {
            Err(format!("the log of an unclean stop cannot be moved into the file: {error}"))
        }
    }
}

/// Tells a full disk from everything else.
fn sorted(error: rusqlite::Error) -> JournalError {
    if is_full(&error) {
        return JournalError::Full;
    }
    let code = error.sqlite_error().map_or(0, |error| error.extended_code);
    let what = if IOERR_SYNCS.contains(&code) { "a sync failed: " } else { "" };
    JournalError::Broken(format!("{what}{error}"))
}

pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error();
    code.is_some_and(|e| e.code == ErrorCode::DiskFull || e.extended_code == IOERR_SHMSIZE)
}

/// SQL texts per table, so that the hot path formats nothing.
macro_rules! sql {
    ($table:expr, $before:literal, $after:literal) => {
        match $table {
            Table::Meta => concat!($before, "meta", $after),
            Table::Queue => concat!($before, "queue", $after),
            Table::Status => concat!($before, "status", $after),
            Table::Spec => concat!($before, "spec", $after),
            Table::Receipt => concat!($before, "receipt", $after),
            Table::Keyed => concat!($before, "keyed", $after),
            Table::Owner => concat!($before, "owner", $after),
            Table::Item => concat!($before, "item", $after),
            Table::Audit => concat!($before, "audit", $after),
        }
    };
}

/// SQLite's integers are signed; keys count up from 1 and never come near the sign.
fn key(key: u64) -> i64 {
    i64::try_from(key).unwrap_or(i64::MAX)
}

fn get(connection: &Connection, table: Table, at: u64) -> Result<Option<Vec<u8>>, StoreError> {
    connection
        .prepare_cached(sql!(table, "SELECT row FROM ", " WHERE key=?1"))
        .and_then(|mut s| s.query_row([key(at)], |row| row.get(0)).optional())
        .map_err(|error| unreadable(table, Some(at), &error))
}

/// Reads neighbours in one go: a backlog is taken in the order of its rows, and one range costs far
/// less than as many single look-ups.
fn get_many(
    connection: &Connection,
    table: Table,
    keys: &[u64],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    /// Rows that may be read in vain per row that is wanted.
    const WASTE_MAX: u64 = 2;
    let (first, last) = (keys.iter().min().copied(), keys.iter().max().copied());
    let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
    if keys.len() < 4 || last - first > keys.len() as u64 * WASTE_MAX {
        return keys.iter().map(|key| get(connection, table, *key)).collect();
    }
    let bad = |error: rusqlite::Error| unreadable(table, None, &error);
    let sql = sql!(table, "SELECT key, row FROM ", " WHERE key BETWEEN ?1 AND ?2");
    let mut statement = connection.prepare_cached(sql).map_err(bad)?;
    let mut rows = statement.query([key(first), key(last)]).map_err(bad)?;
    let mut found = vec![None; usize::try_from(last - first).unwrap_or(usize::MAX) + 1];
    while let Some(row) = rows.next().map_err(bad)? {
        let at: i64 = row.get(0).map_err(bad)?;
        let offset = usize::try_from(at.unsigned_abs() - first).unwrap_or(usize::MAX);
        found[offset] = Some(row.get(1).map_err(bad)?);
    }
    Ok(keys.iter().map(|key| found[(key - first) as usize].take()).collect())
}

fn scan(connection: &Connection, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
    let bad = |error: rusqlite::Error| unreadable(table, None, &error);
    let sql = sql!(table, "SELECT key, row FROM ", " ORDER BY key");
    let mut statement = connection.prepare(sql).map_err(bad)?;
    let mut rows = statement.query([]).map_err(bad)?;
    while let Some(row) = rows.next().map_err(bad)? {
        let at: i64 = row.get(0).map_err(bad)?;
        let bytes = row.get_ref(1).map_err(bad)?.as_blob().map_err(|e| bad(e.into()))?;
        visit(at.unsigned_abs(), bytes)?;
    }
    Ok(())
}

/// Tells a disk that did not hand out what lies there from damage.
fn unreadable(table: Table, at: Option<u64>, error: &rusqlite::Error) -> StoreError {
    let row = at.map_or(String::new(), |at| format!(" row {at}"));
    let place = format!("table {}{row}", table.name());
    let is_of_disk = |error: &rusqlite::ffi::Error| {
        error.code == ErrorCode::SystemIoFailure && error.extended_code != IOERR_SHORT_READ
    };
    if error.sqlite_error().is_some_and(is_of_disk) {
        return StoreError::unavailable(format!("{place} cannot be read: {error}"));
    }
    StoreError::Corrupt { place, reason: error.to_string() }
}

impl ReadRows for SqliteJournal {
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
        get(&self.connection, table, key)
    }

    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        scan(&self.connection, table, visit)
    }
}

/// Reads rows over a connection that is not the journal's.
pub(super) fn reader(connection: Connection) -> Box<dyn ReadRows> {
    Box::new(SqliteReader(connection))
}

/// A connection that only reads.
struct SqliteReader(Connection);

impl ReadRows for SqliteReader {
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
        get(&self.0, table, key)
    }

    fn get_many(&mut self, table: Table, keys: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        get_many(&self.0, table, keys)
    }

    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        scan(&self.0, table, visit)
    }
}

impl Journal for SqliteJournal {
    fn put(&mut self, table: Table, at: u64, row: &[u8]) -> Result<(), JournalError> {
        let sql = sql!(table, "INSERT OR REPLACE INTO ", " (key, row) VALUES (?1, ?2)");
        self.write(sql, (key(at), row))
    }

    fn remove(&mut self, table: Table, at: u64) -> Result<(), JournalError> {
        self.write(sql!(table, "DELETE FROM ", " WHERE key=?1"), [key(at)])
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        if self.is_open {
            self.connection
                .prepare_cached("COMMIT")
                .and_then(|mut s| s.execute([]))
                .map_err(sorted)?;
            self.is_open = false;
            self.shorten_log()?;
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        // SQLite may have rolled back by itself; then there is nothing left to do.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
        self.is_open = false;
    }

    fn reader(&self) -> Result<Box<dyn ReadRows>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)
            .map_err(|error| StoreError::Open(format!("{}: {error}", self.path.display())))?;
        Ok(reader(connection))
    }

    fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.path).ok()?;
        let on_disk = stat.f_bavail.saturating_mul(stat.f_frsize);
        if on_disk > AMPLE_BYTES {
            return Some(on_disk);
        }
        // Pages the file has to spare are as good as space on the disk.
        let page_bytes = self.pragma("page_size").unwrap_or(0).unsigned_abs();
        let spare_pages = self.pragma("freelist_count").unwrap_or(0).unsigned_abs();
        Some(on_disk + spare_pages * page_bytes)
    }

    fn close(&mut self) {
        if let Err(error) = keep_log(&self.connection, false) {
            tracing::warn!(%error, "the write-ahead log is left for the next start");
        }
    }

    fn tidy(&mut self) -> Result<bool, JournalError> {
        let free_pages = self.pragma("freelist_count").map_err(sorted)?;
        if free_pages < TIDY_PAGES_MIN {
            // The log gives its space back, too, unless somebody reads for long: that is not waited for.
            self.connection.busy_timeout(Duration::ZERO).map_err(sorted)?;
            let truncated =
                self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            self.connection.busy_timeout(BUSY_WAIT).map_err(sorted)?;
            return truncated.map(|()| false).map_err(sorted);
        }
        let sql = format!("PRAGMA incremental_vacuum({TIDY_PAGES_STEP})");
        // Every step gives one page back.
        let mut vacuum = self.connection.prepare(&sql).map_err(sorted)?;
        let mut rows = vacuum.query([]).map_err(sorted)?;
        while rows.next().map_err(sorted)?.is_some() {}
        drop(rows);
        self.shorten_log()?;
        Ok(true)
    }
}
