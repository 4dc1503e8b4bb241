//! Committing decisions, and handing over tasks that belong to another shard.

use std::collections::BTreeMap;

use punctual_core::{Decision, Fate, Queue, Settings, Spec, Task, Timestamp};

use super::allowance::Allowance;
use super::call::Call;
use super::fields::corrupt;
use super::node::Node;
use super::receipt;
use super::record::{is_big, lane, spec_fields, status_fields};
use super::scripts::{COMMIT, DELIVER, OUTBOX};
use super::written::{Answers, AnswersAt};
use crate::format;
use crate::port::{Change, Changes, Revision, StoreError, Transaction, Written, fingerprint};

/// Decisions committed by one call.
pub(super) const CHANGES_MAX: usize = 500;
/// Bytes committed by one call, but for a single decision.
pub(super) const BYTES_MAX: usize = 4 << 20;

impl Node {
    /// Carries out transactions. When a call fails, its own transactions get the error; those after it are not
    /// sent, and have changed nothing.
    pub(super) async fn write(
        &self,
        transactions: Vec<Transaction>,
    ) -> Vec<Result<Written, StoreError>> {
        let mut answers = Answers::new(transactions.len());
        let (mut tasks, mut together) = (Vec::new(), Vec::new());
        for (index, transaction) in transactions.into_iter().enumerate() {
            match transaction {
                Transaction::Task(change) => tasks.push((index, change)),
                Transaction::Records(changes) => together.push((index, *changes)),
            }
        }
        let (indexes, changes): (Vec<usize>, Vec<Change>) = tasks.into_iter().unzip();
        let mut sent = answers.at(&indexes);
        if let Err(failure) = self.commit(&changes, &mut sent).await {
            return answers.unsent(failure);
        }
        let (indexes, changes): (Vec<usize>, Vec<Changes>) = together.into_iter().unzip();
        let mut sent = answers.at(&indexes);
        if let Err(failure) = self.write_together(&changes, &mut sent).await {
            return answers.unsent(failure);
        }
        answers.finish()
    }

    async fn commit(
        &self,
        changes: &[Change],
        answers: &mut AnswersAt<'_>,
    ) -> Result<(), StoreError> {
        let shard_of = |change: &Change| self.keys.shard_of(&change.decision.task.spec.queue);
        for (shard, places) in self.by_shard(changes, shard_of) {
            let mut rest = &places[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(next_piece(changes, rest));
                let letters = self.commit_piece(shard, changes, piece).await;
                let letters = letters.inspect_err(|failure| answers.fail(piece, failure))?;
                for (place, letter) in piece.iter().zip(letters) {
                    let is_done = letter == b'k';
                    let revision = is_done.then(|| revision_after(&changes[*place]));
                    answers.set(*place, revision.map_or(Written::Lost, Written::Task));
                }
                rest = after;
            }
            let is_elsewhere = |spec: &Spec| self.keys.shard_of(&spec.queue) != shard;
            if places.iter().any(|place| changes[*place].decision.spawn.iter().any(is_elsewhere)) {
                // It is noted in this shard and will be handed over by whoever looks there next; the
                // sooner, the better.
                let _ = self.hand_over(shard).await;
            }
        }
        Ok(())
    }

    async fn commit_piece(
        &self,
        shard: usize,
        changes: &[Change],
        piece: &[usize],
    ) -> Result<Vec<u8>, StoreError> {
        let given: Vec<&Change> = piece.iter().map(|place| &changes[*place]).collect();
        let allowances = self.allow_changes(shard, &given).await?;
        let mut call = self.call(&COMMIT, shard).await;
        for (change, allowance) in given.into_iter().zip(allowances) {
            self.change(&mut call, shard, change, allowance);
        }
        let [letters] = call.send().await?.body.parts()?;
        letters.bytes()
    }

    /// Adds a decision.
    pub(super) fn change(
        &self,
        call: &mut Call<'_>,
        shard: usize,
        change: &Change,
        allowance: Option<Allowance>,
    ) {
        let Decision { task, fate, spawn, receipt, .. } = &change.decision;
        let spec = &task.spec;
        call.arg(spec.queue.as_str()).arg(spec.id.as_str());
        call.arg(change.expected.birth).arg(change.expected.change);
        call.arg(match fate {
            Fate::Same => "same",
            Fate::Keep => "keep",
            Fate::Rewrite => "rewrite",
            Fate::Reserve(_) => "reserve",
            Fate::Remove => "remove",
        });
        match receipt {
            Some((token, verb)) => {
                let fingerprint = fingerprint(&spec.queue, &spec.id, *token, *verb);
                call.arg(&receipt::digest(fingerprint)[..])
            }
            None => call.arg(""),
        };
        call.arg(allowance.map_or_else(String::new, |allowance| allowance.to_string()));
        match fate {
            Fate::Keep | Fate::Rewrite => placement(call, task, *fate == Fate::Rewrite),
            Fate::Reserve(until) => {
                call.arg(until.as_millis());
            }
            Fate::Same | Fate::Remove => {}
        }
        call.arg(spawn.len());
        for made in spawn {
            self.made(call, shard, made);
        }
    }

