//! Pages of a queue's tasks: sorted anew for every page, from just after the last item on.
//!
//! A task that moves within its state is listed where it stood when the first page was read.

use punctual_core::{State, Timestamp};

use super::shelf::{Record, Shelf};
use crate::clock::Instant;
use crate::port::{Listing, Page, Sort, StoreError};

/// Where a task stands among those of its state: its priority, the highest first, its time, its
/// birth.
type Rank = (i16, i64, u64);

/// Where a list shows a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    state: State,
    rank: Rank,
}

impl Standing {
    /// Whether the same task is still in its state, but at another place.
    pub(super) fn has_moved_from(&self, before: &Self) -> bool {
        self.state == before.state && self.rank != before.rank
    }
}

/// A move within a state.
#[derive(Debug)]
pub(super) struct Move {
    /// The birth it was given: lists that began before it know only smaller ones.
    pub(super) version: u64,
    /// Where the task stood until then.
    pub(super) before: Standing,
}

/// Where a list that begins now shows a task.
pub(super) fn standing(record: &Record, now: Instant) -> Standing {
    let state = record.state(now);
    let (priority, ready_at, birth) = record.rank();
    let rank = match state {
        State::Ready => (priority, ready_at.as_millis(), birth),
        State::Waiting => (0, ready_at.as_millis(), birth),
        state if state.is_finished() => {
            (0, record.task.status.finished_at.map_or(0, Timestamp::as_millis), birth)
        }
        _ => (0, 0, birth),
    };
    Standing { state, rank }
}

/// Where a list that began at a version shows a task.
fn standing_at(shelf: &Shelf, record: &Record, version: u64, now: Instant) -> Standing {
    let present = standing(record, now);
    let is_of_it =
        |before: &Standing| before.state == present.state && before.rank.2 == record.revision.birth;
    let mut later = shelf.moves.iter().filter(|moved| moved.version > version);
    later.find(|moved| is_of_it(&moved.before)).map_or(present, |moved| moved.before)
}

/// Reads a page. `births` is the last birth that was given out.
pub(super) fn page(
    shelf: &Shelf,
    listing: &Listing,
    births: u64,
    now: Instant,
) -> Result<Page, StoreError> {
    let cursor = listing.cursor.as_deref().map(Cursor::parse).transpose()?;
    let version = cursor.as_ref().map_or(births, |cursor| cursor.version);
    let mut all: Vec<(Cursor, &Record)> = shelf
        .records
        .values()
        .filter_map(|record| {
            let Standing { state, rank } = standing_at(shelf, record, version, now);
            let group = listing.states.iter().position(|asked| *asked == state)?;
            let (priority, at, birth) = rank;
            Some(match listing.sort {
                None => (Cursor { group, rank, version }, record),
                Some(Sort::Oldest) => (Cursor { group: 0, rank, version }, record),
                Some(Sort::Newest) => {
                    let rank = (priority, -at, u64::MAX - birth);
                    (Cursor { group: 0, rank, version }, record)
                }
            })
        })
        .filter(|(place, _)| cursor.as_ref().is_none_or(|cursor| place > cursor))
        .collect();
    all.sort_by_key(|(place, _)| *place);
    let rest = all.len() > listing.limit;
    all.truncate(listing.limit);
    let next = all.last().filter(|_| rest).map(|(place, _)| place.to_string());
    Ok(Page { items: all.into_iter().map(|(_, record)| record.stored()).collect(), next })
}

/// Where an item stands in a list: under a state, at a place there, as of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    group: usize,
    rank: Rank,
    version: u64,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, StoreError> {
        fn part<T: std::str::FromStr>(part: Option<&str>) -> Result<T, StoreError> {
            part.and_then(|part| part.parse().ok()).ok_or(StoreError::BadCursor)
        }
        let mut parts = text.split('.');
        let cursor = Self {
            group: part(parts.next())?,
            rank: (part(parts.next())?, part(parts.next())?, part(parts.next())?),
            version: part(parts.next())?,
        };
        if parts.next().is_some() { Err(StoreError::BadCursor) } else { Ok(cursor) }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { group, rank: (priority, at, birth), version } = self;
        write!(f, "{group}.{priority}.{at}.{birth}.{version}")
    }
}
