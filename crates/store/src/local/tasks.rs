//! The port's operations on tasks, as changes of a [`Shard`].

use std::sync::Arc;

use punctual_core::limits::TAKE_BYTES_MAX;
use punctual_core::queue::Mode;
use punctual_core::task::Grant;
use punctual_core::{
    Fate, OwnerRef, QueueName, Shared, Spec, State, Status, Task, TaskId, WorkerName,
};

use super::classes::Room;
use super::index::{Entry, Kind};
use super::journal::{JournalError, Table};
use super::ordered::Place;
use super::readers::Spot;
use super::rows::{Body, KeyedRow, StatusRow, TaskRow, packed, put, unpack};
use super::shard::Shard;
use crate::port::{
    Change, Keyed, Lost, Push, PushRefusal, Pushed, Receipt, Revision, Take, Taker, fingerprint,
};

/// A task that was handed out; its spec is read afterwards where it is not at hand.
pub(super) struct TakenRow {
    pub(super) revision: Revision,
    pub(super) status: Shared<Status>,
    pub(super) spec: Option<Arc<Spec>>,
}

/// What a take came to.
pub(super) struct TakenRows {
    pub(super) per_taker: Vec<Vec<TakenRow>>,
    pub(super) again_at: Option<punctual_core::Timestamp>,
    pub(super) left_out: Vec<Arc<str>>,
}

impl Shard {
    /// Pushes tasks; `packed` are their specs as they are stored.
    pub(super) fn push(
        &mut self,
        push: &mut Push,
        packed: &mut [Vec<u8>],
    ) -> Result<Pushed, JournalError> {
        if let Some(keyed) = &push.keyed
            && let Some(answer) = self.replay(keyed)?
        {
            return Ok(answer);
        }
        let Some(&number) = self.numbers.get(&push.queue) else { return Ok(Pushed::NoQueue) };
        let mut answers = Vec::with_capacity(push.tasks.len());
        for (spec, packed) in push.tasks.iter().zip(packed) {
            let is_full = |shard: &Self| {
                let index = shard.index(number);
                index.queue.settings.max.is_some_and(|max| index.counted() >= max)
            };
            answers.push(self.push_one(number, spec, packed, is_full)?);
        }
        if let Some(keyed) = push.keyed.take() {
            self.remember(keyed, Some(push.queue.clone()), &answers)?;
        }
        Ok(Pushed::Answers(answers))
    }

    /// The answer to a keyed request that was carried out before.
    pub(super) fn replay(&mut self, keyed: &Keyed) -> Result<Option<Pushed>, JournalError> {
        let Some(at) = self.keyed.find(keyed.key) else { return Ok(None) };
        let broken = |error: crate::StoreError| JournalError::Broken(error.to_string());
        let Some(row) = self.journal.get(Table::Keyed, at).map_err(broken)? else {
            return Ok(None);
        };
        let row: KeyedRow = unpack(Table::Keyed, at, &row).map_err(broken)?;
        Ok(Some(if row.request == keyed.request {
            Pushed::Replayed { status: row.status, items: row.items }
        } else {
            Pushed::KeyReused
        }))
    }

    /// Remembers a keyed request that was carried out.
    pub(super) fn remember(
        &mut self,
        mut keyed: Keyed,
        queue: Option<QueueName>,
        answers: &[Result<Revision, PushRefusal>],
    ) -> Result<(), JournalError> {
        if keyed.single && answers.iter().any(Result::is_err) {
            return Ok(());
        }
        for (position, answer) in keyed.positions.iter().zip(answers) {
            keyed.items[*position].code = answer.err().map(|refusal| refusal.code().to_owned());
        }
        self.add_keyed(KeyedRow::new(keyed, queue, self.now.wall))
    }

    /// Pushes one task, unless its id is taken or `is_full` says so.
    fn push_one(
        &mut self,
        number: u32,
        spec: &Arc<Spec>,
        packed: &mut [u8],
        is_full: impl Fn(&Self) -> bool,
    ) -> Result<Result<Revision, PushRefusal>, JournalError> {
        let id = self.hash_id(&spec.id);
        if let Some(slot) = self.index(number).find(id) {
            if let Err(refusal) = self.may_replace(number, slot, spec.owner.is_some())? {
                return Ok(Err(refusal));
            }
            if is_full(self) {
                return Ok(Err(PushRefusal::Full));
            }
            self.remove(number, slot)?;
        } else if is_full(self) {
            return Ok(Err(PushRefusal::Full));
        }
        let birth = self.next_birth();
        put(&mut *self.journal, Table::Spec, birth, packed)?;
        let row = StatusRow {
            queue: number,
            id,
            change: 0,
            body: Body::Task(task_row(spec, Status::new(spec.due_at, spec.created_at).into())),
        };
        self.insert(number, birth, &row)?;
        self.recent.add(birth, Arc::clone(spec));
        Ok(Ok(Revision { birth, change: 0 }))
    }

