//! Slots in the order of their places.
//!
//! A queue of a million tasks has a million of these entries, and they mostly come in order and leave
//! from the front. So they lie in chunks that are filled to the end before the next is begun, rather
//! than in the nodes of a search tree, which would stay half empty: 24 bytes a task instead of 40.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Where a task stands in an ordered index: its time there, then its birth.
pub(super) type Place = (i64, u64);

/// Entries of a chunk at most. More would make an insertion in the middle dear, fewer the tree of
/// chunks.
const CHUNK_MAX: usize = 128;

type Chunk = VecDeque<(Place, u32)>;

/// Slots in the order of their places, each place once.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// Each chunk under a place that none of its entries comes before, and all of those of the chunks
    /// before it do. None is empty.
    chunks: BTreeMap<Place, Chunk>,
}

impl Ordered {
    /// The first place and its slot.
    pub(super) fn first(&self) -> Option<(Place, u32)> {
        self.chunks.first_key_value()?.1.front().copied()
    }

    pub(super) fn insert(&mut self, place: Place, slot: u32) {
        let Some((_, chunk)) = self.chunks.range_mut(..=place).next_back() else {
            return self.insert_first(place, slot);
        };
        let position = chunk.partition_point(|(other, _)| *other < place);
        if chunk.len() < CHUNK_MAX {
            chunk.insert(position, (place, slot));
        } else if position == CHUNK_MAX {
            self.chunks.insert(place, Chunk::from([(place, slot)]));
        } else {
            let upper = chunk.split_off(CHUNK_MAX / 2);
            self.chunks.insert(upper[0].0, upper);
            self.insert(place, slot);
        }
    }

    /// Inserts what comes before every chunk.
    fn insert_first(&mut self, place: Place, slot: u32) {
        let mut chunk = match self.chunks.first_entry() {
            Some(first) if first.get().len() < CHUNK_MAX => first.remove(),
            _ => Chunk::new(),
        };
        chunk.push_front((place, slot));
        self.chunks.insert(place, chunk);
    }

    /// Removes a place, if it is there.
    pub(super) fn remove(&mut self, place: Place) {
        let Some((&under, chunk)) = self.chunks.range_mut(..=place).next_back() else { return };
        let Ok(position) = chunk.binary_search_by_key(&place, |(other, _)| *other) else { return };
        chunk.remove(position);
        if chunk.is_empty() {
            self.chunks.remove(&under);
        } else if chunk.len() <= chunk.capacity() / 4 {
            chunk.shrink_to(chunk.capacity() / 2);
        }
    }

    /// All after a place, or all there are.
    pub(super) fn after(&self, place: Option<Place>) -> impl Iterator<Item = (Place, u32)> {
        let chunk_of = |place| self.chunks.range(..=place).next_back();
        let from = place.and_then(chunk_of).map_or(Unbounded, |(under, _)| Included(*under));
        let mut chunks = self.chunks.range((from, Unbounded)).map(|(_, chunk)| chunk);
        let first = chunks.next().map(|chunk| {
            let is_before = |(other, _): &(Place, u32)| place.is_some_and(|place| *other <= place);
            chunk.range(chunk.partition_point(is_before)..)
        });
        first.into_iter().flatten().chain(chunks.flatten()).copied()
    }

    /// All before a place, or all there are, the last first.
    pub(super) fn before(&self, place: Option<Place>) -> impl Iterator<Item = (Place, u32)> {
        let to = place.map_or(Unbounded, Excluded);
        let chunks = self.chunks.range((Unbounded, to)).rev().map(|(_, chunk)| chunk);
        let entries = chunks.flat_map(|chunk| chunk.iter().rev()).copied();
        entries.skip_while(move |(other, _)| place.is_some_and(|place| *other >= place))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Bound::{Excluded, Unbounded};

    use proptest::prelude::*;

    use super::*;

    /// Runs of places, up or down or all about, so that chunks fill, split and empty.
    #[derive(Debug, Clone)]
    enum Step {
        Insert { from: i64, step: i64, count: u64 },
        Remove { from: i64, step: i64, count: u64 },
        RemoveFirst { count: u64 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let run = || (-400i64..400, -3i64..=3, 1u64..300);
        prop_oneof![
            3 => run().prop_map(|(from, step, count)| Step::Insert { from, step, count }),
            1 => run().prop_map(|(from, step, count)| Step::Remove { from, step, count }),
            1 => (1u64..500).prop_map(|count| Step::RemoveFirst { count }),
        ]
    }

    fn places(from: i64, step: i64, count: u64) -> impl Iterator<Item = Place> {
        (0..count).map(move |n| (from + step * n as i64, if step == 0 { n } else { 0 }))
    }

    proptest! {
        #[test]
        fn it_is_a_map_in_order(steps in prop::collection::vec(step(), 1..30), seen in -400i64..400) {
            let (mut ordered, mut oracle) = (Ordered::default(), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Insert { from, step, count } => {
                        for place in places(from, step, count) {
                            if !oracle.contains_key(&place) {
                                let slot = oracle.len() as u32;
                                oracle.insert(place, slot);
                                ordered.insert(place, slot);
                            }
                        }
                    }
                    Step::Remove { from, step, count } => {
                        for place in places(from, step, count) {
                            oracle.remove(&place);
                            ordered.remove(place);
                        }
                    }
                    Step::RemoveFirst { count } => {
                        for _ in 0..count {
                            let first = oracle.pop_first();
                            prop_assert_eq!(ordered.first(), first);
                            first.into_iter().for_each(|(place, _)| ordered.remove(place));
                        }
                    }
                }
                prop_assert_eq!(ordered.chunks.is_empty(), oracle.is_empty());
                prop_assert!(ordered.after(None).eq(oracle.iter().map(|(k, v)| (*k, *v))));
                let rest = oracle.range((Excluded((seen, 5)), Unbounded));
                prop_assert!(ordered.after(Some((seen, 5))).eq(rest.map(|(k, v)| (*k, *v))));
            }
        }
    }

    #[test]
    fn what_comes_in_order_leaves_no_gaps() {
        let mut ordered = Ordered::default();
        (0..1_280).for_each(|n| ordered.insert((n, 0), 0));
        assert_eq!(ordered.chunks.len(), 10);
        // What is left of a large chunk does not keep its room.
        (0..1_280).filter(|n| n % 128 != 0).for_each(|n| ordered.remove((n, 0)));
        assert!(ordered.chunks.values().all(|chunk| chunk.len() == 1 && chunk.capacity() <= 4));
    }
}
