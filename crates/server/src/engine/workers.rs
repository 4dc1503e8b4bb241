//! Workers: how they join, hear what is for them, drain and leave, and what becomes of silent ones.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::limits::{PAGE_EXAMINED_MAX, TAKE_BYTES_MAX, WAIT_MS_MAX};
use punctual_core::task::Settlement;
use punctual_core::worker::{Joined, WorkerPatch, WorkerState};
use punctual_core::{
    Event, Owner, OwnerKey, OwnerKind, Queue, QueueName, Span, State, TaskId, Timestamp,
    Worker, WorkerName,
};
use punctual_store::{
    OwnerChange, OwnerListing, Revision, Step, Stepped, StoreError, Stored, StoredOwner,
};
use tokio::time::{Instant, sleep_until};

use super::held::bytes_of;
use super::owned::{Decided, Undone};
use super::{Engine, Failure};
use crate::dispatch::Told;

/// How often a worker is read again before the request is given up.
const ROUNDS_MAX: usize = 16;
/// Tasks read at a time.
const CHUNK: usize = 500;

/// A worker, and how many tasks it holds.
pub(crate) struct WorkerReading {
    /// The worker.
    pub(crate) worker: Worker,
    /// How many tasks of dispatch queues it holds.
    pub(crate) load: usize,
}

/// Which workers to list.
#[derive(Debug, Default)]
pub(crate) struct WorkerFilter {
    /// Only those that serve this queue.
    pub(crate) queue: Option<QueueName>,
    /// Only those in these states; all if there are none.
    pub(crate) states: Vec<WorkerState>,
}

/// What a worker asks for when it polls.
#[derive(Debug)]
pub(crate) struct PollAsk {
    /// How long it waits for something new.
    pub(crate) wait: Span,
    /// Which incarnation it is.
    pub(crate) session: Option<String>,
}

/// What a worker is told.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// Tasks that it was given and has not confirmed, and their queues.
    pub(crate) assignments: Vec<(Arc<Queue>, Stored)>,
    /// Tasks that it is asked to stop.
    pub(crate) cancel: Vec<(QueueName, TaskId)>,
    /// Tasks that it is asked to set aside.
    pub(crate) pause: Vec<(QueueName, TaskId)>,
}

impl PollAsk {
    /// Checks every field.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.wait.as_millis() > WAIT_MS_MAX {
            return Err(Failure::invalid("wait", "at most 60 seconds"));
        }
        Ok(())
    }
}

fn known(stored: StoredOwner) -> Option<(Worker, Revision)> {
    match stored.owner {
        Owner::Worker(worker) => Some((*worker, stored.revision)),
        _ => None,
    }
}

impl Engine {
    /// A worker joins, or joins again.
    pub(crate) async fn join(
        &self,
        name: &WorkerName,
        patch: WorkerPatch,
    ) -> Result<WorkerReading, Failure> {
        for _ in 0..ROUNDS_MAX {
            let before = self.find_worker(name).await?;
            let now = self.now();
            let expected = before.as_ref().map(|(_, revision)| *revision);
            let joined = patch.clone().join(name, before.map(|(worker, _)| worker), now)?;
            let Joined { worker, is_reborn } = joined;
            if !self.write_worker(&worker, expected).await? {
                continue;
            }
            if is_reborn {
                self.end_holdings(name, "its worker began anew", Some(worker.joined_at)).await?;
            }
            self.roster.ring(name);
            self.dispatch.join(&worker.queues);
            return self.reading(worker).await.map_err(Failure::after_change);
        }
        Err(Failure::Contended)
    }

    /// A worker is given no more tasks.
    pub(crate) async fn drain(&self, name: &WorkerName) -> Result<WorkerReading, Failure> {
        for _ in 0..ROUNDS_MAX {
            let (before, revision) = self.present_worker(name).await?;
            let worker = Worker { state: WorkerState::Draining, ..before };
            if self.write_worker(&worker, Some(revision)).await? {
                return self.reading(worker).await.map_err(Failure::after_change);
            }
        }
        Err(Failure::Contended)
    }

