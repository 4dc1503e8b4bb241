//! The event stream: what happens at the server, as it happens.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, io};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::HeaderValue;
use http_body_util::BodyDataStream;
use hyper::body::Incoming;
use punctual_core::RawJson;
use serde::Serialize;
use sse_stream::{Sse, SseByteStream};

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
    /// The type of the event, for example `task.committed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The data of the event.
    pub data: RawJson,
}

/// Events as they come in.
pub struct Events {
    blocks: SseByteStream<Pieces>,
    /// Bytes that came in since the last event.
    unread_bytes: Arc<AtomicUsize>,
    last_id: String,
}

type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send + Sync>>;

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("last_id", &self.last_id).finish_non_exhaustive()
    }
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
        let unread_bytes = Arc::new(AtomicUsize::new(0));
        let blocks = SseByteStream::new(bounded(body, Arc::clone(&unread_bytes)));
        Ok(Events { blocks, unread_bytes, last_id })
    }
}

impl Events {
    /// The id to resume after: that of the last event, or of a later one that was filtered out.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The next event; none: the server has ended the stream.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        while let Some(block) = self.blocks.next().await {
            self.unread_bytes.store(0, Ordering::Relaxed);
            let Sse { event, data, id, .. } = block.map_err(broken)?;
            if let Some(id) = id {
                self.last_id = id;
            }
            let data = data.and_then(|data| RawJson::parse(&data).ok());
            if let (Some(kind), Some(data)) = (event, data) {
                return Ok(Some(Event { id: self.last_id.clone(), kind, data }));
            }
        }
        Ok(None)
    }
}

fn broken(error: sse_stream::Error) -> Error {
    let reason = match error {
        sse_stream::Error::Body(error) => error.to_string(),
        error => error.to_string(),
    };
    Error::Stream { reason }
}

/// The pieces of an answer, as long as an event does not go on and on.
fn bounded(body: Incoming, unread_bytes: Arc<AtomicUsize>) -> Pieces {
    let pieces = BodyDataStream::new(body).map(move |piece| {
        let piece = piece.map_err(io::Error::other)?;
        let before = unread_bytes.fetch_add(piece.len(), Ordering::Relaxed);
        if before > EVENT_BYTES_MAX {
            return Err(io::Error::other("an event without an end"));
        }
        Ok(piece)
    });
    Box::pin(pieces)
}
