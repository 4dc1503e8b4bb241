//! Rules: when a plan is due.

use punctual_core::Timestamp;
use punctual_core::calendar::{PlanTime, PlanType};
use serde::Serialize;

/// When a plan is due. What repeats goes on for ever unless a number of times is named.
///
/// ```
/// use punctual_client::{PlanTime, PlanType, Rule};
/// use serde_json::json;
///
/// let every_ten_minutes = Rule::every(10, PlanType::Minute).times(6);
/// assert_eq!(
///     serde_json::to_value(&every_ten_minutes).unwrap(),
///     json!({"plan_type": "minute", "plan_value": 10, "plan_repet": 6}),
/// );
///
/// let nine = PlanTime::parse("09:00").unwrap();
/// let month_ends = Rule::monthly(0).time(nine).timezone("Europe/Berlin");
/// let weekdays = Rule::cron("0 9 * * MON-FRI").timezone("Asia/Shanghai");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    plan_type: PlanType,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_time: Option<PlanTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_repet: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_keep: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
}

impl Rule {
    /// A rule of some type, with nothing else said.
    pub fn new(plan_type: PlanType) -> Self {
        let is_single = matches!(plan_type, PlanType::None | PlanType::Time);
        Self {
            plan_type,
            plan_value: None,
            plan_time: None,
            plan_repet: (!is_single).then_some(-1),
            no_keep: false,
            timezone: None,
            cron: None,
        }
    }

    /// Once, then.
    pub fn at(time: Timestamp) -> Self {
        Self::new(PlanType::Time).time(PlanTime::At(time))
    }

    /// Every so many seconds, minutes, hours or days.
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
        Self { cron: Some(pattern.into()), ..Self::new(PlanType::Cron) }
    }

    /// How many units lie between two runs, or on which day they are.
    #[must_use]
    pub fn value(self, value: i64) -> Self {
        Self { plan_value: Some(value), ..self }
    }

    /// When it is due, from when it repeats, or at which time of day.
    #[must_use]
    pub fn time(self, time: PlanTime) -> Self {
        Self { plan_time: Some(time), ..self }
    }

    /// How often it runs; −1 for ever.
    #[must_use]
    pub fn times(self, times: i64) -> Self {
        Self { plan_repet: Some(times), ..self }
    }

    /// Occurrences that are past run all the same, one after the other.
    #[must_use]
    pub fn no_keep(self) -> Self {
        Self { no_keep: true, ..self }
    }

    /// The zone of its local times, by its IANA name.
    #[must_use]
    pub fn timezone(self, name: impl Into<String>) -> Self {
        Self { timezone: Some(name.into()), ..self }
    }
}
