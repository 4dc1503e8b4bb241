//! Steps: changes of owners and their tasks that happen together.

use std::collections::BTreeSet;
use std::time::Duration;

use punctual_core::{OwnerKey, OwnerKind, QueueName, Spec, TaskId};

use super::allowance::Allowance;
use super::answer::Part;
use super::call::Call;
use super::commit::{BYTES_MAX, CHANGES_MAX, bytes_of, revision_after};
use super::node::Node;
use super::push::Blob;
use super::scripts::{ADDING_STEP, CLAIM, STEP};
use crate::port::{Change, OwnerChange, Revision, Step, Stepped, StoreError, Wake};

/// How long to wait before an id is claimed again that somebody else is making a plan of.
const CLAIMED_AGAIN: Duration = Duration::from_millis(20);

impl Node {
    /// Carries out steps in their order, as many together as can be.
    pub(super) async fn step(&self, steps: Vec<Step>) -> Result<Vec<Stepped>, StoreError> {
        let is_alone = |step: &Step| self.keys.shards() > 1 && !new_plans(step).is_empty();
        let mut answers = Vec::with_capacity(steps.len());
        while answers.len() < steps.len() {
            let rest = &steps[answers.len()..];
            if is_alone(&rest[0]) {
                answers.push(self.step_to_plans(&rest[0]).await?);
            } else {
                let end = rest.iter().position(is_alone).unwrap_or(rest.len());
                answers.extend(self.steps_together(&rest[..end]).await?);
            }
        }
        self.wake_bundles(&steps, &answers);
        Ok(answers)
    }

    async fn steps_together(&self, steps: &[Step]) -> Result<Vec<Stepped>, StoreError> {
        let mut answers = vec![Stepped::Lost; steps.len()];
        for (shard, places) in self.by_shard(steps, |step| self.shard_of_step(step)) {
            let mut rest = &places[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(next_piece(steps, rest));
                let parts = self.step_piece(shard, steps, piece).await?;
                for (place, part) in piece.iter().zip(parts) {
                    answers[*place] = stepped(&steps[*place], part)?;
                }
                rest = after;
            }
            if places.iter().any(|place| self.makes_elsewhere(shard, &steps[*place])) {
                // What could not be handed over now is noted, see `commit`.
                let _ = self.hand_over(shard).await;
            }
        }
        Ok(answers)
    }

    /// Makes plans where queues lie in several shards, none of which knows the plans of the others: their
    /// ids are claimed until they are made.
    async fn step_to_plans(&self, step: &Step) -> Result<Stepped, StoreError> {
        let name = super::random_name();
        let claim = name.map_err(|error| StoreError::unavailable(error.to_string()))?;
        let plans = new_plans(step);
        let mut is_free = true;
        for plan in &plans {
            while !self.claim(plan, &claim, true).await? {
                tokio::time::sleep(CLAIMED_AGAIN).await;
            }
            let station = self.station(&plan.name).await?;
            is_free &= station.is_none_or(|station| station == plan.queue);
        }
        let stepped = match (is_free, &step.keyed) {
            (true, _) => self.steps_together(std::slice::from_ref(step)).await?.remove(0),
            (false, None) => Stepped::Lost,
            // A request that was answered before is answered again, whatever has become of its plan.
            (false, Some(_)) => self.steps_together(&[never(step)]).await?.remove(0),
        };
        for plan in &plans {
            // If not even that can be said, the claim ends by itself.
            let _ = self.claim(plan, &claim, false).await;
        }
        Ok(stepped)
    }

    /// Claims the id of a plan or gives it up. False: somebody else has claimed it.
    async fn claim(&self, plan: &OwnerKey, claim: &str, wanted: bool) -> Result<bool, StoreError> {
        let mut call = self.call(&CLAIM, self.keys.shard_of_name(&plan.name)).await;
        call.arg(&*plan.name).arg(claim).arg(u8::from(wanted));
        let [is_done] = call.send().await?.body.parts()?;
        Ok(is_done.int()? == 1)
    }

    /// All that a step is about lies in one queue.
    fn shard_of_step(&self, step: &Step) -> usize {
        step.queue().map_or(0, |queue| self.keys.shard_of(queue))
    }

    fn makes_elsewhere(&self, shard: usize, step: &Step) -> bool {
        let decided = step.tasks.iter().flat_map(|change| &change.decision.spawn);
        decided.chain(&step.spawn).any(|spec| self.keys.shard_of(&spec.queue) != shard)
    }

    async fn step_piece(
        &self,
        shard: usize,
        steps: &[Step],
        piece: &[usize],
    ) -> Result<Vec<Part>, StoreError> {
        let is_adding = piece.iter().any(|place| is_adding(&steps[*place]));
        let script = if is_adding { &ADDING_STEP } else { &STEP };
        let changes: Vec<&Change> = piece.iter().flat_map(|place| &steps[*place].tasks).collect();
        let mut allowances = self.allow_changes(shard, &changes).await?.into_iter();
        let mut call = self.call(script, shard).await;
        for place in piece {
            self.one_step(&mut call, shard, &steps[*place], &mut allowances);
        }
        call.send().await?.body.list()
    }

