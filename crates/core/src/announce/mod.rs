//! What happens, as it is told to whoever listens: one JSON object per event, with its `type`, when
//! it was, the queue and the ids it is about, and what helps besides.
//!
//! Events inform and promise nothing: what is decided never depends on one. Each kind of record has a
//! file that says what a change of it announces:
//!
//! - [`task`]: every task, notices included, and what is broadcast. [`refused`]: tasks made otherwise than
//!   they were to be. [`queue`]: settings. [`token`]: access tokens.
//! - [`bundle`], [`plan`], [`flow`], [`worker`]: owners, on their own and when a task of theirs ends.

pub mod bundle;
pub mod flow;
pub mod plan;
pub mod queue;
pub mod refused;
pub mod task;
pub mod token;
pub mod worker;

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::json::RawJson;
use crate::name::QueueName;
use crate::owner::{Owner, OwnerDecision};
use crate::task::{Decision, Event};
use crate::time::{Span, Timestamp};
use crate::trace::TaskSpan;

/// The names of events, but for those of broadcasts: `pub.` and the name of the queue.
pub const NAMES: [&str; 43] = [
    "task.pushed",
    "task.taken",
    "task.confirmed",
    "task.committed",
    "task.failed",
    "task.retrying",
    "task.cancelled",
    "task.paused",
    "task.resumed",
    "task.expired",
    "task.progress",
    "task.refused",
    "bundle.pushed",
    "bundle.due",
    "bundle.delivered",
    "bundle.failed",
    "bundle.deleted",
    "notice.sent",
    "notice.succeeded",
    "notice.exhausted",
    "notice.cancelled",
    "plan.created",
    "plan.fired",
    "plan.succeeded",
    "plan.error",
    "plan.skipped",
    "plan.finished",
    "plan.paused",
    "plan.resumed",
    "plan.no_worker",
    "plan.deleted",
    "worker.joined",
    "worker.left",
    "worker.lost",
    "worker.draining",
    "flow.started",
    "flow.done",
    "flow.failed",
    "flow.cancelled",
    "queue.changed",
    "token.created",
    "token.revoked",
    GAP,
];

/// The name of the event that says that others are missing.
pub const GAP: &str = "stream.gap";
/// The name of the event that is told of a task at most once a second.
pub const PROGRESS: &str = "task.progress";
/// What the names of broadcasts begin with.
pub const PUB: &str = "pub.";

/// Something that happened, to be told to whoever listens.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    kind: Cow<'static, str>,
    at: Timestamp,
    queues: Queues,
    ids: Vec<Arc<str>>,
    /// How long it took, of each that was measured; told to nobody but who counts.
    took: Vec<Span>,
    /// The spans of traces that it ends; likewise.
    spans: Vec<TaskSpan>,
    details: Vec<(&'static str, Detail)>,
}

/// The queues an event names.
#[derive(Debug, Clone, PartialEq)]
enum Queues {
    /// None.
    None,
    /// The one it happened in.
    One(QueueName),
    /// All those it concerns.
    Several(Vec<QueueName>),
}

/// What an event says besides.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// Nothing, said outright.
    Null,
    /// A text.
    Text(Arc<str>),
    /// A number.
    Number(f64),
    /// How many, or which one.
    Count(u64),
    /// When.
    Time(Timestamp),
    /// Any JSON.
    Json(RawJson),
}

impl Announcement {
    /// An event of a kind, at a time.
    pub fn new(kind: impl Into<Cow<'static, str>>, at: Timestamp) -> Self {
        let (ids, took, details) = (Vec::new(), Vec::new(), Vec::new());
        let spans = Vec::new();
        Self { kind: kind.into(), at, queues: Queues::None, ids, took, spans, details }
    }

    /// Events are missing: more happened than could be told.
    pub fn gap(at: Timestamp) -> Self {
        Self::new(GAP, at)
    }

    /// It happened in a queue.
    #[must_use]
    pub fn in_queue(mut self, queue: &QueueName) -> Self {
        self.queues = Queues::One(queue.clone());
        self
    }

    /// It concerns some queues.
    #[must_use]
    pub fn in_queues(mut self, queues: &[QueueName]) -> Self {
        self.queues = Queues::Several(queues.to_vec());
        self
    }

    /// It is about a thing of this id.
    #[must_use]
    pub fn about(mut self, id: Arc<str>) -> Self {
        self.ids.push(id);
        self
    }

    /// It took one of them so long: until it was handed out, or until its holder was through.
    #[must_use]
    pub fn taking(mut self, span: Option<Span>) -> Self {
        self.took.extend(span);
        self
    }

    /// It ends a span of a trace.
    #[must_use]
    pub fn ending(mut self, span: Option<TaskSpan>) -> Self {
        self.spans.extend(span);
        self
    }

    /// It says this besides.
    #[must_use]
    pub fn with(mut self, name: &'static str, detail: impl Into<Detail>) -> Self {
        self.details.push((name, detail.into()));
        self
    }

