//! Take, confirm, extend: what a holder has, and how it keeps it.

use punctual_core::queue::{Mode, Settings};
use punctual_core::task::{Event, Extension};
use punctual_core::{NewTask, Refusal, Span, State, Task, Verb};

use crate::scene::*;

fn extend(extension: Extension) -> Event {
    Event::Extend { token: token(1), extension }
}

#[test]
fn a_take_holds_the_task_and_counts() {
    let task = take(&ready(), token(1), after(5));
    let status = &task.status;
    assert_eq!((status.state, status.attempt), (State::Running, 1));
    assert_eq!((status.worker.clone(), status.taken_at), (Some(worker()), Some(after(5))));
    let hold = status.hold.unwrap();
    assert_eq!((hold.token, hold.until, hold.length), (token(1), after(35), Span::from_secs(30)));
    assert!(status.history.is_empty(), "an attempt is history when it has ended");
}

#[test]
fn while_assigned_only_the_time_to_confirm_runs() {
    let task = in_state(State::Assigned);
    let hold = task.status.hold.unwrap();
    assert_eq!((hold.until, hold.length), (after(10), Span::from_secs(30)));
    for event in [extend(Extension::default()), commit(token(1))] {
        let verb = event.verb();
        let refusal = decide(&task, event, after(1)).unwrap_err();
        assert_eq!(refusal, Refusal::WrongState { verb, state: State::Assigned });
    }
}

#[test]
fn a_confirmation_starts_the_hold() {
    let assigned = in_state(State::Assigned);
    let task = happen(&assigned, Event::Confirm { token: token(1) }, after(8));
    assert_eq!((task.status.state, task.status.taken_at), (State::Running, Some(after(8))));
    assert_eq!(task.status.hold.unwrap().until, after(38));
    assert_eq!(task.status.attempt, 1);
}

#[test]
fn a_repeated_confirmation_changes_nothing() {
    for state in [State::Running, State::Pausing, State::Cancelling] {
        same(&in_state(state), Event::Confirm { token: token(1) }, after(8));
    }
}

#[test]
fn an_extension_is_as_long_as_the_hold_or_as_asked() {
    let task = happen(&in_state(State::Running), extend(Extension::default()), after(20));
    assert_eq!(task.status.hold.unwrap().until, after(50));
    let hold = Some(Span::from_secs(5));
    let task = happen(&task, extend(Extension { hold, ..Extension::default() }), after(21));
    assert_eq!(task.status.hold.unwrap().until, after(26), "shorter is as good as longer");
    let task = happen(&task, extend(Extension::default()), after(22));
    assert_eq!(task.status.hold.unwrap().until, after(27), "as long as last asked for");
}

#[test]
fn no_extension_goes_beyond_the_longest_run() {
    let limited = Settings { max_runtime: Some(Span::from_secs(60)), ..settings() };
    let http = Settings { mode: Mode::Http, ..limited.clone() };
    let extended = |settings: &Settings, task: &Task, hold, now| {
        let extension = Extension { hold: Some(Span::from_secs(hold)), ..Extension::default() };
        let task = decide_in(settings, task, extend(extension), now).unwrap().task;
        (task.status.hold.unwrap().until, task)
    };
    let own = pushed(NewTask { max_runtime: Some(Span::from_secs(90)), ..NewTask::default() });
    for (settings, task, latest) in [
        (&limited, ready(), after(60)),
        (&limited, own.clone(), after(90)),
        (&settings(), own, after(90)),
        (&http, ready(), after(540)),
    ] {
        let running = take(&task, token(1), start());
        assert_eq!(extended(settings, &running, 25, after(30)).0, after(55));
        assert_eq!(extended(settings, &running, 500, after(40)).0, latest);
    }
    let assigned = in_state(State::Assigned);
    let confirmed = decide_in(&limited, &assigned, Event::Confirm { token: token(1) }, after(8));
    assert_eq!(extended(&limited, &confirmed.unwrap().task, 500, after(10)).0, after(68));
}

