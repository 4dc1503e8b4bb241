//! Groups of changes: begun with a look at the clock, made durable or undone as one.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use punctual_core::State;

use super::index::{Entry, Kind};
use super::journal::{JournalError, Table};
use super::load::META_BIRTHS;
use super::rows::{BirthsRow, packed, put};
use super::shard::{Shard, Undo};
use crate::port::Wake;

/// What stands in the agenda for the alarms of owners; queues are numbered from 1.
pub(super) const ALARMS: u32 = 0;

/// When each queue, and the alarms of owners, next need a look, on both clocks.
#[derive(Default)]
pub(super) struct Agenda {
    wall: BTreeSet<(i64, u32)>,
    steady: BTreeSet<(i64, u32)>,
    entered: HashMap<u32, (Option<i64>, Option<i64>)>,
}

impl Agenda {
    fn enter(&mut self, queue: u32, wall: Option<i64>, steady: Option<i64>) {
        let (old_wall, old_steady) = if wall.is_none() && steady.is_none() {
            self.entered.remove(&queue)
        } else {
            self.entered.insert(queue, (wall, steady))
        }
        .unwrap_or_default();
        for (set, old, new) in
            [(&mut self.wall, old_wall, wall), (&mut self.steady, old_steady, steady)]
        {
            if old != new {
                old.map(|at| set.remove(&(at, queue)));
                new.map(|at| set.insert((at, queue)));
            }
        }
    }
}

/// How many births are noted as used ahead of time, so that it is seldom done.
const BIRTHS_AHEAD: u64 = 1 << 20;

/// Tasks that are marked as due in one group, so that many at one moment stop nobody for long.
const DUE_MAX: usize = 10_000;

impl Shard {
    /// Begins a group: reads the clock and marks what has fallen due.
    pub(super) fn begin(&mut self) {
        self.now = self.clock.now();
        self.receipts.forget_old(self.now.wall);
        self.keyed.forget_old(self.now.wall);
        let mut room = DUE_MAX;
        while let Some(&(at, number)) = self.agenda.wall.first()
            && at <= self.now.wall.as_millis()
            && room > 0
        {
            self.measures.due.observe((self.now.wall.as_millis() - at) as f64 / 1_000.0);
            room -= self.advance_queue(number, room);
        }
        while let Some(&(at, number)) = self.agenda.steady.first()
            && at <= self.now.steady_ms
        {
            self.advance_queue(number, 0);
        }
    }

    /// Whether more has fallen due than was marked.
    pub(super) fn is_behind(&self) -> bool {
        self.agenda.wall.first().is_some_and(|(at, _)| *at <= self.now.wall.as_millis())
    }

    /// Moves due tasks of a queue to their lanes, at most `room`, and enters its next times into the
    /// agenda. Returns how many it moved.
    pub(super) fn advance_queue(&mut self, number: u32, room: usize) -> usize {
        let now = self.now;
        let mut due = 0;
        if let Some(index) = self.queues.get_mut(&number) {
            while due < room
                && let Some(slot) = index.first_due(now.wall)
            {
                let entry = Entry { kind: Kind::Task(State::Ready), ..*index.entry(slot) };
                index.replace(slot, Some(entry), &mut self.holdings);
                due += 1;
            }
            self.touch(number, due);
        }
        self.owners_touched |= number == ALARMS;
        self.enter_agenda(number);
        due
    }

    fn enter_agenda(&mut self, number: u32) {
        if number == ALARMS {
            return self.agenda.enter(ALARMS, self.owners.next_alarm(self.now.wall), None);
        }
        let (wall, steady) = self.queues.get(&number).map_or((None, None), |index| {
            (index.next_on_wall(self.now.wall), index.next_hold_end(self.now.steady_ms))
        });
        self.agenda.enter(number, wall, steady);
    }

    /// Milliseconds until something falls due, by the clock now.
    pub(super) fn due_in_ms(&self) -> Option<i64> {
        /// Somebody may set the wall clock forward; a look each second notices.
        const WALL_LOOK_MS: i64 = 1_000;
        let now = self.clock.now();
        let wall =
            self.agenda.wall.first().map(|(at, _)| (at - now.wall.as_millis()).min(WALL_LOOK_MS));
        let steady = self.agenda.steady.first().map(|(at, _)| at - now.steady_ms);
        [wall, steady].into_iter().flatten().min().map(|ms| ms.max(0))
    }

