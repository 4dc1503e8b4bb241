//! Why a task is not running: one reason for every situation.

use punctual_core::queue::Mode;
use punctual_core::why::{Reason, Staff, Standing, Surroundings, Target, why};
use punctual_core::{NewTask, Queue, QueueName, Span, State, Task};

use crate::scene::*;

fn queue() -> Queue {
    let mut settings = settings();
    settings.concurrency = Some(2);
    Queue { name: QueueName::parse("q").unwrap(), settings, paused: false, created_at: start() }
}

fn reason(task: &Task, queue: &Queue, around: Surroundings) -> Reason {
    let why = why(task, queue, around, start());
    assert!(!why.text.is_empty());
    assert_eq!(why.state, Standing::Task(task.status.state));
    why.reason
}

#[test]
fn every_state_has_its_reason() {
    for (state, expected) in [
        (State::Waiting, Reason::RetryWait),
        (State::Ready, Reason::NoTaker),
        (State::Assigned, Reason::Unconfirmed),
        (State::Running, Reason::Running),
        (State::Pausing, Reason::Pausing),
        (State::Cancelling, Reason::Cancelling),
        (State::Paused, Reason::Paused),
        (State::Done, Reason::Finished),
        (State::Failed, Reason::Finished),
        (State::Cancelled, Reason::Finished),
    ] {
        let found = reason(&in_state(state), &queue(), Surroundings::default());
        assert_eq!(found, expected, "{state}");
    }
    let later = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    assert_eq!(reason(&later, &queue(), Surroundings::default()), Reason::NotDue);
}

#[test]
fn a_ready_task_is_told_what_holds_it_back_first() {
    let rate_at = Some(after(9));
    let around = Surroundings { held: 2, ready: 3, rate_at, takers: 1, ..Surroundings::default() };
    let paused = Queue { paused: true, ..queue() };
    assert_eq!(reason(&ready(), &paused, around.clone()), Reason::QueuePaused);
    assert_eq!(reason(&ready(), &queue(), around.clone()), Reason::Concurrency);
    let around = Surroundings { held: 1, ..around };
    assert_eq!(reason(&ready(), &queue(), around.clone()), Reason::Rate);
    let around = Surroundings { rate_at: None, ..around };
    assert_eq!(reason(&ready(), &queue(), around.clone()), Reason::InLine);
    let around = Surroundings { takers: 0, ..around };
    assert_eq!(reason(&ready(), &queue(), around), Reason::NoTaker);
}

#[test]
fn a_task_to_be_delivered_is_told_how_its_target_is_doing() {
    let mut http = queue();
    http.settings.mode = Mode::Http;
    for (target, expected, until) in [
        (None, Reason::InLine, None),
        (Some(Target::Free), Reason::InLine, None),
        (Some(Target::Busy), Reason::TargetBusy, None),
        (Some(Target::Unshared), Reason::DeliveriesBusy, None),
        (Some(Target::Down { probed_at: after(9) }), Reason::TargetDown, Some(after(9))),
    ] {
        let why = why(&ready(), &http, Surroundings { target, ..Surroundings::default() }, start());
        assert_eq!((why.reason, why.until), (expected, until));
    }
}

#[test]
fn a_task_to_be_handed_out_is_told_whom_it_waits_for() {
    let mut dispatch = queue();
    dispatch.settings.mode = Mode::Dispatch;
    let requires = Some(vec!["gpu".to_owned(), "tape".to_owned()]);
    let task = pushed(NewTask { requires, ..NewTask::default() });
    let staff = |serving, capable, free, missing: &[&str]| {
        let missing = missing.iter().map(|it| (*it).to_owned()).collect();
        let staff = Staff { serving, capable, free, missing };
        why(&task, &dispatch, Surroundings { staff, ..Surroundings::default() }, start())
    };
    assert_eq!(staff(0, 0, 0, &["gpu", "tape"]).reason, Reason::NoWorker);
    let missing = staff(2, 0, 0, &["tape"]);
    assert_eq!(missing.reason, Reason::NoCapableWorker);
    assert!(missing.text.ends_with("capable of tape"), "{}", missing.text);
    let apart = staff(2, 0, 0, &[]);
    assert!(apart.text.ends_with("all of gpu, tape"), "{}", apart.text);
    assert_eq!(staff(2, 1, 0, &[]).reason, Reason::WorkersBusy);
    assert_eq!(staff(2, 1, 1, &[]).reason, Reason::InLine);
    let awaited = vec!["a".to_owned(), "b".to_owned()];
    let around = Surroundings { awaited, ..Surroundings::default() };
    let voting = why(&in_state(State::Running), &queue(), around, start());
    assert!(voting.text.contains("a, b can answer"), "{}", voting.text);
}

#[test]
fn it_says_until_when_and_by_whom() {
    let running = why(&in_state(State::Running), &queue(), Surroundings::default(), start());
    assert_eq!((running.until, running.worker.as_deref()), (Some(after(30)), Some("w")));
    let waiting = why(&in_state(State::Waiting), &queue(), Surroundings::default(), start());
    assert_eq!((waiting.until, waiting.error.as_deref()), (Some(after(10)), Some("failed")));
    let due = why(&in_state(State::Waiting), &queue(), Surroundings::default(), after(10));
    assert_eq!((due.state, due.reason), (Standing::Task(State::Ready), Reason::NoTaker));
}