    /// A worker leaves: what it held is ready for others. It goes last, so that one who was cut off
    /// half way can leave again.
    pub(crate) async fn leave(&self, name: &WorkerName) -> Result<(), Failure> {
        for _ in 0..ROUNDS_MAX {
            let (before, revision) = self
                .find_worker(name)
                .await?
                .ok_or_else(|| Failure::NoWorker(name.clone()))?;
            if before.state == WorkerState::Active {
                let worker = Worker { state: WorkerState::Draining, ..before };
                self.write_worker(&worker, Some(revision)).await?;
                continue;
            }
            self.release_holdings(name).await?;
            self.give_up_ballots(name, "its worker left").await?;
            if self.remove_worker(name, revision).await? {
                return Ok(());
            }
        }
        Err(Failure::Contended)
    }

    /// Reads a worker.
    pub(crate) async fn worker(&self, name: &WorkerName) -> Result<WorkerReading, Failure> {
        let found = self.find_worker(name).await?;
        let (worker, _) = found.ok_or_else(|| Failure::NoWorker(name.clone()))?;
        self.reading(worker).await
    }

    /// Lists workers, and says where the next page begins.
    pub(crate) async fn list_workers(
        &self,
        filter: &WorkerFilter,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<WorkerReading>, Option<String>), Failure> {
        let mut listing = worker_listing(cursor);
        let (mut found, mut examined) = (Vec::new(), 0);
        let next = loop {
            listing.limit = limit - found.len();
            let page = self.store.list_owners(listing.clone()).await?;
            examined += listing.limit;
            let workers = page.items.into_iter().filter_map(known).map(|(worker, _)| worker);
            found.extend(workers.filter(|worker| filter.selects(worker)));
            let is_full = found.len() >= limit || examined >= PAGE_EXAMINED_MAX;
            if page.next.is_none() || is_full {
                break page.next;
            }
            listing.cursor = page.next;
        };
        let names: Vec<WorkerName> = found.iter().map(|worker| worker.name.clone()).collect();
        let loads = self.store.loads(&names).await?;
        let readings = found.into_iter().zip(loads);
        let reading = |(worker, load)| WorkerReading { worker: self.as_heard(worker), load };
        Ok((readings.map(reading).collect(), next))
    }

    /// Tells a worker what is for it, as soon as there is something new.
    pub(crate) async fn poll(&self, name: &WorkerName, ask: &PollAsk) -> Result<Orders, Failure> {
        let deadline = Instant::now() + Duration::from_millis(ask.wait.as_millis().unsigned_abs());
        self.present_worker(name).await?;
        let Some(polling) = self.roster.poll(name) else { return Ok(Orders::default()) };
        let _waiting = polling.counts(&*self.store);
        loop {
            let mut rung = pin!(polling.bell.notified());
            rung.as_mut().enable();
            let (worker, _) = self.present_worker(name).await?;
            if !worker.is_session(ask.session.as_deref()) {
                return Err(Failure::OldSession(name.clone()));
            }
            self.roster.hear(name, self.now());
            let (orders, asked) = self.orders(name).await?;
            let is_news = self.roster.tell(name, asked);
            let is_over = Instant::now() >= deadline || self.roster.is_closed();
            if is_news || is_over || !orders.assignments.is_empty() {
                return Ok(orders);
            }
            tokio::select! {
                () = rung => {}
                () = sleep_until(deadline) => {}
            }
        }
    }

    /// What there is for a worker, and what is asked of it.
    async fn orders(&self, name: &WorkerName) -> Result<(Orders, HashSet<Told>), StoreError> {
        let (mut orders, mut asked, mut bytes) = (Orders::default(), HashSet::new(), 0);
        for (queue, stored) in self.held_by(name).await? {
            let (spec, status) = (&stored.task.spec, &stored.task.status);
            let named = || (spec.queue.clone(), spec.id.clone());
            let Some(hold) = status.hold else { continue };
            match status.state {
                State::Assigned => {
                    bytes += bytes_of(&stored.task);
                    if bytes <= TAKE_BYTES_MAX || orders.assignments.is_empty() {
                        self.held.keep([&stored]);
                        orders.assignments.push((queue, stored));
                    }
                }
                State::Cancelling => {
                    asked.insert((spec.queue.clone(), spec.id.clone(), hold.token, true));
                    orders.cancel.push(named());
                }
                State::Pausing => {
                    asked.insert((spec.queue.clone(), spec.id.clone(), hold.token, false));
                    orders.pause.push(named());
                }
                _ => {}
            }
        }
        for (queue, stored) in self.ballots_of(name).await? {
            if stored.task.status.state == State::Assigned {
                bytes += bytes_of(&stored.task);
                if bytes <= TAKE_BYTES_MAX || orders.assignments.is_empty() {
                    orders.assignments.push((queue, stored));
                }
            }
        }
        Ok((orders, asked))
    }

