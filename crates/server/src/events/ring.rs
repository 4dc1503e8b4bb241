//! The last events, as they are sent: bounded by number and bytes, read by any number of listeners.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use punctual_core::announce::GAP;
use punctual_core::limits::{EVENTS_BYTES_MAX, EVENTS_MAX};
use punctual_core::{Announcement, QueueName, Timestamp};
use punctual_store::{Announced, EventId, Heard};

use super::EventFilter;

/// Bytes read at once, give or take one event.
const READ_BYTES: usize = 16 << 10;
/// Events looked at at once, so that nobody waits long for the ring.
const READ_EVENTS: usize = 1_000;
/// What an event takes in memory besides what is sent.
const OVERHEAD_BYTES: usize = 128;

/// The last events.
#[derive(Default)]
pub(super) struct Ring {
    entries: VecDeque<Entry>,
    /// The place of the first, counted from the start of the server.
    first: u64,
    bytes: usize,
    /// The event before the first; none until something was heard.
    floor: Option<EventId>,
}

/// An event as it is sent.
struct Entry {
    id: EventId,
    kind: Arc<str>,
    queues: Vec<QueueName>,
    frame: Bytes,
}

/// What is read from a place on.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// That place is no longer in the ring.
    Gone,
    /// What is wanted of it, as it is sent.
    Frames {
        /// One after the other.
        frames: Bytes,
        /// Where to go on.
        next: u64,
        /// The last event looked at, if any was.
        last: Option<EventId>,
    },
}

impl Entry {
    fn new(Announced { id, kind, queues, data }: Announced) -> Self {
        let frame = frame(Some(id), &kind, &data);
        Self { id, kind, queues, frame }
    }

    fn bytes(&self) -> usize {
        self.frame.len() + OVERHEAD_BYTES
    }
}

/// An event as it is sent.
fn frame(id: Option<EventId>, kind: &str, data: &str) -> Bytes {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    // Between its parts JSON may have line breaks, and a line is what is sent.
    let data = match data.contains(['\n', '\r']) {
        true => data.replace(['\n', '\r'], " ").into(),
        false => std::borrow::Cow::Borrowed(data),
    };
    format!("{id}event: {kind}\ndata: {data}\n\n").into()
}

/// What a listener is told that has missed events.
pub(super) fn gap(id: EventId, now: Timestamp) -> Bytes {
    frame(Some(id), GAP, &gap_data(now))
}

fn gap_data(now: Timestamp) -> String {
    serde_json::to_string(&Announcement::gap(now)).expect("an event has string keys only")
}

impl Ring {
    /// The last event.
    pub(super) fn head(&self) -> EventId {
        self.entries.back().map(|entry| entry.id).or(self.floor).unwrap_or_default()
    }

    /// The place of what happens next.
    pub(super) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The place after an event, if that is in the ring, or was the last before it.
    pub(super) fn after(&self, id: EventId) -> Option<u64> {
        if self.floor == Some(id) {
            return Some(self.first);
        }
        let index = self.entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        Some(self.first + index as u64 + 1)
    }

