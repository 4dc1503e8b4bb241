//! The real binary among faults: disks that fail, fill up or are damaged, workers and servers that
//! stop, answers that get lost, input nobody should send. `docs/guarantees.md` lists which test
//! stands for which fault.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod churn;
mod codes;
mod files;
mod full;
mod input;
mod limits;
mod lossy;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../crash/random.rs"]
#[expect(dead_code, reason = "another suite uses the rest")]
mod random;
mod raw;
mod sync;
mod task;
mod timing;
mod workers;
