//! Everything that is moved from one store to another and is neither queue nor owner, and a directory that
//! becomes a store when all of it has arrived.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use punctual_core::QueueName;

use super::journal::{JournalError, ReadRows, Table};
use super::lock::{DirectoryLock, Note};
use super::rows::{Body, KeyedRow, ReceiptRow, StatusRow, packed, put, unpack};
use super::shard::Shard;
use super::tasks::task_row;
use super::{FILE, LocalOptions, LocalStore, low_on_space};
use crate::clock::Clock;
use crate::port::{Memories, Memory, Remembered, Revision, StoreError, Stored, Transfer};

/// Records of one page.
const PAGE: usize = 1_000;
/// Where a store lies as long as it is not whole.
const PART: &str = "migrating";

impl Shard {
    fn reserve_births(&mut self, count: u64) -> u64 {
        let first = self.last_birth + 1;
        self.last_birth += count;
        first
    }

    /// False: there is no such queue.
    fn admit(&mut self, queue: &QueueName, tasks: &[Stored]) -> Result<bool, JournalError> {
        let Some(&number) = self.numbers.get(queue) else { return Ok(false) };
        for Stored { task, revision } in tasks {
            let id = self.hash_id(&task.spec.id);
            if self.index(number).find(id).is_some() {
                continue;
            }
            let Revision { birth, change } = *revision;
            put(&mut *self.journal, Table::Spec, birth, &mut packed(&*task.spec))?;
            let body = Body::Task(task_row(&task.spec, task.status.clone()));
            self.insert(number, birth, &StatusRow { queue: number, id, change, body })?;
        }
        Ok(true)
    }

    fn recall(&mut self, items: Vec<Remembered>) -> Result<(), JournalError> {
        let mut receipts: Vec<ReceiptRow> = Vec::new();
        for item in items {
            match item {
                Remembered::Reserved { queue, id, until } => {
                    let Some(&number) = self.numbers.get(&queue) else { continue };
                    let hash = self.hash_id(&id);
                    if self.index(number).find(hash).is_none() {
                        let birth = self.next_birth();
                        let body = Body::Reserved { id, until };
                        let row = StatusRow { queue: number, id: hash, change: 0, body };
                        self.insert(number, birth, &row)?;
                    }
                }
                Remembered::Receipt { at, fingerprint } => match receipts.last_mut() {
                    Some(row) if row.at == at => row.fingerprints.push(fingerprint),
                    _ => receipts.push(ReceiptRow { at, fingerprints: vec![fingerprint] }),
                },
                Remembered::Keyed { at, queue, key, request, status, items } => {
                    self.add_keyed(KeyedRow { at, queue, key, request, status, items })?;
                }
            }
        }
        for row in receipts {
            let key = self.receipts.next_key();
            put(&mut *self.journal, Table::Receipt, key, &mut packed(&row))?;
            self.receipts.add(key, row);
        }
        Ok(())
    }

    /// Receipts after a row: at least so many, if there are, in whole groups; and the last row.
    fn receipts_after(&self, key: u64) -> (Vec<Remembered>, u64) {
        let (mut found, mut last) = (Vec::new(), key);
        for (key, ReceiptRow { at, fingerprints }) in self.receipts.after(key) {
            let receipt =
                |fingerprint: &u64| Remembered::Receipt { at: *at, fingerprint: *fingerprint };
            found.extend(fingerprints.iter().map(receipt));
            last = *key;
            if found.len() >= PAGE {
                break;
            }
        }
        (found, last)
    }
}

fn read_reserved(
    reader: &mut dyn ReadRows,
    queue: &QueueName,
    births: &[u64],
) -> Result<Vec<Remembered>, StoreError> {
    let mut found = Vec::with_capacity(births.len());
    for (birth, row) in births.iter().zip(reader.get_many(Table::Status, births)?) {
        let Some(row) = row else { continue };
        if let Body::Reserved { id, until } = unpack::<StatusRow>(Table::Status, *birth, &row)?.body
        {
            found.push(Remembered::Reserved { queue: queue.clone(), id, until });
        }
    }
    Ok(found)
}

