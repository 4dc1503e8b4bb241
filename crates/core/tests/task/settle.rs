//! Commit, fail, release, the acknowledgements, and the end of a hold.

use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Acknowledgement, Event, Extension, Outcome, Settlement};
use punctual_core::{NewTask, Refusal, RetryPolicy, Span, State, Task};

use crate::scene::*;

fn last_outcome(task: &Task) -> Outcome {
    task.status.history.last().expect("an attempt has ended").outcome
}

#[test]
fn a_commit_ends_the_task_well() {
    let report = Extension { progress: Some(0.5), ..Extension::default() };
    let running = in_state(State::Running);
    let running = happen(&running, Event::Extend { token: token(1), extension: report }, after(1));
    let result = Some(json("{\"sum\":3}"));
    let task = happen(&running, settle(token(1), Settlement::Commit { result }), after(5));
    let status = &task.status;
    assert_eq!(status.state, State::Done);
    assert_eq!(status.result, Some(json("{\"sum\":3}")));
    assert_eq!((status.progress, status.error.as_deref()), (Some(1.0), None));
    assert_eq!((status.finished_at, status.hold), (Some(after(5)), None));
    assert_eq!(status.worker, Some(worker()), "it is known who did it");
    assert_eq!(last_outcome(&task), Outcome::Done);
}

#[test]
fn a_commit_without_a_result_has_a_null_one_and_wipes_the_last_error() {
    let failed_once = happen(&in_state(State::Running), fail(token(1)), start());
    assert!(failed_once.status.error.is_some());
    let again = take(&failed_once, token(2), after(10));
    let task = happen(&again, commit(token(2)), after(11));
    assert_eq!((&task.status.result, &task.status.error), (&Some(json("null")), &None));
}

#[test]
fn a_commit_wins_over_cancel_and_pause() {
    for state in [State::Pausing, State::Cancelling] {
        let task = happen(&in_state(state), commit(token(1)), after(1));
        assert_eq!(task.status.state, State::Done, "{state}");
    }
}

#[test]
fn a_failure_waits_as_long_as_the_policy_says() {
    let mut task = in_state(State::Running);
    for (failures, wait) in [(1, 10), (2, 20)] {
        let before = take_again(&task, failures);
        task = happen(&before, fail(token(failures)), after(1_000));
        let status = &task.status;
        assert_eq!((status.state, status.ready_at), (State::Waiting, after(1_000 + wait)));
        assert_eq!(task.due_at(), after(1_000 + wait));
        assert_eq!((status.worker.clone(), status.taken_at), (None, None));
        assert_eq!(status.attempt, u32::try_from(failures).unwrap());
        assert_eq!(last_outcome(&task), Outcome::Failed);
    }
}

/// The same task, taken anew if it is not held.
fn take_again(task: &Task, n: u128) -> Task {
    if task.status.hold.is_some() { task.clone() } else { take(task, token(n), after(1_100)) }
}

#[test]
fn a_task_may_have_a_policy_of_its_own_and_a_holder_the_last_word() {
    let retry = Some(RetryPolicy::Intervals(vec![Span::from_secs(77)]));
    let task = take(&pushed(NewTask { retry, ..NewTask::default() }), token(1), start());
    assert_eq!(happen(&task, fail(token(1)), start()).status.ready_at, after(77));
    let retry_in = Some(Span::from_secs(5));
    let settlement = Settlement::Fail { error: None, retry_in, permanent: false };
    assert_eq!(happen(&task, settle(token(1), settlement), start()).status.ready_at, after(5));
    let at_once = Settlement::Fail { error: None, retry_in: Some(Span::ZERO), permanent: false };
    let task = happen(&task, settle(token(1), at_once), start());
    assert_eq!((task.status.state, task.status.ready_at), (State::Ready, start()));
}

#[test]
fn a_failure_says_what_went_wrong() {
    let error = Some("no such file".to_owned());
    let settlement = Settlement::Fail { error, retry_in: None, permanent: false };
    let task = happen(&in_state(State::Running), settle(token(1), settlement), after(3));
    assert_eq!(task.status.error.as_deref(), Some("no such file"));
    let attempt = &task.status.history[0];
    assert_eq!((attempt.at, attempt.ended_at), (start(), after(3)));
    assert_eq!(attempt.worker, Some(worker()));
    assert_eq!(attempt.error.as_deref(), Some("no such file"));
    let silent = happen(&in_state(State::Running), fail(token(1)), after(3));
    assert_eq!(silent.status.error.as_deref(), Some("failed"));
}

