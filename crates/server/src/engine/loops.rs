//! The loops: each sleeps until the store wakes it, then works until nothing is left to do.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use punctual_core::announce;
use punctual_core::owner::Around;
use punctual_core::queue::Mode;
use punctual_core::{
    Changes, Event, Owner, OwnerKey, Queue, QueueName, State, Stored, StoredOwner, Task, Timestamp,
};
use punctual_store::{StoreError, Wake};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tracing::{error, warn};

use super::owned::Decided;
use super::records::{Found, Records};
use super::write::Draft;
use super::{Ask, Engine, Failure, Returned};
use crate::dispatch::Dispatcher;
use crate::metrics::Timer;

/// Records one round looks at.
pub(super) const ROUND_MAX: usize = 500;
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// What wakes the loops.
#[derive(Default)]
struct Wakes {
    expired: Arc<Notify>,
    alarms: Arc<Notify>,
    sweep: Arc<Notify>,
    /// Votes that other servers have opened.
    votes: Option<UnboundedSender<OwnerKey>>,
}

impl Engine {
    /// Starts the loops that the store wakes. They end when the set they come in is dropped.
    pub(crate) fn start(self: &Arc<Self>) -> JoinSet<()> {
        let mut loops = JoinSet::new();
        let mut wakes = Wakes::default();
        // What fell due before the start was announced to nobody.
        wakes.expired.notify_one();
        wakes.alarms.notify_one();
        wakes.sweep.notify_one();
        loops.spawn(self.clone().end_holds(wakes.expired.clone()));
        loops.spawn(self.clone().look_after_owners(wakes.alarms.clone()));
        loops.spawn(self.clone().remove_leftovers(wakes.sweep.clone()));
        if !self.store.is_exclusive() {
            let (sender, opened) = unbounded_channel();
            wakes.votes = Some(sender);
            loops.spawn(self.clone().hear_votes(opened));
            loops.spawn(self.clone().note_heartbeats());
        }
        loops.spawn(self.clone().listen(wakes));
        loops.spawn(self.clone().find_lost_tasks());
        loops.spawn(self.clone().note_token_uses());
        loops.spawn(self.events.clone().run_announcing());
        loops.spawn(self.events.clone().run_hearing());
        loops.spawn(Dispatcher::new(self.clone()).run());
        loops
    }

    /// A server that died between dropping a queue's tasks and telling their owners told nobody.
    async fn find_lost_tasks(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        while let Err(failure) = self.tell_owners(None).await {
            complain("plans and flows whose tasks may be gone", &failure);
            backoff.wait().await;
        }
    }

    /// Lets all who wait go, and nobody wait any more.
    pub(crate) fn close(&self) {
        self.lines.close();
        self.bells.close();
        self.roster.close();
        self.events.close();
    }

    /// Gives back what takers did not live to receive, until the channel is closed or, after
    /// `closing` was told, empty.
    pub(crate) async fn give_back(self: Arc<Self>, mut returned: Returned, closing: Arc<Notify>) {
        loop {
            let next = tokio::select! {
                biased;
                next = returned.recv() => next,
                () = closing.notified() => {
                    returned.close();
                    continue;
                }
            };
            let Some((queue, asks)) = next else { return };
            self.release(&queue, &asks).await;
        }
    }

    async fn release(&self, queue: &QueueName, asks: &[Ask]) {
        let released = self.happen(queue, asks).await;
        if let Err(failure) = released
            && !matches!(failure, Failure::NoQueue(_))
        {
            let id = asks.first().map(|ask| tracing::field::display(&ask.id));
            warn!(%queue, id, tasks = asks.len(), %failure, "tasks of a taker that is gone were not released; their holds will end");
        }
    }

    async fn listen(self: Arc<Self>, wakes: Wakes) {
        let mut wakeups = self.store.wakeups();
        while let Some(wake) = wakeups.recv().await {
            match wake {
                Wake::Ready { queue, count } => self.call(queue, count).await,
                Wake::Expired => wakes.expired.notify_one(),
                Wake::Sweep => wakes.sweep.notify_one(),
                Wake::Alarms => wakes.alarms.notify_one(),
                Wake::Bundles { queue } => self.bells.ring(&queue),
                Wake::Worker { worker } => {
                    self.roster.ring(&worker);
                    self.dispatch.freed(&self.roster.queues_of(&worker));
                }
                Wake::Vote { queue, task } => {
                    let vote = OwnerKey::vote(&queue, &task);
                    // Nobody hears of it any more when the server ends.
                    let _ = wakes.votes.as_ref().map(|votes| votes.send(vote));
                }
            }
        }
    }

