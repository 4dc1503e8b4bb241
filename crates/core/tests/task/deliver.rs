//! What an attempt to deliver makes of a task.

use punctual_core::callback::{Callback, End};
use punctual_core::http::{
    Answer, Delivery, Exchange, HttpTarget, Lapse, Method, Reach, Success, Verdict,
};
use punctual_core::limits::{ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX};
use punctual_core::queue::Settings;
use punctual_core::task::{Decision, Event, Outcome, Settlement};
use punctual_core::{Fate, NewTask, Span, State, Task};

use crate::scene::{after, decide, decide_in, happen, json, pushed, ready, start, take, token};

fn exchange(answer: &str) -> Exchange {
    Exchange {
        method: Method::Post,
        url: "http://x/".to_owned(),
        address: Some("192.0.2.1:80".parse().unwrap()),
        redirects: 0,
        sent_bytes: 4,
        dns: None,
        connect: Some(Lapse::default()),
        tls: None,
        first_byte: Some(Lapse::default()),
        total: Lapse::default(),
        answer_bytes: 2,
        answer: Some(answer.to_owned()),
    }
}

pub(crate) fn delivered(verdict: Verdict, status: Option<u16>, answer: &str) -> Event {
    let delivery = Delivery { exchange: exchange(answer), status, verdict, sent: None };
    Event::Settle { token: token(1), settlement: Settlement::Delivered(Box::new(delivery)) }
}

pub(crate) fn answered(status: u16, retry_after: Option<i64>) -> Event {
    let retry_after = retry_after.map(Span::from_secs);
    let body = b"[1]".to_vec();
    let answer = Answer { status, retry_after, body, is_whole: true, is_found: false };
    delivered(answer.judge(&Success::default()), Some(status), "[1]")
}

pub(crate) fn hopeless() -> Event {
    delivered(Verdict::hopeless("private_target", "10.0.0.1 is private"), None, "")
}

fn running() -> Task {
    take(&ready(), token(1), start())
}

#[test]
fn an_accepted_delivery_ends_the_task() {
    let decision = decide(&running(), answered(200, None), after(1)).unwrap();
    let status = &decision.task.status;
    assert_eq!((status.state, status.error.as_ref()), (State::Done, None));
    assert_eq!(status.result, Some(json("[1]")));
    let attempt = &status.history[0];
    assert_eq!((attempt.outcome, attempt.status), (Outcome::Done, Some(200)));
    assert_eq!(attempt.http, Some(exchange("[1]")));
    assert_eq!(decision.receipt, None, "nobody outside knows the token");
}

#[test]
fn a_failed_delivery_waits_for_the_later_of_policy_and_target() {
    for (retry_after, due) in [(None, 11), (Some(3), 11), (Some(60), 61), (Some(1 << 30), 86_401)] {
        let task = happen(&running(), answered(503, retry_after), after(1));
        assert_eq!(task.status.state, State::Waiting);
        assert_eq!(task.due_at(), after(due), "{retry_after:?}");
        assert_eq!(task.status.error.as_deref(), Some("the target answered with status 503"));
        let attempt = &task.status.history[0];
        assert_eq!((attempt.outcome, attempt.status), (Outcome::Failed, Some(503)));
        assert_eq!(task.status.settled, None);
    }
}

#[test]
fn attempts_are_used_up_as_by_workers() {
    let mut task = ready();
    for attempt in 1..=3 {
        let now = after(100 * attempt);
        task = take(&task, token(1), now);
        task = happen(&task, delivered(Verdict::failed("refused"), None, ""), now);
    }
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 3));
    assert_eq!(task.status.error.as_deref(), Some("refused"));
    assert_eq!(task.status.history.len(), 3);
}

#[test]
fn some_failures_are_for_good() {
    let task = happen(&running(), hopeless(), after(1));
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 1));
    assert_eq!(task.status.error.as_deref(), Some("private_target"));
    let told = task.status.history[0].error.as_deref();
    assert_eq!(told, Some("private_target: 10.0.0.1 is private"));
}

