//! What a request may say, and which field is at fault if it may not.

use punctual_core::calendar::{Rule, RuleFields};

use crate::scene::rule;

/// The field a request is refused for.
fn at_fault(json: &str) -> Result<Rule, String> {
    let deserializer = &mut serde_json::Deserializer::from_str(json);
    let fields: RuleFields =
        serde_path_to_error::deserialize(deserializer).map_err(|error| error.path().to_string())?;
    fields.check().map_err(|invalid| invalid.field.into_owned())
}

#[test]
fn every_kind_of_rule_is_taken() {
    for json in [
        r#"{"plan_type":"none"}"#,
        r#"{"plan_type":0}"#,
        r#"{"plan_type":"none","plan_repet":0,"plan_value":99999,"plan_time":0,"no_keep":true}"#,
        r#"{"plan_type":"none","plan_repet":-7}"#,
        r#"{"plan_type":"time","plan_time":1}"#,
        r#"{"plan_type":1,"plan_time":"2026-03-01T10:00:00+08:00","plan_repet":0}"#,
        r#"{"plan_type":"time","plan_time":1763189428.5,"plan_repet":-2}"#,
        r#"{"plan_type":"second","plan_value":1,"plan_repet":1}"#,
        r#"{"plan_type":"minute","plan_value":32767,"plan_repet":-1,"plan_time":null}"#,
        r#"{"plan_type":"hour","plan_value":2,"plan_repet":2147483647,"plan_time":0}"#,
        r#"{"plan_type":"day","plan_value":1,"plan_repet":-1,"timezone":"Asia/Shanghai"}"#,
        r#"{"plan_type":"week","plan_value":0,"plan_repet":-1}"#,
        r#"{"plan_type":6,"plan_value":6,"plan_repet":3,"plan_time":"23:59"}"#,
        r#"{"plan_type":"month","plan_value":31,"plan_repet":-1,"plan_time":"00:00:59"}"#,
        r#"{"plan_type":"month","plan_value":0,"plan_repet":-1}"#,
        r#"{"plan_type":7,"plan_value":-31,"plan_repet":-1,"plan_time":1763189428}"#,
        r#"{"plan_type":"cron","cron":"*/5 * * * *","plan_repet":-1,"timezone":null}"#,
        r#"{"plan_type":"cron","cron":"0 */5 * * * MON","plan_repet":1}"#,
    ] {
        assert!(at_fault(json).is_ok(), "{json}: {:?}", at_fault(json));
    }
}

