//! Notices: a URL is called until it answers that it has understood, at given intervals.
//!
//! A notice is a task in the queue `notices`. Its URL, method, headers and what counts as success are
//! those of any task that is delivered; its data is the payload, its intervals and their number are
//! the task's retry and attempts. [`Notice`] is what is left: how the data is written, what follows a
//! success, and where a notice that others began goes on.
//!
//! - `message`: what a sender may say, and the task it becomes. `settings`: what holds if it does not.
//! - `encode`, `xml`: how the data is written into a request.
//!
//! What an attempt makes of a notice is decided in [`crate::task`], like everything about tasks.

mod encode;
mod message;
mod settings;
mod xml;

use serde::{Deserialize, Serialize};
use strum::{EnumCount, EnumString, IntoStaticStr, VariantArray};

pub(crate) use self::encode::Encoded;
pub use self::message::Message;
pub use self::settings::NoticeSettings;

use crate::error::Refusal;
use crate::http::{HttpTarget, Method, Success};
use crate::json::RawJson;
use crate::name::{QueueName, TaskId};
use crate::queue::Settings;
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::{NewTask, Spec, State, Task};
use crate::time::{Span, Timestamp};

/// Most notices of one message.
pub const NOTICES_MAX: u32 = 1_000;

/// How a notice calls its URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeMethod {
    /// POST, the data in the body.
    #[serde(alias = "POST")]
    Post,
    /// GET, the data in the query string.
    #[serde(alias = "GET")]
    Get,
}

impl NoticeMethod {
    /// The method of HTTP.
    pub fn http(self) -> Method {
        match self {
            Self::Post => Method::Post,
            Self::Get => Method::Get,
        }
    }
}

/// How the data of a notice is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    /// Names and values, as a form of a web page sends them.
    Form,
    /// JSON.
    Json,
    /// XML.
    Xml,
}

/// What makes a task a notice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// How the data is written.
    pub content_type: ContentType,
    /// Whether all notices are sent, also after one has succeeded.
    pub enforce_repeat: bool,
    /// The notice that follows a success.
    pub callback: Option<Box<NoticeCallback>>,
    /// Notices that were sent before it came here.
    pub sent_before: u32,
    /// The number of the first of those that succeeded; 0: none did.
    pub success_before: u32,
}

/// The notice that follows a success: GET, without data, with notices of its own by the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoticeCallback {
    /// The URL to call.
    pub url: String,
    /// What its answer must contain.
    pub success_flag: String,
    /// The waits between its notices; none: there is only one.
    pub retry: Option<RetryPolicy>,
    /// How many notices there are.
    pub max_notices: MaxAttempts,
    /// Whether all of them are sent.
    pub enforce_repeat: bool,
}

/// What has become of a notice so far, in this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Notified {
    /// Notices that were sent and came to an end, well or not.
    pub count: u32,
    /// The number of the first that succeeded, counted from the very first; 0: none did.
    pub success_id: u32,
}

/// Where a notice stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumCount,
    IntoStaticStr,
    VariantArray,
    EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NoticeState {
    /// Its next notice is not sent yet.
    Waiting,
    /// A notice is under way.
    Delivering,
    /// Over, and one has succeeded.
    Succeeded,
    /// Over, and none has succeeded.
    Exhausted,
    /// Ended on request.
    Cancelled,
}

impl NoticeState {
    /// Every state.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The state of a notice whose task is in a state.
    pub fn of(state: State) -> Self {
        match state {
            State::Waiting | State::Ready | State::Paused => Self::Waiting,
            State::Assigned | State::Running | State::Pausing | State::Cancelling => {
                Self::Delivering
            }
            State::Done => Self::Succeeded,
            State::Failed => Self::Exhausted,
            State::Cancelled => Self::Cancelled,
        }
    }

    /// The states of tasks that it stands for.
    pub fn states(self) -> impl Iterator<Item = State> {
        State::ALL.into_iter().filter(move |state| Self::of(*state) == self)
    }
}

impl Notice {
    /// Checks that data can be sent to a target.
    pub(crate) fn check(&self, target: &HttpTarget, data: &RawJson) -> Result<(), Refusal> {
        let method = target.method.unwrap_or_default();
        self.content_type.encode(method, data)?.check(target.url.as_deref())
    }

    /// The data as it was understood: names and values of a form, a JSON value, an XML text.
    pub fn data(&self, given: &RawJson) -> RawJson {
        self.content_type.understand(given)
    }
}

impl NoticeCallback {
    /// The task that sends it.
    pub(crate) fn spawn(&self, id: TaskId, now: Timestamp) -> Spec {
        let success = Success { status: None, contains: Some(self.success_flag.clone()) };
        let http = HttpTarget {
            method: Some(Method::Get),
            success: Some(success),
            ..HttpTarget::new(&self.url)
        };
        let notice = Notice {
            content_type: ContentType::Form,
            enforce_repeat: self.enforce_repeat,
            callback: None,
            sent_before: 0,
            success_before: 0,
        };
        let new = NewTask {
            http: Some(Box::new(http)),
            retry: self.retry.clone(),
            max_attempts: Some(self.max_notices),
            notice: Some(Box::new(notice)),
            ..NewTask::default()
        };
        Spec::new(QueueName::notices(), new, id, now)
    }
}

/// How a task reads as a notice.
impl Task {
    /// Notices that were sent and came to an end.
    pub fn notice_count(&self) -> u32 {
        let before = self.spec.notice.as_ref().map_or(0, |notice| notice.sent_before);
        before.saturating_add(self.status.notified.count)
    }

    /// The number of the first notice that succeeded; 0: none did.
    pub fn success_id(&self) -> u32 {
        match self.spec.notice.as_ref().map_or(0, |notice| notice.success_before) {
            0 => self.status.notified.success_id,
            before => before,
        }
    }

    /// How many notices there are in all; none: without end.
    pub fn max_notices(&self, queue: &Settings) -> Option<u32> {
        let before = self.spec.notice.as_ref().map_or(0, |notice| notice.sent_before);
        Some(before.saturating_add(self.max_attempts(queue).limit()?))
    }

    /// The waits that are left between notices.
    pub fn waits_left(&self, queue: &Settings) -> Vec<Span> {
        let limit = self.max_attempts(queue).limit().unwrap_or(0).min(NOTICES_MAX);
        let policy = self.spec.retry.as_ref().unwrap_or(&queue.retry);
        // In the middle of its spread, if it has one.
        let wait = |number| policy.wait(number, 0.5);
        // Nothing waited after the notice that ended it.
        let is_over = matches!(self.status.state, State::Done | State::Failed);
        let begun = self.status.notified.count.saturating_sub(u32::from(is_over));
        (begun.saturating_add(1)..limit).map(wait).collect()
    }
}
