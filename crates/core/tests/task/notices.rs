//! What attempts make of notices: their intervals, the first success, callbacks, ends.

use punctual_core::http::{Outgoing, Reach};
use punctual_core::limits::ANSWER_BYTES_MAX;
use punctual_core::notice::{Message, NoticeSettings, NoticeState};
use punctual_core::task::{Context, Decision, Event};
use punctual_core::{QueueName, Refusal, Settings, Span, Spec, State, Task, Timestamp};

use crate::deliver::{answered, delivered, hopeless};
use crate::scene::{after, happen, id, start, take, token};

fn queue() -> Settings {
    Settings::initial(&QueueName::notices())
}

fn notice(json: &str) -> Task {
    let message: Message = serde_json::from_str(json).unwrap();
    let settings = NoticeSettings::default();
    let new = message.into_task(&settings, &Reach::everywhere()).unwrap();
    let spec = Spec::new(QueueName::notices(), new, id("n"), start());
    Task::new(spec, start())
}

fn decided(task: &Task, event: Event, now: Timestamp) -> Result<Decision, Refusal> {
    let callback_id = id("called-back");
    let queue = queue();
    // A roll at the edge would show if anything about notices were random.
    task.decide(event, &Context { now, queue: &queue, roll: 1.0, callback_id: &callback_id })
}

/// Sends the next notice at a time and lets it end so.
fn sent(task: &Task, event: Event, now: Timestamp) -> Decision {
    decided(&take(task, token(1), now), event, now).unwrap()
}

