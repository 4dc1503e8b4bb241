//! Points in time and lengths of time, in whole milliseconds.
//!
//! In JSON a time comes in as Unix seconds or RFC 3339 and goes out as RFC 3339 in UTC with
//! milliseconds; a length comes in as seconds or as text like `"1h30m"` and goes out as seconds.
//! In stored records both are plain integers.

use std::fmt;
use std::ops::{Add, Sub};

use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, from then to the end of year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A length of time in milliseconds, never negative, at most [`Span::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

const TIME_RULE: &str = "a time: Unix seconds from 0, or RFC 3339, at most the year 9999";
const SPAN_RULE: &str =
    "a duration: seconds from 0, or text like \"90s\", \"1h30m\", \"7d\", at most 100 years";

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// The last millisecond of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// From milliseconds since the epoch, kept within the range.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(0, Self::MAX.0))
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// The length from `earlier` to this time; zero if that is later.
    pub fn since(self, earlier: Self) -> Span {
        Span((self.0 - earlier.0).max(0))
    }

    /// Reads Unix seconds or RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(seconds) = text.parse::<f64>() {
            return Self::from_seconds(seconds);
        }
        // Not `jiff::Timestamp`, which ends a day before the year 9999 does.
        let pieces = Pieces::parse(text).ok()?;
        let local = pieces.date().to_datetime(pieces.time()?);
        let offset_ms = i64::from(pieces.to_numeric_offset()?.seconds()) * 1_000;
        let millis = i64::try_from(local.duration_since(EPOCH).as_millis()).ok()?;
        Self::in_range(millis - offset_ms)
    }

    pub(crate) fn from_seconds(seconds: f64) -> Option<Self> {
        Self::in_range(millis(seconds)?)
    }

    fn in_range(millis: i64) -> Option<Self> {
        (0..=Self::MAX.0).contains(&millis).then_some(Self(millis))
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self::from_millis(self.0 + span.0)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::from_millis(self.0 + other.0)
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self::from_millis(self.0 - span.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spell().as_str())
    }
}

/// A time as RFC 3339 writes it. Every answer has several, so they are written without detours.
struct Spelled([u8; 24]);

impl Spelled {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits and signs")
    }

    fn put(&mut self, at: std::ops::Range<usize>, mut number: u64) {
        for digit in self.0[at].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}

impl Timestamp {
    fn spell(self) -> Spelled {
        let millis = self.0.unsigned_abs();
        let (year, month, day) = date_of(millis / 86_400_000);
        let mut spelled = Spelled(*b"0000-00-00T00:00:00.000Z");
        spelled.put(0..4, year);
        spelled.put(5..7, month);
        spelled.put(8..10, day);
        spelled.put(11..13, millis / 3_600_000 % 24);
        spelled.put(14..16, millis / 60_000 % 60);
        spelled.put(17..19, millis / 1_000 % 60);
        spelled.put(20..23, millis % 1_000);
        spelled
    }
}

/// Year, month and day so many days after 1970-01-01. Years are counted from March, so that a leap day
/// is the last of its year, in eras of 400, which all have the same number of days.
fn date_of(days: u64) -> (u64, u64, u64) {
    const ERA_DAYS: u64 = 146_097;
    let since_march_0 = days + 719_468;
    let (era, day_of_era) = (since_march_0 / ERA_DAYS, since_march_0 % ERA_DAYS);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let is_next_year = month_from_march >= 10;
    let month = if is_next_year { month_from_march - 9 } else { month_from_march + 3 };
    (era * 400 + year_of_era + u64::from(is_next_year), month, day)
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// One hundred years.
    pub const MAX: Self = Self(100 * 365 * 24 * 3_600_000);

    /// From milliseconds, kept within the range.
    pub const fn from_millis(millis: i64) -> Self {
        if millis < 0 {
            Self::ZERO
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// From whole seconds, kept within the range.
    pub const fn from_secs(seconds: i64) -> Self {
        Self::from_millis(seconds.saturating_mul(1_000))
    }

    /// Length in milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// Whether it has no length.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Multiplied by a factor that is not negative, kept within the range.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        // A float beyond i64 saturates in the cast, NaN becomes zero.
        Self::from_millis((self.0 as f64 * factor).round() as i64)
    }

    /// Reads seconds or text like `1h30m`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        if let Ok(seconds) = text.parse::<f64>() {
            return Self::from_seconds(seconds);
        }
        let mut rest = text;
        let mut total_secs = 0.0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let number: f64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            total_secs += number
                * match &rest[..letters] {
                    "ms" => 0.001,
                    "s" => 1.0,
                    "m" => 60.0,
                    "h" => 3_600.0,
                    "d" => 86_400.0,
                    _ => return None,
                };
            rest = &rest[letters..];
        }
        Self::from_seconds(total_secs)
    }

    fn from_seconds(seconds: f64) -> Option<Self> {
        let millis = millis(seconds)?;
        (millis <= Self::MAX.0).then_some(Self(millis))
    }
}

/// Seconds as whole milliseconds, or nothing for what is negative, not finite or beyond the range.
fn millis(seconds: f64) -> Option<i64> {
    let millis = (seconds * 1_000.0).round();
    (0.0..=Timestamp::MAX.0 as f64).contains(&millis).then_some(millis as i64)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.spell().as_str())
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() || self.0 % 1_000 != 0 {
            return if serializer.is_human_readable() {
                serializer.serialize_f64(self.as_secs_f64())
            } else {
                self.0.serialize(serializer)
            };
        }
        serializer.serialize_i64(self.0 / 1_000)
    }
}

/// Reads a value that is written as seconds or as text.
pub(crate) struct NumberOrText<T> {
    /// The rule that the value must keep.
    pub(crate) rule: &'static str,
    /// Takes seconds.
    pub(crate) from_seconds: fn(f64) -> Option<T>,
    /// Takes text.
    pub(crate) parse: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for NumberOrText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule)
    }

    fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<T, E> {
        (self.from_seconds)(seconds as f64)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(seconds), &self))
    }

    fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<T, E> {
        (self.from_seconds)(seconds as f64)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(seconds), &self))
    }

    fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<T, E> {
        (self.from_seconds)(seconds)
            .ok_or_else(|| E::invalid_value(Unexpected::Float(seconds), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NumberOrText {
                rule: TIME_RULE,
                from_seconds: Self::from_seconds,
                parse: Self::parse,
            })
        } else {
            Self::in_range(i64::deserialize(deserializer)?)
                .ok_or_else(|| D::Error::custom("a stored time is out of range"))
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NumberOrText {
                rule: SPAN_RULE,
                from_seconds: Self::from_seconds,
                parse: Self::parse,
            })
        } else {
            i64::deserialize(deserializer).map(Self::from_millis)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_and_written_as_the_contract_says() {
        let time: Timestamp = serde_json::from_str("1763189428.123").unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2025-11-15T06:50:28.123Z\"");
        let same: Timestamp = serde_json::from_str("\"2025-11-15T14:50:28.123+08:00\"").unwrap();
        assert_eq!(same, time);
        assert_eq!(Timestamp::parse("1763189428.123"), Some(time));
        assert_eq!(serde_json::to_string(&Timestamp(0)).unwrap(), "\"1970-01-01T00:00:00.000Z\"");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59.999Z"), Some(Timestamp::MAX));
        for bad in [
            "-1",
            "1e300",
            "9223372036854775807",
            "\"2026-02-30T00:00:00Z\"",
            "\"2026-02-03T00:00:00\"",
            "\"2026-02-03\"",
            "\"9999-12-31T23:59:59-01:00\"",
            "\"1969-12-31T23:59:59Z\"",
            "\"10000-01-01T00:00:00Z\"",
            "\"tomorrow\"",
            "null",
            "true",
            "[]",
            "\"\"",
            "\"NaN\"",
            "\"-5\"",
            "\"inf\"",
        ] {
            assert!(serde_json::from_str::<Timestamp>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_read_and_written_as_the_contract_says() {
        for (text, millis, out) in [
            ("30", 30_000, "30"),
            ("0.25", 250, "0.25"),
            ("\"90s\"", 90_000, "90"),
            ("\"1h30m\"", 5_400_000, "5400"),
            ("\"7d\"", 604_800_000, "604800"),
            ("\"1.5m\"", 90_000, "90"),
            ("\"250ms\"", 250, "0.25"),
            ("\"15\"", 15_000, "15"),
        ] {
            let span: Span = serde_json::from_str(text).unwrap();
            assert_eq!(span.as_millis(), millis, "{text}");
            assert_eq!(serde_json::to_string(&span).unwrap(), out);
        }
        for bad in [
            "-1",
            "1e30",
            "\"\"",
            "\"s\"",
            "\"5x\"",
            "\"1h-\"",
            "\"-5s\"",
            "\"NaN\"",
            "null",
            "\"1..5s\"",
            "\"5s \"",
        ] {
            assert!(serde_json::from_str::<Span>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_day_of_an_era_is_the_calendars() {
        let mut date = EPOCH.date();
        for days in 0..=146_097 {
            let is = (date.year() as u64, date.month() as u64, date.day() as u64);
            assert_eq!(date_of(days), is);
            date = date.tomorrow().unwrap();
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,24}") {
            let _ = Timestamp::parse(&text);
            let _ = Span::parse(&text);
        }

        #[test]
        fn times_around_the_end_read_back(before in 0..200_000_000i64) {
            let time = Timestamp(Timestamp::MAX.0 - before);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }

        #[test]
        fn times_read_back(millis in 0..=Timestamp::MAX.0) {
            let time = Timestamp(millis);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }
}
