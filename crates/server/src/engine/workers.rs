//! Workers: how they join, drain and leave, are read, and what becomes of silent ones.

use punctual_core::limits::PAGE_EXAMINED_MAX;
use punctual_core::worker::{Joined, WorkerPatch, WorkerState};
use punctual_core::{
    Announcements, Owner, OwnerChange, OwnerKey, OwnerKind, QueueName, Revision, StoredOwner,
    Timestamp, Worker, WorkerName,
};
use punctual_store::{OwnerListing, StoreError};

use super::transact::Verdict;
use super::write::Draft;
use super::{Engine, Failure};
use crate::access::Scope;

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
        let key = OwnerKey::worker(name);
        let joined = self.transact(std::slice::from_ref(&key), |records, now| {
            let before = records.worker(name)?;
            let joined = patch.clone().join(name, before.map(|(worker, _)| worker.clone()), now)?;
            let change = put(&joined.worker, before.map(|(_, revision)| revision));
            Ok(Verdict::Write(change.into(), Announcements::default(), joined))
        });
        let Joined { worker, is_reborn } = joined.await?.answer()?;
        if is_reborn {
            self.end_holdings(name, "its worker began anew", Some(worker.joined_at)).await?;
        }
        self.roster.ring(name);
        self.dispatch.join(&worker.queues);
        self.reading(worker).await.map_err(Failure::after_change)
    }

    /// A worker is given no more tasks.
    pub(crate) async fn drain(&self, name: &WorkerName) -> Result<WorkerReading, Failure> {
        let key = OwnerKey::worker(name);
        let drained = self.transact(std::slice::from_ref(&key), |records, _| {
            let found = records.worker(name)?.filter(|(it, _)| it.state != WorkerState::Lost);
            let (worker, revision) = found.ok_or_else(|| Failure::NoWorker(name.clone()))?;
            let worker = Worker { state: WorkerState::Draining, ..worker.clone() };
            let change = put(&worker, Some(revision));
            Ok(Verdict::Write(change.into(), Announcements::default(), worker))
        });
        let worker = drained.await?.answer()?;
        self.reading(worker).await.map_err(Failure::after_change)
    }

    /// A worker leaves: the tasks it held are ready for others. It is removed last, so that a worker that was
    /// cut off half way can leave again.
    pub(crate) async fn leave(&self, name: &WorkerName) -> Result<(), Failure> {
        self.stop_giving(name).await?;
        self.release_holdings(name).await?;
        self.give_up_ballots(name, "its worker left").await?;
        let key = OwnerKey::worker(name);
        let left = self.transact(std::slice::from_ref(&key), |records, _| {
            let Some((worker, revision)) = records.worker(name)? else {
                return Ok(Verdict::Answer(true));
            };
            if worker.state == WorkerState::Active {
                // It has joined again meanwhile, and stays.
                return Ok(Verdict::Answer(false));
            }
            let change = OwnerChange::remove(OwnerKey::worker(name), revision);
            Ok(Verdict::Write(change.into(), Announcements::default(), true))
        });
        if !left.await?.answer()? {
            return Err(Failure::Contended);
        }
        // Another server may have given it something in the meantime.
        Ok(self.release_holdings(name).await.map_err(StoreError::in_doubt)?)
    }

    /// Makes sure that a worker that leaves is given nothing any more.
    async fn stop_giving(&self, name: &WorkerName) -> Result<(), Failure> {
        let key = OwnerKey::worker(name);
        let stopped = self.transact(std::slice::from_ref(&key), |records, _| {
            let found = records.worker(name)?;
            let (worker, revision) = found.ok_or_else(|| Failure::NoWorker(name.clone()))?;
            if worker.state != WorkerState::Active {
                return Ok(Verdict::Answer(()));
            }
            let worker = Worker { state: WorkerState::Draining, ..worker.clone() };
            let change = put(&worker, Some(revision));
            Ok(Verdict::Write(change.into(), Announcements::default(), ()))
        });
        stopped.await?.answer()
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
            let written = self.write_workers(vec![(worker, Some(revision))]).await?;
            let is_written = written == [true];
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

    /// Writes the records of workers, each by itself. False: it was changed meanwhile.
    pub(crate) async fn write_workers(
        &self,
        workers: Vec<(Worker, Option<Revision>)>,
    ) -> Result<Vec<bool>, StoreError> {
        let draft =
            |(worker, expected): &(Worker, Option<Revision>)| Draft::quiet(put(worker, *expected));
        let drafts = workers.iter().map(draft).collect();
        let mut written = Vec::with_capacity(workers.len());
        for ((worker, _), result) in workers.iter().zip(self.writer.write(drafts).await) {
            let is_done = result?.is_done();
            if !is_done {
                self.refresh_worker(&worker.name).await?;
            }
            written.push(is_done);
        }
        Ok(written)
    }

    async fn remove_worker(
        &self,
        name: &WorkerName,
        revision: Revision,
    ) -> Result<bool, StoreError> {
        let change = OwnerChange::remove(OwnerKey::worker(name), revision);
        let is_done = self.write(change, Announcements::default()).await?;
        self.refresh_worker(name).await?;
        Ok(is_done)
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

fn put(worker: &Worker, expected: Option<Revision>) -> OwnerChange {
    OwnerChange::put(Owner::Worker(Box::new(worker.clone())), expected)
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
