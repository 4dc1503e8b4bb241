//! Reads, lets `core` decide, writes; and on a lost race again.
//!
//! ```text
//!   keys a request names ──▶ lock ──▶ decide ──▶ write ──▶ answer
//!                                     ▲  │ Missing  │ Lost: read again, after a pause
//!                                     └ read ◀──────┘
//! ```
//!
//! Only keys that a request names are locked, to spare this server races with itself. Everything else that a
//! decision depends on is fenced by the store.

use std::time::Duration;

use punctual_core::{
    Announcements, Changes, Keyed, KeyedItem, OwnerChange, OwnerKey, Revision, Timestamp,
    Transaction,
};
use punctual_store::{StoreError, Written};
use tracing::warn;

use super::records::{Halt, Records};
use super::write::Draft;
use super::{Engine, Failure, random};

/// How often a lost race is run again before the request is given up.
pub(super) const ROUNDS_MAX: u32 = 32;
/// The longest pause before the second round; it doubles up to [`PAUSE_MAX`].
const PAUSE_FIRST: Duration = Duration::from_micros(100);
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// The outcome of a decision.
pub(super) enum Verdict<T> {
    /// Write these changes, tell these events, and answer that.
    Write(Changes, Announcements, T),
    /// Nothing is to be written.
    Answer(T),
    /// A request with this key was answered before, or it is refused.
    Repeat {
        /// The key.
        keyed: Keyed,
        /// An owner beside which the key is remembered.
        beside: OwnerKey,
        /// Why it is refused if it is no repeat.
        refused: Failure,
    },
}

/// The outcome of a request.
pub(super) enum Done<T> {
    /// It took effect, or needed none.
    Now(T),
    /// It was answered before, with this status and these items.
    Before {
        /// The status.
        status: u16,
        /// The items.
        items: Vec<KeyedItem>,
    },
}

impl<T> Done<T> {
    /// The answer to a request without an `Idempotency-Key`.
    pub(super) fn answer(self) -> Result<T, Failure> {
        match self {
            Self::Now(answer) => Ok(answer),
            Self::Before { .. } => Err(Failure::Contended),
        }
    }
}

impl Engine {
    /// Decides from records and writes the decision. `decide` is called again whenever it lacks a record, and
    /// after every lost race.
    pub(super) async fn transact<T>(
        &self,
        keys: &[OwnerKey],
        decide: impl FnMut(&Records, Timestamp) -> Result<Verdict<T>, Halt>,
    ) -> Result<Done<T>, Failure> {
        let _locks = self.owner_locks.lock(keys).await;
        self.transact_locked(decide).await
    }

    /// The same for a request whose keys are locked already.
    pub(super) async fn transact_locked<T>(
        &self,
        mut decide: impl FnMut(&Records, Timestamp) -> Result<Verdict<T>, Halt>,
    ) -> Result<Done<T>, Failure> {
        for round in 0..ROUNDS_MAX {
            self.pause(round).await;
            let mut records = Records::default();
            let verdict = loop {
                match decide(&records, self.now()) {
                    Ok(verdict) => break verdict,
                    Err(Halt::Refused(failure)) => return Err(failure),
                    Err(Halt::Missing) => records.read(&*self.store).await?,
                }
            };
            let (changes, news, answer) = match verdict {
                Verdict::Write(changes, news, answer) => (changes, news, answer),
                Verdict::Answer(answer) => return Ok(Done::Now(answer)),
                Verdict::Repeat { keyed, beside, refused } => {
                    return self.repeat(keyed, beside, refused).await;
                }
            };
            match self.writer.write_one(Draft::told(changes, news)).await? {
                Written::Task(_) | Written::Records { .. } => return Ok(Done::Now(answer)),
                Written::Replayed { status, items } => return Ok(Done::Before { status, items }),
                Written::KeyReused => return Err(Failure::KeyReused),
                Written::Lost => {}
            }
        }
        Err(Failure::Contended)
    }

    /// Makes one decision for each item, from records that are read together.
    pub(super) async fn decide_each<T, D>(
        &self,
        mut items: Vec<T>,
        decide: impl Fn(&Records, &T, Timestamp) -> Result<Option<D>, Halt>,
    ) -> Result<Vec<D>, StoreError> {
        let (mut records, mut decided) = (Records::default(), Vec::new());
        while !items.is_empty() {
            let now = self.now();
            items.retain(|item| match decide(&records, item, now) {
                Ok(decision) => {
                    decided.extend(decision);
                    false
                }
                Err(Halt::Refused(failure)) => {
                    warn!(%failure, "not decided");
                    false
                }
                Err(Halt::Missing) => true,
            });
            records.read(&*self.store).await?;
        }
        Ok(decided)
    }

    /// Writes changes that were decided elsewhere. False: they lost their race.
    pub(super) async fn write(
        &self,
        changes: impl Into<Transaction>,
        news: Announcements,
    ) -> Result<bool, StoreError> {
        Ok(self.writer.write_one(Draft::told(changes, news)).await?.is_done())
    }

    /// Answers a request that was answered before, and refuses any other.
    async fn repeat<T>(
        &self,
        keyed: Keyed,
        beside: OwnerKey,
        refused: Failure,
    ) -> Result<Done<T>, Failure> {
        let never = OwnerChange::remove(beside, Revision::NEVER);
        let changes = Changes { owners: vec![never], keyed: Some(keyed), ..Changes::default() };
        match self.writer.write_one(Draft::quiet(changes)).await? {
            Written::Replayed { status, items } => Ok(Done::Before { status, items }),
            Written::KeyReused => Err(Failure::KeyReused),
            Written::Task(_) | Written::Records { .. } | Written::Lost => Err(refused),
        }
    }

    /// Waits before a race is run again: a random time, longer from round to round.
    pub(super) async fn pause(&self, round: u32) {
        if round == 0 {
            return;
        }
        self.meters.race_lost();
        if round > 1 {
            let longest = PAUSE_FIRST.saturating_mul(1 << round.min(10)).min(PAUSE_MAX);
            tokio::time::sleep(longest.mul_f64(random::roll())).await;
        }
    }
}
