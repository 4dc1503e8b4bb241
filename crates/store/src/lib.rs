//! Where Punctual keeps its records.
//!
//! - [`port`]: what a store must do, atomically. Everything above the stores uses only this.
//! - [`inbox`]: messages that programs leave beside a store, to become notices.
//! - [`model`]: the plainest thing that does it, in memory; the yardstick for the others.
//! - [`local`]: the embedded store: indexes in memory, a journal on disk (or none: `memory:`).
//! - [`redis`]: the store for several nodes, over Redis.
//! - [`migrate`]: everything from one store to another.
//! - `conformance`: one suite of checks over the port, run against every store (a feature).
//! - [`clock`]: the clock a store decides due times and holds by.
//! - [`measure`]: what a store measures of itself.

pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod format;
pub mod inbox;
pub mod local;
mod loopback;
pub mod measure;
pub mod migrate;
pub mod model;
pub mod port;
pub mod redis;

pub use clock::{Clock, DevClock, Instant, ManualClock, MovableClock, SystemClock};
pub use inbox::{Inbox, InboxLists, Received};
pub use measure::Measures;
pub use port::{
    Announced, AuditEntry, AuditPage, Backup, Change, Changes, Classes, Effect, EventId, Heard,
    Hearing, Keyed, KeyedItem, Listing, Lost, Memories, Memory, NoBackup, NodeCard, OwnerChange,
    OwnerListing, OwnerPage, Page, Push, PushRefusal, Pushed, PutQueue, QueueStats, Receipt,
    Remembered, Revision, Sort, Store, StoreError, Stored, StoredOwner, Take, Taken, Taker,
    Transaction, Transfer, Wake, Written,
};
