//! What the port says about backups: a copy of a store as one file.

use std::fs::File;

use tokio::sync::OwnedSemaphorePermit;

use super::StoreError;

/// A copy of a store at one moment. The space it takes is free again when it is dropped, and then the
/// next can be made.
#[derive(Debug)]
pub struct Backup {
    /// The copy, open at its beginning. It has no name any more.
    pub file: File,
    /// Its length.
    pub bytes: u64,
    /// Whoever holds this is the only one who makes a copy.
    pub(crate) _turn: OwnedSemaphorePermit,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum NoBackup {
    /// This store is not copied like that; the text says what to do instead.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Another is being made, or was not read to its end yet.
    #[error("a backup is being made already; ask again when it is done")]
    UnderWay,
    /// The store cannot do it now.
    #[error(transparent)]
    Store(#[from] StoreError),
}
