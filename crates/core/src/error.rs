//! Why a request is refused.

use std::borrow::Cow;
use std::fmt;

use crate::task::{State, Verb};

/// A field that breaks its rule. Displays as `field: rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The field at fault, as the request spells it.
    pub field: Cow<'static, str>,
    /// The rule it breaks, as an instruction.
    pub rule: Cow<'static, str>,
}

impl Invalid {
    /// Names the field at fault and the rule it breaks.
    pub fn new(field: impl Into<Cow<'static, str>>, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), rule: rule.into() }
    }

    /// The same complaint about a field that lies inside `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field).into(), rule: self.rule }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.rule)
    }
}

impl std::error::Error for Invalid {}

/// A decision that a request changes nothing, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A field is over its size limit.
    #[error("{field}: at most {limit_bytes} bytes")]
    TooLarge {
        /// The field that is too large.
        field: &'static str,
        /// Its limit.
        limit_bytes: usize,
    },
    /// The token is not the current holder's.
    #[error("the token is not the current holder's; take the task again to get a valid one")]
    StaleToken,
    /// It was changed since the request's sender read it.
    #[error("If-Match: it was changed since; read it again and repeat the change")]
    Changed,
    /// The verb does not apply in the task's state.
    #[error("{verb} does not apply to a task that is {state}")]
    WrongState {
        /// What was asked.
        verb: Verb,
        /// The state that forbids it.
        state: State,
    },
    /// A run of a plan or a step of a flow cannot be started over on its own.
    #[error("{verb} does not apply to a task that belongs to a {owner}; {state} as it is")]
    Owned {
        /// What was asked.
        verb: Verb,
        /// `plan` or `flow`.
        owner: &'static str,
        /// The task's state.
        state: State,
    },
}

/// Refuses a text over its limit.
pub(crate) fn check_size(
    field: &'static str,
    bytes: usize,
    limit_bytes: usize,
) -> Result<(), Refusal> {
    if bytes > limit_bytes {
        return Err(Refusal::TooLarge { field, limit_bytes });
    }
    Ok(())
}
