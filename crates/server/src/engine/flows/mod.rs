//! Flows: made, listed, cancelled, paused, resumed and tried again.
//!
//! `scene` is a flow on its way through one step of the store, `advance` what ends of tasks make of it,
//! `sweep` what its state asks of all its steps, `query` how it reads. `far` is for tasks that lie in another
//! place than their flow.

mod advance;
mod far;
mod query;
mod scene;
mod sweep;

use std::collections::{HashMap, HashSet};

use punctual_core::flow::{CheckedFlow, FlowVerb, MadeFlow, NewFlow};
use punctual_core::{
    Announcements, Changes, Flow, FlowId, FlowStep, KeyedItem, Owner, OwnerChange, OwnerKey,
    QueueName, Revision, Spec, StoredOwner, TaskId, TraceParent, announce,
};
use punctual_store::StoreError;

pub(super) use self::far::FarStep;
pub(crate) use self::query::{FlowFilter, FlowReading, FlowStepReading};
pub(super) use self::scene::{Heard, Scene};

use super::free::free_id;
use super::records::{Found, Halt, Records};
use super::transact::{Done, Verdict};
use super::{Engine, Failure, Key};

/// How often a flow is read again before the request is given up.
const ROUNDS_MAX: usize = 16;

/// What came of a request to make a flow.
pub(crate) enum FlowAnswer {
    /// It was made.
    Made(Box<FlowReading>),
    /// The request was answered before, with this status, about this flow.
    Replayed {
        /// The status.
        status: u16,
        /// The flow, as it reads now; none: it is gone.
        flow: Option<Box<FlowReading>>,
        /// Its id.
        id: Option<TaskId>,
    },
}

impl Engine {
    /// Makes a flow. One that has ended makes way for another of its id.
    pub(crate) async fn create_flow(
        &self,
        mut new: NewFlow,
        key: Option<Key>,
        trace: Option<TraceParent>,
    ) -> Result<FlowAnswer, Failure> {
        let id = new.id.take().unwrap_or_else(|| self.new_flow_id(key));
        let checked = new.check()?.traced(trace.or_else(|| self.tracer.begin()));
        self.check_flow(&checked).await?;
        let owner = OwnerKey::flow(&id);
        let made = self.transact(std::slice::from_ref(&owner), |records, now| {
            let before = records.flow(&id)?;
            let keyed = key.map(|key| key.keyed(TaskId::parse(id.as_str()).ok()));
            if before.is_some_and(|(flow, _)| !flow.state.is_finished()) {
                let refused = Failure::FlowExists(id.clone());
                return match keyed {
                    Some(keyed) => Ok(Verdict::Repeat { keyed, beside: owner.clone(), refused }),
                    None => Err(refused.into()),
                };
            }
            let made = checked.clone().make(id.clone(), now);
            let (changes, news) = self.make_flow(records, made, before)?;
            Ok(Verdict::Write(Changes { keyed, ..changes }, news, ()))
        });
        match made.await? {
            Done::Now(()) => {
                let reading = self.flow(&id).await.map_err(Failure::after_change)?;
                Ok(FlowAnswer::Made(Box::new(reading)))
            }
            Done::Before { status, items } => self.replayed_flow(status, items).await,
        }
    }

    /// An id for a flow that was given none. That of a keyed request lies where every repeat of it looks,
    /// though each repeat makes an id of its own.
    fn new_flow_id(&self, key: Option<Key>) -> FlowId {
        let home = key.map(|key| format!("{:032x}", key.key));
        let home = home.map(|name| QueueName::parse(&name).expect("a number can name a queue"));
        loop {
            let id = self.ids.one(self.now());
            let place = QueueName::parse(id.as_str()).expect("an id can name a queue");
            if home.as_ref().is_none_or(|home| self.store.shares_place(home, &place)) {
                return FlowId::parse(id.as_str()).expect("a generated id is short");
            }
        }
    }

    async fn replayed_flow(
        &self,
        status: u16,
        items: Vec<KeyedItem>,
    ) -> Result<FlowAnswer, Failure> {
        let id = items.into_iter().next().and_then(|item| item.id);
        let flow = match id.as_ref().and_then(|id| FlowId::parse(id.as_str()).ok()) {
            Some(id) => match self.flow(&id).await {
                Err(Failure::NoFlow(_)) => None,
                read => Some(Box::new(read?)),
            },
            None => None,
        };
        Ok(FlowAnswer::Replayed { status, flow, id })
    }

    /// Checks a flow against the settings of its queues, and makes those that do not exist.
    async fn check_flow(&self, checked: &CheckedFlow) -> Result<(), Failure> {
        let missing = self.transact(&[], |records, _| {
            let (mut named, mut missing) = (HashMap::new(), Vec::new());
            for name in checked.queues() {
                if records.queue(name)?.is_none() {
                    missing.push(name.clone());
                }
                named.insert(name.clone(), records.settings(name)?);
            }
            if let Some(name) = missing.first().filter(|_| !self.auto_create) {
                return Err(Failure::NoQueue(name.clone()).into());
            }
            for name in checked.callback_queues() {
                named.insert(name.clone(), records.settings(name)?);
            }
            checked.check_queues(&|name| &named[name])?;
            checked.check_reach(&self.reach)?;
            Ok(Verdict::Answer(missing))
        });
        for name in missing.await?.answer()? {
            self.create_queue(&name).await?;
        }
        Ok(())
    }