    /// Tells those who carry out a queue's tasks that it may have some.
    async fn call(&self, queue: QueueName, count: usize) {
        match self.store.queue(&queue).await {
            Ok(Some(record)) => match record.settings.mode {
                Mode::Pull => self.lines.call(&queue, count),
                Mode::Http => self.deliveries.call(queue),
                Mode::Dispatch | Mode::Vote | Mode::Pub => self.dispatch.call(queue),
            },
            // They look for themselves, and come back if the store cannot say.
            _ => {
                self.dispatch.call(queue.clone());
                self.deliveries.call(queue);
            }
        }
    }

    async fn end_holds(self: Arc<Self>, wake: Arc<Notify>) {
        let mut backoff = Backoff::default();
        loop {
            wake.notified().await;
            loop {
                match self.end_holds_once().await {
                    Ok(Round::Empty) => break,
                    Ok(Round::Progress) => backoff.reset(),
                    // All of it changed on the way, or none of it can be ended.
                    Ok(Round::Stuck) => backoff.wait().await,
                    Err(failure) => {
                        complain("holds that ended", &failure);
                        backoff.wait().await;
                    }
                }
            }
            backoff.reset();
        }
    }

    /// Deals with a round of tasks whose hold has ended or that were not started in time. The store
    /// says only once that there are some, so whatever came of a round, another one looks again.
    pub(super) async fn end_holds_once(&self) -> Result<Round, StoreError> {
        let expired = self.store.expired(ROUND_MAX).await?;
        if expired.is_empty() {
            return Ok(Round::Empty);
        }
        self.rounds.fetch_add(1, Ordering::SeqCst);
        let now = self.now();
        for task in expired.iter().map(|stored| &stored.task) {
            let due = task.status.hold.map(|hold| hold.until).or(task.expires_at());
            due.into_iter().for_each(|due| self.meters.late(Timer::Hold, now.since(due)));
        }
        let mut queues: HashMap<QueueName, Option<Arc<Queue>>> = HashMap::new();
        for stored in &expired {
            let name = &stored.task.spec.queue;
            if !queues.contains_key(name) {
                queues.insert(name.clone(), self.store.queue(name).await?);
            }
        }
        let (votes, expired): (Vec<Stored>, Vec<Stored>) =
            expired.into_iter().partition(|stored| {
                let queue = queues.get(&stored.task.spec.queue).and_then(Option::as_ref);
                let is_vote = queue.is_some_and(|queue| queue.settings.mode == Mode::Vote);
                is_vote && stored.task.status.state == State::Running
            });
        let mut is_progress = false;
        for Stored { task, revision } in &votes {
            let Some(Some(queue)) = queues.get(&task.spec.queue) else { continue };
            is_progress |= self.time_out_vote(queue, &task.spec.id, *revision).await?;
        }
        let events: Vec<Event> = expired.iter().map(|stored| ending(&stored.task)).collect();
        let mut decided = Vec::new();
        for (before, event) in expired.iter().zip(&events) {
            let (name, id) = (&before.task.spec.queue, &before.task.spec.id);
            let Some(Some(queue)) = queues.get(name) else { continue };
            match self.decide(queue, &before.task, event.clone(), now) {
                Ok(decision) => decided.push(Decided { queue, event, before, decision }),
                Err(refusal) => warn!(queue = %name, %id, %refusal, "not ended"),
            }
        }
        // Whoever let a time pass is asked last, until it is heard of again: also with what it lost now.
        for status in expired.iter().map(|stored| &stored.task.status) {
            if let (true, Some(worker)) = (status.state.is_held(), &status.worker) {
                self.roster.doubt(worker);
            }
        }
        let committed = self.commit(decided, now).await?;
        Ok(Round::of(is_progress || committed.iter().any(Result::is_ok)))
    }

