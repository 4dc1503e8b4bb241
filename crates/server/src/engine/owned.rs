//! Commits. A decision about a task that has an owner, and what it makes of the owner, are one step.

use std::collections::HashMap;

use punctual_core::owner::{Around, matters};
use punctual_core::queue::Mode;
use punctual_core::{Decision, Event, OwnerDecision, OwnerKey, Queue, Refusal, Task, Timestamp};
use punctual_store::{
    Change, OwnerChange, Revision, Step, Stepped, StoreError, Stored, StoredOwner,
};

use super::Engine;

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

type Answers = Vec<Option<Result<Stored, Undone>>>;

impl Decided<'_> {
    /// The owner that must be asked what becomes of it.
    fn owner_key(&self) -> Option<OwnerKey> {
        let owner = self.before.task.spec.owner.as_ref()?;
        matters(&self.before.task, &self.decision).then(|| owner.key(&self.queue.name))
    }
}

impl Decided<'_> {
    /// The vote that goes, as the server does not hold the task any more on which it is.
    fn vote_key(&self) -> Option<OwnerKey> {
        let is_over = self.before.task.status.hold.is_some()
            && self.decision.task.status.hold.is_none()
            && self.queue.settings.mode == Mode::Vote;
        is_over.then(|| OwnerKey::vote(&self.queue.name, &self.before.task.spec.id))
    }
}

/// Decisions on their way to the store: where their answers stand, and the tasks after them.
#[derive(Default)]
struct Batch {
    alone: (Vec<(usize, Task)>, Vec<Change>),
    owned: (Vec<(usize, Task)>, Vec<Step>),
}

impl Engine {
    /// Commits decisions, each answered by itself. An error means that nothing of it is known to have
    /// happened.
    pub(super) async fn commit(
        &self,
        decided: Vec<Decided<'_>>,
        now: Timestamp,
    ) -> Result<Vec<Result<Stored, Undone>>, StoreError> {
        let owners = decided.iter().filter_map(Decided::owner_key);
        let keys: Vec<OwnerKey> =
            owners.chain(decided.iter().filter_map(Decided::vote_key)).collect();
        let _locks = self.owner_locks.lock(&keys).await;
        let owners = self.read_owners(keys).await?;
        let mut answers: Answers = decided.iter().map(|_| None).collect();
        let mut batch = Batch::default();
        for (place, decided) in decided.into_iter().enumerate() {
            let owner = decided.owner_key().and_then(|key| owners.get(&key).cloned());
            let vote = decided.vote_key().and_then(|key| owners.get(&key).cloned());
            if let Err(refusal) = self.add(&mut batch, place, decided, (owner, vote), now) {
                answers[place] = Some(Err(Undone::Refused(refusal)));
            }
        }
        self.send(batch, &mut answers).await?;
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(Undone::Lost))).collect())
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

    fn add(
        &self,
        batch: &mut Batch,
        place: usize,
        decided: Decided<'_>,
        (owner, vote): (Option<StoredOwner>, Option<StoredOwner>),
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let Decided { queue, event, before, mut decision } = decided;
        let after = match owner {
            Some(StoredOwner { owner, revision }) => {
                let next_id = self.ids.one(now);
                let around = Around { now, queue: &queue.settings, next_id: &next_id };
                let key = owner.key();
                let after = owner.after(event, &mut decision, &around)?;
                after.map(|after| step_of(key, revision, after))
            }
            None => None,
        };
        let after = match vote {
            Some(StoredOwner { owner, revision }) => {
                let mut step = step_of(owner.key(), revision, OwnerDecision::remove());
                let Step { owners, spawn, .. } = after.unwrap_or_default();
                step.owners.extend(owners);
                step.spawn.extend(spawn);
                Some(step)
            }
            None => after,
        };
        let task = decision.task.clone();
        let change = Change { expected: before.revision, decision };
        match after {
            Some(step) => {
                batch.owned.0.push((place, task));
                batch.owned.1.push(Step { tasks: vec![change], ..step });
            }
            None => {
                batch.alone.0.push((place, task));
                batch.alone.1.push(change);
            }
        }
        Ok(())
    }

    /// Sends a batch. If the store fails when a part of it has happened, only the rest is in doubt.
    async fn send(&self, batch: Batch, answers: &mut Answers) -> Result<(), StoreError> {
        let Batch { alone: (alone, changes), owned: (owned, steps) } = batch;
        let is_all = steps.is_empty();
        if !changes.is_empty() {
            match self.store.commit(changes).await {
                Ok(results) => {
                    for ((place, task), result) in alone.into_iter().zip(results) {
                        let stored = result.map(|revision| Stored { task, revision });
                        answers[place] = Some(stored.map_err(|_| Undone::Lost));
                    }
                }
                Err(failure) if is_all => return Err(failure),
                Err(failure) => {
                    for (place, _) in alone {
                        answers[place] = Some(Err(Undone::Store(failure.clone())));
                    }
                }
            }
        }
        if is_all {
            return Ok(());
        }
        let is_all = answers.iter().all(Option::is_none);
        match self.store.step(steps).await {
            Ok(results) => {
                for ((place, task), result) in owned.into_iter().zip(results) {
                    answers[place] = Some(stepped(task, result));
                }
            }
            Err(failure) if is_all => return Err(failure),
            Err(failure) => {
                for (place, _) in owned {
                    answers[place] = Some(Err(Undone::Store(failure.clone())));
                }
            }
        }
        Ok(())
    }
}

/// The step that a decision about an owner asks of the store, besides what happens to its tasks.
pub(super) fn step_of(key: OwnerKey, expected: Revision, decision: OwnerDecision) -> Step {
    let OwnerDecision { owner: after, drop_first, append, spawn } = decision;
    let drop_first = usize::try_from(drop_first).unwrap_or(usize::MAX);
    let owner = OwnerChange { key, expected: Some(expected), after, drop_first, append };
    Step { owners: vec![owner], tasks: Vec::new(), spawn, keyed: None }
}

fn stepped(task: Task, result: Stepped) -> Result<Stored, Undone> {
    match result {
        Stepped::Done { tasks, .. } => {
            let revision = tasks.into_iter().next().ok_or(Undone::Lost)?;
            Ok(Stored { task, revision })
        }
        Stepped::Lost | Stepped::Replayed { .. } | Stepped::KeyReused => Err(Undone::Lost),
    }
}
