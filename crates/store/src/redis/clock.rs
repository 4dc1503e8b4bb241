//! Redis's clock as a node knows it: its own steady count, and how far Redis is from it.
//!
//! A node may be a little behind Redis, and never ahead of it: what is pushed for now is due there at once,
//! and nothing is taken before the time it reads to be due.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::Timestamp;

use super::keys::Keys;
use super::node::Node;
use super::scripts::SHIFT;
use crate::clock::Clock;
use crate::port::StoreError;

/// The store's clock.
pub(super) enum StoreClock {
    /// Redis's own.
    Redis(Mutex<Sample>),
    /// One that is moved from outside: every call carries its time.
    Given(Arc<dyn Clock>),
}

impl Node {
    /// Moves the clock of a store that was made for it: in the first shard, and then in the others.
    pub(super) async fn shift(&self, by_ms: i64) -> Result<(), StoreError> {
        let mut call = self.call(&SHIFT, Keys::FIRST_SHARD).await;
        call.arg(by_ms);
        let [ahead_ms, number] = call.send().await?.body.parts()?;
        let (ahead_ms, number) = (ahead_ms.int()?, number.int()?);
        let follow = async |shard| {
            if shard != Keys::FIRST_SHARD {
                let mut call = self.call(&SHIFT, shard).await;
                call.arg(ahead_ms).arg(number);
                call.send().await?;
            }
            Ok(())
        };
        self.everywhere(follow).await.map(drop)
    }
}

/// What is known of Redis's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    at: Instant,
    /// It is not earlier there than this was at that moment.
    redis_ms: i64,
    /// Whether that is no more than what the clock here says.
    is_guess: bool,
}

impl StoreClock {
    /// A clock that nothing is known of yet, or one that is given.
    pub(super) fn new(given: Option<Arc<dyn Clock>>) -> Self {
        match given {
            Some(clock) => Self::Given(clock),
            None => {
                let wall = crate::clock::SystemClock::new().now().wall.as_millis();
                let sample = Sample { at: Instant::now(), redis_ms: wall, is_guess: true };
                Self::Redis(Mutex::new(sample))
            }
        }
    }

    /// The time.
    pub(super) fn now(&self) -> Timestamp {
        match self {
            Self::Given(clock) => clock.now().wall,
            Self::Redis(sample) => {
                let sample = sample.lock().unwrap_or_else(PoisonError::into_inner);
                Timestamp::from_millis(sample.at(Instant::now()))
            }
        }
    }

    /// The time as a script is told it; empty: it asks Redis.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Given(clock) => clock.now().wall.as_millis().to_string(),
            Self::Redis(_) => String::new(),
        }
    }

    /// Learns from an answer what time it was at Redis between two moments here.
    pub(super) fn learn(&self, redis_ms: i64, sent: Instant, received: Instant) {
        if let Self::Redis(known) = self {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.learn(redis_ms, sent, received);
        }
    }
}

impl Sample {
    /// The time at Redis at a moment here, or a little less.
    fn at(&self, moment: Instant) -> i64 {
        match moment.checked_duration_since(self.at) {
            Some(since) => self.redis_ms.saturating_add(millis(since)),
            None => self.redis_ms - millis(self.at - moment),
        }
    }

    /// By the time its answer came it was at Redis at least what the answer says, and at most that and the
    /// time the request took. The highest of the least counts, until the most disproves it: somebody set
    /// the clock, or the count here is too fast.
    fn learn(&mut self, redis_ms: i64, sent: Instant, received: Instant) {
        let known_ms = self.at(received);
        let most_ms = redis_ms + millis(received - sent) + 1;
        if self.is_guess || known_ms <= redis_ms || known_ms > most_ms {
            *self = Self { at: received, redis_ms, is_guess: false };
        }
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FAULTS row 19: what the clock of this machine says does not matter.
    #[test]
    fn a_node_whose_own_clock_is_wrong_goes_by_redis() {
        let clock = StoreClock::new(None);
        let here = clock.now().as_millis();
        for off_ms in [300_000, -300_000] {
            let (sent, redis_ms) = (Instant::now(), here + off_ms);
            clock.learn(redis_ms, sent, sent + Duration::from_millis(1));
            let off = clock.now().as_millis() - redis_ms;
            assert!((0..60_000).contains(&off), "{off} ms after the moment that was learned");
        }
    }

    #[test]
    fn a_node_is_never_ahead_of_redis() {
        let start = Instant::now();
        let moment = |ms: u64| start + Duration::from_millis(ms);
        let mut clock = Sample { at: start, redis_ms: 0, is_guess: true };
        // Here it is 1,000,000 ms later at Redis than there.
        clock.learn(1_000_090, moment(0), moment(100));
        assert_eq!(clock.at(moment(100)), 1_000_090, "the answer took 10 ms");
        clock.learn(1_000_205, moment(200), moment(1_200));
        assert_eq!(clock.at(moment(1_200)), 1_001_190, "a slow answer teaches nothing");
        clock.learn(1_001_300, moment(1_299), moment(1_301));
        assert_eq!(clock.at(moment(1_301)), 1_001_300, "a quick one does");
        clock.learn(941_400, moment(1_399), moment(1_401));
        assert_eq!(clock.at(moment(1_401)), 941_400, "the clock was set back");
        clock.learn(1_001_500, moment(1_499), moment(1_501));
        assert_eq!(clock.at(moment(1_501)), 1_001_500, "and forth");
    }
}
