//! The journal on disk: SQLite in WAL mode, one fsync per commit.
//!
//! Tables are `(key INTEGER PRIMARY KEY, row BLOB)`, without further indexes. `user_version` is the
//! format of the file.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::journal::{Journal, JournalError, ReadRows, Table, Visit};
use super::wal::{Leftover, leftover};
use crate::port::StoreError;

/// The format this version reads and writes.
const FORMAT: i64 = 1;
/// "PNCT": tells our files from other SQLite databases.
const APPLICATION_ID: i64 = 0x504E_4354;
/// Pages after which the write-ahead log is moved into the file.
const CHECKPOINT_PAGES: i32 = 4_000;
/// Free pages worth giving back to the file system.
const TIDY_PAGES_MIN: i64 = 4_096;
/// Free pages given back at a time.
const TIDY_PAGES_STEP: i64 = 256;
/// SQLite could not grow its shared memory file: the disk is full there, too.
const IOERR_SHMSIZE: i32 = 4_874;
/// A file, or the directory it lies in, could not be synced.
const IOERR_SYNCS: [i32; 2] = [1_034, 1_290];

/// A journal in one SQLite file.
pub(super) struct SqliteJournal {
    connection: Connection,
    path: PathBuf,
    is_open: bool,
}

impl SqliteJournal {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let open = |problem: String| StoreError::Open(format!("{}: {problem}", path.display()));
        let sql = |error: rusqlite::Error| open(error.to_string());
        let is_new = !path.exists();
        report_leftover(path);
        let mut connection = Connection::open(path).map_err(sql)?;
        if is_new {
            connection
                .execute_batch(&format!(
                    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id={APPLICATION_ID};"
                ))
                .map_err(sql)?;
        }
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
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
        connection
            .execute_batch(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;
                 PRAGMA cache_size=-16000;",
            )
            .map_err(sql)?;
        connection.wal_hook(Some(checkpoint)).map_err(sql)?;
        for table in Table::ALL {
            connection
                .execute_batch(&format!(
                    "CREATE TABLE IF NOT EXISTS {} (key INTEGER PRIMARY KEY, row BLOB NOT NULL);",
                    table.name()
                ))
                .map_err(sql)?;
        }
        connection.pragma_update(None, "user_version", FORMAT).map_err(sql)?;
        connection.set_prepared_statement_cache_capacity(3 * Table::ALL.len());
        Ok(Self { connection, path: path.to_owned(), is_open: false })
    }

    /// Runs a prepared statement inside the current transaction, beginning one if there is none.
    fn write(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<(), JournalError> {
        let connection = &self.connection;
        if !self.is_open {
            connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| self.sorted(&e))?;
            self.is_open = true;
        }
        let written = connection.prepare_cached(sql).and_then(|mut s| s.execute(values));
        written.map(drop).map_err(|error| self.sorted(&error))
    }

    /// Tells a full disk from everything else. After that nothing more is synced, not even when the
    /// file is closed: a sync that failed may succeed when repeated and still have lost what it was
    /// to write.
    fn sorted(&self, error: &rusqlite::Error) -> JournalError {
        if is_full(error) {
            return JournalError::Full;
        }
        let left = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        if let Err(error) = left {
            tracing::error!(%error, "the journal will be synced when it is closed");
        }
        let code = error.sqlite_error().map_or(0, |error| error.extended_code);
        let what = if IOERR_SYNCS.contains(&code) { "a sync failed: " } else { "" };
        JournalError::Broken(format!("{what}{error}"))
    }
}

/// Moves a log that has grown long into the file, after a commit. SQLite would do so by itself, but
/// keep an error to itself as well. The log stays as it is if there is no space to move it to.
fn checkpoint(log: &mut Wal, pages: i32) -> rusqlite::Result<()> {
    if pages < CHECKPOINT_PAGES {
        return Ok(());
    }
    match log.checkpoint() {
        Err(error) if is_full(&error) => Ok(()),
        moved => moved,
    }
}

/// Says what an unclean stop left in the write-ahead log.
fn report_leftover(path: &Path) {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let Leftover { committed_bytes, torn_bytes } = leftover(Path::new(&log));
    if torn_bytes > 0 {
        tracing::warn!(committed_bytes, torn_bytes, "cut a torn tail off the write-ahead log");
    } else if committed_bytes > 0 {
        tracing::info!(committed_bytes, "recovering the write-ahead log of an unclean stop");
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
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
        .map_err(|error| corrupt(table, Some(at), &error))
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
    let bad = |error: rusqlite::Error| corrupt(table, None, &error);
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
    let bad = |error: rusqlite::Error| corrupt(table, None, &error);
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

fn corrupt(table: Table, at: Option<u64>, error: &rusqlite::Error) -> StoreError {
    let row = at.map_or(String::new(), |at| format!(" row {at}"));
    StoreError::Corrupt { place: format!("table {}{row}", table.name()), reason: error.to_string() }
}

impl ReadRows for SqliteJournal {
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
        get(&self.connection, table, key)
    }

    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        scan(&self.connection, table, visit)
    }
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
            let committed =
                self.connection.prepare_cached("COMMIT").and_then(|mut s| s.execute([]));
            committed.map_err(|error| self.sorted(&error))?;
            self.is_open = false;
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
        Ok(Box::new(SqliteReader(connection)))
    }

    fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.path).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn tidy(&mut self) -> Result<bool, JournalError> {
        let free_pages: i64 = self
            .connection
            .pragma_query_value(None, "freelist_count", |row| row.get(0))
            .map_err(|error| self.sorted(&error))?;
        if free_pages < TIDY_PAGES_MIN {
            return Ok(false);
        }
        self.connection
            .execute_batch(&format!("PRAGMA incremental_vacuum({TIDY_PAGES_STEP})"))
            .map_err(|error| self.sorted(&error))?;
        Ok(true)
    }
}
