//! The Redis store over real servers, which the tests start themselves.
//! Its conformance checks are in `conformance`.
#![allow(clippy::unwrap_used, reason = "a test")]

mod capacity;
mod cluster;
mod damage;
mod events;
mod faults;
mod inbox;
mod layout;
mod nodes;
mod owner_faults;
mod owners;
mod presence;
mod proxy;
mod reshard;
mod sentinel;
mod single;
#[path = "../subjects/redis.rs"]
mod subject;
mod tls;
mod waits;
