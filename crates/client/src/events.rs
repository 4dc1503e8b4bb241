//! The event stream: what happens at the server, as it happens.

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderValue;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use punctual_core::RawJson;
use serde::Serialize;

use crate::error::Error;
use crate::transport::{Call, Client, query};

/// Most bytes of one event: that of a whole batch, with room to spare.
const EVENT_BYTES_MAX: usize = 64 << 20;

/// Which events to hear. Every condition narrows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilter {
    queue: Option<String>,
    kind: Option<String>,
    after: Option<String>,
}

impl EventFilter {
    /// All events from now on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those of a queue.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// Only those of a type: an exact name, or for instance `task.*`.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// From the event after this one on. If that is too long ago the first is `stream.gap`.
    #[must_use]
    pub fn after(mut self, id: impl Into<String>) -> Self {
        self.after = Some(id.into());
        self
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// Its place in the stream, to resume after it.
    pub id: String,
    /// What it is: `task.committed`, for instance.
    #[serde(rename = "type")]
    pub kind: String,
    /// All about it.
    pub data: RawJson,
}

/// Events as they come in.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    unread: BytesMut,
    last_id: String,
}

impl Client {
    /// Opens the event stream.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::EventFilter;
    ///
    /// let mut events = client.events(&EventFilter::new().kind("task.*")).await?;
    /// while let Some(event) = events.next().await? {
    ///     println!("{} {}", event.kind, event.data.as_str());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn events(&self, filter: &EventFilter) -> Result<Events, Error> {
        let query = query(&[("queue", filter.queue.clone()), ("type", filter.kind.clone())]);
        let mut call = Call::get(format!("/v1/events{query}"));
        if let Some(id) = &filter.after {
            let id =
                HeaderValue::try_from(id).map_err(|_| Error::Header { field: "last event id" })?;
            call = call.header("last-event-id", id);
        }
        let body = self.stream(call).await?;
        let last_id = filter.after.clone().unwrap_or_default();
        Ok(Events { body, unread: BytesMut::new(), last_id })
    }
}

impl Events {
    /// The id to resume after: that of the last event, or of a later one that was filtered out.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The next event; none: the server has ended the stream.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            while let Some(block) = self.next_block()? {
                if let Some(event) = self.read(&block) {
                    return Ok(Some(event));
                }
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| Error::Stream { reason: error.to_string() })?;
            if let Ok(data) = frame.into_data() {
                self.unread.extend_from_slice(&data);
            }
        }
    }

    /// What stands before the next empty line, if that has come in.
    fn next_block(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(end) = self.unread.windows(2).position(|pair| pair == b"\n\n") else {
            if self.unread.len() > EVENT_BYTES_MAX {
                return Err(Error::Stream { reason: "an event without an end".to_owned() });
            }
            return Ok(None);
        };
        let block = self.unread.split_to(end).freeze();
        self.unread.advance(2);
        Ok(Some(block))
    }

    fn read(&mut self, block: &[u8]) -> Option<Event> {
        let text = String::from_utf8_lossy(block);
        let (mut kind, mut data) = (None, String::new());
        for line in text.lines() {
            match line.split_once(':').map(|(name, value)| (name, value.trim_start())) {
                Some(("id", id)) => id.clone_into(&mut self.last_id),
                Some(("event", name)) => kind = Some(name.to_owned()),
                Some(("data", value)) => data.push_str(value),
                _ => {}
            }
        }
        let data = RawJson::parse(&data).ok()?;
        Some(Event { id: self.last_id.clone(), kind: kind?, data })
    }
}
