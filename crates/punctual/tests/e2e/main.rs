//! The real binary, from outside: how it starts, what a user does with it, how it stops.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod backup;
mod bulk;
mod bundles;
mod client;
mod config;
mod deliver;
mod drain;
mod ear;
mod events;
mod failures;
mod flow;
mod metrics;
mod notice;
mod plan;
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../faults/raw.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod raw;
mod restart;
mod scrape;
mod service;
mod start;
mod target;
mod terminal;
mod tls;
mod tour;
mod watch;
