//! What is skipped, what is caught up, what counts, and when a plan is finished.

use punctual_core::Timestamp;
use punctual_core::calendar::{Next, Position};

use crate::scene::{at, rule};

/// The time due, how many were skipped, and how much is used.
fn outcome(next: Next) -> (Option<Timestamp>, u64, u64) {
    (next.at, next.skipped, next.position.used)
}

fn first(json: &str, now: &str) -> (Option<Timestamp>, u64, u64) {
    outcome(rule(json).next(Position::start(at(now), 0), at(now)))
}

fn hourly(repet: i32, no_keep: bool) -> String {
    format!(
        r#"{{"plan_type":"hour","plan_value":1,"plan_repet":{repet},"no_keep":{no_keep},"plan_time":"2026-01-01T00:00:00Z"}}"#
    )
}

#[test]
fn a_time_that_is_past_when_the_plan_is_made() {
    let time = |no_keep| {
        format!(r#"{{"plan_type":"time","plan_time":"2026-01-01T00:00:00Z","no_keep":{no_keep}}}"#)
    };
    let due = Some(at("2026-01-01T00:00:00Z"));
    assert_eq!(first(&time(false), "2026-01-01T00:00:00.001Z"), (None, 1, 0));
    assert_eq!(first(&time(true), "2026-01-01T00:00:00.001Z"), (due, 0, 0));
    assert_eq!(first(&time(false), "2026-01-01T00:00:00Z"), (due, 0, 0));
}

#[test]
fn past_occurrences_count_as_runs() {
    // At 10:00 those of 01:00 to 09:00 are past; that of 10:00 is not.
    let now = "2026-01-01T10:00:00Z";
    let ten = Some(at(now));
    assert_eq!(first(&hourly(-1, false), now), (ten, 9, 9));
    assert_eq!(first(&hourly(20, false), now), (ten, 9, 9));
    assert_eq!(first(&hourly(10, false), now), (ten, 9, 9));
    // Even the last is past: finished without a run.
    assert_eq!(first(&hourly(9, false), now), (None, 9, 9));
    assert_eq!(first(&hourly(5, false), now), (None, 5, 5));
    assert_eq!(first(&hourly(1, false), "2026-01-01T01:00:00.001Z"), (None, 1, 1));
    // Kept: the first is still due.
    let one = Some(at("2026-01-01T01:00:00Z"));
    assert_eq!(first(&hourly(-1, true), now), (one, 0, 0));
    assert_eq!(first(&hourly(1, true), now), (one, 0, 0));
}

#[test]
fn a_run_that_takes_too_long() {
    let json = r#"{"plan_type":"second","plan_value":10,"plan_repet":5}"#;
    let rule = rule(json);
    let start = Position::start(at("2026-01-01T00:00:00Z"), 0);
    let ran = start.after_run(at("2026-01-01T00:00:10Z"));
    let next = |now| outcome(rule.next(ran, at(now)));
    assert_eq!(next("2026-01-01T00:00:12Z"), (Some(at("2026-01-01T00:00:20Z")), 0, 1));
    assert_eq!(next("2026-01-01T00:00:20Z"), (Some(at("2026-01-01T00:00:20Z")), 0, 1));
    assert_eq!(next("2026-01-01T00:00:35Z"), (Some(at("2026-01-01T00:00:40Z")), 2, 3));
    assert_eq!(next("2026-01-01T00:00:50Z"), (Some(at("2026-01-01T00:00:50Z")), 3, 4));
    assert_eq!(next("2026-01-01T00:00:51Z"), (None, 4, 5));
    assert_eq!(next("2026-02-01T00:00:00Z"), (None, 4, 5));
}

#[test]
fn kept_occurrences_run_one_after_the_other() {
    let rule = rule(&hourly(4, true));
    let mut position = Position::start(at("2026-01-05T00:00:00Z"), 0);
    let mut due = Vec::new();
    for hour in 0..10 {
        let now = at(&format!("2026-01-05T0{hour}:00:00Z"));
        let next = rule.next(position, now);
        assert_eq!(next.skipped, 0);
        let Some(time) = next.at else { break };
        due.push(time.to_string());
        position = next.position.after_run(time);
    }
    let expected = ["01", "02", "03", "04"].map(|hour| format!("2026-01-01T{hour}:00:00.000Z"));
    assert_eq!(due, expected);
}

#[test]
fn weeks_months_and_patterns_do_not_count_what_they_skip() {
    for (fields, ran, now, next, skipped) in [
        (
            r#""plan_type":"week","plan_value":1,"plan_time":"09:00""#,
            "2026-01-05T09:00:00Z",
            "2026-01-26T09:30:00Z",
            "2026-02-02T09:00:00Z",
            3,
        ),
        (
            r#""plan_type":"month","plan_value":31"#,
            "2026-01-31T00:00:00Z",
            "2026-07-31T00:00:00Z",
            "2026-07-31T00:00:00Z",
            5,
        ),
        (
            r#""plan_type":"cron","cron":"*/15 9-16 * * mon-fri""#,
            "2026-01-02T16:45:00Z",
            "2026-01-06T09:20:00Z",
            "2026-01-06T09:30:00Z",
            34,
        ),
    ] {
        for (no_keep, repet) in [(false, 2), (false, -1), (true, 2)] {
            let json = format!(r#"{{{fields},"plan_repet":{repet},"no_keep":{no_keep}}}"#);
            let rule = rule(&json);
            let position = Position::start(at("2026-01-01T00:00:00Z"), 0).after_run(at(ran));
            let (due, passed, used) = outcome(rule.next(position, at(now)));
            assert_eq!(used, 1, "{json}");
            if no_keep {
                assert!(due.unwrap() < at(now) && passed == 0, "{json}: {due:?}");
            } else {
                assert_eq!((due, passed), (Some(at(next)), skipped), "{json}");
            }
        }
    }
}

#[test]
fn three_days_and_three_years_down() {
    let ran = at("2026-01-01T00:00:01Z");
    for (json, now, skipped, next) in [
        (
            r#"{"plan_type":"second","plan_value":1,"plan_repet":-1}"#,
            "2026-01-04T00:00:00.5Z",
            259_199,
            "2026-01-04T00:00:01Z",
        ),
        (
            r#"{"plan_type":"second","plan_value":1,"plan_repet":-1}"#,
            "2029-01-01T00:00:00.5Z",
            94_694_399,
            "2029-01-01T00:00:01Z",
        ),
        (
            r#"{"plan_type":"cron","cron":"* * * * * *","plan_repet":-1}"#,
            "2029-01-01T00:00:00.5Z",
            94_694_399,
            "2029-01-01T00:00:01Z",
        ),
        (
            r#"{"plan_type":"cron","cron":"* * * * * *","plan_repet":-1}"#,
            "9998-12-31T23:59:59.999Z",
            251_603_539_198,
            "9999-01-01T00:00:00Z",
        ),
    ] {
        let rule = rule(json);
        let position = Position::start(at("2026-01-01T00:00:00Z"), 0).after_run(ran);
        let (due, passed, _) = outcome(rule.next(position, at(now)));
        assert_eq!((due, passed), (Some(at(next)), skipped), "{json} at {now}");
    }
}

#[test]
fn asking_again_changes_nothing() {
    for json in [
        hourly(20, false),
        hourly(5, false),
        hourly(5, true),
        r#"{"plan_type":"time","plan_time":1}"#.to_owned(),
        r#"{"plan_type":"none"}"#.to_owned(),
        r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":2}"#.to_owned(),
    ] {
        let rule = rule(&json);
        let now = at("2026-01-01T10:00:00Z");
        let position = Position::start(at("2026-01-01T00:00:00Z"), 0);
        let once = rule.next(position, now);
        let twice = rule.next(once.position, now);
        assert_eq!((twice.at, twice.skipped), (once.at, 0), "{json}");
        assert_eq!(twice.position, once.position, "{json}");
    }
}

#[test]
fn paused_plans_skip_or_keep_what_passed_meanwhile() {
    let made = at("2026-01-01T00:30:00Z");
    let resumed = at("2026-01-01T05:30:00Z");
    let skipping = rule(&hourly(20, false));
    let pending = skipping.next(Position::start(made, 0), made);
    assert_eq!(pending.at, Some(at("2026-01-01T01:00:00Z")));
    let after = outcome(skipping.next(pending.position, resumed));
    assert_eq!(after, (Some(at("2026-01-01T06:00:00Z")), 5, 5));
    let keeping = rule(&hourly(20, true));
    let after = outcome(keeping.next(pending.position, resumed));
    assert_eq!(after, (Some(at("2026-01-01T01:00:00Z")), 0, 0));
}

#[test]
fn what_counts_and_what_does_not() {
    let run = at("2026-01-01T01:00:00Z");
    let position = Position::start(at("2026-01-01T00:00:00Z"), 3);
    assert_eq!(position.after_run(run).used, 4);
    assert_eq!(position.after_failure(run).used, 3);
    for (json, used) in [
        (hourly(-1, true), 4),
        (r#"{"plan_type":"day","plan_value":1,"plan_repet":-1}"#.to_owned(), 4),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":-1}"#.to_owned(), 3),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":-1}"#.to_owned(), 3),
        (r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":-1}"#.to_owned(), 3),
    ] {
        let skipped = position.after_skip(run, &rule(&json));
        assert_eq!((skipped.used, skipped.over), (used, Some(run)), "{json}");
    }
    // A run that failed is over but did not count: the last one is still to come.
    let hourly = rule(&hourly(2, false));
    let position = Position::start(at("2026-01-01T00:00:00Z"), 0).after_run(run);
    let failed = position.after_failure(at("2026-01-01T02:00:00Z"));
    assert_eq!(
        hourly.next(failed, at("2026-01-01T02:10:00Z")).at,
        Some(at("2026-01-01T03:00:00Z"))
    );
}

#[test]
fn a_clock_that_goes_back_fires_nothing_again() {
    for json in [
        hourly(-1, false),
        hourly(-1, true),
        r#"{"plan_type":"cron","cron":"0 * * * *","plan_repet":-1}"#.to_owned(),
    ] {
        let position = Position::start(at("2026-01-01T00:00:00Z"), 0);
        let ran = position.after_run(at("2026-01-01T05:00:00Z"));
        let next = rule(&json).next(ran, at("2026-01-01T02:30:00Z"));
        assert_eq!((next.at, next.skipped), (Some(at("2026-01-01T06:00:00Z")), 0), "{json}");
    }
}
