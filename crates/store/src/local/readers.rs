//! Reading what is committed, off the writer thread and off the async threads.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use punctual_core::{Spec, Task};

use super::journal::{Journal, ReadRows, Table};
use super::rows::{Body, StatusRow, check, missing, unpack};
use super::stopped;
use super::tasks::TakenRow;
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

fn unpack_spec(birth: u64, row: Option<Vec<u8>>) -> Result<Option<Arc<Spec>>, StoreError> {
    row.map(|row| unpack::<Spec>(Table::Spec, birth, &row).map(Arc::new)).transpose()
}

/// Reads tasks, in the order asked; none for one that was removed meanwhile.
pub(super) fn read_stored(
    reader: &mut dyn ReadRows,
    births: &[u64],
) -> Result<Vec<Option<Stored>>, StoreError> {
    let statuses = reader.get_many(Table::Status, births)?;
    let specs = reader.get_many(Table::Spec, births)?;
    let rows = births.iter().zip(statuses.into_iter().zip(specs));
    rows.map(|(birth, (status, spec))| unpack_stored(*birth, status, spec)).collect()
}

fn unpack_stored(
    birth: u64,
    status: Option<Vec<u8>>,
    spec: Option<Vec<u8>>,
) -> Result<Option<Stored>, StoreError> {
    let Some(row) = status else { return Ok(None) };
    let row: StatusRow = unpack(Table::Status, birth, &row)?;
    let Body::Task(task) = row.body else { return Ok(None) };
    let Some(spec) = unpack_spec(birth, spec)? else { return Ok(None) };
    let revision = Revision { birth, change: row.change };
    Ok(Some(Stored { task: Task { spec, status: task.status }, revision }))
}

/// Which rows were met, in short: two of these differ if the rows do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    rows: u64,
    sum: u64,
}

impl Tally {
    pub(super) fn add(&mut self, key: u64) {
        self.rows += 1;
        // Spread, so that a row too many does not make up for one too few.
        self.sum = self.sum.wrapping_add((key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
}

/// Checks every spec, so that a damaged one is named at start and not when its task is taken.
pub(super) fn check_specs(reader: &mut dyn ReadRows) -> Result<Tally, StoreError> {
    let mut tally = Tally::default();
    reader.scan(Table::Spec, &mut |key, row| {
        tally.add(key);
        check(Table::Spec, key, row)
    })?;
    Ok(tally)
}

/// Names a row that is missing, where tasks and specs do not match.
pub(super) fn name_missing(reader: &mut dyn ReadRows) -> StoreError {
    let mut tasks = BTreeSet::new();
    let mut specs = BTreeSet::new();
    let scanned = reader
        .scan(Table::Status, &mut |key, row| {
            let row: StatusRow = unpack(Table::Status, key, row)?;
            if matches!(row.body, Body::Task(_)) {
                tasks.insert(key);
            }
            Ok(())
        })
        .and_then(|()| {
            reader.scan(Table::Spec, &mut |key, _| {
                specs.insert(key);
                Ok(())
            })
        });
    if let Err(error) = scanned {
        return error;
    }
    let (table, key) = match (tasks.difference(&specs).next(), specs.difference(&tasks).next()) {
        (Some(key), _) => (Table::Spec, *key),
        (None, Some(key)) => (Table::Status, *key),
        (None, None) => return stopped(),
    };
    missing(table, key)
}

/// Connections that read what is committed, off the async threads.
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Box<dyn ReadRows>>>>,
    slots: tokio::sync::Semaphore,
}

impl Readers {
    const COUNT: usize = 2;

    pub(super) fn new(journal: &dyn Journal) -> Result<Self, StoreError> {
        let readers = (0..Self::COUNT).map(|_| journal.reader()).collect::<Result<_, _>>()?;
        Ok(Self {
            idle: Arc::new(Mutex::new(readers)),
            slots: tokio::sync::Semaphore::new(Self::COUNT),
        })
    }

    /// Lets go of the connections: the journal is closed cleanly by whoever is the last to close it,
    /// and readers cannot.
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut dyn ReadRows) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _slot = self.slots.acquire().await.map_err(|_| stopped())?;
        let idle = Arc::clone(&self.idle);
        let read = tokio::task::spawn_blocking(move || {
            let take = || idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut reader = take().ok_or_else(stopped)?;
            let read = act(&mut *reader);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            read
        });
        read.await.map_err(|_| stopped())?
    }
}
