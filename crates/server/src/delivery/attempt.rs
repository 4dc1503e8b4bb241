//! One attempt from its place in the line of its target to its end.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::http::Outgoing;
use punctual_core::task::{Extension, Hold};
use punctual_core::{Event, OwnerKey, QueueName, Span, Spec, TraceParent};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::warn;

use super::executor::MARGIN;
use super::load::{Load, NoLoad, Room, bundle_of};
use super::send::{Attempted, Client, send};
use super::sign::MessageId;
use crate::engine::{Ask, Engine};

/// How much of the hold must be left, besides the attempt's own time, when it begins.
const SLACK: Span = Span::from_secs(2);

/// An attempt to be made.
pub(super) struct Attempt {
    pub(super) engine: Arc<Engine>,
    pub(super) room: Room,
    pub(super) queue: QueueName,
    pub(super) spec: Arc<Spec>,
    pub(super) hold: Option<Hold>,
    pub(super) target: Arc<str>,
    pub(super) client: Client,
    /// How many of the target's attempts are under way at once.
    pub(super) door: Arc<Semaphore>,
    /// On the heap, as it is large and handed on more than once.
    pub(super) outgoing: Box<Outgoing>,
    pub(super) message: MessageId,
    /// The span it is, if its task belongs to a trace.
    pub(super) trace: Option<TraceParent>,
}

/// How an attempt ended.
pub(super) enum Ended {
    /// It was made.
    Made(Box<Attempted>),
    /// It was not, and the task goes back.
    NotMade,
    /// This machine cannot make it now.
    NotNow,
    /// There is nothing to deliver any more.
    Pointless,
    /// The task is not held here any more.
    Gone,
}

impl Attempt {
    /// Makes it, when its turn has come. What is large in it lies on the heap by itself: most attempts
    /// need only the sending, and all of them are moved more than once.
    pub(super) async fn make(mut self) -> Ended {
        let Ok(_place) = self.door.clone().acquire_owned().await else { return Ended::NotMade };
        let hosts = &self.engine.deliveries;
        if hosts.hosts().probed_at(&self.target).is_some_and(|at| at > Instant::now()) {
            return Ended::NotMade;
        }
        let Some(hold) = self.hold else { return Ended::Gone };
        let load = match self.load(hold).await {
            Ok(load) => load,
            Err(NoLoad::NotNow) => return Ended::NotNow,
            Err(NoLoad::NoBundle) => return Ended::Pointless,
        };
        if !self.is_held(hold).await {
            return Ended::Gone;
        }
        let (mut outgoing, mut message) = (self.outgoing, self.message);
        if let Some(load) = &load {
            *outgoing = outgoing.carrying(load.json.clone());
            message = MessageId::of(&self.spec, outgoing.content.as_ref());
        }
        let now = self.engine.now();
        let sending = Box::pin(send(&self.client, outgoing, message, self.trace, now));
        let mut attempted = sending.await;
        attempted.delivery.sent = load.map(|load| load.sent);
        Ended::Made(Box::new(attempted))
    }

    /// What it carries, if it delivers a bundle.
    async fn load(&mut self, hold: Hold) -> Result<Option<Load>, NoLoad> {
        let Some(key) = bundle_of(&self.spec) else { return Ok(None) };
        let key = OwnerKey::bundle(&self.queue, key);
        let left = (hold.until - SLACK).since(self.engine.now()).as_millis();
        let within = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let loading = self.room.clone().load(&self.engine, &key, &self.spec.id, within);
        Ok(Some(Box::pin(loading).await?))
    }

    /// Whether the task is held as long as the attempt may take.
    async fn is_held(&self, hold: Hold) -> bool {
        let timeout = self.outgoing.timeout;
        if hold.until >= self.engine.now() + timeout + SLACK {
            return true;
        }
        let extension = Extension { hold: Some(timeout + MARGIN), ..Extension::default() };
        let event = Event::Extend { token: hold.token, extension };
        let ask = Ask { id: self.spec.id.clone(), event };
        match Box::pin(self.engine.happen_to_one(&self.queue, ask)).await {
            Ok(_) => true,
            Err(failure) => {
                warn!(queue = %self.queue, id = %self.spec.id, %failure, "a task was not held long enough");
                false
            }
        }
    }
}
