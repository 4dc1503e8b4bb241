//! Cancel, pause, resume, retry, reset: what anybody may ask of a task.

use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Event, Extension, Outcome};
use punctual_core::{
    Fate, FlowId, NewTask, OwnerRef, PlanId, Refusal, RetryPolicy, Span, Spec, State, Status,
    StepName, Task, Verb,
};

use crate::scene::*;

const RETRY: Event = Event::Retry { force: false };
const FORCE: Event = Event::Retry { force: true };

fn wrong_state(task: &Task, event: Event) {
    let (verb, state) = (event.verb(), task.status.state);
    assert_eq!(decide(task, event, start()).unwrap_err(), Refusal::WrongState { verb, state });
}

#[test]
fn what_nobody_runs_is_cancelled_at_once() {
    for state in [State::Waiting, State::Ready, State::Paused, State::Assigned] {
        let task = happen(&in_state(state), Event::Cancel, after(1));
        assert_eq!((task.status.state, task.status.hold), (State::Cancelled, None), "{state}");
        assert_eq!(task.status.finished_at, Some(after(1)));
    }
    let taken_back = happen(&in_state(State::Assigned), Event::Cancel, after(1));
    let confirm = Event::Confirm { token: token(1) };
    assert_eq!(decide(&taken_back, confirm, after(2)).unwrap_err(), Refusal::StaleToken);
    assert_eq!(taken_back.status.history[0].outcome, Outcome::Cancelled);
}

#[test]
fn the_holder_of_a_running_task_is_asked_to_stop() {
    for state in [State::Running, State::Pausing] {
        let before = in_state(state);
        let task = happen(&before, Event::Cancel, after(1));
        assert_eq!(task.status.state, State::Cancelling);
        assert_eq!(task.status.hold, before.status.hold, "it keeps what it has");
    }
}

#[test]
fn a_repeated_cancel_changes_nothing() {
    same(&in_state(State::Cancelling), Event::Cancel, after(1));
    same(&in_state(State::Cancelled), Event::Cancel, after(1));
    wrong_state(&in_state(State::Done), Event::Cancel);
    wrong_state(&in_state(State::Failed), Event::Cancel);
}

#[test]
fn what_nobody_runs_is_paused_at_once() {
    for state in [State::Waiting, State::Ready, State::Assigned] {
        let task = happen(&in_state(state), Event::Pause, after(1));
        assert_eq!((task.status.state, task.status.hold), (State::Paused, None), "{state}");
        assert_eq!((&task.status.worker, task.status.taken_at), (&None, None));
    }
    let before = in_state(State::Running);
    let task = happen(&before, Event::Pause, after(1));
    assert_eq!((task.status.state, task.status.hold), (State::Pausing, before.status.hold));
    same(&task, Event::Pause, after(2));
    same(&in_state(State::Paused), Event::Pause, after(2));
    for state in [State::Cancelling, State::Done, State::Failed, State::Cancelled] {
        wrong_state(&in_state(state), Event::Pause);
    }
}

#[test]
fn a_pause_does_not_use_up_an_attempt() {
    let max_attempts = Some(MaxAttempts::new(1).unwrap());
    let mut task = pushed(NewTask { max_attempts, ..NewTask::default() });
    let mut takes = 0;
    for (n, stop) in [paused, fail, release].into_iter().enumerate() {
        let token = token(n as u128 + 1);
        task = happen(&take(&task, token, start()), Event::Pause, start());
        task = happen(&task, stop(token), start());
        // What is released was not taken.
        takes += u32::from(n < 2);
        assert_eq!((task.status.state, task.status.attempt), (State::Paused, takes));
        task = happen(&task, Event::Resume, start());
    }
    task = happen(&take(&task, token(4), start()), Event::Pause, start());
    task = happen(&task, Event::HoldEnd, start());
    assert_eq!((task.status.state, task.status.attempt), (State::Paused, 3), "hold end");
    let confirm_within = Some(Span::from_secs(10));
    task = happen(&task, Event::Resume, start());
    task = happen(&taken(&task, token(5), start(), confirm_within), Event::Pause, start());
    assert_eq!((task.status.state, task.status.attempt), (State::Paused, 4), "assigned");
    task = happen(&task, Event::Resume, start());
    task = take(&task, token(6), start());
    assert_eq!(task.status.attempt, 5);
    assert_eq!(
        happen(&task, fail(token(6)), start()).status.state,
        State::Failed,
        "its one attempt"
    );
}

