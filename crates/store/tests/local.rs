//! Random sequences on the embedded store, on disk and in memory. Its conformance checks are in `conformance`.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "subjects/local.rs"]
mod local;

use punctual_store::conformance::random;

use self::local::Local;

#[test]
fn random_sequences_on_disk() {
    random::compare(100, Local::on_disk);
}

#[test]
fn random_sequences_in_memory() {
    random::compare(300, Local::in_memory);
}

#[test]
fn random_lists_on_disk() {
    random::walk(50, Local::on_disk);
}

#[test]
fn random_lists_in_memory() {
    random::walk(300, Local::in_memory);
}
