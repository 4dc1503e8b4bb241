//! The indexes of all owners, in memory: where each lies, and when each is due.
//!
//! An owner is its row in the journal, its version, its two times, and the rows of its items; the
//! record and the items themselves stay on disk. Bundles and votes lie in the shelf of their queue, so
//! that all of them can be taken away with it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;

use hashbrown::HashMap;
use punctual_core::{Owner, OwnerKey, OwnerKind, QueueName, Timestamp};

use super::index::NEVER;
use crate::port::{OwnerListing, Revision};

/// Items whose memory is worth giving back when most of them have gone.
const WORTH_IT: usize = 1_024;

/// What the indexes know of an owner besides its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnerHead {
    /// Its version; the birth is its row in the journal.
    pub(super) revision: Revision,
    /// When it is due in its queue, or [`NEVER`].
    due_at: i64,
    /// When it must be looked after, or [`NEVER`].
    alarm_at: i64,
    /// The time it waits for, if it is a plan, or [`NEVER`].
    timed_at: i64,
}

impl OwnerHead {
    pub(super) fn new(revision: Revision, owner: &Owner) -> Self {
        let millis = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::as_millis);
        let timed_at = match owner {
            Owner::Plan(plan) => plan.timed_at(),
            _ => None,
        };
        Self {
            revision,
            due_at: millis(owner.due_at()),
            alarm_at: millis(owner.alarm_at()),
            timed_at: millis(timed_at),
        }
    }

    /// The time it waits for, if it is a plan, or [`NEVER`].
    pub(super) fn timed_at(&self) -> i64 {
        self.timed_at
    }

    /// Whether somebody may wait for it to be due.
    pub(super) fn is_to_be_due(&self) -> bool {
        self.due_at != NEVER
    }
}

/// An owner.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnerEntry {
    pub(super) head: OwnerHead,
    /// The rows of its items, in their order.
    pub(super) items: VecDeque<u64>,
}

/// The owners of one kind and queue.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    by_name: BTreeMap<Arc<str>, OwnerEntry>,
    due: BTreeSet<(i64, Arc<str>)>,
}

impl Shelf {
    pub(super) fn entries(&self) -> impl Iterator<Item = &OwnerEntry> {
        self.by_name.values()
    }
}

/// The owners that went with a queue, by kind.
pub(super) type Shelves = Vec<(OwnerKind, Shelf)>;

/// Where a list of owners ended.
pub(super) type OwnerPlace = (QueueName, Arc<str>);

/// All owners.
#[derive(Debug, Default)]
pub(super) struct OwnerIndex {
    shelves: [BTreeMap<QueueName, Shelf>; OwnerKind::ALL.len()],
    alarms: BTreeSet<(i64, u64)>,
    /// Plans by the time they wait for.
    timed: BTreeSet<(i64, u64)>,
    stations: HashMap<Arc<str>, QueueName>,
}

impl OwnerIndex {
    pub(super) fn get(&self, key: &OwnerKey) -> Option<&OwnerEntry> {
        self.shelves[key.kind as usize].get(&key.queue)?.by_name.get(&key.name)
    }

    /// Adds an owner.
    pub(super) fn insert(&mut self, key: OwnerKey, entry: OwnerEntry) {
        let OwnerKey { kind, queue, name } = key;
        if kind == OwnerKind::Plan {
            self.stations.insert(Arc::clone(&name), queue.clone());
        }
        let head = entry.head;
        let shelf = self.shelves[kind as usize].entry(queue).or_default();
        if head.due_at != NEVER {
            shelf.due.insert((head.due_at, Arc::clone(&name)));
        }
        if head.alarm_at != NEVER {
            self.alarms.insert((head.alarm_at, head.revision.birth));
        }
        if head.timed_at != NEVER {
            self.timed.insert((head.timed_at, head.revision.birth));
        }
        shelf.by_name.insert(name, entry);
    }

    /// Takes an owner away.
    pub(super) fn remove(&mut self, key: &OwnerKey) -> Option<OwnerEntry> {
        let shelves = &mut self.shelves[key.kind as usize];
        let shelf = shelves.get_mut(&key.queue)?;
        let (name, entry) = shelf.by_name.remove_entry(&key.name)?;
        shelf.due.remove(&(entry.head.due_at, name));
        if shelf.by_name.is_empty() {
            shelves.remove(&key.queue);
        }
        if key.kind == OwnerKind::Plan {
            self.stations.remove(&key.name);
        }
        self.alarms.remove(&(entry.head.alarm_at, entry.head.revision.birth));
        self.timed.remove(&(entry.head.timed_at, entry.head.revision.birth));
        Some(entry)
    }

