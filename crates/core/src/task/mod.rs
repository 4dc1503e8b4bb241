//! A task's record: what was pushed ([`Spec`]) and all that changes ([`Status`]).
//!
//! The two are stored apart, so that a change of state never rewrites a payload.

mod decide;
mod deliver;
mod event;
mod notify;
mod push;
mod state;
mod vote;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use decide::{Context, Decision, Fate};
pub use event::{Acknowledgement, Edit, Event, Extension, Settlement};
pub(crate) use push::check_capabilities;
pub use push::{NewTask, SettingsOf};
pub use state::{Edge, State, Verb, edge};

use crate::callback::Callback;
use crate::http::{Exchange, HttpTarget, TargetUrl};
use crate::json::RawJson;
use crate::limits::HISTORY_MAX;
use crate::name::{QueueName, TaskId, WorkerName};
use crate::notice::{Notice, Notified};
use crate::owner::OwnerRef;
use crate::queue::Settings;
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::shared::Shared;
use crate::time::{Span, Timestamp};
use crate::token::Token;
use crate::trace::TraceParent;

/// The error of a task or ballot that was held as long as it may be.
pub(crate) const MAX_RUNTIME: &str = "max_runtime";

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What was pushed.
    pub spec: Arc<Spec>,
    /// All that changes.
    pub status: Shared<Status>,
}

impl Task {
    /// A task that is pushed now.
    pub fn new(spec: impl Into<Arc<Spec>>, now: Timestamp) -> Self {
        let spec = spec.into();
        Self { status: Status::new(spec.due_at, now).into(), spec }
    }
}

/// What was pushed. Changes only by an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Its queue.
    pub queue: QueueName,
    /// Its id, unique among the queue's live tasks.
    pub id: TaskId,
    /// What is to be done, as its pusher put it.
    pub payload: RawJson,
    /// When it was pushed.
    pub created_at: Timestamp,
    /// When it is due.
    pub due_at: Timestamp,
    /// Higher goes first.
    pub priority: i8,
    /// Its own hold, instead of the queue's.
    pub hold: Option<Span>,
    /// Its own limit of attempts, instead of the queue's.
    pub max_attempts: Option<MaxAttempts>,
    /// The longest one attempt may hold it, instead of the queue's.
    pub max_runtime: Option<Span>,
    /// Its own waits between attempts, instead of the queue's.
    pub retry: Option<RetryPolicy>,
    /// How long its id stays reserved after its end.
    pub unique_for: Option<Span>,
    /// Failed if not first started by then.
    pub expires: Option<Timestamp>,
    /// Capabilities its worker must have.
    pub requires: Vec<String>,
    /// Where to deliver it.
    pub http: Option<Box<HttpTarget>>,
    /// What to make when it ends.
    pub callback: Option<Box<Callback>>,
    /// Labels.
    pub tags: Vec<String>,
    /// The plan, flow or bundle it belongs to.
    pub owner: Option<OwnerRef>,
    /// What makes it a notice.
    pub notice: Option<Box<Notice>>,
    /// The span it was pushed in, if it belongs to a trace. Older records end before it.
    #[serde(default, deserialize_with = "crate::trace::trailing")]
    pub trace: Option<TraceParent>,
}

/// All that changes about a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Where it stands. A task that is `waiting` reads as `ready` from `ready_at` on.
    pub state: State,
    /// When it became or becomes ready; the order among ready tasks.
    pub ready_at: Timestamp,
    /// When it is due, where that is not what was pushed: the time of a retry or a delayed release.
    pub due_at: Option<Timestamp>,
    /// Times taken, less those released.
    pub attempt: u32,
    /// Attempts granted beyond the limit, by retries and for pauses.
    pub granted: u32,
    /// Times it was running, less those given back: what was only handed out was not started.
    pub starts: u32,
    /// Attempts that went wrong, which decide how long to wait for the next.
    pub failures: u32,
    /// The current hold.
    pub hold: Option<Hold>,
    /// Its worker, while held and after the end.
    pub worker: Option<WorkerName>,
    /// When that worker began: when it took the task, or confirmed it.
    pub taken_at: Option<Timestamp>,
    /// How far it is, from 0 to 1.
    pub progress: Option<f64>,
    /// What its holder last said.
    pub message: Option<String>,
    /// What its next holder needs to go on.
    pub checkpoint: Option<RawJson>,
    /// What it came to.
    pub result: Option<RawJson>,
    /// What went wrong last.
    pub error: Option<String>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// How long it stays readable after its end.
    pub keep_until: Option<Timestamp>,
    /// How long its id stays reserved after its end.
    pub reserved_until: Option<Timestamp>,
    /// The token and verb that ended the last hold, for a repeat of that verb.
    pub settled: Option<(Token, Verb)>,
    /// The last attempts, oldest first.
    pub history: Vec<Attempt>,
    /// What has become of a notice so far.
    pub notified: Notified,
}

