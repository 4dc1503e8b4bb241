//! How long requests took, and what that comes to.

use std::time::Duration;

use serde::Serialize;

/// The times of one kind of request.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(super) fn join(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// What they come to, for so many tasks in so much time.
    pub(super) fn figures(mut self, tasks: u64, elapsed: Duration) -> Figures {
        self.0.sort_unstable();
        Figures {
            per_second: (tasks as f64 / elapsed.as_secs_f64().max(1e-9)).round(),
            requests: self.0.len(),
            p50_ms: self.at(0.50),
            p90_ms: self.at(0.90),
            p99_ms: self.at(0.99),
            max_ms: self.at(1.0),
        }
    }

    /// The time that this part of them, sorted, did not exceed.
    fn at(&self, part: f64) -> f64 {
        let rank = (part * self.0.len() as f64).ceil() as usize;
        let time = self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default();
        (time.as_secs_f64() * 1e6).round() / 1e3
    }
}

/// Throughput and latency of one kind of request.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Figures {
    /// Tasks per second.
    pub(super) per_second: f64,
    pub(super) requests: usize,
    pub(super) p50_ms: f64,
    pub(super) p90_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) max_ms: f64,
}

impl Figures {
    /// A line of the table.
    pub(super) fn row(&self, name: &str) -> [String; 7] {
        let ms = |ms: f64| format!("{ms:.2}");
        [
            name.to_owned(),
            format!("{:.0}", self.per_second),
            self.requests.to_string(),
            ms(self.p50_ms),
            ms(self.p90_ms),
            ms(self.p99_ms),
            ms(self.max_ms),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let mut times = Times::default();
        (1..=100).rev().for_each(|ms| times.add(Duration::from_millis(ms)));
        let figures = times.figures(1_000, Duration::from_secs(2));
        let Figures { per_second, requests, p50_ms, p90_ms, p99_ms, max_ms } = figures;
        assert_eq!((per_second, requests), (500.0, 100));
        assert_eq!([p50_ms, p90_ms, p99_ms, max_ms], [50.0, 90.0, 99.0, 100.0]);
        assert_eq!(Times::default().figures(0, Duration::ZERO).max_ms, 0.0);
    }
}
