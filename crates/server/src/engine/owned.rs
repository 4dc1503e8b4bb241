//! Commits. A decision about a task that has an owner, and what it makes of the owner, are one step.

use std::collections::HashMap;

use punctual_core::announce;
use punctual_core::owner::{Around, matters};
use punctual_core::queue::Mode;
use punctual_core::{
    Announcements, Decision, Event, Owner, OwnerKey, OwnerKind, Queue, RawJson, Refusal, Task,
    Timestamp,
};
use punctual_store::{
    Change, Changes, Lost, OwnerChange, StoreError, Stored, StoredOwner, Written,
};

use super::Engine;
use super::flows::{FarStep, Heard, Scene};
use super::write::Draft;

/// What was decided about a task.
pub(super) struct Decided<'a> {
    /// Its queue.
    pub(super) queue: &'a Queue,
    /// What happened.
    pub(super) event: &'a Event,
    /// The task before it.
    pub(super) before: &'a Stored,
    /// What is to become of it.
    pub(super) decision: Decision,
}

/// Why a decision was not committed.
#[derive(Debug)]
pub(super) enum Undone {
    /// A record has changed: decide again.
    Lost,
    /// The owner forbids it.
    Refused(Refusal),
    /// The store cannot do it.
    Store(StoreError),
}

pub(super) type Answers = Vec<Option<Result<Stored, Undone>>>;

impl Decided<'_> {
    /// The owner that must be asked what becomes of it.
    pub(super) fn owner_key(&self) -> Option<OwnerKey> {
        let owner = self.before.task.spec.owner.as_ref()?;
        matters(&self.before.task, &self.decision).then(|| owner.key(&self.queue.name))
    }
}

impl Decided<'_> {
    /// Whether it makes the task of a callback that names its id.
    pub(super) fn names_callback(&self) -> bool {
        let callback = self.before.task.spec.callback.as_ref();
        let task = callback.and_then(|callback| callback.task.as_ref());
        task.is_some_and(|task| task.id.is_some()) && !self.decision.spawn.is_empty()
    }

    /// The vote that goes, as the server does not hold the task any more on which it is.
    fn vote_key(&self) -> Option<OwnerKey> {
        let is_over = self.before.task.status.hold.is_some()
            && self.decision.task.status.hold.is_none()
            && self.queue.settings.mode == Mode::Vote;
        is_over.then(|| OwnerKey::vote(&self.queue.name, &self.before.task.spec.id))
    }

    /// The change that removes that vote, if it is among owners that were read.
    fn vote(&self, owners: &HashMap<OwnerKey, StoredOwner>) -> Option<OwnerChange> {
        let key = self.vote_key()?;
        let expected = Some(owners.get(&key)?.revision);
        Some(OwnerChange { key, expected, after: None, drop_first: 0, append: Vec::new() })
    }
}

/// Everything that is read beside a task before its change is written.
struct Beside {
    /// Its owner.
    owner: Option<StoredOwner>,
    /// The vote that goes with the change.
    vote: Option<OwnerChange>,
    /// The results of its plan, if it is a run that the plan has gone past.
    past: Option<Vec<RawJson>>,
}

/// Decisions on their way to the store.
#[derive(Default)]
pub(super) struct Batch {
    drafts: Vec<Draft>,
    expected: Vec<Expected>,
}

/// The tasks after a transaction, and the places of their answers.
enum Expected {
    One(usize, Task),
    Several(Vec<(usize, Task)>),
}

/// Tasks that change together, and the events that tell of it.
#[derive(Default)]
pub(super) struct Together {
    /// The places of their answers, and the tasks after the change.
    pub(super) places: Vec<(usize, Task)>,
    /// The events that tell of them, and of their owner.
    pub(super) news: Announcements,
}

impl Batch {
    /// Adds a decision that no owner hears of.
    pub(super) fn add_alone(&mut self, place: usize, change: Change, news: Announcements) {
        self.expected.push(Expected::One(place, change.decision.task.clone()));
        self.drafts.push(Draft::told(change, news));
    }

    /// Adds a decision that no owner hears of, except for the vote that may go with it.
    pub(super) fn add_voted(
        &mut self,
        place: usize,
        change: Change,
        vote: Option<OwnerChange>,
        news: Announcements,
    ) {
        let Some(vote) = vote else { return self.add_alone(place, change, news) };
        let together = Together { places: vec![(place, change.decision.task.clone())], news };
        let changes = Changes { owners: vec![vote], tasks: vec![change], ..Changes::default() };
        self.add_owned(together, changes);
    }

