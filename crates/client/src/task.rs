//! Tasks as they are pushed and as they read.

use punctual_core::http::HttpTarget;
use punctual_core::task::Attempt;
use punctual_core::{RawJson, RetryPolicy, Span, State, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::changes::Changes;

/// The ways a task ends.
const ENDS: [State; 3] = [State::Done, State::Failed, State::Cancelled];

/// A task to push. All but the payload may be left out.
///
/// ```
/// use punctual_client::{NewTask, Span};
/// use serde_json::json;
///
/// let task = NewTask::new(&json!({"to": "ada@example.org"}))
///     .id("welcome-ada")
///     .delay(Span::from_secs(90))
///     .tag("mail");
/// assert_eq!(
///     serde_json::to_value(&task).unwrap(),
///     json!({"id": "welcome-ada", "payload": {"to": "ada@example.org"}, "delay": 90, "tags": ["mail"]}),
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewTask {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    payload: RawJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_runtime: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<RetryPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_for: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<HttpTarget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<Callback>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

impl NewTask {
    /// A task with a payload, due now.
    pub fn new(payload: &(impl Serialize + ?Sized)) -> Self {
        Self::raw(RawJson::of(payload))
    }

    /// A task whose payload is JSON text, kept exactly, also numbers that fit no Rust type.
    ///
    /// ```
    /// use punctual_client::{NewTask, RawJson};
    ///
    /// let task = NewTask::raw(RawJson::parse("12345678901234567890.10")?);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn raw(payload: RawJson) -> Self {
        Self { payload, ..Self::default() }
    }

    /// Another payload.
    #[must_use]
    pub fn payload(mut self, payload: RawJson) -> Self {
        self.payload = payload;
        self
    }

    /// Its id, unique among the queue's live tasks; generated if none is given.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// When it is due. Not together with [`delay`](Self::delay).
    #[must_use]
    pub fn due(mut self, due: Timestamp) -> Self {
        self.due = Some(due);
        self
    }

    /// How long until it is due. Not together with [`due`](Self::due).
    #[must_use]
    pub fn delay(mut self, delay: Span) -> Self {
        self.delay = Some(delay);
        self
    }

    /// From −100 to 100; higher goes first.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Its own hold, instead of the queue's.
    #[must_use]
    pub fn hold(mut self, hold: Span) -> Self {
        self.hold = Some(hold);
        self
    }

    /// Takes before it is failed, instead of the queue's; −1 for no limit.
    #[must_use]
    pub fn max_attempts(mut self, max_attempts: i32) -> Self {
        self.max_attempts = Some(max_attempts);
        self
    }

    /// The longest one attempt may hold it, instead of the queue's limit.
    #[must_use]
    pub fn max_runtime(mut self, max_runtime: Span) -> Self {
        self.max_runtime = Some(max_runtime);
        self
    }

    /// Its own waits between attempts, instead of the queue's.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = Some(retry);
        self
    }

    /// How long its id stays reserved after its end.
    #[must_use]
    pub fn unique_for(mut self, unique_for: Span) -> Self {
        self.unique_for = Some(unique_for);
        self
    }

    /// A capability its worker must have, in a queue of mode dispatch; may be called again for more.
    #[must_use]
    pub fn requires(mut self, capability: impl Into<String>) -> Self {
        self.requires.push(capability.into());
        self
    }

    /// Failed if not first started by then.
    #[must_use]
    pub fn expires(mut self, expires: Timestamp) -> Self {
        self.expires = Some(expires);
        self
    }

    /// Where and how to deliver it, in a queue of mode `http`.
    #[must_use]
    pub fn http(mut self, http: HttpTarget) -> Self {
        self.http = Some(http);
        self
    }

    /// A task to make when this one ends.
    #[must_use]
    pub fn callback(mut self, callback: Callback) -> Self {
        self.callback = Some(callback);
        self
    }

    /// One more label.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }
}

/// A task to make in the same atomic step as the end of another.
///
/// Its payload says which task ended and how. One that is read from JSON is sent as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Callback(Changes);

impl Callback {
    /// Makes a task in `queue` when the other task ends, in any state.
    pub fn new(queue: impl Into<String>) -> Self {
        Self(Changes::default().set("queue", RawJson::of(&queue.into()))).on(ENDS)
    }

