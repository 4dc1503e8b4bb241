//! What every store must do, as one suite of checks over the port, and a comparison with the model.
//!
//! An adapter's own test file only says how a store is made and restarted: it implements
//! [`Subject`], and hands a maker to [`run_all`] and to [`random::compare`].

mod audit;
mod commit;
mod events;
mod fixture;
pub mod full;
mod keyed;
mod list;
mod moves;
pub(crate) mod owners;
mod push;
mod queues;
pub mod random;
mod receipts;
mod restart;
mod take;
mod time;
mod wake;
mod workers;

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use punctual_core::Timestamp;

pub use self::fixture::Fixture;
pub use self::owners::owner_of;
use crate::clock::ManualClock;
use crate::port::Store;

/// A store that is checked.
#[async_trait]
pub trait Subject: Send + Sync + 'static {
    /// The store, as it runs now.
    fn store(&self) -> Arc<dyn Store>;

    /// Stops it and starts it again from what it has kept. False: it keeps nothing over a stop, and
    /// was left running.
    async fn restart(&mut self) -> bool;

    /// Whether there is only one clock, another machine's: durations then hear of it when it is set,
    /// and a restart of this user of the store changes nothing for the others.
    fn has_one_clock(&self) -> bool {
        false
    }

    /// Whether a restart moves everything to another store: then limits begin anew, and versions that
    /// were read before are of no use.
    fn moves(&self) -> bool {
        false
    }
}

/// One check. It gets a store of its own.
type Check = fn(Fixture) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// Lists checks with their names, `topic::check`.
macro_rules! checks {
    ($topic:literal: $($check:ident),* $(,)?) => {
        pub(super) const CHECKS: &[(&str, crate::conformance::Check)] =
            &[$((concat!($topic, "::", stringify!($check)), |f| Box::pin($check(f)))),*];
    };
}
use checks;

/// The time at which every check begins.
fn start() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

/// Runs every check against a new store each, and fails with the names of those that did not hold.
///
/// # Panics
/// If a check does not hold.
pub async fn run_all<F, M, S>(make: F)
where
    F: Fn(ManualClock) -> M,
    M: Future<Output = S>,
    S: Subject,
{
    run(make, |_| true).await;
}

/// Runs every check of what outlives a restart.
///
/// # Panics
/// If a check does not hold.
pub async fn run_restarts<F, M, S>(make: F)
where
    F: Fn(ManualClock) -> M,
    M: Future<Output = S>,
    S: Subject,
{
    run(make, |name| name.contains("restart")).await;
}

async fn run<F, M, S>(make: F, is_wanted: impl Fn(&str) -> bool)
where
    F: Fn(ManualClock) -> M,
    M: Future<Output = S>,
    S: Subject,
{
    let topics = [
        push::CHECKS,
        take::CHECKS,
        commit::CHECKS,
        receipts::CHECKS,
        keyed::CHECKS,
        queues::CHECKS,
        list::CHECKS,
        moves::CHECKS,
        time::CHECKS,
        wake::CHECKS,
        workers::CHECKS,
        events::CHECKS,
        restart::CHECKS,
        audit::CHECKS,
    ];
    let topics = topics.into_iter().chain(owners::CHECKS);
    let mut broken = Vec::new();
    for (name, check) in topics.flatten().filter(|(name, _)| is_wanted(name)) {
        let clock = ManualClock::new(start());
        let subject = make(clock.clone()).await;
        let fixture = Fixture::new(Box::new(subject), clock);
        // A task of its own keeps the panic of one check from hiding the others.
        if tokio::spawn(check(fixture)).await.is_err() {
            broken.push(*name);
        }
    }
    assert!(broken.is_empty(), "these do not hold: {}", broken.join(", "));
}
