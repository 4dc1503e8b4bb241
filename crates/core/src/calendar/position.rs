//! How far a plan has come in its rule, and the step to the next occurrence.

use serde::{Deserialize, Serialize};

use super::rule::{Kind, Rule};
use super::series::Series;
use crate::limits::PAGE_ITEMS_MAX;
use crate::time::Timestamp;

/// How far a plan has come in its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// When the rule was set: its base, if it names none.
    pub since: Timestamp,
    /// All occurrences up to this time, itself included, are over; none is if there is no such time.
    pub over: Option<Timestamp>,
    /// Runs that were done, and skips that count as runs.
    pub used: u64,
}

impl Position {
    /// The start of a rule that is set now. A rule that replaces another keeps what was `used`.
    pub fn start(now: Timestamp, used: u64) -> Self {
        Self { since: now, over: None, used }
    }

    /// After the run that was due at `at` is done; at no time of this rule, if it was due by one that
    /// was replaced.
    #[must_use]
    pub fn after_run(self, at: impl Into<Option<Timestamp>>) -> Self {
        Self { used: self.used.saturating_add(1), ..self.after_failure(at) }
    }

    /// After the run that was due at `at` failed for good: it counts as nothing.
    #[must_use]
    pub fn after_failure(self, at: impl Into<Option<Timestamp>>) -> Self {
        // One that was tried again may end when later ones are over already.
        Self { over: self.over.max(at.into()), ..self }
    }

    /// After the occurrence at `at` is skipped: asked for, or because its run was cancelled or
    /// removed.
    #[must_use]
    pub fn after_skip(self, at: impl Into<Option<Timestamp>>, rule: &Rule) -> Self {
        if rule.skips_count() { self.after_run(at) } else { self.after_failure(at) }
    }
}

/// The step to the next occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// When the plan is due; never again if there is no such time.
    pub at: Option<Timestamp>,
    /// Occurrences that were passed over because their time was past.
    pub skipped: u64,
    /// The position after that: what was passed over is over.
    pub position: Position,
}

impl Rule {
    /// The next occurrence.
    ///
    /// An occurrence is past if it is earlier than `now`. With `no_keep` none is passed over, so the
    /// next may be long past and is due at once; without it the next is never past.
    pub fn next(&self, position: Position, now: Timestamp) -> Next {
        match &self.kind {
            Kind::AtOnce => once(position.since, false, position),
            Kind::Once(at) => once(*at, *at < now && !self.no_keep, position),
            Kind::Again(pace) => match self.series(pace, position.since) {
                Some((series, start)) => self.again(&series, start, position, now),
                None => Next { at: None, skipped: 0, position },
            },
        }
    }

    /// The times at which a plan would run if every run ended in time, at most `n` and at most a
    /// page of them.
    pub fn occurrences(&self, position: Position, now: Timestamp, n: usize) -> Vec<Timestamp> {
        let mut position = position;
        let following = std::iter::from_fn(|| {
            let next = self.next(position, now);
            position = next.position.after_run(next.at?);
            next.at
        });
        following.take(n.min(PAGE_ITEMS_MAX)).collect()
    }

    /// The next of a series whose occurrences are all later than `start`.
    fn again(&self, series: &Series<'_>, start: i64, position: Position, now: Timestamp) -> Next {
        let left = self.repeats.map_or(u64::MAX, |repeats| repeats.saturating_sub(position.used));
        if left == 0 {
            return Next { at: None, skipped: 0, position };
        }
        let over = position.over.map_or(start, Timestamp::as_millis);
        let past = if self.no_keep { over } else { over.max(now.as_millis() - 1) };
        let mut skipped = series.count(over, past);
        let mut position = position;
        if skipped > 0 {
            position.over = Some(Timestamp::from_millis(past));
        }
        if self.skips_count() {
            skipped = skipped.min(left);
            position.used = position.used.saturating_add(skipped);
        }
        let spent = self.skips_count() && skipped == left;
        let at = if spent { None } else { series.after(past) };
        let in_range = |millis: &i64| *millis <= Timestamp::MAX.as_millis();
        Next { at: at.filter(in_range).map(Timestamp::from_millis), skipped, position }
    }
}

/// The next of a rule that has one occurrence.
fn once(at: Timestamp, missed: bool, position: Position) -> Next {
    if position.over.is_some() {
        Next { at: None, skipped: 0, position }
    } else if missed {
        Next { at: None, skipped: 1, position: position.after_failure(at) }
    } else {
        Next { at: Some(at), skipped: 0, position }
    }
}