    /// Calls a URL when the other task ends, in any state.
    ///
    /// ```
    /// use punctual_client::{Callback, HttpTarget, NewTask};
    ///
    /// let told = Callback::http(HttpTarget::new("https://example.com/hook"));
    /// let task = NewTask::new("render").callback(told);
    /// ```
    pub fn http(target: HttpTarget) -> Self {
        Self(Changes::default().set("http", RawJson::of(&target))).on(ENDS)
    }

    /// Only when it ends in one of these states.
    #[must_use]
    pub fn on(self, states: impl Into<Vec<State>>) -> Self {
        Self(self.0.set("on", RawJson::of(&states.into())))
    }

    /// Sets the task to push. Its payload becomes the member `payload` of the callback's payload.
    #[must_use]
    pub fn task(self, task: NewTask) -> Self {
        Self(self.0.set("task", RawJson::of(&task)))
    }
}

/// A task as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// Its queue.
    pub queue: String,
    /// Its id.
    pub id: String,
    /// The state.
    pub state: State,
    /// The payload.
    #[serde(default)]
    pub payload: RawJson,
    /// Higher goes first.
    pub priority: i32,
    /// When it was pushed.
    pub created_at: Timestamp,
    /// When it is due.
    pub due_at: Timestamp,
    /// When its worker got it, or confirmed it.
    pub taken_at: Option<Timestamp>,
    /// When its hold ends.
    pub hold_until: Option<Timestamp>,
    /// The worker that holds it, or ended it.
    pub worker: Option<String>,
    /// Times taken.
    pub attempt: u32,
    /// Takes before it is failed; −1 for no limit.
    pub max_attempts: i32,
    /// The longest one attempt may hold it, if it says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_runtime: Option<Span>,
    /// How far it is, from 0 to 1.
    pub progress: Option<f64>,
    /// The last message of its holder.
    pub message: Option<String>,
    /// Saved state for the next holder.
    pub checkpoint: Option<RawJson>,
    /// The result.
    pub result: Option<RawJson>,
    /// The last error.
    pub error: Option<String>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The span it was pushed in, if it belongs to a trace: `traceparent`, to be carried on.
    #[serde(default)]
    pub traceparent: Option<String>,
    /// Its own hold, where that is not the queue's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Span>,
    /// Its own waits between attempts, where they are not the queue's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// How long its id stays reserved after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_for: Option<Span>,
    /// The time by which it must have started; else it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Capabilities its worker must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The task to make when it ends; values of secret headers read as `***`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// Where it is delivered, if it says so itself; values of secret headers read as `***`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Box<HttpTarget>>,
    /// The plan it is a run of.
    pub plan: Option<RawJson>,
    /// The flow it is a step of.
    pub flow: Option<RawJson>,
    /// The last attempts, oldest first.
    #[serde(default)]
    pub history: Vec<Attempt>,
    /// Only in the answer to a take, from where [`Taken`] has it.
    #[serde(default, skip_serializing)]
    token: Option<String>,
}

impl Task {
    /// The payload as a type of the caller's.
    pub fn payload_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.payload.as_str())
    }
}

/// A task as the answer to a verb shows it. A verb that was repeated is answered also when the task
/// is gone by then.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum After {
    /// The task after it.
    Task(Box<Task>),
    /// Its name; the task itself is gone.
    Gone(Gone),
}

/// The answer about a task that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Gone {
    /// Its queue.
    pub queue: String,
    /// Its id.
    pub id: String,
    /// The state it ended in, or the verb led to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}

impl After {
    /// The task's id.
    pub fn id(&self) -> &str {
        match self {
            Self::Task(task) => &task.id,
            Self::Gone(gone) => &gone.id,
        }
    }

    /// The task's state, where it is known.
    pub fn state(&self) -> Option<State> {
        match self {
            Self::Task(task) => Some(task.state),
            Self::Gone(gone) => gone.state,
        }
    }

    /// The task, unless it is gone.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Gone(_) => None,
        }
    }
}

/// A task its taker holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Task")]
#[non_exhaustive]
pub struct Taken {
    /// The task.
    pub task: Task,
    /// The token that proves the hold.
    pub token: String,
}

