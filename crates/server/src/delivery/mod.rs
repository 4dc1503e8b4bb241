//! Deliveries: the server itself carries out the tasks of queues of mode `http`, by calling URLs.
//!
//! ```text
//!   store.wakeups ─▶ Deliveries::call ─▶ executor ─▶ store.take (only for targets with room)
//!                                          │ ▲
//!                         hosts: how much a target is given, who waits for it, its connections
//!                                          ▼ │
//!                                        send ─▶ connect ─▶ the target, if deliveries may go there
//!                                          │
//!                                        engine.settle: what the attempt makes of the task
//! ```
//!
//! - `executor`: one loop per server. It takes no more than it can carry out (`look`), so everything
//!   here is bounded, and a target that hangs keeps nobody else waiting. `load`: what a bundle is
//!   delivered with. `conclude`: what is said to the store afterwards.
//! - `shares`: limits per queue. `hosts`, `valve`: limits per target, and what becomes of one that is down.
//! - `attempt`, `send`, `answer`, `sign`: one attempt. `connect`, `resolve`, `tls`, `line`: its connection.
//!
//! What an attempt means for a task is `core`'s to say.

mod answer;
mod attempt;
mod conclude;
mod connect;
mod executor;
mod hosts;
mod line;
mod load;
mod look;
mod resolve;
mod send;
mod shares;
mod sign;
mod tls;
mod valve;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use punctual_core::http::Reach;
use punctual_core::why::Target;
use punctual_core::{QueueName, Span, Timestamp};
use rustls::pki_types::CertificateDer;
use tokio::sync::watch;
use tokio::time::Instant;

use self::connect::Network;
pub(crate) use self::executor::Executor;
use self::hosts::Hosts;
pub(crate) use self::hosts::{HostReading, HostState};
pub use self::resolve::Resolve;
use self::resolve::SystemResolver;
use self::send::Client;
use self::shares::Shares;
use self::tls::Tls;
use crate::calls::Calls;

/// Limits of all deliveries of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// Most deliveries under way at once.
    pub max_in_flight: usize,
    /// The longest one may take, whatever its time-out.
    pub max_timeout: Span,
}

impl Default for DeliveryLimits {
    fn default() -> Self {
        Self { max_in_flight: 1_000, max_timeout: Span::from_secs(3_600) }
    }
}

/// What can be set about deliveries.
#[derive(Clone)]
pub struct DeliveryConfig {
    /// Where they may go.
    pub reach: Reach,
    /// How many there are at once, and how long each may take.
    pub limits: DeliveryLimits,
    /// How names are looked up.
    pub resolver: Arc<dyn Resolve>,
    /// Whose certificates are trusted besides those the machine trusts.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for DeliveryConfig {
    fn default() -> Self {
        let resolver = Arc::new(SystemResolver);
        let limits = DeliveryLimits::default();
        Self { reach: Reach::public(), limits, resolver, extra_roots: Vec::new() }
    }
}

impl fmt::Debug for DeliveryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryConfig").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl DeliveryConfig {
    fn network(self) -> Network {
        let Self { reach, limits: _, resolver, extra_roots } = self;
        Network { resolver, reach, tls: Tls::new(extra_roots) }
    }
}

/// Sends what the server says on its own account, wherever that goes.
pub(crate) struct Messenger(Client);

impl Messenger {
    /// One that looks up names and trusts certificates as deliveries do.
    pub(crate) fn new(config: &DeliveryConfig) -> Self {
        let config = DeliveryConfig { reach: Reach::everywhere(), ..config.clone() };
        Self(send::client(&Arc::new(config.network()), 1))
    }

    /// Sends a request. The status it is answered with; none: it was not.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Option<StatusCode> {
        self.0.request(request).await.ok().map(|response| response.status())
    }
}

/// What the executor shares with the rest of the server: calls to look at queues, and how targets
/// are doing.
pub(crate) struct Deliveries {
    calls: Calls,
    /// How many attempts are under way, or are yet to be stored.
    under_way: watch::Sender<usize>,
    hosts: Mutex<Hosts>,
    shares: Mutex<Shares>,
    /// The longest one may take.
    max_timeout: Span,
}

impl Deliveries {
    /// No deliveries yet.
    pub(crate) fn new(config: DeliveryConfig) -> Self {
        let DeliveryLimits { max_in_flight, max_timeout } = config.limits;
        let hosts = Mutex::new(Hosts::new(Arc::new(config.network())));
        let shares = Mutex::new(Shares::new(max_in_flight));
        let under_way = watch::Sender::new(0);
        Self { calls: Calls::default(), under_way, hosts, shares, max_timeout }
    }

    /// Says that a queue of mode `http` may have tasks to deliver.
    pub(crate) fn call(&self, queue: QueueName) {
        self.calls.call(queue);
    }

    /// Resolves when all that can be delivered now has been begun.
    pub(crate) async fn begun(&self) {
        self.calls.begun().await;
    }

    /// Resolves when all that can be delivered now has been, and what became of it is stored.
    pub(crate) async fn ended(&self) {
        let mut under_way = self.under_way.subscribe();
        loop {
            self.begun().await;
            if *under_way.borrow_and_update() == 0 {
                return;
            }
            // With the sender in this very place, the wait cannot fail.
            let _ = under_way.changed().await;
        }
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How all targets are doing, by name.
    pub(crate) fn readings(&self, now: Timestamp) -> Vec<HostReading> {
        self.hosts().readings(Instant::now(), now)
    }

    /// How the target of a queue's task is doing.
    pub(crate) fn target(&self, queue: &QueueName, host: &str, now: Timestamp) -> Target {
        if self.shares().is_held_back(queue) {
            return Target::Unshared;
        }
        let (hosts, instant) = (self.hosts(), Instant::now());
        match hosts.probed_at(host) {
            _ if hosts.room(host, instant) > 0 => Target::Free,
            None => Target::Busy,
            Some(at) => {
                let wait = at.saturating_duration_since(instant).as_millis();
                let wait = i64::try_from(wait).unwrap_or(i64::MAX);
                Target::Down { probed_at: now + Span::from_millis(wait) }
            }
        }
    }
}
