//! Tasks in every state, and short ways to say what happens to them.

use punctual_core::queue::Keep;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Acknowledgement, Context, Decision, Event, Grant, Settlement};
use punctual_core::{
    Fate, NewTask, QueueName, RawJson, Refusal, RetryPolicy, Seed, Settings, Span, Spec, State,
    Task, TaskId, Timestamp, Token, WorkerName,
};

/// The time at which every story begins.
pub(crate) fn start() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

pub(crate) fn after(secs: i64) -> Timestamp {
    start() + Span::from_secs(secs)
}

pub(crate) fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

pub(crate) fn worker() -> WorkerName {
    WorkerName::parse("w").unwrap()
}

/// The `n`-th token ever handed out.
pub(crate) fn token(n: u128) -> Token {
    Seed::new(n << 32).token(0)
}

/// Settings that keep every end for an hour, with waits of 10 and 20 seconds between attempts.
pub(crate) fn settings() -> Settings {
    let hour = Span::from_secs(3_600);
    Settings {
        keep: Keep { done: hour, failed: hour, cancelled: hour },
        retry: RetryPolicy::Intervals(vec![Span::from_secs(10), Span::from_secs(20)]),
        max_attempts: MaxAttempts::new(3).unwrap(),
        ..Settings::default()
    }
}

/// A task right after its push.
pub(crate) fn pushed(new: NewTask) -> Task {
    let queue = QueueName::parse("q").unwrap();
    Task::new(Spec::new(queue, new, id("t"), start()), start())
}

/// A task that is ready.
pub(crate) fn ready() -> Task {
    pushed(NewTask::default())
}

pub(crate) fn take(task: &Task, token: Token, now: Timestamp) -> Task {
    taken(task, token, now, None)
}

pub(crate) fn taken(
    task: &Task,
    token: Token,
    now: Timestamp,
    confirm_within: Option<Span>,
) -> Task {
    assert_eq!(task.status.state_at(now), State::Ready, "only a ready task is taken");
    let mut task = task.clone();
    let hold = Span::from_secs(30);
    task.status.take(Grant {
        token,
        worker: Some(worker()),
        now,
        hold,
        confirm_within,
        max_runtime: None,
    });
    task
}

/// What `core` says, in a queue.
pub(crate) fn decide_in(
    settings: &Settings,
    task: &Task,
    event: Event,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let callback_id = id("called-back");
    task.decide(event, &Context { now, queue: settings, roll: 0.5, callback_id: &callback_id })
}

pub(crate) fn decide(task: &Task, event: Event, now: Timestamp) -> Result<Decision, Refusal> {
    decide_in(&settings(), task, event, now)
}

/// The task after an event that applies and changes it.
pub(crate) fn happen(task: &Task, event: Event, now: Timestamp) -> Task {
    let decision = decide(task, event, now).expect("the verb applies");
    assert_eq!(decision.fate, Fate::Keep, "the task changes and is kept");
    decision.task
}

/// The task after an event that applies, and that it did not change anything.
pub(crate) fn same(task: &Task, event: Event, now: Timestamp) {
    let decision = decide(task, event, now).expect("the verb applies");
    assert_eq!(decision.fate, Fate::Same);
    assert_eq!(decision.task, *task);
    assert!(decision.spawn.is_empty() && decision.receipt.is_none());
}

pub(crate) fn settle(token: Token, settlement: Settlement) -> Event {
    Event::Settle { token, settlement }
}

pub(crate) fn commit(token: Token) -> Event {
    settle(token, Settlement::Commit { result: None })
}

pub(crate) fn fail(token: Token) -> Event {
    settle(token, Settlement::Fail { error: None, retry_in: None, permanent: false })
}

pub(crate) fn fail_for_good(token: Token) -> Event {
    settle(token, Settlement::Fail { error: None, retry_in: None, permanent: true })
}

pub(crate) fn release(token: Token) -> Event {
    settle(token, Settlement::Release { delay: None, checkpoint: None })
}

pub(crate) fn paused(token: Token) -> Event {
    settle(token, Settlement::Paused(Acknowledgement::default()))
}

pub(crate) fn cancelled(token: Token) -> Event {
    settle(token, Settlement::Cancelled(Acknowledgement::default()))
}

/// A task that comes to be in a state; while held, by `token(1)`.
pub(crate) fn in_state(state: State) -> Task {
    let running = || take(&ready(), token(1), start());
    let task = match state {
        State::Waiting => happen(&running(), fail(token(1)), start()),
        State::Ready => ready(),
        State::Assigned => taken(&ready(), token(1), start(), Some(Span::from_secs(10))),
        State::Running => running(),
        State::Pausing => happen(&running(), Event::Pause, start()),
        State::Cancelling => happen(&running(), Event::Cancel, start()),
        State::Paused => happen(&ready(), Event::Pause, start()),
        State::Done => happen(&running(), commit(token(1)), start()),
        State::Failed => happen(&running(), fail_for_good(token(1)), start()),
        State::Cancelled => happen(&ready(), Event::Cancel, start()),
    };
    assert_eq!(task.status.state, state);
    task
}
