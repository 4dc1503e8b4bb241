//! Pushing, in pieces that Redis carries out without keeping others waiting.

use std::sync::Arc;

use punctual_core::{OwnerRef, Spec};
use serde::{Deserialize, Serialize};

use super::answer::Part;
use super::call::Call;
use super::fields::corrupt;
use super::node::Node;
use super::record::{is_big, lane, spec_fields};
use super::scripts::PUSH;
use crate::format;
use crate::port::{Keyed, KeyedItem, Push, PushRefusal, Pushed, Revision, StoreError};

/// Tasks pushed by one call.
const TASKS_MAX: usize = 500;
/// Payload bytes pushed by one call, but for a single task.
const BYTES_MAX: usize = 4 << 20;

/// What is kept of a keyed request for whoever repeats it.
#[derive(Serialize, Deserialize)]
pub(super) struct Blob {
    pub(super) status: u16,
    pub(super) items: Vec<KeyedItem>,
    pub(super) positions: Vec<usize>,
}

impl Blob {
    /// What a request asks to be remembered, packed.
    pub(super) fn pack(keyed: &Keyed) -> Vec<u8> {
        let (items, positions) = (keyed.items.clone(), keyed.positions.clone());
        Self { status: keyed.status, items, positions }.packed()
    }

    pub(super) fn packed(&self) -> Vec<u8> {
        format::marked(self)
    }

    /// Reads what was remembered.
    pub(super) fn unpack(bytes: &[u8]) -> Result<Self, StoreError> {
        format::unpack_marked(bytes).map_err(|error| corrupt("a keyed request", error))
    }
}

impl Call<'_> {
    /// Adds a task to push.
    pub(super) fn task(&mut self, spec: &Spec) -> &mut Self {
        let expires = spec.expires.map_or_else(String::new, |at| at.as_millis().to_string());
        let is_big = is_big(spec);
        self.arg(spec.id.as_str()).arg(lane(spec)).arg(spec.due_at.as_millis()).arg(expires);
        let delivers = matches!(spec.owner, Some(OwnerRef::Bundle(_)));
        self.arg(u8::from(is_big)).arg(u8::from(delivers)).counted(&spec_fields(spec));
        if is_big {
            self.arg(spec.payload.as_str());
        }
        self
    }
}

/// How many tasks go into the next call.
fn next_piece(tasks: &[Arc<Spec>]) -> usize {
    let mut bytes = 0;
    let fits = |spec: &&Arc<Spec>| {
        bytes += spec.payload.len();
        bytes <= BYTES_MAX
    };
    tasks.iter().take(TASKS_MAX).take_while(fits).count().max(1).min(tasks.len())
}

/// Why a task was not pushed, by the letter; none: it was.
pub(super) fn refusal(letter: u8) -> Option<PushRefusal> {
    match letter {
        b'k' => None,
        b'o' => Some(PushRefusal::Owned),
        b'f' => Some(PushRefusal::Full),
        _ => Some(PushRefusal::Duplicate),
    }
}

/// What came of one call.
enum Piece {
    Pushed { letters: Vec<u8>, birth: u64 },
    Replayed { letters: Vec<u8>, blob: Vec<u8> },
    KeyReused,
    NoQueue,
}

impl Node {
    pub(super) async fn push(&self, push: Push) -> Result<Pushed, StoreError> {
        let Push { queue, mut tasks, keyed } = push;
        let mut run = Run { letters: Vec::new(), births: Vec::new(), replayed: None };
        loop {
            let done = run.letters.len();
            let count = next_piece(&tasks[done..]);
            let mut call = self.call(&PUSH, self.keys.shard_of(&queue)).await;
            call.arg(queue.as_str());
            keyed_args(&mut call, keyed.as_ref(), tasks.len(), done);
            for spec in &tasks[done..done + count] {
                call.task(spec);
            }
            match piece(call.send().await?.body)? {
                Piece::NoQueue => return Ok(Pushed::NoQueue),
                Piece::KeyReused => return Ok(Pushed::KeyReused),
                Piece::Pushed { letters, birth } => run.note(&letters, birth),
                Piece::Replayed { letters, blob } => {
                    // The request came before, perhaps not to its end: the rest of it is pushed under
                    // the ids it was given then.
                    run.resume(letters, Blob::unpack(&blob)?, &mut tasks);
                }
            }
            if run.letters.len() >= tasks.len() {
                return Ok(run.outcome());
            }
        }
    }
}

fn keyed_args(call: &mut Call<'_>, keyed: Option<&Keyed>, total: usize, done: usize) {
    let Some(keyed) = keyed else {
        call.arg("").arg("").arg(0).arg(total).arg(done).arg("");
        return;
    };
    call.arg(&keyed.key.to_be_bytes()[..]).arg(&keyed.request.to_be_bytes()[..]);
    call.arg(u8::from(keyed.single)).arg(total).arg(done).arg(Blob::pack(keyed));
}

fn piece(body: Part) -> Result<Piece, StoreError> {
    let (word, parts) = body.tagged()?;
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    Ok(match word.as_str() {
        "PUSHED" => {
            let letters = next().bytes()?;
            Piece::Pushed { letters, birth: next().int()?.unsigned_abs() }
        }
        "REPLAYED" => Piece::Replayed { letters: next().bytes()?, blob: next().bytes()? },
        "REUSED" => Piece::KeyReused,
        _ => Piece::NoQueue,
    })
}

/// A push on its way through its pieces.
struct Run {
    /// What came of each task so far, by the letter.
    letters: Vec<u8>,
    births: Vec<Option<u64>>,
    replayed: Option<Blob>,
}

impl Run {
    fn note(&mut self, letters: &[u8], mut birth: u64) {
        for letter in letters {
            self.letters.push(*letter);
            self.births.push((*letter == b'k').then_some(birth));
            birth += u64::from(*letter == b'k');
        }
    }

    fn resume(&mut self, letters: Vec<u8>, blob: Blob, tasks: &mut [Arc<Spec>]) {
        for (spec, position) in tasks.iter_mut().zip(&blob.positions) {
            if let Some(id) = blob.items.get(*position).and_then(|item| item.id.clone()) {
                *spec = Arc::new(Spec { id, ..Spec::clone(spec) });
            }
        }
        self.births = vec![None; letters.len()];
        self.letters = letters;
        self.replayed = Some(blob);
    }

    fn outcome(self) -> Pushed {
        if let Some(Blob { status, mut items, positions }) = self.replayed {
            for (position, letter) in positions.into_iter().zip(self.letters) {
                items[position].code = refusal(letter).map(|refusal| refusal.code().to_owned());
            }
            return Pushed::Replayed { status, items };
        }
        let answer = |(letter, birth): (u8, Option<u64>)| match refusal(letter) {
            Some(refusal) => Err(refusal),
            None => Ok(Revision { birth: birth.unwrap_or(0), change: 0 }),
        };
        Pushed::Answers(self.letters.into_iter().zip(self.births).map(answer).collect())
    }
}
