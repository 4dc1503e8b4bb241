//! A rule that was checked, ready to tell its occurrences.

use jiff::ToSpan;
use jiff::civil::{Date, Time};
use serde::{Deserialize, Serialize};

use super::cron::Cron;
use super::fields::RuleFields;
use super::series::{Local, Series};
use super::zone::Zone;
use crate::time::Timestamp;

/// A Sunday before the epoch, from which weeks are told.
const SUNDAY: Date = Date::constant(1969, 12, 21);

/// A plan's rule. In JSON and in stored records it has the form of its [`RuleFields`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RuleFields", into = "RuleFields")]
pub struct Rule {
    pub(super) fields: RuleFields,
    pub(super) kind: Kind,
    /// How often it runs; for ever if there is no such number.
    pub(super) repeats: Option<u64>,
    pub(super) no_keep: bool,
    pub(super) zone: Zone,
}

/// The times of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Once, as soon as it is set.
    AtOnce,
    /// Once, then.
    Once(Timestamp),
    /// Repeatedly.
    Again(Pace),
}

/// How a rule repeats.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pace {
    /// Every so many milliseconds from the base, or from when it is set.
    Millis(i64, Option<Timestamp>),
    /// Every so many days from the base, or from when it is set, at the same time of day.
    Days(i64, Option<Timestamp>),
    /// On a weekday (Sunday 0) at a time of day.
    Week(i8, Time),
    /// On a day of the month at a time of day.
    Month(i8, Time),
    /// By a pattern.
    Cron(Cron),
}

impl Rule {
    /// Its fields, with the defaults filled in.
    pub fn fields(&self) -> &RuleFields {
        &self.fields
    }

    /// Whether an occurrence that is skipped counts as a run.
    pub fn skips_count(&self) -> bool {
        matches!(self.kind, Kind::Again(Pace::Millis(..) | Pace::Days(..)))
    }

    /// The occurrences at a pace that was set at `since`, and a moment all of them are later than.
    pub(super) fn series<'a>(
        &'a self,
        pace: &'a Pace,
        since: Timestamp,
    ) -> Option<(Series<'a>, i64)> {
        let local = |times| Some((Series::Local(&self.zone, times), since.as_millis() - 1));
        match *pace {
            Pace::Millis(step, base) => {
                let base = base.unwrap_or(since).as_millis();
                Some((Series::Elapsed { base, step }, base))
            }
            Pace::Days(step, base) => {
                let moment = base.unwrap_or(since).as_millis();
                let base = self.zone.reading(moment)?;
                Some((Series::Local(&self.zone, Local::Days { base, step }), moment))
            }
            Pace::Week(weekday, at) => {
                let base = SUNDAY.checked_add(i32::from(weekday).days()).ok()?;
                local(Local::Days { base: base.to_datetime(at), step: 7 })
            }
            Pace::Month(day, at) => local(Local::Months { day, at }),
            Pace::Cron(ref cron) => local(Local::Cron(cron)),
        }
    }
}
