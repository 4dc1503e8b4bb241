//! How much of a server a token takes: requests, streams, connections, bytes of requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::queue::Rate;
use punctual_core::{Timestamp, TokenUse};
use tokio::sync::Notify;

use super::Bearer;

/// What one token takes of this server.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    unwritten: Mutex<TokenUse>,
    bucket: Mutex<Option<Bucket>>,
    streams: AtomicU64,
    connections: AtomicU64,
    bytes: AtomicU64,
}

/// How many requests may come now.
#[derive(Debug)]
struct Bucket {
    level: f64,
    at: Instant,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to a count if it stays within a limit.
fn grow(count: &AtomicU64, by: u64, max: Option<u64>) -> bool {
    let more =
        |count: u64| count.checked_add(by).filter(|count| max.is_none_or(|max| *count <= max));
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

impl Meter {
    /// Notes a request. True: nothing was noted since the last time it was written down.
    pub(super) fn used(&self, now: Timestamp) -> bool {
        let mut used = locked(&self.unwritten);
        let is_first = used.is_none();
        used.requests += 1;
        used.last_used = used.last_used.max(Some(now));
        is_first
    }

    /// Notes a refusal, likewise.
    pub(super) fn refused(&self) -> bool {
        let mut used = locked(&self.unwritten);
        let is_first = used.is_none();
        used.refusals += 1;
        is_first
    }

    pub(super) fn take(&self) -> TokenUse {
        std::mem::take(&mut *locked(&self.unwritten))
    }

    pub(super) fn unwritten(&self) -> TokenUse {
        *locked(&self.unwritten)
    }

    pub(super) fn give_back(&self, used: TokenUse) {
        let mut unwritten = locked(&self.unwritten);
        *unwritten = unwritten.and(used);
    }

    /// Takes a request out of the bucket; else says how long it takes until there is one more.
    pub(crate) fn admit(&self, rate: Rate, now: Instant) -> Result<(), Duration> {
        let (limit, per) = (f64::from(rate.limit), rate.per.as_millis() as f64 / 1e3);
        let mut bucket = locked(&self.bucket);
        let bucket = bucket.get_or_insert(Bucket { level: limit, at: now });
        let passed = now.duration_since(bucket.at).as_secs_f64();
        bucket.level = (bucket.level + passed * limit / per).min(limit);
        bucket.at = now;
        if bucket.level < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.level) * per / limit));
        }
        bucket.level -= 1.0;
        Ok(())
    }

    /// Adds bytes that are worked on, if that stays within a limit.
    pub(crate) fn grow_bytes(&self, bytes: u64, max: Option<u64>) -> bool {
        grow(&self.bytes, bytes, max)
    }

    /// Takes back bytes that are no longer worked on.
    pub(crate) fn shrink_bytes(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A stream or a connection of a token, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    meter: Arc<Meter>,
    count: fn(&Meter) -> &AtomicU64,
}

impl Seat {
    /// One more stream; none: it has its limit.
    pub(crate) fn stream(bearer: &Bearer) -> Option<Self> {
        Self::take(bearer, |meter| &meter.streams, bearer.limits.streams)
    }

    fn take(bearer: &Bearer, count: fn(&Meter) -> &AtomicU64, max: Option<u64>) -> Option<Self> {
        let meter = bearer.meter.clone();
        grow(count(&meter), 1, max).then_some(Self { meter, count })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        (self.count)(&self.meter).fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection, and the token of the last request that came over it.
#[derive(Debug, Default)]
pub(crate) struct Line {
    seat: Mutex<Option<Seat>>,
    cut: Notify,
}

impl Line {
    /// A request of a token has come. False: the token has its limit of connections.
    pub(crate) fn carries(&self, bearer: &Bearer) -> bool {
        let mut seat = locked(&self.seat);
        if seat.as_ref().is_some_and(|seat| Arc::ptr_eq(&seat.meter, &bearer.meter)) {
            return true;
        }
        let next = Seat::take(bearer, |meter| &meter.connections, bearer.limits.connections);
        let fits = next.is_some();
        if fits {
            *seat = next;
        }
        fits
    }

    /// Ends the connection.
    pub(crate) fn cut(&self) {
        self.cut.notify_one();
    }

    /// Waits until the connection is to be ended.
    pub(crate) async fn is_cut(&self) {
        self.cut.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_core::Span;

    #[test]
    fn requests_come_at_their_rate_and_in_bursts() {
        let (meter, start) = (Meter::default(), Instant::now());
        let rate = Rate { limit: 2, per: Span::from_secs(10) };
        let at = |seconds| meter.admit(rate, start + Duration::from_secs(seconds));
        assert_eq!((at(0), at(0)), (Ok(()), Ok(())));
        assert_eq!(at(0), Err(Duration::from_secs(5)));
        assert_eq!((at(5), at(5).is_err()), (Ok(()), true));
        assert_eq!((at(100), at(100), at(100).is_err()), (Ok(()), Ok(()), true));
    }

    #[test]
    fn what_could_not_be_written_down_is_not_lost() {
        let (meter, now) = (Meter::default(), Timestamp::from_millis(7));
        assert!(meter.used(now) && !meter.used(now) && !meter.refused());
        let taken = meter.take();
        assert_eq!((taken.requests, taken.refusals, taken.last_used), (2, 1, Some(now)));
        assert!(meter.refused() && meter.unwritten().refusals == 1);
        meter.give_back(taken);
        assert_eq!(meter.unwritten().refusals, 2);
    }
}
