//! Events in Redis: one stream for all nodes, which each of them reads over a connection of its own.
//!
//! An entry is what one node announced at once. It names the entry before it: if that is not the one
//! that was read last, events are missing, and whoever listens is told. A node reads all there is when
//! it starts, so that a client can go on at any node; what is older than that is dropped by the nodes as
//! they announce.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punctual_core::limits::{EVENTS_BYTES_MAX, EVENTS_MAX};
use punctual_core::{Announcement, QueueName};
use redis::{RedisResult, Value, cmd};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::answer::Part;
use super::connection::Connection;
use super::fields::corrupt;
use super::keys::Keys;
use super::node::Node;
use super::scripts::ANNOUNCE;
use crate::port::{Announced, EventId, Heard, Hearing, StoreError};

/// Most events of one entry: a script takes so many arguments at once.
const ENTRY_EVENTS_MAX: usize = 500;
/// About how many bytes an entry may have; one event may have more.
const ENTRY_BYTES_MAX: usize = 512 << 10;
/// Entries read at once.
const ENTRIES_READ: usize = 100;
/// How long one request waits for the next entry.
const BLOCK: Duration = Duration::from_secs(60);
/// How long to wait before reading again after something went wrong.
const READ_AGAIN: Duration = Duration::from_millis(500);

/// The id of an entry, as Redis gives it: milliseconds and a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct EntryId(u64, u64);

impl EntryId {
    fn parse(text: &str) -> Option<Self> {
        let (millis, count) = text.split_once('-')?;
        Some(Self(millis.parse().ok()?, count.parse().ok()?))
    }

    fn text(self) -> String {
        format!("{}-{}", self.0, self.1)
    }

    /// The id of the event at a place in the entry, from 1; 0 stands for what is missing before it.
    fn event(self, place: usize) -> EventId {
        EventId(self.0, self.1, place as u64)
    }
}

/// An entry of the stream.
struct Entry {
    id: EntryId,
    after: EntryId,
    events: Vec<Announced>,
}

/// What a node knows of the stream, and whom it tells.
pub(super) struct Events {
    heard: UnboundedSender<Heard>,
    hearing: Mutex<Option<Hearing>>,
    /// Told when somebody wants to hear.
    wanted: Notify,
    window: Mutex<Window>,
}

/// The entries that a client can go on from: their ids, number of events and bytes.
#[derive(Default)]
struct Window {
    entries: VecDeque<(EntryId, usize, usize)>,
    events: usize,
    bytes: usize,
}

impl Window {
    fn add(&mut self, entry: &Entry) {
        let bytes = entry.events.iter().map(|event| event.data.len()).sum();
        self.entries.push_back((entry.id, entry.events.len(), bytes));
        self.events += entry.events.len();
        self.bytes += bytes;
        while let Some((_, events, bytes)) = self.entries.front().copied() {
            let is_over = self.events - events >= EVENTS_MAX || self.bytes > EVENTS_BYTES_MAX;
            if !is_over || self.entries.len() == 1 {
                break;
            }
            self.events -= events;
            self.bytes -= bytes;
            self.entries.pop_front();
        }
    }
}

impl Events {
    pub(super) fn new() -> Self {
        let (heard, hearing) = unbounded_channel();
        let hearing = Mutex::new(Some(hearing));
        Self { heard, hearing, wanted: Notify::new(), window: Mutex::default() }
    }

    /// The one stream of events; a second call gets one that has ended.
    pub(super) fn hearing(&self) -> Hearing {
        let hearing = self.hearing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if hearing.is_some() {
            self.wanted.notify_one();
        }
        hearing.unwrap_or_else(|| unbounded_channel().1)
    }

    /// The oldest entry that is to be kept, if any may go.
    fn oldest(&self) -> String {
        let window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.entries.front().map_or_else(String::new, |(id, ..)| id.text())
    }

    fn window(&self, entry: &Entry) {
        self.window.lock().unwrap_or_else(PoisonError::into_inner).add(entry);
    }
}

impl Node {
    /// Appends events to the stream, in a few entries where they are many.
    pub(super) async fn announce(
        &self,
        announcements: &[Announcement],
    ) -> Result<EventId, StoreError> {
        let mut last = EventId::default();
        let mut rest = announcements;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(entry_len(rest));
            rest = others;
            let mut call = self.call(&ANNOUNCE, Keys::FIRST_SHARD).await;
            call.arg(self.events.oldest());
            for announcement in some {
                let json =
                    serde_json::to_string(announcement).expect("an event has string keys only");
                call.arg(label(announcement)).arg(json);
            }
            let [id] = call.send().await?.body.parts()?;
            let id = EntryId::parse(&id.text()?);
            let id =
                id.ok_or_else(|| corrupt("an answer of Redis", "it is not the id of an entry"))?;
            last = id.event(some.len());
        }
        Ok(last)
    }

    /// Reads the stream as long as the store is there, from when somebody wants to hear.
    pub(super) async fn hear_events(self: Arc<Self>) {
        self.events.wanted.notified().await;
        let mut reader = Reader::default();
        loop {
            let generation = self.link.up().await;
            // Another connection of all requests may lead to another server, so this one has to follow.
            let trouble = tokio::select! {
                ended = reader.read(&self) => ended.err(),
                () = self.link.renewed(generation) => None,
            };
            if let Some(trouble) = trouble {
                tracing::debug!(%trouble, "the stream of events cannot be read now");
                tokio::time::sleep(READ_AGAIN).await;
            }
        }
    }
}

