//! When a task that failed is tried again, and how often.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Invalid;
use crate::object::objects_only;
use crate::time::Span;

const INTERVALS_MAX: usize = 1_000;

/// The waits between attempts.
#[derive(Debug, Clone, PartialEq)]
pub enum RetryPolicy {
    /// One wait after another; the last repeats.
    Intervals(Vec<Span>),
    /// Waits that grow by a factor up to a maximum, spread by a random share.
    Backoff {
        /// The wait after the first failure.
        first: Span,
        /// By how much each wait is longer than the one before.
        factor: f64,
        /// The longest wait.
        max: Span,
        /// Each wait is up to this share shorter or longer, at random.
        jitter: f64,
    },
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::Backoff {
            first: Span::from_secs(5),
            factor: 2.0,
            max: Span::from_secs(3_600),
            jitter: 0.1,
        }
    }
}

impl RetryPolicy {
    /// The wait after the `failures`-th failure (from 1). `roll` is random in 0…1.
    pub fn wait(&self, failures: u32, roll: f64) -> Span {
        let earlier = failures.saturating_sub(1);
        match self {
            Self::Intervals(intervals) => {
                let index = (earlier as usize).min(intervals.len().saturating_sub(1));
                intervals.get(index).copied().unwrap_or(Span::ZERO)
            }
            Self::Backoff { first, factor, max, jitter } => {
                let exponent = i32::try_from(earlier).unwrap_or(i32::MAX);
                let plain = first.scaled(factor.powi(exponent)).min(*max);
                plain.scaled(1.0 + jitter * (2.0 * roll - 1.0)).min(*max)
            }
        }
    }
}

/// The two JSON forms in one, so that an error can name the field at fault. Stored records use it
/// as well.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Form {
    #[serde(default)]
    intervals: Option<Vec<Span>>,
    #[serde(default)]
    first: Option<Span>,
    #[serde(default)]
    factor: Option<f64>,
    #[serde(default)]
    max: Option<Span>,
    #[serde(default)]
    jitter: Option<f64>,
}

objects_only! { Form with serialize }

impl TryFrom<Form> for RetryPolicy {
    type Error = Invalid;

    fn try_from(form: Form) -> Result<Self, Invalid> {
        let Form { intervals, first, factor, max, jitter } = form;
        if let Some(intervals) = intervals {
            if first.is_some() || factor.is_some() || max.is_some() || jitter.is_some() {
                return Err(Invalid::new(
                    "intervals",
                    "not together with first, factor, max or jitter",
                ));
            }
            if !(1..=INTERVALS_MAX).contains(&intervals.len()) {
                return Err(Invalid::new("intervals", "1 to 1000 durations"));
            }
            return Ok(Self::Intervals(intervals));
        }
        if first.is_none() && factor.is_none() && max.is_none() && jitter.is_none() {
            return Err(Invalid::new("retry", "give intervals, or first, factor, max, jitter"));
        }
        let (factor, jitter) = (factor.unwrap_or(2.0), jitter.unwrap_or(0.1));
        if !(1.0..=1_000.0).contains(&factor) {
            return Err(Invalid::new("factor", "a number from 1 to 1000"));
        }
        if !(0.0..=1.0).contains(&jitter) {
            return Err(Invalid::new("jitter", "a number from 0 to 1"));
        }
        Ok(Self::Backoff {
            first: first.unwrap_or(Span::from_secs(5)),
            factor,
            max: max.unwrap_or(Span::from_secs(3_600)),
            jitter,
        })
    }
}

impl Serialize for RetryPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Intervals<'a> {
            intervals: &'a [Span],
        }
        #[derive(Serialize)]
        struct Backoff {
            first: Span,
            factor: f64,
            max: Span,
            jitter: f64,
        }
        let readable = serializer.is_human_readable();
        match self.clone() {
            Self::Intervals(intervals) if readable => {
                Intervals { intervals: &intervals }.serialize(serializer)
            }
            Self::Backoff { first, factor, max, jitter } if readable => {
                Backoff { first, factor, max, jitter }.serialize(serializer)
            }
            Self::Intervals(intervals) => Form {
                intervals: Some(intervals),
                first: None,
                factor: None,
                max: None,
                jitter: None,
            }
            .serialize(serializer),
            Self::Backoff { first, factor, max, jitter } => Form {
                intervals: None,
                first: Some(first),
                factor: Some(factor),
                max: Some(max),
                jitter: Some(jitter),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RetryPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Form as Deserialize>::deserialize(deserializer)?
            .try_into()
            .map_err(serde::de::Error::custom)
    }
}

/// How often a task may be taken before it is failed: from 1, or −1 for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxAttempts(i32);

impl MaxAttempts {
    /// No limit.
    pub const UNLIMITED: Self = Self(-1);

    /// A limit of `n` takes.
    pub fn new(n: i32) -> Result<Self, Invalid> {
        if n == -1 || n >= 1 {
            Ok(Self(n))
        } else {
            Err(Invalid::new("max_attempts", "a whole number from 1, or -1 for no limit"))
        }
    }

    /// The limit, if there is one.
    pub fn limit(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

impl Default for MaxAttempts {
    fn default() -> Self {
        Self(5)
    }
}

impl Serialize for MaxAttempts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MaxAttempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(i32::deserialize(deserializer)?)
            .map_err(|invalid| serde::de::Error::custom(invalid.rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_interval_repeats() {
        let policy: RetryPolicy = serde_json::from_str(r#"{"intervals":[1,"2s",3]}"#).unwrap();
        let waits: Vec<_> = (1..=5).map(|n| policy.wait(n, 0.5).as_millis()).collect();
        assert_eq!(waits, [1_000, 2_000, 3_000, 3_000, 3_000]);
    }

    #[test]
    fn backoff_grows_to_its_maximum() {
        let policy = RetryPolicy::default();
        let waits: Vec<_> = (1..=12).map(|n| policy.wait(n, 0.5).as_millis() / 1_000).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
        assert_eq!(policy.wait(1, 0.0).as_millis(), 4_500);
        assert_eq!(policy.wait(1, 1.0).as_millis(), 5_500);
        assert_eq!(policy.wait(u32::MAX, 0.5).as_millis(), 3_600_000);
    }

    #[test]
    fn bad_policies_name_their_field() {
        for (text, field) in [
            (r#"{"intervals":[]}"#, "intervals"),
            (r#"{"intervals":[1],"first":1}"#, "intervals"),
            (r#"{"first":1,"factor":0.5}"#, "factor"),
            (r#"{"first":1,"jitter":2}"#, "jitter"),
            (r#"{"firts":1}"#, "firts"),
            (r#"{}"#, "retry"),
        ] {
            let error = serde_json::from_str::<RetryPolicy>(text).unwrap_err().to_string();
            assert!(error.contains(field), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_wait_never_passes_its_maximum(
            first in 0i64..1_000_000_000, factor in 1.0f64..1000.0, max in 0i64..1_000_000_000,
            jitter in 0.0f64..1.0, failures in 0u32.., roll in 0.0f64..1.0,
        ) {
            let (first, max) = (Span::from_millis(first), Span::from_millis(max));
            let policy = RetryPolicy::Backoff { first, factor, max, jitter };
            prop_assert!(policy.wait(failures, roll) <= max);
        }
    }
}
