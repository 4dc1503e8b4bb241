//! Reading the fields of a cron pattern.
//!
//! A field is a list of `*`, values and ranges `a-b`, each with an optional step `/n` (`a/n` goes on
//! to the end of the range). Months and weekdays also go by name; Sunday is 0 or 7. In the two day
//! fields `?` stands for `*`. Beyond the crontab, day `L` is the last of the month, weekday `5L` its
//! last Friday and `5#2` its second.

use crate::error::Invalid;

/// A field of plain numbers.
pub(super) struct Numbers {
    name: &'static str,
    low: u8,
    high: u8,
    /// The highest number that may be written: weekdays have two for Sunday.
    written_max: u8,
    names: &'static [&'static str],
}

/// The fields of plain numbers.
pub(super) mod numbers {
    use super::Numbers;

    const fn plain(name: &'static str, low: u8, high: u8) -> Numbers {
        Numbers { name, low, high, written_max: high, names: &[] }
    }

    pub(in super::super) const SECOND: Numbers = plain("second", 0, 59);
    pub(in super::super) const MINUTE: Numbers = plain("minute", 0, 59);
    pub(in super::super) const HOUR: Numbers = plain("hour", 0, 23);
    pub(super) const DAY: Numbers = plain("day", 1, 31);
    pub(in super::super) const MONTH: Numbers = Numbers {
        names: &[
            "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
        ],
        ..plain("month", 1, 12)
    };
    pub(super) const WEEKDAY: Numbers = Numbers {
        written_max: 7,
        names: &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
        ..plain("weekday", 0, 6)
    };
}

impl Numbers {
    /// The set a field names.
    pub(super) fn read(&self, text: &str) -> Result<u64, Invalid> {
        text.split(',').try_fold(0, |set, item| Ok(set | self.item(item)?))
    }

    /// The set one item of the list names.
    fn item(&self, item: &str) -> Result<u64, Invalid> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step).ok_or_else(|| self.wrong(item))?)),
            None => (item, None),
        };
        let bounds = if range == "*" {
            Some((self.low, self.high))
        } else if let Some((low, high)) = range.split_once('-') {
            self.value(low).zip(self.value(high)).filter(|(low, high)| low <= high)
        } else {
            self.value(range).map(|value| (value, if step.is_some() { self.high } else { value }))
        };
        let (low, high) = bounds.ok_or_else(|| self.wrong(item))?;
        let values = (low..=high).step_by(step.unwrap_or(1));
        Ok(values.fold(0, |set, value| set | 1 << value))
    }

    fn value(&self, text: &str) -> Option<u8> {
        if let Some(index) = self.names.iter().position(|name| *name == text) {
            return Some(self.low + u8::try_from(index).ok()?);
        }
        digits(text).filter(|value| (self.low..=self.written_max).contains(value))
    }

    fn step(&self, text: &str) -> Option<usize> {
        digits(text).filter(|step| (1..=self.high).contains(step)).map(usize::from)
    }

    fn wrong(&self, item: &str) -> Invalid {
        let Self { name, low, high, .. } = self;
        Invalid::new(
            "cron",
            format!(
                "the {name} is *, a number from {low} to {high}, a range, a list or a step, not {item:?}"
            ),
        )
    }
}

fn digits(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Whether a list restricts nothing.
fn is_any(text: &str) -> bool {
    text.split(',').any(|item| matches!(item, "*" | "*/1"))
}

/// A day field that restricts something.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct DayField {
    set: u64,
    last: bool,
}

impl DayField {
    /// Reads the field; none if it restricts nothing.
    pub(super) fn read(text: &str) -> Result<Option<Self>, Invalid> {
        let text = text.replace('?', "*");
        let mut field = Self::default();
        for item in text.split(',') {
            match item {
                "L" => field.last = true,
                _ => field.set |= numbers::DAY.item(item)?,
            }
        }
        Ok((!is_any(&text)).then_some(field))
    }

    /// The days of a month that match; bit 0 is the first.
    pub(super) fn of_month(self, length: i8) -> u64 {
        self.set >> 1 | u64::from(self.last) << (length - 1)
    }
}

/// A weekday field that restricts something. In every set bit 0 is Sunday.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct WeekdayField {
    every: u64,
    nth: [u64; 5],
    last: u64,
}

impl WeekdayField {
    /// Reads the field; none if it restricts nothing.
    pub(super) fn read(text: &str) -> Result<Option<Self>, Invalid> {
        let text = text.replace('?', "*").replace("-SUN", "-7");
        let mut field = Self::default();
        for item in text.split(',') {
            if let Some((day, nth)) = item.split_once('#') {
                let week = digits(nth).and_then(|nth| usize::from(nth).checked_sub(1));
                let week = week.and_then(|week| field.nth.get_mut(week));
                *week.ok_or_else(|| numbers::WEEKDAY.wrong(item))? |= weekday(day, item)?;
            } else if let Some(day) = item.strip_suffix('L') {
                field.last |= weekday(day, item)?;
            } else {
                field.every |= sunday_is_0(numbers::WEEKDAY.item(item)?);
            }
        }
        Ok((!is_any(&text)).then_some(field))
    }

    /// The days of a month that match; bit 0 is the first.
    pub(super) fn of_month(self, first_weekday: i8, length: i8) -> u64 {
        let mut days = 0;
        for (week, nth) in (0..).zip(self.nth) {
            days |= from_weekday(self.every | nth, first_weekday) << (7 * week);
        }
        let last_week = length - 7;
        days | from_weekday(self.last, (first_weekday + last_week) % 7) << last_week
    }
}

/// The set of one weekday.
fn weekday(day: &str, item: &str) -> Result<u64, Invalid> {
    let day = numbers::WEEKDAY.value(day).ok_or_else(|| numbers::WEEKDAY.wrong(item))?;
    Ok(sunday_is_0(1 << day))
}

fn sunday_is_0(set: u64) -> u64 {
    (set | set >> 7) & 0x7f
}

/// A set of weekdays as seven days that begin with the given weekday.
fn from_weekday(set: u64, first: i8) -> u64 {
    (set >> first | set << (7 - first)) & 0x7f
}
