//! The port's operations on queues and lists, as changes and reads of a [`Shard`].

use std::cmp::Reverse;
use std::sync::Arc;

use punctual_core::{QueueName, State};

use super::index::Standing;
use super::journal::JournalError;
use super::readers::Spot;
use super::shard::Shard;
use crate::port::{Listing, PutQueue, PutRefusal, QueueStats, StoreError};

/// The tasks on a page, and where the next page begins.
pub(super) type PageRows = (Vec<Spot>, Option<String>);

impl Shard {
    /// Stores a queue, if it is still as it was.
    pub(super) fn put_queue(
        &mut self,
        put: &PutQueue,
    ) -> Result<Result<(), PutRefusal>, JournalError> {
        let number = self.numbers.get(&put.queue.name).copied();
        let before = number.map(|number| Arc::clone(&self.index(number).queue));
        if before.as_deref() != put.before.as_deref() {
            return Ok(Err(PutRefusal::Lost));
        }
        match number {
            None => {
                self.insert_queue(Arc::new(put.queue.clone()))?;
            }
            Some(number) => {
                let index = self.index(number);
                let is_other_mode = index.queue.settings.mode != put.queue.settings.mode;
                let has_bundles = self.owners.bundles(&put.queue.name) > 0;
                if is_other_mode && (has_bundles || index.counts.iter().any(|count| *count > 0)) {
                    return Ok(Err(PutRefusal::HoldsTasks));
                }
                self.set_queue(number, put.queue.clone())?;
            }
        }
        Ok(Ok(()))
    }

    /// Drops all tasks and bundles of a queue.
    pub(super) fn reset_queue(&mut self, name: &QueueName) -> Result<bool, JournalError> {
        let Some((queue, bucket)) = self.remove_queue(name)? else { return Ok(false) };
        let number = self.insert_queue(queue)?;
        // What was handed out lately counts against the rate all the same.
        self.set_bucket(number, bucket);
        Ok(true)
    }

    /// What a queue holds.
    pub(super) fn stats(&self, name: &QueueName) -> Option<QueueStats> {
        let index = self.index(*self.numbers.get(name)?);
        let rate = index.queue.settings.rate;
        Some(QueueStats {
            counts: index.counts,
            oldest_ready_at: index.oldest_ready_at(),
            rate_at: rate.and_then(|rate| index.bucket.next_at(rate, self.now)),
            bundles: self.owners.bundles(name),
        })
    }

    /// A page of a queue's tasks.
    pub(super) fn list(&self, listing: &Listing) -> Result<PageRows, StoreError> {
        let Some(number) = self.numbers.get(&listing.queue) else { return Ok((Vec::new(), None)) };
        let index = self.index(*number);
        let mut from = listing.cursor.as_deref().map(Cursor::parse).transpose()?;
        let version = from.as_ref().map_or(self.last_birth, |cursor| cursor.version);
        // One more than fits tells whether this is the end.
        let wanted = listing.limit.saturating_add(1);
        if let Some(sort) = listing.sort {
            let from = from.map(|Cursor { standing: (_, place), .. }| place);
            let mut listed = index.list_finished(&listing.states, sort, from, wanted);
            let has_more = listed.len() == wanted;
            listed.truncate(listing.limit);
            let last = listed.last().filter(|_| has_more).and_then(|(place, slot)| {
                let state = index.entry(*slot).state()?;
                Some(Cursor { state, standing: (Reverse(0), *place), version }.to_string())
            });
            let spots = listed.iter().filter_map(|(_, slot)| index.entry(*slot).spot()).collect();
            return Ok((spots, last));
        }
        let first = match &from {
            Some(cursor) => {
                let at = listing.states.iter().position(|state| *state == cursor.state);
                at.ok_or(StoreError::BadCursor)?
            }
            None => 0,
        };
        let mut spots = Vec::new();
        let mut last = None;
        for state in &listing.states[first..] {
            let after = from.take().map(|cursor| cursor.standing);
            let moved = self.moves.since(version, index, *state);
            for (standing, slot) in index.list(*state, after, wanted - spots.len(), &moved) {
                if spots.len() == listing.limit {
                    return Ok((spots, last.map(|cursor: Cursor| cursor.to_string())));
                }
                spots.extend(index.entry(slot).spot());
                last = Some(Cursor { state: *state, standing, version });
            }
        }
        Ok((spots, None))
    }
}

/// Where a page ended, in a list that began at a version.
struct Cursor {
    state: State,
    standing: Standing,
    version: u64,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, StoreError> {
        let mut parts = text.split('.');
        let mut part = || parts.next().ok_or(StoreError::BadCursor);
        let bad = |_| StoreError::BadCursor;
        let state = State::parse(part()?).ok_or(StoreError::BadCursor)?;
        let priority = part()?.parse().map_err(bad)?;
        let at = part()?.parse().map_err(bad)?;
        let birth = part()?.parse().map_err(bad)?;
        let version = part()?.parse().map_err(bad)?;
        let cursor = Self { state, standing: (Reverse(priority), (at, birth)), version };
        if parts.next().is_some() { Err(StoreError::BadCursor) } else { Ok(cursor) }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { state, standing: (Reverse(priority), (at, birth)), version } = self;
        write!(f, "{state}.{priority}.{at}.{birth}.{version}")
    }
}
