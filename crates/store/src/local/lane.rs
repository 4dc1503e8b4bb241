//! Lanes: the ready tasks of a queue, by priority and class, in hand-out order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::Standing;
use super::ordered::{Ordered, Place};

/// All lanes of a queue.
///
/// A level holds the lanes of one priority. It knows the first place of each, so that the next task
/// is found without looking at every class: there may be as many classes as there are hosts.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    levels: BTreeMap<Reverse<i8>, Level>,
    is_random: bool,
}

#[derive(Debug, Default)]
struct Level {
    lanes: HashMap<u32, Lane>,
    firsts: BTreeSet<(Place, u32)>,
}

/// Ready tasks of one priority and class. A random lane also keeps them in an array to draw from;
/// where in it a task lies is told to the owner of the entries, who hands it back on removal.
#[derive(Debug, Default)]
struct Lane {
    ordered: Ordered,
    array: Vec<u32>,
}

impl Lane {
    fn first(&self) -> Option<Place> {
        self.ordered.first().map(|(place, _)| place)
    }
}

impl Lanes {
    /// No lanes yet, of a queue with random order or not.
    pub(super) fn new(is_random: bool) -> Self {
        Self { levels: BTreeMap::new(), is_random }
    }

    /// Adds a slot and returns its position in the array of its lane.
    pub(super) fn insert(&mut self, (priority, class): (i8, u32), place: Place, slot: u32) -> u32 {
        let level = self.levels.entry(Reverse(priority)).or_default();
        let lane = level.lanes.entry(class).or_default();
        let first = lane.first();
        lane.ordered.insert(place, slot);
        if first.is_none_or(|first| place < first) {
            first.map(|first| level.firsts.remove(&(first, class)));
            level.firsts.insert((place, class));
        }
        if !self.is_random {
            return 0;
        }
        lane.array.push(slot);
        u32::try_from(lane.array.len() - 1).expect("slots are 32-bit")
    }

    /// Removes a slot. If that moves another one in the array, returns it with its new position.
    pub(super) fn remove(
        &mut self,
        (priority, class): (i8, u32),
        place: Place,
        position: u32,
    ) -> Option<(u32, u32)> {
        let level = self.levels.get_mut(&Reverse(priority))?;
        let lane = level.lanes.get_mut(&class)?;
        lane.ordered.remove(place);
        let mut moved = None;
        if self.is_random {
            lane.array.swap_remove(position as usize);
            moved = lane.array.get(position as usize).map(|moved| (*moved, position));
        }
        let next = lane.first();
        if level.firsts.remove(&(place, class))
            && let Some(next) = next
        {
            level.firsts.insert((next, class));
        }
        if next.is_none() {
            level.lanes.remove(&class);
            if level.lanes.is_empty() {
                self.levels.remove(&Reverse(priority));
            }
        }
        moved
    }

    /// The slot to hand out next among the classes that are served, passing over those that may
    /// not be. The search begins where `from` says and leaves there where the first served lane
    /// began: what is not served before it needs no second look by the same take. `roll` decides
    /// where the order is random.
    pub(super) fn next(
        &self,
        serves: impl Fn(u32) -> bool,
        may: impl Fn(u32) -> bool,
        from: &mut Option<(i8, Place)>,
        roll: u64,
    ) -> Option<u32> {
        let (top, place) = from.unwrap_or((i8::MAX, (i64::MIN, 0)));
        self.levels.range(Reverse(top)..).find_map(|(&Reverse(priority), level)| {
            let place = if priority == top { place } else { (i64::MIN, 0) };
            let firsts = level.firsts.range((place, 0)..);
            let mut served = firsts.filter(|(_, class)| serves(*class)).peekable();
            *from = served.peek().map(|(first, _)| (priority, *first)).or(*from);
            let mut best: Option<(Place, u32)> = None;
            for (first, class) in served {
                if best.is_some_and(|(place, _)| place < *first) {
                    break;
                }
                let lane = &level.lanes[class];
                if self.is_random {
                    let drawn = lane.array[(roll % lane.array.len() as u64) as usize];
                    if may(drawn) {
                        return Some(drawn);
                    }
                }
                let candidate = lane.ordered.after(None).find(|(_, slot)| may(*slot));
                best = [best, candidate].into_iter().flatten().min();
            }
            best.map(|(_, slot)| slot)
        })
    }

    /// Whether any task of a class is ready.
    pub(super) fn has(&self, class: u32) -> bool {
        self.levels.values().any(|level| level.lanes.contains_key(&class))
    }

    /// The earliest time in any lane.
    pub(super) fn oldest_at(&self) -> Option<i64> {
        let firsts = self.levels.values().filter_map(|level| level.firsts.first());
        firsts.map(|((at, _), _)| *at).min()
    }

    /// Up to `limit` slots that are asked for after a standing, in hand-out order, with theirs.
    pub(super) fn list(
        &self,
        from: Option<Standing>,
        limit: usize,
        is_asked_for: impl Fn(u32) -> bool,
    ) -> Vec<(Standing, u32)> {
        let mut listed = Vec::new();
        let first = from.map_or(Reverse(i8::MAX), |(priority, _)| priority);
        for (priority, level) in self.levels.range(first..) {
            let from = from.filter(|(last, _)| last == priority).map(|(_, place)| place);
            let room = limit - listed.len();
            let lanes = level.lanes.values();
            let asked_for = |entry: &(Place, u32)| is_asked_for(entry.1);
            let mut some: Vec<_> = lanes
                .flat_map(|lane| lane.ordered.after(from).filter(asked_for).take(room))
                .collect();
            some.sort_unstable();
            let standing = |(place, slot)| ((*priority, place), slot);
            listed.extend(some.into_iter().take(room).map(standing));
            if listed.len() == limit {
                break;
            }
        }
        listed
    }
}
