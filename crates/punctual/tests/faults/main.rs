//! The real binary among faults: disks that fail, fill up or are damaged, workers and servers that
//! stop, answers that get lost, input nobody should send. `docs/guarantees.md` lists which test
//! stands for which fault.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod files;
mod full;
mod input;
mod limits;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
mod raw;
mod sync;
mod task;
mod timing;
mod workers;
