//! Transactions that change several records.

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
use super::written::AnswersAt;
use crate::port::{Change, Changes, OwnerChange, Revision, StoreError, Wake, Written};

/// How long to wait before an id is claimed again that somebody else is making a plan of.
const CLAIMED_AGAIN: Duration = Duration::from_millis(20);

impl Node {
    /// Carries out transactions in their order, as many together as can be.
    pub(super) async fn write_together(
        &self,
        steps: &[Changes],
        answers: &mut AnswersAt<'_>,
    ) -> Result<(), StoreError> {
        let is_alone = |step: &Changes| self.keys.shards() > 1 && !new_plans(step).is_empty();
        let mut bundles = BTreeSet::new();
        let mut from = 0;
        while from < steps.len() {
            if is_alone(&steps[from]) {
                let written = self.write_plans(&steps[from]).await;
                let written = written.inspect_err(|failure| answers.fail(&[from], failure))?;
                answers.set(from, written);
                from += 1;
                continue;
            }
            let end = steps[from..].iter().position(is_alone).map_or(steps.len(), |at| from + at);
            let range: Vec<usize> = (from..end).collect();
            let each = |place: usize, written: Written| {
                if written.is_done() {
                    bundles.extend(bundle_queues(&steps[place]).cloned());
                }
                answers.set(place, written);
            };
            if let Err((failed, failure)) = self.write_range(steps, &range, each).await {
                answers.fail(&failed, &failure);
                self.wake_bundles(bundles);
                return Err(failure);
            }
            from = end;
        }
        self.wake_bundles(bundles);
        Ok(())
    }

    /// Carries out the transactions at some places. An error names those that are in doubt.
    async fn write_range(
        &self,
        steps: &[Changes],
        range: &[usize],
        mut each: impl FnMut(usize, Written),
    ) -> Result<(), (Vec<usize>, StoreError)> {
        let shard_of = |place: &usize| self.shard_of_step(&steps[*place]);
        for (shard, places) in self.by_shard(range, shard_of) {
            let places: Vec<usize> = places.into_iter().map(|place| range[place]).collect();
            let mut rest = &places[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(next_piece(steps, rest));
                let parts = self.step_piece(shard, steps, piece).await;
                let parts = parts.map_err(|failure| (piece.to_vec(), failure))?;
                for (place, part) in piece.iter().zip(parts) {
                    let written = written(&steps[*place], part);
                    each(*place, written.map_err(|failure| (vec![*place], failure))?);
                }
                rest = after;
            }
            if places.iter().any(|place| self.makes_elsewhere(shard, &steps[*place])) {
                // If it cannot be handed over now, it is noted, see `commit`.
                let _ = self.hand_over(shard).await;
            }
        }
        Ok(())
    }

    /// Makes plans where queues lie in several shards, none of which knows the plans of the others: their
    /// ids are claimed until they are made.
    async fn write_plans(&self, step: &Changes) -> Result<Written, StoreError> {
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
        let mut written = Written::Lost;
        let never = (!is_free).then(|| never(step));
        if is_free || step.keyed.is_some() {
            // A request that was answered before is answered again, whatever has become of its plan.
            let step = std::slice::from_ref(never.as_ref().unwrap_or(step));
            let done = self.write_range(step, &[0], |_, answer| written = answer).await;
            done.map_err(|(_, failure)| failure)?;
        }
        for plan in &plans {
            // If not even that can be said, the claim ends by itself.
            let _ = self.claim(plan, &claim, false).await;
        }
        Ok(written)
    }

    /// Claims the id of a plan or gives it up. False: somebody else has claimed it.
    async fn claim(&self, plan: &OwnerKey, claim: &str, wanted: bool) -> Result<bool, StoreError> {
        let mut call = self.call(&CLAIM, self.keys.shard_of_name(&plan.name)).await;
        call.arg(&*plan.name).arg(claim).arg(u8::from(wanted));
        let [is_done] = call.send().await?.body.parts()?;
        Ok(is_done.int()? == 1)
    }

    /// All that a step is about lies in one queue.
    fn shard_of_step(&self, step: &Changes) -> usize {
        step.queue().map_or(0, |queue| self.keys.shard_of(queue))
    }

    fn makes_elsewhere(&self, shard: usize, step: &Changes) -> bool {
        let decided = step.tasks.iter().flat_map(|change| &change.decision.spawn);
        decided.chain(&step.births).any(|spec| self.keys.shard_of(&spec.queue) != shard)
    }

    async fn step_piece(
        &self,
        shard: usize,
        steps: &[Changes],
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
        step: &Changes,
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
        call.arg(step.births.len());
        for spec in &step.births {
            self.made(call, shard, spec);
        }
    }

    /// Tells those who wait here; the others are told by the script.
    fn wake_bundles(&self, queues: BTreeSet<QueueName>) {
        for queue in queues {
            self.wake(Wake::Bundles { queue });
        }
    }
}

/// The queues whose bundles a transaction changes.
fn bundle_queues(step: &Changes) -> impl Iterator<Item = &QueueName> {
    let bundles = step.owners.iter().filter(|change| change.key.kind == OwnerKind::Bundle);
    bundles.map(|change| &change.key.queue)
}

/// The plans that a step makes, by their ids, so that claims never wait for each other.
fn new_plans(step: &Changes) -> Vec<&OwnerKey> {
    let is_made = |change: &&OwnerChange| change.expected.is_none() && change.after.is_some();
    let made = step.owners.iter().filter(is_made).map(|change| &change.key);
    let mut plans: Vec<_> = made.filter(|key| key.kind == OwnerKind::Plan).collect();
    plans.sort_unstable_by_key(|key| &key.name);
    plans
}

/// The same step, but one that cannot happen.
fn never(step: &Changes) -> Changes {
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
fn is_adding(step: &Changes) -> bool {
    let is_pushed =
        |change: &OwnerChange| change.key.kind == OwnerKind::Bundle && !change.append.is_empty();
    let is_new = |change: &OwnerChange| change.expected.is_none() && change.after.is_some();
    step.owners.iter().any(|change| is_new(change) || is_pushed(change))
}

/// About how much of a call a step takes.
fn step_bytes(step: &Changes) -> usize {
    let spawn = step.births.iter().map(|spec: &Spec| spec.payload.len()).sum::<usize>();
    let tasks = step.tasks.iter().map(|change| bytes_of(&change.decision)).sum::<usize>();
    let items = step.owners.iter().flat_map(|change| &change.append);
    spawn + tasks + items.map(|item| item.len()).sum::<usize>()
}

/// How many of the steps at these places go into the next call: none that differs in what is refused, and
/// no task twice, since a script enters what it moves only at its end.
fn next_piece(steps: &[Changes], places: &[usize]) -> usize {
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

fn written(step: &Changes, part: Part) -> Result<Written, StoreError> {
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
            Written::Records { owners: owners.collect(), tasks }
        }
        "REPLAYED" => {
            let Blob { status, items, .. } = Blob::unpack(&first.bytes()?)?;
            Written::Replayed { status, items }
        }
        "REUSED" => Written::KeyReused,
        _ => Written::Lost,
    })
}
