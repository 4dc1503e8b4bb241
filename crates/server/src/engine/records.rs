//! The records that a decision is made from: read once, as the decision asks for them.
//!
//! A decision is a plain function over [`Records`]. When it asks for a record that has not been read, it
//! stops with [`Halt::Missing`]; the record is read, and the decision is made again from the start. So
//! it needs no store, and everything it saw is known and can be fenced.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use punctual_core::{
    Bundle, Flow, FlowId, Owner, OwnerKey, OwnerKind, Plan, PlanId, Queue, QueueName, RawJson,
    Revision, Settings, Stored, StoredOwner, TaskId, Vote, Worker, WorkerName,
};
use punctual_store::{OwnerListing, Store, StoreError};

use super::Failure;

/// Steps of a flow read at a time.
pub(super) const STEPS_CHUNK: usize = 1_000;

/// Why a decision was not made.
#[derive(Debug)]
pub(super) enum Halt {
    /// It needs records that have not been read.
    Missing,
    /// It is refused.
    Refused(Failure),
}

impl<E: Into<Failure>> From<E> for Halt {
    fn from(refused: E) -> Self {
        Self::Refused(refused.into())
    }
}

/// A vote, the version that was read, and its task.
pub(super) struct Ballots<'a> {
    pub(super) vote: &'a Vote,
    pub(super) revision: Revision,
    pub(super) task: &'a Stored,
}

/// A record that may have to be read first.
pub(super) type Found<T> = Result<T, Halt>;

/// The records that have been read.
#[derive(Default)]
pub(super) struct Records {
    queues: HashMap<QueueName, Option<Arc<Queue>>>,
    tasks: HashMap<(QueueName, TaskId), Option<Stored>>,
    owners: HashMap<OwnerKey, Option<StoredOwner>>,
    items: HashMap<(OwnerKey, usize, usize), Vec<RawJson>>,
    stations: HashMap<PlanId, Option<QueueName>>,
    first_due: HashMap<QueueName, Option<StoredOwner>>,
    steps: HashMap<FlowId, Vec<StoredOwner>>,
    wanted: RefCell<Wanted>,
}

/// The records that are to be read.
#[derive(Default)]
struct Wanted {
    queues: BTreeSet<QueueName>,
    tasks: BTreeMap<QueueName, BTreeSet<TaskId>>,
    owners: BTreeSet<OwnerKey>,
    items: Vec<(OwnerKey, usize, usize)>,
    stations: Vec<PlanId>,
    first_due: BTreeSet<QueueName>,
    steps: Vec<FlowId>,
}

impl Records {
    /// A queue; none: there is no such queue.
    pub(super) fn queue(&self, name: &QueueName) -> Found<Option<&Arc<Queue>>> {
        let want = |wanted: &mut Wanted| wanted.queues.extend([name.clone()]);
        self.found(self.queues.get(name), want).map(Option::as_ref)
    }

    /// The settings of a queue; one that does not exist will be made with its initial ones.
    pub(super) fn settings(&self, name: &QueueName) -> Found<Settings> {
        let queue = self.queue(name)?;
        Ok(queue.map_or_else(|| Settings::initial(name), |queue| queue.settings.clone()))
    }

    /// A task; none: there is no such task.
    pub(super) fn task(&self, queue: &QueueName, id: &TaskId) -> Found<Option<&Stored>> {
        let want = |wanted: &mut Wanted| {
            wanted.tasks.entry(queue.clone()).or_default().insert(id.clone());
        };
        self.found(self.tasks.get(&(queue.clone(), id.clone())), want).map(Option::as_ref)
    }

    /// An owner; none: there is no such owner.
    pub(super) fn owner(&self, key: &OwnerKey) -> Found<Option<&StoredOwner>> {
        let want = |wanted: &mut Wanted| wanted.owners.extend([key.clone()]);
        self.found(self.owners.get(key), want).map(Option::as_ref)
    }

    /// Items of an owner from `from` on, at most `limit` and as many as a store answers at once.
    pub(super) fn items(&self, key: &OwnerKey, from: usize, limit: usize) -> Found<&[RawJson]> {
        let place = (key.clone(), from, limit);
        let want = |wanted: &mut Wanted| wanted.items.push(place.clone());
        self.found(self.items.get(&place), want).map(Vec::as_slice)
    }

    /// The queue that a plan belongs to; none: there is no such plan.
    pub(super) fn station(&self, plan: &PlanId) -> Found<Option<&QueueName>> {
        let want = |wanted: &mut Wanted| wanted.stations.push(plan.clone());
        self.found(self.stations.get(plan), want).map(Option::as_ref)
    }