    /// Adds decisions that happen together with the change of their owner.
    pub(super) fn add_owned(&mut self, together: Together, changes: Changes) {
        self.expected.push(Expected::Several(together.places));
        self.drafts.push(Draft::told(changes, together.news));
    }
}

impl Engine {
    /// Commits decisions, each answered by itself. An error means that nothing of it is known to have
    /// happened.
    pub(super) async fn commit(
        &self,
        mut decided: Vec<Decided<'_>>,
        now: Timestamp,
    ) -> Result<Vec<Result<Stored, Undone>>, StoreError> {
        // Few callbacks name an id, so the others' way stays small.
        let renamed = if decided.iter().any(Decided::names_callback) {
            Box::pin(self.rename_callbacks(&mut decided, now)).await?
        } else {
            Vec::new()
        };
        let owners = decided.iter().filter_map(Decided::owner_key);
        let keys: Vec<OwnerKey> =
            owners.chain(decided.iter().filter_map(Decided::vote_key)).collect();
        let _locks = self.owner_locks.lock(&keys).await;
        let owners = self.read_owners(keys).await?;
        let mut answers: Answers = decided.iter().map(|_| None).collect();
        let mut batch = Batch::default();
        let mut steps = Vec::new();
        let past = self.past_results(&decided, &owners).await?;
        for (place, decided) in decided.into_iter().enumerate() {
            let key = decided.owner_key();
            let owner = key.as_ref().and_then(|key| owners.get(key).cloned());
            let vote = decided.vote(&owners);
            let past = key.as_ref().and_then(|key| past.get(key).cloned());
            if owner.is_some() && key.is_some_and(|key| key.kind == OwnerKind::Flow) {
                steps.push((place, decided));
            } else if let Err(refusal) =
                self.add(&mut batch, place, decided, Beside { owner, vote, past }, now)
            {
                answers[place] = Some(Err(Undone::Refused(refusal)));
            }
        }
        // What only flows need lies on the heap by itself, so that the others' way stays small.
        let far = if steps.is_empty() {
            Vec::new()
        } else {
            Box::pin(self.add_steps(&mut batch, steps, owners, &mut answers, now)).await?
        };
        self.send(batch, &mut answers).await?;
        let has_happened = |place: usize| matches!(answers[place], Some(Ok(_)));
        let renamed = renamed.into_iter().filter(|(place, _)| has_happened(*place));
        self.events.announce(renamed.map(|(_, told)| told));
        if !far.is_empty() {
            let happened = far.into_iter().filter(|(place, _)| has_happened(*place));
            Box::pin(self.reconcile_all(happened.map(|(_, step)| step).collect())).await;
        }
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(Undone::Lost))).collect())
    }

    /// Reads the results of plans that have gone past a run that ends now.
    async fn past_results(
        &self,
        decided: &[Decided<'_>],
        owners: &HashMap<OwnerKey, StoredOwner>,
    ) -> Result<HashMap<OwnerKey, Vec<RawJson>>, StoreError> {
        let past = |decided: &Decided<'_>| {
            let key = decided.owner_key().filter(|key| key.kind == OwnerKind::Plan)?;
            let Owner::Plan(plan) = &owners.get(&key)?.owner else { return None };
            plan.is_past(decided.event, &decided.decision).then_some((key, plan.results as usize))
        };
        let plans: HashMap<OwnerKey, usize> = decided.iter().filter_map(past).collect();
        let mut results = HashMap::with_capacity(plans.len());
        for (key, count) in plans {
            let read = Box::pin(self.store.items(&key, 0, count)).await?;
            results.insert(key, read);
        }
        Ok(results)
    }

    async fn read_owners(
        &self,
        mut keys: Vec<OwnerKey>,
    ) -> Result<HashMap<OwnerKey, StoredOwner>, StoreError> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        keys.sort_unstable();
        keys.dedup();
        let owners = self.store.owners(&keys).await?;
        Ok(keys.into_iter().zip(owners).filter_map(|(key, owner)| Some((key, owner?))).collect())
    }

    /// Adds what happened to steps of flows: all of one flow is one step. Answers those that the flow has
    /// to be told of when they have happened.
    async fn add_steps(
        &self,
        batch: &mut Batch,
        decided: Vec<(usize, Decided<'_>)>,
        flows: HashMap<OwnerKey, StoredOwner>,
        answers: &mut Answers,
        now: Timestamp,
    ) -> Result<Vec<(usize, FarStep)>, StoreError> {
        let mut far = Vec::new();
        let votes: Vec<_> = decided.iter().map(|(_, decided)| decided.vote(&flows)).collect();
        let mut scenes = Scene::of_flows(flows);
        self.know_steps(&mut scenes, &decided).await?;
        for ((place, decided), vote) in decided.into_iter().zip(votes) {
            let Some(key) = decided.owner_key() else { continue };
            let Some(scene) = scenes.get_mut(&key) else { continue };
            let is_far = self.is_far(&key, &decided.queue.name);
            match scene.hear(batch, place, decided, vote, is_far, now) {
                Ok(Heard::Here) => {}
                Ok(Heard::Far(step)) => far.push((place, step)),
                Err(refusal) => answers[place] = Some(Err(Undone::Refused(refusal))),
            }
        }
        let mut scenes: Vec<Scene> =
            scenes.into_values().filter(|scene| !scene.is_idle()).collect();
        self.advance(&mut scenes, now).await?;
        for scene in scenes {
            let (together, step) = scene.into_step(now);
            batch.add_owned(together, step);
        }
        Ok(far)
    }

    fn add(
        &self,
        batch: &mut Batch,
        place: usize,
        decided: Decided<'_>,
        Beside { owner, vote, past }: Beside,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let Decided { queue, event, before, mut decision } = decided;
        let mut news = Announcements::default();
        let after = match owner {
            Some(StoredOwner { owner, revision }) => {
                let next_id = self.ids.one(now);
                let around = Around { now, queue: &queue.settings, next_id: &next_id };
                let key = owner.key();
                let after = match (&owner, past) {
                    (Owner::Plan(plan), Some(kept)) if plan.is_past(event, &decision) => {
                        plan.as_ref().clone().amend(kept, event, &decision, now).map(Into::into)
                    }
                    _ => owner.clone().after(event, &mut decision, &around)?,
                };
                if let Some(after) = &after {
                    announce::owner_after(&owner, event, &decision, after, now, &mut news);
                }
                after.map(|after| Changes::of_owner(key, revision, after))
            }
            None => None,
        };
        announce::task::after(&before.task, event, &decision, now, &mut news);
        let change = Change { expected: before.revision, decision };
        match after {
            Some(mut step) => {
                step.owners.extend(vote);
                let task = change.decision.task.clone();
                let together = Together { places: vec![(place, task)], news };
                batch.add_owned(together, Changes { tasks: vec![change], ..step });
            }
            None => batch.add_voted(place, change, vote, news),
        }
        Ok(())
    }

    /// Sends a batch. If the store fails when a part of it has happened, only the rest is in doubt.
    async fn send(&self, batch: Batch, answers: &mut Answers) -> Result<(), StoreError> {
        let Batch { drafts, expected } = batch;
        let results = self.writer.write(drafts).await;
        if let Some(failure) = all_failed(&results) {
            return Err(failure);
        }
        for (expected, result) in expected.into_iter().zip(results) {
            match (expected, result) {
                (Expected::One(place, task), Ok(written)) => {
                    let stored = written.task().map(|revision| Stored { task, revision });
                    answers[place] = Some(stored.map_err(|Lost| Undone::Lost));
                }
                (Expected::Several(places), Ok(Written::Records { tasks, .. })) => {
                    for ((place, task), revision) in places.into_iter().zip(tasks) {
                        answers[place] = Some(Ok(Stored { task, revision }));
                    }
                }
                (Expected::Several(_), Ok(_)) => {}
                (Expected::One(place, _), Err(failure)) => {
                    answers[place] = Some(Err(Undone::Store(failure)));
                }
                (Expected::Several(places), Err(failure)) => {
                    for (place, _) in places {
                        answers[place] = Some(Err(Undone::Store(failure.clone())));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The error, if no transaction has happened because of one.
fn all_failed(results: &[Result<Written, StoreError>]) -> Option<StoreError> {
    let mut failures = results.iter().map(|result| result.as_ref().err());
    let first = failures.next()??;
    failures.all(|failure| failure.is_some()).then(|| first.clone())
}
