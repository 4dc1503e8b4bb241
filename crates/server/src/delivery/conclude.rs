//! Saying what became of tasks, until the store has heard it.

use std::sync::Arc;

use punctual_core::http::{Delivery, Exchange, Lapse, Method, Verdict};
use punctual_core::task::Settlement;
use punctual_core::{Event, Queue, QueueName, Span, Timestamp};
use punctual_store::{StoreError, Stored};
use tracing::warn;

use super::executor::MARGIN;
use crate::engine::{Ask, Backoff, Engine, Failure, complain};

/// How long a task waits that this machine could not even try to deliver.
const OURS_DELAY: Span = Span::from_secs(1);

/// A task that is held here.
pub(super) struct Held {
    pub(super) queue: Arc<Queue>,
    pub(super) stored: Stored,
}

impl Held {
    /// The size of its payload.
    pub(super) fn bytes(&self) -> usize {
        self.stored.task.spec.payload.len()
    }

    /// What is to be said about it, and how long that is worth trying: its hold may have been
    /// extended since.
    fn ask(self, settlement: Settlement, now: Timestamp) -> Option<((Timestamp, Ask), Stored)> {
        let hold = self.stored.task.status.hold?;
        let event = Event::Settle { token: hold.token, settlement };
        let ask = Ask { id: self.stored.task.spec.id.clone(), event };
        Some(((hold.until.max(now + MARGIN), ask), self.stored))
    }
}

/// Says what became of tasks of one queue, again and again while the store cannot hear it and they
/// are held.
pub(super) async fn conclude(engine: &Engine, batch: Vec<(Held, Settlement)>) {
    let Some(name) = batch.first().map(|(held, _)| held.queue.name.clone()) else { return };
    let now = engine.now();
    let ask = |(held, settlement): (Held, Settlement)| held.ask(settlement, now);
    let (mut open, mut known): (Vec<_>, Vec<Stored>) = batch.into_iter().filter_map(ask).unzip();
    let mut backoff = Backoff::default();
    while !open.is_empty() {
        let (until, asks): (Vec<Timestamp>, Vec<Ask>) = open.into_iter().unzip();
        let failures = say(engine, &name, &asks, std::mem::take(&mut known)).await;
        let Some(failure) = failures.iter().flatten().next().cloned() else { return };
        complain("what was delivered", &failure);
        backoff.wait().await;
        let now = engine.now();
        let said = until.into_iter().zip(asks).zip(failures);
        open = said.filter(|(_, failure)| failure.is_some()).map(|(said, _)| said).collect();
        let (held, lost): (Vec<_>, Vec<_>) = open.into_iter().partition(|(until, _)| now < *until);
        open = held;
        if let Some((_, first)) = lost.first() {
            warn!(queue = %name, id = %first.id, tasks = lost.len(), %failure,
                "what became of deliveries was not stored; they will be made again");
        }
    }
}

/// Says it once: per task, why it has to be said again, if it has to.
async fn say(
    engine: &Engine,
    name: &QueueName,
    asks: &[Ask],
    known: Vec<Stored>,
) -> Vec<Option<StoreError>> {
    match engine.happen_to_held(name, asks, known).await {
        Ok(answers) => answers.into_iter().map(|answer| answer.err().and_then(again)).collect(),
        Err(failure) => vec![again(failure); asks.len()],
    }
}

/// Why something has to be said again. Not if the task is gone, or somebody else's by now.
fn again(failure: Failure) -> Option<StoreError> {
    match failure {
        Failure::Store(failure) => Some(failure),
        Failure::Contended => Some(StoreError::unavailable(failure.to_string())),
        _ => None,
    }
}

/// What becomes of a task that can be delivered nowhere.
pub(super) fn no_url() -> Settlement {
    let reason = "neither the task nor its queue names one any more";
    Settlement::Delivered(Box::new(not_sent("no_url", reason)))
}

/// What becomes of a task whose bundle is gone.
pub(super) fn no_bundle() -> Settlement {
    let reason = "the bundle is gone, or another task delivers it";
    Settlement::Delivered(Box::new(not_sent("no_bundle", reason)))
}

/// An attempt that no other can mend, as there is nothing to send or nobody to send it to.
fn not_sent(error: &str, reason: &str) -> Delivery {
    let exchange = Exchange {
        method: Method::default(),
        url: String::new(),
        address: None,
        redirects: 0,
        sent_bytes: 0,
        dns: None,
        connect: None,
        tls: None,
        first_byte: None,
        total: Lapse::default(),
        answer_bytes: 0,
        answer: None,
    };
    Delivery { exchange, status: None, verdict: Verdict::hopeless(error, reason), sent: None }
}

/// What becomes of a task that was not tried after all.
pub(super) fn given_back() -> Settlement {
    Settlement::Release { delay: None, checkpoint: None }
}

/// What becomes of a task that this machine could not even try to deliver.
pub(super) fn put_off() -> Settlement {
    Settlement::Release { delay: Some(OURS_DELAY), checkpoint: None }
}
