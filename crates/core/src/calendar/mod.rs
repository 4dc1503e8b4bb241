//! The calendar: when a plan is due.
//!
//! ```text
//!   RuleFields ── check ──▶ Rule ──┐
//!   Position (what is over) ───────┼──▶ next ──▶ Next { at, skipped, the position after it }
//!   now ───────────────────────────┘
//! ```
//!
//! A [`Rule`] is what a request says about a plan's times, checked. A [`Position`] is how far a plan
//! has come in it. [`Rule::next`] is the whole of the calendar: when a plan is made, when a run ended,
//! when a plan is resumed, it tells the one time at which the plan is due next, how many times were
//! passed over, or that the plan is finished. It gives the same answer however often it is asked and
//! its work is bounded for every rule.
//!
//! - `fields`: the rule as a request gives it. `check`: what must hold of it. `rule`: what it becomes.
//! - `series`: the occurrences of a repeating rule. `cron`: those of a cron pattern.
//! - `zone`: local time, and what a clock change does to it.

mod check;
mod cron;
mod fields;
mod position;
mod rule;
mod series;
mod zone;

pub use fields::{PlanTime, PlanType, RuleFields, TimeOfDay};
pub use position::{Next, Position};
pub use rule::Rule;