#[test]
fn a_delivery_that_was_to_stop_does_what_a_worker_would() {
    for (request, status, expected) in [
        (Event::Cancel, 500, State::Cancelled),
        (Event::Cancel, 200, State::Done),
        (Event::Pause, 500, State::Paused),
        (Event::Pause, 200, State::Done),
    ] {
        let asked = happen(&running(), request, start());
        let task = happen(&asked, answered(status, None), after(1));
        assert_eq!(task.status.state, expected);
        assert_eq!(task.status.history[0].status, Some(status));
    }
}

#[test]
fn answers_are_kept_while_there_is_room() {
    let mut task = pushed(NewTask {
        max_attempts: Some(punctual_core::retry::MaxAttempts::UNLIMITED),
        ..NewTask::default()
    });
    let long = "é".repeat(ANSWER_BYTES_MAX);
    for attempt in 1..=30 {
        let now = after(100 * attempt);
        let event = delivered(Verdict::failed("refused"), Some(500), &long);
        task = happen(&take(&task, token(1), now), event, now);
        let answers =
            task.status.history.iter().map(|attempt| {
                attempt.http.as_ref().unwrap().answer.as_ref().map_or(0, String::len)
            });
        let answers: Vec<usize> = answers.collect();
        assert_eq!(answers.last(), Some(&ANSWER_BYTES_MAX));
        assert!(answers.iter().sum::<usize>() <= ANSWERS_BYTES_MAX);
        assert!(answers.is_sorted(), "the oldest go first");
    }
    assert_eq!(task.status.history.len(), 20);
}

#[test]
fn a_callback_may_call_a_url() {
    let http = HttpTarget { url: Some("https://x.example/".to_owned()), ..HttpTarget::default() };
    let callback =
        Callback { on: vec![End::Done], http: Some(http.clone()), queue: None, task: None };
    assert_eq!(callback.check(), Ok(()));
    let new = NewTask { callback: Some(Box::new(callback)), ..NewTask::default() };
    let running = take(&pushed(new), token(1), start());
    let forgetful = Settings::default();
    let Decision { fate, spawn, .. } =
        decide_in(&forgetful, &running, answered(200, None), after(1)).unwrap();
    assert_eq!((fate, spawn.len()), (Fate::Remove, 1));
    assert_eq!((spawn[0].queue.as_str(), spawn[0].id.as_str()), ("callbacks", "called-back"));
    assert_eq!(spawn[0].http.as_deref(), Some(&http));
    assert_eq!(spawn[0].lane_class(), "x.example:443");
    assert_eq!(
        spawn[0].payload.as_str(),
        r#"{"task":{"queue":"q","id":"t","state":"done","result":[1],"error":null},"payload":null}"#
    );
}

#[test]
fn bad_callbacks_name_their_field() {
    for (callback, field) in [
        (r#"{"http":{}}"#, "callback.http.url"),
        (r#"{"http":{"url":"ftp://x"}}"#, "callback.http.url"),
        (r#"{"http":{"url":"http://x","headers":{"host":"y"}}}"#, "callback.http.headers"),
        (r#"{"http":{"url":"http://x"},"queue":"q"}"#, "callback.http"),
        (r#"{"http":{"url":"http://x"},"task":{}}"#, "callback.http"),
        (r#"{"queue":"q","task":{"http":{"url":"x"}}}"#, "callback.task.http.url"),
        ("{}", "callback.http"),
    ] {
        let new: NewTask = serde_json::from_str(&format!(r#"{{"callback":{callback}}}"#)).unwrap();
        let refusal = new.check().unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{field}: ")), "{callback}: {refusal}");
    }
    for (task, field) in [
        (r#"{"http":{"url":"http://127.1"}}"#, "http.url"),
        (r#"{"callback":{"http":{"url":"http://[::1]/"}}}"#, "callback.http.url"),
        (
            r#"{"callback":{"queue":"q","task":{"http":{"url":"http://0/"}}}}"#,
            "callback.task.http.url",
        ),
    ] {
        let new: NewTask = serde_json::from_str(task).unwrap();
        assert_eq!(new.check(), Ok(()));
        let refusal = new.check_reach(&Reach::public()).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{field}: ")), "{task}: {refusal}");
        assert_eq!(new.check_reach(&Reach::everywhere()), Ok(()));
    }
}
