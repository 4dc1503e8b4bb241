//! The journal: where the embedded store's rows lie.
//!
//! Rows are put and removed blindly by integer key; nothing is looked up on the way. What a key
//! means, and which rows belong together, is the business of the indexes in memory, which are
//! rebuilt from a scan of the journal at start.

use crate::port::StoreError;

/// The tables of a journal. Each maps an integer key to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Table {
    /// Facts about the store itself.
    Meta,
    /// Queues by number.
    Queue,
    /// What changes about tasks, by row.
    Status,
    /// What was pushed, by row.
    Spec,
    /// Receipts of commits, one row per group commit.
    Receipt,
    /// Requests with an idempotency key.
    Keyed,
    /// Owners, by row.
    Owner,
    /// Items of owners, by row.
    Item,
    /// What was done of late.
    Audit,
}

impl Table {
    /// Every table.
    pub(super) const ALL: [Self; 9] = [
        Self::Meta,
        Self::Queue,
        Self::Status,
        Self::Spec,
        Self::Receipt,
        Self::Keyed,
        Self::Owner,
        Self::Item,
        Self::Audit,
    ];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Queue => "queue",
            Self::Status => "status",
            Self::Spec => "spec",
            Self::Receipt => "receipt",
            Self::Keyed => "keyed",
            Self::Owner => "owner",
            Self::Item => "item",
            Self::Audit => "audit",
        }
    }
}

/// Why a journal did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum JournalError {
    /// No space is left. What was written since the last commit is rolled back; the journal goes on.
    #[error("the disk is full")]
    Full,
    /// Anything else. Nothing can be said about what reached the disk; the journal must not be used
    /// again.
    #[error("{0}")]
    Broken(String),
}

/// What a scan hands each row to.
pub(super) type Visit<'a> = dyn FnMut(u64, &[u8]) -> Result<(), StoreError> + 'a;

/// Reads rows.
pub(super) trait ReadRows: Send {
    /// The bytes under a key.
    fn get(&mut self, table: Table, key: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The bytes under each of many keys, in their order.
    fn get_many(&mut self, table: Table, keys: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        keys.iter().map(|key| self.get(table, *key)).collect()
    }

    /// Hands every row of a table to `visit`, in the order of their keys.
    fn scan(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<(), StoreError>;
}

/// A journal. Used by one thread only.
pub(super) trait Journal: ReadRows {
    /// Puts a row, whatever was there.
    fn put(&mut self, table: Table, key: u64, row: &[u8]) -> Result<(), JournalError>;

    /// Removes a row, if it is there.
    fn remove(&mut self, table: Table, key: u64) -> Result<(), JournalError>;

    /// Makes everything since the last commit durable, in one step.
    fn commit(&mut self) -> Result<(), JournalError>;

    /// Forgets everything since the last commit.
    fn roll_back(&mut self);

    /// Another reader of the same rows; it sees what is committed.
    fn reader(&self) -> Result<Box<dyn ReadRows>, StoreError>;

    /// Bytes that can still be written, where that is known.
    fn free_bytes(&self) -> Option<u64>;

    /// Puts everything in order before it is dropped. Without it what is committed stays committed,
    /// but the journal is left as a crash would leave it.
    fn close(&mut self);

    /// Gives space that is no longer used back, a little at a time. Called when nothing else is to
    /// do; true if there is more of it.
    fn tidy(&mut self) -> Result<bool, JournalError>;
}
