//! A queue and the tasks in it, each as it is kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use punctual_core::queue::Order;
use punctual_core::{Queue, Settings, Span, Spec, State, Task, TaskId, Timestamp};

use super::bucket::Bucket;
use super::list::Move;
use crate::clock::Instant;
use crate::port::{Classes, PushRefusal, QueueStats, Revision, Stored};

/// A queue and what it holds.
pub(super) struct Shelf {
    pub(super) queue: Arc<Queue>,
    pub(super) records: BTreeMap<TaskId, Record>,
    pub(super) reserved: BTreeMap<TaskId, Timestamp>,
    /// What is left of its rate limit; none: a whole burst.
    pub(super) bucket: Option<Bucket>,
    /// What moved within its state, the last one last.
    pub(super) moves: Vec<Move>,
}

/// A task as it is kept.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) revision: Revision,
    pub(super) task: Task,
    /// When its hold ends on the steady clock.
    pub(super) hold_ends_ms: Option<i64>,
}

impl Record {
    pub(super) fn stored(&self) -> Stored {
        Stored { task: self.task.clone(), revision: self.revision }
    }

    pub(super) fn state(&self, now: Instant) -> State {
        self.task.status.state_at(now.wall)
    }

    /// Whether its hold has ended or it was not started in time.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.hold_ends_ms.is_some_and(|end| end <= now.steady_ms)
            || self.task.expires_at().is_some_and(|at| at <= now.wall)
    }

    /// Whether it is no longer to be kept.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let status = &self.task.status;
        status.state.is_finished() && status.keep_until.is_none_or(|until| until <= now.wall)
    }

    fn is_reserved(&self, now: Instant) -> bool {
        self.task.status.reserved_until.is_some_and(|until| until > now.wall)
    }

    /// Sets the end of the hold on the steady clock from the one on the wall clock.
    pub(super) fn time_hold(&mut self, now: Instant) {
        let status = &self.task.status;
        self.hold_ends_ms = status.hold.map(|hold| {
            let left = hold.until.since(now.wall);
            // A wall clock that was set back must not stretch a hold.
            let left = if status.state == State::Assigned { left } else { left.min(hold.length) };
            now.steady_ms + left.as_millis()
        });
    }

    /// Where it stands among ready tasks.
    pub(super) fn rank(&self) -> (i16, Timestamp, u64) {
        let priority = i16::from(self.task.spec.priority);
        (-priority, self.task.status.ready_at, self.revision.birth)
    }
}

impl Shelf {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            records: BTreeMap::new(),
            reserved: BTreeMap::new(),
            bucket: None,
            moves: Vec::new(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.queue.settings
    }

    pub(super) fn count(&self, now: Instant, which: impl Fn(State) -> bool) -> usize {
        self.records.values().filter(|record| which(record.state(now))).count()
    }

    pub(super) fn bucket_at(&self, now: Instant) -> Option<Bucket> {
        let rate = self.settings().rate?;
        Some(self.bucket.unwrap_or_else(|| Bucket::full(rate, now.steady_ms)).at(now.steady_ms))
    }

    pub(super) fn rate_at(&self, now: Instant) -> Option<Timestamp> {
        let wait_ms = self.bucket_at(now)?.wait_ms();
        (wait_ms > 0).then(|| now.wall + Span::from_millis(wait_ms))
    }

    pub(super) fn stats(&self, bundles: u64, now: Instant) -> QueueStats {
        let ready = self.records.values().filter(|record| record.state(now) == State::Ready);
        QueueStats {
            counts: State::ALL.map(|state| self.count(now, |s| s == state) as u64),
            oldest_ready_at: ready.map(|record| record.task.status.ready_at).min(),
            rate_at: self.rate_at(now),
            bundles,
        }
    }

    /// Whether a task may be pushed under an id: free, or taken by a finished one to be replaced.
    pub(super) fn admits(&self, spec: &Spec, now: Instant) -> Result<(), PushRefusal> {
        let id = &spec.id;
        if self.reserved.get(id).is_some_and(|until| *until > now.wall) {
            return Err(PushRefusal::Duplicate);
        }
        match self.records.get(id) {
            None => Ok(()),
            Some(record) if !record.task.status.state.is_finished() => Err(PushRefusal::Duplicate),
            Some(record) if record.is_reserved(now) => Err(PushRefusal::Duplicate),
            Some(record) if record.task.spec.owner.is_some() && spec.owner.is_none() => {
                Err(PushRefusal::Owned)
            }
            Some(_) => Ok(()),
        }
    }

    /// The ids of ready tasks that may be handed out, so many of each class, the first first.
    pub(super) fn candidates(&self, classes: &Classes, now: Instant) -> Vec<TaskId> {
        if self.queue.paused {
            return Vec::new();
        }
        let mut ready: Vec<&Record> = self
            .records
            .values()
            .filter(|record| record.state(now) == State::Ready && !record.is_expired(now))
            .collect();
        match self.settings().order {
            Order::Fifo => ready.sort_by_key(|record| record.rank()),
            Order::Random => {
                ready.sort_by_key(|record| (record.rank().0, shuffled(record, now)));
            }
        }
        let mut counts: HashMap<String, usize> = HashMap::new();
        ready.retain(|record| {
            let class = record.task.spec.lane_class();
            let room = classes.room(&class);
            let count = counts.entry(class).or_default();
            *count += 1;
            *count <= room
        });
        ready.into_iter().map(|record| record.task.spec.id.clone()).collect()
    }
}

/// A number that tells nothing about the order of pushes, another at every moment.
fn shuffled(record: &Record, now: Instant) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (record.revision, now.wall, now.steady_ms).hash(&mut hasher);
    hasher.finish()
}
