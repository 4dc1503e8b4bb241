//! The task state machine: every edge, every rule of its verbs, and random lives.

mod control;
mod edges;
mod edit;
mod ends;
mod holder;
mod lives;
mod records;
mod scene;
mod settle;
