//! Local times that clock changes skip or repeat.

use crate::scene::assert_times;

#[track_caller]
fn assert_local(zone: &str, fields: &str, now: &str, expected: &[&str]) {
    let json = format!(r#"{{"timezone":"{zone}","plan_repet":-1,{fields}}}"#);
    assert_times(&json, now, expected);
}

const NEW_YORK: &str = "America/New_York";

#[test]
fn a_skipped_time_runs_at_the_end_of_the_gap() {
    // On 2026-03-08 it is 03:00 at 02:00.
    for (fields, now, expected) in [
        (
            r#""plan_type":"day","plan_value":1,"plan_time":"2026-03-06T02:30:00-05:00""#,
            "2026-03-07T00:00:00Z",
            ["2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"],
        ),
        (
            r#""plan_type":"day","plan_value":2,"plan_time":"2026-03-06T02:00:00-05:00""#,
            "2026-03-07T00:00:00Z",
            ["2026-03-08T03:00:00-04:00", "2026-03-10T02:00:00-04:00", "2026-03-12T02:00:00-04:00"],
        ),
        (
            r#""plan_type":"week","plan_value":0,"plan_time":"02:30""#,
            "2026-03-01T00:00:00Z",
            ["2026-03-01T02:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-15T02:30:00-04:00"],
        ),
        (
            r#""plan_type":"month","plan_value":8,"plan_time":"02:59:59""#,
            "2026-02-01T00:00:00Z",
            ["2026-02-08T02:59:59-05:00", "2026-03-08T03:00:00-04:00", "2026-04-08T02:59:59-04:00"],
        ),
        (
            r#""plan_type":"cron","cron":"30 2 * * *""#,
            "2026-03-07T00:00:00Z",
            ["2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"],
        ),
        // Two skipped times are one moment, hence one run.
        (
            r#""plan_type":"cron","cron":"0,30 2 * * *""#,
            "2026-03-07T07:15:00Z",
            ["2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"],
        ),
        (
            r#""plan_type":"cron","cron":"*/20 * * * *""#,
            "2026-03-08T06:30:00Z",
            ["2026-03-08T01:40:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:20:00-04:00"],
        ),
        (
            r#""plan_type":"cron","cron":"30 * * * *""#,
            "2026-03-08T06:00:00Z",
            ["2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00"],
        ),
    ] {
        assert_local(NEW_YORK, fields, now, &expected);
    }
}

#[test]
fn a_repeated_time_runs_on_its_first_pass() {
    // On 2026-11-01 it is 01:00 again at 02:00.
    for (fields, now, expected) in [
        (
            r#""plan_type":"day","plan_value":1,"plan_time":"2026-10-30T01:30:00-04:00""#,
            "2026-10-31T00:00:00Z",
            ["2026-10-31T01:30:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"],
        ),
        (
            r#""plan_type":"week","plan_value":0,"plan_time":"01:00""#,
            "2026-10-25T00:00:00Z",
            ["2026-10-25T01:00:00-04:00", "2026-11-01T01:00:00-04:00", "2026-11-08T01:00:00-05:00"],
        ),
        (
            r#""plan_type":"month","plan_value":1,"plan_time":"01:59:59""#,
            "2026-10-01T00:00:00Z",
            ["2026-10-01T01:59:59-04:00", "2026-11-01T01:59:59-04:00", "2026-12-01T01:59:59-05:00"],
        ),
        (
            r#""plan_type":"cron","cron":"30 1 * * *""#,
            "2026-11-01T05:30:00Z",
            ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00", "2026-11-03T01:30:00-05:00"],
        ),
        // The first pass is over.
        (
            r#""plan_type":"cron","cron":"30 1 * * *""#,
            "2026-11-01T06:10:00Z",
            ["2026-11-02T01:30:00-05:00", "2026-11-03T01:30:00-05:00", "2026-11-04T01:30:00-05:00"],
        ),
        (
            r#""plan_type":"cron","cron":"*/30 * * * *""#,
            "2026-11-01T05:15:00Z",
            ["2026-11-01T01:30:00-04:00", "2026-11-01T02:00:00-05:00", "2026-11-01T02:30:00-05:00"],
        ),
        // A base on the second pass.
        (
            r#""plan_type":"day","plan_value":1"#,
            "2026-11-01T06:10:00Z",
            ["2026-11-02T01:10:00-05:00", "2026-11-03T01:10:00-05:00", "2026-11-04T01:10:00-05:00"],
        ),
    ] {
        assert_local(NEW_YORK, fields, now, &expected);
    }
}

#[test]
fn hours_minutes_and_seconds_take_no_notice() {
    assert_local(
        NEW_YORK,
        r#""plan_type":"hour","plan_value":1,"plan_time":"2026-03-08T00:30:00-05:00""#,
        "2026-03-08T00:00:00-05:00",
        &["2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00", "2026-03-08T04:30:00-04:00"],
    );
    assert_local(
        NEW_YORK,
        r#""plan_type":"minute","plan_value":60,"plan_time":"2026-11-01T00:30:00-04:00""#,
        "2026-11-01T00:00:00-04:00",
        &["2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:30:00-05:00"],
    );
    assert_local(
        NEW_YORK,
        r#""plan_type":"second","plan_value":21600,"plan_time":"2026-03-07T23:00:00-05:00""#,
        "2026-03-07T23:00:00-05:00",
        &["2026-03-08T06:00:00-04:00", "2026-03-08T12:00:00-04:00"],
    );
}

#[test]
fn lord_howe_shifts_by_half_an_hour() {
    let zone = "Australia/Lord_Howe";
    assert_local(
        zone,
        r#""plan_type":"cron","cron":"15 2 * * *""#,
        "2026-10-02T20:00:00Z",
        &["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"],
    );
    assert_local(
        zone,
        r#""plan_type":"week","plan_value":0,"plan_time":"01:45""#,
        "2026-04-01T00:00:00Z",
        &["2026-04-05T01:45:00+11:00", "2026-04-12T01:45:00+10:30"],
    );
    assert_local(
        zone,
        r#""plan_type":"cron","cron":"*/10 1-2 * * *""#,
        "2026-04-05T01:40:00+11:00",
        &["2026-04-05T01:40:00+11:00", "2026-04-05T01:50:00+11:00", "2026-04-05T02:00:00+10:30"],
    );
}

#[test]
fn shanghai_had_summer_time_from_1986_to_1991() {
    // In spring it was 03:00 at 02:00, in autumn 01:00 again at 02:00.
    let at_2_30 = r#""plan_type":"day","plan_value":1,"plan_time":"1986-01-01T02:30:00+08:00""#;
    let at_1_30 = r#""plan_type":"day","plan_value":1,"plan_time":"1986-01-01T01:30:00+08:00""#;
    for (spring, autumn) in [
        ("1986-05-04", "1986-09-14"),
        ("1987-04-12", "1987-09-13"),
        ("1988-04-17", "1988-09-11"),
        ("1989-04-16", "1989-09-17"),
        ("1990-04-15", "1990-09-16"),
        ("1991-04-14", "1991-09-15"),
    ] {
        let next = |date: &str| {
            let date: jiff::civil::Date = date.parse().unwrap();
            date.tomorrow().unwrap().to_string()
        };
        assert_local(
            "Asia/Shanghai",
            at_2_30,
            &format!("{spring}T00:00:00+08:00"),
            &[&format!("{spring}T03:00:00+09:00"), &format!("{}T02:30:00+09:00", next(spring))],
        );
        assert_local(
            "Asia/Shanghai",
            at_1_30,
            &format!("{autumn}T00:00:00+09:00"),
            &[&format!("{autumn}T01:30:00+09:00"), &format!("{}T01:30:00+08:00", next(autumn))],
        );
    }
    assert_local(
        "Asia/Shanghai",
        at_2_30,
        "1992-04-12T00:00:00+08:00",
        &["1992-04-12T02:30:00+08:00"],
    );
}

#[test]
fn a_day_that_was_skipped_whole() {
    // Samoa crossed the date line: the 30th of December 2011 did not happen.
    assert_local(
        "Pacific/Apia",
        r#""plan_type":"day","plan_value":1,"plan_time":"2011-12-01T10:00:00-10:00""#,
        "2011-12-29T00:00:00-10:00",
        &["2011-12-29T10:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T10:00:00+14:00"],
    );
    assert_local(
        "Pacific/Apia",
        r#""plan_type":"month","plan_value":30,"plan_time":"18:00""#,
        "2011-12-01T00:00:00-10:00",
        &["2011-12-31T00:00:00+14:00", "2012-01-30T18:00:00+14:00", "2012-02-29T18:00:00+14:00"],
    );
    // Both midnights are the same moment: one run.
    assert_local(
        "Pacific/Apia",
        r#""plan_type":"cron","cron":"0 0 * * *""#,
        "2011-12-29T00:00:00-10:00",
        &["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"],
    );
}

#[test]
fn changes_at_midnight_and_changes_for_good() {
    assert_local(
        "America/Sao_Paulo",
        r#""plan_type":"week","plan_value":0,"plan_time":0"#,
        "2018-11-01T00:00:00Z",
        &["2018-11-04T01:00:00-02:00", "2018-11-11T00:00:00-02:00"],
    );
    assert_local(
        "America/Ciudad_Juarez",
        r#""plan_type":"cron","cron":"30 23 * * *""#,
        "2022-11-29T00:00:00-06:00",
        &["2022-11-29T23:30:00-06:00", "2022-11-30T23:30:00-07:00"],
    );
    assert_local(
        "Antarctica/Troll",
        r#""plan_type":"day","plan_value":1,"plan_time":"2026-03-01T02:15:00+00:00""#,
        "2026-03-29T00:00:00Z",
        &["2026-03-29T03:00:00+02:00", "2026-03-30T02:15:00+02:00"],
    );
}

#[test]
fn the_same_local_time_in_every_season() {
    assert_local(
        "Europe/Berlin",
        r#""plan_type":"month","plan_value":0,"plan_time":"23:30""#,
        "2026-01-01T00:00:00Z",
        &[
            "2026-01-31T23:30:00+01:00",
            "2026-02-28T23:30:00+01:00",
            "2026-03-31T23:30:00+02:00",
            "2026-04-30T23:30:00+02:00",
        ],
    );
    // Beyond the tables the rules of the zone go on.
    assert_local(
        NEW_YORK,
        r#""plan_type":"cron","cron":"30 2 8-14 3 0""#,
        "2077-03-13T12:00:00Z",
        &["2077-03-14T03:00:00-04:00", "2077-03-21T02:30:00-04:00"],
    );
}
