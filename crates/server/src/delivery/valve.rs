//! How much a target is given at once.
//!
//! ```text
//!   every answer: one more at once ──▶ open ◀── every failure: half as many at once
//!                                      │  ▲
//!      the tenth task that failed      │  │ an answer: one at once
//!      with no answer in between       ▼  │
//!                                    probing ◀── every failure: a longer wait
//!                               one attempt at a time
//! ```
//!
//! A target that comes back after an hour to a long backlog gets one attempt, then two, then four:
//! each answer makes room for one more. While it is down its tasks wait as they are, and use up no
//! attempts. A few tasks that are tried again and again do not shut it: their own retry times say
//! when they are.

use std::time::Duration;

use tokio::time::Instant;

use super::sign::MessageId;

/// What a target that nothing is known of is given at once.
pub(super) const ROOM_FIRST: usize = 8;
/// Requests to a target under way at once.
pub(super) const UNDER_WAY_MAX: usize = 64;
/// What a target is given at once at most, if it is fast. What is not under way waits at the door,
/// so that nothing waits for the store.
pub(super) const ROOM_MAX: usize = 4 * UNDER_WAY_MAX;
/// How soon a fast target answers.
const FAST: Duration = Duration::from_millis(100);
/// Tasks that failed, with no answer in between, after which a target is only probed.
const FAILED_MAX: usize = 10;
/// How long a failure counts.
const MEMORY: Duration = Duration::from_secs(60);
const WAIT_FIRST: Duration = Duration::from_millis(500);
const WAIT_MAX: Duration = Duration::from_secs(5);

/// How much a target is given.
#[derive(Debug)]
pub(super) struct Valve {
    limit: usize,
    /// Tasks that failed since it last answered, and when the last of them did.
    failed: Vec<MessageId>,
    failed_at: Option<Instant>,
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
        Self { limit: ROOM_FIRST, failed: Vec::new(), failed_at: None, probing: None }
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

    /// Whether more is to be fetched for it: not for every place that becomes free while others wait at
    /// the door, but for many at once.
    pub(super) fn wants(&self, in_flight: usize, now: Instant) -> bool {
        let surplus = self.limit.saturating_sub(UNDER_WAY_MAX);
        self.room(in_flight, now) > surplus * 2 / 3
    }

    /// When it is probed next, if it is only probed.
    pub(super) fn probed_at(&self) -> Option<Instant> {
        self.probing.map(|probing| probing.not_before)
    }

    /// Tasks that failed since it last answered, as far as they are counted.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// It answered, after so long.
    pub(super) fn answered(&mut self, after: Duration) {
        self.failed.clear();
        self.limit = if self.probing.take().is_some() { 1 } else { self.limit + 1 };
        self.limit = self.limit.min(if after < FAST { ROOM_MAX } else { UNDER_WAY_MAX });
    }

    /// It was not reached by a task, or did not answer in time. `roll` is random in 0…1, so that
    /// not all servers probe at once.
    pub(super) fn failed(&mut self, task: MessageId, now: Instant, roll: f64) {
        self.limit = (self.limit / 2).max(1);
        if self.failed_at.is_some_and(|at| now.duration_since(at) > MEMORY) {
            self.failed.clear();
        }
        self.failed_at = Some(now);
        if self.failed.len() < FAILED_MAX && !self.failed.contains(&task) {
            self.failed.push(task);
        }
        let wait = match self.probing {
            // An attempt from before it was known to be down.
            Some(probing) if now < probing.not_before => return,
            Some(probing) => (probing.wait * 2).min(WAIT_MAX),
            None if self.failed.len() < FAILED_MAX => return,
            None => WAIT_FIRST,
        };
        self.probing = Some(Probing { not_before: now + wait.mul_f64(0.75 + roll / 2.0), wait });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: usize) -> MessageId {
        MessageId::test(number as u128)
    }

    fn shut(now: Instant) -> Valve {
        let mut valve = Valve::default();
        (0..FAILED_MAX).for_each(|n| valve.failed(task(n), now, 0.5));
        assert!(valve.probed_at().is_some());
        valve
    }

