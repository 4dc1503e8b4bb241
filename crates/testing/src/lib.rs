//! What the tests and benchmarks of several crates share; no part of a release.
//!
//! - [`redis`]: Redis servers of the tests' own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod redis;

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

/// Longer than a server needs for anything in a test.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A port nobody listens on.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
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
