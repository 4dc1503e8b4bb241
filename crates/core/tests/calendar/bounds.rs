//! No input makes the calendar panic, hang or answer out of bounds.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use punctual_core::Timestamp;
use punctual_core::calendar::{PlanTime, Position, Rule, RuleFields, TimeOfDay};
use serde_json::{Value, json};

use crate::scene::{at, rule};

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-40i64..40).prop_map(Value::from),
        (0i64..40_000).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(i64::MAX)),
        Just(json!(i64::MIN)),
        Just(Value::Null),
    ]
}

fn plan_time() -> impl Strategy<Value = Value> {
    prop_oneof![
        number(),
        (0i64..253_402_300_800).prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        "[0-2][0-9]:[0-6][0-9](:[0-6][0-9])?".prop_map(Value::from),
        "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:00Z".prop_map(Value::from),
    ]
}

fn cron() -> impl Strategy<Value = Value> {
    let field = "(\\*|[0-9]{1,2}(-[0-9]{1,2})?|L|[0-7]L|[0-7]#[0-6]|MON|FEB)(/[0-9]{1,2})?";
    let fields = prop::collection::vec(field, 5..7).prop_map(|fields| fields.join(" "));
    prop_oneof![
        4 => fields.prop_map(Value::from),
        1 => "[0-9*,/LW#? A-Z-]{0,40}".prop_map(Value::from),
        1 => ".{0,40}".prop_map(Value::from),
    ]
}

fn fields() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        prop::sample::select(vec![
            "none", "time", "second", "minute", "hour", "day", "week", "month", "cron", "cron", "x"
        ])
        .prop_map(Value::from),
        (0u8..10).prop_map(Value::from),
    ];
    let zone = prop::sample::select(vec![
        "UTC",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Asia/Shanghai",
        "Antarctica/Troll",
        "Pacific/Kiritimati",
        "Etc/GMT+12",
        "Africa/Casablanca",
    ]);
    let repet =
        prop_oneof![3 => Just(json!(-1)), 2 => (1i64..100).prop_map(Value::from), 1 => number()];
    (kind, number(), plan_time(), repet, any::<bool>(), zone, cron()).prop_map(
        |(plan_type, plan_value, plan_time, plan_repet, no_keep, timezone, cron)| {
            let mut fields = json!({
                "plan_value": plan_value, "plan_time": plan_time, "plan_repet": plan_repet,
                "no_keep": no_keep, "timezone": timezone,
            });
            if plan_type == "cron" {
                fields["cron"] = cron;
            }
            fields["plan_type"] = plan_type;
            fields
        },
    )
}

fn moment() -> impl Strategy<Value = Timestamp> {
    let end = Timestamp::MAX.as_millis();
    prop_oneof![
        0..=end,
        0..100_000_000i64,
        end - 400_000_000..=end,
        1_700_000_000_000..2_000_000_000_000i64
    ]
    .prop_map(Timestamp::from_millis)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn every_answer_is_in_bounds(
        fields in fields(), since in moment(), over in prop::option::of(moment()),
        used in prop_oneof![0u64..50, any::<u64>()], now in moment(),
    ) {
        let read: Result<RuleFields, _> = serde_json::from_value(fields);
        let Some(rule) = read.ok().and_then(|fields| fields.check().ok()) else { return Ok(()) };
        let position = Position { since, over, used };
        let next = rule.next(position, now);
        prop_assert!(next.position.used >= used);
        prop_assert!(next.position.over >= over);
        let again = rule.next(next.position, now);
        prop_assert_eq!((again.at, again.skipped), (next.at, 0));
        let times = rule.occurrences(position, now, 5);
        prop_assert_eq!(times.first().copied(), next.at);
        for time in &times {
            prop_assert!(Some(*time) > over);
        }
        for pair in times.windows(2) {
            prop_assert!(pair[0] < pair[1]);
        }
        let repeats = !matches!(rule.fields().plan_type.unwrap().as_str(), "none" | "time");
        if repeats && rule.fields().no_keep == Some(false) {
            prop_assert!(next.at.is_none_or(|at| at >= now));
        }
        let written = serde_json::to_string(&rule).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Rule>(&written).unwrap(), &rule);
        let packed = postcard::to_stdvec(&rule).unwrap();
        prop_assert_eq!(&postcard::from_bytes::<Rule>(&packed).unwrap(), &rule);
    }

    #[test]
    fn any_text_is_a_time_or_refused(text in ".{0,20}") {
        if let Some(time) = TimeOfDay::parse(&text) {
            prop_assert_eq!(TimeOfDay::parse(&time.to_string()), Some(time));
        }
        if let Some(time) = PlanTime::parse(&text) {
            prop_assert_eq!(PlanTime::parse(&time.to_string()), Some(time));
        }
    }
}

/// The bound is generous: each of these takes milliseconds, and would take hours by walking.
#[test]
fn the_hardest_searches_are_short() {
    let start = Position::start(at("1970-01-02T00:00:00Z"), 0);
    let now = at("9999-12-01T00:00:00Z");
    for fields in [
        r#""plan_type":"second","plan_value":1"#,
        r#""plan_type":"day","plan_value":1"#,
        r#""plan_type":"week","plan_value":1"#,
        r#""plan_type":"month","plan_value":-31"#,
        r#""plan_type":"cron","cron":"* * * * * *""#,
        r#""plan_type":"cron","cron":"59 59 23 29 2 *""#,
        r#""plan_type":"cron","cron":"0 0 0 * 2 0#5""#,
        r#""plan_type":"cron","cron":"0 0 31 12 *""#,
    ] {
        for no_keep in [true, false] {
            let json = format!(
                r#"{{{fields},"plan_repet":-1,"no_keep":{no_keep},"timezone":"America/New_York"}}"#
            );
            let begun = Instant::now();
            let rule = rule(&json);
            rule.next(start, now);
            rule.next(Position::start(now, 0), now);
            rule.occurrences(start, at("1970-01-02T00:00:00Z"), usize::MAX);
            assert!(begun.elapsed() < Duration::from_secs(5), "{json}: {:?}", begun.elapsed());
        }
    }
    let never = r#"{"plan_type":"cron","cron":"0 0 30,31 2 *","plan_repet":-1}"#;
    let begun = Instant::now();
    assert!(serde_json::from_str::<Rule>(never).is_err());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
