//! The task state machine as a table: state × verb → where it may lead.
//!
//! `docs/lifecycle.md` draws it. [`edge`] is the whole truth about which verb applies where; the
//! decisions in [`super::decide`] only choose among the states an edge allows.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumCount, EnumString, IntoStaticStr, VariantArray};

/// Where a task stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumCount,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// Not due yet, or waiting for its retry.
    Waiting,
    /// Due; the next taker gets it.
    Ready,
    /// Handed out, not confirmed.
    Assigned,
    /// Held by a worker.
    Running,
    /// Held; its holder was asked to pause.
    Pausing,
    /// Held; its holder was asked to stop for good.
    Cancelling,
    /// Set aside until resumed.
    Paused,
    /// Ended well.
    Done,
    /// Ended badly: out of attempts, failed for good, or expired.
    Failed,
    /// Ended on request.
    Cancelled,
}

/// What can happen to a task.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumCount,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Verb {
    /// A worker takes it.
    Take,
    /// Its holder confirms.
    Confirm,
    /// Its holder needs longer.
    Extend,
    /// Its holder is done.
    Commit,
    /// Its holder failed.
    Fail,
    /// Its holder gives it back.
    Release,
    /// Its holder acknowledges a cancel.
    Cancelled,
    /// Its holder acknowledges a pause.
    Paused,
    /// The server has tried to deliver it.
    Deliver,
    /// The server assigns it to a worker that somebody named.
    Assign,
    /// Its vote begins, or goes on.
    Vote,
    /// All have voted on it.
    Tally,
    /// Somebody wants it cancelled.
    Cancel,
    /// Somebody wants it set aside.
    Pause,
    /// Somebody wants it to go on.
    Resume,
    /// Somebody wants it tried again now.
    Retry,
    /// Somebody wants it tried again now, whoever holds it.
    #[strum(serialize = "retry with force")]
    ForceRetry,
    /// Somebody wants it like new.
    Reset,
    /// Somebody changes what was pushed.
    Edit,
    /// Somebody wants it gone.
    Clean,
    /// Its confirmation or hold time is over.
    #[strum(serialize = "the end of its hold")]
    HoldEnd,
    /// It was not started in time.
    #[strum(serialize = "expiry")]
    Expire,
}

impl State {
    /// Every state, in the order of a task's life.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Whether somebody has it.
    pub fn is_held(self) -> bool {
        matches!(self, Self::Assigned | Self::Running | Self::Pausing | Self::Cancelling)
    }

    /// Whether it has ended.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a verb does in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// It does not apply.
    Refused,
    /// It leads to one of these states.
    To(&'static [State]),
    /// It removes the task.
    Removed,
}

/// Where `verb` may lead a task that is `state`.
///
/// An edge to the same state is a verb repeated, or one that changes something else about the task.
pub fn edge(state: State, verb: Verb) -> Edge {
    use State as S;
    use Verb as V;
    let to: &'static [State] = match (state, verb) {
        (S::Ready, V::Take) => &[S::Assigned, S::Running],
        (S::Ready, V::Assign) => &[S::Assigned],

        (S::Assigned | S::Running, V::Confirm) => &[S::Running],
        (S::Pausing, V::Confirm | V::Extend) => &[S::Pausing],
        (S::Cancelling, V::Confirm | V::Extend) => &[S::Cancelling],
        (S::Running, V::Extend) => &[S::Running],

        (S::Running | S::Pausing | S::Cancelling, V::Commit) => &[S::Done],
        (S::Assigned | S::Running, V::Fail) => &[S::Waiting, S::Ready, S::Failed],
        (S::Assigned | S::Running, V::Release) => &[S::Waiting, S::Ready],
        (S::Pausing, V::Fail | V::Release | V::Paused | V::HoldEnd) => &[S::Paused],
        (S::Cancelling, V::Fail | V::Release | V::Cancelled | V::HoldEnd) => &[S::Cancelled],
        (S::Assigned | S::Running, V::HoldEnd) => &[S::Ready, S::Failed],
        (S::Running, V::Deliver) => &[S::Waiting, S::Ready, S::Done, S::Failed],
        (S::Pausing, V::Deliver) => &[S::Paused, S::Done, S::Failed],
        (S::Cancelling, V::Deliver) => &[S::Done, S::Cancelled],
        (S::Assigned | S::Running, V::Vote) => &[S::Running],
        (S::Running, V::Tally) => &[S::Done, S::Failed],

        (S::Waiting | S::Ready | S::Paused | S::Assigned | S::Cancelled, V::Cancel) => {
            &[S::Cancelled]
        }
        (S::Running | S::Pausing, V::Cancel) => &[S::Cancelling, S::Cancelled],
        (S::Cancelling, V::Cancel) => &[S::Cancelling],
        (S::Waiting | S::Ready | S::Paused | S::Assigned, V::Pause) => &[S::Paused],
        (S::Running, V::Pause) => &[S::Pausing, S::Paused],
        (S::Pausing, V::Pause) => &[S::Pausing],
        (S::Paused, V::Resume) => &[S::Waiting, S::Ready],
        (S::Pausing, V::Resume) => &[S::Running],

        (S::Waiting | S::Ready | S::Failed, V::Retry | V::ForceRetry) => &[S::Ready],
        (S::Assigned | S::Running | S::Pausing | S::Cancelling, V::ForceRetry) => &[S::Ready],
        (_, V::Reset) => &[S::Waiting, S::Ready],
        (S::Waiting | S::Ready, V::Edit) => &[S::Waiting, S::Ready],
        (S::Paused, V::Edit) => &[S::Paused],
        (S::Waiting | S::Ready | S::Paused, V::Expire) => &[S::Failed],
        (_, V::Clean) => return Edge::Removed,
        _ => return Edge::Refused,
    };
    Edge::To(to)
}
