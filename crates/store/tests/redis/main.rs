//! The Redis store over real servers, which the tests start themselves.
#![allow(clippy::unwrap_used, reason = "a test")]

mod nodes;
mod server;
mod single;
mod subject;
