//! What may happen in Punctual: records, states, decisions. Pure: no IO, no clock, no randomness.
//!
//! ```text
//!   record ──┐
//!   event ───┼──▶ decide ──▶ Decision { the record after it, its fate, what else must happen }
//!   now ─────┘                   └── a store commits all of it in one atomic step, or none
//! ```
//!
//! Every rule about retries, failures, ends and merging lives here and nowhere else, so that it is
//! the same over every store. Time and random values come in as parameters, which makes each rule
//! testable in microseconds and the whole server drivable by a movable clock.
//!
//! - [`time`], [`name`], [`json`], [`token`], [`Shared`]: the small values everything is made of.
//! - [`queue`]: a queue's record and settings. [`retry`]: when to try again.
//! - [`task`]: a task's record, its state machine and every decision about it.
//! - [`owner`]: what spans several tasks. [`bundle`]: payloads that fall due together. [`plan`]: work
//!   that a calendar makes due, by the rules of [`calendar`].
//! - [`flow`]: steps that wait for each other. [`worker`]: who registered to be given tasks. [`vote`]:
//!   the answers of all of them to one task.
//! - [`notice`]: tasks that call a URL until it says that it has understood.
//! - [`transaction`]: changes of records that happen together, fenced on the versions they were made from.
//! - [`access`]: access tokens, their rights and limits.
//! - [`trace`]: the trace a task belongs to, and its spans there.
//! - [`announce`]: what is told of all this to whoever listens.
//! - [`etag`]: tags of what requests can change, for conditional changes.
//! - [`why`]: the explanation a person gets for a task that is not running.

pub mod access;
pub mod announce;
pub mod bundle;
pub mod calendar;
pub mod callback;
pub mod error;
pub mod etag;
pub mod flow;
pub mod http;
pub mod json;
pub mod limits;
mod mode;
pub mod name;
pub mod notice;
mod object;
pub mod owner;
pub mod patch;
pub mod plan;
pub mod queue;
pub mod rename;
pub mod retry;
mod shared;
pub mod task;
pub mod time;
pub mod token;
pub mod trace;
pub mod transaction;
pub mod vote;
pub mod why;
pub mod worker;

pub use access::{AccessToken, Right, Scope, TokenLimits, TokenUse};
pub use announce::{Announcement, Announcements};
pub use bundle::Bundle;
pub use callback::Callback;
pub use error::{Invalid, Refusal};
pub use etag::{ETag, IfMatch};
pub use flow::{Flow, FlowStep};
pub use json::RawJson;
pub use mode::WrongMode;
pub use name::{FlowId, PlanId, QueueName, StepName, TaskId, TokenName, WorkerName};
pub use owner::{Owner, OwnerDecision, OwnerKey, OwnerKind, OwnerRef};
pub use patch::Patch;
pub use plan::Plan;
pub use queue::{Queue, Settings};
pub use retry::RetryPolicy;
pub use shared::Shared;
pub use task::{Decision, Event, Fate, NewTask, Spec, State, Status, Task, Verb};
pub use time::{Span, Timestamp};
pub use token::{Seed, Token};
pub use trace::TraceParent;
pub use transaction::{
    Change, Changes, Keyed, KeyedItem, OwnerChange, Revision, Stored, StoredOwner, Transaction,
};
pub use vote::Vote;
pub use worker::Worker;
