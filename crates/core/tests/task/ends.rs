//! Ends: expiry, how long they are kept, reserved ids, callbacks, receipts.

use punctual_core::callback::{Callback, End};
use punctual_core::queue::Keep;
use punctual_core::task::{Event, Settlement};
use punctual_core::{
    Decision, Fate, NewTask, QueueName, Settings, Span, State, Task, Timestamp, Verb,
};

use crate::scene::*;

const MINUTE: Span = Span::from_secs(60);

/// A decision that ends a task in a state, in a queue.
fn end_in(settings: &Settings, new: NewTask, state: State) -> Decision {
    let task = take(&pushed(new), token(1), start());
    let event = match state {
        State::Done => settle(token(1), Settlement::Commit { result: Some(json("42")) }),
        State::Failed => fail_for_good(token(1)),
        _ => {
            let asked = decide_in(settings, &task, Event::Cancel, start()).unwrap().task;
            return decide_in(settings, &asked, cancelled(token(1)), after(5)).unwrap();
        }
    };
    decide_in(settings, &task, event, after(5)).unwrap()
}

fn end(new: NewTask, state: State) -> Decision {
    end_in(&settings(), new, state)
}

fn forgetful() -> Settings {
    let keep = Keep { done: Span::ZERO, failed: Span::ZERO, cancelled: Span::ZERO };
    Settings { keep, ..settings() }
}

const ENDS: [State; 3] = [State::Done, State::Failed, State::Cancelled];

#[test]
fn what_is_cleaned_goes_without_an_end() {
    let callback = Callback {
        on: vec![End::Done, End::Failed, End::Cancelled],
        http: None,
        queue: Some(QueueName::parse("after").unwrap()),
        task: None,
    };
    let new = NewTask {
        callback: Some(Box::new(callback)),
        unique_for: Some(MINUTE),
        ..NewTask::default()
    };
    let held = take(&pushed(new.clone()), token(1), start());
    let kept = Keep { done: MINUTE, failed: MINUTE, cancelled: MINUTE };
    let settings = Settings { keep: kept, ..settings() };
    let done = end_in(&settings, new, State::Done).task;
    for task in [held, done] {
        let decision = decide_in(&settings, &task, Event::Clean, after(6)).unwrap();
        assert_eq!((decision.fate, decision.spawn.len()), (Fate::Remove, 0));
        assert_eq!((decision.receipt, decision.task.status.hold), (None, None));
    }
}

#[test]
fn each_end_is_kept_as_long_as_its_queue_says() {
    let span = |secs| Span::from_secs(secs);
    let keep = Keep { done: span(1), failed: span(2), cancelled: span(3) };
    let settings = Settings { keep, ..settings() };
    for (state, secs) in ENDS.into_iter().zip([1, 2, 3]) {
        let decision = end_in(&settings, NewTask::default(), state);
        assert_eq!(decision.fate, Fate::Keep);
        assert_eq!(decision.task.status.state, state);
        assert_eq!(decision.task.status.keep_until, Some(after(5 + secs)), "{state}");
        assert_eq!(decision.task.status.reserved_until, None);
    }
}

#[test]
fn an_end_that_is_not_kept_is_removed_or_its_id_reserved() {
    for state in ENDS {
        let decision = end_in(&forgetful(), NewTask::default(), state);
        assert_eq!(decision.fate, Fate::Remove, "{state}");
        assert_eq!(decision.task.status.state, state, "the answer still shows it");
        let unique_for = Some(MINUTE);
        let decision = end_in(&forgetful(), NewTask { unique_for, ..NewTask::default() }, state);
        assert_eq!(decision.fate, Fate::Reserve(after(65)), "{state}");
        let decision = end(NewTask { unique_for, ..NewTask::default() }, state);
        assert_eq!(decision.fate, Fate::Keep);
        assert_eq!(decision.task.status.reserved_until, Some(after(65)));
    }
    let unique_for = Some(Span::ZERO);
    let decision = end_in(&forgetful(), NewTask { unique_for, ..NewTask::default() }, State::Done);
    assert_eq!(decision.fate, Fate::Remove, "for no time at all is not at all");
}

