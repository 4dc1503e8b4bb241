//! A token bucket: what a queue's rate limit still allows.

use punctual_core::queue::Rate;
use punctual_core::{Span, Timestamp};

use crate::clock::Instant;

/// How much of a rate limit is used. Full again after `per` without a take.
///
/// It lives in memory only and runs on the steady clock.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bucket {
    used: f64,
    as_of_ms: i64,
}

impl Bucket {
    fn refilled(self, rate: Rate, now: Instant) -> Self {
        let passed_ms = (now.steady_ms - self.as_of_ms).max(0) as f64;
        let refilled = passed_ms * f64::from(rate.limit) / rate.per.as_millis() as f64;
        Self { used: (self.used - refilled).max(0.0), as_of_ms: now.steady_ms }
    }

    /// How many may go now.
    pub(super) fn allows(self, rate: Rate, now: Instant) -> usize {
        // The margin keeps a sum of refills that is whole but for rounding from counting as less.
        (f64::from(rate.limit) - self.refilled(rate, now).used + 1e-9) as usize
    }

    /// Takes `n` out.
    pub(super) fn take(&mut self, n: usize, rate: Rate, now: Instant) {
        let refilled = self.refilled(rate, now);
        *self = Self { used: refilled.used + n as f64, ..refilled };
    }

    /// When the next one may go, if none may now.
    pub(super) fn next_at(self, rate: Rate, now: Instant) -> Option<Timestamp> {
        if self.allows(rate, now) > 0 {
            return None;
        }
        let missing = self.refilled(rate, now).used + 1.0 - f64::from(rate.limit);
        let wait_ms = missing * rate.per.as_millis() as f64 / f64::from(rate.limit);
        // Rounded up, so that the time is not too early; the margin is that of `allows`.
        Some(now.wall + Span::from_millis((wait_ms - 1e-6).ceil().max(1.0) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(steady_ms: i64) -> Instant {
        Instant { wall: Timestamp::from_millis(1_000_000 + steady_ms), steady_ms }
    }

    #[test]
    fn a_burst_then_an_even_refill() {
        let rate = Rate { limit: 10, per: Span::from_secs(1) };
        let mut bucket = Bucket::default();
        assert_eq!(bucket.allows(rate, at(0)), 10);
        bucket.take(10, rate, at(0));
        assert_eq!(bucket.allows(rate, at(99)), 0);
        assert_eq!(bucket.next_at(rate, at(0)), Some(at(100).wall));
        assert_eq!(bucket.allows(rate, at(100)), 1);
        assert_eq!(bucket.allows(rate, at(350)), 3);
        assert_eq!(bucket.allows(rate, at(60_000)), 10);
    }
}
