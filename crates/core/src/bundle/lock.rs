//! Bundles in the hands of workers: schedule, get, complete, release.

use super::{Bundle, BundleState, Lock};
use crate::error::Invalid;
use crate::limits::STARTED_MS;
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
    /// It has not failed, and nothing keeps it waiting.
    #[error("retry does not apply to a bundle that is {0}")]
    NotFailed(&'static str),
    /// A field breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// What a get gives its caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Got {
    /// The bundle, locked.
    pub bundle: Bundle,
    /// How many payloads, from the first on.
    pub number: u64,
}

impl Bundle {
    /// A worker is told that it is due. Until it is got, nobody else is told for a while.
    #[must_use]
    pub fn start(mut self, queue: &Settings, now: Timestamp) -> Self {
        let alone = queue.abandon_after.unwrap_or(Span::from_millis(STARTED_MS));
        self.state = BundleState::Started { at: now };
        self.due_at = now + alone;
        self.abandoned_at = queue.abandon_after.map(|span| now + span);
        self
    }

    /// It was scheduled and nobody got it in time. None: it is dropped.
    pub fn abandon(mut self, queue: &Settings) -> Option<Self> {
        self.abandoned_at = None;
        if queue.abandoned == Abandoned::Drop {
            return None;
        }
        self.fail("abandoned".to_owned());
        Some(self)
    }

    /// Gives it up and keeps it.
    pub(super) fn fail(&mut self, error: String) {
        self.state = BundleState::Failed;
        self.error = Some(error);
        self.later = None;
    }

    /// Locks it for a worker, which gets its first payloads: at most `number`, and at most the
    /// `available` that fit into one answer.
    pub fn get(
        mut self,
        number: Option<u64>,
        available: u64,
        timeout: Span,
        random: &str,
        now: Timestamp,
    ) -> Result<Got, BundleRefusal> {
        let mut had = self.size;
        let mut number = number.unwrap_or(u64::MAX).min(available);
        match self.lock(now) {
            Some(lock) if lock.random != random => return Err(BundleRefusal::Locked(lock.until)),
            // The same caller again: it gets the same, for longer.
            Some(lock) => (number, had) = (lock.got, lock.had),
            None if self.state == BundleState::Failed => return Err(BundleRefusal::Failed),
            None => self.later = None,
        }
        let until = now + timeout;
        let random = random.to_owned();
        self.state = BundleState::Locked(Lock { random, until, got: number, had });
        self.abandoned_at = None;
        self.overwrite = true;
        self.wait_for_lock();
        Ok(Got { bundle: self, number })
    }

    /// The first payloads are dealt with; all that were got if no number is named. None: nothing is
    /// left of it.
    pub fn complete(
        mut self,
        number: Option<u64>,
        random: &str,
        now: Timestamp,
    ) -> Result<(Option<Self>, u64), BundleRefusal> {
        let lock = self.own_lock(random, now)?;
        let (got, had) = (lock.got, lock.had);
        let number = number.unwrap_or(got);
        if number > got {
            let rule = format!("at most the {got} that were got");
            return Err(Invalid::new("number", rule).into());
        }
        self.state = BundleState::Waiting;
        self.overwrite = false;
        Ok((self.without(number, had, now), number))
    }

    /// What is left when the first payloads of those it `had` are gone: what was there before is due
    /// now, what came later at its own time.
    pub(super) fn without(mut self, number: u64, had: u64, now: Timestamp) -> Option<Self> {
        self.size -= number;
        if self.size == 0 {
            return None;
        }
        let later = self.later.take();
        if number < had {
            self.due_at = now;
        } else if let Some(later) = later {
            self.due_at = later.due_at;
            self.latest = later.latest;
            self.first_at = later.first_at;
        } else {
            // It came between the look at what there was and the word that it is under way.
            self.due_at = self.asked_at;
            self.latest = None;
            self.first_at = now;
        }
        Some(self)
    }

    /// A worker gives it back, due at `ontime`, or when its lock would have ended.
    pub fn release(
        mut self,
        random: &str,
        ontime: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Self, BundleRefusal> {
        if self.state == BundleState::Failed {
            return Err(BundleRefusal::Failed);
        }
        match self.lock(now) {
            Some(lock) if lock.random != random => return Err(BundleRefusal::Locked(lock.until)),
            _ => {}
        }
        if let BundleState::Locked(lock) = &self.state {
            self.due_at = self.later.take().map_or(lock.until, |later| later.due_at);
            self.state = BundleState::Waiting;
        }
        self.due_at = ontime.unwrap_or(self.due_at);
        Ok(self)
    }

    /// Somebody wants it dealt with now: it failed, or waits after it was got in vain.
    pub fn retry(mut self, now: Timestamp) -> Result<Self, BundleRefusal> {
        if let Some(lock) = self.lock(now) {
            return Err(BundleRefusal::Locked(lock.until));
        }
        if self.state != BundleState::Failed && !self.overwrite {
            return Err(BundleRefusal::NotFailed(self.state_name(now)));
        }
        self.state = BundleState::Waiting;
        self.error = None;
        self.due_at = now;
        Ok(self)
    }

    fn own_lock(&self, random: &str, now: Timestamp) -> Result<&Lock, BundleRefusal> {
        match self.lock(now) {
            Some(lock) if lock.random == random => Ok(lock),
            Some(lock) => Err(BundleRefusal::Locked(lock.until)),
            None => Err(BundleRefusal::NotLocked(self.state_name(now))),
        }
    }
}