    /// Makes the group durable.
    pub(super) fn finish(&mut self) -> Result<(), JournalError> {
        let receipts = self.receipts.pending_row(self.now.wall);
        if let Some((key, row)) = &receipts {
            put(&mut *self.journal, Table::Receipt, *key, &mut packed(row))?;
        }
        for key in self.receipts.outdated() {
            self.journal.remove(Table::Receipt, *key)?;
        }
        for key in self.keyed.outdated() {
            self.journal.remove(Table::Keyed, *key)?;
        }
        let births = (self.last_birth > self.reserved_births)
            .then_some(BirthsRow { last: self.last_birth + BIRTHS_AHEAD });
        if let Some(row) = &births {
            put(&mut *self.journal, Table::Meta, META_BIRTHS, &mut packed(row))?;
        }
        self.journal.commit()?;
        self.reserved_births = births.map_or(self.reserved_births, |row| row.last);
        if let Some((key, row)) = receipts {
            self.receipts.add(key, row);
        }
        self.receipts.outdated_are_gone();
        self.keyed.outdated_are_gone();
        self.undo.clear();
        Ok(())
    }

    /// Takes the group back.
    pub(super) fn undo(&mut self) {
        self.journal.roll_back();
        self.receipts.undo();
        self.bundled.clear();
        self.undo_changes();
        self.holdings.undone();
    }

    fn undo_changes(&mut self) {
        while let Some(undo) = self.undo.pop() {
            match undo {
                Undo::Slot { queue, slot, before } => {
                    let index = self.queues.get_mut(&queue).expect("a known number");
                    index.restore(slot, before, &mut self.holdings);
                }
                Undo::Bucket { queue, before } => self.index_mut(queue).bucket = before,
                Undo::Record { queue, before } => {
                    self.index_mut(queue).set_queue(before);
                }
                Undo::Added { queue } => {
                    if let Some(index) = self.queues.remove(&queue) {
                        self.numbers.remove(&index.queue.name);
                    }
                }
                Undo::Removed { index, owners, dead } => {
                    self.dead.truncate(self.dead.len() - dead);
                    let name = index.queue.name.clone();
                    self.owners.attach(&name, owners);
                    index.holdings().for_each(|entry| {
                        self.holdings.moved(index.number, None, Some(entry));
                    });
                    self.numbers.insert(name, index.number);
                    self.queues.insert(index.number, *index);
                }
                Undo::Swept { rows } => {
                    for row in rows.into_iter().rev() {
                        self.dead.push_front(row);
                    }
                }
                Undo::Owner { key, before: None, .. } => {
                    self.owners.remove(&key);
                }
                Undo::Owner { key, before: Some(head), dropped, appended, dead } => {
                    self.dead.truncate(self.dead.len() - dead);
                    self.owners.update(&key, head, |items| {
                        items.truncate(items.len() - appended);
                        dropped.into_iter().rev().for_each(|item| items.push_front(item));
                    });
                }
                Undo::OwnerGone { key, entry, dead } => {
                    self.dead.truncate(self.dead.len() - dead);
                    self.owners.insert(key, *entry);
                }
                Undo::Keyed => self.keyed.undo(),
                Undo::Audit(noted) => self.audit.undo(noted),
            }
        }
    }

    /// Ends a group, durable or undone: the queues it touched, and what to wake.
    pub(super) fn settle(&mut self) -> (Vec<u32>, Vec<Wake>) {
        let touched: Vec<(u32, usize)> = self.touched.drain().collect();
        let mut wakes = Vec::new();
        let mut any_expired = false;
        let bundled = std::mem::take(&mut self.bundled);
        let owners_touched = std::mem::take(&mut self.owners_touched);
        let is_touched = !touched.is_empty() || owners_touched;
        let mut any_outdated = is_touched && !self.dead.is_empty();
        for &(number, available) in &touched {
            self.enter_agenda(number);
            let Some(index) = self.queues.get_mut(&number) else { continue };
            index.tidy();
            if available > 0 {
                wakes.push(Wake::Ready { queue: index.queue.name.clone(), count: available });
            }
            let passed = index.passed_on_wall(self.now.wall).next().map(|slot| *index.entry(slot));
            let is_live = |entry: &Entry| entry.state().is_some_and(|s| !s.is_finished());
            let hold_ended = index.passed_holds(self.now.steady_ms).next().is_some();
            any_expired |= hold_ended || passed.as_ref().is_some_and(is_live);
            any_outdated |= passed.as_ref().is_some_and(|entry| !is_live(entry));
        }
        wakes.extend(any_expired.then_some(Wake::Expired));
        wakes.extend(any_outdated.then_some(Wake::Sweep));
        wakes.extend(bundled.into_iter().map(|queue| Wake::Bundles { queue }));
        wakes.extend(self.holdings.changed().into_iter().map(|worker| Wake::Worker { worker }));
        self.holdings.forget_idle();
        if owners_touched {
            self.enter_agenda(ALARMS);
            let has_come = self.owners.alarms(self.now.wall).next().is_some();
            wakes.extend(has_come.then_some(Wake::Alarms));
        }
        (touched.into_iter().map(|(number, _)| number).collect(), wakes)
    }
}
