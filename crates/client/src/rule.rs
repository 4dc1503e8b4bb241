//! Rules: when a plan is due.

use punctual_core::calendar::{PlanTime, PlanType};
use punctual_core::{RawJson, Timestamp};
use serde::Serialize;

use crate::changes::Changes;

/// The times of a plan. A rule that repeats has no end unless a number of runs is given.
///
/// ```
/// use punctual_client::{PlanTime, PlanType, Rule};
/// use serde_json::json;
///
/// let every_ten_minutes = Rule::every(10, PlanType::Minute).times(6);
/// assert_eq!(
///     serde_json::to_value(&every_ten_minutes).unwrap(),
///     json!({"plan_type": "minute", "plan_value": 10, "repeat": 6}),
/// );
///
/// let nine = PlanTime::parse("09:00").unwrap();
/// let month_ends = Rule::monthly(0).time(nine).timezone("Europe/Berlin");
/// let weekdays = Rule::cron("0 9 * * MON-FRI").timezone("Asia/Shanghai");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Rule(pub(crate) Changes);

impl Rule {
    /// A rule of a type, without further fields.
    pub fn new(plan_type: PlanType) -> Self {
        let rule = Self(Changes::default()).set("plan_type", &plan_type);
        match plan_type {
            PlanType::None | PlanType::Time => rule,
            _ => rule.times(-1),
        }
    }

    /// Once, at this time.
    pub fn at(time: Timestamp) -> Self {
        Self::new(PlanType::Time).time(PlanTime::At(time))
    }

    /// At an interval of seconds, minutes, hours or days.
    pub fn every(count: i64, unit: PlanType) -> Self {
        Self::new(unit).value(count)
    }

    /// On a day of the week, from 0 for Sunday to 6.
    pub fn weekly(day: i64) -> Self {
        Self::new(PlanType::Week).value(day)
    }

    /// On a day of the month: from 1, 0 for the last, −1 for the one before it.
    pub fn monthly(day: i64) -> Self {
        Self::new(PlanType::Month).value(day)
    }

    /// By a cron pattern of five fields, or six with seconds first.
    pub fn cron(pattern: impl Into<String>) -> Self {
        Self::new(PlanType::Cron).set("cron", &pattern.into())
    }

    /// How many units lie between two runs, or on which day they are.
    #[must_use]
    pub fn value(self, value: i64) -> Self {
        self.set("plan_value", &value)
    }

    /// When it is due, from when it repeats, or at which time of day.
    #[must_use]
    pub fn time(self, time: PlanTime) -> Self {
        self.set("plan_time", &time)
    }

    /// How often it runs; −1 for ever.
    #[must_use]
    pub fn times(self, times: i64) -> Self {
        self.set("repeat", &times)
    }

    /// Missed occurrences run late, one after the other, instead of being skipped.
    #[must_use]
    pub fn no_keep(self) -> Self {
        self.set("no_keep", &true)
    }

    /// The zone of its local times, by its IANA name.
    #[must_use]
    pub fn timezone(self, name: impl Into<String>) -> Self {
        self.set("timezone", &name.into())
    }

    fn set(self, field: &str, value: &impl Serialize) -> Self {
        Self(self.0.set(field, RawJson::of(value)))
    }
}
