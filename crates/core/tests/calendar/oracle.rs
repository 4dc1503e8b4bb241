//! The calendar done slowly: the clock is watched minute by minute, and the rules about being late
//! are applied to one occurrence after the other. Nothing here knows of gaps, folds or arithmetic.

use jiff::Timestamp as Instant;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

pub(crate) const MINUTE: i64 = 60;
pub(crate) const DAY: i64 = 86_400;

/// Local times that a rule wants, all at whole minutes.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Days { base: DateTime, step: i32 },
    Week { weekday: i8, hour: i8, minute: i8 },
    Month { day: i8, hour: i8, minute: i8 },
    Cron { minutes: Vec<i8>, hours: Vec<i8>, days: Vec<i8>, months: Vec<i8>, weekdays: Vec<i8> },
}

impl Wanted {
    pub(crate) fn is_at(&self, local: DateTime) -> bool {
        let weekday = local.weekday().to_sunday_zero_offset();
        let (hour_now, minute_now) = (local.hour(), local.minute());
        match self {
            Self::Days { base, step } => {
                let days = || base.date().until(local.date()).unwrap().get_days();
                local.time() == base.time() && days() > 0 && days() % step == 0
            }
            Self::Week { weekday: wanted, hour, minute } => {
                (weekday, hour_now, minute_now) == (*wanted, *hour, *minute)
            }
            Self::Month { day, hour, minute } => {
                (hour_now, minute_now) == (*hour, *minute)
                    && local.day() == day_in_month(local.date(), *day)
            }
            Self::Cron { minutes, hours, days, months, weekdays } => {
                let on_day = match (days.is_empty(), weekdays.is_empty()) {
                    (true, true) => true,
                    (false, true) => days.contains(&local.day()),
                    (true, false) => weekdays.contains(&weekday),
                    (false, false) => days.contains(&local.day()) || weekdays.contains(&weekday),
                };
                on_day
                    && minutes.contains(&minute_now)
                    && hours.contains(&hour_now)
                    && months.contains(&local.month())
            }
        }
    }

    /// The fields of a request for it.
    pub(crate) fn fields(&self, base_secs: i64) -> String {
        let list = |values: &[i8]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            if values.is_empty() { "*".to_owned() } else { values.join(",") }
        };
        match self {
            Self::Days { step, .. } => {
                format!(r#""plan_type":"day","plan_value":{step},"plan_time":{base_secs}"#)
            }
            Self::Week { weekday, hour, minute } => format!(
                r#""plan_type":"week","plan_value":{weekday},"plan_time":"{hour:02}:{minute:02}""#
            ),
            Self::Month { day, hour, minute } => format!(
                r#""plan_type":"month","plan_value":{day},"plan_time":"{hour:02}:{minute:02}""#
            ),
            Self::Cron { minutes, hours, days, months, weekdays } => format!(
                r#""plan_type":"cron","cron":"{} {} {} {} {}""#,
                list(minutes),
                list(hours),
                list(days),
                list(months),
                list(weekdays)
            ),
        }
    }
}

/// The day a month rule names, counted on the fingers.
fn day_in_month(date: Date, day: i8) -> i8 {
    let mut days: Vec<i8> = Vec::new();
    let mut this = date.first_of_month();
    while this.month() == date.month() {
        days.push(this.day());
        this = this.tomorrow().unwrap();
    }
    let found = if day > 0 {
        days.into_iter().find(|d| *d == day)
    } else {
        days.iter().rev().nth(usize::from(day.unsigned_abs())).copied().or(Some(1))
    };
    found.unwrap_or_else(|| date.last_of_month().day())
}

pub(crate) fn reading(zone: &TimeZone, secs: i64) -> DateTime {
    zone.to_datetime(Instant::from_second(secs).unwrap())
}

/// The moments from `from` to before `to` at which a wanted time happens; a moment at which two
/// happen is there twice.
pub(crate) fn watch(zone: &TimeZone, wanted: &Wanted, from: i64, to: i64) -> Vec<i64> {
    assert_eq!((from % MINUTE, to % MINUTE), (0, 0), "whole minutes");
    let mut moments = Vec::new();
    // What the clock has shown before, two days back because a clock may have gone back.
    let mut latest = reading(zone, from - 2 * DAY);
    let mut secs = from - 2 * DAY;
    while secs < to {
        let shows = reading(zone, secs);
        while latest < shows {
            latest = latest.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
            if secs >= from && wanted.is_at(latest) {
                moments.push(secs);
            }
        }
        secs += MINUTE;
    }
    moments
}

/// How a plan stands, by the slow way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) over: Option<i64>,
    pub(crate) used: u64,
}

/// The rules about being late.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) repeats: Option<u64>,
    pub(crate) no_keep: bool,
    pub(crate) skips_count: bool,
}

pub(crate) enum Found {
    Due(i64),
    Finished,
    /// Beyond what was watched.
    Unknown,
}

/// Takes one moment after the other.
pub(crate) fn next(
    moments: &[i64],
    manner: Manner,
    standing: &mut Standing,
    now: i64,
) -> (Found, u64) {
    let mut skipped = 0;
    for moment in moments {
        if standing.over.is_some_and(|over| *moment <= over) && skipped == 0 {
            continue;
        }
        if manner.repeats.is_some_and(|repeats| standing.used >= repeats) {
            return (Found::Finished, skipped);
        }
        if manner.no_keep || *moment >= now {
            return (Found::Due(*moment), skipped);
        }
        skipped += 1;
        standing.used += u64::from(manner.skips_count);
        standing.over = Some(*moment);
    }
    (Found::Unknown, skipped)
}
