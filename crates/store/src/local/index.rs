//! The indexes of one queue, in memory.
//!
//! A task is a 64-byte [`Entry`] in a slab. From the entry alone follows everywhere it is linked:
//! the table of ids, its lane or shelf, its timer, the counts. [`QueueIndex::replace`] is the one
//! way to change an entry, so links cannot go out of step, and putting the old entry back undoes a
//! change.
//!
//! | state | lies in | timer |
//! |---|---|---|
//! | ready | its lane | `expires`, on the wall clock |
//! | waiting, paused | a shelf by time, or by birth | `expires`, on the wall clock |
//! | held | a shelf by birth | end of the hold, on the steady clock |
//! | finished | a shelf by end | end of its keeping, on the wall clock |
//! | reserved id | nowhere | end of the reservation, on the wall clock |

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashTable;
use punctual_core::queue::Order;
use punctual_core::{Queue, State, Timestamp};

use super::bucket::Bucket;
use super::classes::Room;
use super::holdings::{Holdings, NOBODY};
use super::lane::Lanes;
use super::moves::Moved;
use super::numbers::Numbers;
use super::ordered::{Ordered, Place};
use super::readers::Spot;
use crate::port::Sort;

/// Where a list shows a task of a state: its priority, the highest first, then its place. Only ready
/// tasks go by their priority.
pub(super) type Standing = (Reverse<i8>, Place);

/// No timer.
pub(super) const NEVER: i64 = i64::MAX;

/// What the indexes know of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Hash of its id.
    pub(super) id: [u64; 2],
    /// Its row in the journal, and the order of pushes.
    pub(super) birth: u64,
    /// When it became or becomes ready; while held, when that ends; once finished, when it ended.
    pub(super) at: i64,
    /// Its timer, or [`NEVER`].
    pub(super) timer_at: i64,
    /// The version of its record.
    pub(super) change: u32,
    /// Size of its payload.
    pub(super) bytes: u32,
    /// Its lane class, as numbered by its queue.
    pub(super) class: u32,
    /// Its position in the array of a random lane.
    pub(super) position: u32,
    /// Who holds it, as numbered by [`Holdings`], if that is kept: in queues of mode dispatch.
    pub(super) holder: u32,
    /// Its priority.
    pub(super) priority: i8,
    /// What it is.
    pub(super) kind: Kind,
    /// Whether it delivers a bundle.
    pub(super) delivers: bool,
    /// Whether its status row can be told from this entry alone: pushed, and untouched since.
    pub(super) is_plain: bool,
}

const _: () = assert!(size_of::<Entry>() == 64);

/// What an entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A task in a state.
    Task(State),
    /// A reserved id.
    Reserved,
    /// Nothing: the slot is free.
    Free,
}

impl Entry {
    /// An entry that is not linked anywhere yet.
    pub(super) fn new(id: [u64; 2], birth: u64, kind: Kind) -> Self {
        Self {
            id,
            birth,
            at: 0,
            timer_at: NEVER,
            change: 0,
            bytes: 0,
            class: 0,
            position: 0,
            holder: NOBODY,
            priority: 0,
            kind,
            delivers: false,
            is_plain: false,
        }
    }

    pub(super) fn state(&self) -> Option<State> {
        match self.kind {
            Kind::Task(state) => Some(state),
            _ => None,
        }
    }

    /// The task, if it is one.
    pub(super) fn spot(&self) -> Option<Spot> {
        let Self { birth, change, .. } = *self;
        self.state().map(|state| Spot { birth, change, state })
    }

    pub(super) fn is_held(&self) -> bool {
        self.state().is_some_and(State::is_held)
    }

    fn is_live_delivery(&self) -> bool {
        self.delivers && self.state().is_some_and(|state| !state.is_finished())
    }

    /// Its lane.
    fn lane(&self) -> (i8, u32) {
        (self.priority, self.class)
    }

    /// Its place in the shelf of its state.
    fn place(&self, state: State) -> Place {
        let at = match state {
            State::Waiting | State::Ready | State::Done | State::Failed | State::Cancelled => {
                self.at
            }
            _ => 0,
        };
        (at, self.birth)
    }

    /// Where a list shows it among those of its state.
    pub(super) fn standing(&self, state: State) -> Standing {
        let priority = if state == State::Ready { self.priority } else { 0 };
        (Reverse(priority), self.place(state))
    }

    /// Whether it is in the same state as before, but at another place there.
    pub(super) fn has_moved_from(&self, before: &Self) -> bool {
        let has_moved = |state| self.standing(state) != before.standing(state);
        self.state() == before.state() && self.state().is_some_and(has_moved)
    }
}

