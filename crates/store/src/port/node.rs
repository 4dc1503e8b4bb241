//! The servers that use a store, as they know of each other.

use punctual_core::Timestamp;
use serde::{Deserialize, Serialize};

/// How a server introduces itself to those it shares a store with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCard {
    /// A name that no other has, new with every start.
    pub id: String,
    /// Where it listens.
    pub address: String,
    /// Its version.
    pub version: String,
    /// When it began to serve.
    pub started_at: Timestamp,
    /// When it last said so.
    pub seen_at: Timestamp,
}
