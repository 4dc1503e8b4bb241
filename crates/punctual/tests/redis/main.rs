//! The real binary over a real Redis: how it starts, several servers over one store, what happens
//! while Redis is away, the doctor, and the move to and from files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod away;
mod clock;
mod deliver;
mod doctor;
#[path = "../e2e/ear.rs"]
mod ear;
mod events;
mod inbox;
mod metrics;
mod migrate;
mod nodes;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod process;
#[path = "../faults/raw.rs"]
mod raw;
#[path = "../e2e/scrape.rs"]
mod scrape;
mod several;
mod start;
#[path = "../e2e/target.rs"]
mod target;
#[path = "../faults/task.rs"]
#[expect(dead_code, reason = "other suites use the rest")]
mod task;

use std::path::Path;

use punctual_testing::redis::Server as Redis;

use crate::process::Server;

/// A server over a Redis.
fn node(redis: &Redis) -> Server {
    Server::start(Path::new(&redis.url()))
}