#[test]
fn a_resumed_task_is_ready_or_waits_until_it_is_due() {
    let task = happen(&in_state(State::Paused), Event::Resume, after(9));
    assert_eq!((task.status.state, task.status.ready_at), (State::Ready, after(9)));
    let later = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    let paused = happen(&later, Event::Pause, after(1));
    let task = happen(&paused, Event::Resume, after(2));
    assert_eq!((task.status.state, task.status.ready_at), (State::Waiting, after(60)));
    let task = happen(&paused, Event::Resume, after(60));
    assert_eq!((task.status.state, task.status.ready_at), (State::Ready, after(60)));
    let waiting = happen(&in_state(State::Waiting), Event::Pause, after(1));
    let task = happen(&waiting, Event::Resume, after(2));
    assert_eq!((task.status.state, task.status.ready_at), (State::Waiting, after(10)), "its retry");
}

#[test]
fn a_resumed_task_keeps_its_checkpoint() {
    let extension = Extension { checkpoint: Some(json("5")), ..Extension::default() };
    let event = Event::Extend { token: token(1), extension };
    let task = happen(&in_state(State::Running), event, start());
    let task = happen(&task, Event::Pause, start());
    let task = happen(&task, Event::HoldEnd, start());
    let task = happen(&task, Event::Resume, start());
    assert_eq!(task.status.checkpoint, Some(json("5")));
}

#[test]
fn a_pause_may_be_taken_back_before_the_holder_stopped() {
    let pausing = in_state(State::Pausing);
    let task = happen(&pausing, Event::Resume, after(1));
    assert_eq!((task.status.state, task.status.hold), (State::Running, pausing.status.hold));
    assert_eq!(happen(&task, commit(token(1)), after(2)).status.state, State::Done);
    let others = State::ALL.into_iter().filter(|s| !matches!(s, State::Paused | State::Pausing));
    for state in others {
        wrong_state(&in_state(state), Event::Resume);
    }
}

#[test]
fn a_retry_makes_ready_now_and_keeps_the_attempts() {
    for force in [false, true] {
        let task = happen(&in_state(State::Waiting), Event::Retry { force }, after(3));
        assert_eq!((task.status.state, task.status.ready_at), (State::Ready, after(3)));
        assert_eq!((task.status.attempt, task.status.granted), (1, 0));
        let task = happen(&in_state(State::Failed), Event::Retry { force }, after(3));
        let status = &task.status;
        assert_eq!((status.state, status.attempt, status.granted), (State::Ready, 1, 0));
        let ends = (status.finished_at, status.keep_until, status.reserved_until);
        assert_eq!(ends, (None, None, None), "it has not ended");
        assert_eq!(status.history.len(), 1);
    }
}

#[test]
fn a_retry_of_a_used_up_task_grants_one_more() {
    let mut task = ready();
    for n in 1..=3 {
        task = happen(&take(&task, token(n), after(100)), fail(token(n)), after(1));
    }
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 3));
    for n in 4..=6 {
        task = happen(&task, RETRY, after(100));
        assert_eq!(task.status.granted, u32::try_from(n).unwrap() - 3);
        assert_eq!(task.max_attempts(&settings()), MaxAttempts::new(3).unwrap(), "it stays");
        task = happen(&take(&task, token(n), after(100)), fail(token(n)), after(100));
        assert_eq!(task.status.state, State::Failed, "one more, not more");
    }
    assert_eq!(task.status.attempt, 6);
}

#[test]
fn only_force_takes_a_task_from_its_holder() {
    for state in [State::Assigned, State::Running, State::Pausing, State::Cancelling] {
        let before = in_state(state);
        wrong_state(&before, RETRY);
        let task = happen(&before, FORCE, after(1));
        assert_eq!((task.status.state, task.status.hold), (State::Ready, None), "{state}");
        assert_eq!((task.status.worker.clone(), task.status.attempt), (None, 1));
        assert_eq!(task.status.history[0].outcome, Outcome::Freed);
        assert_eq!(decide(&task, commit(token(1)), after(2)).unwrap_err(), Refusal::StaleToken);
    }
}

#[test]
fn a_forced_retry_of_the_last_attempt_grants_one_more() {
    let max_attempts = Some(MaxAttempts::new(1).unwrap());
    let task = take(&pushed(NewTask { max_attempts, ..NewTask::default() }), token(1), start());
    let task = happen(&task, FORCE, after(1));
    assert_eq!((task.status.attempt, task.status.granted), (1, 1));
    let task = happen(&take(&task, token(2), after(1)), fail(token(2)), after(1));
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 2));
}

