//! The occurrences of a repeating rule: the next one, and how many lie between two moments.
//!
//! Both answers are arithmetic, never a walk over occurrences (a cron pattern steps over months), so
//! skipping three years of a rule of one second costs what skipping one second costs. Moments are
//! milliseconds since the epoch.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, ToSpan};

use super::cron::Cron;
use super::zone::Zone;

const DAY_MS: i64 = 86_400_000;

/// The occurrences of a rule.
pub(super) enum Series<'a> {
    /// Again and again the same length of time after the base, which is not one of them.
    Elapsed {
        /// The base.
        base: i64,
        /// The length.
        step: i64,
    },
    /// At local times.
    Local(&'a Zone, Local<'a>),
}

/// Local times that recur.
pub(super) enum Local<'a> {
    /// Every so many days after the base, which is not one of them.
    Days {
        /// The base.
        base: DateTime,
        /// How many days.
        step: i64,
    },
    /// Once a month.
    Months {
        /// From 1 the day, or the month's last; to 0 so many days before the last, or the first.
        day: i8,
        /// The time of day.
        at: Time,
    },
    /// The times of a cron pattern.
    Cron(&'a Cron),
}

impl Series<'_> {
    /// The first occurrence later than that moment.
    pub(super) fn after(&self, millis: i64) -> Option<i64> {
        match self {
            Self::Elapsed { base, step } => Some(millis + to_next(millis - base, *step)),
            Self::Local(zone, times) => zone.moment(times.after(zone.reached(millis)?)?),
        }
    }

    /// How many occurrences are later than `after` and not later than `through`.
    pub(super) fn count(&self, after: i64, through: i64) -> u64 {
        match self {
            Self::Elapsed { base, step } => {
                difference(steps(after - base, *step), steps(through - base, *step))
            }
            Self::Local(zone, times) => match (zone.reached(after), zone.reached(through)) {
                (Some(after), Some(through)) => times.count(after, through),
                _ => 0,
            },
        }
    }
}

impl Local<'_> {
    /// The first of the times that is later than `local`.
    fn after(&self, local: DateTime) -> Option<DateTime> {
        match self {
            Self::Days { base, step } => {
                let ahead = to_next(millis_between(*base, local), step * DAY_MS);
                local.checked_add(SignedDuration::from_millis(ahead)).ok()
            }
            Self::Months { day, at } => {
                let month = local.date().first_of_month();
                let this = day_of_month(month, *day)?.to_datetime(*at);
                if this > local {
                    return Some(this);
                }
                Some(day_of_month(month.checked_add(1.month()).ok()?, *day)?.to_datetime(*at))
            }
            Self::Cron(cron) => cron.after(local),
        }
    }

    /// How many of the times are later than `after` and not later than `through`.
    fn count(&self, after: DateTime, through: DateTime) -> u64 {
        match self {
            Self::Days { base, step } => {
                let through_n = |local| steps(millis_between(*base, local), step * DAY_MS);
                difference(through_n(after), through_n(through))
            }
            Self::Months { day, at } => {
                let through_n = |local: DateTime| {
                    let month = local.date().first_of_month();
                    let number = i64::from(month.year()) * 12 + i64::from(month.month());
                    let this = day_of_month(month, *day).map(|date| date.to_datetime(*at));
                    if this.is_some_and(|this| this <= local) { number } else { number - 1 }
                };
                difference(through_n(after), through_n(through))
            }
            Self::Cron(cron) => cron.count(after, through),
        }
    }
}

/// How many whole steps fit; none if the length is negative.
fn steps(length: i64, step: i64) -> i64 {
    length.max(0) / step
}

/// How long it is to the end of the next step; a negative length is the time until the first.
fn to_next(length: i64, step: i64) -> i64 {
    step - if length > 0 { length % step } else { length }
}

fn difference(after: i64, through: i64) -> u64 {
    u64::try_from(through - after).unwrap_or(0)
}

fn millis_between(base: DateTime, local: DateTime) -> i64 {
    i64::try_from(base.duration_until(local).as_millis()).unwrap_or(i64::MAX)
}

/// The day of a month that a rule names.
fn day_of_month(first: Date, day: i8) -> Option<Date> {
    let length = first.days_in_month();
    let day = if day > 0 { day.min(length) } else { (length + day).max(1) };
    Date::new(first.year(), first.month(), day).ok()
}
