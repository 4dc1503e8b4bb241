//! The stream of events: what the engine announces goes to the store, what the store lets hear goes to
//! whoever listens.
//!
//! ```text
//!   verbs, loops ──announce──▶ pending ──flush──▶ store ──hear──▶ ring ◀── cursors of listeners
//! ```
//!
//! Nobody who announces ever waits: what is pending is bounded, and what does not fit is dropped and
//! told as `stream.gap`. All listeners read one ring, each event written once, and have nothing but a
//! place in it, so that a slow one costs no memory; the ring passes over it and it is cut off.
//!
//! - `ring`: the last events. `filter`: what a listener wants. `listener`: one of them. `pace`: what is
//!   told at most so often. `stats`: how much happened lately. `log`: what is written down. `waiters`:
//!   requests that wait for the end of a task.

mod filter;
mod listener;
mod log;
mod pace;
mod ring;
mod stats;
mod waiters;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use punctual_core::Announcement;
use punctual_core::announce::PROGRESS;
use punctual_core::limits::{EVENTS_BYTES_MAX, EVENTS_MAX};
use punctual_store::{EventId, Store, StoreError};
use tokio::sync::{Notify, oneshot, watch};

pub(crate) use self::filter::EventFilter;
pub(crate) use self::listener::Listener;
use self::pace::Pace;
use self::ring::Ring;
pub(crate) use self::stats::{Count, MINUTES, STEP_SECS, STEPS, Series, Stats};
pub(crate) use self::waiters::{Waiter, Waiters};
use crate::engine::{Backoff, complain};
use crate::metrics::Meters;
use crate::traces::Tracer;

/// How long events gather while nobody listens here.
const GATHER: Duration = Duration::from_millis(10);
/// How long a listener waits for what was announced before it came.
const SYNC_WITHIN: Duration = Duration::from_secs(2);
/// How long a listener waits for a server that has only just started.
const BEGIN_WITHIN: Duration = Duration::from_secs(5);

/// Everything that events need.
pub(crate) struct Events {
    store: Arc<dyn Store>,
    meters: Arc<Meters>,
    tracer: Arc<Tracer>,
    pending: Mutex<Pending>,
    flush: Notify,
    progress: Pace,
    ring: RwLock<Ring>,
    /// Whether somebody listens or did, here or perhaps at another server. Until then no event has an id
    /// that anybody knows, and none needs to be kept.
    is_heard: AtomicBool,
    /// What happened lately, counted.
    pub(crate) stats: Stats,
    /// Requests that wait for the end of a task.
    pub(crate) waiters: Arc<Waiters>,
    /// The last event in the ring; none until the past was heard.
    head: watch::Sender<Option<EventId>>,
    is_closed: watch::Sender<bool>,
}

/// Announcements that the store is yet to hear of.
#[derive(Default)]
struct Pending {
    announcements: Vec<Announcement>,
    bytes: usize,
    /// Whether some did not fit.
    is_lossy: bool,
    /// Told, when all before them is announced, which was the last.
    syncs: Vec<oneshot::Sender<EventId>>,
}

/// Whether somebody listens over a connection, or did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listening(Arc<AtomicBool>);

impl Listening {
    /// Somebody does.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody does, or did.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where a listener goes on from.
pub(crate) enum Start {
    /// From what happens next.
    Now,
    /// From the event after this one.
    After(EventId),
    /// From one that cannot be known.
    Unknown,
}

impl Events {
    /// The events of a store.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        meters: Arc<Meters>,
        tracer: Arc<Tracer>,
    ) -> Arc<Self> {
        Arc::new(Self {
            is_heard: AtomicBool::new(!store.is_exclusive()),
            store,
            meters,
            tracer,
            pending: Mutex::default(),
            flush: Notify::new(),
            progress: Pace::default(),
            ring: RwLock::default(),
            stats: Stats::default(),
            waiters: Arc::default(),
            head: watch::Sender::new(None),
            is_closed: watch::Sender::new(false),
        })
    }

    /// Tells whoever listens, and counts it. Never waits and never fails: events inform, they are no promise.
    pub(crate) fn announce(&self, announcements: impl IntoIterator<Item = Announcement>) {
        // Measured before anybody else has to wait for it.
        let announcements: Vec<_> =
            announcements.into_iter().inspect(|news| self.measure(news)).collect();
        if !self.is_heard.load(Ordering::Relaxed) {
            return;
        }
        let mut pending = self.pending();
        let was_empty = pending.announcements.is_empty();
        for announcement in announcements {
            let paced = match announcement.kind() {
                PROGRESS => self.progress.limit(announcement),
                _ => Some(announcement),
            };
            if let Some(announcement) = paced
                && !pending.add(announcement)
            {
                self.meters.event_dropped();
            }
        }
        if was_empty && !pending.announcements.is_empty() {
            self.flush.notify_one();
        }
    }