#[test]
fn every_wrong_field_is_named() {
    for (json, field) in [
        (r#"{}"#, "plan_type"),
        (r#"{"plan_type":null}"#, "plan_type"),
        (r#"{"plan_type":8}"#, "plan_type"),
        (r#"{"plan_type":-1}"#, "plan_type"),
        (r#"{"plan_type":2.0,"plan_value":1,"plan_repet":1}"#, "plan_type"),
        (r#"{"plan_type":"2"}"#, "plan_type"),
        (r#"{"plan_type":"Hour"}"#, "plan_type"),
        (r#"{"plan_type":"year"}"#, "plan_type"),
        (r#"{"plan_type":18446744073709551615}"#, "plan_type"),
        // The value.
        (r#"{"plan_type":"second","plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"second","plan_value":0,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"minute","plan_value":-1,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"hour","plan_value":32768,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"day","plan_value":1.5,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"day","plan_value":"1","plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"day","plan_value":9223372036854775807,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"day","plan_value":-9223372036854775808,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"day","plan_value":1e300,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"week","plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"week","plan_value":7,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"week","plan_value":-1,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"month","plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"month","plan_value":32,"plan_repet":1}"#, "plan_value"),
        (r#"{"plan_type":"month","plan_value":-32,"plan_repet":1}"#, "plan_value"),
        // The time.
        (r#"{"plan_type":"time"}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":null}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":0}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":-1}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":"10:30"}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":"NaN"}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":9223372036854775807}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":"2026-02-30T00:00:00Z"}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":"10000-01-01T00:00:00Z"}"#, "plan_time"),
        (r#"{"plan_type":"time","plan_time":"2026-02-03T00:00:00"}"#, "plan_time"),
        (
            r#"{"plan_type":"second","plan_value":1,"plan_repet":1,"plan_time":"10:30"}"#,
            "plan_time",
        ),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":1,"plan_time":"24:00"}"#, "plan_time"),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":1,"plan_time":"9:30"}"#, "plan_time"),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":1,"plan_time":"09:60"}"#, "plan_time"),
        (
            r#"{"plan_type":"month","plan_value":1,"plan_repet":1,"plan_time":"1:2:3:4"}"#,
            "plan_time",
        ),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":1,"plan_time":"+1:00"}"#, "plan_time"),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":1,"plan_time":true}"#, "plan_time"),
        // The number of runs.
        (r#"{"plan_type":"second","plan_value":1}"#, "plan_repet"),
        (r#"{"plan_type":"second","plan_value":1,"plan_repet":0}"#, "plan_repet"),
        (r#"{"plan_type":"week","plan_value":1,"plan_repet":-2}"#, "plan_repet"),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":2147483648}"#, "plan_repet"),
        (r#"{"plan_type":"month","plan_value":1,"plan_repet":1.5}"#, "plan_repet"),
        (r#"{"plan_type":"cron","cron":"* * * * *"}"#, "plan_repet"),
        (r#"{"plan_type":"cron","cron":"* * * * *","plan_repet":null}"#, "plan_repet"),
        // The rest.
        (r#"{"plan_type":"none","no_keep":1}"#, "no_keep"),
        (r#"{"plan_type":"none","timezone":"Mars/Olympus"}"#, "timezone"),
        (r#"{"plan_type":"none","timezone":""}"#, "timezone"),
        (r#"{"plan_type":"none","timezone":"+08:00"}"#, "timezone"),
        (r#"{"plan_type":"none","timezone":8}"#, "timezone"),
        (r#"{"plan_type":"none","cron":"* * * * *"}"#, "cron"),
        (r#"{"plan_type":"cron","plan_repet":-1}"#, "cron"),
        (r#"{"plan_type":"cron","cron":"","plan_repet":-1}"#, "cron"),
        (r#"{"plan_type":"cron","cron":"0 0 30 2 *","plan_repet":-1}"#, "cron"),
        (r#"{"plan_type":"none","plan_repeat":1}"#, "plan_repeat"),
        (r#"["none"]"#, "."),
    ] {
        assert_eq!(at_fault(json).unwrap_err(), field, "{json}");
    }
}

#[test]
fn a_rule_reads_as_it_was_given_with_its_defaults() {
    for (given, read) in [
        (
            r#"{"plan_type":2,"plan_value":5,"plan_repet":-1}"#,
            r#"{"plan_type":"second","plan_value":5,"plan_time":0,"plan_repet":-1,"no_keep":false,"timezone":"UTC","cron":null}"#,
        ),
        (
            r#"{"plan_type":"week","plan_value":1,"plan_time":"09:30","plan_repet":2,"no_keep":true,"timezone":"europe/berlin"}"#,
            r#"{"plan_type":"week","plan_value":1,"plan_time":"09:30:00","plan_repet":2,"no_keep":true,"timezone":"Europe/Berlin","cron":null}"#,
        ),
        (
            r#"{"plan_type":"time","plan_time":1763189428}"#,
            r#"{"plan_type":"time","plan_value":null,"plan_time":"2025-11-15T06:50:28.000Z","plan_repet":null,"no_keep":false,"timezone":"UTC","cron":null}"#,
        ),
        (
            r#"{"plan_type":"cron","cron":"0 9 * * mon-fri","plan_repet":3}"#,
            r#"{"plan_type":"cron","plan_value":null,"plan_time":0,"plan_repet":3,"no_keep":false,"timezone":"UTC","cron":"0 9 * * mon-fri"}"#,
        ),
    ] {
        let given = rule(given);
        assert_eq!(serde_json::to_string(&given).unwrap(), read);
        assert_eq!(rule(read), given, "what is read can be given again");
        let stored = postcard::to_stdvec(&given).unwrap();
        assert_eq!(postcard::from_bytes::<Rule>(&stored).unwrap(), given);
    }
}

#[test]
fn a_stored_rule_that_breaks_its_rules_is_not_read() {
    let mut fields = rule(r#"{"plan_type":"week","plan_value":1,"plan_repet":1}"#).fields().clone();
    fields.plan_value = Some(9);
    let stored = postcard::to_stdvec(&fields).unwrap();
    assert!(postcard::from_bytes::<Rule>(&stored).is_err());
    assert!(postcard::from_bytes::<Rule>(&stored[..stored.len() - 1]).is_err());
}
