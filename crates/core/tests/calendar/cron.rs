//! Cron patterns: what they name and what they may look like.

use proptest::prelude::*;
use punctual_core::calendar::{Position, RuleFields};

use crate::scene::{assert_times, rule};

fn json(pattern: &str) -> String {
    format!(r#"{{"plan_type":"cron","cron":{pattern:?},"plan_repet":-1}}"#)
}

#[test]
fn patterns_name_their_times() {
    // 2026-01-01 is a Thursday.
    for (pattern, expected) in [
        ("* * * * *", ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"]),
        ("* * * * * *", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"]),
        (
            "*/20 59 23 * * *",
            ["2026-01-01T23:59:00Z", "2026-01-01T23:59:20Z", "2026-01-01T23:59:40Z"],
        ),
        ("30 * * * *", ["2026-01-01T00:30:00Z", "2026-01-01T01:30:00Z", "2026-01-01T02:30:00Z"]),
        (
            "15,45 8-9 * * *",
            ["2026-01-01T08:15:00Z", "2026-01-01T08:45:00Z", "2026-01-01T09:15:00Z"],
        ),
        ("5/25 0 * * *", ["2026-01-01T00:05:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:55:00Z"]),
        (
            "10-30/10 6 * * *",
            ["2026-01-01T06:10:00Z", "2026-01-01T06:20:00Z", "2026-01-01T06:30:00Z"],
        ),
        ("0 12 * * 1-5", ["2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z", "2026-01-05T12:00:00Z"]),
        (
            "0 12 * * Mon,wed",
            ["2026-01-05T12:00:00Z", "2026-01-07T12:00:00Z", "2026-01-12T12:00:00Z"],
        ),
        ("0 0 * * 0", ["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z", "2026-01-18T00:00:00Z"]),
        ("0 0 * * 7", ["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z", "2026-01-18T00:00:00Z"]),
        (
            "0 0 * * fri-sun",
            ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"],
        ),
        ("0 0 * * 6-7", ["2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-10T00:00:00Z"]),
        (
            "0 0 1 JAN,jul *",
            ["2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z"],
        ),
        ("0 0 31 * *", ["2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"]),
        ("0 0 29 2 *", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z"]),
        (
            "59 59 23 31 12 *",
            ["2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z", "2028-12-31T23:59:59Z"],
        ),
        // Both day fields: either is enough.
        ("0 0 13 * 5", ["2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"]),
        ("0 0 30 2 1", ["2026-02-02T00:00:00Z", "2026-02-09T00:00:00Z", "2026-02-16T00:00:00Z"]),
        ("0 0 */10 * 6", ["2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-10T00:00:00Z"]),
        // One of them is no restriction: the other rules.
        ("0 0 */1 * 1", ["2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z", "2026-01-19T00:00:00Z"]),
        ("0 0 15 * ?", ["2026-01-15T00:00:00Z", "2026-02-15T00:00:00Z", "2026-03-15T00:00:00Z"]),
        ("0 0 0 ? * 2", ["2026-01-06T00:00:00Z", "2026-01-13T00:00:00Z", "2026-01-20T00:00:00Z"]),
        // The last and the n-th.
        ("0 0 L * *", ["2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"]),
        ("0 0 1,L 2,3 *", ["2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"]),
        ("0 0 * * 5L", ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-27T00:00:00Z"]),
        ("0 0 * * SUNL", ["2026-01-25T00:00:00Z", "2026-02-22T00:00:00Z", "2026-03-29T00:00:00Z"]),
        ("0 0 * * MON#1", ["2026-01-05T00:00:00Z", "2026-02-02T00:00:00Z", "2026-03-02T00:00:00Z"]),
        ("0 0 * * 7#5", ["2026-03-29T00:00:00Z", "2026-05-31T00:00:00Z", "2026-08-30T00:00:00Z"]),
        ("0 0 * 2 1#5", ["2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"]),
    ] {
        assert_times(&json(pattern), "2026-01-01T00:00:00Z", &expected);
        let spaced = format!("\t {}\n", pattern.replace(' ', "  "));
        assert_times(&json(&spaced), "2026-01-01T00:00:00Z", &expected);
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let many = "1,".repeat(600) + "1 * * * *";
    for pattern in [
        "",
        "*",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 0 *",
        "* * * 13 *",
        "* * * * 8",
        "60 * * * * *",
        "*/0 * * * *",
        "*/60 * * * *",
        "1-0 * * * *",
        "5- * * * *",
        "-5 * * * *",
        "1,,2 * * * *",
        ", * * * *",
        "1/ * * * *",
        "/5 * * * *",
        "1/2/3 * * * *",
        "1-2-3 * * * *",
        "a * * * *",
        "1.5 * * * *",
        "+1 * * * *",
        "0x1 * * * *",
        "999999999999999999999 * * * *",
        "? * * * *",
        "* * * MONDAY *",
        "* * * MON *",
        "* * * * JAN",
        "* * * * FRI-MON",
        "* * * * L",
        "* * * * 1#0",
        "* * * * 1#6",
        "* * * * #1",
        "* * * * 1#",
        "* * * * 1-2#1",
        "* * * * 1-5L",
        "* * LL * *",
        "* * 15W * *",
        "* * * * +1",
        "@daily",
        "٣ * * * *",
        "* * * * *\u{0}",
        // Days that no month given has.
        "0 0 30 2 *",
        "0 0 31 4,6,9,11 *",
        "0 0 30-31 2 ?",
        &many,
    ] {
        let fields: RuleFields = serde_json::from_str(&json(pattern).replace("\\0", "\\u0000"))
            .unwrap_or_else(|error| panic!("{pattern:?}: {error}"));
        let invalid = fields.check().map(|rule| format!("{rule:?}")).unwrap_err();
        assert_eq!(invalid.field, "cron", "{pattern:?}");
    }
}

/// The members of a set, written one by one, as ranges or as steps.
fn written(low: u8, high: u8) -> impl Strategy<Value = (String, Vec<u8>)> {
    let single = (low..=high).prop_map(|a| (a.to_string(), vec![a]));
    let range = (low..=high, low..=high).prop_map(|(a, b)| {
        let (a, b) = (a.min(b), a.max(b));
        (format!("{a}-{b}"), (a..=b).collect())
    });
    let stepped = (low..=high, low..=high, 1..=high).prop_map(|(a, b, step)| {
        let (a, b) = (a.min(b), a.max(b));
        (format!("{a}-{b}/{step}"), (a..=b).filter(|v| (v - a).is_multiple_of(step)).collect())
    });
    let to_the_end = (low..=high, 1..=high).prop_map(move |(a, step)| {
        (format!("{a}/{step}"), (a..=high).filter(|v| (v - a).is_multiple_of(step)).collect())
    });
    let of_all = (2..=high).prop_map(move |step| {
        (format!("*/{step}"), (low..=high).filter(|v| (v - low).is_multiple_of(step)).collect())
    });
    let item = prop_oneof![single, range, stepped, to_the_end, of_all];
    prop::collection::vec(item, 1..4).prop_map(|items: Vec<(String, Vec<u8>)>| {
        let text: Vec<_> = items.iter().map(|(text, _)| text.clone()).collect();
        (text.join(","), items.into_iter().flat_map(|(_, values)| values).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Every field on its own against the set it was written from, over a stretch of time that is
    /// walked second by second, minute by minute or day by day.
    #[test]
    fn fields_are_the_sets_they_are_written_as(
        seconds in written(0, 59), minutes in written(0, 59), hours in written(0, 23),
        days in written(1, 31), months in written(1, 12), weekdays in written(0, 6),
        start in 0i64..4_000_000_000,
    ) {
        let cases = [
            (format!("{} * * * * *", seconds.0), 1, 3_600),
            (format!("{} * * * *", minutes.0), 60, 3_000),
            (format!("0 {} * * *", hours.0), 3_600, 2_000),
            (format!("0 0 {} {} {}", days.0, months.0, weekdays.0), 86_400, 1_500),
            (format!("0 0 {} * *", days.0), 86_400, 500),
            (format!("0 0 * {} *", months.0), 86_400, 1_500),
            (format!("0 0 * * {}", weekdays.0), 86_400, 500),
        ];
        let has = |set: &(String, Vec<u8>), value: i8| set.1.contains(&u8::try_from(value).unwrap());
        for (number, (pattern, step_secs, steps)) in cases.into_iter().enumerate() {
            let start = start / step_secs * step_secs;
            let matching = (0..steps).map(|n| start + n * step_secs).filter(|secs| {
                let utc = jiff::Timestamp::from_second(*secs).unwrap();
                let utc = jiff::tz::TimeZone::UTC.to_datetime(utc);
                let on_day = has(&days, utc.day());
                let on_month = has(&months, utc.month());
                let on_weekday = has(&weekdays, utc.weekday().to_sunday_zero_offset());
                match number {
                    0 => has(&seconds, utc.second()),
                    1 => has(&minutes, utc.minute()),
                    2 => has(&hours, utc.hour()),
                    3 => on_month && (on_day || on_weekday),
                    4 => on_day,
                    5 => on_month,
                    _ => on_weekday,
                }
            });
            let expected: Vec<_> = matching.take(1_000).collect();
            let now = punctual_core::Timestamp::from_millis(start * 1_000);
            let fields: RuleFields = serde_json::from_str(&json(&pattern)).unwrap();
            // A day that no month has was refused; the walk found none of them either.
            let Ok(rule) = fields.check() else {
                prop_assert!(expected.is_empty(), "{pattern}");
                continue;
            };
            let times = rule.occurrences(Position::start(now, 0), now, expected.len());
            let times: Vec<_> = times.iter().map(|time| time.as_millis() / 1_000).collect();
            prop_assert_eq!(times, expected, "{}", pattern);
        }
    }
}

#[test]
fn a_pattern_reads_as_it_was_written() {
    let rule = rule(&json(" 0 9 * * Mon-Fri "));
    assert_eq!(rule.fields().cron.as_deref(), Some(" 0 9 * * Mon-Fri "));
}