#[test]
fn the_last_attempt_ends_the_task() {
    let max_attempts = Some(MaxAttempts::new(2).unwrap());
    let mut task = pushed(NewTask { max_attempts, ..NewTask::default() });
    for n in 1..=2 {
        task = take(&task, token(n), after(100 * i64::try_from(n).unwrap()));
        task = happen(&task, fail(token(n)), after(100 * i64::try_from(n).unwrap()));
    }
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 2));
    assert_eq!(task.status.finished_at, Some(after(200)));
}

#[test]
fn no_limit_means_no_limit() {
    let max_attempts = Some(MaxAttempts::UNLIMITED);
    let mut task = pushed(NewTask { max_attempts, ..NewTask::default() });
    for n in 1..=50 {
        let now = after(100 * n);
        task = happen(&take(&task, token(n as u128), now), fail(token(n as u128)), now);
        assert_eq!(task.status.state, State::Waiting);
    }
    assert_eq!(task.status.attempt, 50);
    assert_eq!(task.status.history.len(), 20, "the last 20 are remembered");
    assert_eq!(task.status.history[0].at, after(3_100));
}

#[test]
fn a_permanent_failure_ends_the_task_at_once() {
    let task = happen(&in_state(State::Running), fail_for_good(token(1)), after(1));
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 1));
}

#[test]
fn a_failure_while_asked_to_stop_is_the_stop() {
    for event in [fail(token(1)), fail_for_good(token(1)), release(token(1)), Event::HoldEnd] {
        let task = happen(&in_state(State::Cancelling), event.clone(), after(1));
        assert_eq!(task.status.state, State::Cancelled, "{event:?}");
        assert_eq!(task.status.finished_at, Some(after(1)));
        let task = happen(&in_state(State::Pausing), event.clone(), after(1));
        assert_eq!(task.status.state, State::Paused, "{event:?}");
        assert_eq!(task.status.finished_at, None);
    }
}

#[test]
fn a_release_does_not_count() {
    let max_attempts = Some(MaxAttempts::new(1).unwrap());
    let mut task = pushed(NewTask { max_attempts, ..NewTask::default() });
    for n in 1..=30 {
        task = take(&task, token(n), after(1));
        assert_eq!(task.status.attempt, 1);
        task = happen(&task, release(token(n)), after(1));
        assert_eq!((task.status.state, task.status.attempt), (State::Ready, 0));
    }
    assert_eq!(last_outcome(&task), Outcome::Released);
}

#[test]
fn a_release_may_wait_and_leave_a_checkpoint() {
    let delay = Some(Span::from_secs(60));
    let settlement = Settlement::Release { delay, checkpoint: Some(json("7")) };
    let task = happen(&in_state(State::Running), settle(token(1), settlement), after(1));
    assert_eq!((task.status.state, task.due_at()), (State::Waiting, after(61)));
    assert_eq!(task.status.checkpoint, Some(json("7")));
    let again = take(&task, token(2), after(61));
    assert_eq!(again.status.checkpoint, Some(json("7")), "the next holder has it");
    let task = happen(&again, release(token(2)), after(62));
    assert_eq!(task.status.checkpoint, Some(json("7")), "none given leaves the last");
}

#[test]
fn acknowledgements_take_what_the_holder_leaves() {
    let left = || Acknowledgement {
        checkpoint: Some(json("[3]")),
        result: Some(json("\"part\"")),
        error: Some("stopped".to_owned()),
    };
    let cancelled = settle(token(1), Settlement::Cancelled(left()));
    let paused = settle(token(1), Settlement::Paused(left()));
    for (from, event, to, outcome) in [
        (State::Cancelling, cancelled, State::Cancelled, Outcome::Cancelled),
        (State::Pausing, paused, State::Paused, Outcome::Paused),
    ] {
        let task = happen(&in_state(from), event, after(1));
        let status = &task.status;
        assert_eq!((status.state, status.hold), (to, None));
        assert_eq!(status.checkpoint, Some(json("[3]")));
        assert_eq!(status.result, Some(json("\"part\"")));
        assert_eq!(status.error.as_deref(), Some("stopped"));
        assert_eq!(last_outcome(&task), outcome);
    }
}