    /// Adds a task that is made in the same step, or noted for its own shard.
    pub(super) fn made(&self, call: &mut Call<'_>, shard: usize, spec: &Spec) {
        let home = self.keys.shard_of(&spec.queue);
        if home == shard {
            call.arg("here");
            self.made_here(call, spec);
        } else {
            call.arg(home).arg(format::marked(spec));
        }
    }

    /// Adds a task together with the queue it would need.
    pub(super) fn made_here(&self, call: &mut Call<'_>, spec: &Spec) {
        let queue = Queue {
            name: spec.queue.clone(),
            settings: Settings::initial(&spec.queue),
            paused: false,
            created_at: self.clock.now(),
        };
        let fields = super::queues::queue_fields(&queue);
        call.arg(spec.queue.as_str()).counted(&fields).task(spec);
    }

    /// Hands over to other shards what was decided for them in this one.
    pub(super) async fn hand_over(&self, shard: usize) -> Result<(), StoreError> {
        let mut done: BTreeMap<usize, u64> = BTreeMap::new();
        loop {
            let mut call = self.call(&OUTBOX, shard).await;
            for (target, number) in &done {
                call.arg(*target).arg(*number);
            }
            let mut entries = call.send().await?.body.list()?.into_iter();
            done.clear();
            while let (Some(target), Some(list)) = (entries.next(), entries.next()) {
                let target = target.count()?;
                let entries: Result<Vec<(u64, Spec)>, StoreError> =
                    list.list()?.into_iter().map(|entry| read_entry(entry.bytes()?)).collect();
                let entries = entries?;
                self.deliver(&shard.to_string(), target, &entries).await?;
                done.extend(entries.last().map(|(number, _)| (target, *number)));
            }
            if done.is_empty() {
                return Ok(());
            }
        }
    }

    /// Makes tasks that were decided on elsewhere, those of each sender once.
    pub(super) async fn deliver(
        &self,
        from: &str,
        to: usize,
        entries: &[(u64, Spec)],
    ) -> Result<(), StoreError> {
        let mut call = self.call(&DELIVER, to).await;
        call.arg(from);
        for (number, spec) in entries {
            call.arg(*number);
            self.made_here(&mut call, spec);
        }
        call.send().await.map(drop)
    }
}

/// An entry of an outbox: its number, a space, and the task packed.
pub(super) fn read_entry(bytes: Vec<u8>) -> Result<(u64, Spec), StoreError> {
    let bad = || corrupt("an entry of an outbox", "it is not well formed");
    let space = bytes.iter().position(|byte| *byte == b' ').ok_or_else(bad)?;
    let number = std::str::from_utf8(&bytes[..space]).ok().and_then(|text| text.parse().ok());
    let spec = format::unpack_marked(&bytes[space + 1..])
        .map_err(|error| corrupt("an entry of an outbox", error))?;
    Ok((number.ok_or_else(bad)?, spec))
}

/// Where a task stands after a decision, and the fields that say so.
pub(super) fn placement(call: &mut Call<'_>, task: &Task, is_whole: bool) {
    let Task { spec, status } = task;
    let time = |time: Option<Timestamp>| {
        time.map_or_else(String::new, |time| time.as_millis().to_string())
    };
    let is_finished = status.state.is_finished();
    call.arg(status.state.name()).arg(status.ready_at.as_millis()).arg(lane(spec));
    call.arg(time(task.expires_at()));
    call.arg(time(status.hold.map(|hold| hold.until)));
    call.arg(time(status.finished_at.filter(|_| is_finished)));
    call.arg(time(status.keep_until.filter(|_| is_finished)));
    let fields = status_fields(status);
    if !is_whole {
        call.counted(&fields);
        return;
    }
    call.counted(&fields.and(spec_fields(spec))).arg(u8::from(is_big(spec)));
    if is_big(spec) {
        call.arg(spec.payload.as_str());
    }
}

pub(super) fn revision_after(change: &Change) -> Revision {
    let Revision { birth, change: version } = change.expected;
    match change.decision.fate {
        Fate::Same => change.expected,
        _ => Revision { birth, change: version + 1 },
    }
}

/// About how much of a call a decision takes.
pub(super) fn bytes_of(decision: &Decision) -> usize {
    let long = |spec: &Spec| spec.payload.len();
    let mut bytes = decision.spawn.iter().map(long).sum::<usize>();
    if matches!(decision.fate, Fate::Keep | Fate::Rewrite) {
        bytes += decision.task.status.bytes();
    }
    if decision.fate == Fate::Rewrite {
        bytes += long(&decision.task.spec);
    }
    bytes
}

/// How many of the changes at these places go into the next call.
fn next_piece(changes: &[Change], places: &[usize]) -> usize {
    let mut bytes = 0;
    let fits = |place: &&usize| {
        bytes += bytes_of(&changes[**place].decision);
        bytes <= BYTES_MAX
    };
    places.iter().take(CHANGES_MAX).take_while(fits).count().max(1)
}