impl TryFrom<Task> for Taken {
    type Error = &'static str;

    fn try_from(mut task: Task) -> Result<Self, Self::Error> {
        let token = task.token.take().ok_or("a task that was taken has a token")?;
        Ok(Self { task, token })
    }
}

/// The task as it reads, and its `token`.
impl Serialize for Taken {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            #[serde(flatten)]
            task: &'a Task,
            token: &'a str,
        }
        Form { task: &self.task, token: &self.token }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: &str = r#"{"queue":"q","id":"a","state":"running","payload":{"n":1e400},
        "priority":0,"created_at":"2026-11-15T06:50:28.123Z","due_at":"2026-11-15T06:50:28.123Z",
        "taken_at":"2026-11-15T06:50:29.000Z","hold_until":"2026-11-15T06:50:59.000Z",
        "worker":"w","attempt":1,"max_attempts":5,"progress":null,"message":null,
        "checkpoint":null,"result":null,"error":null,"finished_at":null,"tags":["x"],
        "hold":5,"retry":{"intervals":[1.5]},"unique_for":60,"expires":"2026-11-16T06:50:28.123Z",
        "requires":["gpu"],"callback":{"queue":"after"},"http":{"url":"http://x/","method":null,
        "headers":{},"body":null,"content_type":null,"timeout":null,"success":null,
        "follow_redirects":false},"plan":null,"flow":null,"history":[{"at":"2026-11-15T06:50:28.123Z",
        "ended_at":"2026-11-15T06:50:28.200Z","worker":"w","outcome":"lost","error":null,
        "status":null}],"token":"t","of_a_later_version":1}"#;

    #[test]
    fn a_taken_task_reads_and_writes_as_the_interface_says() {
        let taken: Taken = serde_json::from_str(TAKEN).unwrap();
        assert_eq!((taken.token.as_str(), taken.task.state), ("t", State::Running));
        assert_eq!(taken.task.payload.as_str(), r#"{"n":1e400}"#);
        assert_eq!(
            (taken.task.hold, taken.task.unique_for),
            (Some(Span::from_secs(5)), Some(Span::from_secs(60)))
        );
        assert_eq!(taken.task.requires, ["gpu"]);
        assert_eq!(
            taken.task.callback,
            Some(serde_json::from_str(r#"{"queue":"after"}"#).unwrap())
        );
        assert_eq!(taken.task.http.as_ref().unwrap().url.as_deref(), Some("http://x/"));
        let written = serde_json::to_string(&taken).unwrap();
        assert!(written.contains(r#""payload":{"n":1e400}"#), "{written}");
        assert!(written.ends_with(r#""token":"t"}"#), "{written}");
        assert_eq!(serde_json::from_str::<Taken>(&written).unwrap(), taken);
        assert!(!serde_json::to_string(&taken.task).unwrap().contains("token"));
    }

    #[test]
    fn a_callback_is_sent_as_it_was_written() {
        let text = r#"{"on":["failed"],"queue":"after","task":{"id":"x","priority":1.0}}"#;
        let read: Callback = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(serde_json::from_str::<Callback>("[]").is_err());
    }

    #[test]
    fn a_push_sends_only_the_fields_that_are_set() {
        assert_eq!(serde_json::to_string(&NewTask::default()).unwrap(), r#"{"payload":null}"#);
        let full = NewTask::new("x")
            .due(Timestamp::from_millis(1_000))
            .priority(-3)
            .hold(Span::from_secs(5))
            .max_attempts(-1)
            .retry(RetryPolicy::Intervals(vec![Span::from_millis(1_500)]))
            .unique_for(Span::from_secs(60))
            .expires(Timestamp::from_millis(2_000))
            .callback(Callback::new("after").on([State::Failed]).task(NewTask::new(&1)));
        assert_eq!(
            serde_json::to_string(&full).unwrap(),
            concat!(
                r#"{"payload":"x","due":"1970-01-01T00:00:01.000Z","priority":-3,"hold":5,"#,
                r#""max_attempts":-1,"retry":{"intervals":[1.5]},"unique_for":60,"#,
                r#""expires":"1970-01-01T00:00:02.000Z","#,
                r#""callback":{"on":["failed"],"queue":"after","task":{"payload":1}}}"#
            )
        );
    }
}