fn read_keyed(reader: &mut dyn ReadRows, rows: &[u64]) -> Result<Vec<Remembered>, StoreError> {
    let mut found = Vec::with_capacity(rows.len());
    for (key, row) in rows.iter().zip(reader.get_many(Table::Keyed, rows)?) {
        let Some(row) = row else { continue };
        let KeyedRow { at, queue, key, request, status, items } = unpack(Table::Keyed, *key, &row)?;
        found.push(Remembered::Keyed { at, queue, key, request, status, items });
    }
    Ok(found)
}

#[async_trait]
impl Transfer for LocalStore {
    async fn reserve_births(&self, _queue: &QueueName, count: u64) -> Result<u64, StoreError> {
        self.run(move |desk| Ok(desk.shard.reserve_births(count))).await
    }

    async fn admit(&self, queue: &QueueName, tasks: Vec<Stored>) -> Result<(), StoreError> {
        let name = queue.clone();
        let admitted = self.run(move |desk| {
            if !desk.has_space() {
                return Ok(None);
            }
            desk.shard.admit(&name, &tasks).map(Some)
        });
        match admitted.await? {
            Some(true) => Ok(()),
            Some(false) => Err(StoreError::Open(format!("there is no queue {queue}"))),
            None => Err(low_on_space()),
        }
    }

    async fn remembered(
        &self,
        memory: &Memory,
        cursor: Option<String>,
    ) -> Result<Memories, StoreError> {
        let after = cursor.map_or(Ok(0), |cursor| cursor.parse());
        let after: u64 = after.map_err(|_| StoreError::BadCursor)?;
        let (items, last) = match memory {
            Memory::Receipts => self.run(move |desk| Ok(desk.shard.receipts_after(after))).await?,
            Memory::Reserved(queue) => {
                let name = queue.clone();
                let births = self.run(move |desk| {
                    let number = desk.shard.numbers.get(&name);
                    let reserved = |number: &u32| desk.shard.index(*number).reserved(after, PAGE);
                    Ok(number.map(reserved).unwrap_or_default())
                });
                let (queue, births) = (queue.clone(), births.await?);
                let last = births.last().copied().unwrap_or(after);
                let read = move |reader: &mut dyn ReadRows| read_reserved(reader, &queue, &births);
                (self.readers.read(read).await?, last)
            }
            Memory::Keyed => {
                let rows = self.run(move |desk| Ok(desk.shard.keyed.after(after, PAGE))).await?;
                let last = rows.last().copied().unwrap_or(after);
                (self.readers.read(move |reader| read_keyed(reader, &rows)).await?, last)
            }
        };
        Ok(Memories { items, next: (last > after).then(|| last.to_string()) })
    }

    async fn remember(&self, items: Vec<Remembered>) -> Result<(), StoreError> {
        let mut items = Some(items);
        self.run(move |desk| desk.shard.recall(items.take().unwrap_or_default())).await
    }
}

/// A directory that is to become a store. It becomes one whole, or not at all: until then all of it lies in
/// a directory inside, which the next attempt removes.
pub struct Filling {
    store: Arc<LocalStore>,
    lock: DirectoryLock,
    dir: PathBuf,
}

impl Filling {
    /// Begins. Fails if there is a store, or somebody uses the directory.
    pub fn begin(dir: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let lock = DirectoryLock::acquire(dir)?;
        if lock.is_made() || dir.join(FILE).exists() {
            return Err(StoreError::Open(format!(
                "{}: there is a store already; choose an empty directory",
                dir.display()
            )));
        }
        let part = dir.join(PART);
        if part.exists() {
            std::fs::remove_dir_all(&part).map_err(failed(&part))?;
        }
        let store = LocalStore::open(LocalOptions { dir: Some(part), clock })?;
        Ok(Self { store, lock, dir: dir.to_owned() })
    }

    /// The store as it is filled.
    pub fn store(&self) -> &LocalStore {
        &self.store
    }

    /// Makes it the store of the directory.
    pub fn finish(self) -> Result<(), StoreError> {
        let Self { store, mut lock, dir } = self;
        // Nobody else has it, so it is closed now, and all of it lies in one file.
        drop(store);
        let part = dir.join(PART);
        let move_file = || {
            std::fs::rename(part.join(FILE), dir.join(FILE))?;
            File::open(&dir)?.sync_all()
        };
        move_file().map_err(failed(&dir))?;
        lock.write(Note::Made)?;
        std::fs::remove_dir_all(&part).map_err(failed(&part))
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> StoreError {
    move |error| StoreError::Open(format!("{}: {error}", path.display()))
}
