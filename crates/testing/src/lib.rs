//! Servers and helpers that the tests and benchmarks of several crates share. It is not part of a release.
//!
//! - [`redis`]: Redis servers of the tests' own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod redis;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Longer than a server needs for anything in a test.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A port nobody listens on: none of those that connections are made from, so that it stays free
/// until it is used.
pub fn free_port() -> u16 {
    const PORTS: Range<u16> = 10_000..32_768;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    // Its keys are random, and so is what it makes of nothing.
    let random = || RandomState::new().build_hasher().finish();
    let mut drawn = (0..1_000).map(|_| PORTS.start + (random() % PORTS.len() as u64) as u16);
    drawn.find(is_free).expect("a port is free")
}

/// Waits until something holds.
pub fn eventually<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = holds() {
            return value;
        }
        assert!(Instant::now() < deadline, "{what} does not come true");
        std::thread::sleep(Duration::from_millis(20));
    }
}
