//! Taking, in pieces that Redis carries out without keeping others waiting.

use std::collections::HashMap;
use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::task::Grant;
use punctual_core::{QueueName, Seed, Span, Timestamp};

use super::allowance::{Allowance, Want};
use super::answer::Part;
use super::keys::escaped;
use super::node::Node;
use super::record::stored;
use super::scripts::TAKE;
use crate::port::{Classes, StoreError, Stored, Take, Taken, Taker};

/// How often somebody else may be quicker to get a worker's last places before they are left to them.
const RECALLS_MAX: usize = 8;

/// What one call handed out.
struct Piece {
    again_at: Option<Timestamp>,
    /// The taker, from 1, at which the call reached its limit, or who may not hold what it might have
    /// held when it was asked for; 0: neither.
    stopped_at: usize,
    /// Classes, as they are written in names of lanes, for which there was no more room.
    left_out: Vec<String>,
    /// Per taker, records as they were before and their holds, or as they are now.
    got: Vec<Vec<(Stored, Option<Granted>)>>,
}

/// What a script has granted.
struct Granted {
    hold: Span,
    confirm_within: Option<Span>,
    max_runtime: Option<Span>,
}

impl Node {
    pub(super) async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        let mut per_taker: Vec<Vec<Stored>> = take.takers.iter().map(|_| Vec::new()).collect();
        let (mut first, mut recalls) = (0, 0);
        loop {
            let allowances = self.allow_takers(&take, first, &per_taker).await?;
            let rooms = rooms(&take.classes, &per_taker);
            let Some((piece, now)) =
                self.take_piece(&take, first, &rooms, &per_taker, &allowances).await?
            else {
                return Ok(Taken::NoQueue);
            };
            // A call that reached its own limit has handed out something.
            recalls += usize::from(piece.stopped_at > 0 && piece.got.iter().all(Vec::is_empty));
            for (place, got) in piece.got.into_iter().enumerate() {
                let (taker, so_far) = (&take.takers[first + place], &mut per_taker[first + place]);
                for (record, granted) in got {
                    so_far.push(match granted {
                        Some(granted) => grant(record, taker, so_far.len(), granted, now),
                        None => record,
                    });
                }
            }
            if piece.stopped_at == 0 || recalls == RECALLS_MAX {
                let mut names: HashMap<String, Arc<str>> = HashMap::new();
                for (class, _) in &take.classes.named {
                    names.insert(escaped(class), Arc::clone(class));
                }
                for stored in per_taker.iter().flatten() {
                    let class = stored.task.spec.lane_class();
                    names.insert(escaped(&class), Arc::from(class));
                }
                let left_out = piece.left_out.iter().filter_map(|name| names.remove(name));
                let left_out = left_out.collect();
                return Ok(Taken::Tasks { per_taker, again_at: piece.again_at, left_out });
            }
            first += piece.stopped_at - 1;
        }
    }

    /// How many tasks the workers of the takers from `first` on may hold in the queue's shard.
    async fn allow_takers(
        &self,
        take: &Take,
        first: usize,
        so_far: &[Vec<Stored>],
    ) -> Result<Vec<Option<Allowance>>, StoreError> {
        let mut wants = Vec::new();
        for (taker, got) in take.takers.iter().zip(so_far).skip(first) {
            let worker = taker.worker.as_ref().zip(taker.capacity);
            let n = taker.n - got.len();
            wants.push(worker.map(|(worker, capacity)| Want { worker, capacity, n }));
        }
        if self.keys.shards() > 1 && !self.is_dispatched(&take.queue).await? {
            return Ok(vec![None; wants.len()]);
        }
        self.allow(self.keys.shard_of(&take.queue), &wants).await
    }

    async fn is_dispatched(&self, queue: &QueueName) -> Result<bool, StoreError> {
        let known = self.queue(queue).await?;
        Ok(known.is_some_and(|known| known.queue.settings.mode == Mode::Dispatch))
    }

    /// One call, for the takers from `first` on.
    async fn take_piece(
        &self,
        take: &Take,
        first: usize,
        rooms: &HashMap<String, usize>,
        so_far: &[Vec<Stored>],
        allowances: &[Option<Allowance>],
    ) -> Result<Option<(Piece, Timestamp)>, StoreError> {
        let mut call = self.call(&TAKE, self.keys.shard_of(&take.queue)).await;
        let roll = take.takers.get(first).map_or(0, |taker| seed_bits(taker.seed) >> 97);
        call.arg(take.queue.as_str()).arg(roll.to_string());
        call.arg(room_text(take.classes.others)).arg(rooms.len());
        for (class, room) in rooms {
            call.arg(class.as_str()).arg(room_text(*room));
        }
        let capabilities = take.classes.covered_by.as_deref();
        call.arg(capabilities.map_or_else(|| "-1".to_owned(), |all| all.len().to_string()));
        for name in capabilities.unwrap_or_default() {
            call.arg(escaped(name));
        }
        let takers = take.takers.iter().zip(so_far).skip(first);
        for ((taker, got), allowance) in takers.zip(allowances) {
            let size = |Stored { task, .. }: &Stored| task.spec.payload.len() + task.status.bytes();
            let bytes: usize = got.iter().map(size).sum();
            call.arg(format!("{:032x}", seed_bits(taker.seed))).arg(got.len());
            call.arg(taker.n - got.len()).arg(bytes);
            call.arg(taker.hold.map_or_else(String::new, |hold| hold.as_millis().to_string()));
            call.arg(u8::from(taker.confirm));
            call.arg(taker.worker.as_ref().map_or("", |worker| worker.as_str()));
            call.arg(allowance.map_or_else(String::new, |allowance| allowance.to_string()));
        }
        let answer = call.send().await?;
        let now = Timestamp::from_millis(answer.now_ms);
        let piece = read_piece(answer.body, &take.queue)?;
        Ok(piece.map(|piece| (piece, now)))
    }
}

