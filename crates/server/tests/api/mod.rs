//! The HTTP interface, checked from outside: a real server over TCP, a store with a movable clock.
//!
//! Whoever includes this says over which store, as `crate::store`.

mod access;
mod backup;
mod bad_input;
mod batches;
mod bundles;
mod callbacks;
mod conditions;
mod connections;
mod control;
mod dashboard;
mod delivery;
mod events;
mod failures;
mod faults;
mod flows;
mod holders;
mod idempotency;
mod lists;
mod metrics;
mod names;
mod notices;
mod plan_lists;
mod plan_policies;
mod plans;
mod pushes;
mod queues;
mod routes;
mod server;
mod stats;
mod system;
mod takes;
mod tls;
mod tokens;
mod traces;
mod waits;
mod wire;
mod workers;

pub(crate) use serde_json::json;
pub(crate) use server::{PATIENCE, TestServer};
