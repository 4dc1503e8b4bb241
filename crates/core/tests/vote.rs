//! Votes: ballots by their tokens, and the tally that ends the task.
#![expect(clippy::unwrap_used, reason = "a test may stop where its story cannot be told")]

use punctual_core::limits::VOTE_RESULT_BYTES_MAX;
use punctual_core::queue::{Keep, Mode};
use punctual_core::task::{Context, Extension, Grant, Settlement};
use punctual_core::vote::{Answer, Turn, Vote};
use punctual_core::{
    Decision, Event, Fate, NewTask, QueueName, RawJson, Refusal, Seed, Settings, Span, Spec, State,
    Task, TaskId, Timestamp, Token, Verb, WorkerName,
};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000) + Span::from_secs(secs)
}

fn name(text: &str) -> WorkerName {
    WorkerName::parse(text).unwrap()
}

fn settings() -> Settings {
    let hour = Span::from_secs(3_600);
    let keep = Keep { done: hour, failed: hour, cancelled: hour };
    Settings { mode: Mode::Vote, keep, ..Settings::default() }
}

fn decide(task: &Task, event: Event, now: Timestamp) -> Decision {
    let callback_id = TaskId::parse("c").unwrap();
    let context = Context { now, queue: &settings(), roll: 0.5, callback_id: &callback_id };
    task.decide(event, &context).unwrap()
}

/// A task that the server took.
fn taken() -> Task {
    let id = TaskId::parse("t").unwrap();
    let queue = QueueName::parse("q").unwrap();
    let mut task = Task::new(Spec::new(queue, NewTask::default(), id, at(0)), at(0));
    let (token, hold) = (Seed::new(9 << 64).token(0), Span::from_secs(30));
    let confirm_within = Some(Span::from_secs(10));
    task.status.take(Grant {
        token,
        worker: None,
        now: at(0),
        hold,
        confirm_within,
        max_runtime: None,
    });
    task
}

/// A vote of `a` and `b`, its task, and their tokens.
fn open() -> (Vote, Task, Token, Token) {
    let seed = Seed::new(1 << 64);
    let task = taken();
    let voters = vec![name("a"), name("b")];
    let (vote, event) = Vote::open(&task, voters, seed, &settings(), at(0));
    let task = decide(&task, event, at(0)).task;
    (vote, task, seed.token(0), seed.token(1))
}

fn commit(token: Token, result: &str) -> Event {
    let result = Some(RawJson::parse(result).unwrap());
    Event::Settle { token, settlement: Settlement::Commit { result } }
}

fn confirmed(vote: Vote, token: Token, now: Timestamp) -> Vote {
    vote.happen(&Event::Confirm { token }, now).unwrap().vote
}

#[test]
fn every_voter_has_its_own_token_time_to_confirm_and_hold() {
    let (vote, task, a, b) = open();
    assert_ne!(a, b);
    assert_eq!((task.status.state, &task.status.worker), (State::Running, &None));
    assert_eq!(task.status.hold.unwrap().until, at(10));
    let seen = vote.seen_by(&name("a"), &task).unwrap();
    assert_eq!((seen.status.state, seen.status.hold.unwrap().token), (State::Assigned, a));
    let vote = confirmed(vote, a, at(5));
    assert_eq!(vote.until(), Some(at(35)));
    let extension = Extension { hold: Some(Span::from_secs(60)), ..Extension::default() };
    let turn = vote.happen(&Event::Extend { token: a, extension }, at(6)).unwrap();
    assert_eq!(turn.vote.until(), Some(at(66)));
    let seen = turn.vote.seen_by(&name("a"), &task).unwrap();
    assert_eq!((seen.status.state, seen.status.hold.unwrap().until), (State::Running, at(66)));
    assert_eq!(turn.vote.seen_by(&name("c"), &task), None);
}

#[test]
fn no_ballot_outlasts_the_longest_run() {
    let settings = Settings { max_runtime: Some(Span::from_secs(40)), ..settings() };
    let (seed, task) = (Seed::new(1 << 64), taken());
    let (vote, event) = Vote::open(&task, vec![name("a")], seed, &settings, at(0));
    let task = decide(&task, event, at(0)).task;
    let vote = confirmed(vote, seed.token(0), at(9));
    let extension = Extension { hold: Some(Span::from_secs(60)), ..Extension::default() };
    let extend = Event::Extend { token: seed.token(0), extension };
    let vote = vote.happen(&extend, at(20)).unwrap().vote;
    let seen = vote.seen_by(&name("a"), &task).unwrap();
    assert_eq!((seen.status.taken_at, vote.until()), (Some(at(9)), Some(at(49))));
    let turn = vote.time_out();
    assert_eq!(turn.answers[0].error.as_deref(), Some("max_runtime"));
}

