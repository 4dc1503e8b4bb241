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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_core::{Queue, QueueName, Settings, Timestamp};

    use super::*;
    use crate::local::holdings::Holdings;
    use crate::local::index::Kind;

    fn an_index(number: u32) -> QueueIndex {
        let name = QueueName::parse("q").unwrap();
        let settings = Settings::initial(&name);
        let created_at = Timestamp::from_millis(0);
        let queue = Arc::new(Queue { name, settings, paused: false, created_at });
        let mut index = QueueIndex::new(queue, number);
        assert_eq!(index.classes.number(""), ready(1, 0).class);
        index
    }

    fn ready(birth: u64, priority: i8) -> Entry {
        let entry = Entry::new([birth; 2], birth, Kind::Task(State::Ready));
        Entry { at: 7, priority, ..entry }
    }

    #[test]
    fn the_first_move_after_a_version_says_where_a_task_stood() {
        let (mut index, mut moves) = (an_index(3), Moves::default());
        let slot = index.insert(ready(1, 9), &mut Holdings::default());
        for (version, priority) in [(10, 0), (11, 5), (12, -5)] {
            moves.note(version, 3, slot, &ready(1, priority));
        }
        for (version, priority) in [(9, Some(0)), (10, Some(5)), (11, Some(-5)), (12, None)] {
            let stood = priority.map(|priority| ready(1, priority).standing(State::Ready));
            let since = moves.since(version, &index, State::Ready);
            assert_eq!(since.get(&slot).copied(), stood, "{version}");
        }
        assert!(moves.since(9, &index, State::Waiting).is_empty());
        assert!(moves.since(9, &an_index(4), State::Ready).is_empty());
        assert!(moves.since(9, &an_index(3), State::Ready).is_empty(), "its slot is not there");
        index.replace(slot, Some(ready(2, 9)), &mut Holdings::default());
        assert!(moves.since(9, &index, State::Ready).is_empty(), "its slot is another's");
    }

    #[test]
    fn only_so_many_moves_are_remembered() {
        let (mut index, mut moves) = (an_index(3), Moves::default());
        let slots = [1, 2, 3].map(|birth| index.insert(ready(birth, 0), &mut Holdings::default()));
        moves.note(1, 3, slots[0], &ready(1, 5));
        moves.note(2, 3, slots[1], &ready(2, 5));
        (0..MOVES_MAX as u64 - 1).for_each(|n| moves.note(3 + n, 3, slots[2], &ready(3, 5)));
        assert_eq!(moves.recent.len(), MOVES_MAX);
        let since = moves.since(0, &index, State::Ready);
        assert_eq!(slots.map(|slot| since.contains_key(&slot)), [false, true, true]);
    }
}
