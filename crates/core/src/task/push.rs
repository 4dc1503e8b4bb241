//! A push: what a client may say about a new task, and the record it becomes.

use serde::{Deserialize, Serialize};

use crate::callback::{Callback, within};
use crate::error::{Invalid, Refusal, check_size};
use crate::http::{HttpTarget, Reach};
use crate::json::RawJson;
use crate::limits::{
    CAPABILITIES_MAX, CAPABILITY_BYTES_MAX, PAYLOAD_BYTES_MAX, PUB_PAYLOAD_BYTES_MAX,
    TAG_BYTES_MAX, TAGS_MAX,
};
use crate::name::{QueueName, TaskId};
use crate::notice::Notice;
use crate::object::objects_only;
use crate::queue::{Mode, Settings};
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::Spec;
use crate::time::{Span, Timestamp};
use crate::trace::TraceParent;

/// A task as it is pushed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct NewTask {
    /// Its id; generated if left out.
    pub id: Option<TaskId>,
    /// Any JSON; `null` if left out.
    #[serde(deserialize_with = "given")]
    pub payload: Option<RawJson>,
    /// When it is due; now if left out.
    pub due: Option<Timestamp>,
    /// How long until it is due, instead of `due`.
    pub delay: Option<Span>,
    /// −100 to 100, higher first.
    pub priority: Option<i32>,
    /// Its own hold.
    pub hold: Option<Span>,
    /// Its own limit of attempts.
    pub max_attempts: Option<MaxAttempts>,
    /// The longest one attempt may hold it.
    pub max_runtime: Option<Span>,
    /// Its own waits between attempts.
    pub retry: Option<RetryPolicy>,
    /// How long the id stays reserved after the end.
    pub unique_for: Option<Span>,
    /// Failed if not first started by then.
    pub expires: Option<Timestamp>,
    /// Capabilities its worker must have.
    pub requires: Option<Vec<String>>,
    /// Where to deliver it.
    pub http: Option<Box<HttpTarget>>,
    /// What to make when it ends.
    pub callback: Option<Box<Callback>>,
    /// Labels.
    pub tags: Option<Vec<String>>,
    /// What makes it a notice; no pusher says so, a notice is a message of its own.
    #[serde(skip)]
    pub notice: Option<Box<Notice>>,
    /// The span it is pushed in; a header says so, no field.
    #[serde(skip)]
    pub trace: Option<TraceParent>,
}

objects_only! { NewTask with serialize }

/// Tells a payload of `null` from no payload at all.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    if deserializer.is_human_readable() {
        RawJson::deserialize(deserializer).map(Some)
    } else {
        Option::deserialize(deserializer)
    }
}

/// The settings of a queue that a push names, as far as that is known.
pub type SettingsOf<'a> = &'a dyn Fn(&QueueName) -> &'a Settings;

