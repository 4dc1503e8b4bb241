//! Random sequences of operations, carried out on a store and on the model side by side.
//!
//! After every step everything that can be observed must be the same, and the invariants must
//! hold. Others are carried out on a store alone, between the pages of its lists. A sequence that tells the two apart is shrunk to a short one and printed together with the
//! seed it came from; with that seed in `PUNCTUAL_SEED` the same sequences run again.

mod check;
mod owners;
mod pair;
mod steps;
mod walks;

use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use self::pair::Pair;
use self::walks::World;
use super::{Fixture, Subject, start};
use crate::clock::ManualClock;

/// The variable that names the seed to run again.
const SEED: &str = "PUNCTUAL_SEED";

/// Compares a store with the model over a number of random sequences.
///
/// # Panics
/// If a sequence tells them apart.
pub fn compare<F, M, S>(sequences: u32, make: F)
where
    F: Fn(ManualClock) -> M,
    M: Future<Output = S>,
    S: Subject,
{
    run(sequences, &steps::sequence(), async |sequence| {
        let clock = ManualClock::new(start());
        let subject = make(clock.clone()).await;
        Pair::new(Box::new(subject), clock).run(&sequence).await
    });
}

/// Lists tasks page by page while others change them, over a number of random sequences: what stays in
/// its state throughout must be listed exactly once, in the order it had when the list began.
///
/// # Panics
/// If a list shows something else.
pub fn walk<F, M, S>(sequences: u32, make: F)
where
    F: Fn(ManualClock) -> M,
    M: Future<Output = S>,
    S: Subject,
{
    run(sequences, &walks::sequence(), async |sequence| {
        let clock = ManualClock::new(start());
        let subject = make(clock.clone()).await;
        World::new(Fixture::new(Box::new(subject), clock)).run(&sequence).await
    });
}

/// Carries out random sequences, each from a new beginning.
fn run<T, S>(
    sequences: u32,
    strategy: &S,
    carry_out: impl AsyncFn(Vec<T>) -> Result<(), TestCaseError>,
) where
    T: Debug,
    S: Strategy<Value = Vec<T>>,
{
    let seed = seed();
    let config = Config { cases: sequences, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &wide(seed));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    let outcome = TestRunner::new_with_rng(config, rng)
        .run(strategy, |sequence| runtime.block_on(carry_out(sequence)));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, sequence)) => {
            let steps: Vec<_> = sequence.iter().map(|step| format!("{step:?}")).collect();
            panic!(
                "the store is not as it should be: {reason}\nafter\n{}\n\
                 run it again with {SEED}={seed}",
                steps.join("\n")
            )
        }
        Err(error) => panic!("{error}\nrun it again with {SEED}={seed}"),
    }
}

fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{SEED}: a whole number")),
        Err(_) => getrandom::u64().expect("the system has random numbers"),
    }
}

/// The seed in the width the generator asks for.
fn wide(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes
}
