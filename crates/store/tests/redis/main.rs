//! The Redis store over real servers, which the tests start themselves.
#![allow(clippy::unwrap_used, reason = "a test")]

mod capacity;
mod cluster;
mod damage;
mod documented;
mod events;
mod faults;
mod inbox;
mod layout;
mod nodes;
mod owner_faults;
mod owners;
mod presence;
mod proxy;
mod sentinel;
mod single;
mod subject;
mod tls;
