//! Queues and tasks with every field set.

use std::net::SocketAddr;
use std::time::Duration;

use punctual_core::bundle::BundleKey;
use punctual_core::callback::End;
use punctual_core::http::{Exchange, Headers, HttpTarget, Lapse, Method, Success};
use punctual_core::notice::{ContentType, Notice, NoticeCallback, Notified};
use punctual_core::queue::{Abandoned, Keep, Mode, Order, Rate};
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Attempt, Hold, Outcome};
use punctual_core::{
    Callback, FlowId, NewTask, OwnerRef, PlanId, Queue, RawJson, RetryPolicy, Seed, Settings, Span,
    Spec, State, Status, StepName, Task, TaskId, Timestamp, TraceParent, Verb,
};

use super::super::fixture;

/// Longer than what Redis splits into pieces.
const LONG_BYTES: usize = 3_000;

pub(super) fn json(value: &serde_json::Value) -> RawJson {
    RawJson::of(value)
}

/// A queue with every setting.
pub fn queue(name: &str, mode: Mode, now: Timestamp) -> Queue {
    Queue {
        name: fixture::queue(name),
        settings: Settings {
            mode,
            tag: Some("a tag: \u{e4}".to_owned()),
            max: Some(100_000),
            hold: Span::from_millis(61_500),
            max_runtime: Some(Span::from_millis(600_600)),
            confirm_within: Span::from_millis(7_250),
            max_attempts: attempts(9),
            retry: intervals(),
            order: Order::Random,
            concurrency: Some(1_000),
            rate: Some(Rate { limit: 500, per: Span::from_secs(3) }),
            keep: Keep {
                done: Span::from_secs(3_601),
                failed: Span::from_secs(3_602),
                cancelled: Span::from_secs(3_603),
            },
            url: Some("https://example.com/queue".to_owned()),
            headers: headers("x-queue"),
            secret: vec!["whsec_c2VjcmV0".to_owned(), "raw".to_owned()],
            timeout: Span::from_millis(12_345),
            abandon_after: Some(Span::from_secs(77)),
            abandoned: Abandoned::Drop,
            made_by: Some("0123abcd".to_owned()),
        },
        paused: true,
        created_at: now - Span::from_secs(1_000),
    }
}

fn attempts(n: i32) -> MaxAttempts {
    MaxAttempts::new(n).expect("a positive number of attempts")
}

fn intervals() -> RetryPolicy {
    RetryPolicy::Intervals(vec![Span::from_secs(3), Span::from_millis(4_500)])
}

fn backoff() -> RetryPolicy {
    RetryPolicy::Backoff {
        first: Span::from_secs(2),
        factor: 3.5,
        max: Span::from_secs(500),
        jitter: 0.25,
    }
}

fn headers(name: &str) -> Headers {
    [(name, "a value"), ("authorization", "Bearer secret")].into_iter().collect()
}

/// A target with every field.
pub(super) fn target(path: &str) -> HttpTarget {
    HttpTarget {
        url: Some(format!("https://hooks.example.com:8443/{path}")),
        method: Some(Method::Patch),
        headers: headers("x-task"),
        body: Some(json(&serde_json::json!({"body": [1, null]}))),
        content_type: Some("application/vnd.example+json".to_owned()),
        timeout: Some(Span::from_millis(2_500)),
        success: Some(Success {
            status: serde_json::from_str("\"2xx,304\"").ok(),
            contains: Some("thank you".to_owned()),
        }),
        follow_redirects: true,
    }
}

/// A callback that pushes a task with every field, which has a callback that calls a URL.
pub(super) fn callback(now: Timestamp) -> Callback {
    let called = Callback {
        on: vec![End::Cancelled],
        http: Some(target("called")),
        queue: None,
        task: None,
    };
    let task = NewTask { callback: Some(Box::new(called)), ..new_task(now) };
    Callback {
        on: vec![End::Failed, End::Done],
        http: None,
        queue: Some(fixture::queue("called-back")),
        task: Some(Box::new(task)),
    }
}

/// All that a pusher may say, but for a callback.
fn new_task(now: Timestamp) -> NewTask {
    NewTask {
        id: Some(fixture::id("pushed-back")),
        payload: Some(json(&serde_json::json!({"pushed": "back"}))),
        due: Some(now + Span::from_secs(5)),
        delay: None,
        priority: Some(-7),
        hold: Some(Span::from_secs(44)),
        max_runtime: Some(Span::from_secs(4_400)),
        max_attempts: Some(attempts(3)),
        retry: Some(backoff()),
        unique_for: Some(Span::from_secs(55)),
        expires: Some(now + Span::from_secs(66)),
        requires: Some(vec!["cpu".to_owned()]),
        http: Some(Box::new(target("pushed-back"))),
        callback: None,
        tags: Some(vec!["back".to_owned()]),
        notice: None,
        trace: None,
    }
}