/// A notice in a state, with these intervals, for the table of all edges.
pub(crate) fn notice_in(state: State, intervals: &str) -> Task {
    let json = format!(r#"{{"url":"http://x/","notice_interval":{intervals}}}"#);
    let task = take(&notice(&json), token(1), start());
    if state == State::Pausing { happen(&task, Event::Pause, start()) } else { task }
}

fn told(task: &Task) -> (State, u32, u32) {
    (task.status.state, task.notice_count(), task.success_id())
}

#[test]
fn five_notices_are_sent_at_their_intervals() {
    let mut task = notice(r#"{"url":"http://x/","notice_interval":[10,20,"1m",5]}"#);
    assert_eq!((task.due_at(), task.max_notices(&queue())), (start(), Some(5)));
    let mut now = start();
    for (number, wait) in [(1, 10), (2, 20), (3, 60), (4, 5)] {
        assert_eq!(task.waits_left(&queue()).len(), 5 - number as usize);
        task = sent(&task, answered(500, None), now).task;
        assert_eq!(told(&task), (State::Waiting, number, 0));
        assert_eq!(task.due_at(), now + Span::from_secs(wait));
        now = task.due_at();
    }
    assert_eq!(task.waits_left(&queue()), []);
    let decision = sent(&task, answered(500, None), now);
    assert_eq!(told(&decision.task), (State::Failed, 5, 0));
    assert!(decision.spawn.is_empty());
    // On request, once more.
    let again = decided(&decision.task, Event::Retry { force: false }, now).unwrap().task;
    let task = sent(&again, answered(500, None), now).task;
    assert_eq!(told(&task), (State::Failed, 6, 0));
    let again = decided(&task, Event::Retry { force: false }, now).unwrap().task;
    assert_eq!(told(&sent(&again, answered(200, None), now).task), (State::Done, 7, 7));
}

#[test]
fn the_number_of_notices_may_differ_from_that_of_the_intervals() {
    for (json, waits) in [
        (r#"{"url":"http://x/"}"#, vec![600, 600, 600, 600]),
        (r#"{"url":"http://x/","notice_interval":[]}"#, vec![]),
        (r#"{"url":"http://x/","max_notices":2}"#, vec![600]),
        (r#"{"url":"http://x/","notice_interval":[1,2],"max_notices":5}"#, vec![1, 2, 2, 2]),
        (r#"{"url":"http://x/","notice_interval":[1,2],"max_notices":1}"#, vec![]),
    ] {
        let waits: Vec<Span> = waits.into_iter().map(Span::from_secs).collect();
        assert_eq!(notice(json).waits_left(&queue()), waits, "{json}");
    }
}

#[test]
fn a_success_ends_it_and_makes_a_callback_with_notices_of_its_own() {
    let task = notice(r#"{"url":"http://x/","callback_url":"http://y/done?a=1"}"#);
    let failed = sent(&task, answered(500, None), start());
    assert!(failed.spawn.is_empty());
    let Decision { task, spawn, receipt, .. } = sent(&failed.task, answered(200, None), after(600));
    assert_eq!(told(&task), (State::Done, 2, 2));
    assert_eq!(task.waits_left(&queue()).len(), 3, "one of four was waited for");
    assert_eq!(receipt, None);
    let [callback] = &spawn[..] else { panic!("one callback: {spawn:?}") };
    assert_eq!((callback.queue.as_str(), callback.id.as_str()), ("notices", "called-back"));
    let outgoing = Outgoing::new(callback, &queue(), None).unwrap();
    assert_eq!((outgoing.method.name(), outgoing.url.as_str()), ("GET", "http://y/done?a=1"));
    assert_eq!((outgoing.content, outgoing.success.needle()), (None, Some("success")));
    let callback = Task::new(callback.clone(), after(600));
    assert_eq!(callback.waits_left(&queue()), [Span::from_secs(600); 4]);
    let Decision { task, spawn, .. } = sent(&callback, answered(200, None), after(600));
    assert_eq!((told(&task), spawn.len()), ((State::Done, 1, 1), 0), "it makes no other");
}

#[test]
fn enforced_repeats_send_all_notices() {
    let json = r#"{"url":"http://x/","notice_interval":[10,10,10],"enforce_repeate_notice":true,
        "callbak_url":"http://y/"}"#;
    for (answers, first, callbacks, end) in [
        ([500, 200, 200, 500], 2, 2, State::Done),
        ([200, 200, 200, 200], 1, 4, State::Done),
        ([500, 500, 500, 200], 4, 1, State::Done),
        ([500, 500, 500, 500], 0, 0, State::Failed),
    ] {
        let (mut task, mut made) = (notice(json), 0);
        for (number, answer) in answers.into_iter().enumerate() {
            let now = after(10 * number as i64);
            let decision = sent(&task, answered(answer, None), now);
            made += decision.spawn.len();
            task = decision.task;
            if number < 3 {
                assert_eq!(task.due_at(), now + Span::from_secs(10));
                assert_eq!(task.status.state, State::Waiting, "{answers:?}");
            }
        }
        assert_eq!((told(&task), made), ((end, 4, first), callbacks), "{answers:?}");
    }
}

#[test]
fn a_notice_that_was_under_way_is_sent_again() {
    let mut task = notice(r#"{"url":"http://x/","notice_interval":[]}"#);
    for lost in 1..=3 {
        task =
            decided(&take(&task, token(1), after(lost)), Event::HoldEnd, after(lost)).unwrap().task;
        assert_eq!(told(&task), (State::Ready, 0, 0), "even the last one");
    }
    assert_eq!(told(&sent(&task, answered(200, None), after(9)).task), (State::Done, 1, 1));
}

#[test]
fn a_notice_is_cancelled_at_once() {
    let task = notice(r#"{"url":"http://x/"}"#);
    let waiting = sent(&task, answered(500, None), start()).task;
    for task in [&task, &waiting, &take(&task, token(1), start())] {
        let decision = decided(task, Event::Cancel, after(1)).unwrap();
        assert_eq!(decision.task.status.state, State::Cancelled);
        assert_eq!(decision.task.status.keep_until, Some(after(86_401)));
        let late = decided(&decision.task, answered(200, None), after(2)).unwrap_err();
        assert_eq!(late, Refusal::StaleToken);
    }
    let ended = sent(&task, answered(200, None), start()).task;
    assert_eq!(ended.status.keep_until, Some(after(86_400)), "what succeeded can be read as well");
    assert!(decided(&ended, Event::Cancel, start()).is_err());
    assert!(decided(&ended, Event::Retry { force: false }, start()).is_err());
}

#[test]
fn a_target_may_ask_for_a_longer_wait_and_some_are_hopeless() {
    let task = notice(r#"{"url":"http://x/","notice_interval":[10]}"#);
    for (asked, due) in [(5, 10), (60, 60), (1 << 30, 86_400)] {
        let task = sent(&task, answered(503, Some(asked)), start()).task;
        assert_eq!(task.due_at(), after(due));
    }
    assert_eq!(told(&sent(&task, hopeless(), start()).task), (State::Failed, 1, 0));
}

#[test]
fn a_notice_goes_on_where_others_left_it() {
    for (json, count, due, waits) in [
        (
            r#""notice_count":2,"notice_interval":[30,40],"notice_time":1800000100"#,
            2,
            100,
            vec![30, 40],
        ),
        (r#""notice_count":4,"notice_interval":[],"notice_time":1800000100"#, 4, 100, vec![]),
        (r#""notice_count":1"#, 1, 0, vec![600, 600, 600]),
        (r#""notice_count":4"#, 4, 0, vec![]),
        (r#""notice_count":1,"max_notices":3"#, 1, 0, vec![600]),
        (r#""notice_count":0,"notice_interval":[7]"#, 0, 0, vec![7]),
    ] {
        let task = notice(&format!(r#"{{"url":"http://x/",{json}}}"#));
        let waits: Vec<Span> = waits.into_iter().map(Span::from_secs).collect();
        assert_eq!(task.notice_count(), count, "{json}");
        assert_eq!((task.due_at(), task.waits_left(&queue())), (after(due), waits), "{json}");
    }
    let json = r#"{"url":"http://x/","data":"a=1","notice_data":{"a":["2"]},"notice_count":3,
        "notice_interval":[5],"success_id":2,"enforce_repeat_notice":true}"#;
    let task = sent(&notice(json), answered(200, None), start()).task;
    assert_eq!((told(&task), task.due_at()), ((State::Waiting, 4, 2), after(5)));
    let body = Outgoing::new(&task.spec, &queue(), None).unwrap().content.unwrap();
    assert_eq!(body.as_bytes(), b"a=2", "what was understood comes before what was given");
    let task = sent(&task, answered(500, None), after(5)).task;
    assert_eq!(told(&task), (State::Done, 5, 2));
}

#[test]
fn every_answer_is_kept() {
    let json = r#"{"url":"http://x/","notice_interval":[1],"max_notices":20}"#;
    let mut task = notice(json);
    let long = "x".repeat(2 * ANSWER_BYTES_MAX);
    for number in 0..20 {
        let verdict = punctual_core::http::Verdict::failed("no");
        task = sent(&task, delivered(verdict, Some(500), &long), after(number)).task;
    }
    let kept = task.status.history.iter().map(|attempt| {
        attempt.http.as_ref().and_then(|http| http.answer.as_ref()).map_or(0, String::len)
    });
    assert!(kept.clone().all(|bytes| bytes == ANSWER_BYTES_MAX) && kept.count() == 20);
}

#[test]
fn a_paused_notice_keeps_its_count() {
    let pausing = notice_in(State::Pausing, "[10]");
    let task = decided(&pausing, answered(500, None), start()).unwrap().task;
    assert_eq!(told(&task), (State::Paused, 1, 0));
    let task = decided(&task, Event::Resume, after(1)).unwrap().task;
    assert_eq!(told(&sent(&task, answered(500, None), after(1)).task), (State::Failed, 2, 0));
}

#[test]
fn states_read_as_those_of_notices() {
    for state in State::ALL {
        let read = NoticeState::of(state);
        assert!(read.states().any(|other| other == state));
        assert_eq!(NoticeState::parse(read.name()), Some(read));
    }
    assert_eq!(NoticeState::parse("done"), None);
    let bad = r#"{"url":"http://x/","content_type":"xml","data":"<a/>"}"#;
    let edit = punctual_core::task::Edit {
        payload: Some(punctual_core::RawJson::of("<a>")),
        ..Default::default()
    };
    let refusal = decided(&notice(bad), Event::Edit(edit), start()).unwrap_err();
    assert!(refusal.to_string().starts_with("data: "), "{refusal}");
}