/// The indexes of one queue.
pub(super) struct QueueIndex {
    /// Its record.
    pub(super) queue: Arc<Queue>,
    /// Its number in the journal.
    pub(super) number: u32,
    /// What its rate limit still allows.
    pub(super) bucket: Bucket,
    /// Tasks per state.
    pub(super) counts: [u64; State::ALL.len()],
    /// Live tasks that deliver bundles.
    deliveries: u64,
    slab: Vec<Entry>,
    free: Vec<u32>,
    ids: HashTable<u32>,
    lanes: Lanes,
    shelves: [Ordered; State::ALL.len()],
    wall_timers: Ordered,
    hold_timers: Ordered,
    /// The classes of its tasks, numbered.
    pub(super) classes: Numbers,
}

impl QueueIndex {
    pub(super) fn new(queue: Arc<Queue>, number: u32) -> Self {
        let is_random = queue.settings.order == Order::Random;
        Self {
            queue,
            number,
            bucket: Bucket::default(),
            counts: [0; State::ALL.len()],
            deliveries: 0,
            slab: Vec::new(),
            free: Vec::new(),
            ids: HashTable::new(),
            lanes: Lanes::new(is_random),
            shelves: Default::default(),
            wall_timers: Ordered::default(),
            hold_timers: Ordered::default(),
            classes: Numbers::default(),
        }
    }

    /// Live tasks that count against its `max`: all but those that deliver bundles.
    pub(super) fn counted(&self) -> u64 {
        let live = State::ALL.into_iter().filter(|state| !state.is_finished());
        live.map(|state| self.count(state)).sum::<u64>() - self.deliveries
    }

    /// Tasks somebody has.
    pub(super) fn held(&self) -> u64 {
        State::ALL.into_iter().filter(|s| s.is_held()).map(|s| self.count(s)).sum()
    }

    pub(super) fn count(&self, state: State) -> u64 {
        self.counts[state as usize]
    }

    /// The slot of an id.
    pub(super) fn find(&self, id: [u64; 2]) -> Option<u32> {
        self.ids.find(id[0], |slot| self.slab[*slot as usize].id == id).copied()
    }

    pub(super) fn entry(&self, slot: u32) -> &Entry {
        &self.slab[slot as usize]
    }

