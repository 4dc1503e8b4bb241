//! What the port says about events: announced by one server, heard by all that share the store.

use std::fmt;
use std::sync::Arc;

use punctual_core::QueueName;
use tokio::sync::mpsc::UnboundedReceiver;

/// Names one event, once and for all: no other ever has the same, whatever is restarted and however a
/// clock is set. Later ones of one run of a store are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventId(pub u64, pub u64, pub u64);

impl EventId {
    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |part: Option<&str>| {
            let part = part?;
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let mut parts = text.split('-');
        let id = Self(number(parts.next())?, number(parts.next())?, number(parts.next())?);
        parts.next().is_none().then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.0, self.1, self.2)
    }
}

/// An event as it is heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    /// Its id.
    pub id: EventId,
    /// Its name.
    pub kind: Arc<str>,
    /// The queues it names.
    pub queues: Vec<QueueName>,
    /// The whole of it, as JSON.
    pub data: Arc<str>,
}

/// Events that were announced together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The event before them, or what stands for it. If that is not the last one that was heard before,
    /// some are missing.
    pub after: EventId,
    /// The events, in their order.
    pub events: Vec<Announced>,
}

/// The stream of events. The first that comes, at once, is what can still be heard of the past: perhaps
/// nothing.
pub type Hearing = UnboundedReceiver<Heard>;
