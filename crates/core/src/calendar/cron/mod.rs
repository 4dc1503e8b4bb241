//! Cron patterns: which local times they name, and how to find the next.
//!
//! Every field of a pattern is a bit set, so a search steps over months and never over seconds, and
//! the work of any search is bounded by the months until the year 9999. Patterns that match no date
//! at all are refused when they are read.

mod fields;

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Time};

use crate::error::Invalid;
use fields::{DayField, WeekdayField, numbers};

/// Longest pattern, in bytes.
const TEXT_BYTES_MAX: usize = 1_000;
const FIELDS_RULE: &str = "five fields (minute, hour, day, month, weekday) or six (second first)";

/// A pattern that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cron {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: Option<DayField>,
    months: u64,
    weekdays: Option<WeekdayField>,
}

impl Cron {
    /// Reads a pattern.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Invalid::new("cron", format!("at most {TEXT_BYTES_MAX} bytes")));
        }
        let text = text.to_ascii_uppercase();
        let given: Vec<&str> = text.split_whitespace().collect();
        let (second, rest) = match given[..] {
            [second, ref rest @ ..] if rest.len() == 5 => (second, rest),
            _ => ("0", &given[..]),
        };
        let &[minute, hour, day, month, weekday] = rest else {
            return Err(Invalid::new("cron", FIELDS_RULE));
        };
        let cron = Self {
            seconds: numbers::SECOND.read(second)?,
            minutes: numbers::MINUTE.read(minute)?,
            hours: numbers::HOUR.read(hour)?,
            days: DayField::read(day)?,
            months: numbers::MONTH.read(month)?,
            weekdays: WeekdayField::read(weekday)?,
        };
        match cron.after(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)) {
            Some(_) => Ok(cron),
            None => Err(Invalid::new("cron", "a day that one of its months has")),
        }
    }

    /// The first time that is later than `local`.
    pub(super) fn after(&self, local: DateTime) -> Option<DateTime> {
        let whole = local.with().subsec_nanosecond(0).build().ok()?;
        let from = whole.checked_add(1.second()).ok()?;
        let mut month = from.date().first_of_month();
        let mut days = self.days_of(month);
        if has(days, from.day() - 1)
            && let Some(time) = self.time_from(from.time())
        {
            return Some(from.date().to_datetime(time));
        }
        days &= u64::MAX << from.day();
        while days == 0 {
            month = month.checked_add(1.month()).ok()?;
            days = self.days_of(month);
        }
        let day = month.checked_add(i64::from(days.trailing_zeros()).days()).ok()?;
        Some(day.to_datetime(self.time_from(Time::midnight())?))
    }

    /// How many times are later than `after` and not later than `through`.
    pub(super) fn count(&self, after: DateTime, through: DateTime) -> u64 {
        let mut total = 0;
        let mut month = after.date().first_of_month();
        let last = through.date().first_of_month();
        while month < last {
            total += u64::from(self.days_of(month).count_ones()) * self.times_a_day();
            let Ok(next) = month.checked_add(1.month()) else { break };
            month = next;
        }
        (total + self.count_in_month(through)).saturating_sub(self.count_in_month(after))
    }

    /// How many times of the month of `local` are not later than it.
    fn count_in_month(&self, local: DateTime) -> u64 {
        let days = self.days_of(local.date().first_of_month());
        let today = local.day() - 1;
        let before = u64::from(below(days, today)) * self.times_a_day();
        if has(days, today) { before + self.times_through(local.time()) } else { before }
    }

    /// The days of a month that match; bit 0 is the first.
    fn days_of(&self, first: Date) -> u64 {
        if !has(self.months, first.month()) {
            return 0;
        }
        let length = first.days_in_month();
        let every = (1 << length) - 1;
        let by_day = self.days.map(|field| field.of_month(length));
        let first_weekday = first.weekday().to_sunday_zero_offset();
        let by_weekday = self.weekdays.map(|field| field.of_month(first_weekday, length));
        every
            & match (by_day, by_weekday) {
                (None, None) => every,
                (Some(days), None) | (None, Some(days)) => days,
                (Some(days), Some(more)) => days | more,
            }
    }

    /// The first time of day that is not earlier.
    fn time_from(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (from.hour(), from.minute(), from.second());
        let this_hour = has(self.hours, hour);
        if this_hour
            && has(self.minutes, minute)
            && let Some(second) = at_least(self.seconds, second)
        {
            return Time::new(hour, minute, second, 0).ok();
        }
        let first_second = at_least(self.seconds, 0)?;
        if this_hour && let Some(minute) = at_least(self.minutes, minute + 1) {
            return Time::new(hour, minute, first_second, 0).ok();
        }
        let hour = at_least(self.hours, hour + 1)?;
        Time::new(hour, at_least(self.minutes, 0)?, first_second, 0).ok()
    }

    /// How many times of day are not later.
    fn times_through(&self, through: Time) -> u64 {
        let (hour, minute, second) = (through.hour(), through.minute(), through.second());
        let mut total = below(self.hours, hour) * self.minutes.count_ones();
        if has(self.hours, hour) {
            total += below(self.minutes, minute);
        }
        total *= self.seconds.count_ones();
        if has(self.hours, hour) && has(self.minutes, minute) {
            total += below(self.seconds, second + 1);
        }
        u64::from(total)
    }

    fn times_a_day(&self) -> u64 {
        u64::from(self.hours.count_ones() * self.minutes.count_ones() * self.seconds.count_ones())
    }
}

fn has(set: u64, value: i8) -> bool {
    set >> value & 1 == 1
}

/// The least member of the set from `value` on.
fn at_least(set: u64, value: i8) -> Option<i8> {
    let rest = set & u64::MAX << value;
    i8::try_from(rest.trailing_zeros()).ok().filter(|_| rest != 0)
}

/// How many members of the set are less than `value`.
fn below(set: u64, value: i8) -> u32 {
    (set & !(u64::MAX << value)).count_ones()
}