    /// Adds an entry and returns its slot.
    pub(super) fn insert(&mut self, entry: Entry, holdings: &mut Holdings) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slab.push(Entry::new([0; 2], 0, Kind::Free));
            u32::try_from(self.slab.len() - 1).expect("fewer than 4 billion tasks in a queue")
        });
        self.link(slot, entry);
        holdings.moved(self.number, None, Some(&entry));
        slot
    }

    /// Changes what lies in a slot: another entry, or nothing. Returns what was there.
    pub(super) fn replace(
        &mut self,
        slot: u32,
        entry: Option<Entry>,
        holdings: &mut Holdings,
    ) -> Entry {
        let before = self.unlink(slot);
        holdings.moved(self.number, Some(&before), entry.as_ref());
        match entry {
            Some(entry) => self.link(slot, entry),
            None => self.free.push(slot),
        }
        before
    }

    /// Puts back what [`Self::insert`] or [`Self::replace`] changed: `before` is what was there.
    pub(super) fn restore(&mut self, slot: u32, before: Option<Entry>, holdings: &mut Holdings) {
        match (self.slab.get(slot as usize).map(|entry| entry.kind), before) {
            (Some(Kind::Free), None) => {}
            (Some(Kind::Free), Some(entry)) => {
                self.free.retain(|free| *free != slot);
                self.link(slot, entry);
                holdings.moved(self.number, None, Some(&entry));
            }
            (Some(_), before) => {
                self.replace(slot, before, holdings);
            }
            (None, _) => debug_assert!(false, "a slab never shrinks below a slot to be restored"),
        }
    }

    fn link(&mut self, slot: u32, mut entry: Entry) {
        match entry.kind {
            Kind::Free => return,
            Kind::Reserved => {}
            Kind::Task(State::Ready) => {
                entry.position = self.lanes.insert(entry.lane(), entry.place(State::Ready), slot);
            }
            Kind::Task(state) => {
                self.shelves[state as usize].insert(entry.place(state), slot);
            }
        }
        if let Kind::Task(state) = entry.kind {
            self.counts[state as usize] += 1;
            self.deliveries += u64::from(entry.is_live_delivery());
            self.classes.enter(entry.class);
        }
        if entry.timer_at != NEVER {
            let timer = (entry.timer_at, entry.birth);
            self.timers(&entry).insert(timer, slot);
        }
        self.slab[slot as usize] = entry;
        let slab = &self.slab;
        self.ids.insert_unique(entry.id[0], slot, |slot| slab[*slot as usize].id[0]);
    }

    fn unlink(&mut self, slot: u32) -> Entry {
        let entry = self.slab[slot as usize];
        match entry.kind {
            Kind::Free => return entry,
            Kind::Reserved => {}
            Kind::Task(State::Ready) => self.leave_lane(&entry),
            Kind::Task(state) => {
                self.shelves[state as usize].remove(entry.place(state));
            }
        }
        if let Kind::Task(state) = entry.kind {
            self.counts[state as usize] -= 1;
            self.deliveries -= u64::from(entry.is_live_delivery());
            self.classes.leave(entry.class);
        }
        if entry.timer_at != NEVER {
            let timer = (entry.timer_at, entry.birth);
            self.timers(&entry).remove(timer);
        }
        if let Ok(found) = self.ids.find_entry(entry.id[0], |other| *other == slot) {
            found.remove();
        }
        self.slab[slot as usize].kind = Kind::Free;
        entry
    }

    fn leave_lane(&mut self, entry: &Entry) {
        let moved = self.lanes.remove(entry.lane(), entry.place(State::Ready), entry.position);
        if let Some((moved, position)) = moved {
            self.slab[moved as usize].position = position;
        }
    }

    fn timers(&mut self, entry: &Entry) -> &mut Ordered {
        match entry.kind {
            Kind::Task(state) if state.is_held() => &mut self.hold_timers,
            _ => &mut self.wall_timers,
        }
    }

    /// Gives back what nothing needs any more: the memory of a large backlog, the numbers of
    /// classes. Not while a change may be undone.
    pub(super) fn tidy(&mut self) {
        const WORTH_IT: usize = 4_096;
        self.classes.forget_idle();
        if self.free.len() == self.slab.len() && self.slab.len() > WORTH_IT {
            self.slab = Vec::new();
            self.free = Vec::new();
            self.ids = HashTable::new();
        }
    }

    /// Takes a changed record; a changed order rebuilds the lanes.
    pub(super) fn set_queue(&mut self, queue: Arc<Queue>) -> Arc<Queue> {
        let is_reordered = queue.settings.order != self.queue.settings.order;
        if queue.settings.rate != self.queue.settings.rate {
            self.bucket = Bucket::default();
        }
        let before = std::mem::replace(&mut self.queue, queue);
        if is_reordered {
            let ready = self.lanes.list(None, usize::MAX, |_| true);
            self.lanes = Lanes::new(self.queue.settings.order == Order::Random);
            for ((_, place), slot) in ready {
                let lane = self.slab[slot as usize].lane();
                self.slab[slot as usize].position = self.lanes.insert(lane, place, slot);
            }
        }
        before
    }

    /// The slot the next taker gets among the classes with room, passing over tasks that have
    /// expired. One take passes the same `from` again, so that it does not look twice at what it
    /// cannot serve. `roll` decides in a queue of random order.
    pub(super) fn next_ready(
        &self,
        room: &Room,
        from: &mut Option<(i8, Place)>,
        now: Timestamp,
        roll: u64,
    ) -> Option<u32> {
        let is_fresh = |slot: u32| self.slab[slot as usize].timer_at > now.as_millis();
        let serves = |class| room.is_left(class) && room.covers(self.classes.name(class));
        self.lanes.next(serves, is_fresh, from, roll)
    }

    /// Classes with ready tasks whose room is used up.
    pub(super) fn left_out(&self, room: &Room) -> Vec<Arc<str>> {
        let used_up = room.used_up().filter(|class| self.lanes.has(*class));
        used_up.map(|class| Arc::clone(self.classes.name(class))).collect()
    }

    /// When the oldest ready task became ready.
    pub(super) fn oldest_ready_at(&self) -> Option<Timestamp> {
        self.lanes.oldest_at().map(Timestamp::from_millis)
    }

    /// Waiting tasks that are due, soonest first.
    pub(super) fn first_due(&self, now: Timestamp) -> Option<u32> {
        let ((at, _), slot) = self.shelves[State::Waiting as usize].first()?;
        (at <= now.as_millis()).then_some(slot)
    }

    /// Slots whose wall timer has passed.
    pub(super) fn passed_on_wall(&self, now: Timestamp) -> impl Iterator<Item = u32> {
        passed(&self.wall_timers, now.as_millis())
    }

    /// Slots whose hold has ended.
    pub(super) fn passed_holds(&self, steady_ms: i64) -> impl Iterator<Item = u32> {
        passed(&self.hold_timers, steady_ms)
    }

    /// The next time on the wall clock at which something happens, after `now`.
    pub(super) fn next_on_wall(&self, now: Timestamp) -> Option<i64> {
        let due = self.shelves[State::Waiting as usize].first().map(|((at, _), _)| at);
        [due, next(&self.wall_timers, now.as_millis())].into_iter().flatten().min()
    }

    /// The next time on the steady clock at which a hold ends, after `steady_ms`.
    pub(super) fn next_hold_end(&self, steady_ms: i64) -> Option<i64> {
        next(&self.hold_timers, steady_ms)
    }

    /// Whether a slot holds the task of a birth, in a state.
    pub(super) fn is_in(&self, slot: u32, birth: u64, state: State) -> bool {
        let entry = self.slab.get(slot as usize);
        entry.is_some_and(|entry| entry.birth == birth && entry.state() == Some(state))
    }

    /// Up to `limit` slots of a state after a place, with the place of each; ready ones in hand-out
    /// order. What has moved since the list began stands where it stood then.
    pub(super) fn list(
        &self,
        state: State,
        from: Option<Standing>,
        limit: usize,
        moved: &Moved,
    ) -> Vec<(Standing, u32)> {
        let stays = |slot: u32| !moved.contains_key(&slot);
        let mut listed = if state == State::Ready {
            self.lanes.list(from, limit, stays)
        } else {
            let all = self.shelves[state as usize].after(from.map(|(_, place)| place));
            let staying = all.filter(|(_, slot)| stays(*slot)).take(limit);
            staying.map(|(place, slot)| ((Reverse(0), place), slot)).collect()
        };
        if !moved.is_empty() {
            let stood = moved.iter().map(|(slot, standing)| (*standing, *slot));
            listed.extend(stood.filter(|(standing, _)| from.is_none_or(|from| *standing > from)));
            listed.sort_unstable();
            listed.truncate(limit);
        }
        listed
    }

    /// Up to `limit` slots of finished tasks of some states, as one list, with the place of each.
    pub(super) fn list_finished(
        &self,
        states: &[State],
        sort: Sort,
        from: Option<Place>,
        limit: usize,
    ) -> Vec<(Place, u32)> {
        let shelves = states.iter().filter(|state| state.is_finished());
        let shelves = shelves.map(|state| &self.shelves[*state as usize]);
        let mut listed: Vec<(Place, u32)> = match sort {
            Sort::Oldest => shelves.flat_map(|shelf| shelf.after(from).take(limit)).collect(),
            Sort::Newest => shelves.flat_map(|shelf| shelf.before(from).take(limit)).collect(),
        };
        listed.sort_unstable();
        if sort == Sort::Newest {
            listed.reverse();
        }
        listed.truncate(limit);
        listed
    }

    /// Entries of tasks whose holders are kept.
    pub(super) fn holdings(&self) -> impl Iterator<Item = &Entry> {
        let held = State::ALL.into_iter().filter(|state| state.is_held());
        let slots = held.flat_map(|state| self.shelves[state as usize].after(None));
        slots.map(|(_, slot)| self.entry(slot)).filter(|entry| entry.holder != NOBODY)
    }

    /// Births of ids that are reserved, after one of them: the first so many.
    pub(super) fn reserved(&self, after: u64, limit: usize) -> Vec<u64> {
        let is_next = |entry: &&Entry| entry.kind == Kind::Reserved && entry.birth > after;
        let mut births: Vec<u64> = self.slab.iter().filter(is_next).map(|e| e.birth).collect();
        births.sort_unstable();
        births.truncate(limit);
        births
    }

    /// Births of everything it holds, for a sweep.
    pub(super) fn births(&self) -> Vec<u64> {
        self.slab.iter().filter(|entry| entry.kind != Kind::Free).map(|e| e.birth).collect()
    }
}

fn passed(timers: &Ordered, now: i64) -> impl Iterator<Item = u32> {
    timers.after(None).take_while(move |((at, _), _)| *at <= now).map(|(_, slot)| slot)
}

fn next(timers: &Ordered, now: i64) -> Option<i64> {
    timers.after(Some((now, u64::MAX))).next().map(|((at, _), _)| at)
}
