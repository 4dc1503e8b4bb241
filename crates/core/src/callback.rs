//! What happens when a task ends: a task of its own, made in the same atomic step.

use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Invalid, Refusal};
use crate::http::{HttpTarget, Reach};
use crate::json::RawJson;
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::name::{QueueName, TaskId};
use crate::object::{objects_only, optional};
use crate::task::{NewTask, SettingsOf, Spec, State, Task};
use crate::time::Timestamp;

/// The task to make when another ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Callback {
    /// The ends it answers to; all of them if left out.
    #[serde(default = "all_ends", deserialize_with = "ends")]
    pub on: Vec<End>,
    /// Call this URL.
    #[serde(default)]
    pub http: Option<HttpTarget>,
    /// Push into this queue instead.
    #[serde(default)]
    pub queue: Option<QueueName>,
    /// The task to push there.
    #[serde(default)]
    pub task: Option<Box<NewTask>>,
}

objects_only! { Callback with serialize }

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Committed.
    Done,
    /// Out of attempts, failed for good, or expired.
    Failed,
    /// Cancelled.
    Cancelled,
}

fn ends<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<End>, D::Error> {
    Ok(optional(deserializer)?.unwrap_or_else(all_ends))
}

fn all_ends() -> Vec<End> {
    vec![End::Done, End::Failed, End::Cancelled]
}

impl End {
    /// The end a finished state stands for.
    pub fn of(state: State) -> Option<Self> {
        match state {
            State::Done => Some(Self::Done),
            State::Failed => Some(Self::Failed),
            State::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }
}

impl Callback {
    /// Checks that it names one target, and that its task could be pushed.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.on.is_empty() {
            return Err(Invalid::new("on", "at least one of done, failed, cancelled").into());
        }
        if let Some(queue) = &self.queue {
            queue.check_new()?;
        }
        match (&self.http, &self.queue, &self.task) {
            (Some(http), None, None) if http.url.is_none() => {
                Err(Invalid::new("http.url", "name the URL to call").into())
            }
            (Some(http), None, None) => http.check().map_err(|refusal| within("http", refusal)),
            (None, Some(_), Some(task)) => task.check().map_err(|refusal| within("task", refusal)),
            (None, Some(_), None) => Ok(()),
            _ => Err(Invalid::new("http", "either this, or queue and task").into()),
        }
    }

    /// Checks what the queue asks for that it pushes into.
    pub(crate) fn check_queues(&self, settings_of: SettingsOf<'_>) -> Result<(), Refusal> {
        let Some(queue) = &self.queue else { return Ok(()) };
        match &self.task {
            Some(task) => {
                task.check_queues(queue, settings_of).map_err(|refusal| within("task", refusal))
            }
            None => NewTask::default().check_queues(queue, settings_of),
        }
    }

    /// Refuses addresses that deliveries may not go to.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        if let Some(http) = &self.http {
            http.check_reach(reach).map_err(|refusal| within("http", refusal))?;
        }
        match &self.task {
            Some(task) => task.check_reach(reach).map_err(|refusal| within("task", refusal)),
            None => Ok(()),
        }
    }

    /// The callback as it may be read: without secret values of headers, those of the task it pushes
    /// and of that one's callback included.
    #[must_use]
    pub fn hidden(mut self, also: &[String]) -> Self {
        self.http = self.http.map(|http| http.hidden(also));
        if let Some(task) = &mut self.task {
            task.http = task.http.take().map(|http| Box::new(http.hidden(also)));
            task.callback = task.callback.take().map(|callback| Box::new(callback.hidden(also)));
        }
        self
    }

    /// The callback with the values that a reader was not shown, as they were before. Refuses to keep
    /// one for another origin.
    pub(crate) fn unhidden(mut self, before: Option<&Self>) -> Result<Self, Invalid> {
        let Some(before) = before else { return Ok(self) };
        if let Some(http) = self.http.take() {
            let http = http.unhidden(before.http.as_ref(), false);
            self.http = Some(http.map_err(|invalid| invalid.within("http"))?);
        }
        let moved = self.queue != before.queue;
        if let (Some(task), Some(before)) = (&mut self.task, &before.task) {
            if let Some(http) = task.http.take() {
                let http = http.unhidden(before.http.as_deref(), moved);
                task.http = Some(Box::new(http.map_err(|invalid| invalid.within("task.http"))?));
            }
            if let Some(nested) = task.callback.take() {
                let nested = nested.unhidden(before.callback.as_deref());
                let nested = nested.map_err(|invalid| invalid.within("task.callback"))?;
                task.callback = Some(Box::new(nested));
            }
        }
        Ok(self)
    }

    /// The task this callback makes of an ended one, if it answers to that end.
    pub(crate) fn spawn(&self, ended: &Task, now: Timestamp, id: TaskId) -> Option<Spec> {
        if !self.on.contains(&End::of(ended.status.state)?) {
            return None;
        }
        // Whoever names no queue has a URL called, from the queue for just that.
        let queue = self.queue.clone().unwrap_or_else(QueueName::callbacks);
        let mut new = self.task.as_deref().cloned().unwrap_or_default();
        new.http = self.http.clone().map(Box::new).or(new.http);
        new.payload = Some(payload(ended, new.payload.as_ref().unwrap_or(&ended.spec.payload)));
        let id = new.id.take().unwrap_or(id);
        new.trace = ended.last_span();
        Some(Spec::new(queue, new, id, now))
    }
}

/// The payload of a callback's task. Where it would be too large, it loses the payload of the ended task,
/// then its result.
fn payload(ended: &Task, payload: &RawJson) -> RawJson {
    #[derive(Serialize)]
    struct Payload<'a> {
        task: Ended<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<&'a RawJson>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
    }
    #[derive(Serialize)]
    struct Ended<'a> {
        queue: &'a QueueName,
        id: &'a TaskId,
        state: State,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Option<RawJson>>,
        error: &'a Option<String>,
    }
    let mut made = Payload {
        task: Ended {
            queue: &ended.spec.queue,
            id: &ended.spec.id,
            state: ended.status.state,
            result: Some(&ended.status.result),
            error: &ended.status.error,
        },
        payload: Some(payload),
        truncated: false,
    };
    let whole = RawJson::of(&made);
    if whole.len() <= PAYLOAD_BYTES_MAX {
        return whole;
    }
    made.truncated = true;
    made.payload = None;
    let without_payload = RawJson::of(&made);
    if without_payload.len() <= PAYLOAD_BYTES_MAX {
        return without_payload;
    }
    made.task.result = None;
    RawJson::of(&made)
}

/// The same refusal about a field inside `outer`.
pub(crate) fn within(outer: &str, refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid(invalid) => Refusal::Invalid(invalid.within(outer)),
        other => other,
    }
}