    #[test]
    fn answers_make_room_and_failures_take_it() {
        let now = Instant::now();
        let mut valve = Valve::default();
        assert_eq!((valve.room(0, now), valve.room(3, now), valve.room(99, now)), (8, 5, 0));
        for _ in 0..1_000 {
            valve.answered(Duration::ZERO);
        }
        assert_eq!(valve.room(0, now), ROOM_MAX);
        valve.answered(FAST);
        assert_eq!(valve.room(0, now), UNDER_WAY_MAX, "a slow one waits for itself");
        valve.failed(task(0), now, 0.5);
        assert_eq!(valve.room(0, now), UNDER_WAY_MAX / 2);
        for _ in 0..1_000 {
            valve.failed(task(0), now, 0.5);
        }
        assert_eq!(valve.room(0, now), 1, "never shut by a task that tries again");
    }

    #[test]
    fn what_others_wait_before_is_fetched_many_at_a_time() {
        let now = Instant::now();
        let mut valve = Valve::default();
        assert!(valve.wants(ROOM_FIRST - 1, now), "nothing waits: any place is filled");
        (0..ROOM_MAX).for_each(|_| valve.answered(Duration::ZERO));
        let few = 2 * UNDER_WAY_MAX;
        assert!(!valve.wants(ROOM_MAX - few, now), "enough wait at the door");
        assert!(valve.wants(ROOM_MAX - few - 1, now));
        assert!(valve.wants(UNDER_WAY_MAX, now), "before the door is empty");
        valve.answered(FAST);
        assert!(valve.wants(UNDER_WAY_MAX - 1, now), "a slow one has nobody at the door");
        assert!(!valve.wants(UNDER_WAY_MAX, now));
        assert!(!shut(now).wants(0, now));
    }

    #[test]
    fn many_tasks_in_a_row_shut_it() {
        let now = Instant::now();
        let mut valve = Valve::default();
        for n in 0..100 {
            if n % 9 == 0 {
                valve.answered(Duration::ZERO);
            }
            valve.failed(task(n), now, 0.5);
        }
        assert_eq!(valve.probed_at(), None, "it answers in between");
        let mut valve = Valve::default();
        for n in 0..100 {
            let later = now + (MEMORY + FAST) * u32::try_from(n / 9).unwrap();
            valve.failed(task(n), later, 0.5);
        }
        assert_eq!(valve.probed_at(), None, "too long ago");
        shut(now);
    }

    #[test]
    fn a_target_that_is_down_is_probed_by_one_at_a_time() {
        let start = Instant::now();
        let mut valve = shut(start);
        let mut now = start;
        let mut waits = Vec::new();
        for n in 0..6 {
            assert_eq!(valve.room(0, now), 0);
            // What was under way before does not count.
            valve.failed(task(n), now, 0.5);
            let probed_at = valve.probed_at().unwrap();
            waits.push((probed_at - now).as_millis());
            now = probed_at;
            assert_eq!((valve.room(0, now), valve.room(1, now)), (1, 0));
            valve.failed(task(n), now, 0.5);
        }
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 5_000, 5_000]);
        let jittered = |roll| {
            let mut valve = Valve::default();
            (0..FAILED_MAX).for_each(|n| valve.failed(task(n), start, roll));
            (valve.probed_at().unwrap() - start).as_millis()
        };
        assert_eq!((jittered(0.0), jittered(1.0)), (375, 625));
    }

    #[test]
    fn a_target_that_is_back_gets_more_with_every_answer() {
        let now = Instant::now();
        let mut valve = shut(now);
        valve.answered(Duration::ZERO);
        let mut given = Vec::new();
        let mut room = valve.room(0, now);
        while room < ROOM_MAX {
            given.push(room);
            (0..room).for_each(|_| valve.answered(Duration::ZERO));
            room = valve.room(0, now);
        }
        assert_eq!(given, [1, 2, 4, 8, 16, 32, 64, 128]);
    }
}
