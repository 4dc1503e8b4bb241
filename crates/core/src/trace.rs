//! The trace a task belongs to, and the spans it leaves there: its push, and each of its attempts.
//!
//! ```text
//!   the pusher's span (traceparent) ── push ──┬── attempt 1
//!                                             └── attempt 2 ── push of the callback ── its attempt …
//! ```
//!
//! Only the pusher's span is kept with a task. The spans that follow are named by what they are about, so
//! that whoever knows the task knows them: a server that delivers it, another one that commits it, and
//! the task a callback makes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::QueueName;
use crate::task::{Attempt, Spec, Task};
use crate::time::Timestamp;

/// Where something stands in a trace, as the header `traceparent` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace. Never 0.
    trace: u128,
    /// The span; 0 where a trace begins.
    span: u64,
    is_sampled: bool,
}

impl TraceParent {
    /// A trace that begins here, from random bits.
    pub fn root(random: u128) -> Self {
        Self { trace: random.max(1), span: 0, is_sampled: true }
    }

    /// A trace that begins with a thing that has a name.
    pub(crate) fn root_of(queue: &str, id: &str, at: Timestamp) -> Self {
        let half = |salt: u64| hash(salt, [queue.as_bytes(), id.as_bytes(), &millis(at)]);
        Self::root(u128::from(half(1)) << 64 | u128::from(half(2)))
    }

    /// Reads the header, in any version that has the fields of the first.
    pub fn parse(text: &str) -> Option<Self> {
        Self::stored(text).filter(|parent| parent.span != 0)
    }

    /// Reads what [`fmt::Display`] wrote, also of where a trace begins.
    pub fn stored(text: &str) -> Option<Self> {
        let is_hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let field = |from: usize, to: usize| text.get(from..to).filter(|part| is_hex(part));
        let is_cut = |at: usize| text.as_bytes().get(at) == Some(&b'-');
        let version = field(0, 2).filter(|version| *version != "ff")?;
        let has_end = text.len() == 55 || (version != "00" && is_cut(55));
        if !(is_cut(2) && is_cut(35) && is_cut(52) && has_end) {
            return None;
        }
        let trace = u128::from_str_radix(field(3, 35)?, 16).ok().filter(|trace| *trace != 0)?;
        let span = u64::from_str_radix(field(36, 52)?, 16).ok()?;
        let flags = u8::from_str_radix(field(53, 55)?, 16).ok()?;
        Some(Self { trace, span, is_sampled: flags & 1 == 1 })
    }

    /// The trace.
    pub fn trace_id(self) -> [u8; 16] {
        self.trace.to_be_bytes()
    }

    /// The span; none where the trace begins.
    pub fn span_id(self) -> Option<[u8; 8]> {
        (self.span != 0).then(|| self.span.to_be_bytes())
    }

    /// Whether its spans are wanted.
    pub fn is_sampled(self) -> bool {
        self.is_sampled
    }

    fn child<'a>(self, about: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self { span: hash(self.span, about), ..self }
    }
}

/// As the header says it.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            (self.trace, self.span, self.is_sampled).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for TraceParent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
            Self::stored(&text).ok_or_else(|| serde::de::Error::custom("not a traceparent"))
        } else {
            let (trace, span, is_sampled) = Deserialize::deserialize(deserializer)?;
            Ok(Self { trace, span, is_sampled })
        }
    }
}

fn millis(time: Timestamp) -> [u8; 8] {
    time.as_millis().to_be_bytes()
}

/// A number that names something: FNV-1a, its bits mixed once more. Never 0.
fn hash<'a>(seed: u64, parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed;
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash ^ (hash >> 32)).max(1)
}

impl Spec {
    /// The span of its push, if it belongs to a trace.
    pub fn push_span(&self) -> Option<TraceParent> {
        let about = [self.queue.as_str().as_bytes(), self.id.as_str().as_bytes()];
        Some(self.trace?.child(about.into_iter().chain([&millis(self.created_at)[..]])))
    }

    /// The span of the attempt that began at a time.
    pub fn attempt_span(&self, began_at: Timestamp) -> Option<TraceParent> {
        Some(self.push_span()?.child([&millis(began_at)[..]]))
    }

    /// The trace as its pusher knows it: the span that was given, or that of the push.
    pub fn traceparent(&self) -> Option<TraceParent> {
        self.trace.filter(|trace| trace.span != 0).or_else(|| self.push_span())
    }
}

impl Task {
    /// The span of the attempt under way, if it belongs to a trace.
    pub fn current_span(&self) -> Option<TraceParent> {
        let since = self.status.hold.map(|hold| hold.since);
        self.spec.attempt_span(self.status.taken_at.or(since)?)
    }

