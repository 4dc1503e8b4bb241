//! How much a target is given at once.
//!
//! ```text
//!            every answer: one more at once             every failure in a row: half as many
//!   ┌────────────────────────────────────── open ──────────────────────────────────────┐
//!   │                                        ▲  │ the tenth failure in a row            │
//!   │              an answer: one at once    │  ▼                                       │
//!   └──────────────────────────────────── probing ─── a failure: a longer wait ────────┘
//!                                    one attempt at a time
//! ```
//!
//! A target that comes back after an hour to a long backlog gets one attempt, then two, then four:
//! each answer makes room for one more. While it is down its tasks wait as they are, and use up no
//! attempts.

use std::time::Duration;

use tokio::time::Instant;

/// What a target that nothing is known of is given at once.
pub(super) const ROOM_FIRST: usize = 8;
/// What a target is given at once at most.
pub(super) const ROOM_MAX: usize = 64;
/// Failures in a row after which a target is only probed.
const FAILURES_MAX: u32 = 10;
const WAIT_FIRST: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How much a target is given.
#[derive(Debug)]
pub(super) struct Valve {
    limit: usize,
    failures: u32,
    /// Set while it is only probed.
    probing: Option<Probing>,
}

#[derive(Debug, Clone, Copy)]
struct Probing {
    not_before: Instant,
    wait: Duration,
}

impl Default for Valve {
    fn default() -> Self {
        Self { limit: ROOM_FIRST, failures: 0, probing: None }
    }
}

impl Valve {
    /// How many more attempts it may be given beside those under way.
    pub(super) fn room(&self, in_flight: usize, now: Instant) -> usize {
        match self.probing {
            Some(probing) if now < probing.not_before => 0,
            Some(_) => 1_usize.saturating_sub(in_flight),
            None => self.limit.saturating_sub(in_flight),
        }
    }

    /// When it is probed next, if it is only probed.
    pub(super) fn probed_at(&self) -> Option<Instant> {
        self.probing.map(|probing| probing.not_before)
    }

    /// It answered.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
        self.limit = if self.probing.take().is_some() { 1 } else { self.limit + 1 };
        self.limit = self.limit.min(ROOM_MAX);
    }

    /// It was not reached, or did not answer in time. `roll` is random in 0…1, so that not all
    /// servers probe at once.
    pub(super) fn failed(&mut self, now: Instant, roll: f64) {
        self.failures = self.failures.saturating_add(1);
        self.limit = (self.limit / 2).max(1);
        let wait = match self.probing {
            // An attempt from before it was known to be down.
            Some(probing) if now < probing.not_before => return,
            Some(probing) => (probing.wait * 2).min(WAIT_MAX),
            None if self.failures < FAILURES_MAX => return,
            None => WAIT_FIRST,
        };
        self.probing = Some(Probing { not_before: now + wait.mul_f64(0.75 + roll / 2.0), wait });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shut(now: Instant) -> Valve {
        let mut valve = Valve::default();
        for _ in 0..FAILURES_MAX {
            valve.failed(now, 0.5);
        }
        valve
    }

    #[test]
    fn answers_make_room_and_failures_take_it() {
        let now = Instant::now();
        let mut valve = Valve::default();
        assert_eq!((valve.room(0, now), valve.room(3, now), valve.room(99, now)), (8, 5, 0));
        for _ in 0..1_000 {
            valve.answered();
        }
        assert_eq!(valve.room(0, now), ROOM_MAX);
        valve.failed(now, 0.5);
        assert_eq!(valve.room(0, now), ROOM_MAX / 2);
        for _ in 1..FAILURES_MAX - 1 {
            valve.failed(now, 0.5);
        }
        assert_eq!(valve.room(0, now), 1, "not shut yet");
        valve.answered();
        for _ in 1..FAILURES_MAX {
            valve.failed(now, 0.5);
        }
        assert_eq!(valve.probed_at(), None, "only failures in a row count");
    }

    #[test]
    fn a_target_that_is_down_is_probed_by_one_at_a_time() {
        let start = Instant::now();
        let mut valve = shut(start);
        let mut now = start;
        let mut waits = Vec::new();
        for _ in 0..8 {
            assert_eq!(valve.room(0, now), 0);
            // What was under way before does not count.
            valve.failed(now, 0.5);
            let probed_at = valve.probed_at().unwrap();
            waits.push((probed_at - now).as_millis());
            now = probed_at;
            assert_eq!((valve.room(0, now), valve.room(1, now)), (1, 0));
            valve.failed(now, 0.5);
        }
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
        let jittered = |roll| {
            let mut valve = Valve { failures: FAILURES_MAX, ..Valve::default() };
            valve.failed(start, roll);
            (valve.probed_at().unwrap() - start).as_millis()
        };
        assert_eq!((jittered(0.0), jittered(1.0)), (375, 625));
    }

    #[test]
    fn a_target_that_is_back_gets_more_with_every_answer() {
        let now = Instant::now();
        let mut valve = shut(now);
        valve.answered();
        let mut given = Vec::new();
        let mut room = valve.room(0, now);
        while room < ROOM_MAX {
            given.push(room);
            (0..room).for_each(|_| valve.answered());
            room = valve.room(0, now);
        }
        assert_eq!(given, [1, 2, 4, 8, 16, 32]);
    }
}
