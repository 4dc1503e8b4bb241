//! The calendar of plans: every rule, every zone, every way to be late.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod bounds;
mod cron;
mod fields;
mod late;
mod oracle;
mod rules;
mod scene;
mod zones;