fn expiring() -> Task {
    pushed(NewTask { expires: Some(after(10)), ..NewTask::default() })
}

#[test]
fn what_is_not_started_in_time_has_failed() {
    let later = NewTask { expires: Some(after(10)), delay: Some(MINUTE), ..NewTask::default() };
    for task in [expiring(), pushed(later), happen(&expiring(), Event::Pause, start())] {
        assert_eq!(task.expires_at(), Some(after(10)));
        let task = happen(&task, Event::Expire, after(10));
        assert_eq!(task.status.state, State::Failed);
        assert_eq!(task.status.error.as_deref(), Some("expired"));
        assert_eq!((task.status.attempt, task.status.finished_at), (0, Some(after(10))));
        assert_eq!(task.expires_at(), None, "it does not happen twice");
    }
}

#[test]
fn what_was_started_does_not_expire() {
    let running = take(&expiring(), token(1), start());
    assert_eq!(running.expires_at(), None);
    assert_eq!(happen(&running, fail(token(1)), after(1)).expires_at(), None);
    let released = happen(&running, release(token(1)), after(1));
    assert_eq!(released.expires_at(), Some(after(10)), "a take given back does not count");
    assert_eq!(happen(&running, Event::HoldEnd, after(30)).expires_at(), None);
    let paused = happen(&happen(&running, Event::Pause, start()), Event::HoldEnd, start());
    assert_eq!(paused.expires_at(), None);
    assert_eq!(happen(&running, commit(token(1)), after(1)).expires_at(), None);
    let within = Some(Span::from_secs(5));
    let unconfirmed =
        happen(&taken(&expiring(), token(1), start(), within), Event::HoldEnd, after(5));
    assert_eq!(unconfirmed.expires_at(), Some(after(10)), "handed out is not started");
    let within = Some(Span::from_secs(30));
    let late = happen(&taken(&expiring(), token(1), start(), within), Event::HoldEnd, after(30));
    assert_eq!(late.status.error.as_deref(), Some("expired"));
    let like_new = happen(&running, Event::Reset, after(1));
    assert_eq!(like_new.expires_at(), Some(after(10)), "like new is not started");
}

#[test]
fn what_is_asked_for_again_does_not_expire_again() {
    let expired = happen(&expiring(), Event::Expire, after(10));
    for event in [Event::Retry { force: false }, Event::Reset] {
        let again = happen(&expired, event, after(20));
        assert_eq!((again.status.state, again.expires_at()), (State::Ready, None));
    }
}

fn calling_back(on: Vec<End>, task: Option<NewTask>) -> NewTask {
    let queue = Some(QueueName::parse("after").unwrap());
    let callback = Callback { on, http: None, queue, task: task.map(Box::new) };
    let payload = Some(json("{\"n\":1}"));
    NewTask { payload, callback: Some(Box::new(callback)), ..NewTask::default() }
}

#[test]
fn a_callback_answers_to_the_ends_it_names() {
    let all = [End::Done, End::Failed, End::Cancelled];
    for (state, kind) in ENDS.into_iter().zip(all) {
        for on in all {
            let made = end(calling_back(vec![on], None), state).spawn;
            assert_eq!(made.len(), usize::from(on == kind), "{state}");
        }
        let gone = end_in(&forgetful(), calling_back(all.to_vec(), None), state);
        assert_eq!(gone.spawn.len(), 1, "also where nothing is kept");
    }
    let expired =
        pushed(NewTask { expires: Some(after(10)), ..calling_back(vec![End::Failed], None) });
    assert_eq!(decide(&expired, Event::Expire, after(10)).unwrap().spawn.len(), 1);
}

#[test]
fn a_callback_tells_how_the_task_ended() {
    let all = || vec![End::Done, End::Failed, End::Cancelled];
    for (state, told) in ENDS.into_iter().zip([
        r#"{"task":{"queue":"q","id":"t","state":"done","result":42,"error":null},"payload":{"n":1}}"#,
        r#"{"task":{"queue":"q","id":"t","state":"failed","result":null,"error":"failed"},"payload":{"n":1}}"#,
        r#"{"task":{"queue":"q","id":"t","state":"cancelled","result":null,"error":null},"payload":{"n":1}}"#,
    ]) {
        let made = end(calling_back(all(), None), state).spawn.remove(0);
        assert_eq!(made.payload.as_str(), told);
        assert_eq!((made.queue.as_str(), made.id.as_str()), ("after", "called-back"));
        assert_eq!((made.created_at, made.due_at), (after(5), after(5)));
    }
}