    /// The owner of a queue that is due first, due or not; none: no owner of it is to fall due.
    pub(super) fn first_due(&self, queue: &QueueName) -> Found<Option<&StoredOwner>> {
        let want = |wanted: &mut Wanted| wanted.first_due.extend([queue.clone()]);
        self.found(self.first_due.get(queue), want).map(Option::as_ref)
    }

    /// A plan.
    pub(super) fn plan(&self, id: &PlanId) -> Found<Option<(&Plan, Revision)>> {
        let Some(station) = self.station(id)? else { return Ok(None) };
        Ok(match self.owner(&OwnerKey::plan(station, id))? {
            Some(StoredOwner { owner: Owner::Plan(plan), revision }) => Some((plan, *revision)),
            _ => None,
        })
    }

    /// A bundle.
    pub(super) fn bundle(&self, key: &OwnerKey) -> Found<Option<(&Bundle, Revision)>> {
        Ok(match self.owner(key)? {
            Some(StoredOwner { owner: Owner::Bundle(bundle), revision }) => {
                Some((bundle, *revision))
            }
            _ => None,
        })
    }

    /// A flow.
    pub(super) fn flow(&self, id: &FlowId) -> Found<Option<(&Flow, Revision)>> {
        Ok(match self.owner(&OwnerKey::flow(id))? {
            Some(StoredOwner { owner: Owner::Flow(flow), revision }) => Some((flow, *revision)),
            _ => None,
        })
    }

    /// All steps of a flow.
    pub(super) fn steps(&self, id: &FlowId) -> Found<&[StoredOwner]> {
        let want = |wanted: &mut Wanted| wanted.steps.push(id.clone());
        self.found(self.steps.get(id), want).map(Vec::as_slice)
    }

    /// A worker.
    pub(super) fn worker(&self, name: &WorkerName) -> Found<Option<(&Worker, Revision)>> {
        Ok(match self.owner(&OwnerKey::worker(name))? {
            Some(StoredOwner { owner: Owner::Worker(worker), revision }) => {
                Some((worker, *revision))
            }
            _ => None,
        })
    }

    /// A vote and its task; none: there is no such vote.
    pub(super) fn vote(&self, key: &OwnerKey, task: &TaskId) -> Found<Option<Ballots<'_>>> {
        let Some(StoredOwner { owner: Owner::Vote(vote), revision }) = self.owner(key)? else {
            return Ok(None);
        };
        let task = self.task(&key.queue, task)?;
        Ok(task.map(|task| Ballots { vote, revision: *revision, task }))
    }

    fn found<'a, T>(&self, found: Option<&'a T>, want: impl FnOnce(&mut Wanted)) -> Found<&'a T> {
        if found.is_none() {
            want(&mut self.wanted.borrow_mut());
        }
        found.ok_or(Halt::Missing)
    }

    /// Reads what was asked for, with one call per kind of record.
    pub(super) async fn read(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let wanted = std::mem::take(self.wanted.get_mut());
        for name in wanted.queues {
            let queue = store.queue(&name).await?;
            self.queues.insert(name, queue);
        }
        for plan in wanted.stations {
            let station = store.station(&plan).await?;
            self.stations.insert(plan, station);
        }
        for (queue, ids) in wanted.tasks {
            let ids: Vec<TaskId> = ids.into_iter().collect();
            let read = store.read(&queue, &ids).await?;
            self.tasks.extend(ids.into_iter().map(|id| (queue.clone(), id)).zip(read));
        }
        if !wanted.owners.is_empty() {
            let keys: Vec<OwnerKey> = wanted.owners.into_iter().collect();
            let read = store.owners(&keys).await?;
            self.owners.extend(keys.into_iter().zip(read));
        }
        for place in wanted.items {
            let read = store.items(&place.0, place.1, place.2).await?;
            self.items.insert(place, read);
        }
        for id in wanted.steps {
            let steps = all_steps(store, &id).await?;
            self.steps.insert(id, steps);
        }
        for queue in wanted.first_due {
            let first = store.first_due(&queue).await?;
            self.first_due.insert(queue, first);
        }
        Ok(())
    }
}

async fn all_steps(store: &dyn Store, id: &FlowId) -> Result<Vec<StoredOwner>, StoreError> {
    let (queue, prefix) = (Some(OwnerKey::flow(id).queue), String::new());
    let (kind, limit) = (OwnerKind::Step, STEPS_CHUNK);
    let mut listing = OwnerListing { kind, queue, prefix, cursor: None, limit };
    let mut steps = Vec::new();
    loop {
        let page = store.list_owners(listing.clone()).await?;
        steps.extend(page.items);
        if page.next.is_none() {
            return Ok(steps);
        }
        listing.cursor = page.next;
    }
}