    /// Changes an owner, and the rows of its items with it. Nothing else is touched.
    pub(super) fn update(
        &mut self,
        key: &OwnerKey,
        head: OwnerHead,
        edit: impl FnOnce(&mut VecDeque<u64>),
    ) {
        let shelf = self.shelves[key.kind as usize].get_mut(&key.queue);
        let Some(Shelf { by_name, due }) = shelf else { return };
        let Entry::Occupied(mut found) = by_name.entry(Arc::clone(&key.name)) else { return };
        let name = Arc::clone(found.key());
        let entry = found.get_mut();
        let before = std::mem::replace(&mut entry.head, head);
        edit(&mut entry.items);
        if entry.items.capacity() > WORTH_IT && entry.items.len() < entry.items.capacity() / 4 {
            entry.items.shrink_to_fit();
        }
        if before.due_at != head.due_at {
            due.remove(&(before.due_at, Arc::clone(&name)));
            if head.due_at != NEVER {
                due.insert((head.due_at, name));
            }
        }
        if before.alarm_at != head.alarm_at {
            self.alarms.remove(&(before.alarm_at, before.revision.birth));
            if head.alarm_at != NEVER {
                self.alarms.insert((head.alarm_at, head.revision.birth));
            }
        }
        if before.timed_at != head.timed_at {
            self.timed.remove(&(before.timed_at, before.revision.birth));
            if head.timed_at != NEVER {
                self.timed.insert((head.timed_at, head.revision.birth));
            }
        }
    }

    /// Takes all owners away that go with a queue.
    pub(super) fn detach(&mut self, queue: &QueueName) -> Shelves {
        let kinds = OwnerKind::ALL.into_iter().filter(|kind| kind.goes_with_queue());
        let shelf = |kind| Some((kind, self.shelves[kind as usize].remove(queue)?));
        let gone: Shelves = kinds.filter_map(shelf).collect();
        for OwnerEntry { head, .. } in gone.iter().flat_map(|(_, shelf)| shelf.entries()) {
            self.alarms.remove(&(head.alarm_at, head.revision.birth));
        }
        gone
    }

    /// Puts the owners of a queue back.
    pub(super) fn attach(&mut self, queue: &QueueName, gone: Shelves) {
        for (kind, shelf) in gone {
            for OwnerEntry { head, .. } in shelf.entries().filter(|e| e.head.alarm_at != NEVER) {
                self.alarms.insert((head.alarm_at, head.revision.birth));
            }
            self.shelves[kind as usize].insert(queue.clone(), shelf);
        }
    }

    /// How many bundles a queue has.
    pub(super) fn bundles(&self, queue: &QueueName) -> u64 {
        let shelf = self.shelves[OwnerKind::Bundle as usize].get(queue);
        shelf.map_or(0, |shelf| shelf.by_name.len() as u64)
    }

    /// The queue of a plan.
    pub(super) fn station(&self, plan: &str) -> Option<&QueueName> {
        self.stations.get(plan)
    }

    /// The bundle of a queue that is due first.
    pub(super) fn first_due(&self, queue: &QueueName) -> Option<&OwnerEntry> {
        let shelf = self.shelves[OwnerKind::Bundle as usize].get(queue)?;
        let (_, name) = shelf.due.first()?;
        shelf.by_name.get(name)
    }

    /// Rows of owners whose alarm has come, the earliest first.
    pub(super) fn alarms(&self, now: Timestamp) -> impl Iterator<Item = u64> {
        self.alarms.range(..=(now.as_millis(), u64::MAX)).map(|(_, birth)| *birth)
    }

    /// The next alarm after `now`.
    pub(super) fn next_alarm(&self, now: Timestamp) -> Option<i64> {
        self.alarms.range((now.as_millis(), u64::MAX)..).next().map(|(at, _)| *at)
    }

    /// Times and rows of plans by the time they wait for, those after a place.
    pub(super) fn timed(&self, after: Option<(i64, u64)>) -> impl Iterator<Item = (i64, u64)> {
        self.timed.range((after.map_or(Unbounded, Excluded), Unbounded)).copied()
    }

    /// Up to `limit` rows of a list after a place, and the place of the last if more follow.
    pub(super) fn list(
        &self,
        listing: &OwnerListing,
        after: Option<&OwnerPlace>,
    ) -> (Vec<u64>, Option<OwnerPlace>) {
        let shelves = &self.shelves[listing.kind as usize];
        let from = after.map(|(queue, _)| queue).max(listing.queue.as_ref());
        let from = from.map_or(Unbounded, Included);
        let shelves = shelves
            .range::<QueueName, _>((from, Unbounded))
            .take_while(|(queue, _)| listing.queue.as_ref().is_none_or(|only| only == *queue));
        let found = shelves.flat_map(|(queue, shelf)| {
            let last = after.filter(|(last, _)| last == queue).map(|(_, name)| &**name);
            let from = match last.filter(|last| *last >= listing.prefix.as_str()) {
                Some(last) => Excluded(last),
                None => Included(listing.prefix.as_str()),
            };
            let names = shelf.by_name.range::<str, _>((from, Unbounded));
            let names = names.take_while(|(name, _)| name.starts_with(&listing.prefix));
            names.map(move |(name, entry)| (queue, name, entry.head.revision.birth))
        });
        let mut births = Vec::new();
        let mut place = None;
        for (queue, name, birth) in found {
            if births.len() == listing.limit {
                return (
                    births,
                    place.map(|(q, n): (&QueueName, &Arc<str>)| (q.clone(), n.clone())),
                );
            }
            births.push(birth);
            place = Some((queue, name));
        }
        (births, None)
    }

    /// All there is, for comparison.
    #[cfg(test)]
    pub(super) fn picture(&self) -> String {
        let stations: BTreeMap<_, _> = self.stations.iter().collect();
        format!("{:#?} {:?} {:?} {stations:?}", self.shelves, self.alarms, self.timed)
    }
}
