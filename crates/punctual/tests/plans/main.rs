//! Plans of the real binary, over the embedded store and over Redis: their lives, crashes, days without
//! a server, clocks that are set, and the clock that users move.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api;
mod clock;
mod crash;
mod down;
mod moved;
mod place;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../faults/raw.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod raw;
mod runs;
mod target;