    /// The one transaction that makes a flow, with all its steps and the first tasks, in place of one that
    /// ended; and the events that tell of it.
    fn make_flow(
        &self,
        records: &Records,
        mut made: MadeFlow,
        before: Option<(&Flow, Revision)>,
    ) -> Found<(Changes, Announcements)> {
        let mut news = Announcements::default();
        let now = made.flow.created_at;
        let mut taken = Vec::new();
        let mut is_missing = false;
        for (place, Spec { queue, id, .. }) in made.spawn.iter().enumerate() {
            match records.task(queue, id) {
                Ok(Some(stored)) if stored.task.keeps_id(now) => {
                    taken.push((place, queue.clone(), id.clone()));
                }
                Ok(_) => {}
                // All that is missing is read at once.
                Err(_) => is_missing = true,
            }
        }
        if is_missing {
            return Err(Halt::Missing);
        }
        let mut used = HashSet::new();
        if !taken.is_empty() {
            // Ids of other steps are theirs.
            used.extend(made.steps.iter().map(FlowStep::first_id));
        }
        for (place, queue, id) in taken {
            let free = free_id(records, &queue, &id, &used, now)?;
            announce::refused::renamed(&queue, &id, &free, now, &mut news);
            used.insert(free.clone());
            made.rename(place, free);
        }
        let MadeFlow { mut flow, steps, orders, spawn } = made;
        if self.may_be_missed(&flow, &spawn) {
            flow.watch(flow.created_at);
        }
        let mut old: HashMap<OwnerKey, Revision> = match before {
            Some(_) => {
                let steps = records.steps(&flow.id)?.iter();
                steps.map(|stored| (stored.owner.key(), stored.revision)).collect()
            }
            None => HashMap::new(),
        };
        let revision = before.map(|(_, revision)| revision);
        let mut change = OwnerChange::put(Owner::Flow(Box::new(flow.clone())), revision);
        change.drop_first = before.map_or(0, |(flow, _)| flow.counts.total() as usize);
        change.append = orders;
        let mut owners = vec![change];
        owners.extend(steps.into_iter().map(|step| {
            let revision = old.remove(&OwnerKey::step(&flow.id, &step.name));
            OwnerChange::put(Owner::Step(Box::new(step)), revision)
        }));
        owners.extend(old.into_iter().map(|(key, at)| OwnerChange::remove(key, at)));
        announce::flow::changed(None, &flow, flow.created_at, &mut news);
        news.extend(spawn.iter().map(|spec| announce::task::pushed(spec, flow.created_at)));
        Ok((Changes { owners, births: spawn, ..Changes::default() }, news))
    }

    /// Does something to a flow.
    pub(crate) async fn act_on_flow(
        &self,
        id: &FlowId,
        verb: FlowVerb,
    ) -> Result<FlowReading, Failure> {
        let keys = [OwnerKey::flow(id)];
        let acted = self.transact(&keys, |records, now| {
            let is_kept = |flow: &Flow| flow.gone_at().is_none_or(|at| at > now);
            let found = records.flow(id)?.filter(|(flow, _)| is_kept(flow));
            let (before, revision) = found.ok_or_else(|| Failure::NoFlow(id.clone()))?;
            let flow = before.clone().carry_out(verb, now)?;
            if flow == *before {
                return Ok(Verdict::Answer(()));
            }
            let mut news = Announcements::default();
            announce::flow::changed(Some(before), &flow, now, &mut news);
            let change = OwnerChange::put(Owner::Flow(Box::new(flow)), Some(revision));
            Ok(Verdict::Write(change.into(), news, ()))
        });
        acted.await?.answer()?;
        self.sweep_after_verb(id).await;
        self.flow(id).await.map_err(Failure::after_change)
    }

    async fn known_flow(&self, id: &FlowId) -> Result<(Flow, Revision), Failure> {
        let found = self.find_flow(id).await?;
        let is_kept =
            |(flow, _): &(Flow, Revision)| flow.gone_at().is_none_or(|at| at > self.now());
        found.filter(is_kept).ok_or_else(|| Failure::NoFlow(id.clone()))
    }

    /// Reads a flow, also one that is about to be removed.
    async fn find_flow(&self, id: &FlowId) -> Result<Option<(Flow, Revision)>, StoreError> {
        Ok(self.owner(&OwnerKey::flow(id)).await?.and_then(flow_of))
    }
}

fn flow_of(stored: StoredOwner) -> Option<(Flow, Revision)> {
    match stored.owner {
        Owner::Flow(flow) => Some((*flow, stored.revision)),
        _ => None,
    }
}