    /// It says this besides, if there is anything to say.
    #[must_use]
    pub fn with_some(self, name: &'static str, detail: Option<impl Into<Detail>>) -> Self {
        match detail {
            Some(detail) => self.with(name, detail),
            None => self,
        }
    }

    /// Its name.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The queues it names.
    pub fn queues(&self) -> &[QueueName] {
        match &self.queues {
            Queues::None => &[],
            Queues::One(queue) => std::slice::from_ref(queue),
            Queues::Several(queues) => queues,
        }
    }

    /// A text that it says besides.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.details.iter().find_map(|(known, detail)| match detail {
            Detail::Text(text) if *known == name => Some(&**text),
            _ => None,
        })
    }

    /// The ids of what it is about.
    pub fn ids(&self) -> &[Arc<str>] {
        &self.ids
    }

    /// How long it took, of each that was measured.
    pub fn took(&self) -> &[Span] {
        &self.took
    }

    /// The spans of traces that it ends.
    pub fn spans(&self) -> &[TaskSpan] {
        &self.spans
    }

    /// The same about those of its ids that are wanted; none if none is.
    pub fn only(mut self, mut wanted: impl FnMut(&Arc<str>) -> bool) -> Option<Self> {
        self.ids.retain(&mut wanted);
        (!self.ids.is_empty()).then_some(self)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let ids: usize = self.ids.iter().map(|id| id.len() + 3).sum();
        let detail = |detail: &Detail| match detail {
            Detail::Text(text) => text.len(),
            Detail::Json(json) => json.len(),
            _ => 24,
        };
        let details: usize =
            self.details.iter().map(|(name, it)| name.len() + 4 + detail(it)).sum();
        let queues: usize = self.queues().iter().map(|queue| queue.as_str().len()).sum();
        64 + self.kind.len() + queues + ids + details
    }

    /// Takes in the ids of another that says the same; else gives it back.
    fn merge(&mut self, other: Self) -> Option<Self> {
        let is_same = self.kind == other.kind
            && self.queues == other.queues
            && self.at == other.at
            && self.details == other.details
            && !other.ids.is_empty();
        if !is_same {
            return Some(other);
        }
        self.ids.extend(other.ids);
        self.took.extend(other.took);
        self.spans.extend(other.spans);
        None
    }
}

impl Serialize for Announcement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &*self.kind)?;
        map.serialize_entry("at", &self.at)?;
        match &self.queues {
            Queues::None => {}
            Queues::One(queue) => map.serialize_entry("queue", queue)?,
            Queues::Several(queues) => map.serialize_entry("queues", queues)?,
        }
        match &*self.ids {
            [] => {}
            [id] => map.serialize_entry("id", id)?,
            ids => map.serialize_entry("ids", ids)?,
        }
        for (name, detail) in &self.details {
            map.serialize_entry(name, detail)?;
        }
        map.end()
    }
}

/// Announcements that belong together: those that say the same of several things become one.
#[derive(Debug, Default)]
pub struct Announcements(Vec<Announcement>);

impl Announcements {
    /// How far back one is looked for that says the same.
    const LOOK_BACK: usize = 8;

    /// Adds one.
    pub fn add(&mut self, mut new: Announcement) {
        for known in self.0.iter_mut().rev().take(Self::LOOK_BACK) {
            match known.merge(new) {
                None => return,
                Some(other) => new = other,
            }
        }
        self.0.push(new);
    }

    /// Adds some.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Announcement>) {
        others.into_iter().for_each(|other| self.add(other));
    }

    /// All of them, in their order.
    pub fn into_vec(self) -> Vec<Announcement> {
        self.0
    }
}

impl From<Announcement> for Announcements {
    fn from(one: Announcement) -> Self {
        Self(vec![one])
    }
}

impl FromIterator<Announcement> for Announcements {
    fn from_iter<I: IntoIterator<Item = Announcement>>(all: I) -> Self {
        let mut announcements = Self::default();
        announcements.extend(all);
        announcements
    }
}

/// What an event that happened to a task announces of the task's owner.
pub fn owner_after(
    before: &Owner,
    event: &Event,
    decision: &Decision,
    after: &OwnerDecision,
    at: Timestamp,
    news: &mut Announcements,
) {
    match (before, &after.owner) {
        (Owner::Bundle(before), _) => bundle::after(before, event, decision, after, at, news),
        (Owner::Plan(before), Some(Owner::Plan(after))) => {
            plan::after(before, after, &decision.task, at, news);
        }
        _ => {}
    }
    news.extend(after.spawn.iter().map(|spec| task::pushed(spec, at)));
}

impl From<&str> for Detail {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Arc<str>> for Detail {
    fn from(text: Arc<str>) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Detail {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Detail {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Detail {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<Timestamp> for Detail {
    fn from(time: Timestamp) -> Self {
        Self::Time(time)
    }
}

impl From<RawJson> for Detail {
    fn from(json: RawJson) -> Self {
        Self::Json(json)
    }
}

impl<T: Into<Self>> From<Option<T>> for Detail {
    fn from(detail: Option<T>) -> Self {
        detail.map_or(Self::Null, Into::into)
    }
}
