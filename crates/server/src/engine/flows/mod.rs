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

use std::collections::HashMap;

use punctual_core::flow::{CheckedFlow, FlowVerb, MadeFlow, NewFlow};
use punctual_core::{
    Announcements, Flow, FlowId, Owner, OwnerKey, QueueName, Spec, StepName, TaskId, TraceParent,
    announce,
};
use punctual_store::{
    Changes, Keyed, KeyedItem, PushRefusal, Revision, StoreError, StoredOwner, Written,
};

pub(super) use self::far::FarStep;
pub(crate) use self::query::{FlowFilter, FlowReading, FlowStepReading};
pub(super) use self::scene::{Heard, Scene};

use self::scene::{changed, removed};
use super::{Engine, Failure, Key};

/// How often a flow is read again before the request is given up.
const ROUNDS_MAX: usize = 16;

/// Steps of a flow read at a time.
const STEPS_CHUNK: usize = 1_000;

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
        for _ in 0..ROUNDS_MAX {
            let stepped = {
                let _lock = self.owner_locks.lock([&owner]).await;
                let before = self.find_flow(&id).await?;
                let is_taken = before.as_ref().is_some_and(|(flow, _)| !flow.state.is_finished());
                let keyed = key.map(|key| keyed(key, &id));
                let (step, told) = if is_taken {
                    // Only a repeat is answered; what is there stays.
                    let owners = vec![removed(owner.clone(), Revision::NEVER)];
                    (Changes { owners, ..Changes::default() }, Announcements::default())
                } else {
                    let made = checked.clone().make(id.clone(), self.now());
                    self.making_step(made, before).await?
                };
                match self.one_step(Changes { keyed, ..step }).await? {
                    Written::Lost if is_taken => return Err(Failure::FlowExists(id)),
                    stepped => {
                        if matches!(stepped, Written::Records { .. }) {
                            self.events.announce(told.into_vec());
                        }
                        stepped
                    }
                }
            };
            match stepped {
                Written::Task(_) | Written::Records { .. } => {
                    let reading = self.flow(&id).await.map_err(Failure::after_change)?;
                    return Ok(FlowAnswer::Made(Box::new(reading)));
                }
                Written::Lost => {}
                Written::KeyReused => return Err(Failure::KeyReused),
                Written::Replayed { status, items } => {
                    return self.replayed_flow(status, items).await;
                }
            }
        }
        Err(Failure::Contended)
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

    /// Checks what the queues of a flow ask for, and makes those that do not exist.
    async fn check_flow(&self, checked: &CheckedFlow) -> Result<(), Failure> {
        let mut named = HashMap::new();
        for name in checked.queues() {
            if !self.auto_create {
                self.queue(name).await?;
            }
            named.insert(name.clone(), self.settings_of(name).await?);
        }
        for name in checked.callback_queues() {
            if !named.contains_key(name) {
                named.insert(name.clone(), self.settings_of(name).await?);
            }
        }
        checked.check_queues(&|name| &named[name])?;
        checked.check_reach(&self.reach)?;
        for name in checked.queues() {
            if self.store.queue(name).await?.is_none() {
                self.create_queue(name).await?;
            }
        }
        Ok(())
    }

    /// The one write that makes a flow, with all its steps and the first tasks, in place of one that ended;
    /// and what is told of it then.
    async fn making_step(
        &self,
        made: MadeFlow,
        before: Option<(Flow, Revision)>,
    ) -> Result<(Changes, Announcements), Failure> {
        self.check_ids(&made.spawn).await?;
        let MadeFlow { mut flow, steps, orders, spawn } = made;
        if self.may_be_missed(&flow, &spawn) {
            flow.watch(flow.created_at);
        }
        let mut old = match &before {
            Some((flow, _)) => self.steps_of(&flow.id).await?,
            None => HashMap::new(),
        };
        let (items, revision) = before
            .map_or((0, None), |(flow, revision)| (flow.counts.total() as usize, Some(revision)));
        let mut change = changed(Owner::Flow(Box::new(flow.clone())), revision);
        change.drop_first = items;
        change.append = orders;
        let mut owners = vec![change];
        owners.extend(steps.into_iter().map(|step| {
            let revision = old.remove(&step.name);
            changed(Owner::Step(Box::new(step)), revision)
        }));
        let gone = old.into_iter();
        owners.extend(gone.map(|(name, at)| removed(OwnerKey::step(&flow.id, &name), at)));
        let mut told = Announcements::default();
        announce::flow::changed(None, &flow, flow.created_at, &mut told);
        told.extend(spawn.iter().map(|spec| announce::task::pushed(spec, flow.created_at)));
        Ok((Changes { owners, births: spawn, ..Changes::default() }, told))
    }

    /// Refuses a flow whose first tasks have ids that others have.
    async fn check_ids(&self, spawn: &[Spec]) -> Result<(), Failure> {
        let mut queues: HashMap<&QueueName, Vec<TaskId>> = HashMap::new();
        for spec in spawn {
            queues.entry(&spec.queue).or_default().push(spec.id.clone());
        }
        for (queue, ids) in queues {
            let read = self.store.read(queue, &ids).await?;
            if read.iter().flatten().any(|stored| !stored.task.status.state.is_finished()) {
                return Err(Failure::Push { refusal: PushRefusal::Duplicate });
            }
        }
        Ok(())
    }

    /// The steps of a flow and their versions.
    async fn steps_of(&self, id: &FlowId) -> Result<HashMap<StepName, Revision>, StoreError> {
        let (key, mut cursor, mut steps) = (OwnerKey::flow(id), None, HashMap::new());
        loop {
            let page = self.steps_page(&key, cursor, STEPS_CHUNK).await?;
            for StoredOwner { owner, revision } in page.items {
                if let Owner::Step(step) = owner {
                    steps.insert(step.name, revision);
                }
            }
            if page.next.is_none() {
                return Ok(steps);
            }
            cursor = page.next;
        }
    }

    /// Does something to a flow.
    pub(crate) async fn act_on_flow(
        &self,
        id: &FlowId,
        verb: FlowVerb,
    ) -> Result<FlowReading, Failure> {
        let key = OwnerKey::flow(id);
        for _ in 0..ROUNDS_MAX {
            let is_done = {
                let _lock = self.owner_locks.lock([&key]).await;
                let (before, revision) = self.known_flow(id).await?;
                let flow = before.clone().carry_out(verb, self.now())?;
                let change = changed(Owner::Flow(Box::new(flow.clone())), Some(revision));
                flow == before
                    || self.stepped(Changes { owners: vec![change], ..Changes::default() }).await?
            };
            if is_done {
                self.sweep_after_verb(id).await;
                return self.flow(id).await.map_err(Failure::after_change);
            }
        }
        Err(Failure::Contended)
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

/// What a store has to remember of a request to make a flow.
fn keyed(key: Key, id: &FlowId) -> Keyed {
    let Key { key, request, status, single } = key;
    let id = TaskId::parse(id.as_str()).ok();
    let items = vec![KeyedItem { id, code: None }];
    Keyed { key, request, status, single, items, positions: Vec::new() }
}
