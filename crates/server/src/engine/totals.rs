//! What all queues hold together. It is added up from what each knows of itself, never by a scan.

use std::cmp::Reverse;

use punctual_core::{QueueName, Timestamp};
use punctual_store::{QueueStats, Store, StoreError};

use super::{Engine, Failure, QueueReading};
use crate::access::Scope;

/// Queues asked about at once, so that nobody else waits for long.
const QUEUES_AT_ONCE: usize = 1_000;
/// Queues that are named because they hold most.
const BUSIEST: usize = 5;

/// What the queues of a scope hold.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// How many queues there are.
    pub(crate) queues: usize,
    /// How many of them are paused.
    pub(crate) paused: usize,
    /// What they hold together.
    pub(crate) sum: QueueStats,
    /// The queue whose oldest ready task has been ready for longest.
    pub(crate) oldest: Option<(Timestamp, QueueName)>,
    /// Those that hold most, most first; one that is paused may hold nothing.
    pub(crate) busiest: Vec<QueueReading>,
}

/// All queues of a scope, by name, and what each holds.
pub(crate) async fn depths(
    store: &dyn Store,
    scope: &Scope,
) -> Result<Vec<QueueReading>, StoreError> {
    let mut queues = store.queues().await?;
    queues.retain(|queue| scope.covers(&queue.name));
    let mut depths = Vec::with_capacity(queues.len());
    for some in queues.chunks(QUEUES_AT_ONCE) {
        let names: Vec<QueueName> = some.iter().map(|queue| queue.name.clone()).collect();
        let stats = store.stats(&names).await?;
        let known = some.iter().cloned().zip(stats);
        depths
            .extend(known.filter_map(|(queue, stats)| Some(QueueReading { queue, stats: stats? })));
    }
    Ok(depths)
}

impl Totals {
    fn of(mut depths: Vec<QueueReading>) -> Self {
        let mut totals = Self { queues: depths.len(), ..Self::default() };
        for QueueReading { queue, stats } in &depths {
            totals.paused += usize::from(queue.paused);
            totals.sum.bundles += stats.bundles;
            for (sum, count) in totals.sum.counts.iter_mut().zip(stats.counts) {
                *sum += count;
            }
            let oldest = stats.oldest_ready_at.map(|at| (at, queue.name.clone()));
            totals.oldest = totals.oldest.into_iter().chain(oldest).min();
        }
        depths.retain(|reading| reading.queue.paused || reading.stats.live() > 0);
        depths.sort_by_key(|reading| Reverse(reading.stats.live()));
        depths.truncate(BUSIEST);
        Self { busiest: depths, ..totals }
    }
}

impl Engine {
    /// Adds up what the queues of a scope hold.
    pub(crate) async fn totals(&self, scope: &Scope) -> Result<Totals, Failure> {
        Ok(Totals::of(depths(&*self.store, scope).await?))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_core::{Queue, Settings, State};

    use super::*;

    fn reading(name: &str, ready: u64, oldest_ms: Option<i64>, paused: bool) -> QueueReading {
        let name = QueueName::parse(name).unwrap();
        let settings = Settings::initial(&name);
        let queue = Queue { name, settings, paused, created_at: Timestamp::from_millis(0) };
        let oldest_ready_at = oldest_ms.map(Timestamp::from_millis);
        let mut stats = QueueStats { oldest_ready_at, bundles: 1, ..QueueStats::default() };
        stats.counts[State::Ready as usize] = ready;
        stats.counts[State::Done as usize] = 10;
        QueueReading { queue: Arc::new(queue), stats }
    }

    #[test]
    fn queues_are_added_up_and_those_that_matter_are_named() {
        let totals = Totals::of(vec![
            reading("a", 1, Some(5), false),
            reading("b", 0, None, false),
            reading("c", 7, Some(9), true),
            reading("d", 0, None, true),
            reading("e", 3, Some(2), false),
        ]);
        assert_eq!((totals.queues, totals.paused, totals.sum.bundles), (5, 2, 5));
        assert_eq!((totals.sum.count(State::Ready), totals.sum.count(State::Done)), (11, 50));
        let (at, queue) = totals.oldest.unwrap();
        assert_eq!((at.as_millis(), queue.as_str()), (2, "e"));
        let busiest: Vec<_> = totals.busiest.iter().map(|it| it.queue.name.as_str()).collect();
        assert_eq!(busiest, ["c", "e", "a", "d"]);
        let many = (0..9).map(|n| reading(&format!("q{n}"), n, None, false)).collect();
        let names: Vec<_> = Totals::of(many).busiest;
        let names: Vec<_> = names.iter().map(|it| it.queue.name.as_str()).collect();
        assert_eq!(names, ["q8", "q7", "q6", "q5", "q4"]);
        assert!(Totals::of(Vec::new()).oldest.is_none());
    }
}
