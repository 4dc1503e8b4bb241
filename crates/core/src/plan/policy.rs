//! The policy of a plan for runs that fail for good: whether it stops or goes on.

use serde::{Deserialize, Serialize};

use super::{Order, Plan};
use crate::error::Invalid;

/// The most failures in a row that a policy can name.
const STOP_AFTER_MAX: u32 = 1_000_000;

/// What a run that fails for good makes of its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "stop, continue or {\"stop_after\":n}")]
pub enum OnError {
    /// The plan stops until somebody resumes it.
    #[default]
    Stop,
    /// The plan goes on to its next time.
    Continue,
    /// The plan goes on until so many runs in a row have failed.
    StopAfter(u32),
}

impl OnError {
    /// Checks the number of failures.
    pub(super) fn check(self) -> Result<(), Invalid> {
        match self {
            Self::StopAfter(n) if !(1..=STOP_AFTER_MAX).contains(&n) => {
                Err(Invalid::new("on_error.stop_after", "a whole number from 1 to 1000000"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a plan goes on after so many failures in a row.
    fn goes_on(self, failures: u32) -> bool {
        match self {
            Self::Stop => false,
            Self::Continue => true,
            Self::StopAfter(n) => failures < n,
        }
    }
}

impl Order {
    /// Its policy for runs that fail.
    pub fn on_error(&self) -> OnError {
        self.on_error.unwrap_or_default()
    }
}

impl Plan {
    /// How many of its runs have failed in a row.
    pub fn failures(&self) -> u32 {
        self.failures.unwrap_or(0)
    }

    /// Counts a failed run of the rule. True: the plan goes on.
    pub(super) fn count_failure(&mut self) -> bool {
        let failures = self.failures().saturating_add(1);
        self.failures = Some(failures);
        self.order.on_error().goes_on(failures)
    }
}