/// How many of some events go into one entry.
fn entry_len(announcements: &[Announcement]) -> usize {
    let mut bytes = 0;
    let fits = |announcement: &&Announcement| {
        bytes += announcement.bytes();
        bytes <= ENTRY_BYTES_MAX
    };
    announcements.iter().take(ENTRY_EVENTS_MAX).take_while(fits).count().max(1)
}

/// The name of an event and the queues it names.
fn label(announcement: &Announcement) -> String {
    let mut label = announcement.kind().to_owned();
    for queue in announcement.queues() {
        label.push(' ');
        label.push_str(queue.as_str());
    }
    label
}

/// How far a node has read.
#[derive(Default)]
struct Reader {
    /// Where to go on.
    cursor: EntryId,
    /// The last entry that was heard, and its last event.
    last: EntryId,
    last_event: EventId,
    /// Whether the past was told.
    is_begun: bool,
}

impl Reader {
    /// Reads over a connection of its own until something goes wrong with it.
    async fn read(&mut self, node: &Node) -> RedisResult<()> {
        let mut connection = Connection::open_to_wait(&node.address, BLOCK).await?;
        let key = node.keys.events();
        self.find_end(&mut connection, &key).await?;
        if !self.is_begun {
            self.begin(node, &mut connection, &key).await?;
        }
        loop {
            for entry in self.next(&mut connection, &key, Some(BLOCK)).await? {
                node.events.window(&entry);
                let heard = self.hear(entry);
                // With nobody left to hear, the store is about to end.
                let _ = node.events.heard.send(heard);
            }
        }
    }

    /// Goes on from the end of the stream, if that is before what was read: it was flushed, or is
    /// another server's that did not know of all of it.
    async fn find_end(&mut self, connection: &mut Connection, key: &str) -> RedisResult<()> {
        let mut last = cmd("XREVRANGE");
        last.arg(key).arg("+").arg("-").arg("COUNT").arg(1);
        let last = entries(connection.send(&last).await?).pop();
        let end = last.map_or_else(EntryId::default, |entry| entry.id);
        self.cursor = self.cursor.min(end);
        Ok(())
    }

    /// Tells all there is, at once.
    async fn begin(
        &mut self,
        node: &Node,
        connection: &mut Connection,
        key: &str,
    ) -> RedisResult<()> {
        let mut past: Option<Heard> = None;
        self.cursor = EntryId::default();
        loop {
            let some = self.next(connection, key, None).await?;
            if some.is_empty() {
                break;
            }
            for entry in some {
                node.events.window(&entry);
                let heard = self.hear(entry);
                let past =
                    past.get_or_insert_with(|| Heard { after: heard.after, events: Vec::new() });
                past.events.extend(heard.events);
                let over = past.events.len().saturating_sub(2 * EVENTS_MAX);
                if over > 0 {
                    past.after = past.events[over - 1].id;
                    past.events.drain(..over);
                }
            }
        }
        let nothing = || Heard { after: EventId::default(), events: Vec::new() };
        let _ = node.events.heard.send(past.unwrap_or_else(nothing));
        self.is_begun = true;
        Ok(())
    }

    /// Reads the next entries, waiting for one if told to.
    async fn next(
        &mut self,
        connection: &mut Connection,
        key: &str,
        wait: Option<Duration>,
    ) -> RedisResult<Vec<Entry>> {
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(ENTRIES_READ);
        if let Some(wait) = wait {
            read.arg("BLOCK").arg(wait.as_millis() as u64);
        }
        read.arg("STREAMS").arg(key).arg(self.cursor.text());
        let entries = stream(connection.send(&read).await?);
        if let Some(last) = entries.last() {
            self.cursor = last.id;
        }
        Ok(entries)
    }

    /// What an entry tells, and what it must have come after.
    fn hear(&mut self, entry: Entry) -> Heard {
        let after = if entry.after == self.last {
            self.last_event
        } else {
            // None that was heard: something is missing.
            entry.after.event(usize::MAX)
        };
        self.last = entry.id;
        self.last_event = entry.id.event(entry.events.len());
        Heard { after, events: entry.events }
    }
}

/// The entries of the one stream that was read.
fn stream(value: Value) -> Vec<Entry> {
    match value {
        Value::Map(mut streams) => streams.pop().map_or_else(Vec::new, |(_, list)| entries(list)),
        Value::Array(mut streams) => match streams.pop() {
            Some(Value::Array(mut pair)) => pair.pop().map_or_else(Vec::new, entries),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn entries(list: Value) -> Vec<Entry> {
    let Ok(list) = Part::new(list).list() else { return Vec::new() };
    list.into_iter().filter_map(entry).collect()
}

/// Takes an entry apart; what somebody else wrote there is passed over.
fn entry(part: Part) -> Option<Entry> {
    let [id, fields] = part.parts().ok()?;
    let id = EntryId::parse(&id.text().ok()?)?;
    let mut fields = fields.list().ok()?.into_iter().map(|part| part.text());
    let mut pair = || Some((fields.next()?.ok()?, fields.next()?.ok()?));
    let (_, after) = pair().filter(|(name, _)| name == "after")?;
    let mut events = Vec::new();
    while let Some((label, data)) = pair() {
        let mut words = label.split(' ');
        let kind = words.next().unwrap_or_default().into();
        let queues = words.filter_map(|name| QueueName::parse(name).ok()).collect();
        let id = id.event(events.len() + 1);
        events.push(Announced { id, kind, queues, data: data.into() });
    }
    Some(Entry { id, after: EntryId::parse(&after)?, events })
}
