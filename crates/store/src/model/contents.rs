//! All that the model keeps, and the plain meaning of each operation on it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use punctual_core::limits::{KEYED_REQUEST_MS, RECEIPT_MS, REMEMBERED_MAX, TAKE_BYTES_MAX};
use punctual_core::queue::Mode;
use punctual_core::task::Grant;
use punctual_core::{
    Fate, OwnerKey, OwnerRef, Queue, QueueName, Settings, Span, Spec, State, Task, TaskId,
    Timestamp, WorkerName,
};

use super::list::{Move, standing};
use super::owners::OwnerRecord;
use super::shelf::{Record, Shelf};
use crate::clock::Instant;
use crate::port::{
    Change, Keyed, KeyedItem, Lost, Push, PushRefusal, Pushed, PutQueue, PutRefusal, Receipt,
    Revision, Stored, Take, Taken, Taker,
};

/// Everything.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) queues: BTreeMap<QueueName, Shelf>,
    pub(super) owners: BTreeMap<OwnerKey, OwnerRecord>,
    /// The last birth, of a task, an owner or a move.
    pub(super) births: u64,
    pub(super) keyed: HashMap<u128, Kept>,
    pub(super) keyed_order: VecDeque<u128>,
    /// By their fingerprints.
    pub(super) receipts: VecDeque<(Timestamp, u64)>,
}

/// What is kept of a keyed request.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) at: Timestamp,
    pub(super) queue: Option<QueueName>,
    pub(super) request: u128,
    pub(super) status: u16,
    pub(super) items: Vec<KeyedItem>,
}

impl Contents {
    pub(super) fn put_queue(&mut self, put: PutQueue) -> Result<(), PutRefusal> {
        let name = put.queue.name.clone();
        let queue = Arc::new(put.queue);
        let has_bundles = self.bundles(&name) > 0;
        match (self.queues.get_mut(&name), put.before) {
            (None, None) => {
                self.queues.insert(name, Shelf::new(queue));
            }
            (Some(shelf), Some(before)) if shelf.queue == before => {
                let is_empty = shelf.records.is_empty() && !has_bundles;
                if queue.settings.mode != before.settings.mode && !is_empty {
                    return Err(PutRefusal::HoldsTasks);
                }
                if queue.settings.rate != before.settings.rate {
                    shelf.bucket = None;
                }
                shelf.queue = queue;
            }
            _ => return Err(PutRefusal::Lost),
        }
        Ok(())
    }

    pub(super) fn push(&mut self, push: Push, now: Instant) -> Pushed {
        if let Some(keyed) = &push.keyed
            && let Some((is_same, status, items)) = self.recall(keyed, now)
        {
            return if is_same { Pushed::Replayed { status, items } } else { Pushed::KeyReused };
        }
        let Some(max) = self.queues.get(&push.queue).map(|shelf| shelf.settings().max) else {
            return Pushed::NoQueue;
        };
        let answers: Vec<_> =
            push.tasks.into_iter().map(|spec| self.insert(spec, max, now)).collect();
        if let Some(keyed) = push.keyed {
            self.remember(keyed, Some(push.queue), &answers, now);
        }
        Pushed::Answers(answers)
    }

    /// The answers to a keyed request that was carried out before, and whether it was the same.
    pub(super) fn recall(
        &mut self,
        keyed: &Keyed,
        now: Instant,
    ) -> Option<(bool, u16, Vec<KeyedItem>)> {
        self.forget(now);
        let first = self.keyed.get(&keyed.key)?;
        Some((first.request == keyed.request, first.status, first.items.clone()))
    }

    pub(super) fn next_birth(&mut self) -> u64 {
        self.births += 1;
        self.births
    }

    pub(super) fn insert(
        &mut self,
        spec: Arc<Spec>,
        max: Option<u64>,
        now: Instant,
    ) -> Result<Revision, PushRefusal> {
        let birth = self.next_birth();
        let shelf = self.queues.entry(spec.queue.clone()).or_insert_with(|| {
            Shelf::new(Arc::new(Queue {
                name: spec.queue.clone(),
                settings: Settings::initial(&spec.queue),
                paused: false,
                created_at: now.wall,
            }))
        });
        shelf.admits(&spec, now)?;
        let counts = |record: &&Record| {
            let delivers = matches!(record.task.spec.owner, Some(OwnerRef::Bundle(_)));
            !record.task.status.state.is_finished() && !delivers
        };
        let live = shelf.records.values().filter(counts).count() as u64;
        if max.is_some_and(|max| live >= max) {
            return Err(PushRefusal::Full);
        }
        let revision = Revision { birth, change: 0 };
        let id = spec.id.clone();
        shelf.reserved.remove(&id);
        let task = Task::new(spec, now.wall);
        shelf.records.insert(id, Record { revision, task, hold_ends_ms: None });
        Ok(revision)
    }

