//! The calendar of plans: every rule, every zone, every way to be late.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cron;
mod fields;
mod rules;
mod scene;