    /// Counts what happened, hands on the spans it ends, and writes it down.
    fn measure(&self, news: &Announcement) {
        self.meters.announced(news);
        if self.store.is_exclusive() {
            self.stats.note(news);
        }
        self.tracer.record(news.spans());
        self.waiters.announced(news);
        log::note(news);
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over what is pending, whenever something is: all that gathered while the last was under way
    /// goes together.
    pub(crate) async fn run_announcing(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        let mut last = EventId::default();
        loop {
            self.flush.notified().await;
            if self.head.receiver_count() == 0 {
                // With nobody to hear it here there is no hurry, and requests are not slowed down.
                tokio::time::sleep(GATHER).await;
            }
            let Pending { mut announcements, is_lossy, syncs, .. } =
                std::mem::take(&mut *self.pending());
            if is_lossy {
                announcements.insert(0, Announcement::gap(self.store.now()));
            }
            let announced = match announcements.is_empty() {
                true => Ok(last),
                false => self.store.announce(&announcements).await,
            };
            match announced {
                Ok(id) => {
                    last = id;
                    backoff.reset();
                }
                Err(failure) => {
                    complain("events", &failure);
                    backoff.wait().await;
                    self.lost();
                }
            }
            for sync in syncs {
                // One that no longer waits needs no answer.
                let _ = sync.send(last);
            }
        }
    }

    /// Notes that events were lost.
    fn lost(&self) {
        self.pending().is_lossy = true;
        self.flush.notify_one();
    }

    /// Keeps what is heard in the ring.
    pub(crate) async fn run_hearing(self: Arc<Self>) {
        let mut hearing = self.store.hearing();
        while let Some(heard) = hearing.recv().await {
            let now = self.store.now();
            if !self.store.is_exclusive() {
                self.stats.hear(&heard.events, now);
                heard.events.iter().for_each(|event| self.waiters.heard(event));
            }
            let (head, is_gap) = {
                let mut ring = self.ring.write().unwrap_or_else(PoisonError::into_inner);
                let is_gap = ring.hear(heard, now);
                (ring.head(), is_gap)
            };
            if is_gap {
                self.waiters.look();
            }
            self.head.send_replace(Some(head));
        }
    }

    /// Waits until all that was announced here so far is in the ring, or for a while.
    pub(crate) async fn sync(&self) {
        let (sync, synced) = oneshot::channel();
        self.pending().syncs.push(sync);
        self.flush.notify_one();
        let synced = async {
            if let Ok(last) = synced.await {
                self.reach(last).await;
            }
        };
        // If it takes longer, what comes late is told late.
        let _ = tokio::time::timeout(SYNC_WITHIN, synced).await;
    }

    /// Waits until an event is in the ring, or a later one.
    async fn reach(&self, id: EventId) {
        // The sender lives as long as this.
        let _ = self.head.subscribe().wait_for(|head| head.is_some_and(|head| head >= id)).await;
    }

    /// Begins to listen. All that happens from now on is heard, and nothing that happened here before.
    pub(crate) async fn listen(
        self: &Arc<Self>,
        filter: EventFilter,
        start: Start,
    ) -> Result<Listener, StoreError> {
        self.is_heard.store(true, Ordering::Relaxed);
        let begun = self.reach(EventId::default());
        if tokio::time::timeout(BEGIN_WITHIN, begun).await.is_err() {
            return Err(StoreError::unavailable("the events so far are still being read"));
        }
        match start {
            Start::After(id) => {
                // It may have come from another server, which was faster.
                let _ = tokio::time::timeout(SYNC_WITHIN, self.reach(id)).await;
            }
            Start::Now | Start::Unknown => self.sync().await,
        }
        Ok(Listener::new(self.clone(), filter, start))
    }

    /// Waits until all who listen are let go.
    pub(crate) async fn closed(&self) {
        // The sender lives as long as this.
        let _ = self.is_closed.subscribe().wait_for(|is_closed| *is_closed).await;
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.head.receiver_count()
    }

    /// Lets all who listen go.
    pub(crate) fn close(&self) {
        self.is_closed.send_replace(true);
    }
}

impl Pending {
    /// Adds one; false: it did not fit.
    fn add(&mut self, announcement: Announcement) -> bool {
        let bytes = announcement.bytes();
        if self.announcements.len() >= EVENTS_MAX || self.bytes + bytes > EVENTS_BYTES_MAX {
            self.is_lossy = true;
            return false;
        }
        self.bytes += bytes;
        self.announcements.push(announcement);
        true
    }
}
