//! Pages of owners.

use punctual_core::{OwnerKind, QueueName, StoredOwner};

/// A page to read of owners, ordered by queue and name.
#[derive(Debug, Clone)]
pub struct OwnerListing {
    /// Which kind.
    pub kind: OwnerKind,
    /// Only those of this queue.
    pub queue: Option<QueueName>,
    /// Only those whose name begins like this.
    pub prefix: String,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// Most records to read.
    pub limit: usize,
}

/// A page of owners that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerPage {
    /// The owners.
    pub items: Vec<StoredOwner>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}
