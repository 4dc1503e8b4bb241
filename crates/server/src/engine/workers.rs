//! Workers: how they join, drain and leave, are read, and what becomes of silent ones.

use punctual_core::limits::PAGE_EXAMINED_MAX;
use punctual_core::worker::{Joined, WorkerPatch, WorkerState};
use punctual_core::{
    Owner, OwnerKey, OwnerKind, QueueName, Timestamp, Worker, WorkerName, announce,
};
use punctual_store::{OwnerChange, OwnerListing, Revision, StoreError, StoredOwner, Written};

use super::{Engine, Failure};
use crate::access::Scope;

/// How often a worker is read again before the request is given up.
const ROUNDS_MAX: usize = 16;

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
    /// Only those all of whose queues are among these.
    pub(crate) scope: Scope,
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
        // Nothing is given to one who begins anew before what it held is taken back.
        let _alone = self.assign_alone().await;
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
            let (before, revision) =
                self.find_worker(name).await?.ok_or_else(|| Failure::NoWorker(name.clone()))?;
            if before.state == WorkerState::Active {
                let worker = Worker { state: WorkerState::Draining, ..before };
                self.write_worker(&worker, Some(revision)).await?;
                continue;
            }
            self.release_holdings(name).await?;
            self.give_up_ballots(name, "its worker left").await?;
            if self.remove_worker(name, revision).await? {
                // Another server may have given it something in the meantime.
                return Ok(self.release_holdings(name).await.map_err(StoreError::in_doubt)?);
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

    /// Looks after workers whose alarm rang: each was heard of, is lost, or is forgotten. True: something
    /// was done.
    pub(super) async fn look_after_workers(
        &self,
        workers: Vec<(Worker, Revision)>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut is_done = false;
        for (before, revision) in workers {
            let name = before.name.clone();
            // Who spoke while no server listened is heard of again in time, or is lost then.
            let heard_at = self.roster.heard_at(&name, now).unwrap_or(before.seen_at);
            // A start that lies ahead is of a clock that was set back since, and says nothing.
            let start = Some(self.started_at).filter(|at| *at <= now);
            let heard_at = start.map_or(heard_at, |at| heard_at.max(at));
            let Some(worker) = before.ring(heard_at, now) else {
                is_done |= self.remove_worker(&name, revision).await?;
                continue;
            };
            let is_lost = worker.state == WorkerState::Lost;
            let is_written = self.write_worker(&worker, Some(revision)).await?;
            is_done |= is_written;
            if is_written && is_lost {
                tracing::warn!(worker = %name, "not heard of for 30 seconds, and lost");
                self.roster.ring(&name);
                self.end_holdings(&name, "its worker was lost", None).await?;
            }
        }
        Ok(is_done)
    }

    /// Reads a worker that has joined and is not lost.
    pub(super) async fn present_worker(
        &self,
        name: &WorkerName,
    ) -> Result<(Worker, Revision), Failure> {
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
        let step = |(worker, expected): &(Worker, Option<Revision>)| {
            OwnerChange::put(Owner::Worker(Box::new(worker.clone())), *expected).into()
        };
        let stepped = self.store.write(workers.iter().map(step).collect()).await;
        let mut written = Vec::with_capacity(workers.len());
        for ((worker, _), stepped) in workers.into_iter().zip(stepped) {
            written.push(match stepped? {
                Written::Records { owners, .. } => {
                    let before = self.roster.get(&worker.name).map(|(before, _)| before);
                    self.announce_worker(before.as_ref(), Some(&worker));
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

    fn announce_worker(&self, before: Option<&Worker>, after: Option<&Worker>) {
        let news = announce::worker::changed(before, after, self.now());
        self.events.announce(news);
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
        let before = self.roster.get(name).map(|(before, _)| before);
        let done = self.store.write_one(owner.into()).await?.is_done();
        if done {
            self.announce_worker(before.as_ref(), None);
        }
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
        let changes = self.roster.changes();
        let (mut listing, mut workers) = (worker_listing(None), Vec::new());
        loop {
            let page = self.store.list_owners(listing.clone()).await?;
            workers.extend(page.items.into_iter().filter_map(known));
            if page.next.is_none() {
                break;
            }
            listing.cursor = page.next;
        }
        self.roster.replace(workers, changes);
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
            && worker.queues.iter().all(|queue| self.scope.covers(queue))
            && (self.states.is_empty() || self.states.contains(&worker.state))
    }
}
