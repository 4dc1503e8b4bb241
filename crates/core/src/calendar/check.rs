//! Turns the fields of a request into a rule, or names the field that is wrong.

use jiff::civil::Time;

use super::cron::Cron;
use super::fields::{PlanTime, PlanType, RuleFields};
use super::rule::{Kind, Pace, Rule};
use super::zone::Zone;
use crate::error::Invalid;
use crate::time::Timestamp;

const REPET_MAX: i64 = i32::MAX as i64;

impl RuleFields {
    /// The rule they give. Fields that its type has no use for are kept as they are.
    pub fn check(self) -> Result<Rule, Invalid> {
        let plan_type = self.plan_type.ok_or_else(|| Invalid::new("plan_type", PlanType::RULE))?;
        let zone = self.zone()?;
        let kind = match plan_type {
            PlanType::None => Kind::AtOnce,
            PlanType::Time => {
                let required = || Invalid::new("plan_time", "required for plan_type time");
                Kind::Once(self.base()?.ok_or_else(required)?)
            }
            PlanType::Second => Kind::Again(Pace::Millis(self.units()? * 1_000, self.base()?)),
            PlanType::Minute => Kind::Again(Pace::Millis(self.units()? * 60_000, self.base()?)),
            PlanType::Hour => Kind::Again(Pace::Millis(self.units()? * 3_600_000, self.base()?)),
            PlanType::Day => Kind::Again(Pace::Days(self.units()?, self.base()?)),
            PlanType::Week => {
                let weekday = self.day(0, 6, "a whole number from 0 (Sunday) to 6")?;
                Kind::Again(Pace::Week(weekday, self.time_of_day(&zone)?))
            }
            PlanType::Month => {
                let day = self.day(-31, 31, "a whole number from -31 to 31; 0 is the last day")?;
                Kind::Again(Pace::Month(day, self.time_of_day(&zone)?))
            }
            PlanType::Cron => Kind::Again(Pace::Cron(self.pattern()?)),
        };
        if plan_type != PlanType::Cron && self.cron.is_some() {
            return Err(Invalid::new("cron", "only with plan_type cron"));
        }
        let repeats = match kind {
            Kind::AtOnce | Kind::Once(_) => None,
            Kind::Again(_) => self.repeats()?,
        };
        let no_keep = self.no_keep.unwrap_or(false);
        let fields = Self {
            plan_time: self.plan_time.or(Some(PlanTime::ZERO)),
            no_keep: Some(no_keep),
            timezone: Some(zone.name().to_owned()),
            ..self
        };
        Ok(Rule { fields, kind, repeats, no_keep, zone })
    }

    fn zone(&self) -> Result<Zone, Invalid> {
        Zone::named(self.timezone.as_deref().unwrap_or("UTC"))
            .ok_or_else(|| Invalid::new("timezone", "an IANA name like \"Europe/Berlin\""))
    }

    /// How many units lie between two runs.
    fn units(&self) -> Result<i64, Invalid> {
        self.plan_value
            .filter(|units| (1..=i64::from(i16::MAX)).contains(units))
            .ok_or_else(|| Invalid::new("plan_value", "a whole number from 1 to 32767"))
    }

    /// The day of the week or month.
    fn day(&self, low: i8, high: i8, rule: &'static str) -> Result<i8, Invalid> {
        self.plan_value
            .and_then(|day| i8::try_from(day).ok())
            .filter(|day| (low..=high).contains(day))
            .ok_or_else(|| Invalid::new("plan_value", rule))
    }

    /// The time it names, if it names one.
    fn base(&self) -> Result<Option<Timestamp>, Invalid> {
        match self.plan_time {
            None | Some(PlanTime::ZERO) => Ok(None),
            Some(PlanTime::At(time)) => Ok(Some(time)),
            Some(PlanTime::OfDay(_)) => Err(Invalid::new(
                "plan_time",
                "Unix seconds or RFC 3339; a time of day only for week and month",
            )),
        }
    }

    fn time_of_day(&self, zone: &Zone) -> Result<Time, Invalid> {
        match self.plan_time {
            None | Some(PlanTime::ZERO) => Ok(Time::midnight()),
            Some(PlanTime::OfDay(time)) => Ok(time.0),
            Some(PlanTime::At(time)) => {
                let reading = zone.reading(time.as_millis());
                let reading =
                    reading.ok_or_else(|| Invalid::new("plan_time", "an earlier time"))?;
                Ok(reading.time())
            }
        }
    }

    fn pattern(&self) -> Result<Cron, Invalid> {
        Cron::parse(self.cron.as_deref().unwrap_or_default())
    }

    /// How often it runs; for ever if there is no such number.
    fn repeats(&self) -> Result<Option<u64>, Invalid> {
        match self.plan_repet {
            Some(-1) => Ok(None),
            Some(times @ 1..=REPET_MAX) => Ok(Some(times.unsigned_abs())),
            _ => Err(Invalid::new(
                "plan_repet",
                "a whole number from 1 to 2147483647, or -1 for ever; required for rules that repeat",
            )),
        }
    }
}

impl TryFrom<RuleFields> for Rule {
    type Error = Invalid;

    fn try_from(fields: RuleFields) -> Result<Self, Invalid> {
        fields.check()
    }
}

impl From<Rule> for RuleFields {
    fn from(rule: Rule) -> Self {
        rule.fields
    }
}