    /// Whether what has the id may be replaced by a push: only a finished task may, and only if its
    /// id is not reserved and it belongs to nobody, or what is pushed has an owner as well.
    fn may_replace(
        &mut self,
        number: u32,
        slot: u32,
        is_owned: bool,
    ) -> Result<Result<(), PushRefusal>, JournalError> {
        let entry = *self.index(number).entry(slot);
        let now = self.now.wall;
        match entry.kind {
            Kind::Reserved if entry.timer_at <= now.as_millis() => return Ok(Ok(())),
            Kind::Task(state) if state.is_finished() => {}
            _ => return Ok(Err(PushRefusal::Duplicate)),
        }
        let Body::Task(row) = self.row(number, slot)?.body else { return Ok(Ok(())) };
        if row.status.reserved_until.is_some_and(|until| until > now) {
            return Ok(Err(PushRefusal::Duplicate));
        }
        if is_owned {
            return Ok(Ok(()));
        }
        let owner = self.spec(entry.birth)?.and_then(|spec| spec.owner);
        Ok(if owner.is_some() { Err(PushRefusal::Owned) } else { Ok(()) })
    }

    /// What was pushed, read again.
    fn spec(&mut self, birth: u64) -> Result<Option<Spec>, JournalError> {
        let broken = |error: crate::StoreError| JournalError::Broken(error.to_string());
        let row = self.journal.get(Table::Spec, birth).map_err(broken)?;
        row.map(|row| unpack(Table::Spec, birth, &row).map_err(broken)).transpose()
    }

    /// Hands out tasks.
    pub(super) fn take(&mut self, take: &Take) -> Result<Option<TakenRows>, JournalError> {
        let Some(&number) = self.numbers.get(&take.queue) else { return Ok(None) };
        let index = self.index(number);
        let settings = &index.queue.settings;
        let rate = settings.rate;
        let mut room = if index.queue.paused { 0 } else { usize::MAX };
        if let Some(concurrency) = settings.concurrency {
            room = room.min((u64::from(concurrency)).saturating_sub(index.held()) as usize);
        }
        let allowed = rate.map_or(usize::MAX, |rate| index.bucket.allows(rate, self.now));
        let mut classes = Room::new(&take.classes, &index.classes);
        let mut from = None;
        let mut left = room.min(allowed);
        let (mut wanted, mut taken) = (0usize, 0);
        let mut per_taker = Vec::with_capacity(take.takers.len());
        for taker in &take.takers {
            let n = taker.n.min(self.room_of(number, taker));
            wanted = wanted.saturating_add(n);
            let got = self.take_for(number, taker, &mut classes, &mut from, left.min(n))?;
            left -= got.len();
            taken += got.len();
            per_taker.push(got);
        }
        let mut again_at = None;
        if let Some(rate) = rate {
            let mut bucket = self.index(number).bucket;
            bucket.take(taken, rate, self.now);
            let is_kept_back = left == 0 && taken < wanted.min(room);
            let index = self.index(number);
            let has_more = index.next_ready(&classes, &mut from, self.now.wall, 0).is_some();
            again_at = bucket.next_at(rate, self.now).filter(|_| is_kept_back && has_more);
            if taken > 0 {
                self.set_bucket(number, bucket);
            }
        }
        let left_out = self.index(number).left_out(&classes);
        Ok(Some(TakenRows { per_taker, again_at, left_out }))
    }

    /// How many tasks of a queue a taker's worker has room for.
    fn room_of(&self, number: u32, taker: &Taker) -> usize {
        let is_kept = self.index(number).queue.settings.mode == Mode::Dispatch;
        match (&taker.worker, taker.capacity) {
            (Some(worker), Some(most)) if is_kept => {
                most.saturating_sub(self.holdings.load(worker))
            }
            _ => usize::MAX,
        }
    }

