//! How long a connection may keep silent. hyper would set a timer for the head of every request and
//! take it down again; here one timer per connection looks now and then how long it has been.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// The time by the clock that timers go by.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Stands for no moment.
const NEVER: u64 = u64::MAX;

/// What a connection's peer has to do, and by when: send the head of a request.
#[derive(Debug, Clone)]
pub(crate) struct Patience(Arc<Deadline>);

#[derive(Debug)]
struct Deadline {
    begun: Instant,
    silence_max: Duration,
    /// The moment by which a head has to be there, in milliseconds since the beginning.
    head_by_ms: AtomicU64,
}

impl Deadline {
    fn set(&self, head_by: Option<Instant>) {
        let since_begun = |at: Instant| at.saturating_duration_since(self.begun).as_millis();
        let ms = head_by.map_or(NEVER, |at| u64::try_from(since_begun(at)).unwrap_or(NEVER));
        self.head_by_ms.store(ms, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Instant> {
        let ms = self.head_by_ms.load(Ordering::Relaxed);
        (ms != NEVER).then(|| self.begun + Duration::from_millis(ms))
    }
}

impl Patience {
    /// With a connection that has just begun and may be silent so long. It counts before hyper does, which
    /// keeps no time until it knows the version of HTTP.
    pub(crate) fn new(silence_max: Duration) -> Self {
        let begun = now();
        let deadline = Deadline { begun, silence_max, head_by_ms: AtomicU64::new(NEVER) };
        deadline.set(Some(begun + silence_max));
        Self(Arc::new(deadline))
    }

    /// A request has come.
    pub(crate) fn heard(&self) {
        self.0.set(None);
    }

    /// Resolves when the peer is late. While no head is waited for, none can be late before the time for
    /// one has passed.
    pub(crate) async fn ended(&self) {
        loop {
            let now = now();
            let head_by = self.0.get().unwrap_or(now + self.0.silence_max);
            if head_by <= now {
                return;
            }
            tokio::time::sleep_until(head_by.into()).await;
        }
    }
}

/// The head of a request is waited for as long as this exists. It never resolves: with the patience at
/// its end the whole connection ends.
struct Waiting(Arc<Deadline>);

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Sleep for Waiting {}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// What hyper is given as a clock for HTTP/1.1: it asks for nothing but the time for a head.
impl Timer for Patience {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.0.set(Some(deadline));
        Box::pin(Waiting(self.0.clone()))
    }

    fn now(&self) -> Instant {
        now()
    }

    fn reset(&self, _: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        self.0.set(Some(deadline));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_millis(40);

    async fn is_over(patience: &Patience) -> bool {
        tokio::time::timeout(MAX * 5, patience.ended()).await.is_ok()
    }

    #[tokio::test]
    async fn it_ends_with_a_head_that_does_not_come() {
        let patience = Patience::new(MAX);
        assert!(is_over(&patience).await, "the first head");
        let mut waiting = patience.sleep_until(Instant::now() + MAX);
        assert!(is_over(&patience).await, "a later head");
        patience.reset(&mut waiting, Instant::now() + MAX);
        assert!(is_over(&patience).await, "one that was given more time");
    }

    #[tokio::test]
    async fn it_does_not_end_while_a_request_is_worked_on() {
        let patience = Patience::new(MAX);
        patience.heard();
        assert!(!is_over(&patience).await, "the first request");
        drop(patience.sleep_until(Instant::now() + MAX));
        assert!(!is_over(&patience).await, "a later request");
    }
}
