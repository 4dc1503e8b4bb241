//! Taking, in pieces that Redis carries out without keeping others waiting.

use punctual_core::task::Grant;
use punctual_core::{QueueName, Seed, Span, Timestamp};

use super::answer::Part;
use super::keys::escaped;
use super::node::Node;
use super::record::stored;
use super::scripts::TAKE;
use crate::port::{StoreError, Stored, Take, Taken, Taker};

/// What one call handed out.
struct Piece {
    again_at: Option<Timestamp>,
    /// The taker, from 1, at which the call reached its limit; 0: it did not.
    stopped_at: usize,
    /// Per taker, records as they were before and their holds, or as they are now.
    got: Vec<Vec<(Stored, Option<Granted>)>>,
}

/// What a script has granted.
struct Granted {
    hold: Span,
    confirm_within: Option<Span>,
}

impl Node {
    pub(super) async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        let mut per_taker: Vec<Vec<Stored>> = take.takers.iter().map(|_| Vec::new()).collect();
        let mut first = 0;
        loop {
            let Some((piece, now)) = self.take_piece(&take, first, &per_taker).await? else {
                return Ok(Taken::NoQueue);
            };
            for (place, got) in piece.got.into_iter().enumerate() {
                let (taker, so_far) = (&take.takers[first + place], &mut per_taker[first + place]);
                for (record, granted) in got {
                    so_far.push(match granted {
                        Some(granted) => grant(record, taker, so_far.len(), granted, now),
                        None => record,
                    });
                }
            }
            if piece.stopped_at == 0 {
                return Ok(Taken::Tasks { per_taker, again_at: piece.again_at });
            }
            first += piece.stopped_at - 1;
        }
    }

    /// One call, for the takers from `first` on.
    async fn take_piece(
        &self,
        take: &Take,
        first: usize,
        so_far: &[Vec<Stored>],
    ) -> Result<Option<(Piece, Timestamp)>, StoreError> {
        let mut call = self.call(&TAKE, self.keys.shard_of(&take.queue)).await;
        let roll = take.takers.get(first).map_or(0, |taker| seed_bits(taker.seed) >> 97);
        call.arg(take.queue.as_str()).arg(roll.to_string());
        match &take.classes {
            None => call.arg(-1),
            Some(classes) => {
                call.arg(classes.len());
                for class in classes {
                    call.arg(escaped(class));
                }
                &mut call
            }
        };
        for (taker, got) in take.takers.iter().zip(so_far).skip(first) {
            let bytes: usize = got.iter().map(|stored| stored.task.spec.payload.len()).sum();
            call.arg(format!("{:032x}", seed_bits(taker.seed))).arg(got.len());
            call.arg(taker.n - got.len()).arg(bytes);
            call.arg(taker.hold.map_or_else(String::new, |hold| hold.as_millis().to_string()));
            call.arg(u8::from(taker.confirm));
            call.arg(taker.worker.as_ref().map_or("", |worker| worker.as_str()));
        }
        let answer = call.send().await?;
        let now = Timestamp::from_millis(answer.now_ms);
        let piece = read_piece(answer.body, &take.queue)?;
        Ok(piece.map(|piece| (piece, now)))
    }
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
            let [record, hold, confirm_within] = item.parts()?;
            let confirm_within = span(&confirm_within)?;
            let granted = span(&hold)?.map(|hold| Granted { hold, confirm_within });
            if let Some(record) = record.record()? {
                records.push((stored(queue, record)?, granted));
            }
        }
        got.push(records);
    }
    Ok(Some(Piece { again_at, stopped_at, got }))
}

/// A length of time; -1 stands for none.
fn span(part: &Part) -> Result<Option<Span>, StoreError> {
    Ok(Some(part.int()?).filter(|ms| *ms >= 0).map(Span::from_millis))
}