#[test]
fn strangers_and_late_ones_change_nothing() {
    let (vote, task, a, b) = open();
    let stranger = task.status.hold.unwrap().token;
    for token in [stranger, Token::NOBODY] {
        assert_eq!(vote.clone().happen(&commit(token, "1"), at(1)), Err(Refusal::StaleToken));
    }
    // Whoever has not confirmed has not begun, and after that time it is too late.
    let unconfirmed = Refusal::WrongState { verb: Verb::Commit, state: State::Assigned };
    assert_eq!(vote.clone().happen(&commit(a, "1"), at(1)), Err(unconfirmed));
    let late = vote.clone().happen(&Event::Confirm { token: a }, at(10));
    assert_eq!(late, Err(Refusal::StaleToken));
    let vote = confirmed(vote, a, at(1));
    let large = format!("\"{}\"", "x".repeat(VOTE_RESULT_BYTES_MAX));
    let refusal = vote.clone().happen(&commit(a, &large), at(2)).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLarge { field: "result", .. }));
    // The time of one passes while another is at work: it is over with the next turn.
    let turn = vote.happen(&commit(a, "1"), at(20)).unwrap();
    assert_eq!(turn.answers.len(), 2);
    assert_eq!(turn.vote.until(), None);
    assert_eq!(turn.vote.happen(&Event::Confirm { token: b }, at(20)), Err(Refusal::StaleToken));
}

#[test]
fn a_repeated_answer_counts_once() {
    let (vote, _, a, _) = open();
    let turn = confirmed(vote, a, at(1)).happen(&commit(a, "1"), at(2)).unwrap();
    assert_eq!(turn.settled, Some((a, Verb::Commit)));
    let again = turn.vote.clone().happen(&commit(a, "2"), at(3)).unwrap();
    assert_eq!((again.is_changed, again.answers.len()), (false, 0));
    assert_eq!(turn.vote.awaited().collect::<Vec<_>>(), [&name("b")]);
}

#[test]
fn the_last_answer_ends_the_task_with_all_of_them_as_written() {
    let (vote, task, a, b) = open();
    let vote = confirmed(confirmed(vote, a, at(1)), b, at(1));
    let first = vote.happen(&commit(a, r#"{"x": 1.0}"#), at(2)).unwrap();
    let last = first.vote.happen(&commit(b, "[ ]"), at(3)).unwrap();
    assert_eq!(last.vote.until(), None);
    let answers = [first.answers, last.answers].concat();
    let settled = last.settled;
    let decision = decide(&task, Event::Tally { answers, settled }, at(3));
    let status = &decision.task.status;
    assert_eq!(status.state, State::Done);
    assert_eq!(status.result.as_ref().unwrap().as_str(), r#"{"a":{"x": 1.0},"b":[ ]}"#);
    assert_eq!((status.hold, &status.worker, &status.error), (None, &None, &None));
    let voters: Vec<_> = status.history.iter().map(|it| it.worker.clone().unwrap()).collect();
    assert_eq!(voters, [name("a"), name("b")]);
    assert_eq!(decision.receipt, Some((b, Verb::Commit)));
}

#[test]
fn whoever_does_not_answer_counts_null_and_if_all_do_the_task_has_failed() {
    let (vote, task, a, _) = open();
    let fail = Settlement::Fail { error: Some("no".into()), retry_in: None, permanent: false };
    let event = Event::Settle { token: a, settlement: fail };
    let Turn { vote, answers, .. } = vote.happen(&event, at(1)).unwrap();
    assert_eq!(answers[0].error.as_deref(), Some("no"));
    let gone = vote.clone().give_up(&name("b"), "its worker left");
    assert_eq!((gone.vote.until(), gone.answers.len()), (None, 1));
    assert!(!gone.vote.clone().give_up(&name("b"), "again").is_changed);
    let late = vote.time_out();
    assert_eq!(late.answers[0].error.as_deref(), Some("not confirmed in time"));
    let answers: Vec<Answer> = [answers, late.answers].concat();
    assert!(answers.iter().all(|answer| !answer.is_vote()));
    let decision = decide(&task, Event::Tally { answers, settled: None }, at(11));
    let status = &decision.task.status;
    assert_eq!((status.state, status.error.as_deref()), (State::Failed, Some("no_votes")));
    assert_eq!(status.result.as_ref().unwrap().as_str(), r#"{"a":null,"b":null}"#);
}

#[test]
fn a_vote_is_stopped_at_once_and_begins_again_without_a_server() {
    let (_, task, ..) = open();
    assert_eq!(decide(&task, Event::Cancel, at(1)).task.status.state, State::Cancelled);
    let paused = decide(&task, Event::Pause, at(1)).task;
    assert_eq!((paused.status.state, paused.status.hold), (State::Paused, None));
    assert_eq!(decide(&paused, Event::Resume, at(2)).task.status.state, State::Ready);
    let orphan = decide(&taken(), Event::HoldEnd, at(10));
    assert_eq!((orphan.task.status.state, orphan.task.status.attempt), (State::Ready, 0));
    assert_eq!(orphan.fate, Fate::Keep);
}

#[test]
fn an_orphaned_vote_hears_nobody_who_had_not_answered() {
    let (vote, _, a, b) = open();
    let Turn { vote, .. } = vote.happen(&Event::Confirm { token: a }, at(1)).unwrap();
    let Turn { mut vote, .. } = vote.happen(&commit(a, "1"), at(1)).unwrap();
    vote.orphan(Seed::new(5 << 64));
    assert_eq!(vote.clone().happen(&commit(b, "2"), at(2)), Err(Refusal::StaleToken));
    // Who had, may say it again.
    assert!(!vote.clone().happen(&commit(a, "1"), at(2)).unwrap().is_changed);
    assert_eq!(vote.awaited().collect::<Vec<_>>(), [&name("b")]);
}
