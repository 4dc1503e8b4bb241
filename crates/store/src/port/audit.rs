//! What was done to a store's server as a whole, for whoever answers for it.

use punctual_core::Timestamp;
use serde::{Deserialize, Serialize};

/// How many entries are kept of each token and kind, over all servers that share a store.
pub const AUDIT_ENTRIES_MAX: usize = 1_000;

/// Something somebody did, or tried to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who: the beginning of a token's hash.
    pub who: String,
    /// The address it came from.
    pub from: String,
    /// What was done.
    pub action: String,
    /// To what.
    pub target: String,
    /// The HTTP status it was answered with.
    pub status: u16,
}

/// A page of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The entries, the newest first.
    pub items: Vec<AuditEntry>,
    /// Where the next page begins; none: this was the last.
    pub next: Option<String>,
}
