//! Bundles in the hands of workers: schedule, get, complete, release; and what time makes of them.

use super::{Bundle, BundleState, Later, Lock, Sent};
use crate::error::Invalid;
use crate::limits::STARTED_MS;
use crate::owner::{Around, Owner, OwnerDecision};
use crate::queue::{Abandoned, Settings};
use crate::time::{Span, Timestamp};

/// Why a bundle stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleRefusal {
    /// Somebody else has it.
    #[error("the bundle is locked by another until {0}; try again after that")]
    Locked(Timestamp),
    /// It is not the caller's.
    #[error("the bundle is {0} and not locked with this random; get it first")]
    NotLocked(&'static str),
    /// It has failed.
    #[error("the bundle is failed; retry it, or push into it")]
    Failed,
    /// A worker was told of it.
    #[error("retry does not apply to a bundle that is {0}")]
    UnderWay(&'static str),
    /// A field breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// What a worker asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Get {
    /// How many payloads at most; all if none is given.
    pub number: Option<u64>,
    /// How long it is locked.
    pub timeout: Span,
    /// What its holder shows.
    pub random: String,
}

impl Get {
    /// Checks every field.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.number == Some(0) {
            return Err(Invalid::new("number", "at least 1"));
        }
        if self.timeout.is_zero() {
            return Err(Invalid::new("timeout", "longer than 0"));
        }
        Ok(())
    }
}

impl Bundle {
    /// The bundle as time has left it: a lock that has ended leaves it waiting, and if it was
    /// scheduled and nobody got it in time it is abandoned. None: that means it is dropped.
    pub fn lapsed(mut self: Box<Self>, queue: &Settings, now: Timestamp) -> Option<Box<Self>> {
        if self.abandoned_at.is_some_and(|at| at <= now) {
            if queue.abandoned == Abandoned::Drop {
                return None;
            }
            self.fail("abandoned".to_owned());
        }
        if let BundleState::Locked(Lock { until, .. }) = self.state
            && until <= now
        {
            self.state = BundleState::Waiting;
            self.in_vain(until);
            self.due_at = self.due_at.max(until);
        }
        Some(self)
    }

    /// Decides what becomes of it when it is to be looked after.
    pub fn ring(self: Box<Self>, around: &Around<'_>) -> Option<OwnerDecision> {
        self.abandoned_at.filter(|at| *at <= around.now)?;
        Some(match self.lapsed(around.queue, around.now) {
            Some(bundle) => OwnerDecision::keep(Owner::Bundle(bundle)),
            None => OwnerDecision::remove(),
        })
    }

    /// A worker is told that it is due. Until it is got, nobody else is told for a while.
    pub fn start(&mut self, queue: &Settings, now: Timestamp) {
        let until = now + queue.abandon_after.unwrap_or(Span::from_millis(STARTED_MS));
        self.state = BundleState::Started { at: now, until };
        self.due_at = until;
        self.abandoned_at = queue.abandon_after.map(|_| until);
    }

    /// Locks it for a worker, and says how many payloads that gets, from the first on. At most
    /// `available` fit into one answer.
    pub fn get(&mut self, get: &Get, available: u64, now: Timestamp) -> Result<u64, BundleRefusal> {
        let mut had = self.size;
        let mut got = get.number.unwrap_or(u64::MAX).min(available);
        match self.lock(now) {
            Some(lock) if lock.random != get.random => {
                return Err(BundleRefusal::Locked(lock.until));
            }
            // The same caller again: it gets the same, for longer.
            Some(lock) => (got, had) = (lock.got, lock.had),
            None if self.state == BundleState::Failed => return Err(BundleRefusal::Failed),
            None => self.later = None,
        }
        let until = now + get.timeout;
        let random = get.random.clone();
        self.state = BundleState::Locked(Lock { random, until, got, had });
        self.abandoned_at = None;
        self.overwrite = true;
        self.wait_for_lock();
        Ok(got)
    }

