//! What every store must do, as one suite of checks over the port, and a comparison with the model.
//!
//! An adapter's own test file only says how a store is made and restarted: it implements
//! [`Subject`], and hands a maker to every check of [`all_checks`] and to [`random::compare`]. Each check is a
//! test of its own there, `store::topic::check`.
//!
//! A check is an `async fn` named in the `checks!` list of its file. A check that is missing there, or a
//! list that is missing in [`all_checks`], is dead code, which the compiler reports.

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

/// One check of what a store must do.
pub struct Check {
    /// Its name, `topic::check`.
    pub name: &'static str,
    run: fn(Fixture) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Check {
    /// Whether it is about what outlives a restart.
    pub fn is_about_restarts(&self) -> bool {
        self.name.contains("restart")
    }

    /// Carries it out on a new store.
    ///
    /// # Panics
    /// If it does not hold.
    pub async fn run<F, M, S>(&self, make: F)
    where
        F: FnOnce(ManualClock) -> M,
        M: Future<Output = S>,
        S: Subject,
    {
        let clock = ManualClock::new(start());
        let subject = make(clock.clone()).await;
        (self.run)(Fixture::new(Box::new(subject), clock)).await;
    }
}

/// Lists checks by their functions.
macro_rules! checks {
    ($topic:literal: $($check:ident),* $(,)?) => {
        pub(super) const CHECKS: &[crate::conformance::Check] = &[$(crate::conformance::Check {
            name: concat!($topic, "::", stringify!($check)),
            run: |fixture| Box::pin($check(fixture)),
        }),*];
    };
}
use checks;

/// The time at which every check begins.
fn start() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

/// Every check.
pub fn all_checks() -> impl Iterator<Item = &'static Check> {
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
        full::CHECKS,
    ];
    topics.into_iter().chain(owners::CHECKS).flatten()
}
