//! Reading what is committed, off the writer thread and off the async threads.

use std::sync::{Arc, Mutex, PoisonError};

use punctual_core::{QueueName, Spec, State, Task, TaskId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::journal::{Journal, ReadRows, Table};
use super::rows::{Body, StatusRow, check, unpack};
use super::stopped;
use super::tasks::{TakenRow, mixed};
use crate::port::{Revision, StoreError, Stored};

pub(super) fn stored(row: TakenRow) -> Option<Stored> {
    let TakenRow { revision, status, spec } = row;
    spec.map(|spec| Stored { task: Task { spec, status }, revision })
}

/// Completes what was handed out. A task that was removed meanwhile is left out.
pub(super) fn read_specs(
    reader: &mut dyn ReadRows,
    mut rows: Vec<Vec<TakenRow>>,
) -> Result<Vec<Vec<Stored>>, StoreError> {
    let mut missing: Vec<&mut TakenRow> =
        rows.iter_mut().flatten().filter(|row| row.spec.is_none()).collect();
    let births: Vec<u64> = missing.iter().map(|row| row.revision.birth).collect();
    let specs = reader.get_many(Table::Spec, &births)?;
    for (row, spec) in missing.iter_mut().zip(specs) {
        row.spec = unpack_spec(row.revision.birth, spec)?;
    }
    Ok(rows.into_iter().map(|rows| rows.into_iter().filter_map(stored).collect()).collect())
}

/// The ids of tasks, each with its queue. One that was removed meanwhile is left out.
pub(super) fn read_ids(
    reader: &mut dyn ReadRows,
    tasks: Vec<(QueueName, u64)>,
) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
    /// So many at a time, because their payloads are read with them.
    const CHUNK: usize = 64;
    let mut ids = Vec::with_capacity(tasks.len());
    for tasks in tasks.chunks(CHUNK) {
        let births: Vec<u64> = tasks.iter().map(|(_, birth)| *birth).collect();
        for ((queue, birth), row) in tasks.iter().zip(reader.get_many(Table::Spec, &births)?) {
            let spec = unpack_spec(*birth, row)?;
            ids.extend(spec.map(|spec| (queue.clone(), spec.id.clone())));
        }
    }
    Ok(ids)
}

fn unpack_spec(birth: u64, row: Option<Vec<u8>>) -> Result<Option<Arc<Spec>>, StoreError> {
    row.map(|row| unpack::<Spec>(Table::Spec, birth, &row).map(Arc::new)).transpose()
}

/// Where a task lies and what the indexes say of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) birth: u64,
    pub(super) change: u32,
    pub(super) state: State,
}

impl Spot {
    pub(super) fn revision(&self) -> Revision {
        Revision { birth: self.birth, change: self.change }
    }
}

/// Reads tasks, in the order asked; none for one that was removed meanwhile.
pub(super) fn read_stored(
    reader: &mut dyn ReadRows,
    spots: &[Spot],
) -> Result<Vec<Option<Stored>>, StoreError> {
    let births: Vec<u64> = spots.iter().map(|spot| spot.birth).collect();
    let statuses = reader.get_many(Table::Status, &births)?;
    let specs = reader.get_many(Table::Spec, &births)?;
    let rows = spots.iter().zip(statuses.into_iter().zip(specs));
    rows.map(|(spot, (status, spec))| unpack_stored(*spot, status, spec)).collect()
}

fn unpack_stored(
    spot: Spot,
    status: Option<Vec<u8>>,
    spec: Option<Vec<u8>>,
) -> Result<Option<Stored>, StoreError> {
    let Spot { birth, change, state } = spot;
    let Some(row) = status else { return Ok(None) };
    let row: StatusRow = unpack(Table::Status, birth, &row)?;
    let Body::Task(mut task) = row.body else { return Ok(None) };
    let Some(spec) = unpack_spec(birth, spec)? else { return Ok(None) };
    if row.change == change {
        // That its time has come is not written down; and it stays so if the clock is set back.
        task.status.state = state;
    }
    let revision = Revision { birth, change: row.change };
    Ok(Some(Stored { task: Task { spec, status: task.status }, revision }))
}

/// Checks every spec, so that a damaged one is named at start and not when its task is taken.
/// Answers which there are.
pub(super) fn check_specs(mut reader: Box<dyn ReadRows>) -> Result<Keys, StoreError> {
    let mut keys = Keys::default();
    reader.scan(Table::Spec, &mut |key, row| {
        keys.add(key);
        check(Table::Spec, key, row)
    })?;
    Ok(keys)
}

/// A set of keys, as far as is needed to tell two sets apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    count: u64,
    mixed: u64,
}

impl Keys {
    pub(super) fn add(&mut self, key: u64) {
        self.count += 1;
        self.mixed = self.mixed.wrapping_add(mixed(key.into()));
    }
}

/// Readers nobody uses now.
type Idle = Arc<Mutex<Vec<Box<dyn ReadRows>>>>;

/// Connections that read what is committed, off the async threads.
pub(super) struct Readers {
    idle: Idle,
    slots: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(journal: &dyn Journal, count: usize) -> Result<Self, StoreError> {
        let readers = (0..count).map(|_| journal.reader()).collect::<Result<_, _>>()?;
        Ok(Self { idle: Arc::new(Mutex::new(readers)), slots: Arc::new(Semaphore::new(count)) })
    }

    /// Lets go of the connections: the journal is closed cleanly by whoever is the last to close it,
    /// and readers cannot.
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Reads with one of the connections, as soon as one is free. A caller that is gone does not
    /// free it: what it began goes on to its end.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut dyn ReadRows) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| stopped())?;
        let idle = Arc::clone(&self.idle);
        let read = tokio::task::spawn_blocking(move || {
            let reader = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut lent = Lent { reader, idle, _slot: slot };
            act(&mut **lent.reader.as_mut().ok_or_else(stopped)?)
        });
        read.await.map_err(|_| stopped())?
    }
}

/// A reader in use, given back whatever happens.
struct Lent {
    /// There until it is given back.
    reader: Option<Box<dyn ReadRows>>,
    idle: Idle,
    _slot: OwnedSemaphorePermit,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.reader.take());
    }
}
