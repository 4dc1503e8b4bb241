//! Events of a store that only one server uses: what is announced is heard at once, and kept nowhere.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use punctual_core::Announcement;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::port::{Announced, EventId, Heard, Hearing};

/// Carries events from those who announce them to the one who hears them.
pub(crate) struct Loopback {
    state: Mutex<State>,
    heard: UnboundedSender<Heard>,
}

struct State {
    last: EventId,
    hearing: Option<Hearing>,
}

impl Loopback {
    /// A loopback whose ids no other ever gives, be it because of the time or of chance.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let last = EventId(millis, getrandom::u64()?, 0);
        let (heard, hearing) = unbounded_channel();
        // Nothing happened before the beginning.
        let _ = heard.send(Heard { after: last, events: Vec::new() });
        Ok(Self { state: Mutex::new(State { last, hearing: Some(hearing) }), heard })
    }

    /// The one stream of events; a second call gets one that has ended.
    pub(crate) fn hearing(&self) -> Hearing {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.hearing.take().unwrap_or_else(|| unbounded_channel().1)
    }

    /// Lets events be heard, and says which was the last.
    pub(crate) fn announce(&self, announcements: &[Announcement]) -> EventId {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let after = state.last;
        let mut id = after;
        let events = announcements.iter().map(|announcement| {
            id.2 += 1;
            announced(id, announcement)
        });
        let events: Vec<Announced> = events.collect();
        state.last = id;
        if !events.is_empty() {
            // Told in their order, and only to one who hears.
            let _ = self.heard.send(Heard { after, events });
        }
        id
    }
}

/// An announcement as it is heard.
pub(crate) fn announced(id: EventId, announcement: &Announcement) -> Announced {
    let data = serde_json::to_string(announcement).expect("an event has string keys only");
    Announced {
        id,
        kind: announcement.kind().into(),
        queues: announcement.queues().to_vec(),
        data: data.into(),
    }
}
