//! The flags that say when a plan is due.

use clap::{ArgGroup, Args};
use punctual_client::{Plan, PlanTime, PlanType, Rule, Timestamp};

use crate::output::Usage;
use crate::times::local;
use crate::values;

const DAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// When a plan is due: one of the flags that name a rule, and what refines it.
#[derive(Args)]
#[command(group = ArgGroup::new("kind").required(true).args([
    "every", "at", "daily", "weekly", "monthly", "cron", "plan_type",
]))]
pub(crate) struct RuleArgs {
    /// Again and again, that far apart: 30s, 10m, 6h, 1d; whole days keep the local time of day
    #[arg(long, value_name = "SPAN", value_parser = every)]
    every: Option<Rule>,
    /// Once, then: 2027-01-01T06:00:00Z, or Unix seconds
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "time")]
    at: Option<Timestamp>,
    /// Every day at --time
    #[arg(long)]
    daily: bool,
    /// Every week on that day (mon, Friday, 0 to 6 from Sunday), at --time
    #[arg(long, value_name = "DAY", value_parser = weekday)]
    weekly: Option<i64>,
    /// Every month on that day, at --time: 1 to 31, 0 for the last day, -1 for the one before it
    #[arg(long, value_name = "DAY", allow_negative_numbers = true)]
    monthly: Option<i64>,
    /// A cron pattern: minute, hour, day, month, weekday; with seconds first if there are six
    #[arg(long, value_name = "PATTERN")]
    cron: Option<String>,
    /// Any type by its name: none, time, second, minute, hour, day, week, month
    #[arg(long = "type", value_name = "TYPE", value_parser = values::word::<PlanType>)]
    plan_type: Option<PlanType>,
    /// With --type: how many units lie between two runs, or on which day they are
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        conflicts_with_all = ["every", "at", "daily", "weekly", "monthly", "cron"])]
    value: Option<i64>,
    /// A time of day like 09:30 where the rule has days; else from when it repeats [default: 00:00, or now]
    #[arg(long, value_parser = plan_time)]
    time: Option<PlanTime>,
    /// How often it runs; -1 for ever [default: -1]
    #[arg(long, visible_alias = "times", value_name = "N", allow_negative_numbers = true)]
    repet: Option<i64>,
    /// Run also what was missed, one after the other, instead of skipping it
    #[arg(long)]
    no_keep: bool,
    /// The zone of local times, like Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
}

impl RuleArgs {
    /// The zone of its local times.
    pub(crate) fn zone(&self) -> &str {
        self.timezone.as_deref().unwrap_or("UTC")
    }

    pub(crate) fn rule(self) -> anyhow::Result<Rule> {
        let (mut rule, time) = if self.daily {
            (daily(self.time)?, None)
        } else {
            let named = (self.every)
                .or(self.at.map(Rule::at))
                .or(self.weekly.map(Rule::weekly))
                .or(self.monthly.map(Rule::monthly))
                .or(self.cron.map(Rule::cron))
                .or(self.plan_type.map(Rule::new));
            (named.expect("one of the group is required"), self.time)
        };
        rule = self.value.into_iter().fold(rule, Rule::value);
        rule = time.into_iter().fold(rule, Rule::time);
        rule = self.repet.into_iter().fold(rule, Rule::times);
        rule = self.timezone.into_iter().fold(rule, Rule::timezone);
        Ok(if self.no_keep { rule.no_keep() } else { rule })
    }
}

/// A plan's rule in words.
pub(crate) fn words(plan: &Plan) -> String {
    let n = plan.plan_value.unwrap_or(1);
    let every = |unit: &str| match n {
        1 => format!("every {unit}"),
        n => format!("every {n} {unit}s"),
    };
    let words = match plan.plan_type {
        PlanType::None => return "at once".to_owned(),
        PlanType::Time => match plan.plan_time {
            Some(PlanTime::At(at)) => return format!("once, {}", local(at, &plan.timezone)),
            _ => return "once".to_owned(),
        },
        PlanType::Second => every("second") + &from(plan),
        PlanType::Minute => every("minute") + &from(plan),
        PlanType::Hour => every("hour") + &from(plan),
        PlanType::Day => every("day") + &from(plan),
        PlanType::Week => {
            let day = usize::try_from(n).ok().and_then(|day| DAYS.get(day));
            let day = day.map_or_else(|| format!("day {n}"), |day| capital(day));
            format!("every {day} at {}", of_day(plan))
        }
        PlanType::Month => {
            let day = match n {
                0 => "the last day".to_owned(),
                -1 => "the last day but one".to_owned(),
                n if n < 0 => format!("the day {} before the last", -n),
                n => format!("day {n}"),
            };
            format!("every month on {day} at {}", of_day(plan))
        }
        PlanType::Cron => {
            let cron = plan.cron.as_deref().unwrap_or_default();
            daily_at(cron).unwrap_or_else(|| format!("cron {cron}"))
        }
    };
    match plan.timezone.as_str() {
        "UTC" => words,
        zone => format!("{words}, {zone}"),
    }
}

/// From when a rule repeats, if it says so.
fn from(plan: &Plan) -> String {
    match plan.plan_time {
        Some(PlanTime::At(at)) if at != Timestamp::EPOCH => {
            format!(" from {}", local(at, &plan.timezone))
        }
        _ => String::new(),
    }
}

/// The time of day of a rule that has days.
fn of_day(plan: &Plan) -> String {
    match plan.plan_time {
        Some(PlanTime::OfDay(time)) => short(&time.to_string()),
        Some(PlanTime::At(at)) if at != Timestamp::EPOCH => {
            let local = local(at, &plan.timezone);
            local.get(11..19).map_or(local.clone(), short)
        }
        _ => "00:00".to_owned(),
    }
}

