//! Pages of a queue's tasks: sorted anew for every page, from just after the last item on.

use punctual_core::{State, Timestamp};

use super::contents::{Record, Shelf};
use crate::clock::Instant;
use crate::port::{Listing, Page, StoreError};

/// Where an item stands: the state it is listed under, and its place there.
type Place = (usize, i16, i64, u64);

/// Reads a page.
pub(super) fn page(shelf: &Shelf, listing: &Listing, now: Instant) -> Result<Page, StoreError> {
    let after = listing.cursor.as_deref().map(parse).transpose()?;
    let mut all: Vec<(Place, &Record)> = shelf
        .records
        .values()
        .filter_map(|record| {
            let state = record.state(now);
            let group = listing.states.iter().position(|asked| *asked == state)?;
            Some((place(group, state, record), record))
        })
        .filter(|(place, _)| after.is_none_or(|after| *place > after))
        .collect();
    all.sort_by_key(|(place, _)| *place);
    let rest = all.len() > listing.limit;
    all.truncate(listing.limit);
    let next = all.last().filter(|_| rest).map(|(place, _)| print(*place));
    Ok(Page { items: all.into_iter().map(|(_, record)| record.stored()).collect(), next })
}

fn place(group: usize, state: State, record: &Record) -> Place {
    let (priority, ready_at, birth) = record.rank();
    match state {
        State::Ready => (group, priority, ready_at.as_millis(), birth),
        State::Waiting => (group, 0, ready_at.as_millis(), birth),
        state if state.is_finished() => {
            let finished_at = record.task.status.finished_at.map_or(0, Timestamp::as_millis);
            (group, 0, finished_at, birth)
        }
        _ => (group, 0, 0, birth),
    }
}

fn print((group, priority, at, birth): Place) -> String {
    format!("{group}.{priority}.{at}.{birth}")
}

fn parse(cursor: &str) -> Result<Place, StoreError> {
    let mut parts = cursor.split('.');
    let mut place = || -> Option<Place> {
        Some((
            parts.next()?.parse().ok()?,
            parts.next()?.parse().ok()?,
            parts.next()?.parse().ok()?,
            parts.next()?.parse().ok()?,
        ))
    };
    let place = place().ok_or(StoreError::BadCursor)?;
    if parts.next().is_some() { Err(StoreError::BadCursor) } else { Ok(place) }
}
