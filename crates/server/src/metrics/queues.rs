//! What happens in each queue, counted.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use punctual_core::limits::QUEUES_MAX;
use punctual_core::{Announcement, QueueName};
use punctual_store::measure::{Histogram, SPANS, TIMES};

/// What becomes of tasks, as it reads, and the event that tells of it.
pub(super) const TASK_EVENTS: [(&str, &str); 10] = [
    ("pushed", "task.pushed"),
    ("taken", "task.taken"),
    ("confirmed", "task.confirmed"),
    ("done", "task.committed"),
    ("failed", "task.failed"),
    ("expired", "task.expired"),
    ("retried", "task.retrying"),
    ("cancelled", "task.cancelled"),
    ("paused", "task.paused"),
    ("resumed", "task.resumed"),
];
const TAKEN: usize = 1;
/// Queues that are counted one by one: the most there are, and some that are gone by now.
const METERS_MAX: usize = QUEUES_MAX + QUEUES_MAX / 4;

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// The target took it.
    Accepted,
    /// The target answered, but not with what counts as success.
    Refused,
    /// The target was not reached, or did not answer in time.
    Unreached,
    /// This machine could not try.
    Untried,
}

/// The names of how deliveries end, in order.
pub(super) const OUTCOMES: [&str; 4] = ["accepted", "refused", "unreached", "untried"];

/// What happened in one queue.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) events: [AtomicU64; TASK_EVENTS.len()],
    pub(super) wait: Histogram,
    pub(super) run: Histogram,
    pub(super) deliveries: [AtomicU64; OUTCOMES.len()],
    pub(super) delivery: Histogram,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            events: Default::default(),
            wait: Histogram::new(SPANS),
            run: Histogram::new(SPANS),
            deliveries: Default::default(),
            delivery: Histogram::new(TIMES),
        }
    }
}

/// All queues in which something happened.
#[derive(Debug, Default)]
pub(super) struct Queues {
    meters: RwLock<HashMap<QueueName, Arc<Meter>>>,
}

impl Queues {
    /// Counts what became of tasks.
    pub(super) fn announced(&self, news: &Announcement) {
        let place = TASK_EVENTS.iter().position(|(_, event)| *event == news.kind());
        let (Some(place), Some(queue)) = (place, news.queues().first()) else { return };
        self.note(queue, |meter| {
            meter.events[place].fetch_add(news.ids().len() as u64, Ordering::Relaxed);
            let histogram = if place == TAKEN { &meter.wait } else { &meter.run };
            news.took().iter().for_each(|span| histogram.observe(span.as_secs_f64()));
        });
    }

    pub(super) fn delivered(&self, queue: &QueueName, how: Delivered, took: Option<Duration>) {
        self.note(queue, |meter| {
            meter.deliveries[how as usize].fetch_add(1, Ordering::Relaxed);
            took.into_iter().for_each(|took| meter.delivery.took(took));
        });
    }

    fn note(&self, queue: &QueueName, note: impl Fn(&Meter)) {
        if let Some(meter) = self.meters.read().unwrap_or_else(PoisonError::into_inner).get(queue) {
            return note(meter);
        }
        let mut meters = self.meters.write().unwrap_or_else(PoisonError::into_inner);
        // Beyond that nobody has asked for so long that it is known which of them are gone.
        if meters.len() < METERS_MAX || meters.contains_key(queue) {
            note(meters.entry(queue.clone()).or_default());
        }
    }

    /// Forgets the queues that are gone.
    pub(super) fn retain(&self, known: &HashSet<&QueueName>) {
        let mut meters = self.meters.write().unwrap_or_else(PoisonError::into_inner);
        meters.retain(|name, _| known.contains(name));
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<(QueueName, Arc<Meter>)> {
        let meters = self.meters.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> =
            meters.iter().map(|(name, meter)| (name.clone(), Arc::clone(meter))).collect();
        drop(meters);
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

#[cfg(test)]
mod tests {
    use punctual_core::{NewTask, Span, Spec, TaskId, Timestamp, announce};

    use super::*;

    fn queue(name: &str) -> QueueName {
        QueueName::parse(name).unwrap()
    }

    fn pushed(name: &str) -> Announcement {
        let id = TaskId::parse("t").unwrap();
        let now = Timestamp::from_millis(0);
        let spec = Spec::new(queue(name), NewTask::default(), id, now);
        announce::task::all_pushed([&spec, &spec], now).unwrap()
    }

    #[test]
    fn tasks_count_one_by_one_and_queues_that_are_gone_are_forgotten() {
        let queues = Queues::default();
        queues.announced(&pushed("a"));
        queues.announced(&pushed("a"));
        queues.announced(&pushed("b").taking(Some(Span::from_secs(1))));
        queues.announced(&Announcement::gap(Timestamp::from_millis(0)));
        queues.delivered(&queue("b"), Delivered::Unreached, Some(Duration::from_secs(1)));
        let all = queues.all();
        assert_eq!(all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(all[0].1.events[0].load(Ordering::Relaxed), 4);
        assert_eq!(
            all[1].1.deliveries.each_ref().map(|it| it.load(Ordering::Relaxed)),
            [0, 0, 1, 0]
        );
        assert_eq!(all[1].1.run.observed().count, 1);
        queues.retain(&HashSet::from([&queue("b")]));
        assert_eq!(queues.all().len(), 1);
    }

    #[test]
    fn there_are_only_so_many() {
        let queues = Queues::default();
        for number in 0..METERS_MAX + 10 {
            queues.delivered(&queue(&format!("q{number}")), Delivered::Accepted, None);
        }
        queues.delivered(&queue("q0"), Delivered::Accepted, None);
        assert_eq!(queues.all().len(), METERS_MAX);
        assert_eq!(queues.all()[0].1.deliveries[0].load(Ordering::Relaxed), 2);
    }
}