fn notice() -> Notice {
    Notice {
        content_type: ContentType::Xml,
        enforce_repeat: true,
        callback: Some(Box::new(NoticeCallback {
            url: "https://example.com/noticed".to_owned(),
            success_flag: "seen".to_owned(),
            retry: Some(intervals()),
            max_notices: attempts(4),
            enforce_repeat: true,
        })),
        sent_before: 2,
        success_before: 1,
    }
}

/// What a task may belong to, one after the other.
fn owner(turn: usize) -> OwnerRef {
    match turn % 3 {
        0 => OwnerRef::Plan {
            id: PlanId::parse("a:plan").expect("an id in a check is well formed"),
            reads: json(&serde_json::json!({"plan_id": "a:plan", "run": 3})),
        },
        1 => OwnerRef::Flow {
            id: FlowId::parse("a:flow").expect("an id in a check is well formed"),
            step: StepName::parse("first:step").expect("a name in a check is well formed"),
        },
        _ => OwnerRef::Bundle(BundleKey::composed("a/bundle: \u{df}".to_owned())),
    }
}

/// What was pushed, with every field. `turn` decides which kind of owner it has.
pub fn spec(queue_name: &str, id: TaskId, turn: usize, now: Timestamp) -> Spec {
    let text = "\u{e9}".repeat(if turn == 1 { LONG_BYTES } else { 150 });
    Spec {
        queue: fixture::queue(queue_name),
        id,
        payload: json(&serde_json::json!({"text": text, "turn": turn})),
        created_at: now - Span::from_millis(20_123),
        due_at: now - Span::from_millis(10_456),
        priority: 42,
        hold: Some(Span::from_millis(33_333)),
        max_runtime: Some(Span::from_millis(333_333)),
        max_attempts: Some(attempts(8)),
        retry: Some(backoff()),
        unique_for: Some(Span::from_secs(7_777)),
        expires: Some(now + Span::from_secs(8_888)),
        requires: vec!["gpu".to_owned(), "linux: \u{fc}".to_owned()],
        http: Some(Box::new(target("task"))),
        callback: Some(Box::new(callback(now))),
        tags: vec!["one".to_owned(), "two: \u{f6}".to_owned()],
        owner: Some(owner(turn)),
        notice: Some(Box::new(notice())),
        trace: TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    }
}

fn attempt(now: Timestamp) -> Attempt {
    let lapse = |micros| Lapse::from(Duration::from_micros(micros));
    Attempt {
        at: now - Span::from_millis(9_111),
        ended_at: now - Span::from_millis(8_222),
        worker: Some(fixture::worker("w:0")),
        outcome: Outcome::Unconfirmed,
        error: Some("it was \"late\"".to_owned()),
        status: Some(503),
        http: Some(Exchange {
            method: Method::Put,
            url: "https://example.com/attempt".to_owned(),
            address: Some(SocketAddr::from(([192, 0, 2, 7], 443))),
            redirects: 2,
            sent_bytes: 1_234,
            dns: Some(lapse(101)),
            connect: Some(lapse(202)),
            tls: Some(lapse(303)),
            first_byte: Some(lapse(404)),
            total: lapse(505),
            answer_bytes: 66,
            answer: Some("an answer \u{2713}".to_owned()),
        }),
    }
}

/// All that changes about a task, with every field that its state has.
pub fn status(state: State, now: Timestamp) -> Status {
    let ready_at = match state {
        State::Waiting => now + Span::from_millis(600_321),
        _ => now - Span::from_millis(5_432),
    };
    let at_end = |seconds| state.is_finished().then(|| now + Span::from_secs(seconds));
    Status {
        state,
        ready_at,
        due_at: Some(ready_at - Span::from_millis(7)),
        attempt: 4,
        granted: 3,
        starts: 2,
        failures: 1,
        hold: state.is_held().then(|| Hold {
            token: Seed::new(0xabcd << 64).token(5),
            since: now - Span::from_millis(2_001),
            until: now + Span::from_millis(90_001),
            length: Span::from_millis(55_001),
        }),
        worker: Some(fixture::worker("w:1")),
        taken_at: Some(now - Span::from_millis(1_999)),
        progress: Some(0.625),
        message: Some("m\u{f8}re than half: ".repeat(6)),
        checkpoint: Some(json(&serde_json::json!({"at": "c".repeat(70)}))),
        result: Some(json(&serde_json::json!([1, {"r": null}]))),
        error: Some("not yet\nright".to_owned()),
        finished_at: at_end(-1),
        keep_until: at_end(3_000),
        reserved_until: at_end(5_000),
        settled: Some((Seed::new(0x1234 << 64).token(0), Verb::Fail)),
        history: vec![attempt(now), Attempt { outcome: Outcome::Freed, ..attempt(now) }],
        notified: Notified { count: 6, success_id: 5 },
    }
}

/// A task in a state.
pub(super) fn task(queue_name: &str, state: State, turn: usize, now: Timestamp) -> Task {
    let spec = spec(queue_name, fixture::id(&format!("t:{state}")), turn, now);
    Task { spec: spec.into(), status: status(state, now).into() }
}