#[test]
fn a_lost_hold_makes_the_task_ready_for_another() {
    for (state, outcome) in
        [(State::Running, Outcome::Lost), (State::Assigned, Outcome::Unconfirmed)]
    {
        let task = happen(&in_state(state), Event::HoldEnd, after(40));
        let status = &task.status;
        assert_eq!((status.state, status.ready_at), (State::Ready, after(40)));
        assert_eq!((status.attempt, status.hold), (1, None));
        assert_eq!((status.worker.clone(), status.taken_at), (None, None));
        assert!(status.error.is_some());
        assert_eq!(last_outcome(&task), outcome);
    }
}

#[test]
fn a_worker_that_dies_every_time_uses_the_task_up() {
    let mut task = ready();
    for n in 1..=3 {
        task = take(&task, token(n), after(100));
        task = happen(&task, Event::HoldEnd, after(100));
    }
    assert_eq!((task.status.state, task.status.attempt), (State::Failed, 3));
}

#[test]
fn a_settle_verb_repeated_changes_nothing_until_the_next_take() {
    let running = in_state(State::Running);
    for verb in [commit, fail, fail_for_good, release] {
        let settled = happen(&running, verb(token(1)), start());
        same(&settled, verb(token(1)), after(1));
        same(&settled, verb(token(1)), after(1_000));
    }
    same(&happen(&in_state(State::Pausing), paused(token(1)), start()), paused(token(1)), after(9));
    let ended = happen(&in_state(State::Cancelling), cancelled(token(1)), start());
    same(&ended, cancelled(token(1)), after(9));
    let released = happen(&running, release(token(1)), start());
    let again = take(&released, token(2), start());
    assert_eq!(decide(&again, release(token(1)), start()).unwrap_err(), Refusal::StaleToken);
}

#[test]
fn what_others_do_meanwhile_does_not_unsettle_it() {
    let failed = happen(&in_state(State::Running), fail_for_good(token(1)), start());
    for event in [Event::Retry { force: false }, Event::Reset] {
        let task = happen(&failed, event, after(1));
        same(&task, fail_for_good(token(1)), after(2));
    }
    let waiting = happen(&in_state(State::Running), fail(token(1)), start());
    for event in [Event::Pause, Event::Cancel, Event::Retry { force: false }, Event::Reset] {
        let task = happen(&waiting, event, after(1));
        same(&task, fail(token(1)), after(2));
    }
}

#[test]
fn another_settle_verb_with_a_used_token_is_stale() {
    let done = in_state(State::Done);
    for verb in [fail, release, paused, cancelled] {
        assert_eq!(decide(&done, verb(token(1)), start()).unwrap_err(), Refusal::StaleToken);
    }
}

#[test]
fn bad_settlements_name_their_field() {
    let large = || Some(json(&format!("\"{}\"", "x".repeat(1 << 20))));
    let long = || Some("x".repeat(4_097));
    let left = Acknowledgement::default;
    for (settlement, field) in [
        (Settlement::Commit { result: large() }, "result"),
        (Settlement::Fail { error: long(), retry_in: None, permanent: false }, "error"),
        (Settlement::Release { delay: None, checkpoint: large() }, "checkpoint"),
        (Settlement::Paused(Acknowledgement { checkpoint: large(), ..left() }), "checkpoint"),
        (Settlement::Cancelled(Acknowledgement { result: large(), ..left() }), "result"),
        (Settlement::Cancelled(Acknowledgement { error: long(), ..left() }), "error"),
    ] {
        let refusal = settlement.check().unwrap_err();
        assert!(matches!(refusal, Refusal::TooLarge { field: f, .. } if f == field), "{refusal}");
    }
    assert!(Settlement::Commit { result: None }.check().is_ok());
}

#[test]
fn a_long_error_is_cut_between_characters_in_the_history() {
    let error = Some("é".repeat(200));
    let settlement = Settlement::Fail { error: error.clone(), retry_in: None, permanent: false };
    let task = happen(&in_state(State::Running), settle(token(1), settlement), start());
    assert_eq!(task.status.error, error);
    assert_eq!(task.status.history[0].error, Some("é".repeat(128)));
}