    pub(super) fn remember(
        &mut self,
        keyed: Keyed,
        queue: Option<QueueName>,
        answers: &[Result<Revision, PushRefusal>],
        now: Instant,
    ) {
        if keyed.single && !answers.is_empty() && !answers.iter().any(Result::is_ok) {
            return;
        }
        let mut items = keyed.items;
        for (position, answer) in keyed.positions.into_iter().zip(answers) {
            items[position].code = answer.err().map(|refusal| refusal.code().to_owned());
        }
        let (at, request, status) = (now.wall, keyed.request, keyed.status);
        self.keyed.insert(keyed.key, Kept { at, queue, request, status, items });
        self.keyed_order.push_back(keyed.key);
        self.forget(now);
    }

    /// Forgets keyed requests and receipts that are too old or too many.
    fn forget(&mut self, now: Instant) {
        let old = |at: Timestamp, ms| at + Span::from_millis(ms) <= now.wall;
        while let Some(key) = self.keyed_order.front() {
            let expired = self.keyed.get(key).is_none_or(|r| old(r.at, KEYED_REQUEST_MS));
            if !expired && self.keyed_order.len() <= REMEMBERED_MAX {
                break;
            }
            self.keyed.remove(key);
            self.keyed_order.pop_front();
        }
        while self.receipts.len() > REMEMBERED_MAX
            || self.receipts.front().is_some_and(|(at, _)| old(*at, RECEIPT_MS))
        {
            self.receipts.pop_front();
        }
    }

    /// The tasks a worker has, of queues of mode dispatch.
    pub(super) fn holdings(&self, worker: &WorkerName) -> impl Iterator<Item = &Record> {
        self.held().filter(move |record| record.task.status.worker.as_ref() == Some(worker))
    }

    /// Tasks that somebody has, of queues of mode dispatch.
    fn held(&self) -> impl Iterator<Item = &Record> {
        let dispatched = self.queues.values().filter(|it| it.settings().mode == Mode::Dispatch);
        let records = dispatched.flat_map(|shelf| shelf.records.values());
        records.filter(|record| record.task.status.state.is_held())
    }

    /// What each worker has, by birth, and what is asked of it there.
    pub(super) fn holders(&self) -> BTreeMap<WorkerName, BTreeMap<u64, Option<State>>> {
        let mut holders: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for record in self.held() {
            let status = &record.task.status;
            let Some(worker) = status.worker.clone() else { continue };
            let asks = matches!(status.state, State::Pausing | State::Cancelling);
            let asked = asks.then_some(status.state);
            holders.entry(worker).or_default().insert(record.revision.birth, asked);
        }
        holders
    }

    pub(super) fn take(&mut self, take: Take, now: Instant) -> Taken {
        let load = |taker: &Taker| taker.worker.as_ref().map_or(0, |it| self.holdings(it).count());
        let mut loads: HashMap<_, usize> =
            take.takers.iter().map(|taker| (taker.worker.clone(), load(taker))).collect();
        let Some(shelf) = self.queues.get_mut(&take.queue) else {
            return Taken::NoQueue;
        };
        let mut rooms: HashMap<Arc<str>, usize> = take.classes.named.iter().cloned().collect();
        let candidates = shelf.candidates(&take.classes, now);
        let mut candidates = candidates.into_iter().peekable();
        let mut held = shelf.count(now, State::is_held);
        let mut bucket = shelf.bucket_at(now);
        let mut again_at = None;
        let mut per_taker = Vec::new();
        let settings = shelf.settings().clone();
        for taker in take.takers {
            let is_limited = settings.mode == Mode::Dispatch && taker.worker.is_some();
            let most = taker.capacity.filter(|_| is_limited).unwrap_or(usize::MAX);
            let load = loads.entry(taker.worker.clone()).or_default();
            let mut got: Vec<Stored> = Vec::new();
            let mut bytes = 0;
            while got.len() < taker.n
                && *load < most
                && let Some(id) = candidates.peek()
                && settings.concurrency.is_none_or(|most| held < most as usize)
                && let Some(record) = shelf.records.get_mut(id)
            {
                bytes += record.task.spec.payload.len() + record.task.status.bytes();
                if bytes > TAKE_BYTES_MAX && !got.is_empty() {
                    break;
                }
                if bucket.as_mut().is_some_and(|bucket| !bucket.draw()) {
                    again_at = bucket.map(|bucket| now.wall + Span::from_millis(bucket.wait_ms()));
                    break;
                }
                record.task.status.take(Grant {
                    token: taker.seed.token(got.len()),
                    worker: taker.worker.clone(),
                    now: now.wall,
                    hold: taker.hold.or(record.task.spec.hold).unwrap_or(settings.hold),
                    confirm_within: taker.confirm.then_some(settings.confirm_within),
                    max_runtime: settings.max_runtime_of(record.task.spec.max_runtime),
                });
                let class = Arc::from(record.task.spec.lane_class());
                *rooms.entry(class).or_insert(take.classes.others) -= 1;
                record.revision.change += 1;
                record.time_hold(now);
                got.push(record.stored());
                held += 1;
                *load += 1;
                candidates.next();
            }
            per_taker.push(got);
        }
        shelf.bucket = bucket;
        let has_more = |class: &str| {
            let ready = shelf.records.values().filter(|record| record.state(now) == State::Ready);
            ready.into_iter().any(|record| record.task.spec.lane_class() == class)
        };
        let left_out = rooms.into_iter().filter(|(class, room)| *room == 0 && has_more(class));
        let left_out = left_out.map(|(class, _)| class).collect();
        Taken::Tasks { per_taker, again_at, left_out }
    }

