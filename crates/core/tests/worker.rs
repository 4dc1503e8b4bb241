//! How workers join, are heard of, and are lost.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

use punctual_core::worker::{Joined, WorkerPatch, WorkerState};
use punctual_core::{QueueName, Span, Timestamp, Worker, WorkerName};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Span::from_secs(secs)
}

fn join(json: &str, before: Option<Worker>, now: Timestamp) -> Result<Joined, String> {
    let patch: WorkerPatch = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let name = WorkerName::parse("w").unwrap();
    patch.join(&name, before, now).map_err(|refusal| refusal.to_string())
}

fn joined(json: &str) -> Worker {
    join(json, None, at(0)).unwrap().worker
}

#[test]
fn what_is_left_out_stays_and_null_resets() {
    let json =
        r#"{"queues":["b","a","b"],"capabilities":["gpu","arm"],"capacity":4,"session":"1"}"#;
    let first = joined(json);
    assert_eq!(first.queues, ["a", "b"].map(|name| QueueName::parse(name).unwrap()));
    assert_eq!(first.capabilities, ["arm", "gpu"]);
    let second = join("{}", Some(first.clone()), at(9)).unwrap();
    assert_eq!(second.worker, Worker { seen_at: at(9), ..first.clone() });
    assert!(!second.is_reborn);
    let json = r#"{"capabilities":null,"capacity":null,"session":null}"#;
    let third = join(json, Some(first), at(9)).unwrap();
    assert_eq!((third.worker.capacity, third.worker.session, third.is_reborn), (1, None, false));
    assert!(third.worker.capabilities.is_empty());
}

#[test]
fn another_session_is_another_incarnation() {
    let worker = joined(r#"{"queues":["q"],"session":"1"}"#);
    let same = join(r#"{"session":"1"}"#, Some(worker.clone()), at(5)).unwrap();
    assert_eq!((same.is_reborn, same.worker.joined_at), (false, at(0)));
    let other = join(r#"{"session":"2"}"#, Some(worker.clone()), at(5)).unwrap();
    assert_eq!((other.is_reborn, other.worker.joined_at), (true, at(5)));
    assert!(other.worker.is_session(Some("2")) && other.worker.is_session(None));
    assert!(!other.worker.is_session(Some("1")));
    let named = join(r#"{"session":"1"}"#, Some(joined(r#"{"queues":["q"]}"#)), at(5)).unwrap();
    assert!(named.is_reborn);
    assert!(!join(r#"{"queues":["q"],"session":"1"}"#, None, at(5)).unwrap().is_reborn);
}

#[test]
fn one_that_is_silent_is_lost_and_forgotten_a_day_later() {
    let worker = joined(r#"{"queues":["q"]}"#);
    assert_eq!(worker.alarm_at(), at(30));
    let heard = worker.clone().ring(at(20), at(30)).unwrap();
    assert_eq!((heard.state, heard.alarm_at()), (WorkerState::Active, at(50)));
    let lost = worker.ring(at(0), at(30)).unwrap();
    assert_eq!((lost.state, lost.alarm_at()), (WorkerState::Lost, at(86_400)));
    assert!(!lost.serves(&QueueName::parse("q").unwrap()));
    let back = join("{}", Some(lost.clone()), at(99)).unwrap().worker;
    assert_eq!((back.state, back.joined_at), (WorkerState::Active, at(99)));
    assert_eq!(lost.ring(at(0), at(86_400)), None);
}

#[test]
fn a_worker_says_what_it_lacks() {
    let worker = joined(r#"{"queues":["q"],"capabilities":["gpu","arm"]}"#);
    let needs = ["arm", "big", "gpu"].map(str::to_owned);
    assert_eq!(worker.lacks(&needs).collect::<Vec<_>>(), ["big"]);
    assert!(worker.serves(&QueueName::parse("q").unwrap()));
    assert!(!worker.serves(&QueueName::parse("r").unwrap()));
}

#[test]
fn bad_fields_are_refused_by_name() {
    let many = format!(
        r#"{{"queues":[{}]}}"#,
        (0..1_001).map(|n| format!("\"q{n}\"")).collect::<Vec<_>>().join(",")
    );
    let capabilities = |text: &str| format!(r#"{{"queues":["q"],"capabilities":{text}}}"#);
    for (json, named) in [
        ("{}".to_owned(), "queues:"),
        (r#"{"queues":[]}"#.to_owned(), "queues:"),
        (r#"{"queues":["a b"]}"#.to_owned(), "1 to 200 characters"),
        (r#"{"queues":["q"],"colour":1}"#.to_owned(), "colour"),
        (many, "queues:"),
        (r#"{"queues":["q"],"capacity":0}"#.to_owned(), "capacity:"),
        (r#"{"queues":["q"],"capacity":10001}"#.to_owned(), "capacity:"),
        (r#"{"queues":["q"],"session":""}"#.to_owned(), "session:"),
        (format!(r#"{{"queues":["q"],"session":"{}"}}"#, "x".repeat(201)), "session:"),
        (capabilities(r#"[""]"#), "capabilities:"),
        (capabilities(&format!("[\"{}\"]", "x".repeat(129))), "capabilities:"),
        (
            capabilities(&format!(
                "[{}]",
                (0..65).map(|n| format!("\"c{n}\"")).collect::<Vec<_>>().join(",")
            )),
            "capabilities:",
        ),
        (capabilities(&format!("[{}]", vec!["\"c\""; 65].join(","))), "capabilities:"),
    ] {
        let refusal = join(&json, None, at(0)).unwrap_err();
        assert!(refusal.contains(named), "{json}: {refusal}");
    }
}