    /// Takes in what was heard, and returns whether something is missing before it, which is told as a gap.
    pub(super) fn hear(&mut self, heard: Heard, now: Timestamp) -> bool {
        let Heard { after, events } = heard;
        let is_gap = self.floor.is_some() && after != self.head();
        self.floor.get_or_insert(after);
        if let Some(first) = events.first().filter(|_| is_gap) {
            let EventId(one, two, three) = first.id;
            let id = EventId(one, two, three.saturating_sub(1));
            let data = gap_data(now).into();
            self.push(Entry::new(Announced { id, kind: GAP.into(), queues: Vec::new(), data }));
        }
        for event in events {
            self.push(Entry::new(event));
        }
        is_gap
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        while self.entries.len() > EVENTS_MAX || self.bytes > EVENTS_BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.bytes -= oldest.bytes();
            self.first += 1;
            self.floor = Some(oldest.id);
        }
    }

    /// Reads from a place on, as much as is good at once.
    pub(super) fn read(&self, place: u64, filter: &EventFilter) -> Read {
        let Some(skipped) = place.checked_sub(self.first) else { return Read::Gone };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.entries.len());
        let mut frames: Vec<&Bytes> = Vec::new();
        let (mut next, mut last, mut bytes) = (place, None, 0);
        for entry in self.entries.range(skipped..).take(READ_EVENTS) {
            if &*entry.kind == GAP || filter.wants(&entry.kind, &entry.queues) {
                if bytes > 0 && bytes + entry.frame.len() > READ_BYTES {
                    break;
                }
                bytes += entry.frame.len();
                frames.push(&entry.frame);
            }
            (next, last) = (next + 1, Some(entry.id));
        }
        let frames = match *frames {
            [] => Bytes::new(),
            [frame] => frame.clone(),
            _ => {
                let mut all = BytesMut::with_capacity(bytes);
                frames.into_iter().for_each(|frame| all.extend_from_slice(frame));
                all.freeze()
            }
        };
        Read::Frames { frames, next, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(after: u64, ids: impl IntoIterator<Item = u64>, data: &str) -> Heard {
        let event = |id| Announced {
            id: EventId(1, 1, id),
            kind: "task.pushed".into(),
            queues: vec![QueueName::parse("q").unwrap()],
            data: data.into(),
        };
        Heard { after: EventId(1, 1, after), events: ids.into_iter().map(event).collect() }
    }

    fn ring(events: u64) -> Ring {
        let mut ring = Ring::default();
        ring.hear(heard(0, 1..=events, "{}"), Timestamp::default());
        ring
    }

    fn text(ring: &Ring, place: u64) -> String {
        match ring.read(place, &EventFilter::default()) {
            Read::Frames { frames, .. } => String::from_utf8(frames.to_vec()).unwrap(),
            Read::Gone => panic!("gone"),
        }
    }

    #[test]
    fn events_are_found_again_as_long_as_they_are_kept() {
        let mut ring = ring(3);
        assert_eq!(ring.head(), EventId(1, 1, 3));
        assert_eq!(ring.after(EventId(1, 1, 0)), Some(0));
        assert_eq!(ring.after(EventId(1, 1, 2)), Some(2));
        assert_eq!(ring.after(EventId(1, 1, 9)), None);
        assert_eq!(ring.after(EventId(2, 1, 1)), None);
        assert_eq!(text(&ring, 2), "id: 1-1-3\nevent: task.pushed\ndata: {}\n\n");
        ring.hear(heard(3, 4..=10_001, "{}"), Timestamp::default());
        assert_eq!(ring.entries.len(), EVENTS_MAX);
        assert_eq!(ring.after(EventId(1, 1, 0)), None);
        assert_eq!(ring.after(EventId(1, 1, 1)), Some(1));
        assert_eq!(ring.read(0, &EventFilter::default()), Read::Gone);
    }

    #[test]
    fn what_does_not_follow_is_told_as_a_gap() {
        let mut ring = ring(1);
        assert!(!ring.hear(heard(1, [2], "{}"), Timestamp::default()));
        assert_eq!(ring.entries.len(), 2);
        assert!(ring.hear(heard(5, [7], "{}"), Timestamp::default()));
        assert_eq!(ring.entries.len(), 4);
        let told = text(&ring, 2);
        assert!(
            told.starts_with("id: 1-1-6\nevent: stream.gap\ndata: {\"type\":\"stream.gap\""),
            "{told}"
        );
    }

    #[test]
    fn bytes_are_bounded_and_an_event_is_one_line() {
        let mut ring = ring(0);
        let large = format!("{{\n\"x\":\r\"{}\"}}", "x".repeat(1 << 20));
        for id in 1..100 {
            ring.hear(heard(id - 1, [id], &large), Timestamp::default());
            assert!(ring.bytes <= EVENTS_BYTES_MAX);
        }
        assert!(ring.entries.len() > 50);
        let told = text(&ring, ring.end() - 1);
        assert_eq!(told.lines().count(), 4);
        assert!(!told.contains('\r'));
    }

    #[test]
    fn a_read_is_bounded_and_says_where_to_go_on() {
        let ring = ring(10_000);
        let Read::Frames { frames, next, last } = ring.read(0, &EventFilter::default()) else {
            panic!("gone");
        };
        assert!(frames.len() <= READ_BYTES && next > 100 && last == Some(EventId(1, 1, next)));
        let none = EventFilter::parse(None, Some("plan.*")).unwrap();
        let Read::Frames { frames, next, .. } = ring.read(0, &none) else { panic!("gone") };
        assert!(frames.is_empty());
        assert_eq!(next, READ_EVENTS as u64);
    }
}
