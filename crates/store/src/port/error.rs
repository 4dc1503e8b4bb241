//! Why a store did not do what it was asked, and whether it may have done it all the same.

/// Whether a request that got an error may still have taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changed nothing.
    None,
    /// It may or may not have been carried out; repeating it under its id or key is safe.
    Unknown,
}

/// A store that cannot do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// No writes or no answers now; later perhaps.
    #[error("{reason}")]
    Unavailable {
        /// What is wrong.
        reason: String,
        /// Whether the request may have taken effect.
        effect: Effect,
    },
    /// A record cannot be read.
    #[error("{place} cannot be read: {reason}")]
    Corrupt {
        /// Where it lies.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A cursor that this store did not give out.
    #[error("cursor: not one that a list answered")]
    BadCursor,
    /// The store cannot be opened.
    #[error("{0}")]
    Open(String),
}

impl StoreError {
    /// The same about a request that has changed something already: it may have taken effect.
    #[must_use]
    pub fn in_doubt(self) -> Self {
        match self {
            Self::Unavailable { reason, .. } => {
                Self::Unavailable { reason, effect: Effect::Unknown }
            }
            other => other,
        }
    }

    /// The same about a request that was not even sent: it has changed nothing.
    #[must_use]
    pub(crate) fn unsent(self) -> Self {
        match self {
            Self::Unavailable { reason, .. } => Self::unavailable(reason),
            other => other,
        }
    }

    /// Nothing was changed, and nothing can be for now.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), effect: Effect::None }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}
