//! FAULTS row 18: no server for three days. What was due meanwhile runs once, late, and from there every
//! plan does what its rule says.

use serde_json::{Value, json};

use crate::api::Api;
use crate::place::Place;

/// Monday, and three and a half days later.
const START: &str = "2030-01-07T00:00:00Z";
const DOWN_MS: i64 = 84 * 3_600_000;

/// A plan, when its first run is due, and what becomes of it once that is done: the state, runs done,
/// occurrences skipped and the next time.
struct Case {
    rule: Value,
    first: &'static str,
    after: (&'static str, u64, u64, Option<&'static str>),
}

fn cases() -> Vec<Case> {
    let case = |rule, first, after| Case { rule, first, after };
    vec![
        case(json!({"plan_type": "none"}), "2030-01-07T00:00:00.000Z", ("finished", 1, 0, None)),
        case(
            json!({"plan_type": "time", "plan_time": "2030-01-08T00:00:00Z"}),
            "2030-01-08T00:00:00.000Z",
            ("finished", 1, 0, None),
        ),
        // Those that are past count: the last of ten is.
        case(
            json!({"plan_type": "hour", "plan_value": 1, "plan_time": START, "plan_repet": 10}),
            "2030-01-07T01:00:00.000Z",
            ("finished", 1, 9, None),
        ),
        case(
            json!({"plan_type": "hour", "plan_value": 1, "plan_time": START, "plan_repet": 100}),
            "2030-01-07T01:00:00.000Z",
            ("scheduled", 1, 83, Some("2030-01-10T13:00:00.000Z")),
        ),
        case(
            json!({"plan_type": "minute", "plan_value": 7, "plan_time": START, "plan_repet": -1}),
            "2030-01-07T00:07:00.000Z",
            ("scheduled", 1, 719, Some("2030-01-10T12:07:00.000Z")),
        ),
        case(
            json!({"plan_type": "second", "plan_value": 3600, "plan_time": START,
                "plan_repet": -1, "no_keep": true}),
            "2030-01-07T01:00:00.000Z",
            ("running", 1, 0, None),
        ),
        case(
            json!({"plan_type": "day", "plan_value": 1, "plan_time": START, "plan_repet": -1}),
            "2030-01-08T00:00:00.000Z",
            ("scheduled", 1, 2, Some("2030-01-11T00:00:00.000Z")),
        ),
        case(
            json!({"plan_type": "week", "plan_value": 2, "plan_time": "06:00", "plan_repet": 2}),
            "2030-01-08T06:00:00.000Z",
            ("scheduled", 1, 0, Some("2030-01-15T06:00:00.000Z")),
        ),
        case(
            json!({"plan_type": "month", "plan_value": 8, "plan_time": "06:00", "plan_repet": 2}),
            "2030-01-08T06:00:00.000Z",
            ("scheduled", 1, 0, Some("2030-02-08T06:00:00.000Z")),
        ),
        // Those that are past do not count: one more of two is to come.
        case(
            json!({"plan_type": "cron", "cron": "0 6 * * *", "plan_repet": 2}),
            "2030-01-07T06:00:00.000Z",
            ("scheduled", 1, 3, Some("2030-01-11T06:00:00.000Z")),
        ),
    ]
}

#[test]
fn after_three_days_down_every_plan_does_what_its_rule_says() {
    for place in [Place::directory(), Place::redis()] {
        let server = place.dev();
        server.set_clock(START);
        for (n, Case { rule, .. }) in cases().iter().enumerate() {
            let mut plan = rule.clone();
            plan["plan_id"] = json!(format!("p{n}"));
            plan["station"] = json!(format!("s{n}"));
            server.post("/v1/plans", plan);
        }
        server.stop();
        place.sleep(DOWN_MS);
        let server = place.dev();
        server.advance("0s");
        for (n, Case { rule, first, after }) in cases().iter().enumerate() {
            let (id, station) = (format!("p{n}"), format!("s{n}"));
            let run = server.work(&station);
            // The plan without a time is due when it was made, a little after the clock was set.
            let at = run["plan"]["plan_time"].as_str().unwrap();
            assert_eq!(at[..17], first[..17], "{rule}");
            server.advance("0s");
            let plan = server.plan(&id);
            let reads = (&plan["state"], &plan["real_repet"], &plan["skipped"], &plan["next_at"]);
            let (state, done, skipped, next_at) = after;
            let expected = (&json!(state), &json!(done), &json!(skipped), &json!(next_at));
            assert_eq!(reads, expected, "{rule}");
            assert_eq!(server.live(&station).len(), usize::from(*state == "running"), "{rule}");
        }
        // None is skipped: all of three and a half days run, one after the other.
        for hour in 2..=84 {
            let run = server.work("s5");
            assert_eq!(run["plan"]["run"], hour);
            server.advance("0s");
        }
        assert_eq!(server.plan("p5")["next_at"], "2030-01-10T13:00:00.000Z");
        server.stop();
    }
}

#[test]
fn a_time_that_is_past_when_the_plan_is_made_is_skipped_or_made_up_for() {
    let place = Place::directory();
    let server = place.dev();
    server.set_clock(START);
    let plan = |id: &str, no_keep: bool| {
        json!({"plan_id": id, "station": id, "plan_type": "time", "no_keep": no_keep,
            "plan_time": "2030-01-01T00:00:00Z"})
    };
    let skipped = server.post("/v1/plans", plan("skipped", false));
    assert_eq!((&skipped["state"], &skipped["skipped"]), (&json!("finished"), &json!(1)));
    server.post("/v1/plans", plan("late", true));
    server.advance("0s");
    assert_eq!(server.work("late")["plan"]["plan_time"], "2030-01-01T00:00:00.000Z");
    assert!(server.live("skipped").is_empty());
    server.stop();
}