impl NewTask {
    /// Checks every field that can be judged without its queue.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(id) = &self.id {
            id.check_new()?;
        }
        if let Some(payload) = &self.payload {
            check_size("payload", payload.len(), PAYLOAD_BYTES_MAX)?;
        }
        if self.due.is_some() && self.delay.is_some() {
            return Err(Invalid::new("delay", "not together with due").into());
        }
        check_priority(self.priority.unwrap_or(0))?;
        for (field, span) in [("hold", self.hold), ("max_runtime", self.max_runtime)] {
            if span.is_some_and(Span::is_zero) {
                return Err(Invalid::new(field, "longer than 0").into());
            }
        }
        check_tags(self.tags.as_deref().unwrap_or_default())?;
        let requires = self.requires.as_deref().unwrap_or_default();
        check_capabilities("requires", requires)?;
        if let Some(http) = &self.http {
            http.check().map_err(|refusal| within("http", refusal))?;
        }
        match &self.callback {
            Some(callback) => callback.check().map_err(|refusal| within("callback", refusal)),
            None => Ok(()),
        }
    }

    /// Refuses addresses that deliveries may not go to, its callback's included.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        if let Some(http) = &self.http {
            http.check_reach(reach).map_err(|refusal| within("http", refusal))?;
        }
        match &self.callback {
            Some(callback) => {
                callback.check_reach(reach).map_err(|refusal| within("callback", refusal))
            }
            None => Ok(()),
        }
    }

    /// Checks what its queue asks for, and the queues its callbacks push into.
    pub fn check_queues(
        &self,
        queue: &QueueName,
        settings_of: SettingsOf<'_>,
    ) -> Result<(), Refusal> {
        self.check_queue(settings_of(queue))?;
        match &self.callback {
            Some(callback) => {
                callback.check_queues(settings_of).map_err(|refusal| within("callback", refusal))
            }
            None => Ok(()),
        }
    }

    fn check_queue(&self, queue: &Settings) -> Result<(), Refusal> {
        if self.http.is_some() && queue.mode != Mode::Http {
            return Err(Invalid::new("http", "only in a queue of mode http").into());
        }
        if self.requires.is_some() && queue.mode != Mode::Dispatch {
            return Err(Invalid::new("requires", "only in a queue of mode dispatch").into());
        }
        match queue.mode {
            Mode::Http if self.url().is_none() && queue.url.is_none() => {
                Err(Invalid::new("http.url", "name one, here or in the queue's settings").into())
            }
            Mode::Pub => check_pub(self.payload.as_ref()),
            Mode::Pull | Mode::Dispatch | Mode::Http | Mode::Vote => Ok(()),
        }
    }

    /// The queues its callbacks push into, and the callbacks of what they push.
    pub fn callback_queues(&self) -> impl Iterator<Item = &QueueName> {
        std::iter::successors(self.callback.as_ref(), |callback| {
            callback.task.as_ref()?.callback.as_ref()
        })
        .filter_map(|callback| callback.queue.as_ref())
    }

    /// The queues that its callbacks make tasks in, that of calls to a URL among them.
    pub fn makes_tasks_in(&self) -> Vec<QueueName> {
        let callbacks = std::iter::successors(self.callback.as_ref(), |callback| {
            callback.task.as_ref()?.callback.as_ref()
        });
        callbacks
            .map(|callback| callback.queue.clone().unwrap_or_else(QueueName::callbacks))
            .collect()
    }

    fn url(&self) -> Option<&String> {
        self.http.as_ref()?.url.as_ref()
    }
}

/// What is broadcast goes to everybody who listens, so it is smaller than what one worker is given.
pub(super) fn check_pub(payload: Option<&RawJson>) -> Result<(), Refusal> {
    check_size("payload", payload.map_or(0, RawJson::len), PUB_PAYLOAD_BYTES_MAX)
}

pub(super) fn check_priority(priority: i32) -> Result<i8, Invalid> {
    i8::try_from(priority)
        .ok()
        .filter(|priority| (-100..=100).contains(priority))
        .ok_or_else(|| Invalid::new("priority", "a whole number from -100 to 100"))
}

pub(super) fn check_tags(tags: &[String]) -> Result<(), Refusal> {
    check_labels("tags", tags, TAGS_MAX, TAG_BYTES_MAX)
}

/// Checks what a worker is capable of, or has to be. Lanes tell capabilities apart by line breaks.
pub(crate) fn check_capabilities(
    field: &'static str,
    capabilities: &[String],
) -> Result<(), Refusal> {
    if capabilities.iter().any(|it| it.contains('\n')) {
        return Err(Invalid::new(field, "no line breaks").into());
    }
    check_labels(field, capabilities, CAPABILITIES_MAX, CAPABILITY_BYTES_MAX)
}

fn check_labels(
    field: &'static str,
    labels: &[String],
    count_max: usize,
    bytes_max: usize,
) -> Result<(), Refusal> {
    if labels.len() > count_max {
        return Err(Invalid::new(field, format!("at most {count_max} of them")).into());
    }
    for label in labels {
        check_size(field, label.len(), bytes_max)?;
        if label.is_empty() {
            return Err(Invalid::new(field, "no empty text").into());
        }
    }
    Ok(())
}

impl Spec {
    /// The record of a push that was checked.
    pub fn new(queue: QueueName, new: NewTask, id: TaskId, now: Timestamp) -> Self {
        Self {
            queue,
            id: new.id.unwrap_or(id),
            payload: new.payload.unwrap_or_default(),
            created_at: now,
            due_at: new.due.unwrap_or_else(|| now + new.delay.unwrap_or_default()),
            priority: check_priority(new.priority.unwrap_or(0)).unwrap_or(0),
            hold: new.hold,
            max_attempts: new.max_attempts,
            max_runtime: new.max_runtime,
            retry: new.retry,
            unique_for: new.unique_for.filter(|span| !span.is_zero()),
            expires: new.expires,
            requires: new.requires.unwrap_or_default(),
            http: new.http,
            callback: new.callback,
            tags: new.tags.unwrap_or_default(),
            owner: None,
            notice: new.notice,
            trace: new.trace,
        }
    }
}