#[test]
fn there_is_no_retry_before_the_first_attempt() {
    let unstarted = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    for event in [RETRY, FORCE] {
        let verb = event.verb();
        let refusal = decide(&unstarted, event, start()).unwrap_err();
        assert_eq!(refusal, Refusal::WrongState { verb, state: State::Waiting });
    }
    for state in [State::Ready, State::Paused, State::Done, State::Cancelled] {
        wrong_state(&in_state(state), RETRY);
        wrong_state(&in_state(state), FORCE);
    }
}

#[test]
fn a_reset_makes_it_like_new_from_every_state() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Ready) {
        let before = in_state(state);
        let task = happen(&before, Event::Reset, after(7));
        let settled = before.status.settled;
        let expected = Status { settled, ..Status::new(start(), after(7)) };
        assert_eq!(*task.status, expected, "{state}");
        assert_eq!(task.spec, before.spec);
        if state.is_held() {
            let refusal = decide(&task, commit(token(1)), after(8)).unwrap_err();
            assert_eq!(refusal, Refusal::StaleToken, "{state}");
        }
    }
}

#[test]
fn a_reset_task_waits_for_the_due_time_it_was_pushed_with() {
    let later = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    let done = happen(&take(&later, token(1), after(60)), commit(token(1)), after(61));
    let task = happen(&done, Event::Reset, after(62));
    assert_eq!((task.status.state, task.status.ready_at), (State::Ready, after(62)));
}

#[test]
fn a_reset_of_what_is_like_new_keeps_its_place() {
    let later = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    same(&later, Event::Reset, after(5));
    same(&ready(), Event::Reset, after(5));
    let released = happen(&in_state(State::Running), release(token(1)), after(1));
    let task = happen(&released, Event::Reset, after(5));
    assert_eq!((task.status.ready_at, task.status.history.len()), (after(5), 0));
}

#[test]
fn a_run_or_step_is_not_reset() {
    for (owner, word) in [
        (OwnerRef::Plan { id: PlanId::parse("p").unwrap(), reads: json("{}") }, "plan"),
        (
            OwnerRef::Flow { id: FlowId::parse("f").unwrap(), step: StepName::parse("s").unwrap() },
            "flow",
        ),
    ] {
        for state in State::ALL {
            let mut task = in_state(state);
            task.spec = Spec { owner: Some(owner.clone()), ..(*task.spec).clone() }.into();
            let refusal = decide(&task, Event::Reset, start()).unwrap_err();
            assert_eq!(refusal, Refusal::Owned { verb: Verb::Reset, owner: word, state });
            let decision = decide(&task, Event::Cancel, start());
            assert_eq!(decision.is_ok(), !matches!(state, State::Done | State::Failed));
        }
    }
}

#[test]
fn nothing_but_an_end_makes_a_callback_or_leaves_a_receipt() {
    for state in State::ALL {
        for event in [Event::Pause, Event::Resume, RETRY, FORCE, Event::Reset] {
            if let Ok(decision) = decide(&in_state(state), event, after(1)) {
                assert!(decision.spawn.is_empty() && decision.receipt.is_none());
                assert!(matches!(decision.fate, Fate::Keep | Fate::Same));
            }
        }
    }
}

#[test]
fn what_is_handed_out_begins_when_it_is_confirmed() {
    let assigned = taken(&ready(), token(1), start(), Some(Span::from_secs(10)));
    assert_eq!(assigned.status.taken_at, None);
    let running = happen(&assigned, Event::Confirm { token: token(1) }, after(3));
    assert_eq!(running.status.taken_at, Some(after(3)));
    let lost = happen(&assigned, Event::HoldEnd, after(10));
    assert_eq!(lost.status.history[0].at, start(), "when it was handed out");
}

#[test]
fn the_wait_for_a_retry_grows_with_failures_only() {
    let intervals = vec![Span::from_secs(10), Span::from_secs(600)];
    let retry = Some(RetryPolicy::Intervals(intervals));
    let task = pushed(NewTask { retry, ..NewTask::default() });
    let paused = happen(&take(&task, token(1), start()), Event::Pause, start());
    let paused = happen(&paused, self::paused(token(1)), start());
    let resumed = happen(&paused, Event::Resume, start());
    let failed = happen(&take(&resumed, token(2), start()), fail(token(2)), start());
    assert_eq!(failed.due_at(), after(10), "a pause is no failure");
    let failed = happen(&take(&failed, token(3), after(10)), fail(token(3)), after(10));
    assert_eq!(failed.due_at(), after(610));
}
