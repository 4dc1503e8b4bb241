//! The embedded store: indexes in memory, a journal on disk.
//!
//! ```text
//!   async callers ──jobs──▶ writer thread ──▶ Shard (indexes in memory)
//!        ▲                     │   └────────▶ Journal (SQLite, or memory) ── one sync per group
//!        └── answers after ────┘
//!            the sync          readers ◀───── specs and statuses of tasks that are shown
//! ```
//!
//! - `shard`: all state and every change of it. `group`: how changes become durable together, or
//!   are undone. `load`: how the state is rebuilt at start.
//! - `index`, `lane`, `classes`, `bucket`: what is in memory per queue. `memo`: what is remembered besides.
//! - `audit`: what was done of late. `private`: files that only their owner may read.
//! - `holdings`: which tasks of which queues a worker has. `numbers`: numbers for names.
//! - `owner_index`: bundles, plans and all other owners in memory.
//! - `journal`: the trait; `sqlite` and `memory` carry it out. `rows`: how records are packed.
//! - `check`: a look through a store that is not open. `backup`: a copy of one that is. `restore`: the
//!   way back. `transfer`: the way from and to other stores.
//! - `store`: the port. `writer`: the thread. `job`: what it is asked to do. `tasks`, `owners`, `queues`: the
//!   port's operations as changes of the shard.

mod audit;
mod backup;
mod bucket;
mod check;
mod classes;
mod group;
mod holdings;
mod index;
mod job;
mod journal;
mod lane;
mod load;
mod lock;
mod memo;
mod memory;
mod moves;
mod numbers;
mod ordered;
mod owner_index;
mod owners;
mod private;
mod queues;
mod readers;
mod restore;
mod rows;
mod shard;
mod sqlite;
mod store;
mod tasks;
#[cfg(test)]
mod tests;
mod transfer;
mod wal;
mod writer;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;

use self::backup::Copier;
use self::job::{Errand, Job};
use self::journal::{Journal, JournalError};
use self::lock::{DirectoryLock, Note};
use self::memory::MemoryJournal;
use self::readers::Readers;
use self::shard::Shard;
use self::sqlite::SqliteJournal;
use self::writer::{Desk, Published, Writer};
use crate::clock::Clock;
use crate::loopback::Loopback;
use crate::measure::LocalMeasures;
use crate::port::{Effect, StoreError, Wake};

/// The name of the file in a store's directory.
const FILE: &str = "punctual.db";
/// The name of its write-ahead log.
const LOG: &str = "punctual.db-wal";

pub use self::restore::{Contents, Restored};
pub use self::transfer::Filling;

/// How to open an embedded store.
pub struct LocalOptions {
    /// Its directory; none: in memory only.
    pub dir: Option<PathBuf>,
    /// The clock it goes by.
    pub clock: Arc<dyn Clock>,
}

/// The embedded store.
pub struct LocalStore {
    jobs: Option<Sender<Box<dyn Job>>>,
    writer: Option<std::thread::JoinHandle<()>>,
    clock: Arc<dyn Clock>,
    published: Published,
    readers: Readers,
    /// For takes alone, so that no list delays them.
    take_readers: Readers,
    wakes: Mutex<Option<UnboundedReceiver<Wake>>>,
    events: Loopback,
    failure: watch::Receiver<Option<String>>,
    measures: Arc<LocalMeasures>,
    /// Its directory; none: in memory only.
    dir: Option<PathBuf>,
    /// What makes copies of it, if it lies on disk.
    copier: Option<Copier>,
    /// Held until the writer has ended.
    lock: Option<DirectoryLock>,
}

impl LocalStore {
    /// Opens the store in a directory, making it if it is not there, or a store in memory.
    ///
    /// Fails if another process has it open, its files are of a newer version, or a record cannot
    /// be read; the message says which.
    pub fn open(options: LocalOptions) -> Result<Arc<Self>, StoreError> {
        let file = options.dir.as_ref().map(|dir| dir.join(FILE).display().to_string());
        Self::load(options).map_err(|error| match (error, file) {
            (StoreError::Corrupt { place, reason }, Some(file)) => {
                StoreError::Corrupt { place: format!("{file}: {place}"), reason }
            }
            (error, _) => error,
        })
    }

    fn load(options: LocalOptions) -> Result<Arc<Self>, StoreError> {
        let LocalOptions { dir, clock } = options;
        let (mut lock, journal): (_, Box<dyn Journal>) = match &dir {
            Some(dir) => {
                let lock = DirectoryLock::acquire(dir)?;
                lock.check_files(&dir.join(FILE), &dir.join(LOG))?;
                Copier::new(dir).clean();
                (Some(lock), Box::new(SqliteJournal::open(&dir.join(FILE))?))
            }
            None => (None, Box::new(MemoryJournal::default())),
        };
        let (readers, take_readers) = (Readers::new(&*journal, 2)?, Readers::new(&*journal, 1)?);
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| StoreError::Open(error.to_string()))?;
        let events = Loopback::new().map_err(|error| StoreError::Open(error.to_string()))?;
        let random = u128::from_ne_bytes(random);
        let random = [random as u64, (random >> 64) as u64];
        // Two threads read at once: one rebuilds the indexes, one checks what was pushed.
        let checker = journal.reader()?;
        let (shard, checked) = std::thread::scope(|scope| {
            let checked = scope.spawn(|| readers::check_specs(checker));
            let shard = Shard::load(journal, Arc::clone(&clock), random);
            (shard, checked.join().unwrap_or_else(|_| Err(stopped())))
        });
        let shard = shard?;
        shard.check_specs(&checked?)?;
        if let Some(lock) = &mut lock {
            lock.write(Note::InUse)?;
        }
        let (jobs, received) = std::sync::mpsc::channel();
        let (wakes_in, wakes) = unbounded_channel();
        let (failure_in, failure) = watch::channel(None);
        let published = Published::default();
        let measures = Arc::clone(&shard.measures);
        let writer = Writer {
            shard,
            jobs: received,
            wakes: wakes_in,
            published: Arc::clone(&published),
            failure: failure_in,
        };
        writer.publish_all();
        let writer = std::thread::Builder::new()
            .name("punctual-store".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::Open(error.to_string()))?;
        Ok(Arc::new(Self {
            jobs: Some(jobs),
            writer: Some(writer),
            clock,
            published,
            readers,
            take_readers,
            wakes: Mutex::new(Some(wakes)),
            events,
            failure,
            measures,
            copier: dir.as_deref().map(Copier::new),
            dir,
            lock,
        }))
    }

    /// Has the writer do something, once, and waits until it is durable.
    async fn run<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut Desk<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (errand, back) = Errand::new(act);
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(errand).map_err(|_| stopped())?;
        back.await.map_err(|_| stopped())?.outcome()
    }
}

fn low_on_space() -> StoreError {
    StoreError::unavailable("less than 64 MiB of disk space is left; free some and try again")
}

fn stopped() -> StoreError {
    StoreError::Unavailable { reason: "the store has stopped".to_owned(), effect: Effect::None }
}

impl Drop for LocalStore {
    /// Waits for the writer, so that the directory is free afterwards.
    fn drop(&mut self) {
        if let Some(lock) = self.lock.as_mut().filter(|_| self.failure.borrow().is_none())
            && let Err(error) = lock.write(Note::Made)
        {
            tracing::warn!(%error, "a clean end could not be noted");
        }
        self.readers.close();
        self.take_readers.close();
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            // A panic there was reported when it happened.
            let _ = writer.join();
        }
    }
}