/// A time of day without seconds that are none.
fn short(time: &str) -> String {
    time.strip_suffix(":00").filter(|rest| rest.len() == 5).unwrap_or(time).to_owned()
}

fn capital(day: &str) -> String {
    day[..1].to_uppercase() + &day[1..]
}

/// A pattern that means every day at a time, as `--daily` makes it.
fn daily_at(cron: &str) -> Option<String> {
    let fields: Vec<&str> = cron.split(' ').collect();
    let [second, minute, hour, "*", "*", "*"] = fields[..] else { return None };
    let is_number = |text: &&str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    let time = [hour, minute, second];
    let time = time.iter().all(is_number).then(|| short(&time.join(":")))?;
    Some(format!("every day at {time}"))
}

/// Every day at a time of day: a pattern says so without a day to begin with.
fn daily(time: Option<PlanTime>) -> Result<Rule, Usage> {
    let text = match time {
        None => "00:00:00".to_owned(),
        Some(PlanTime::OfDay(time)) => time.to_string(),
        Some(PlanTime::At(_)) => {
            return Err(Usage("--time: --daily takes a time of day like 09:30".to_owned()));
        }
    };
    let fields: Vec<&str> = text.rsplit(':').collect();
    Ok(Rule::cron(format!("{} * * *", fields.join(" "))))
}

/// An interval, in the largest unit it is a whole number of.
fn every(text: &str) -> Result<Rule, &'static str> {
    let units = [
        (86_400_000, PlanType::Day),
        (3_600_000, PlanType::Hour),
        (60_000, PlanType::Minute),
        (1_000, PlanType::Second),
    ];
    let millis = values::span(text)?.as_millis();
    let unit = units.into_iter().find(|(unit, _)| millis > 0 && millis % unit == 0);
    let (unit, plan_type) = unit.ok_or("expected whole seconds, at least one")?;
    Ok(Rule::every(millis / unit, plan_type))
}

/// A day of the week by its number, or by three letters of its name or more.
fn weekday(text: &str) -> Result<i64, &'static str> {
    let name = text.to_ascii_lowercase();
    let named = DAYS.iter().position(|day| name.len() >= 3 && day.starts_with(&name));
    let number = named.or_else(|| text.parse().ok().filter(|day| *day < DAYS.len()));
    number.map(|day| day as i64).ok_or("expected a day like mon or Friday, or 0 (Sunday) to 6")
}

fn plan_time(text: &str) -> Result<PlanTime, &'static str> {
    PlanTime::parse(text).ok_or(
        "expected a time of day like 09:30, a time like 2026-11-15T06:50:28Z, or Unix seconds",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        rule: RuleArgs,
    }

    fn read(line: &str) -> Result<Value, String> {
        let words = std::iter::once("plan").chain(line.split_terminator(' '));
        let command = Command::try_parse_from(words).map_err(|error| error.to_string())?;
        let rule = command.rule.rule().map_err(|error| error.to_string())?;
        Ok(json!(rule))
    }

    #[test]
    fn flags_make_the_rule_they_say() {
        for (line, rule) in [
            ("--every 10m", json!({"plan_type": "minute", "plan_value": 10, "repeat": -1})),
            ("--every 90m", json!({"plan_type": "minute", "plan_value": 90, "repeat": -1})),
            ("--every 2h --times 3", json!({"plan_type": "hour", "plan_value": 2, "repeat": 3})),
            (
                "--every 45 --no-keep",
                json!({"plan_type": "second", "plan_value": 45,
                "repeat": -1, "no_keep": true}),
            ),
            (
                "--every 7d --time 1798826400",
                json!({"plan_type": "day", "plan_value": 7,
                "repeat": -1, "plan_time": "2027-01-01T18:00:00.000Z"}),
            ),
            (
                "--at 1798826400",
                json!({"plan_type": "time", "plan_time": "2027-01-01T18:00:00.000Z"}),
            ),
            ("--daily", json!({"plan_type": "cron", "cron": "00 00 00 * * *", "repeat": -1})),
            (
                "--daily --time 09:30 --timezone UTC",
                json!({"plan_type": "cron",
                "cron": "00 30 09 * * *", "repeat": -1, "timezone": "UTC"}),
            ),
            (
                "--weekly fri --time 17:00",
                json!({"plan_type": "week", "plan_value": 5,
                "repeat": -1, "plan_time": "17:00:00"}),
            ),
            (
                "--monthly -1 --repet 2",
                json!({"plan_type": "month", "plan_value": -1, "repeat": 2}),
            ),
            ("--type none", json!({"plan_type": "none"})),
            ("--type day --value 1", json!({"plan_type": "day", "plan_value": 1, "repeat": -1})),
        ] {
            assert_eq!(read(line), Ok(rule), "{line}");
        }
        assert_eq!(read("--cron *").unwrap()["cron"], "*");
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for line in [
            "",
            "--every 10m --cron *",
            "--every 0s",
            "--every 1500ms",
            "--at 1 --time 09:00",
            "--daily --time 1798826400",
            "--weekly 7",
            "--weekly mo",
            "--type fortnight",
            "--every 1h --value 3",
            "--every 1h --time 25:00",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn days_of_the_week_go_by_name_and_number() {
        for (text, day) in [("sun", 0), ("Monday", 1), ("SAT", 6), ("3", 3)] {
            assert_eq!(weekday(text), Ok(day));
        }
    }
}