    /// The births of the tasks a worker holds, each with its queue.
    pub(super) fn holdings_of(&self, worker: &WorkerName) -> Vec<(QueueName, u64)> {
        let name = |number: &u32| self.index(*number).queue.name.clone();
        let tasks = self.holdings.of(worker).into_iter().flatten();
        tasks.map(|(birth, number)| (name(number), *birth)).collect()
    }

    /// Hands out at most `n` tasks.
    fn take_for(
        &mut self,
        number: u32,
        taker: &Taker,
        classes: &mut Room<'_>,
        from: &mut Option<(i8, Place)>,
        n: usize,
    ) -> Result<Vec<TakenRow>, JournalError> {
        let mut got = Vec::new();
        let mut bytes = 0;
        while got.len() < n {
            let token = taker.seed.token(got.len());
            let roll = mixed(token.bits());
            let index = self.index(number);
            let Some(slot) = index.next_ready(classes, from, self.now.wall, roll) else { break };
            let (class, size) = (index.entry(slot).class, index.entry(slot).bytes);
            bytes += size as usize;
            if bytes > TAKE_BYTES_MAX && !got.is_empty() {
                break;
            }
            let mut row = self.row(number, slot)?;
            let birth = self.index(number).entry(slot).birth;
            let Body::Task(task) = &mut row.body else { break };
            let settings = &self.index(number).queue.settings;
            task.status.take(Grant {
                token,
                worker: taker.worker.clone(),
                now: self.now.wall,
                hold: taker.hold.or(task.hold).unwrap_or(settings.hold),
                confirm_within: taker.confirm.then_some(settings.confirm_within),
                max_runtime: settings.max_runtime_of(task.max_runtime),
            });
            row.change += 1;
            self.update(number, slot, &row)?;
            classes.use_one(class);
            let Body::Task(task) = row.body else { break };
            got.push(TakenRow {
                revision: Revision { birth, change: row.change },
                status: task.status,
                spec: self.recent.take(birth),
            });
        }
        Ok(got)
    }

    /// Carries out a decision about one task, if it is still the expected version.
    pub(super) fn commit_one(
        &mut self,
        change: Change,
    ) -> Result<Result<Revision, Lost>, JournalError> {
        let Some((number, slot)) = self.find_expected(&change) else { return Ok(Err(Lost)) };
        let Change { expected, decision } = change;
        let spec = &decision.task.spec;
        let Entry { id, birth, .. } = *self.index(number).entry(slot);
        let revision = Revision { change: expected.change + 1, ..expected };
        let row = |body| StatusRow { queue: number, id, change: revision.change, body };
        match decision.fate {
            Fate::Same => return Ok(Ok(expected)),
            Fate::Keep => {
                let row = row(Body::Task(task_row(spec, decision.task.status)));
                self.update(number, slot, &row)?;
            }
            Fate::Rewrite => {
                put(&mut *self.journal, Table::Spec, birth, &mut packed(&**spec))?;
                // What is handed out without reading must not be older than what is stored.
                self.recent.take(birth);
                let row = row(Body::Task(task_row(spec, decision.task.status)));
                self.update(number, slot, &row)?;
            }
            Fate::Reserve(until) => {
                self.journal.remove(Table::Spec, birth)?;
                let body = Body::Reserved { id: spec.id.clone(), until };
                self.update(number, slot, &row(body))?;
            }
            Fate::Remove => self.remove(number, slot)?,
        }
        if let Some((token, verb)) = decision.receipt {
            self.note_receipt(fingerprint(&spec.queue, &spec.id, token, verb));
        }
        for spawned in decision.spawn {
            self.spawn(Arc::new(spawned))?;
        }
        Ok(Ok(revision))
    }

    /// Where a task lies, if it is as a change expects it and who gets it has room.
    pub(super) fn find_expected(&self, change: &Change) -> Option<(u32, u32)> {
        let Change { expected, decision } = change;
        let Task { spec, status } = &decision.task;
        let number = *self.numbers.get(&spec.queue)?;
        let index = self.index(number);
        let slot = index.find(self.hash_id(&spec.id))?;
        let Entry { birth, change, .. } = *index.entry(slot);
        let load = || status.worker.as_ref().map_or(0, |worker| self.holdings.load(worker));
        let has_room = decision.capacity.is_none_or(|most| load() < most);
        (Revision { birth, change } == *expected && has_room).then_some((number, slot))
    }

