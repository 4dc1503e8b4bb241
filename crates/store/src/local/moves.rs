//! Tasks that lately moved within their state: to another priority, or to another time.
//!
//! A list that is read page by page shows a task where it stood when the list began; otherwise one
//! that moves over the end of a page would be shown twice, or not at all. Every move is given a birth
//! as its version. A list knows by the last birth before its first page which moves came later; the
//! first of those says where the task stood.

use std::collections::VecDeque;

use hashbrown::HashMap;
use punctual_core::State;

use super::index::{Entry, QueueIndex, Standing};

/// Moves that are remembered, of all queues together.
const MOVES_MAX: usize = 65_536;

/// Where tasks stood that have moved, by their slots.
pub(super) type Moved = HashMap<u32, Standing>;

/// The last moves, by version.
#[derive(Debug, Default)]
pub(super) struct Moves {
    recent: VecDeque<Move>,
}

#[derive(Debug)]
struct Move {
    version: u64,
    queue: u32,
    slot: u32,
    state: State,
    before: Standing,
}

impl Moves {
    /// Remembers where a task of a queue stood. It does no harm if the move is undone: the task is
    /// then listed where it stands.
    pub(super) fn note(&mut self, version: u64, queue: u32, slot: u32, before: &Entry) {
        let Some(state) = before.state() else { return };
        if self.recent.len() == MOVES_MAX {
            self.recent.pop_front();
        }
        let before = before.standing(state);
        self.recent.push_back(Move { version, queue, slot, state, before });
    }

    /// The tasks in a state of a queue that have moved within it since a version.
    pub(super) fn since(&self, version: u64, index: &QueueIndex, state: State) -> Moved {
        let first = self.recent.partition_point(|moved| moved.version <= version);
        let mut stood = Moved::new();
        for moved in self.recent.range(first..) {
            let (_, (_, birth)) = moved.before;
            let is_of_list = moved.queue == index.number && moved.state == state;
            if is_of_list && index.is_in(moved.slot, birth, state) {
                stood.entry(moved.slot).or_insert(moved.before);
            }
        }
        stood
    }
}
