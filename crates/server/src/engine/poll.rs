//! What is for a worker: told when it polls; taken from it when it leaves, is lost or begins anew.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::limits::{TAKE_BYTES_MAX, WAIT_MS_MAX};
use punctual_core::task::Settlement;
use punctual_core::{Event, Queue, QueueName, Span, State, TaskId, Timestamp, WorkerName};
use punctual_store::{StoreError, Stored};
use tokio::time::{Instant, sleep_until};

use super::held::bytes_of;
use super::owned::{Decided, Undone};
use super::{Engine, Failure};
use crate::dispatch::Told;

/// How often a task is read again before it is left to itself.
const ROUNDS_MAX: usize = 16;
/// Tasks read at a time.
const CHUNK: usize = 500;

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

impl Engine {
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
            let (orders, asked) = self.orders_for(name).await?;
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
    async fn orders_for(&self, name: &WorkerName) -> Result<(Orders, HashSet<Told>), StoreError> {
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
        for (queue, stored) in self.ballots_among(name, self.roster.ballots(name)).await? {
            if stored.task.status.state == State::Assigned {
                bytes += bytes_of(&stored.task);
                if bytes <= TAKE_BYTES_MAX || orders.assignments.is_empty() {
                    orders.assignments.push((queue, stored));
                }
            }
        }
        Ok((orders, asked))
    }

    /// The tasks of dispatch queues that a worker holds, by queue and id.
    async fn held_by(&self, name: &WorkerName) -> Result<Vec<(Arc<Queue>, Stored)>, StoreError> {
        let mut holdings = self.store.holdings(name).await?;
        holdings.sort_unstable();
        self.held_among(name, &holdings).await
    }

    /// Those of some tasks, which stand in order, that a worker holds.
    pub(super) async fn held_among(
        &self,
        name: &WorkerName,
        tasks: &[(QueueName, TaskId)],
    ) -> Result<Vec<(Arc<Queue>, Stored)>, StoreError> {
        let mut held = Vec::new();
        for part in tasks.chunk_by(|(a, _), (b, _)| a == b) {
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
    pub(super) async fn release_holdings(&self, name: &WorkerName) -> Result<(), StoreError> {
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

    /// Writes down that workers were heard of, so that other servers know.
    pub(super) async fn note_heartbeats(self: Arc<Self>) {
        loop {
            self.roster.somebody_heard().await;
            loop {
                let (due, wait) = self.roster.unwritten(self.now());
                let is_due = !due.is_empty();
                let due = due.into_iter().map(|(worker, revision)| (worker, Some(revision)));
                if let Err(failure) = self.write_workers(due.collect()).await {
                    super::complain("heartbeats of workers", &failure);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                } else if let Some(wait) = wait {
                    let wait = Duration::from_millis(wait.as_millis().unsigned_abs());
                    tokio::time::sleep(wait).await;
                } else if !is_due {
                    break;
                }
            }
        }
    }
}