    /// The tasks of dispatch queues that a worker holds.
    async fn held_by(&self, name: &WorkerName) -> Result<Vec<(Arc<Queue>, Stored)>, StoreError> {
        let mut holdings = self.store.holdings(name).await?;
        holdings.sort_unstable();
        let mut held = Vec::new();
        for part in holdings.chunk_by(|(a, _), (b, _)| a == b) {
            let Some(queue) = self.store.queue(&part[0].0).await? else { continue };
            for chunk in part.chunks(CHUNK) {
                let ids: Vec<TaskId> = chunk.iter().map(|(_, id)| id.clone()).collect();
                let tasks = self.store.read(&queue.name, &ids).await?.into_iter().flatten();
                let mine = |stored: &Stored| {
                    let status = &stored.task.status;
                    status.worker.as_ref() == Some(name) && status.state.is_held()
                };
                held.extend(tasks.filter(mine).map(|stored| (queue.clone(), stored)));
            }
        }
        Ok(held)
    }

    /// Ends the holds of a worker that is not there any more, but for those it was given after a time:
    /// these attempts count.
    pub(super) async fn end_holdings(
        &self,
        name: &WorkerName,
        error: &str,
        before: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let is_old = |stored: &Stored| match (stored.task.status.hold, before) {
            (Some(hold), Some(before)) => hold.since <= before,
            _ => true,
        };
        for (queue, stored) in self.held_by(name).await? {
            if is_old(&stored) {
                self.settle_held(&queue, &Event::HoldEnd, stored).await?;
            }
        }
        self.give_up_ballots(name, error).await
    }

    /// Gives back what a worker holds that leaves.
    async fn release_holdings(&self, name: &WorkerName) -> Result<(), StoreError> {
        for (queue, stored) in self.held_by(name).await? {
            let Some(hold) = stored.task.status.hold else { continue };
            let settlement = Settlement::Release { delay: None, checkpoint: None };
            let event = Event::Settle { token: hold.token, settlement };
            self.settle_held(&queue, &event, stored).await?;
        }
        Ok(())
    }

