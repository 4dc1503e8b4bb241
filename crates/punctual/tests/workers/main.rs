//! Programs that work for a server: the worker runtime of the client library, and the example made with
//! it, against the real binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
mod example;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
mod runtime;
mod scene;
