//! One who listens: a place in the ring, and what is sent from there.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use punctual_store::EventId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::ring::{Read, gap};
use super::{EventFilter, Events, Start};

/// How often somebody who hears nothing is shown that the stream is there, and how far it is.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// One who listens.
pub(crate) struct Listener {
    events: Arc<Events>,
    filter: EventFilter,
    head: watch::Receiver<Option<EventId>>,
    is_closed: watch::Receiver<bool>,
    /// Where it goes on.
    place: u64,
    /// The last event it has passed.
    last: EventId,
    /// What is sent before anything else.
    first: Option<Bytes>,
    is_over: bool,
}

impl Listener {
    /// One who begins somewhere; from now on nothing passes it unseen.
    pub(super) fn new(events: Arc<Events>, filter: EventFilter, start: Start) -> Self {
        let (head, is_closed) = (events.head.subscribe(), events.is_closed.subscribe());
        let ring = events.ring.read().unwrap_or_else(PoisonError::into_inner);
        let (now, end) = (ring.head(), ring.end());
        let known = match start {
            Start::After(id) => ring.after(id).map(|place| (place, id)),
            Start::Now => Some((end, now)),
            Start::Unknown => None,
        };
        drop(ring);
        let (place, last) = known.unwrap_or((end, now));
        let mut first = format!(": open\nid: {last}\n\n").into_bytes();
        if known.is_none() {
            first.extend_from_slice(&gap(now, events.store.now()));
        }
        let first = Some(first.into());
        Self { events, filter, head, is_closed, place, last, first, is_over: false }
    }

    /// What is sent, until it is over.
    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        futures_util::stream::unfold(self, async |mut listener| {
            Some((Ok(listener.next().await?), listener))
        })
    }

    /// Waits for what is to be sent next; none: it is over.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let again_at = Instant::now() + KEEP_ALIVE;
        loop {
            if self.is_over || *self.is_closed.borrow() {
                return None;
            }
            self.head.mark_unchanged();
            match self.read() {
                (frames, _) if !frames.is_empty() => return Some(frames),
                (_, true) => tokio::task::yield_now().await,
                (_, false) => tokio::select! {
                    changed = self.head.changed() => changed.ok()?,
                    closed = self.is_closed.changed() => closed.ok()?,
                    () = sleep_until(again_at) => {
                        return Some(format!("id: {}\n\n", self.last).into());
                    }
                },
            }
        }
    }

    /// Reads what there is, and whether it got on. One that the ring has passed over is told so, as the
    /// last it hears.
    fn read(&mut self) -> (Bytes, bool) {
        let ring = self.events.ring.read().unwrap_or_else(PoisonError::into_inner);
        match ring.read(self.place, &self.filter) {
            Read::Gone => {
                self.is_over = true;
                (gap(ring.head(), self.events.store.now()), true)
            }
            Read::Frames { frames, next, last } => {
                let has_moved = next != self.place;
                (self.place, self.last) = (next, last.unwrap_or(self.last));
                (frames, has_moved)
            }
        }
    }
}
