//! Every row of the table of rules, in UTC.

use punctual_core::calendar::Position;

use crate::scene::{assert_times, at, rule};

#[test]
fn at_once() {
    let rule = rule(r#"{"plan_type":"none","plan_repet":5,"plan_time":"2030-01-01T00:00:00Z"}"#);
    let now = at("2026-05-01T12:00:00.123Z");
    let first = rule.next(Position::start(now, 0), now);
    assert_eq!((first.at, first.skipped), (Some(now), 0));
    // Late to start is not too late, and it is one occurrence however often it is asked for.
    let later = at("2026-05-03T00:00:00Z");
    assert_eq!(rule.next(first.position, later).at, Some(now));
    assert_eq!(rule.next(first.position.after_run(now), later).at, None);
    assert_eq!(rule.next(first.position.after_failure(now), later).at, None);
    assert_eq!(rule.next(first.position.after_skip(now, &rule), later).at, None);
}

#[test]
fn once_at_a_time() {
    let json = r#"{"plan_type":"time","plan_time":"2026-05-01T12:00:00Z"}"#;
    assert_times(json, "2026-04-01T00:00:00Z", &["2026-05-01T12:00:00Z"]);
    assert_times(json, "2026-05-01T12:00:00Z", &["2026-05-01T12:00:00Z"]);
    let rule = rule(json);
    let now = at("2026-04-01T00:00:00Z");
    assert_eq!(rule.occurrences(Position::start(now, 0), now, 10).len(), 1);
}

#[test]
fn every_so_many_seconds_minutes_hours_days() {
    // From a base in the future, one interval after it.
    assert_times(
        r#"{"plan_type":"second","plan_value":90,"plan_repet":-1,"plan_time":"2026-12-31T23:58:00Z"}"#,
        "2026-01-01T00:00:00Z",
        &["2026-12-31T23:59:30Z", "2027-01-01T00:01:00Z", "2027-01-01T00:02:30Z"],
    );
    // From now, to the millisecond.
    assert_times(
        r#"{"plan_type":"minute","plan_value":5,"plan_repet":-1,"plan_time":0}"#,
        "2026-02-28T23:56:00.250Z",
        &["2026-03-01T00:01:00.250Z", "2026-03-01T00:06:00.250Z"],
    );
    assert_times(
        r#"{"plan_type":"hour","plan_value":32767,"plan_repet":-1}"#,
        "2026-01-01T00:00:00Z",
        &["2029-09-27T07:00:00Z", "2033-06-23T14:00:00Z"],
    );
    assert_times(
        r#"{"plan_type":"day","plan_value":10,"plan_repet":-1,"plan_time":"2024-02-20T08:00:00Z"}"#,
        "2024-02-20T08:00:00Z",
        &["2024-03-01T08:00:00Z", "2024-03-11T08:00:00Z"],
    );
    // From a base in the past the rhythm stays.
    assert_times(
        r#"{"plan_type":"hour","plan_value":7,"plan_repet":-1,"plan_time":"2026-01-01T00:00:00Z"}"#,
        "2026-01-01T08:00:00Z",
        &["2026-01-01T14:00:00Z", "2026-01-01T21:00:00Z", "2026-01-02T04:00:00Z"],
    );
}

#[test]
fn as_often_as_asked() {
    for (json, times) in [
        (r#"{"plan_type":"second","plan_value":1,"plan_repet":3}"#, 3),
        (r#"{"plan_type":"day","plan_value":1,"plan_repet":1}"#, 1),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":4}"#, 4),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":5}"#, 5),
        (r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":6}"#, 6),
        (r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":-1}"#, 10),
    ] {
        let now = at("2026-01-01T00:00:00Z");
        let position = Position::start(now, 0);
        assert_eq!(rule(json).occurrences(position, now, 10).len(), times, "{json}");
        // What was used before the rule was replaced stays used.
        let position = Position::start(now, 2);
        let left = if times == 10 { 10 } else { times.saturating_sub(2) };
        assert_eq!(rule(json).occurrences(position, now, 10).len(), left, "{json}");
    }
    let forever = rule(r#"{"plan_type":"second","plan_value":1,"plan_repet":-1}"#);
    let now = at("2026-01-01T00:00:00Z");
    assert_eq!(forever.occurrences(Position::start(now, 0), now, usize::MAX).len(), 1_000);
}

#[test]
fn on_a_weekday() {
    // 2026-12-29 is a Tuesday.
    for (weekday, first) in [
        (0, "2027-01-03T09:30:00Z"),
        (1, "2027-01-04T09:30:00Z"),
        (2, "2026-12-29T09:30:00Z"),
        (3, "2026-12-30T09:30:00Z"),
        (4, "2026-12-31T09:30:00Z"),
        (5, "2027-01-01T09:30:00Z"),
        (6, "2027-01-02T09:30:00Z"),
    ] {
        let json = format!(
            r#"{{"plan_type":"week","plan_value":{weekday},"plan_repet":-1,"plan_time":"09:30"}}"#
        );
        assert_times(&json, "2026-12-29T09:30:00Z", &[first]);
        let second = at(first) + punctual_core::Span::from_secs(7 * 86_400);
        assert_times(&json, "2026-12-29T08:00:00Z", &[first, &second.to_string()]);
    }
    let json = r#"{"plan_type":"week","plan_value":2,"plan_repet":-1,"plan_time":"09:30"}"#;
    assert_times(json, "2026-12-29T09:30:00.001Z", &["2027-01-05T09:30:00Z"]);
}

#[test]
fn only_the_time_of_day_of_a_time_counts_for_weeks_and_months() {
    for time in [r#""2031-07-09T09:30:15.5Z""#, "1925371815.5", r#""2031-07-09T17:30:15.5+08:00""#]
    {
        let json =
            format!(r#"{{"plan_type":"week","plan_value":2,"plan_repet":-1,"plan_time":{time}}}"#);
        assert_times(&json, "2026-12-28T00:00:00Z", &["2026-12-29T09:30:15.5Z"]);
    }
    // In the rule's own zone.
    assert_times(
        r#"{"plan_type":"month","plan_value":5,"plan_repet":-1,"plan_time":"2031-07-09T09:30:00Z","timezone":"Asia/Shanghai"}"#,
        "2026-12-28T00:00:00Z",
        &["2027-01-05T17:30:00+08:00"],
    );
    for time in ["0", "null", r#""00:00""#] {
        let json = format!(
            r#"{{"plan_type":"month","plan_value":5,"plan_repet":-1,"plan_time":{time},"timezone":"Asia/Shanghai"}}"#
        );
        assert_times(&json, "2026-12-28T00:00:00Z", &["2027-01-05T00:00:00+08:00"]);
    }
}

#[test]
fn on_a_day_of_the_month() {
    for (day, days) in [
        (1, ["2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01"]),
        (28, ["2024-01-28", "2024-02-28", "2024-03-28", "2024-04-28"]),
        (29, ["2024-01-29", "2024-02-29", "2024-03-29", "2024-04-29"]),
        (30, ["2024-01-30", "2024-02-29", "2024-03-30", "2024-04-30"]),
        (31, ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
        (0, ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
        (-1, ["2024-01-30", "2024-02-28", "2024-03-30", "2024-04-29"]),
        (-27, ["2024-02-02", "2024-03-04", "2024-04-03", "2024-05-04"]),
        (-28, ["2024-02-01", "2024-03-03", "2024-04-02", "2024-05-03"]),
        (-29, ["2024-02-01", "2024-03-02", "2024-04-01", "2024-05-02"]),
        (-30, ["2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01"]),
        (-31, ["2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01"]),
    ] {
        let json = format!(
            r#"{{"plan_type":"month","plan_value":{day},"plan_repet":-1,"plan_time":"06:00"}}"#
        );
        let days = days.map(|day| format!("{day}T06:00:00Z"));
        let days: Vec<_> = days.iter().map(String::as_str).collect();
        assert_times(&json, "2024-01-15T00:00:00Z", &days);
    }
    // Years without the 29th of February, centuries, the end of the year.
    for (now, day) in [
        ("2023-02-01T00:00:00Z", "2023-02-28T00:00:00Z"),
        ("2000-02-01T00:00:00Z", "2000-02-29T00:00:00Z"),
        ("2100-02-01T00:00:00Z", "2100-02-28T00:00:00Z"),
        ("2026-12-31T00:00:00.001Z", "2027-01-31T00:00:00Z"),
    ] {
        for value in [0, 31] {
            let json = format!(r#"{{"plan_type":"month","plan_value":{value},"plan_repet":-1}}"#);
            assert_times(&json, now, &[day]);
        }
    }
}

#[test]
fn the_end_of_time_is_an_end() {
    for (json, now, left) in [
        (r#"{"plan_type":"hour","plan_value":1,"plan_repet":-1}"#, "9999-12-31T20:30:00Z", 3),
        (r#"{"plan_type":"day","plan_value":1,"plan_repet":-1}"#, "9999-12-28T00:00:00Z", 2),
        (r#"{"plan_type":"week","plan_value":0,"plan_repet":-1}"#, "9999-12-20T00:00:00Z", 1),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":-1}"#, "9999-10-15T00:00:00Z", 2),
        (r#"{"plan_type":"cron","cron":"0 0 1 1 *","plan_repet":-1}"#, "9997-06-01T00:00:00Z", 2),
        (r#"{"plan_type":"cron","cron":"0 0 29 2 *","plan_repet":-1}"#, "9992-06-01T00:00:00Z", 1),
        (
            r#"{"plan_type":"time","plan_time":"9999-12-31T23:59:59.999Z"}"#,
            "2026-01-01T00:00:00Z",
            1,
        ),
    ] {
        let now = at(now);
        let times = rule(json).occurrences(Position::start(now, 0), now, 10);
        assert_eq!(times.len(), left, "{json}: {times:?}");
    }
}
