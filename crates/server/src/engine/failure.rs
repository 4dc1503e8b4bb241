//! Why the engine did not do what it was asked.

use punctual_core::bundle::{BundleKey, BundleRefusal};
use punctual_core::flow::FlowRefusal;
use punctual_core::plan::PlanRefusal;
use punctual_core::{
    FlowId, Invalid, PlanId, QueueName, Refusal, TaskId, TokenName, WorkerName, WrongMode,
};
use punctual_store::{Effect, PushRefusal, StoreError};

use crate::code::Code;

/// Why a request, or an item of one, changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no such queue.
    #[error("there is no queue {0}; push a task to it, or create it with PUT /v1/queues/{0}")]
    NoQueue(QueueName),
    /// There is no such task.
    #[error(
        "there is no task {id} in queue {queue}; it was never pushed, was removed, or is no longer kept"
    )]
    NoTask {
        /// The queue.
        queue: QueueName,
        /// The id that was asked for.
        id: TaskId,
    },
    /// There is no such notice.
    #[error("there is no notice {0}; it was never sent, or is no longer kept")]
    NoNotice(TaskId),
    /// There is no such bundle.
    #[error(
        "there is no bundle {key:?} in queue {queue}; nothing was pushed, or all of it is delivered"
    )]
    NoBundle {
        /// The queue.
        queue: QueueName,
        /// The key that was asked for.
        key: BundleKey,
    },
    /// There is no such plan.
    #[error("there is no plan {0}; it was never made, was deleted, or finished a day ago")]
    NoPlan(PlanId),
    /// There is no such worker.
    #[error("there is no worker {0}; it never joined, left, or was not heard of for 30 seconds")]
    NoWorker(WorkerName),
    /// There is no such access token, as far as the caller may know.
    #[error("there is no access token {0}; it was never made, or was revoked")]
    NoToken(TokenName),
    /// An access token has that name.
    #[error("an access token has the name {0}; choose another, or revoke that one first")]
    TokenExists(TokenName),
    /// The caller's access token is over one of its limits.
    #[error("{0}")]
    Limited(String),
    /// Another incarnation of the worker has joined.
    #[error("another session of worker {0} has joined; what this one held went back")]
    OldSession(WorkerName),
    /// A plan has that id.
    #[error("a plan has the id {0}; make it under another, or change it with PUT /v1/plans/{0}")]
    PlanExists(PlanId),
    /// That does not apply to the plan as it stands.
    #[error(transparent)]
    Plan(#[from] PlanRefusal),
    /// There is no such flow.
    #[error("there is no flow {0}; it was never made, or ended a week ago")]
    NoFlow(FlowId),
    /// A flow that has not ended has that id.
    #[error("a flow that has not ended has the id {0}; make it under another")]
    FlowExists(FlowId),
    /// That does not apply to the flow as it stands.
    #[error(transparent)]
    Flow(#[from] FlowRefusal),
    /// `core` refused it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store refused the push.
    #[error("{refusal}; {}", next_step(*refusal))]
    Push {
        /// Why.
        refusal: PushRefusal,
    },
    /// Whoever asks for it may not.
    #[error("{0}")]
    Forbidden(String),
    /// The queue is not such that this applies.
    #[error("{0}")]
    WrongState(String),
    /// The `Idempotency-Key` belongs to another request.
    #[error("Idempotency-Key: it was used with another body; send the same body or a new key")]
    KeyReused,
    /// Others changed the record faster than this request could.
    #[error("it is being changed by many requests at once; repeat the request")]
    Contended,
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn next_step(refusal: PushRefusal) -> &'static str {
    match refusal {
        PushRefusal::Duplicate => "push under another id, or wait until that one has ended",
        PushRefusal::Owned => "push under another id",
        PushRefusal::Full => "nothing was stored; push again when tasks have ended",
    }
}

impl From<WrongMode> for Failure {
    fn from(refusal: WrongMode) -> Self {
        Self::WrongState(refusal.to_string())
    }
}

impl From<BundleRefusal> for Failure {
    fn from(refusal: BundleRefusal) -> Self {
        match refusal {
            BundleRefusal::Invalid(invalid) => Self::Refused(invalid.into()),
            refusal => Self::WrongState(refusal.to_string()),
        }
    }
}

impl Failure {
    /// A field breaks its rule.
    pub(crate) fn invalid(
        field: impl Into<std::borrow::Cow<'static, str>>,
        rule: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Self {
        Self::Refused(Invalid::new(field, rule).into())
    }

    /// Its code in the interface.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::NoQueue(_)
            | Self::NoTask { .. }
            | Self::NoNotice(_)
            | Self::NoBundle { .. }
            | Self::NoPlan(_)
            | Self::NoFlow(_)
            | Self::NoWorker(_)
            | Self::NoToken(_) => Code::NotFound,
            Self::Limited(_) => Code::Limited,
            Self::OldSession(_) => Code::StaleToken,
            Self::PlanExists(_) | Self::FlowExists(_) | Self::TokenExists(_) => Code::Duplicate,
            Self::Refused(refusal) => match refusal {
                Refusal::Invalid(_) => Code::Invalid,
                Refusal::TooLarge { .. } => Code::TooLarge,
                Refusal::StaleToken => Code::StaleToken,
                Refusal::Changed => Code::Changed,
                Refusal::WrongState { .. } | Refusal::Owned { .. } => Code::WrongState,
            },
            // A store remembers these codes by name, so their table is its own.
            Self::Push { refusal } => Code::named(refusal.code()).unwrap_or(Code::Internal),
            Self::WrongState(_) | Self::Plan(_) | Self::Flow(_) => Code::WrongState,
            Self::Forbidden(_) => Code::Forbidden,
            Self::KeyReused => Code::Invalid,
            Self::Contended => Code::Unavailable,
            Self::Store(error) => match error {
                StoreError::Unavailable { .. } => Code::Unavailable,
                StoreError::BadCursor => Code::Invalid,
                StoreError::Corrupt { .. } | StoreError::Open(_) => Code::Internal,
            },
        }
    }

    /// Whether the request may have taken effect all the same.
    pub(crate) fn effect(&self) -> Effect {
        match self {
            Self::Store(StoreError::Unavailable { effect, .. }) => *effect,
            _ => Effect::None,
        }
    }

    /// The same for a reading after a change: that has taken effect, whatever can be read of it.
    pub(crate) fn after_change(self) -> Self {
        match self {
            Self::Store(failure) => Self::Store(failure.in_doubt()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_is_refused_now_as_a_store_remembers_it() {
        for refusal in [PushRefusal::Duplicate, PushRefusal::Owned, PushRefusal::Full] {
            assert_eq!(Failure::Push { refusal }.code().name(), refusal.code());
        }
    }
}