    /// Lets something happen to a held task, unless its hold has ended meanwhile.
    async fn settle_held(
        &self,
        queue: &Queue,
        event: &Event,
        mut before: Stored,
    ) -> Result<(), StoreError> {
        let token = |stored: &Stored| stored.task.status.hold.map(|hold| hold.token);
        let held_by = token(&before);
        for _ in 0..ROUNDS_MAX {
            let now = self.now();
            let Ok(decision) = self.decide(queue, &before.task, event.clone(), now) else {
                return Ok(());
            };
            let decided = Decided { queue, event, before: &before, decision };
            match self.commit(vec![decided], now).await?.pop() {
                Some(Err(Undone::Lost)) => {}
                Some(Err(Undone::Store(failure))) => return Err(failure),
                _ => return Ok(()),
            }
            let id = std::slice::from_ref(&before.task.spec.id);
            match self.store.read(&queue.name, id).await?.into_iter().flatten().next() {
                Some(stored) if token(&stored) == held_by => before = stored,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// What is to be done about a worker whose alarm rang: it was heard of, it is lost, or it is
    /// forgotten. The step, and whether it says that the worker is lost.
    pub(super) fn ring_worker(
        &self,
        worker: Worker,
        revision: Revision,
        now: Timestamp,
    ) -> (Step, bool) {
        let key = OwnerKey::worker(&worker.name);
        let heard_at = self.roster.heard_at(&worker.name, now).unwrap_or(worker.seen_at);
        let after = worker.ring(heard_at, now);
        let is_lost = after.as_ref().is_some_and(|worker| worker.state == WorkerState::Lost);
        let after = after.map(|worker| Owner::Worker(Box::new(worker)));
        let owner =
            OwnerChange { key, expected: Some(revision), after, drop_first: 0, append: Vec::new() };
        (Step { owners: vec![owner], ..Step::default() }, is_lost)
    }

    /// Reads a worker that has joined and is not lost.
    async fn present_worker(&self, name: &WorkerName) -> Result<(Worker, Revision), Failure> {
        let found = self.find_worker(name).await?;
        found
            .filter(|(worker, _)| worker.state != WorkerState::Lost)
            .ok_or_else(|| Failure::NoWorker(name.clone()))
    }

    /// Reads a worker.
    pub(super) async fn find_worker(
        &self,
        name: &WorkerName,
    ) -> Result<Option<(Worker, Revision)>, StoreError> {
        if self.store.is_exclusive()
            && let Some(known) = self.roster.get(name)
        {
            return Ok(Some(known));
        }
        let found = self.owner(&OwnerKey::worker(name)).await?.and_then(known);
        match &found {
            Some((worker, revision)) => self.roster.put(worker.clone(), *revision),
            None => self.roster.remove(name),
        }
        Ok(found)
    }

    async fn reading(&self, worker: Worker) -> Result<WorkerReading, Failure> {
        let loads = self.store.loads(std::slice::from_ref(&worker.name)).await?;
        Ok(WorkerReading {
            worker: self.as_heard(worker),
            load: loads.first().copied().unwrap_or(0),
        })
    }

    /// A worker, heard of when this node last did.
    fn as_heard(&self, worker: Worker) -> Worker {
        let heard_at = self.roster.heard_at(&worker.name, self.now());
        let seen_at = heard_at.map_or(worker.seen_at, |at| at.max(worker.seen_at));
        if worker.state == WorkerState::Lost { worker } else { Worker { seen_at, ..worker } }
    }

    /// Writes the record of a worker. False: it was changed meanwhile.
    async fn write_worker(
        &self,
        worker: &Worker,
        expected: Option<Revision>,
    ) -> Result<bool, StoreError> {
        let written = self.write_workers(vec![(worker.clone(), expected)]).await?;
        Ok(written == [true])
    }

    /// Writes the records of workers, each by itself.
    pub(crate) async fn write_workers(
        &self,
        workers: Vec<(Worker, Option<Revision>)>,
    ) -> Result<Vec<bool>, StoreError> {
        let step = |(worker, expected): &(Worker, Option<Revision>)| Step {
            owners: vec![OwnerChange {
                key: OwnerKey::worker(&worker.name),
                expected: *expected,
                after: Some(Owner::Worker(Box::new(worker.clone()))),
                drop_first: 0,
                append: Vec::new(),
            }],
            ..Step::default()
        };
        let stepped = self.store.step(workers.iter().map(step).collect()).await?;
        let mut written = Vec::with_capacity(workers.len());
        for ((worker, _), stepped) in workers.into_iter().zip(stepped) {
            written.push(match stepped {
                Stepped::Done { owners, .. } => {
                    if let Some(revision) = owners.first().copied().flatten() {
                        self.roster.put(worker, revision);
                    }
                    true
                }
                _ => {
                    self.refresh_worker(&worker.name).await?;
                    false
                }
            });
        }
        Ok(written)
    }

    async fn remove_worker(
        &self,
        name: &WorkerName,
        revision: Revision,
    ) -> Result<bool, StoreError> {
        let owner = OwnerChange {
            key: OwnerKey::worker(name),
            expected: Some(revision),
            after: None,
            drop_first: 0,
            append: Vec::new(),
        };
        let step = Step { owners: vec![owner], ..Step::default() };
        let done = matches!(self.store.step(vec![step]).await?[..], [Stepped::Done { .. }]);
        self.refresh_worker(name).await?;
        Ok(done)
    }

    /// Takes over the record of a worker as the store has it.
    pub(super) async fn refresh_worker(&self, name: &WorkerName) -> Result<(), StoreError> {
        match self.owner(&OwnerKey::worker(name)).await?.and_then(known) {
            Some((worker, revision)) => self.roster.put(worker, revision),
            None => self.roster.remove(name),
        }
        Ok(())
    }

    /// Takes over the records of all workers.
    pub(crate) async fn find_workers(&self) -> Result<(), StoreError> {
        let (mut listing, mut workers) = (worker_listing(None), Vec::new());
        loop {
            let page = self.store.list_owners(listing.clone()).await?;
            workers.extend(page.items.into_iter().filter_map(known));
            if page.next.is_none() {
                break;
            }
            listing.cursor = page.next;
        }
        self.roster.replace(workers);
        Ok(())
    }
}

fn worker_listing(cursor: Option<String>) -> OwnerListing {
    OwnerListing {
        kind: OwnerKind::Worker,
        queue: None,
        prefix: String::new(),
        cursor,
        limit: 1_000,
    }
}

impl WorkerFilter {
    fn selects(&self, worker: &Worker) -> bool {
        let serves = |queue| worker.queues.binary_search(queue).is_ok();
        self.queue.as_ref().is_none_or(serves)
            && (self.states.is_empty() || self.states.contains(&worker.state))
    }
}
