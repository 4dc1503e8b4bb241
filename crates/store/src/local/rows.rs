//! How records lie in the journal: a format byte, the packed record, a checksum of both and of the
//! place, so that a row that turns up elsewhere is as damaged as one that has changed.

use punctual_core::{Owner, QueueName, Shared, Span, Status, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use super::journal::{Journal, JournalError, Table};
use crate::format;
use crate::port::{Keyed, StoreError};

const CHECKSUM_BYTES: usize = 4;

/// What lies under a task's row in [`Table::Status`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StatusRow {
    /// The number of its queue. Numbers are never used again, so the rows of a queue that was reset
    /// or deleted belong to nobody.
    pub(super) queue: u32,
    /// Hash of its id.
    pub(super) id: [u64; 2],
    /// The version of the record.
    pub(super) change: u32,
    /// What is there.
    pub(super) body: Body,
}

/// A task, or an id that is only reserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Body {
    /// A task.
    Task(TaskRow),
    /// An id that is reserved.
    Reserved {
        /// The id.
        id: TaskId,
        /// Until when.
        until: Timestamp,
    },
}

/// What the indexes need to know of a task, and its status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskRow {
    /// Copied from the spec.
    pub(super) priority: i8,
    /// The lane class it waits in.
    pub(super) class: String,
    /// Size of the payload.
    pub(super) bytes: u32,
    /// Copied from the spec.
    pub(super) hold: Option<Span>,
    /// Copied from the spec.
    pub(super) max_runtime: Option<Span>,
    /// Copied from the spec.
    pub(super) expires: Option<Timestamp>,
    /// Whether it delivers a bundle.
    pub(super) delivers: bool,
    /// All that changes.
    pub(super) status: Shared<Status>,
}

/// Receipts of one group commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReceiptRow {
    /// When.
    pub(super) at: Timestamp,
    /// A fingerprint per receipt.
    pub(super) fingerprints: Vec<u64>,
}

/// A keyed request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeyedRow {
    /// When.
    pub(super) at: Timestamp,
    /// The queue it was about.
    pub(super) queue: Option<QueueName>,
    /// Its key.
    pub(super) key: u128,
    /// Hash of its body.
    pub(super) request: u128,
    /// The status it was answered with.
    pub(super) status: u16,
    /// The answers to its items.
    pub(super) items: Vec<crate::port::KeyedItem>,
}

impl KeyedRow {
    pub(super) fn new(keyed: Keyed, queue: Option<QueueName>, at: Timestamp) -> Self {
        let Keyed { key, request, status, single: _, items, positions: _ } = keyed;
        Self { at, queue, key, request, status, items }
    }
}

/// What lies under an owner's row in [`Table::Owner`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OwnerRow {
    /// The number of a bundle's queue, so that it goes with it; a plan does not.
    pub(super) queue: Option<u32>,
    /// The version of the record.
    pub(super) change: u32,
    /// Its items begin here; those before are still to be removed.
    pub(super) first_item: u64,
    /// How many items it has.
    pub(super) items: u64,
    /// The record.
    pub(super) owner: Owner,
}

/// An item of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct ItemRow<'a> {
    /// The row of its owner.
    pub(super) owner: u64,
    /// Its JSON text.
    pub(super) item: &'a str,
}

/// Births that may have been given out, so that none is given out again after a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BirthsRow {
    /// The last of them.
    pub(super) last: u64,
}

/// Facts about the store itself, written when it is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MetaRow {
    /// The key of the hash of ids.
    pub(super) hash_key: [u64; 2],
}

/// Packs a record into `buffer`.
pub(super) fn pack<T: Serialize>(record: &T, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.push(format::CURRENT);
    let mut packed = postcard::to_extend(record, std::mem::take(buffer))
        .expect("a vector grows as needed and records have known lengths");
    let checksum = crc32fast::hash(&packed);
    packed.extend_from_slice(&checksum.to_le_bytes());
    *buffer = packed;
}

/// Packs a record.
pub(super) fn packed<T: Serialize>(record: &T) -> Vec<u8> {
    let mut buffer = Vec::new();
    pack(record, &mut buffer);
    buffer
}

/// Puts a packed record at its place.
pub(super) fn put(
    journal: &mut dyn Journal,
    table: Table,
    key: u64,
    packed: &mut [u8],
) -> Result<(), JournalError> {
    // Records are packed before their place is known, so it is added to their checksum here.
    if let Some(checksum) = packed.last_chunk_mut::<CHECKSUM_BYTES>() {
        *checksum = (u32::from_le_bytes(*checksum) ^ place(table, key)).to_le_bytes();
    }
    journal.put(table, key, packed)
}

/// What a place adds to the checksums of its rows.
fn place(table: Table, key: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[table as u8]);
    hasher.update(&key.to_le_bytes());
    hasher.finalize()
}

/// The format and the packed record of a row whose checksum matches.
fn checked(table: Table, key: u64, row: &[u8]) -> Result<(u8, &[u8]), StoreError> {
    let (packed, checksum) = row
        .split_last_chunk::<CHECKSUM_BYTES>()
        .ok_or_else(|| damaged(table, key, "it is too short"))?;
    if crc32fast::hash(packed) ^ place(table, key) != u32::from_le_bytes(*checksum) {
        return Err(damaged(table, key, "its checksum does not match"));
    }
    match packed.split_first() {
        Some((&format, record)) => Ok((format, record)),
        None => Err(damaged(table, key, "it is too short")),
    }
}

/// A row that must be there is not.
pub(super) fn missing(table: Table, key: u64) -> StoreError {
    damaged(table, key, "it is missing")
}

/// A row that counts other rows is not right about them.
pub(super) fn uneven(table: Table, key: u64, counted: u64, found: usize) -> StoreError {
    damaged(table, key, &format!("it has {counted} items, but {found} were found"))
}

fn damaged(table: Table, key: u64, reason: &str) -> StoreError {
    let place = format!("table {} row {key}", table.name());
    StoreError::Corrupt { place, reason: reason.to_owned() }
}

/// Checks the row at a place without unpacking it.
pub(super) fn check(table: Table, key: u64, row: &[u8]) -> Result<(), StoreError> {
    let (format, _) = checked(table, key, row)?;
    format::check(format).map_err(|error| damaged(table, key, &error.to_string()))
}

/// Unpacks the row at a place, or says what is wrong with it.
pub(super) fn unpack<'a, T: Deserialize<'a>>(
    table: Table,
    key: u64,
    row: &'a [u8],
) -> Result<T, StoreError> {
    let (format, record) = checked(table, key, row)?;
    format::unpack(format, record).map_err(|error| damaged(table, key, &error.to_string()))
}