    fn one_step(
        &self,
        call: &mut Call<'_>,
        shard: usize,
        step: &Step,
        allowances: &mut impl Iterator<Item = Option<Allowance>>,
    ) {
        match &step.keyed {
            Some(keyed) => {
                call.arg(&keyed.key.to_be_bytes()[..]).arg(&keyed.request.to_be_bytes()[..]);
                call.arg(Blob::pack(keyed)).arg(step.queue().map_or("", QueueName::as_str));
            }
            None => {
                call.arg("").arg("").arg("").arg("");
            }
        }
        call.arg(step.owners.len());
        for change in &step.owners {
            owner_change(call, change);
        }
        call.arg(step.tasks.len());
        for change in &step.tasks {
            self.change(call, shard, change, allowances.next().flatten());
        }
        call.arg(step.spawn.len());
        for spec in &step.spawn {
            self.made(call, shard, spec);
        }
    }

    /// Tells those who wait here; the others are told by the script.
    fn wake_bundles(&self, steps: &[Step], answers: &[Stepped]) {
        let done = steps.iter().zip(answers);
        let done = done.filter(|(_, answer)| matches!(answer, Stepped::Done { .. }));
        let owners = done.flat_map(|(step, _)| &step.owners);
        let bundles = owners.filter(|change| change.key.kind == OwnerKind::Bundle);
        let queues: BTreeSet<&QueueName> = bundles.map(|change| &change.key.queue).collect();
        for queue in queues {
            self.wake(Wake::Bundles { queue: queue.clone() });
        }
    }
}

/// The plans that a step makes, by their ids, so that claims never wait for each other.
fn new_plans(step: &Step) -> Vec<&OwnerKey> {
    let is_made = |change: &&OwnerChange| change.expected.is_none() && change.after.is_some();
    let made = step.owners.iter().filter(is_made).map(|change| &change.key);
    let mut plans: Vec<_> = made.filter(|key| key.kind == OwnerKind::Plan).collect();
    plans.sort_unstable_by_key(|key| &key.name);
    plans
}

/// The same step, but one that cannot happen.
fn never(step: &Step) -> Step {
    let mut step = step.clone();
    for change in &mut step.owners {
        change.expected = Some(Revision::NEVER);
    }
    step
}

fn owner_change(call: &mut Call<'_>, change: &OwnerChange) {
    call.owner_key(&change.key);
    match change.expected {
        Some(Revision { birth, change }) => call.arg(birth).arg(change),
        None => call.arg("").arg(""),
    };
    let Some(after) = &change.after else {
        call.arg("drop");
        return;
    };
    call.arg("put").owner(after).arg(change.drop_first).arg(change.append.len());
    for item in &change.append {
        call.arg(item.as_str());
    }
}

/// Whether a step puts something new into the store, which a Redis that is out of memory must refuse.
/// All others go on there.
fn is_adding(step: &Step) -> bool {
    let is_pushed =
        |change: &OwnerChange| change.key.kind == OwnerKind::Bundle && !change.append.is_empty();
    let is_new = |change: &OwnerChange| change.expected.is_none() && change.after.is_some();
    step.owners.iter().any(|change| is_new(change) || is_pushed(change))
}

/// About how much of a call a step takes.
fn step_bytes(step: &Step) -> usize {
    let spawn = step.spawn.iter().map(|spec: &Spec| spec.payload.len()).sum::<usize>();
    let tasks = step.tasks.iter().map(|change| bytes_of(&change.decision)).sum::<usize>();
    let items = step.owners.iter().flat_map(|change| &change.append);
    spawn + tasks + items.map(|item| item.len()).sum::<usize>()
}

/// How many of the steps at these places go into the next call: none that differs in what is refused, and
/// no task twice, since a script enters what it moves only at its end.
fn next_piece(steps: &[Step], places: &[usize]) -> usize {
    let mut bytes = 0;
    let mut tasks: BTreeSet<(&QueueName, &TaskId)> = BTreeSet::new();
    let is_first_adding = is_adding(&steps[places[0]]);
    let fits = |place: &&usize| {
        let step = &steps[**place];
        bytes += step_bytes(step);
        let mut specs = step.tasks.iter().map(|change| &change.decision.task.spec);
        let is_alone = specs.all(|spec| tasks.insert((&spec.queue, &spec.id)));
        bytes <= BYTES_MAX && is_alone && is_adding(step) == is_first_adding
    };
    places.iter().take(CHANGES_MAX).take_while(fits).count().max(1)
}

fn stepped(step: &Step, part: Part) -> Result<Stepped, StoreError> {
    let (word, parts) = part.tagged()?;
    let first = parts.into_iter().next().unwrap_or_default();
    Ok(match word.as_str() {
        "DONE" => {
            let births: Result<Vec<i64>, _> = first.list()?.iter().map(Part::int).collect();
            let owners = step.owners.iter().zip(births?).map(|(change, birth)| {
                let version = change.expected.map_or(0, |before| before.change + 1);
                let revision = Revision { birth: birth.unsigned_abs(), change: version };
                change.after.as_ref().map(|_| revision)
            });
            let tasks = step.tasks.iter().map(revision_after).collect();
            Stepped::Done { owners: owners.collect(), tasks }
        }
        "REPLAYED" => {
            let Blob { status, items, .. } = Blob::unpack(&first.bytes()?)?;
            Stepped::Replayed { status, items }
        }
        "REUSED" => Stepped::KeyReused,
        _ => Stepped::Lost,
    })
}