#[test]
fn a_hold_that_ends_with_the_longest_run_says_so() {
    let limited = Settings { max_runtime: Some(Span::from_secs(40)), ..settings() };
    let running = take(&ready(), token(1), start());
    let lost = decide_in(&limited, &running, Event::HoldEnd, after(30)).unwrap().task;
    assert_ne!(lost.status.error.as_deref(), Some("max_runtime"), "its hold was shorter");
    let extended = decide_in(&limited, &running, extend(Extension::default()), after(20)).unwrap();
    let mut task = decide_in(&limited, &extended.task, Event::HoldEnd, after(40)).unwrap().task;
    assert_eq!((task.status.state, task.status.attempt), (State::Ready, 1));
    assert_eq!(task.status.error.as_deref(), Some("max_runtime"));
    assert_eq!(task.status.history[0].error.as_deref(), Some("max_runtime"));
    for attempt in 2..=3 {
        let mut running = take(&task, token(attempt), after(50));
        running.status.hold.as_mut().unwrap().until = after(90);
        task = decide_in(&limited, &running, Event::HoldEnd, after(90)).unwrap().task;
        task.status.ready_at = after(50);
    }
    assert_eq!(task.status.state, State::Failed);
    assert_eq!(task.status.error.as_deref(), Some("max_runtime"));
}

#[test]
fn an_extension_reports_and_leaves_what_it_does_not_name() {
    let report = Extension {
        hold: None,
        progress: Some(0.25),
        message: Some("half of the half".to_owned()),
        checkpoint: Some(json("[1]")),
    };
    let task = happen(&in_state(State::Running), extend(report), after(1));
    let task = happen(&task, extend(Extension::default()), after(2));
    let status = &task.status;
    assert_eq!(status.progress, Some(0.25));
    assert_eq!(status.message.as_deref(), Some("half of the half"));
    assert_eq!(status.checkpoint, Some(json("[1]")));
    let more = Extension { progress: Some(0.5), ..Extension::default() };
    assert_eq!(happen(&task, extend(more), after(3)).status.progress, Some(0.5));
}

#[test]
fn a_holder_hears_of_cancel_and_pause_by_extending() {
    for state in [State::Pausing, State::Cancelling] {
        let task = happen(&in_state(state), extend(Extension::default()), after(20));
        assert_eq!(task.status.state, state);
        assert_eq!(task.status.hold.unwrap().until, after(50), "{state}");
    }
}

#[test]
fn bad_extensions_name_their_field() {
    let check = |extension: Extension| extension.check().unwrap_err().to_string();
    let zero = Extension { hold: Some(Span::ZERO), ..Extension::default() };
    assert_eq!(check(zero), "hold: longer than 0");
    for progress in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let beyond = Extension { progress: Some(progress), ..Extension::default() };
        assert_eq!(check(beyond), "progress: a number from 0 to 1");
    }
    let long = Extension { message: Some("x".repeat(4_097)), ..Extension::default() };
    assert_eq!(check(long), "message: at most 4096 bytes");
    let text = format!("\"{}\"", "x".repeat(1 << 20));
    let large = Extension { checkpoint: Some(json(&text)), ..Extension::default() };
    assert_eq!(check(large), "checkpoint: at most 1048576 bytes");
    assert!(Extension { progress: Some(1.0), ..Extension::default() }.check().is_ok());
}

#[test]
fn a_token_is_good_for_one_hold() {
    let running = in_state(State::Running);
    let waiting = happen(&running, fail(token(1)), after(1));
    let again = take(&waiting, token(2), after(20));
    for event in [commit(token(1)), fail(token(1)), extend(Extension::default())] {
        assert_eq!(decide(&again, event, after(21)).unwrap_err(), Refusal::StaleToken);
    }
    assert_eq!(happen(&again, commit(token(2)), after(21)).status.state, State::Done);
    let lost = happen(&running, Event::HoldEnd, after(30));
    let refusal = decide(&lost, commit(token(1)), after(30)).unwrap_err();
    assert_eq!(refusal, Refusal::StaleToken, "the hold was over first");
}

#[test]
fn right_token_and_wrong_state_names_the_state() {
    let refusal = decide(&in_state(State::Running), paused(token(1)), start()).unwrap_err();
    assert_eq!(refusal, Refusal::WrongState { verb: Verb::Paused, state: State::Running });
    assert_eq!(refusal.to_string(), "paused does not apply to a task that is running");
}

#[test]
fn an_orphaned_task_is_nobodys_and_its_hold_is_over() {
    for state in State::ALL {
        let mut task = in_state(state);
        let before = task.clone();
        task.status.orphan(token(77), after(5));
        if !state.is_held() {
            assert_eq!(task, before, "{state}");
            continue;
        }
        let (was, is) = (before.status.hold.unwrap(), task.status.hold.unwrap());
        assert_eq!((is.token, is.until), (token(77), was.until.min(after(5))), "{state}");
        let refused = decide(&task, commit(was.token), after(5)).unwrap_err();
        assert_eq!(refused, Refusal::StaleToken, "{state}");
        let ended = happen(&task, Event::HoldEnd, after(5));
        assert!(!ended.status.state.is_held(), "{state}");
    }
}
