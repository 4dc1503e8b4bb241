//! A flow on its way through one step of the store: its records, their versions, and what happens to its
//! tasks.

use std::collections::{BTreeMap, HashMap, HashSet};

use punctual_core::flow::{self, Advance};
use punctual_core::{
    Announcements, Fate, Flow, FlowStep, Owner, OwnerKey, OwnerRef, QueueName, Refusal, Spec,
    StepName, TaskId, Timestamp, announce,
};
use punctual_store::{Change, Changes, OwnerChange, Revision, StoredOwner};

use super::super::owned::{Batch, Decided, Together};
use super::far::{FarStep, keep};

/// A flow, some of its steps, and what is to happen to them together.
pub(in crate::engine) struct Scene {
    pub(super) advance: Advance,
    before: Flow,
    revision: Revision,
    versions: HashMap<StepName, Revision>,
    pub(super) together: Together,
    tasks: Vec<Change>,
    /// Votes that go with their tasks.
    votes: Vec<OwnerChange>,
    settled: HashSet<(QueueName, TaskId)>,
    pub(super) spawn: Vec<Spec>,
}

/// What becomes of a decision about the task of a step.
pub(in crate::engine) enum Heard {
    /// The flow hears of it in one step, or it is committed without the flow.
    Here,
    /// It is committed by itself, and the flow is to be brought into line with it.
    Far(FarStep),
}

impl Scene {
    pub(super) fn new(flow: Flow, revision: Revision) -> Self {
        Self {
            before: flow.clone(),
            advance: Advance::new(flow),
            revision,
            versions: HashMap::new(),
            together: Together::default(),
            tasks: Vec::new(),
            votes: Vec::new(),
            settled: HashSet::new(),
            spawn: Vec::new(),
        }
    }

    /// Flows among owners that were read.
    pub(in crate::engine) fn of_flows(
        owners: HashMap<OwnerKey, StoredOwner>,
    ) -> BTreeMap<OwnerKey, Self> {
        let scene = |(key, stored): (OwnerKey, StoredOwner)| match stored.owner {
            Owner::Flow(flow) => Some((key, Self::new(*flow, stored.revision))),
            _ => None,
        };
        owners.into_iter().filter_map(scene).collect()
    }

    /// Makes a step known that was read.
    pub(super) fn know(&mut self, stored: StoredOwner) {
        let Owner::Step(step) = stored.owner else { return };
        self.versions.entry(step.name.clone()).or_insert(stored.revision);
        self.advance.know(*step);
    }

    /// The key of one of its steps.
    pub(super) fn step_key(&self, name: &StepName) -> OwnerKey {
        OwnerKey::step(&self.advance.flow().id, name)
    }

    /// Whether nothing is to happen.
    pub(in crate::engine) fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Hears what was decided about the task of a step. What does not matter to the flow is committed
    /// without it, and so is what lies far from it.
    pub(in crate::engine) fn hear(
        &mut self,
        batch: &mut Batch,
        place: usize,
        decided: Decided<'_>,
        vote: Option<OwnerChange>,
        is_far: bool,
        now: Timestamp,
    ) -> Result<Heard, Refusal> {
        let Decided { event, before, mut decision, .. } = decided;
        let spec = &before.task.spec;
        let task = (spec.queue.clone(), spec.id.clone());
        if self.settled.contains(&task) {
            // The second word on the same task is decided again when the first has happened.
            return Ok(Heard::Here);
        }
        let known = name_of(spec).and_then(|name| self.advance.step(name));
        let is_its = |step: &&FlowStep| step.queue == spec.queue && step.task_id() == spec.id;
        let known = known.filter(is_its).cloned();
        let heard = match &known {
            Some(step) => self.advance.flow().hear(step, event, &decision)?,
            None => flow::Heard::Nothing,
        };
        let far = match &known {
            Some(step) if is_far && heard != flow::Heard::Nothing => {
                let is_gone =
                    decision.fate == Fate::Remove && !decision.task.status.state.is_finished();
                let is_passing = keep(&mut decision, now);
                let (flow, name) = (step.flow.clone(), step.name.clone());
                Some(FarStep { flow, name, task: task.clone(), is_passing, is_gone })
            }
            _ => None,
        };
        let mut news = Announcements::default();
        announce::task::after(&before.task, event, &decision, now, &mut news);
        let change = Change { expected: before.revision, decision };
        match (known, heard) {
            _ if far.is_some() => {}
            (Some(step), flow::Heard::Ended(end)) => {
                self.advance.end(&step.name, end);
                self.votes.extend(vote);
                return Ok(self.happens(place, change, news));
            }
            (Some(step), flow::Heard::Revived) => {
                self.advance.revive(&step.name);
                self.votes.extend(vote);
                return Ok(self.happens(place, change, news));
            }
            _ => {}
        }
        self.settled.insert(task);
        batch.add_voted(place, change, vote, news);
        Ok(far.map_or(Heard::Here, Heard::Far))
    }

    /// A decision is carried out together with what it makes of the flow.
    fn happens(&mut self, place: usize, change: Change, news: Announcements) -> Heard {
        self.together.places.push((place, change.decision.task.clone()));
        self.together.news.extend(news.into_vec());
        self.change(change);
        Heard::Here
    }

    /// Something happens to a task of it.
    pub(super) fn change(&mut self, change: Change) {
        let spec = &change.decision.task.spec;
        self.settled.insert((spec.queue.clone(), spec.id.clone()));
        self.tasks.push(change);
    }

    /// The step of the store, where the answers about its tasks stand, and what is told of it.
    pub(in crate::engine) fn into_step(self, now: Timestamp) -> (Together, Changes) {
        let (flow, steps) = self.advance.finish(now);
        let mut together = self.together;
        together.news.extend(self.spawn.iter().map(|spec| announce::task::pushed(spec, now)));
        announce::flow::changed(Some(&self.before), &flow, now, &mut together.news);
        let mut owners = vec![changed(Owner::Flow(Box::new(flow)), Some(self.revision))];
        owners.extend(steps.into_iter().map(|step| {
            let version = self.versions.get(&step.name).copied();
            changed(Owner::Step(Box::new(step)), version)
        }));
        owners.extend(self.votes);
        let step = Changes { owners, tasks: self.tasks, births: self.spawn, keyed: None };
        (together, step)
    }
}

/// The step a task belongs to.
pub(super) fn name_of(spec: &Spec) -> Option<&StepName> {
    match &spec.owner {
        Some(OwnerRef::Flow { step, .. }) => Some(step),
        _ => None,
    }
}

pub(super) fn changed(owner: Owner, expected: Option<Revision>) -> OwnerChange {
    OwnerChange {
        key: owner.key(),
        expected,
        after: Some(owner),
        drop_first: 0,
        append: Vec::new(),
    }
}

pub(super) fn removed(key: OwnerKey, revision: Revision) -> OwnerChange {
    OwnerChange { key, expected: Some(revision), after: None, drop_first: 0, append: Vec::new() }
}
