//! A queue's rate limit: a token bucket, counted exactly.

use punctual_core::queue::Rate;

/// How much of a rate limit is left.
///
/// The level is counted in parts of a task, `per` milliseconds of them to a task, so that a refill
/// of `limit` parts each millisecond never rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    rate: Rate,
    level: i128,
    at_ms: i64,
}

impl Bucket {
    /// A bucket that lets a whole burst go.
    pub(super) fn full(rate: Rate, steady_ms: i64) -> Self {
        Self { rate, level: i128::from(rate.limit) * Self::task(rate), at_ms: steady_ms }
    }

    /// The bucket as it stands now.
    pub(super) fn at(self, steady_ms: i64) -> Self {
        let full = Self::full(self.rate, steady_ms);
        let passed_ms = i128::from(steady_ms - self.at_ms);
        let level = self.level + passed_ms * i128::from(self.rate.limit);
        Self { level: level.min(full.level), ..full }
    }

    fn task(rate: Rate) -> i128 {
        i128::from(rate.per.as_millis())
    }

    /// Lets one task go, if it may.
    pub(super) fn draw(&mut self) -> bool {
        let may = self.wait_ms() == 0;
        if may {
            self.level -= Self::task(self.rate);
        }
        may
    }

    /// Milliseconds until the next task may go; 0: now.
    pub(super) fn wait_ms(&self) -> i64 {
        let missing = (Self::task(self.rate) - self.level).max(0);
        let limit = i128::from(self.rate.limit);
        i64::try_from((missing + limit - 1) / limit).unwrap_or(i64::MAX)
    }
}