/// A hold on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The holder's token.
    pub token: Token,
    /// When the task was handed out.
    pub since: Timestamp,
    /// When it ends; while assigned, when the time to confirm ends.
    pub until: Timestamp,
    /// Its length once confirmed, and of an extension that names none.
    pub length: Span,
}

/// One attempt, for people to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Who made it.
    pub worker: Option<WorkerName>,
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong, shortened.
    pub error: Option<String>,
    /// The HTTP status that was answered.
    pub status: Option<u16>,
    /// What was sent and answered, where the server delivered.
    pub http: Option<Exchange>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Committed.
    Done,
    /// The worker said it failed.
    Failed,
    /// Given back.
    Released,
    /// Not confirmed in time.
    Unconfirmed,
    /// Its hold ended.
    Lost,
    /// Cancelled.
    Cancelled,
    /// Paused.
    Paused,
    /// Taken away by a forced retry.
    Freed,
}

impl Outcome {
    /// Whether that is an attempt that went wrong, not one that was given up on request.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Unconfirmed | Self::Lost)
    }
}

/// What a take gives its holder.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The new token.
    pub token: Token,
    /// Who takes.
    pub worker: Option<WorkerName>,
    /// When.
    pub now: Timestamp,
    /// The length of the hold.
    pub hold: Span,
    /// The time to confirm, where a confirmation is asked for.
    pub confirm_within: Option<Span>,
    /// The longest the hold may last, however often it is extended.
    pub max_runtime: Option<Span>,
}

impl Status {
    /// A task as it is right after its push.
    pub fn new(due_at: Timestamp, now: Timestamp) -> Self {
        Self {
            state: if due_at > now { State::Waiting } else { State::Ready },
            ready_at: due_at.max(now),
            due_at: None,
            attempt: 0,
            granted: 0,
            starts: 0,
            failures: 0,
            hold: None,
            worker: None,
            taken_at: None,
            progress: None,
            message: None,
            checkpoint: None,
            result: None,
            error: None,
            finished_at: None,
            keep_until: None,
            reserved_until: None,
            settled: None,
            history: Vec::new(),
            notified: Notified::default(),
        }
    }

    /// The state at a time: what was waiting is ready once it is due.
    pub fn state_at(&self, now: Timestamp) -> State {
        match self.state {
            State::Waiting if self.ready_at <= now => State::Ready,
            state => state,
        }
    }

    /// Whether it waits to be started for the first time.
    pub fn is_unstarted(&self) -> bool {
        let waits = matches!(self.state, State::Waiting | State::Ready | State::Paused);
        waits && self.starts == 0
    }

    /// Hands the task to a holder. The store calls this for a ready task it chose.
    pub fn take(&mut self, grant: Grant) {
        let within = grant.confirm_within.unwrap_or(grant.hold);
        self.state = if grant.confirm_within.is_some() { State::Assigned } else { State::Running };
        self.attempt += 1;
        self.hold = Some(Hold {
            token: grant.token,
            since: grant.now,
            until: grant.now + within,
            length: grant.hold,
        });
        self.worker = grant.worker;
        if grant.confirm_within.is_none() {
            self.start(grant.now);
            self.cap_hold(grant.max_runtime);
        }
        self.settled = None;
    }

    /// Ends the hold when `max_runtime` is over, if it would end later. Counts from the start of the attempt.
    fn cap_hold(&mut self, max_runtime: Option<Span>) {
        if let (Some(hold), Some(started), Some(max)) = (&mut self.hold, self.taken_at, max_runtime)
        {
            hold.until = hold.until.min(started + max);
        }
    }

