//! Flows: what a request may say, what ends of tasks make of them, what people do to them.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

mod hear;
mod new;
mod random;
mod scene;
