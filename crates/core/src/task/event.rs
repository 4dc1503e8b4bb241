//! The events: what can happen to a task, and the checks of what they carry.

use super::push::{check_priority, check_tags};
use super::state::Verb;
use crate::bundle::Sent;
use crate::error::{Invalid, Refusal, check_size};
use crate::etag::IfMatch;
use crate::http::Delivery;
use crate::json::RawJson;
use crate::limits::{PAYLOAD_BYTES_MAX, TEXT_BYTES_MAX};
use crate::name::WorkerName;
use crate::patch::Patch;
use crate::retry::RetryPolicy;
use crate::time::{Span, Timestamp};
use crate::token::Token;
use crate::vote::Answer;

/// Something that happens to a task.
#[derive(Debug, Clone)]
pub enum Event {
    /// Its holder confirms.
    Confirm {
        /// The holder's token.
        token: Token,
    },
    /// Its holder needs longer, or reports.
    Extend {
        /// The holder's token.
        token: Token,
        /// What it reports.
        extension: Extension,
    },
    /// Its holder settles it.
    Settle {
        /// The holder's token.
        token: Token,
        /// How.
        settlement: Settlement,
    },
    /// Somebody wants a worker to have it.
    Assign {
        /// The worker.
        worker: WorkerName,
        /// The token it will hold it by.
        token: Token,
        /// Most tasks the worker can hold.
        capacity: usize,
    },
    /// Its vote begins, or goes on after a voter has said something.
    Vote {
        /// When the last ballot runs out.
        until: Timestamp,
        /// How a voter settled its ballot, for a repeat of that verb.
        settled: Option<(Token, Verb)>,
    },
    /// All have voted on it.
    Tally {
        /// What each of them said.
        answers: Vec<Answer>,
        /// How the last voter settled its ballot.
        settled: Option<(Token, Verb)>,
    },
    /// Somebody wants it cancelled.
    Cancel,
    /// Somebody wants it set aside.
    Pause,
    /// Somebody wants it to go on.
    Resume,
    /// Somebody wants it tried again now.
    Retry {
        /// Even if somebody holds it.
        force: bool,
    },
    /// Somebody wants it like new.
    Reset,
    /// Somebody changes what was pushed.
    Edit(Edit),
    /// Somebody wants it gone.
    Clean,
    /// Its time to confirm or its hold is over.
    HoldEnd,
    /// It was not started in time.
    Expire,
}

/// What a holder reports while it works.
#[derive(Debug, Clone, Default)]
pub struct Extension {
    /// The new length of the hold, from now; as long as before if none.
    pub hold: Option<Span>,
    /// How far it is, from 0 to 1.
    pub progress: Option<f64>,
    /// A word on where it is.
    pub message: Option<String>,
    /// What its next holder would need to go on.
    pub checkpoint: Option<RawJson>,
}

/// How a holder ends its hold.
#[derive(Debug, Clone)]
pub enum Settlement {
    /// Done.
    Commit {
        /// What it came to.
        result: Option<RawJson>,
    },
    /// Failed.
    Fail {
        /// What went wrong.
        error: Option<String>,
        /// The wait until the next attempt, instead of the policy's.
        retry_in: Option<Span>,
        /// Whether trying again is no use.
        permanent: bool,
    },
    /// Given back; the take does not count.
    Release {
        /// The wait until it is ready again.
        delay: Option<Span>,
        /// What its next holder needs to go on.
        checkpoint: Option<RawJson>,
    },
    /// The acknowledgement of a cancel.
    Cancelled(Acknowledgement),
    /// The acknowledgement of a pause.
    Paused(Acknowledgement),
    /// An attempt to deliver has ended, well or not.
    Delivered(Box<Delivery>),
}

/// What a holder leaves behind when it stops on request.
#[derive(Debug, Clone, Default)]
pub struct Acknowledgement {
    /// What its next holder needs to go on.
    pub checkpoint: Option<RawJson>,
    /// What it came to so far.
    pub result: Option<RawJson>,
    /// What went wrong.
    pub error: Option<String>,
}

