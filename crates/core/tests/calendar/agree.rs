//! The calendar agrees with the slow one: over all zones, around clock changes and elsewhere.

use std::sync::LazyLock;

use jiff::Timestamp as Instant;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use punctual_core::Timestamp;
use punctual_core::calendar::{Position, Rule};

use crate::oracle::{DAY, Found, MINUTE, Manner, Standing, Wanted, next, reading, watch};
use crate::scene::rule;

static ZONES: LazyLock<Vec<String>> =
    LazyLock::new(|| jiff::tz::db().available().map(|name| name.to_string()).collect());

/// 1973-01-01, since when all offsets are whole minutes, to 2060-01-01.
const YEARS: std::ops::Range<i64> = 94_694_400..2_840_140_800;

/// A zone and a moment in it, most often that of a clock change.
#[derive(Debug, Clone)]
struct Place {
    zone: TimeZone,
    secs: i64,
}

fn place() -> impl Strategy<Value = Place> {
    (any::<prop::sample::Index>(), YEARS, prop::bool::weighted(0.8)).prop_filter_map(
        "a zone that can be named",
        |(index, secs, at_change)| {
            let zone = TimeZone::get(index.get::<String>(&ZONES))
                .ok()
                .filter(|z| z.iana_name().is_some())?;
            let change = zone.following(Instant::from_second(secs).unwrap()).next();
            let change = change.map(|change| change.timestamp().as_second());
            let secs = change.filter(|change| at_change && YEARS.contains(change)).unwrap_or(secs);
            Some(Place { zone, secs: secs / MINUTE * MINUTE })
        },
    )
}

/// A few members of a set, one of them near what the clock shows.
fn some(low: i8, high: i8, near: i8, more: &[u8], shift: i8) -> Vec<i8> {
    let size = high - low + 1;
    let mut values: Vec<i8> = more
        .iter()
        .map(|roll| low + i8::try_from(i16::from(*roll) % i16::from(size)).unwrap())
        .collect();
    values.push(low + (near - low + shift).rem_euclid(size));
    values
}

/// A rule whose times are likely to be hit by a change at that moment, and the base it needs.
fn wanted(place: &Place, kind: u8, rolls: &[u8; 12], shift_minutes: i64) -> (Wanted, i64) {
    let near = reading(&place.zone, place.secs + shift_minutes * MINUTE);
    let (hour, minute) = (near.hour(), near.minute());
    let base_secs = place.secs + (shift_minutes - i64::from(rolls[0] % 12) * 24 * 60) * MINUTE;
    let wanted = match kind {
        0 => Wanted::Days {
            base: reading(&place.zone, base_secs),
            step: i32::from(rolls[1] % 4) + 1,
        },
        1 => {
            let weekday = near.weekday().to_sunday_zero_offset();
            Wanted::Week { weekday: (weekday + i8::from(rolls[1] > 200)) % 7, hour, minute }
        }
        2 => {
            let day = match rolls[1] % 3 {
                0 => near.day(),
                1 => near.day() - near.days_in_month(),
                _ => i8::try_from(rolls[2] % 63).unwrap() - 31,
            };
            Wanted::Month { day, hour, minute }
        }
        _ => {
            let few = |from: usize| &rolls[from..from + usize::from(rolls[from] % 3)];
            let weekday = near.weekday().to_sunday_zero_offset();
            let all = |low: i8, high: i8| (low..=high).collect::<Vec<_>>();
            Wanted::Cron {
                minutes: if rolls[0] < 40 { all(0, 59) } else { some(0, 59, minute, few(1), 0) },
                hours: if rolls[0] > 128 { all(0, 23) } else { some(0, 23, hour, few(3), 0) },
                days: if rolls[5] < 128 { vec![] } else { some(1, 31, near.day(), few(5), 0) },
                months: if rolls[7] < 200 {
                    all(1, 12)
                } else {
                    some(1, 12, near.month(), few(7), 0)
                },
                weekdays: if rolls[9] < 128 { vec![] } else { some(0, 6, weekday, few(9), 0) },
            }
        }
    };
    (wanted, base_secs)
}

/// When a rule is set, in minutes from the moment: some days before it, or within two hours.
fn start() -> impl Strategy<Value = i64> {
    prop_oneof![-10_000i64..0, -120i64..120]
}

fn timestamp(secs: i64) -> Timestamp {
    Timestamp::from_millis(secs * 1_000)
}

