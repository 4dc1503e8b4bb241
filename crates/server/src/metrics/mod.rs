//! What is measured, and how it reads at `/metrics`.
//!
//! ```text
//!   events.announce ─▶ queues ┐
//!   guard ──────────▶ requests├─▶ gather ─▶ text (Prometheus)
//!   deliveries, loops, store ─┘     ▲
//!                     store.stats, hosts, roster, process: read when somebody asks
//! ```
//!
//! Noting something is an addition or two to atomics: nobody waits for a lock, but for a moment where a
//! queue is seen for the first time. How deep queues are is read from the store's indexes when somebody
//! asks, and nothing is scanned. What is measured is told by queue, route and state: never by id, URL,
//! worker or host, so that there are only so many series.

mod gather;
mod process;
mod queues;
mod requests;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use punctual_core::announce::{NAMES, PUB};
use punctual_core::{Announcement, QueueName, Span};
use punctual_store::measure::{Histogram, SPANS};

pub(crate) use self::gather::{Sources, gather};
pub(crate) use self::process::unix_seconds;
pub(crate) use self::queues::Delivered;
use self::queues::Queues;
pub(crate) use self::requests::Requests;

/// What falls due by itself, besides tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The ends of holds and confirmation times, and expiry.
    Hold,
    /// The times of plans, bundles, flows and workers.
    Owner,
}

/// All that is counted here.
#[derive(Debug)]
pub(crate) struct Meters {
    queues: Queues,
    /// Events by name; the last are broadcasts.
    events: [AtomicU64; NAMES.len() + 1],
    events_dropped: AtomicU64,
    races_lost: AtomicU64,
    timers: [Histogram; 2],
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            queues: Queues::default(),
            events: std::array::from_fn(|_| AtomicU64::new(0)),
            events_dropped: AtomicU64::new(0),
            races_lost: AtomicU64::new(0),
            timers: std::array::from_fn(|_| Histogram::new(SPANS)),
        }
    }
}

impl Meters {
    /// Counts what happened: all that becomes of a task is announced, and nothing that did not happen.
    pub(crate) fn announced(&self, news: &Announcement) {
        let place = match news.kind() {
            kind if kind.starts_with(PUB) => Some(NAMES.len()),
            kind => NAMES.iter().position(|name| *name == kind),
        };
        if let Some(place) = place {
            self.events[place].fetch_add(1, Ordering::Relaxed);
        }
        self.queues.announced(news);
    }

    /// An event was not told to those who listen.
    pub(crate) fn event_dropped(&self) {
        self.events_dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// A decision was not written, because a record it was made from has changed; it is made again.
    pub(crate) fn race_lost(&self) {
        self.races_lost.fetch_add(1, Ordering::Relaxed);
    }

    /// A delivery has ended.
    pub(crate) fn delivered(&self, queue: &QueueName, outcome: Delivered, took: Option<Duration>) {
        self.queues.delivered(queue, outcome, took);
    }

    /// Something that fell due by itself was dealt with so late.
    pub(crate) fn late(&self, timer: Timer, by: Span) {
        self.timers[timer as usize].observe(by.as_secs_f64());
    }
}