#[test]
fn a_callback_may_have_a_task_of_its_own() {
    let task = NewTask {
        id: Some(id("mine")),
        payload: Some(json("null")),
        delay: Some(MINUTE),
        priority: Some(7),
        ..NewTask::default()
    };
    let made = end(calling_back(vec![End::Done], Some(task)), State::Done).spawn.remove(0);
    assert_eq!((made.id.as_str(), made.priority), ("mine", 7));
    assert_eq!(made.due_at, after(65), "its delay runs from the end");
    assert!(made.payload.as_str().ends_with(r#""payload":null}"#), "a null of its own is its own");
    let without = NewTask { priority: Some(7), ..NewTask::default() };
    let made = end(calling_back(vec![End::Done], Some(without)), State::Done).spawn.remove(0);
    assert!(made.payload.as_str().ends_with(r#""payload":{"n":1}}"#), "else the ended task's");
}

#[test]
fn a_callback_that_would_be_too_large_loses_the_payload_then_the_result() {
    let big = |bytes: usize| json(&format!("\"{}\"", "x".repeat(bytes)));
    let all = || vec![End::Done];
    let new = NewTask { payload: Some(big((1 << 20) - 10)), ..calling_back(all(), None) };
    let made = end(new, State::Done).spawn.remove(0);
    assert_eq!(
        made.payload.as_str(),
        r#"{"task":{"queue":"q","id":"t","state":"done","result":42,"error":null},"truncated":true}"#
    );
    let held = take(&pushed(calling_back(all(), None)), token(1), start());
    let settlement = Settlement::Commit { result: Some(big((1 << 20) - 10)) };
    let made = decide(&held, settle(token(1), settlement), after(5)).unwrap();
    assert_eq!(
        made.spawn[0].payload.as_str(),
        r#"{"task":{"queue":"q","id":"t","state":"done","error":null},"truncated":true}"#
    );
}

#[test]
fn a_settlement_leaves_a_receipt_where_the_record_cannot_answer() {
    for (state, verb) in ENDS.into_iter().zip([Verb::Commit, Verb::Fail, Verb::Cancelled]) {
        let gone = end_in(&forgetful(), NewTask::default(), state);
        assert_eq!(gone.receipt, Some((token(1), verb)), "{state}");
        let kept = end(NewTask::default(), state);
        let expected = (verb == Verb::Commit).then_some((token(1), verb));
        assert_eq!(kept.receipt, expected, "a commit is answered even after a new push");
    }
    for event in [fail(token(1)), release(token(1))] {
        let decision = decide(&in_state(State::Running), event, start()).unwrap();
        assert_eq!(decision.receipt, None, "the record itself answers");
    }
}

#[test]
fn an_earlier_settlement_is_answered_after_somebody_ends_the_task() {
    let waiting = happen(&in_state(State::Running), fail(token(1)), start());
    let decision = decide_in(&forgetful(), &waiting, Event::Cancel, after(1)).unwrap();
    assert_eq!(decision.fate, Fate::Remove);
    assert_eq!(decision.receipt, Some((token(1), Verb::Fail)));
}

#[test]
fn an_end_nobody_settled_leaves_no_receipt() {
    let at =
        |task: &Task, event, now: Timestamp| decide_in(&forgetful(), task, event, now).unwrap();
    assert_eq!(at(&ready(), Event::Cancel, start()).receipt, None);
    assert_eq!(at(&in_state(State::Assigned), Event::Cancel, start()).receipt, None);
    assert_eq!(at(&in_state(State::Cancelling), Event::HoldEnd, after(30)).receipt, None);
    assert_eq!(at(&expiring(), Event::Expire, after(10)).receipt, None);
}
