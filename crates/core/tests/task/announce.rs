//! What is told of a task, whatever happens to it in whatever state.

use std::sync::Arc;

use punctual_core::announce::{self, NAMES};
use punctual_core::task::{Edit, Event, Extension};
use punctual_core::{Announcements, Fate, NewTask, Spec, State, TraceParent};
use serde_json::{Value, json};

use crate::scene::*;

/// What is told of an event, if it applies.
fn told(state: State, event: Event) -> Option<Vec<Value>> {
    let (task, now) = (in_state(state), later());
    let decision = decide(&task, event.clone(), now).ok()?;
    let mut news = Announcements::default();
    announce::task::after(&task, &event, &decision, now, &mut news);
    let news = news.into_vec();
    assert!(decision.fate != Fate::Same || news.is_empty(), "{state} {event:?}");
    Some(news.iter().map(|news| serde_json::to_value(news).unwrap()).collect())
}

fn later() -> punctual_core::Timestamp {
    after(1)
}

fn progress(progress: Option<f64>) -> Event {
    let extension = Extension { progress, ..Extension::default() };
    Event::Extend { token: token(1), extension }
}

#[test]
fn every_state_and_event_announces_what_became_of_it() {
    let t = token(1);
    let events: Vec<(&str, Event)> = vec![
        ("confirm", Event::Confirm { token: t }),
        ("extend", progress(None)),
        ("progress", progress(Some(0.5))),
        ("commit", commit(t)),
        ("fail", fail(t)),
        ("fail for good", fail_for_good(t)),
        ("release", release(t)),
        ("cancelled", cancelled(t)),
        ("paused", paused(t)),
        ("cancel", Event::Cancel),
        ("pause", Event::Pause),
        ("resume", Event::Resume),
        ("retry", Event::Retry { force: false }),
        ("force", Event::Retry { force: true }),
        ("reset", Event::Reset),
        ("edit", Event::Edit(Edit::default())),
        ("clean", Event::Clean),
        ("hold end", Event::HoldEnd),
        ("expire", Event::Expire),
    ];
    // What applies and is not listed is not told.
    let mut lines = Vec::new();
    for (name, event) in events {
        for state in State::ALL {
            let Some(news) = told(state, event.clone()) else { continue };
            let kinds: Vec<&str> = news.iter().map(|news| news["type"].as_str().unwrap()).collect();
            assert!(kinds.iter().all(|kind| NAMES.contains(kind)));
            for news in &news {
                assert_eq!((&news["queue"], &news["id"]), (&json!("q"), &json!("t")), "{news}");
            }
            if !kinds.is_empty() {
                lines.push(format!("{state} {name}: {}", kinds.join(" ")));
            }
        }
    }
    lines.sort();
    assert_eq!(
        lines,
        EXPECTED.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>()
    );
}

/// A state, what happens in it, and what is told.
const EXPECTED: &str = "
    assigned cancel: task.cancelled
    assigned confirm: task.confirmed
    assigned fail for good: task.failed
    assigned fail: task.retrying
    assigned force: task.retrying
    assigned hold end: task.retrying
    assigned pause: task.paused
    assigned reset: task.retrying
    cancelled reset: task.retrying
    cancelling cancelled: task.cancelled
    cancelling commit: task.committed
    cancelling fail for good: task.cancelled
    cancelling fail: task.cancelled
    cancelling force: task.retrying
    cancelling hold end: task.cancelled
    cancelling progress: task.progress
    cancelling release: task.cancelled
    cancelling reset: task.retrying
    done reset: task.retrying
    failed force: task.retrying
    failed reset: task.retrying
    failed retry: task.retrying
    paused cancel: task.cancelled
    paused expire: task.expired
    paused reset: task.retrying
    paused resume: task.resumed
    pausing commit: task.committed
    pausing fail for good: task.paused
    pausing fail: task.paused
    pausing force: task.retrying
    pausing hold end: task.paused
    pausing paused: task.paused
    pausing progress: task.progress
    pausing release: task.paused
    pausing reset: task.retrying
    pausing resume: task.resumed
    ready cancel: task.cancelled
    ready expire: task.expired
    ready pause: task.paused
    running commit: task.committed
    running fail for good: task.failed
    running fail: task.retrying
    running force: task.retrying
    running hold end: task.retrying
    running progress: task.progress
    running reset: task.retrying
    waiting cancel: task.cancelled
    waiting expire: task.expired
    waiting force: task.retrying
    waiting pause: task.paused
    waiting reset: task.retrying
    waiting retry: task.retrying
";

#[test]
fn an_event_says_what_helps() {
    let failed = told(State::Running, fail(token(1))).unwrap();
    assert_eq!(failed[0]["worker"], "w");
    assert_eq!((&failed[0]["error"], &failed[0]["attempt"]), (&json!("failed"), &json!(1)));
    assert!(failed[0]["due_at"].is_string());
    let lost = told(State::Running, Event::HoldEnd).unwrap();
    assert_eq!((&lost[0]["type"], &lost[0]["worker"]), (&json!("task.retrying"), &json!("w")));
    assert!(lost[0]["error"].as_str().unwrap().contains("hold"));
    let progress = told(State::Running, progress(Some(0.5))).unwrap();
    assert_eq!(progress[0]["progress"], 0.5);
}

#[test]
fn those_that_say_the_same_become_one() {
    let mut news = Announcements::default();
    let task = pushed(NewTask::default());
    for _ in 0..3 {
        news.add(announce::task::pushed(&task.spec, start()));
    }
    news.add(announce::task::pushed(&task.spec, later()));
    let news = news.into_vec();
    assert_eq!(serde_json::to_value(&news[0]).unwrap()["ids"], json!(["t", "t", "t"]));
    assert_eq!(serde_json::to_value(&news[1]).unwrap()["id"], "t");
    assert!(news[0].bytes() >= serde_json::to_string(&news[0]).unwrap().len() - 16);
}

#[test]
fn what_is_told_knows_how_long_it_took_and_what_it_ends_in_a_trace() {
    let trace = TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let mut task = in_state(State::Running);
    task.spec = Arc::new(Spec { trace, ..Spec::clone(&task.spec) });
    let pushed = announce::task::pushed(&task.spec, later());
    assert_eq!((pushed.took().len(), pushed.spans().len()), (0, 1));
    assert_eq!(pushed.spans()[0].at, task.spec.push_span().unwrap());
    let taken = announce::task::taken([&task, &task], later()).unwrap();
    assert_eq!((taken.took().len(), taken.spans().len()), (2, 0));
    let told = |event: Event, now| {
        let decision = decide(&task, event.clone(), now).unwrap();
        let mut news = Announcements::default();
        announce::task::after(&task, &event, &decision, now, &mut news);
        news.into_vec().remove(0)
    };
    let began_at = task.status.taken_at.unwrap();
    let committed = told(commit(token(1)), after(30));
    assert_eq!(committed.took(), [after(30).since(began_at)]);
    assert_eq!(committed.spans()[0].at, task.current_span().unwrap());
    assert_eq!(committed.spans()[0].parent, task.spec.push_span().unwrap().span_id());
    let json = serde_json::to_string(&committed).unwrap();
    assert!(!json.contains("0af7"), "nobody who listens is told: {json}");
    assert!(told(progress(Some(0.5)), after(2)).took().is_empty(), "it goes on");
}
