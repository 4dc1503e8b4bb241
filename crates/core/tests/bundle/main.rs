//! Bundles: every rule about when they are due, who has them and what becomes of them.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod deliver;
mod push;
mod random;
mod scene;
mod work;
