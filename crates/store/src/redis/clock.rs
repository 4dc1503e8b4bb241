//! Redis's clock as a node knows it: its own steady count, and how far Redis is from it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::Timestamp;

use crate::clock::Clock;

/// After how long even a poor measurement replaces a good one.
const SAMPLE_AGE_MAX: Duration = Duration::from_secs(10);

/// The store's clock.
pub(super) enum StoreClock {
    /// Redis's own.
    Redis(Mutex<Sample>),
    /// One that is moved from outside: every call carries its time.
    Given(Arc<dyn Clock>),
}

/// One measurement of Redis's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    at: Instant,
    redis_ms: i64,
    /// How long the request took, and so how far off this may be.
    width: Duration,
}

impl StoreClock {
    /// A clock that nothing is known of yet, or one that is given.
    pub(super) fn new(given: Option<Arc<dyn Clock>>) -> Self {
        match given {
            Some(clock) => Self::Given(clock),
            None => {
                let wall = crate::clock::SystemClock::new().now().wall.as_millis();
                let sample = Sample { at: Instant::now(), redis_ms: wall, width: Duration::MAX };
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
            let width = received - sent;
            let new = Sample { at: sent + width / 2, redis_ms, width };
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            *known = known.better(new);
        }
    }
}

impl Sample {
    /// The time at Redis at a moment here.
    fn at(&self, moment: Instant) -> i64 {
        let passed = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        match moment.checked_duration_since(self.at) {
            Some(since) => self.redis_ms.saturating_add(passed(since)),
            None => self.redis_ms - passed(self.at - moment),
        }
    }

    /// Which of two measurements to go by: the narrower one, unless it is old or disproved.
    fn better(self, new: Self) -> Self {
        let off_ms = (self.at(new.at) - new.redis_ms).unsigned_abs();
        let is_disproved = u128::from(off_ms) > new.width.as_millis() / 2 + 2;
        let is_old = new.at.saturating_duration_since(self.at) > SAMPLE_AGE_MAX;
        if new.width <= self.width || is_disproved || is_old { new } else { self }
    }
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
    fn the_narrowest_measurement_counts_until_it_is_old_or_wrong() {
        let start = Instant::now();
        let sample = |after_ms: u64, redis_ms, width_ms| Sample {
            at: start + Duration::from_millis(after_ms),
            redis_ms,
            width: Duration::from_millis(width_ms),
        };
        let good = sample(0, 1_000, 1);
        assert_eq!(good.better(sample(10, 1_012, 40)).redis_ms, 1_000, "wider");
        assert_eq!(good.better(sample(10, 1_011, 1)).redis_ms, 1_011, "as narrow, and newer");
        assert_eq!(good.better(sample(20_000, 21_010, 40)).redis_ms, 21_010, "old");
        assert_eq!(good.better(sample(10, 61_010, 40)).redis_ms, 61_010, "the clock was set");
        assert_eq!(good.at(start + Duration::from_millis(250)), 1_250);
    }
}