/// How many days a rule of that kind is watched.
fn days_watched(kind: u8) -> i64 {
    match kind {
        0 => 14,
        1 => 30,
        2 => 70,
        _ => 3,
    }
}

fn build(place: &Place, fields: &str, manner: Manner) -> Rule {
    let repet = manner.repeats.map_or(-1, |repeats| i64::try_from(repeats).unwrap());
    rule(&format!(
        r#"{{{fields},"plan_repet":{repet},"no_keep":{},"timezone":"{}"}}"#,
        manner.no_keep,
        place.zone.iana_name().unwrap()
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn about_every_occurrence(
        place in place(), kind in 0u8..4, rolls: [u8; 12], shift in -150i64..150,
        start in start(),
    ) {
        let (wanted, base) = wanted(&place, kind, &rolls, shift);
        let from = place.secs + start * MINUTE;
        let to = place.secs + days_watched(kind) * DAY;
        let manner = Manner { repeats: None, no_keep: false, skips_count: kind == 0 };
        let rule = build(&place, &wanted.fields(base), manner);
        let mut slow = watch(&place.zone, &wanted, from.max(if kind == 0 { base } else { from }), to);
        slow.dedup();
        let mut position = Position::start(timestamp(from), 0);
        let mut fast = Vec::new();
        while let Some(at) = rule.next(position, timestamp(from)).at.filter(|at| *at < timestamp(to)) {
            fast.push(at.as_millis() / 1_000);
            prop_assert_eq!(at.as_millis() % 1_000, 0);
            position = position.after_run(at);
        }
        prop_assert_eq!(fast, slow, "{:?}", rule.fields());
    }

    #[test]
    fn about_being_late(
        place in place(), kind in 0u8..6, rolls: [u8; 12], shift in -150i64..150,
        no_keep: bool, repeats in prop::option::of(1u64..40), start in start(),
        steps in prop::collection::vec((0i64..3_000, 0u8..8), 1..12),
    ) {
        let to = place.secs + days_watched(kind) * DAY;
        let skips_count = kind == 0 || kind > 3;
        let manner = Manner { repeats, no_keep, skips_count };
        // The rule is set some days before or after its base.
        let since = place.secs + start * MINUTE;
        let (moments, fields) = if kind > 3 {
            let (unit, secs) = if kind == 4 { ("minute", MINUTE) } else { ("hour", 60 * MINUTE) };
            let value = i64::from(rolls[0]) % 50 + 1;
            let base = place.secs + shift * MINUTE - 4 * DAY;
            let times = (1..).map(|n| base + n * value * secs).take_while(|at| *at < to);
            let fields = format!(r#""plan_type":"{unit}","plan_value":{value},"plan_time":{base}"#);
            (times.collect::<Vec<_>>(), fields)
        } else {
            let (wanted, base) = wanted(&place, kind, &rolls, shift);
            let from = if kind == 0 { base } else { since };
            (watch(&place.zone, &wanted, from, to), wanted.fields(base))
        };
        let rule = build(&place, &fields, manner);
        let mut now = since;
        let mut standing = Standing { over: None, used: 0 };
        let mut position = Position::start(timestamp(since), 0);
        for (minutes, end) in steps {
            now += minutes * MINUTE;
            let (found, skipped) = next(&moments, manner, &mut standing, now);
            let step = rule.next(position, timestamp(now));
            let due = match found {
                Found::Unknown => break,
                Found::Finished => None,
                Found::Due(at) => Some(at),
            };
            prop_assert_eq!(step.at, due.map(timestamp), "{:?} at {}", rule.fields(), now);
            prop_assert_eq!(step.skipped, skipped, "{:?} at {}", rule.fields(), now);
            prop_assert_eq!(step.position.used, standing.used);
            position = step.position;
            let Some(due) = due else { break };
            // It runs, fails, is skipped, or the plan is paused and asked again.
            let at = timestamp(due);
            now = now.max(due);
            (position, standing) = match end {
                0 => (position, standing),
                1 => (position.after_failure(at), Standing { over: Some(due), ..standing }),
                2 => {
                    let used = standing.used + u64::from(skips_count);
                    (position.after_skip(at, &rule), Standing { over: Some(due), used })
                }
                _ => {
                    let used = standing.used + 1;
                    (position.after_run(at), Standing { over: Some(due), used })
                }
            };
            prop_assert_eq!(position.used, standing.used);
        }
    }
}
