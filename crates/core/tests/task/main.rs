//! The task state machine: every edge, every rule of its verbs, and random lives.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod announce;
mod control;
mod deliver;
mod edges;
mod edit;
mod ends;
mod holder;
mod lives;
mod notices;
mod records;
mod scene;
mod settle;
mod why;
