//! What to look at again at a time: each thing once, at the earliest time that was asked for.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use tokio::time::Instant;

/// When to look at what.
#[derive(Debug)]
pub(crate) struct Alarms<A> {
    by_time: BTreeSet<(Instant, A)>,
    times: HashMap<A, Instant>,
}

impl<A> Default for Alarms<A> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), times: HashMap::new() }
    }
}

impl<A: Clone + Ord + Hash> Alarms<A> {
    /// Sets an alarm, unless there is an earlier one for the same thing.
    pub(crate) fn set(&mut self, at: Instant, alarm: A) {
        if let Some(set) = self.times.get(&alarm) {
            if *set <= at {
                return;
            }
            self.by_time.remove(&(*set, alarm.clone()));
        }
        self.times.insert(alarm.clone(), at);
        self.by_time.insert((at, alarm));
    }

    /// When the next one rings.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes out one that rings by now.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<A> {
        self.next_at().filter(|at| *at <= now)?;
        let (_, alarm) = self.by_time.pop_first()?;
        self.times.remove(&alarm);
        Some(alarm)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_thing_rings_once_at_its_earliest_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let (a, b) = ("a", "b");
        let mut alarms = Alarms::default();
        for seconds in [5, 3, 4] {
            alarms.set(at(seconds), a);
        }
        alarms.set(at(9), b);
        assert_eq!(alarms.next_at(), Some(at(3)));
        assert_eq!(alarms.pop(at(2)), None);
        assert_eq!(alarms.pop(at(8)), Some(a));
        assert_eq!(alarms.pop(at(8)), None);
        alarms.set(at(9), a);
        assert_eq!([alarms.pop(at(9)), alarms.pop(at(9))], [Some(a), Some(b)]);
        assert_eq!((alarms.pop(at(9)), alarms.next_at()), (None, None));
    }
}