    /// Whether a task is as a change expects it, and who gets it has room.
    pub(super) fn is_possible(&self, change: &Change) -> bool {
        let Change { expected, decision } = change;
        let Task { spec, status } = &decision.task;
        let shelf = self.queues.get(&spec.queue);
        let record = shelf.and_then(|shelf| shelf.records.get(&spec.id));
        let load = || status.worker.as_ref().map_or(0, |worker| self.holdings(worker).count());
        record.is_some_and(|record| record.revision == *expected)
            && decision.capacity.is_none_or(|most| load() < most)
    }

    pub(super) fn commit(&mut self, change: Change, now: Instant) -> Result<Revision, Lost> {
        if !self.is_possible(&change) {
            return Err(Lost);
        }
        let Change { expected, decision } = change;
        let (queue, id) = (&decision.task.spec.queue, &decision.task.spec.id);
        let shelf = self.queues.get_mut(queue).ok_or(Lost)?;
        let record = shelf.records.get_mut(id).ok_or(Lost)?;
        if decision.fate == Fate::Same {
            return Ok(expected);
        }
        let before = standing(record, now);
        record.revision.change += 1;
        let revision = record.revision;
        match decision.fate {
            Fate::Same | Fate::Keep | Fate::Rewrite => {
                let held_before = record.task.status.hold;
                record.task.status = decision.task.status;
                if decision.fate == Fate::Rewrite {
                    record.task.spec = decision.task.spec.clone();
                }
                // A change that leaves the hold alone leaves its end alone: the wall clock may have
                // been set since.
                if record.task.status.hold != held_before {
                    record.time_hold(now);
                }
                if standing(record, now).has_moved_from(&before) {
                    self.births += 1;
                    shelf.moves.push(Move { version: self.births, before });
                }
            }
            Fate::Reserve(until) => {
                shelf.records.remove(id);
                shelf.reserved.insert(id.clone(), until);
            }
            Fate::Remove => {
                shelf.records.remove(id);
            }
        }
        if let Some((token, verb)) = decision.receipt {
            let receipt = Receipt { queue: queue.clone(), id: id.clone(), token, verb };
            self.receipts.push_back((now.wall, receipt.fingerprint()));
            self.forget(now);
        }
        for spec in decision.spawn {
            // One whose id is live or reserved already is not made again.
            let _ = self.insert(Arc::new(spec), None, now);
        }
        Ok(revision)
    }

    pub(super) fn is_settled(&mut self, receipt: &Receipt, now: Instant) -> bool {
        self.forget(now);
        self.receipts.iter().any(|(_, remembered)| *remembered == receipt.fingerprint())
    }

    /// Something that is no longer to be kept.
    fn leftover(&self, now: Instant) -> Option<(QueueName, TaskId)> {
        self.queues.iter().find_map(|(name, shelf)| {
            let over = shelf.records.iter().find(|(_, record)| record.is_over(now));
            let ended = shelf.reserved.iter().find(|(_, until)| **until <= now.wall);
            let id = over.map(|(id, _)| id).or(ended.map(|(id, _)| id))?;
            Some((name.clone(), id.clone()))
        })
    }

    pub(super) fn sweep(&mut self, limit: usize, now: Instant) -> bool {
        for _ in 0..limit {
            let Some((name, id)) = self.leftover(now) else {
                return false;
            };
            let Some(shelf) = self.queues.get_mut(&name) else {
                return false;
            };
            shelf.reserved.remove(&id);
            let record = shelf.records.remove(&id);
            if let Some(until) = record.and_then(|record| record.task.status.reserved_until)
                && until > now.wall
            {
                shelf.reserved.insert(id, until);
            }
        }
        self.leftover(now).is_some()
    }
}