    /// The first payloads are dealt with, all that were got if no number is named. Says how many, and
    /// what is left.
    pub fn complete(
        self: Box<Self>,
        number: Option<u64>,
        random: &str,
        now: Timestamp,
    ) -> Result<(u64, Option<Box<Self>>), BundleRefusal> {
        let lock = match self.lock(now) {
            Some(lock) if lock.random == random => lock,
            Some(lock) => return Err(BundleRefusal::Locked(lock.until)),
            None => return Err(BundleRefusal::NotLocked(self.state_name(now))),
        };
        let number = number.unwrap_or(lock.got);
        if number > lock.got {
            let rule = format!("at most the {} that were got", lock.got);
            return Err(Invalid::new("number", rule).into());
        }
        let sent = Sent { number, had: lock.had };
        Ok((number, self.without(sent, now)))
    }

    /// What is left when the first payloads are gone: what was there before is due now, what came
    /// later at its own time.
    pub(super) fn without(mut self: Box<Self>, sent: Sent, now: Timestamp) -> Option<Box<Self>> {
        self.size = self.size.saturating_sub(sent.number);
        if self.size == 0 {
            return None;
        }
        self.state = BundleState::Waiting;
        self.overwrite = false;
        match self.later.take() {
            Some(later) if sent.number >= sent.had => self.wait_for(later),
            _ => self.due_at = now,
        }
        Some(self)
    }

    /// A worker gives it back, due at `ontime`; if it names none, at the time of what was pushed
    /// meanwhile or when its lock would have ended.
    pub fn release(
        &mut self,
        random: &str,
        ontime: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), BundleRefusal> {
        match (self.lock(now).cloned(), &self.state) {
            (Some(lock), _) if lock.random != random => {
                return Err(BundleRefusal::Locked(lock.until));
            }
            (Some(lock), _) => {
                self.state = BundleState::Waiting;
                self.in_vain(lock.until);
            }
            (None, BundleState::Failed) => return Err(BundleRefusal::Failed),
            (None, _) => {}
        }
        // Once its get is completed by another, it is no longer this worker's to move.
        if let Some(ontime) = ontime.filter(|_| self.overwrite) {
            self.move_to(ontime);
        }
        Ok(())
    }

    /// Somebody wants it dealt with now: it failed, or waits for its time.
    pub fn retry(&mut self, now: Timestamp) -> Result<(), BundleRefusal> {
        if let Some(lock) = self.lock(now) {
            return Err(BundleRefusal::Locked(lock.until));
        }
        if matches!(self.state, BundleState::Started { .. }) && !self.overwrite {
            return Err(BundleRefusal::UnderWay(self.state_name(now)));
        }
        self.state = BundleState::Waiting;
        self.error = None;
        self.due_at = now;
        Ok(())
    }

    /// Gives it up and keeps it.
    pub(super) fn fail(&mut self, error: String) {
        self.state = BundleState::Failed;
        self.error = Some(error);
        self.abandoned_at = None;
        self.overwrite = false;
        self.later = None;
    }

    /// What was under way came to nothing: it is due when what was pushed meanwhile is, or else at
    /// `otherwise`. From now on what is pushed sets the time.
    pub(super) fn in_vain(&mut self, otherwise: Timestamp) {
        self.overwrite = true;
        match self.later.take() {
            Some(later) => self.wait_for(later),
            None => {
                self.due_at = otherwise;
                self.latest = None;
                self.first_at = None;
            }
        }
    }

    /// It is due when what came later is.
    pub(super) fn wait_for(&mut self, later: Later) {
        self.due_at = later.due_at;
        self.latest = later.latest;
        self.first_at = Some(later.first_at);
    }

    /// A locked bundle is due again when its lock ends, or when what came later is due after that.
    pub(super) fn wait_for_lock(&mut self) {
        if let BundleState::Locked(lock) = &self.state {
            self.due_at = self.later.map_or(lock.until, |later| later.due_at.max(lock.until));
        }
    }

    /// Makes it due at a time; not before a worker that was just told of it had time to come.
    pub(super) fn move_to(&mut self, due_at: Timestamp) {
        self.due_at = match self.state {
            BundleState::Started { until, .. } => due_at.max(until),
            _ => due_at,
        };
    }
}
