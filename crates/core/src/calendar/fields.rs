//! The fields in which a request gives a rule, and the values they take.

use std::fmt;

use jiff::civil::Time;
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::object::objects_only;
use crate::time::{NumberOrText, Timestamp};

const PLAN_TIME_RULE: &str =
    "a time: Unix seconds from 0, RFC 3339, or for week and month a time of day like \"09:30\"";

/// A rule as a request gives it, not yet checked. A field that is `null` is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct RuleFields {
    /// What kind of rule it is; required.
    pub plan_type: Option<PlanType>,
    /// How many units lie between two runs, or on which day they are.
    pub plan_value: Option<i64>,
    /// When it is due, from when it repeats, or at which time of day.
    pub plan_time: Option<PlanTime>,
    /// How often it runs, −1 for ever; required if it repeats.
    pub plan_repet: Option<i64>,
    /// Whether occurrences that are past are kept instead of skipped.
    pub no_keep: Option<bool>,
    /// The zone of its local times; UTC if left out.
    pub timezone: Option<String>,
    /// The pattern of a rule of type `cron`.
    pub cron: Option<String>,
}

objects_only! { RuleFields with serialize }

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum PlanType {
    /// At once.
    None,
    /// Once at a time.
    Time,
    /// Every so many seconds.
    Second,
    /// Every so many minutes.
    Minute,
    /// Every so many hours.
    Hour,
    /// Every so many days.
    Day,
    /// On a day of the week.
    Week,
    /// On a day of the month.
    Month,
    /// By a cron pattern.
    Cron,
}

impl PlanType {
    pub(super) const RULE: &str =
        "none, time, second, minute, hour, day, week, month (or their numbers, 0 to 7) or cron";

    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// All but `cron` go by their place as well as by name.
    fn numbered(number: u64) -> Option<Self> {
        let kind = Self::VARIANTS.get(usize::try_from(number).ok()?).copied();
        kind.filter(|kind| *kind != Self::Cron)
    }
}

impl Serialize for PlanType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PlanType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrNumber;

        impl Visitor<'_> for NameOrNumber {
            type Value = PlanType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(PlanType::RULE)
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<PlanType, E> {
                PlanType::numbered(number)
                    .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<PlanType, E> {
                PlanType::named(name).ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NameOrNumber)
        } else {
            deserializer.deserialize_str(NameOrNumber)
        }
    }
}

/// A time of day in whole seconds, read from and written as `HH:MM[:SS]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay(pub(super) Time);

impl TimeOfDay {
    /// Reads `HH:MM` or `HH:MM:SS`.
    pub fn parse(text: &str) -> Option<Self> {
        let two_digits = |part: &str| {
            let well_formed = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            if well_formed { part.parse().ok() } else { None }
        };
        let parts: Option<Vec<i8>> = text.split(':').map(two_digits).collect();
        let (hour, minute, second) = match parts?[..] {
            [hour, minute] => (hour, minute, 0),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        Time::new(hour, minute, second, 0).ok().map(Self)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.0.hour(), self.0.minute(), self.0.second())
    }
}

/// The `plan_time` of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanTime {
    /// A time, or 0 for none. In JSON 0 stays the number 0.
    At(Timestamp),
    /// A time of day, for week and month only.
    OfDay(TimeOfDay),
}

impl PlanTime {
    /// What a rule has that names none.
    pub const ZERO: Self = Self::At(Timestamp::EPOCH);

    fn from_seconds(seconds: f64) -> Option<Self> {
        Timestamp::from_seconds(seconds).map(Self::At)
    }

    /// Reads `HH:MM[:SS]`, Unix seconds or RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        match TimeOfDay::parse(text) {
            Some(time) => Some(Self::OfDay(time)),
            None => Timestamp::parse(text).map(Self::At),
        }
    }
}

impl fmt::Display for PlanTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => time.fmt(f),
            Self::OfDay(time) => time.fmt(f),
        }
    }
}

impl Serialize for PlanTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && *self == Self::ZERO {
            serializer.serialize_u64(0)
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for PlanTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = NumberOrText {
            rule: PLAN_TIME_RULE,
            from_seconds: Self::from_seconds,
            parse: Self::parse,
        };
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(visitor)
        } else {
            deserializer.deserialize_str(visitor)
        }
    }
}