    /// Takes the task from its holder, if it has one: the hold is over, and its token is one that nobody
    /// was given.
    pub fn orphan(&mut self, token: Token, now: Timestamp) {
        if let Some(hold) = &mut self.hold {
            hold.token = token;
            hold.until = hold.until.min(now);
        }
    }

    /// Its holder begins.
    fn start(&mut self, now: Timestamp) {
        self.taken_at = Some(now);
        self.starts += 1;
    }

    /// What it takes in an answer besides its payload, roughly.
    pub fn bytes(&self) -> usize {
        const ATTEMPT_BYTES: usize = 256;
        let json = [&self.checkpoint, &self.result].into_iter().flatten().map(RawJson::len);
        let text = [&self.message, &self.error].into_iter().flatten().map(String::len);
        let answer = |attempt: &Attempt| attempt.http.as_ref()?.answer.as_ref().map(String::len);
        let answers = self.history.iter().filter_map(answer);
        json.chain(text).chain(answers).sum::<usize>() + self.history.len() * ATTEMPT_BYTES
    }

    /// Ends the hold and remembers the attempt.
    fn untake(&mut self, now: Timestamp, outcome: Outcome, error: Option<&str>) {
        if self.history.len() >= HISTORY_MAX {
            self.history.remove(0);
        }
        self.history.push(Attempt {
            at: self.taken_at.or(self.hold.map(|hold| hold.since)).unwrap_or(now),
            ended_at: now,
            worker: self.worker.clone(),
            outcome,
            error: error.map(|text| shortened(text, 256)),
            status: None,
            http: None,
        });
        self.hold = None;
    }

    /// Makes it ready at `due`, or now if that is past.
    fn queue(&mut self, due: Timestamp, now: Timestamp) {
        self.state = if due > now { State::Waiting } else { State::Ready };
        self.ready_at = due.max(now);
        self.worker = None;
        self.taken_at = None;
    }
}

impl Spec {
    /// The lane class it waits in: tasks of one class can be carried out by the same executors. A
    /// take names the classes it serves, so that what nobody can serve never hides the rest.
    ///
    /// A task with a URL of its own waits for that host; one that goes to its queue's is of the
    /// class without a name, as that URL may change.
    pub fn lane_class(&self) -> String {
        if let Some(url) = self.http.as_ref().and_then(|target| target.url.as_ref()) {
            return TargetUrl::parse("url", url).map_or_else(|_| String::new(), |u| u.authority());
        }
        let mut requires: Vec<&str> = self.requires.iter().map(String::as_str).collect();
        requires.sort_unstable();
        requires.join("\n")
    }
}

impl Spec {
    /// Whether its end, or a success, may make another task.
    pub fn makes_tasks(&self) -> bool {
        self.callback.is_some() || self.notice.as_ref().is_some_and(|it| it.callback.is_some())
    }
}

impl Task {
    /// When it is due.
    pub fn due_at(&self) -> Timestamp {
        self.status.due_at.unwrap_or(self.spec.due_at)
    }

    /// Its limit of attempts.
    pub fn max_attempts(&self, queue: &Settings) -> MaxAttempts {
        self.spec.max_attempts.unwrap_or(queue.max_attempts)
    }

    /// The longest one attempt may hold it.
    pub fn max_runtime(&self, queue: &Settings) -> Option<Span> {
        queue.max_runtime_of(self.spec.max_runtime)
    }

    /// How many of its attempts count against the limit. Of a notice only those that came to an end: one
    /// that was under way when the server stopped is sent again.
    fn used(&self) -> u32 {
        if self.spec.notice.is_some() { self.status.notified.count } else { self.status.attempt }
    }

    /// Whether no attempt is left.
    fn is_used_up(&self, queue: &Settings) -> bool {
        let limit = self.max_attempts(queue).limit();
        limit.is_some_and(|limit| self.used() >= limit.saturating_add(self.status.granted))
    }

    /// When it fails for not having been started, as long as it has not.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.spec.expires.filter(|_| self.status.is_unstarted())
    }
}

/// The text up to `bytes_max`, cut between characters.
fn shortened(text: &str, bytes_max: usize) -> String {
    text[..text.floor_char_boundary(bytes_max)].to_owned()
}
