//! A push as it comes in: every field is read, checked by its rule, and refused by its name.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

use punctual_core::queue::{Mode, Settings};
use punctual_core::{NewTask, QueueName, Refusal, Span, Spec, TaskId, Timestamp};

fn parse(text: &str) -> Result<NewTask, serde_json::Error> {
    serde_json::from_str(text)
}

fn checked(text: &str) -> Result<NewTask, String> {
    let new = parse(text).map_err(|error| error.to_string())?;
    new.check().map_err(|refusal| refusal.to_string())?;
    Ok(new)
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

fn spec(text: &str) -> Spec {
    let now = Timestamp::from_millis(1_000_000);
    Spec::new(queue("q"), checked(text).unwrap(), TaskId::parse("generated").unwrap(), now)
}

#[test]
fn an_empty_push_is_a_task_for_now() {
    let spec = spec("{}");
    assert_eq!((spec.id.as_str(), spec.payload.as_str()), ("generated", "null"));
    assert_eq!(
        (spec.due_at, spec.created_at),
        (spec.created_at, Timestamp::from_millis(1_000_000))
    );
    assert_eq!((spec.priority, spec.hold, spec.max_attempts), (0, None, None));
    assert_eq!((spec.unique_for, spec.expires), (None, None));
    assert!(spec.requires.is_empty() && spec.tags.is_empty() && spec.owner.is_none());
}

#[test]
fn every_field_is_taken_over() {
    let spec = spec(
        r#"{"id":"a","payload":{"n": 1.0},"delay":"1m","priority":-100,"hold":5,"max_attempts":-1,
            "retry":{"intervals":[1]},"unique_for":"1h","expires":2000,"tags":["x","y"],
            "callback":{"queue":"after"}}"#,
    );
    assert_eq!((spec.id.as_str(), spec.payload.as_str()), ("a", r#"{"n": 1.0}"#));
    assert_eq!((spec.due_at, spec.priority), (Timestamp::from_millis(1_060_000), -100));
    assert_eq!(spec.hold, Some(Span::from_secs(5)));
    assert_eq!(spec.max_attempts.unwrap().limit(), None);
    assert_eq!(spec.unique_for, Some(Span::from_secs(3_600)));
    assert_eq!(spec.expires, Some(Timestamp::from_millis(2_000_000)));
    assert_eq!(spec.tags, ["x", "y"]);
    assert_eq!(spec.callback.unwrap().on.len(), 3, "all ends, if none is named");
}

#[test]
fn a_due_time_is_absolute() {
    assert_eq!(spec(r#"{"due":7}"#).due_at, Timestamp::from_millis(7_000), "the past, too");
    let late = spec(r#"{"due":"9999-12-31T23:59:59Z"}"#).due_at;
    assert_eq!(late.as_millis(), 253_402_300_799_000);
}

#[test]
fn bad_fields_are_refused_by_name() {
    let tags = |n, bytes| {
        let tag = format!("\"{}\"", "x".repeat(bytes));
        format!(r#"{{"tags":[{}]}}"#, vec![tag; n].join(","))
    };
    for (text, named) in [
        (r#"{"id":""}"#.to_owned(), "1 to 200 characters"),
        (r#"{"id":"a b"}"#.to_owned(), "1 to 200 characters"),
        (r#"{"prority":1}"#.to_owned(), "prority"),
        (r#"{"due":1,"delay":1}"#.to_owned(), "delay: not together with due"),
        (r#"{"delay":-1}"#.to_owned(), "a duration"),
        (r#"{"due":-1}"#.to_owned(), "a time"),
        (r#"{"due":9223372036854775807}"#.to_owned(), "a time"),
        (r#"{"priority":101}"#.to_owned(), "priority: a whole number from -100 to 100"),
        (r#"{"priority":-2147483648}"#.to_owned(), "priority:"),
        (r#"{"priority":1.5}"#.to_owned(), "invalid type"),
        (r#"{"hold":0}"#.to_owned(), "hold: longer than 0"),
        (r#"{"max_attempts":0}"#.to_owned(), "from 1, or -1"),
        (r#"{"max_attempts":-2}"#.to_owned(), "from 1, or -1"),
        (r#"{"retry":{}}"#.to_owned(), "retry"),
        (tags(33, 1), "tags: at most 32 of them"),
        (tags(1, 129), "tags: at most 128 bytes"),
        (tags(1, 0), "tags: no empty text"),
        (r#"{"requires":[""]}"#.to_owned(), "requires: no empty text"),
        (r#"{"callback":{"on":[],"queue":"q"}}"#.to_owned(), "callback.on"),
        (r#"{"callback":{}}"#.to_owned(), "callback.http: either this, or queue"),
        (r#"{"callback":{"queue":"q","http":{}}}"#.to_owned(), "callback"),
        (r#"{"callback":{"on":["ended"],"queue":"q"}}"#.to_owned(), "ended"),
        (r#"{"callback":{"queue":"q","task":{"hold":0}}}"#.to_owned(), "callback.task.hold"),
    ] {
        let error = checked(&text).unwrap_err();
        assert!(error.contains(named), "{text}: {error}");
    }
    assert!(checked(&tags(32, 128)).is_ok());
}

#[test]
fn a_large_payload_is_too_large() {
    let text = |bytes: usize| format!(r#"{{"payload":"{}"}}"#, "x".repeat(bytes - 2));
    assert!(parse(&text(1 << 20)).unwrap().check().is_ok());
    let refusal = parse(&text((1 << 20) + 1)).unwrap().check().unwrap_err();
    assert!(matches!(refusal, Refusal::TooLarge { field: "payload", .. }), "{refusal}");
}

#[test]
fn a_queue_asks_for_what_its_mode_needs() {
    let queue = |mode, url: Option<&str>| Settings {
        mode,
        url: url.map(str::to_owned),
        ..Settings::default()
    };
    let (pull, http) = (queue(Mode::Pull, None), queue(Mode::Http, None));
    let aimed = queue(Mode::Http, Some("http://x/"));
    for (task, queue, field) in [
        ("{}", &pull, None),
        ("{}", &http, Some("http.url")),
        (r#"{"http":{"method":"PUT"}}"#, &http, Some("http.url")),
        (r#"{"http":{"method":"PUT"}}"#, &aimed, None),
        ("{}", &aimed, None),
        (r#"{"http":{"url":"http://y/"}}"#, &http, None),
        (r#"{"http":{"url":"http://y/"}}"#, &pull, Some("http")),
        (r#"{"requires":["gpu"]}"#, &pull, Some("requires")),
        (r#"{"requires":["gpu"]}"#, &aimed, Some("requires")),
        (r#"{"requires":["gpu"]}"#, &queue(Mode::Dispatch, None), None),
        (r#"{"requires":["gpu"]}"#, &queue(Mode::Vote, None), Some("requires")),
        (r#"{"http":{"url":"http://y/"}}"#, &queue(Mode::Pub, None), Some("http")),
        ("{}", &queue(Mode::Vote, None), None),
        (&format!(r#"{{"payload":"{}"}}"#, "x".repeat(65_534)), &queue(Mode::Pub, None), None),
        (
            &format!(r#"{{"payload":"{}"}}"#, "x".repeat(65_535)),
            &queue(Mode::Pub, None),
            Some("payload"),
        ),
    ] {
        let new: NewTask = serde_json::from_str(task).unwrap();
        let refused = new
            .check_queues(&self::queue("q"), &|_| queue)
            .err()
            .map(|refusal| refusal.to_string());
        let named = refused.as_deref().map(|text| text.split(": ").next().unwrap());
        assert_eq!(named, field, "{task}");
    }
}

#[test]
fn a_callback_needs_a_queue_that_carries_it_out() {
    let of = |mode| Settings { mode, ..Settings::default() };
    let (pull, http) = (of(Mode::Pull), of(Mode::Http));
    let check = |text| {
        let settings_of = |name: &QueueName| if name.is_built_in() { &http } else { &pull };
        parse(text).unwrap().check_queues(&queue("q"), &settings_of)
    };
    for (text, field) in [
        (r#"{"callback":{"queue":"notices"}}"#, "callback.http.url:"),
        (
            r#"{"callback":{"queue":"after","task":{"requires":["gpu"]}}}"#,
            "callback.task.requires:",
        ),
        (
            r#"{"callback":{"queue":"after","task":{"callback":{"queue":"bundles"}}}}"#,
            "callback.task.callback.http.url:",
        ),
    ] {
        let refusal = check(text).unwrap_err().to_string();
        assert!(refusal.starts_with(field), "{text}: {refusal}");
    }
    let nested = r#"{"callback":{"queue":"a","task":{"callback":{"queue":"b"}}}}"#;
    assert!(check(nested).is_ok());
    let nested = parse(nested).unwrap();
    let queues: Vec<_> = nested.callback_queues().map(QueueName::as_str).collect();
    assert_eq!(queues, ["a", "b"]);
}
