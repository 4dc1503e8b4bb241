//! Random sequences of operations, carried out on a store and on the model side by side.
//!
//! After every step everything that can be observed must be the same, and the invariants must
//! hold. A sequence that tells the two apart is shrunk to a short one and printed together with the
//! seed it came from; with that seed in `PUNCTUAL_SEED` the same sequences run again.

mod check;
mod owners;
mod pair;
mod steps;

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use self::pair::Pair;
use super::{Subject, start};
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
    let seed = seed();
    let config = Config { cases: sequences, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &wide(seed));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    let outcome = TestRunner::new_with_rng(config, rng).run(&steps::sequence(), |sequence| {
        runtime.block_on(async {
            let clock = ManualClock::new(start());
            let subject = make(clock.clone()).await;
            Pair::new(Box::new(subject), clock).run(&sequence).await
        })
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, sequence)) => {
            let steps: Vec<_> = sequence.iter().map(|step| format!("{step:?}")).collect();
            panic!(
                "the store and the model differ: {reason}\nafter\n{}\n\
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