    async fn look_after_owners(self: Arc<Self>, wake: Arc<Notify>) {
        let mut backoff = Backoff::default();
        loop {
            wake.notified().await;
            loop {
                match self.look_after_owners_once().await {
                    Ok(Round::Empty) => break,
                    Ok(Round::Progress) => backoff.reset(),
                    Ok(Round::Stuck) => backoff.wait().await,
                    Err(failure) => {
                        complain("bundles, plans and flows", &failure);
                        backoff.wait().await;
                    }
                }
            }
            backoff.reset();
        }
    }

    /// Deals with a round of owners that must be looked after. As with holds, another round looks
    /// again.
    pub(super) async fn look_after_owners_once(&self) -> Result<Round, StoreError> {
        let rung = self.store.alarms(ROUND_MAX).await?;
        if rung.is_empty() {
            return Ok(Round::Empty);
        }
        self.rounds.fetch_add(1, Ordering::SeqCst);
        let now = self.now();
        let (mut flows, mut workers, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for stored in rung {
            if let Some(due) = stored.owner.alarm_at() {
                self.meters.late(Timer::Owner, now.since(due));
            }
            match stored.owner {
                Owner::Flow(flow) => flows.push(flow),
                Owner::Worker(worker) => workers.push((*worker, stored.revision)),
                _ => others.push(stored),
            }
        }
        let mut is_done = false;
        for flow in flows {
            // It takes as many transactions as it needs.
            is_done |= self.look_after_flow(&flow, now).await?;
        }
        let drafts =
            self.decide_each(others, |records, stored, now| self.look_after(records, stored, now));
        for written in self.writer.write(drafts.await?).await {
            is_done |= written?.is_done();
        }
        is_done |= self.look_after_workers(workers, now).await?;
        Ok(Round::of(is_done))
    }

    /// Decides about an owner whose alarm rang.
    fn look_after(
        &self,
        records: &Records,
        stored: &StoredOwner,
        now: Timestamp,
    ) -> Found<Option<Draft>> {
        let StoredOwner { owner, revision } = stored;
        match owner {
            Owner::Plan(plan) => self.look_after_plan(records, plan, *revision, now).map(Some),
            Owner::Bundle(bundle) => {
                let settings = records.settings(&bundle.queue)?;
                let next_id = self.ids.one(now);
                let around = Around { now, queue: &settings, next_id: &next_id };
                let Some(decision) = bundle.clone().ring(&around) else { return Ok(None) };
                let after = match &decision.owner {
                    Some(Owner::Bundle(bundle)) => Some(&**bundle),
                    _ => None,
                };
                let news = announce::bundle::lapsed(bundle, after, now).into_iter().collect();
                let changes = Changes::of_owner(owner.key(), *revision, decision);
                Ok(Some(Draft::told(changes, news)))
            }
            Owner::Flow(_)
            | Owner::Step(_)
            | Owner::Worker(_)
            | Owner::Vote(_)
            | Owner::Token(_) => Ok(None),
        }
    }

    async fn remove_leftovers(self: Arc<Self>, wake: Arc<Notify>) {
        let mut backoff = Backoff::default();
        loop {
            wake.notified().await;
            loop {
                match self.store.sweep(ROUND_MAX).await {
                    Ok(true) => backoff.reset(),
                    Ok(false) => break,
                    Err(failure) => {
                        complain("what is no longer kept", &failure);
                        backoff.wait().await;
                    }
                }
            }
            backoff.reset();
        }
    }
}

/// What happens to a task that the store says has expired.
fn ending(task: &Task) -> Event {
    if task.status.state.is_held() { Event::HoldEnd } else { Event::Expire }
}

/// What came of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// There was nothing to do.
    Empty,
    /// Something was done.
    Progress,
    /// There was something to do, and nothing was done.
    Stuck,
}

impl Round {
    fn of(progress: bool) -> Self {
        if progress { Self::Progress } else { Self::Stuck }
    }
}

/// Says that the store cannot do some work.
pub(crate) fn complain(work: &str, failure: &StoreError) {
    if failure.is_retryable() {
        warn!(%failure, "the store cannot deal with {work} now");
    } else {
        error!(%failure, "the store cannot deal with {work}");
    }
}

/// Longer and longer waits while work cannot be done.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// It can again.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// How long to wait this time.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = BACKOFF_FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        wait.min(BACKOFF_MAX)
    }

    /// Waits.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.next()).await;
    }
}
