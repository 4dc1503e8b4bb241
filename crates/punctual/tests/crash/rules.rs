//! What may become of a task: the rules of the state machine once more, in the few words a ledger
//! needs to judge what it finds after a crash.

use std::collections::HashSet;

use punctual_client::State;

/// Something that was asked of a task, or that happens by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Push,
    Take,
    Confirm,
    Extend,
    Commit,
    Fail {
        permanent: bool,
        later: bool,
    },
    Release {
        later: bool,
    },
    /// The acknowledgement of a cancel or a pause.
    Stop,
    Cancel,
    Pause,
    Resume,
    Retry,
    Reset,
    Edit {
        version: u32,
    },
    Clean,
    /// A push under an id that is taken; it must be refused.
    PushAgain,
    /// Its wait is over.
    Due,
    HoldEnd,
}

/// How many attempts a task may have used before it is failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The limit it was given.
    pub(crate) least: u32,
    /// With those granted by retries and for pauses, as far as these were carried out.
    pub(crate) most: u32,
}

/// Where a task stands, as far as the ledger cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Standing {
    /// None: it is not there, never pushed or removed.
    pub(crate) state: Option<State>,
    pub(crate) attempt: u32,
    /// Whether the hold is the one whose token the ledger has.
    pub(crate) is_ours: bool,
}

impl Standing {
    pub(crate) const ABSENT: Self = Self { state: None, attempt: 0, is_ours: false };

    /// In a state, held by nobody we know.
    pub(crate) fn new(state: State, attempt: u32) -> Self {
        Self { state: Some(state), attempt, is_ours: false }
    }

    /// Where it may stand once an operation was carried out; nowhere if that is refused.
    pub(crate) fn after(self, op: Op, limits: Limits) -> Vec<Self> {
        use State as S;
        let Some(state) = self.state else {
            let pushed = vec![Self::new(S::Ready, 0), Self::new(S::Waiting, 0)];
            return if op == Op::Push { pushed } else { Vec::new() };
        };
        let to = |state| Self::new(state, self.attempt);
        let back_to = |state| Self::new(state, self.attempt.saturating_sub(1));
        let still = |state| Self { state: Some(state), ..self };
        let may_go_on = self.attempt < limits.most;
        let may_be_used_up = self.attempt >= limits.least;
        let again = |states: &[State]| {
            let states = if may_go_on { states } else { &[] };
            let failed = may_be_used_up.then_some(S::Failed);
            states.iter().copied().chain(failed).map(to).collect()
        };
        match (op, state) {
            (Op::Take, S::Ready) => {
                let taken = |state| Self::new(state, self.attempt + 1);
                vec![taken(S::Running), taken(S::Assigned)]
            }
            (Op::Confirm, S::Assigned) if self.is_ours => vec![still(S::Running)],
            (Op::Confirm | Op::Extend, _) if self.is_ours => vec![self],
            (Op::Commit, S::Running | S::Pausing | S::Cancelling) if self.is_ours => {
                vec![to(S::Done)]
            }
            (Op::Fail { permanent, .. }, S::Assigned | S::Running) if self.is_ours => {
                if permanent {
                    vec![to(S::Failed)]
                } else {
                    again(&[S::Ready, S::Waiting])
                }
            }
            (Op::Release { .. }, S::Assigned | S::Running) if self.is_ours => {
                vec![back_to(S::Ready), back_to(S::Waiting)]
            }
            (Op::Release { .. }, S::Pausing) if self.is_ours => vec![back_to(S::Paused)],
            (Op::Release { .. }, S::Cancelling) if self.is_ours => vec![back_to(S::Cancelled)],
            (Op::Fail { .. } | Op::Stop, S::Pausing) if self.is_ours => vec![to(S::Paused)],
            (Op::Fail { .. } | Op::Stop, S::Cancelling) if self.is_ours => vec![to(S::Cancelled)],
            (Op::Cancel, S::Ready | S::Waiting | S::Paused | S::Assigned) => {
                vec![to(S::Cancelled)]
            }
            (Op::Cancel, S::Running | S::Pausing) => vec![still(S::Cancelling)],
            (Op::Pause, S::Ready | S::Waiting | S::Assigned) => vec![to(S::Paused)],
            (Op::Pause, S::Running) => vec![still(S::Pausing)],
            (Op::Resume, S::Paused) => vec![to(S::Ready), to(S::Waiting)],
            (Op::Resume, S::Pausing) => vec![still(S::Running)],
            (Op::Retry, S::Waiting | S::Failed) => vec![to(S::Ready)],
            (Op::Retry, _) if state.is_held() => vec![to(S::Ready)],
            (Op::Reset, _) => vec![Self::new(S::Ready, 0), Self::new(S::Waiting, 0)],
            (Op::Clean, _) => vec![Self::ABSENT],
            (Op::Due, S::Waiting) => vec![to(S::Ready)],
            (Op::HoldEnd, S::Assigned | S::Running) => again(&[S::Ready]),
            (Op::HoldEnd, S::Pausing) => vec![to(S::Paused)],
            (Op::HoldEnd, S::Cancelling) => vec![to(S::Cancelled)],
            _ => Vec::new(),
        }
    }

    /// Where it may stand if the operation sent was carried out or not, once, and what happens by
    /// itself happened any number of times before and after.
    pub(crate) fn possible(
        self,
        sent: Option<Op>,
        by_itself: &[Op],
        limits: Limits,
    ) -> HashSet<Self> {
        let mut found = closed([self].into(), by_itself, limits);
        if let Some(op) = sent {
            let after = found.iter().flat_map(|at| at.after(op, limits)).collect();
            found.extend(closed(after, by_itself, limits));
        }
        found
    }
}

fn closed(mut found: HashSet<Standing>, by_itself: &[Op], limits: Limits) -> HashSet<Standing> {
    let mut open: Vec<Standing> = found.iter().copied().collect();
    while let Some(at) = open.pop() {
        for next in by_itself.iter().flat_map(|op| at.after(*op, limits)) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}