/// A change of what was pushed, possible while nobody has it.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// A new payload.
    pub payload: Option<RawJson>,
    /// A new due time; reset: now.
    pub due: Patch<Timestamp>,
    /// A new priority; reset: 0.
    pub priority: Patch<i32>,
    /// New tags; reset: none.
    pub tags: Patch<Vec<String>>,
    /// New waits; reset: the queue's.
    pub retry: Patch<RetryPolicy>,
    /// A new expiry; reset: none.
    pub expires: Patch<Timestamp>,
    /// The version of the task that the edit expects; none: any.
    pub if_match: Option<IfMatch>,
}

impl Settlement {
    /// The verb it stands for.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Commit { .. } => Verb::Commit,
            Self::Fail { .. } => Verb::Fail,
            Self::Release { .. } => Verb::Release,
            Self::Cancelled(_) => Verb::Cancelled,
            Self::Paused(_) => Verb::Paused,
            Self::Delivered(_) => Verb::Deliver,
        }
    }

    /// Checks every field that can be judged without the task.
    pub fn check(&self) -> Result<(), Refusal> {
        let (json, text) = match self {
            Self::Commit { result } => ([("result", result), ("result", &None)], &None),
            Self::Fail { error, .. } => ([("result", &None), ("result", &None)], error),
            Self::Release { checkpoint, .. } => {
                ([("checkpoint", checkpoint), ("result", &None)], &None)
            }
            Self::Cancelled(left) | Self::Paused(left) => {
                ([("checkpoint", &left.checkpoint), ("result", &left.result)], &left.error)
            }
            // Made by the server, within the limits.
            Self::Delivered(_) => return Ok(()),
        };
        for (field, value) in json {
            check_size(field, value.as_ref().map_or(0, RawJson::len), PAYLOAD_BYTES_MAX)?;
        }
        check_size("error", text.as_ref().map_or(0, String::len), TEXT_BYTES_MAX)
    }
}

impl Extension {
    /// Checks every field.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.hold.is_some_and(Span::is_zero) {
            return Err(Invalid::new("hold", "longer than 0").into());
        }
        if self.progress.is_some_and(|progress| !(0.0..=1.0).contains(&progress)) {
            return Err(Invalid::new("progress", "a number from 0 to 1").into());
        }
        check_size("message", self.message.as_ref().map_or(0, String::len), TEXT_BYTES_MAX)?;
        let checkpoint = self.checkpoint.as_ref().map_or(0, RawJson::len);
        check_size("checkpoint", checkpoint, PAYLOAD_BYTES_MAX)
    }
}

impl Edit {
    /// Checks every field that can be judged without the task.
    pub fn check(&self) -> Result<(), Refusal> {
        check_size("payload", self.payload.as_ref().map_or(0, RawJson::len), PAYLOAD_BYTES_MAX)?;
        if let Patch::Set(priority) = self.priority {
            check_priority(priority)?;
        }
        if let Patch::Set(tags) = &self.tags {
            check_tags(tags)?;
        }
        Ok(())
    }
}

impl Event {
    /// The verb it stands for.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Confirm { .. } => Verb::Confirm,
            Self::Extend { .. } => Verb::Extend,
            Self::Settle { settlement, .. } => settlement.verb(),
            Self::Assign { .. } => Verb::Assign,
            Self::Vote { .. } => Verb::Vote,
            Self::Tally { .. } => Verb::Tally,
            Self::Cancel => Verb::Cancel,
            Self::Pause => Verb::Pause,
            Self::Resume => Verb::Resume,
            Self::Retry { force: false } => Verb::Retry,
            Self::Retry { force: true } => Verb::ForceRetry,
            Self::Reset => Verb::Reset,
            Self::Edit(_) => Verb::Edit,
            Self::Clean => Verb::Clean,
            Self::HoldEnd => Verb::HoldEnd,
            Self::Expire => Verb::Expire,
        }
    }

    /// The payloads of a bundle that the attempt carried whose end this is.
    pub(crate) fn sent(&self) -> Option<Sent> {
        match self {
            Self::Settle { settlement: Settlement::Delivered(delivery), .. } => delivery.sent,
            _ => None,
        }
    }

    pub(crate) fn token(&self) -> Option<Token> {
        match self {
            Self::Confirm { token } | Self::Extend { token, .. } | Self::Settle { token, .. } => {
                Some(*token)
            }
            _ => None,
        }
    }
}
