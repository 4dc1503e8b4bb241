//! What people do to a flow as a whole.
//!
//! A verb changes the flow's own record at once. What it means for its tasks is carried out step by
//! step while all steps are looked through, which is taken up again wherever a server stopped.

use std::fmt;

use super::{Flow, FlowState};
use crate::time::Timestamp;

/// What people do to a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowVerb {
    /// End it.
    Cancel,
    /// Start no more steps.
    Pause,
    /// Let it go on.
    Resume,
    /// Make the steps again that failed.
    Retry,
}

impl fmt::Display for FlowVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Retry => "retry",
        })
    }
}

/// A verb that does not apply to a flow as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{verb} does not apply to a flow that is {}", state.name())]
pub struct FlowRefusal {
    /// What was asked.
    pub verb: FlowVerb,
    /// The state that forbids it.
    pub state: FlowState,
}

impl Flow {
    /// Carries out a verb; the flow stays as it is if it is that already.
    pub fn carry_out(mut self, verb: FlowVerb, now: Timestamp) -> Result<Self, FlowRefusal> {
        use FlowState as S;
        match (verb, self.state) {
            (FlowVerb::Cancel, S::Cancelling | S::Cancelled)
            | (FlowVerb::Pause, S::Paused)
            | (FlowVerb::Resume, S::Running) => return Ok(self),
            (FlowVerb::Cancel, S::Running | S::Paused) => self.state = S::Cancelling,
            (FlowVerb::Pause, S::Running) => self.state = S::Paused,
            (FlowVerb::Resume, S::Paused) => self.state = S::Running,
            (FlowVerb::Retry, S::Failed | S::Cancelled) => self.try_again(),
            (verb, state) => return Err(FlowRefusal { verb, state }),
        }
        self.sweeps = self.sweeps.wrapping_add(1);
        self.settle(now);
        Ok(self)
    }

    /// What failed or was cancelled waits again.
    fn try_again(&mut self) {
        self.state = FlowState::Running;
        self.finished_at = None;
        self.round += 1;
        let counts = &mut self.counts;
        counts.pending += counts.failed + counts.cancelled;
        counts.failed = 0;
        counts.cancelled = 0;
    }

    /// Ends it when nothing lives and nothing is to be started.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let counts = self.counts;
        if counts.living > 0 || self.state.is_finished() {
            return;
        }
        let end = if counts.done == counts.total() {
            FlowState::Done
        } else if self.state == FlowState::Cancelling {
            FlowState::Cancelled
        } else if self.state == FlowState::Running && !self.is_to_be_swept() {
            FlowState::Failed
        } else {
            return;
        };
        self.state = end;
        self.finished_at = Some(now);
        self.swept = self.sweeps;
    }
}
