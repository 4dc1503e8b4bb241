//! A lane: the ready tasks of one priority and class, in hand-out order.

use std::collections::BTreeMap;

/// Where a task stands in an ordered index: its time there, then its birth.
pub(super) type Place = (i64, u64);

/// Ready tasks in order. A random lane also keeps them in an array to draw from; where in it a task
/// lies is told to the owner of the entries, who hands it back on removal.
#[derive(Debug, Default)]
pub(super) struct Lane {
    ordered: BTreeMap<Place, u32>,
    drawn_from: Option<Vec<u32>>,
}

impl Lane {
    pub(super) fn new(is_random: bool) -> Self {
        Self { ordered: BTreeMap::new(), drawn_from: is_random.then(Vec::new) }
    }

    /// Adds a slot and returns its position in the array.
    pub(super) fn insert(&mut self, place: Place, slot: u32) -> u32 {
        self.ordered.insert(place, slot);
        let Some(array) = &mut self.drawn_from else { return 0 };
        array.push(slot);
        u32::try_from(array.len() - 1).expect("slots are 32-bit")
    }

    /// Removes a slot. If that moves another one in the array, returns it with its new position.
    pub(super) fn remove(&mut self, place: Place, position: u32) -> Option<(u32, u32)> {
        self.ordered.remove(&place);
        let array = self.drawn_from.as_mut()?;
        array.swap_remove(position as usize);
        array.get(position as usize).map(|moved| (*moved, position))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    /// The oldest.
    pub(super) fn first(&self) -> Option<(Place, u32)> {
        self.ordered.first_key_value().map(|(place, slot)| (*place, *slot))
    }

    /// One at random, in a random lane.
    pub(super) fn draw(&self, roll: u64) -> Option<u32> {
        let array = self.drawn_from.as_ref().filter(|array| !array.is_empty())?;
        Some(array[(roll % array.len() as u64) as usize])
    }

    /// All after a place, in order.
    pub(super) fn after(&self, place: Option<Place>) -> impl Iterator<Item = (Place, u32)> {
        after(&self.ordered, place)
    }
}

/// The entries of an ordered index after a place.
pub(super) fn after(
    index: &BTreeMap<Place, u32>,
    place: Option<Place>,
) -> impl Iterator<Item = (Place, u32)> {
    use std::ops::Bound::{Excluded, Unbounded};
    let from = place.map_or(Unbounded, Excluded);
    index.range((from, Unbounded)).map(|(place, slot)| (*place, *slot))
}
