//! Plans as they are made, changed and read.

use punctual_core::calendar::{PlanTime, PlanType};
use punctual_core::http::HttpTarget;
use punctual_core::plan::{LastState, OnError, PlanState};
use punctual_core::{RawJson, RetryPolicy, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::changes::Changes;
use crate::rule::Rule;
use crate::task::Callback;

/// A plan to make, or the new definition of an existing one.
///
/// ```
/// use punctual_client::{NewPlan, PlanType, Rule};
/// use serde_json::json;
///
/// let plan = NewPlan::new("reports", Rule::every(10, PlanType::Minute), &json!({"x": 1})).id("ten");
/// assert_eq!(
///     serde_json::to_value(&plan).unwrap(),
///     json!({"plan_id": "ten", "queue": "reports", "message": {"x": 1},
///         "plan_type": "minute", "plan_value": 10, "repeat": -1}),
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewPlan {
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_id: Option<String>,
    queue: String,
    message: RawJson,
    #[serde(flatten)]
    rule: Rule,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<HttpTarget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<RetryPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<Callback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_results: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_error: Option<OnError>,
}

impl NewPlan {
    /// A plan whose runs are pushed to a queue with a message as their payload.
    pub fn new(queue: impl Into<String>, rule: Rule, message: &(impl Serialize + ?Sized)) -> Self {
        Self::raw(queue, rule, RawJson::of(message))
    }

    /// The same, with a message that is kept exactly.
    pub fn raw(queue: impl Into<String>, rule: Rule, message: RawJson) -> Self {
        Self {
            plan_id: None,
            queue: queue.into(),
            message,
            rule,
            request_id: None,
            caller: None,
            description: None,
            http: None,
            bundle_key: None,
            hold: None,
            max_attempts: None,
            retry: None,
            priority: None,
            tags: Vec::new(),
            callback: None,
            keep_results: None,
            on_error: None,
        }
    }

    /// Its id; generated if none is given.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { plan_id: Some(id.into()), ..self }
    }

    /// An id of the caller's own.
    #[must_use]
    pub fn request_id(self, id: impl Into<String>) -> Self {
        Self { request_id: Some(id.into()), ..self }
    }

    /// Sets the name of the caller.
    #[must_use]
    pub fn caller(self, caller: impl Into<String>) -> Self {
        Self { caller: Some(caller.into()), ..self }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the target of its runs, in a queue of mode http.
    #[must_use]
    pub fn http(self, http: HttpTarget) -> Self {
        Self { http: Some(http), ..self }
    }

    /// Pushes the message into that bundle of the queue instead of making a task.
    #[must_use]
    pub fn bundle_key(self, key: impl Into<String>) -> Self {
        Self { bundle_key: Some(key.into()), ..self }
    }

    /// How long a worker holds a run.
    #[must_use]
    pub fn hold(self, hold: Span) -> Self {
        Self { hold: Some(hold), ..self }
    }

    /// Takes before a run is failed; −1 for no limit.
    #[must_use]
    pub fn max_attempts(self, max_attempts: i32) -> Self {
        Self { max_attempts: Some(max_attempts), ..self }
    }

    /// The waits between the attempts of a run.
    #[must_use]
    pub fn retry(self, retry: RetryPolicy) -> Self {
        Self { retry: Some(retry), ..self }
    }

    /// The priority of its runs, from −100 to 100; higher goes first.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// One more label for its runs.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets the callback of each run.
    #[must_use]
    pub fn callback(self, callback: Callback) -> Self {
        Self { callback: Some(callback), ..self }
    }

    /// How many results are kept.
    #[must_use]
    pub fn keep_results(self, count: u32) -> Self {
        Self { keep_results: Some(count), ..self }
    }

    /// Sets the effect of a run that fails for good; the server stops the plan if this is left out.
    #[must_use]
    pub fn on_error(self, on_error: OnError) -> Self {
        Self { on_error: Some(on_error), ..self }
    }
}

/// Changes to a plan. Fields that are not named keep their value.
///
/// ```
/// use punctual_client::{PlanChanges, RawJson, Rule};
///
/// let changes = PlanChanges::new().rule(&Rule::cron("0 9 * * *")).without("description");
/// let later = PlanChanges::new().set("plan_time", RawJson::of("10:00"));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct PlanChanges(Changes);

impl PlanChanges {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Any field, by its name in the interface; `null` resets it.
    #[must_use]
    pub fn set(self, field: &str, value: RawJson) -> Self {
        Self(self.0.set(field, value))
    }

    /// A field back to its default.
    #[must_use]
    pub fn without(self, field: &str) -> Self {
        self.set(field, RawJson::null())
    }

    /// Replaces the whole rule.
    #[must_use]
    pub fn rule(self, rule: &Rule) -> Self {
        Self(self.0.and(&rule.0))
    }

    /// Another payload for its runs.
    #[must_use]
    pub fn message(self, message: RawJson) -> Self {
        self.set("message", message)
    }
}

/// A plan as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// Its id.
    pub plan_id: String,
    /// The state.
    pub state: PlanState,
    /// The queue its runs are pushed to.
    pub queue: String,
    /// The payload of its runs.
    #[serde(default)]
    pub message: RawJson,
    /// The kind of its rule.
    pub plan_type: PlanType,
    /// How many units lie between two runs, or on which day they are.
    pub plan_value: Option<i64>,
    /// When it is due, from when it repeats, or at which time of day; 0: not given.
    pub plan_time: Option<PlanTime>,
    /// How often it runs; −1 for ever.
    pub repeat: Option<i64>,
    /// Whether occurrences that are past are kept instead of skipped.
    pub no_keep: bool,
    /// The zone of its local times.
    pub timezone: String,
    /// Its cron pattern.
    pub cron: Option<String>,
    /// The caller's own id for it.
    pub request_id: Option<String>,
    /// The caller that made it.
    pub caller: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Where its runs are delivered; secret values read as `***`.
    pub http: Option<RawJson>,
    /// The bundle of the queue that it pushes into instead of making tasks.
    pub bundle_key: Option<String>,
    /// The hold of its runs.
    pub hold: Option<Span>,
    /// Their limit of attempts; −1 for none.
    pub max_attempts: Option<i32>,
    /// Their waits between attempts.
    pub retry: Option<RetryPolicy>,
    /// Their priority.
    pub priority: i32,
    /// Capabilities their worker must have.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Their labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The callback of each run.
    pub callback: Option<RawJson>,
    /// How many results are kept.
    pub keep_results: u32,
    /// The effect of a run that fails for good.
    #[serde(default)]
    pub on_error: OnError,
    /// When it is due next.
    pub next_at: Option<Timestamp>,
    /// Runs that were done, and those that failed while the plan went on.
    pub real_repet: u64,
    /// Runs that failed in a row.
    #[serde(default)]
    pub failures: u32,
    /// Occurrences that were skipped.
    pub skipped: u64,
    /// When it last pushed a run.
    pub exec_time: Option<Timestamp>,
    /// How its last run stands or ended.
    pub last_state: Option<LastState>,
    /// The task of its run that has not ended.
    pub task: Option<String>,
    /// The last error.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// The kept result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanResult {
    /// Its number; of a run besides the rule a text like `3.1`.
    pub run: RawJson,
    /// The time it was due.
    pub plan_time: Timestamp,
    /// The worker that executed it.
    pub worker: Option<String>,
    /// The result.
    #[serde(default)]
    pub result: RawJson,
    /// The error.
    pub error: Option<String>,
    /// When it ended.
    pub at: Timestamp,
}