    /// Makes a task that follows from a decision. One that is there already is not made again.
    pub(super) fn spawn(&mut self, spec: Arc<Spec>) -> Result<(), JournalError> {
        let number = match self.numbers.get(&spec.queue) {
            Some(number) => *number,
            None => self.add_queue(spec.queue.clone())?,
        };
        self.push_one(number, &spec, &mut packed(&*spec), |_| false)?.ok();
        Ok(())
    }

    /// Removes tasks, whatever their state.
    pub(super) fn remove_tasks(
        &mut self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<bool>, JournalError> {
        let mut removed = Vec::with_capacity(ids.len());
        for id in ids {
            let found = self.find_task(queue, id);
            if let Some((number, slot)) = found {
                self.remove(number, slot)?;
            }
            removed.push(found.is_some());
        }
        Ok(removed)
    }

    /// Where a task lies; a reserved id is no task.
    pub(super) fn find_task(&self, queue: &QueueName, id: &TaskId) -> Option<(u32, u32)> {
        let number = *self.numbers.get(queue)?;
        let index = self.index(number);
        let slot = index.find(self.hash_id(id))?;
        (index.entry(slot).kind != Kind::Reserved).then_some((number, slot))
    }

    /// Whether settle verbs are remembered.
    pub(super) fn settled(&self, receipts: &[Receipt]) -> Vec<bool> {
        receipts.iter().map(|receipt| self.knows_receipt(receipt.fingerprint())).collect()
    }

    /// Tasks whose hold has ended or that were not started in time.
    pub(super) fn expired(&self, limit: usize) -> Vec<Spot> {
        let now = self.now;
        let mut spots = Vec::new();
        for index in self.queues.values() {
            let holds = index.passed_holds(now.steady_ms);
            let unstarted = index
                .passed_on_wall(now.wall)
                .filter(|slot| index.entry(*slot).state().is_some_and(|s| !s.is_finished()));
            let room = limit - spots.len();
            spots.extend(
                holds.chain(unstarted).take(room).filter_map(|slot| index.entry(slot).spot()),
            );
            if spots.len() == limit {
                break;
            }
        }
        spots
    }

    /// Removes what is no longer to be kept.
    pub(super) fn sweep(&mut self, limit: usize) -> Result<bool, JournalError> {
        let mut swept = self.remove_dead(limit)?;
        let numbers: Vec<u32> = self.queues.keys().copied().collect();
        for number in numbers {
            let index = self.index(number);
            let is_outdated = |slot: &u32| {
                let entry = index.entry(*slot);
                entry.kind == Kind::Reserved || entry.state().is_some_and(State::is_finished)
            };
            let room = limit.saturating_sub(swept);
            let outdated: Vec<u32> =
                index.passed_on_wall(self.now.wall).filter(is_outdated).take(room).collect();
            swept += outdated.len();
            for slot in outdated {
                self.sweep_one(number, slot)?;
            }
        }
        Ok(swept >= limit)
    }

    fn sweep_one(&mut self, number: u32, slot: u32) -> Result<(), JournalError> {
        let row = self.row(number, slot)?;
        let birth = self.index(number).entry(slot).birth;
        let reserved_until = match &row.body {
            Body::Task(task) => task.status.reserved_until.filter(|until| *until > self.now.wall),
            Body::Reserved { .. } => None,
        };
        let Some(until) = reserved_until else { return self.remove(number, slot) };
        let Some(id) = self.spec(birth)?.map(|spec| spec.id) else {
            return self.remove(number, slot);
        };
        self.journal.remove(Table::Spec, birth)?;
        let body = Body::Reserved { id, until };
        self.update(number, slot, &StatusRow { body, change: row.change + 1, ..row })
    }
}

pub(super) fn task_row(spec: &Spec, status: Shared<Status>) -> TaskRow {
    TaskRow {
        priority: spec.priority,
        class: spec.lane_class(),
        bytes: u32::try_from(spec.payload.len() + status.bytes()).unwrap_or(u32::MAX),
        hold: spec.hold,
        max_runtime: spec.max_runtime,
        expires: spec.expires,
        delivers: matches!(spec.owner, Some(OwnerRef::Bundle(_))),
        status,
    }
}

/// Spreads bits, so that consecutive tokens draw independently and sums of keys tell sets apart.
pub(super) fn mixed(bits: u128) -> u64 {
    let mut z = (bits as u64) ^ ((bits >> 64) as u64);
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