/// What is left of the room of classes that are named or were handed out from.
fn rooms(classes: &Classes, so_far: &[Vec<Stored>]) -> HashMap<String, usize> {
    let named = classes.named.iter().map(|(class, room)| (escaped(class), *room));
    let mut rooms: HashMap<String, usize> = named.collect();
    for stored in so_far.iter().flatten() {
        let class = escaped(&stored.task.spec.lane_class());
        let room = rooms.entry(class).or_insert(classes.others);
        *room = room.saturating_sub(usize::from(*room != usize::MAX));
    }
    rooms
}

/// A number of tasks; -1 stands for as many as there are.
fn room_text(room: usize) -> String {
    if room == usize::MAX { "-1".to_owned() } else { room.to_string() }
}

/// The record as the script has stored it.
fn grant(
    mut record: Stored,
    taker: &Taker,
    index: usize,
    granted: Granted,
    now: Timestamp,
) -> Stored {
    record.task.status.take(Grant {
        token: taker.seed.token(index),
        worker: taker.worker.clone(),
        now,
        hold: granted.hold,
        confirm_within: granted.confirm_within,
        max_runtime: granted.max_runtime,
    });
    record.revision.change += 1;
    record
}

/// The random bits of a seed: its first token.
fn seed_bits(seed: Seed) -> u128 {
    seed.token(0).bits()
}

fn read_piece(body: Part, queue: &QueueName) -> Result<Option<Piece>, StoreError> {
    let (word, parts) = body.tagged()?;
    if word != "TAKEN" {
        return Ok(None);
    }
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    let again_at = Some(next().int()?).filter(|ms| *ms > 0).map(Timestamp::from_millis);
    let stopped_at = next().count()?;
    let mut got = Vec::new();
    for taker in next().list()? {
        let mut records = Vec::new();
        for item in taker.list()? {
            let [record, hold, confirm_within, max_runtime] = item.parts()?;
            let (confirm_within, max_runtime) = (span(&confirm_within)?, span(&max_runtime)?);
            let granted = span(&hold)?.map(|hold| Granted { hold, confirm_within, max_runtime });
            if let Some(record) = record.record()? {
                records.push((stored(queue, record)?, granted));
            }
        }
        got.push(records);
    }
    let left_out = next().list()?.into_iter().map(Part::text).collect::<Result<_, _>>()?;
    Ok(Some(Piece { again_at, stopped_at, left_out, got }))
}

/// A length of time; -1 stands for none.
fn span(part: &Part) -> Result<Option<Span>, StoreError> {
    Ok(Some(part.int()?).filter(|ms| *ms >= 0).map(Span::from_millis))
}