    /// The span that what follows from its end comes after: its last attempt, or its push if there was none.
    pub(crate) fn last_span(&self) -> Option<TraceParent> {
        match self.status.history.last() {
            Some(attempt) => self.spec.attempt_span(attempt.at),
            None => self.spec.push_span(),
        }
    }
}

/// A span of a task that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSpan {
    /// Its place in the trace.
    pub at: TraceParent,
    /// The span it belongs to.
    pub parent: Option<[u8; 8]>,
    /// The task's queue.
    pub queue: QueueName,
    /// The task's id.
    pub id: Arc<str>,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The attempt; none: the span of the push.
    pub attempt: Option<Box<Attempt>>,
}

impl TaskSpan {
    /// The span of a task's push.
    pub fn push(spec: &Spec, at: Timestamp) -> Option<Self> {
        Some(Self {
            at: spec.push_span().filter(|span| span.is_sampled)?,
            parent: spec.trace?.span_id(),
            queue: spec.queue.clone(),
            id: spec.id.shared(),
            began_at: spec.created_at,
            ended_at: at.max(spec.created_at),
            attempt: None,
        })
    }

    /// The span of a task's last attempt.
    pub fn attempt(task: &Task) -> Option<Self> {
        let (spec, attempt) = (&task.spec, task.status.history.last()?);
        Some(Self {
            at: spec.attempt_span(attempt.at).filter(|span| span.is_sampled)?,
            parent: spec.push_span()?.span_id(),
            queue: spec.queue.clone(),
            id: spec.id.shared(),
            began_at: attempt.at,
            ended_at: attempt.ended_at,
            attempt: Some(Box::new(attempt.clone())),
        })
    }
}

/// Reads what stands at the end of a record, where older ones end before it.
pub(crate) fn trailing<'de, D>(deserializer: D) -> Result<Option<TraceParent>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::TaskId;
    use crate::task::NewTask;

    const HEADER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn spec(trace: Option<TraceParent>) -> Spec {
        let (queue, id) = (QueueName::parse("q").unwrap(), TaskId::parse("t").unwrap());
        let now = Timestamp::from_millis(1_000);
        Spec { trace, ..Spec::new(queue, NewTask::default(), id, now) }
    }

    #[test]
    fn a_header_reads_as_it_is_written() {
        let parent = TraceParent::parse(HEADER).unwrap();
        assert_eq!(parent.to_string(), HEADER);
        assert!(parent.is_sampled());
        assert!(!TraceParent::parse(&HEADER.replace("-01", "-00")).unwrap().is_sampled());
        let later = HEADER.replacen("00", "01", 1);
        assert_eq!(TraceParent::parse(&later), Some(parent));
        assert_eq!(TraceParent::parse(&format!("{later}-more")), Some(parent));
        for bad in [
            "",
            "00",
            &HEADER[..54],
            &format!("{HEADER}-more"),
            &format!("{HEADER}0"),
            &HEADER.replacen("00", "ff", 1),
            &HEADER.to_uppercase(),
            &HEADER.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &HEADER.replace("b7ad6b7169203331", &"0".repeat(16)),
            &HEADER.replace('-', "_"),
            &"é".repeat(30),
        ] {
            assert_eq!(TraceParent::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_follow_from_the_task_and_are_all_different() {
        let parent = TraceParent::parse(HEADER).unwrap();
        let spec = spec(Some(parent));
        let push = spec.push_span().unwrap();
        let [one, two] = [5, 6].map(|ms| spec.attempt_span(Timestamp::from_millis(ms)).unwrap());
        for span in [push, one, two] {
            assert_eq!(span.trace_id(), parent.trace_id());
        }
        assert!(push != one && one != two && push.span_id() != parent.span_id());
        assert_eq!(spec.traceparent(), Some(parent));
        assert_eq!(self::spec(None).push_span(), None);
        let root = self::spec(Some(TraceParent::root(7)));
        assert_eq!(root.traceparent(), root.push_span());
        assert_eq!(TaskSpan::push(&root, Timestamp::from_millis(2_000)).unwrap().parent, None);
        let unwanted = TraceParent::parse(&HEADER.replace("-01", "-00"));
        assert_eq!(TaskSpan::push(&self::spec(unwanted), Timestamp::from_millis(2_000)), None);
    }

    #[test]
    fn records_from_before_there_were_traces_are_read() {
        let old = spec(None);
        let mut packed = postcard::to_stdvec(&old).unwrap();
        assert_eq!(packed.pop(), Some(0), "a task without a trace has one byte more");
        assert_eq!(postcard::from_bytes::<Spec>(&packed).unwrap(), old);
        let new = spec(TraceParent::parse(HEADER));
        let packed = postcard::to_stdvec(&new).unwrap();
        assert_eq!(postcard::from_bytes::<Spec>(&packed).unwrap(), new);
    }
}
