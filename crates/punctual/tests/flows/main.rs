//! Flows of the real binary: servers are killed while their steps are carried out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../plans/api.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod api;
mod crash;
#[path = "../plans/place.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod place;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../faults/raw.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod raw;
