//! The executor: one loop that takes tasks to deliver, as many as it can carry out, and says what
//! became of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::http::{NoUrl, Outgoing, TargetUrl};
use punctual_core::task::Settlement;
use punctual_core::{QueueName, Span};
use punctual_store::StoreError;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::error;

use super::attempt::{Attempt, Ended};
use super::conclude::{Held, conclude, given_back, no_bundle, no_url, put_off};
use super::hosts::Freed;
use super::load::Room;
use super::look::Look;
use super::send::{Attempted, Health};
use super::shares::Share;
use super::sign::MessageId;
use crate::alarms::Alarms;
use crate::calls::Due;
use crate::engine::{Backoff, Engine, complain};
use crate::metrics::Delivered;

/// How much longer than its attempt a task is held, for all that is not the attempt.
pub(super) const MARGIN: Span = Span::from_secs(5);
/// How long attempts may take to end once the server is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Carries out deliveries.
pub(crate) struct Executor {
    engine: Arc<Engine>,
    due: Due,
    alarms: Alarms<Alarm>,
    /// At most one look at a time, so that what it finds room for is still there afterwards.
    looks: JoinSet<Look>,
    attempts: JoinSet<Ended>,
    places: HashMap<Id, Place>,
    conclusions: JoinSet<()>,
    /// What the store is being told: of which queue, and of how much.
    concluding: HashMap<Id, (QueueName, Share)>,
    /// The queues it is being told of, with what became of more of their tasks meanwhile: that is said
    /// next, all at once.
    untold: HashMap<QueueName, Vec<(Held, Settlement)>>,
    /// For what bundles carry.
    room: Room,
    backoff: Backoff,
}

/// What to look at again at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Alarm {
    Queue(QueueName),
    Target(Arc<str>),
}

/// An attempt under way.
struct Place {
    target: Arc<str>,
    message: MessageId,
    held: Held,
}

impl Executor {
    /// An executor that is not running yet.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            due: Due::default(),
            alarms: Alarms::default(),
            looks: JoinSet::new(),
            attempts: JoinSet::new(),
            places: HashMap::new(),
            conclusions: JoinSet::new(),
            concluding: HashMap::new(),
            untold: HashMap::new(),
            room: Room::default(),
            backoff: Backoff::default(),
        }
    }

    /// Delivers until told to close; then ends what ends soon, and gives back the rest.
    pub(crate) async fn run(mut self, closing: impl Future<Output = ()>) {
        tokio::pin!(closing);
        tokio::select! {
            () = self.find_queues() => {}
            () = &mut closing => return,
        }
        let engine = self.engine.clone();
        loop {
            self.look();
            let (under_way, room) = {
                let shares = engine.deliveries.shares();
                (shares.under_way(), shares.room())
            };
            engine.deliveries.under_way.send_replace(under_way);
            let is_through = self.looks.is_empty() && (self.due.is_empty() || room == 0);
            engine.deliveries.calls.is_through(is_through);
            let alarm = self.alarms.next_at();
            tokio::select! {
                () = &mut closing => break,
                called = engine.deliveries.calls.next() => {
                    called.into_iter().for_each(|queue| self.due.push(queue));
                }
                Some(look) = self.looks.join_next() => self.looked(look),
                Some(ended) = self.attempts.join_next_with_id() => self.ended(ended),
                Some(concluded) = self.conclusions.join_next_with_id() => self.concluded(concluded),
                () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => {
                    self.ring();
                }
            }
        }
        self.drain().await;
    }

    /// What was ready before the start was announced to nobody, and what was under way is nobody's.
    async fn find_queues(&mut self) {
        loop {
            match self.find_queues_once().await {
                Ok(()) => return,
                Err(failure) => {
                    complain("queues to deliver from", &failure);
                    self.backoff.wait().await;
                }
            }
        }
    }

    async fn find_queues_once(&mut self) -> Result<(), StoreError> {
        for queue in self.engine.http_queues().await? {
            self.engine.free_deliveries(&queue).await?;
            self.due.push(queue);
        }
        Ok(())
    }

    /// Looks at the next queue, if none is being looked at and there is room for what it may have.
    fn look(&mut self) {
        let mut shares = self.engine.deliveries.shares();
        while self.looks.is_empty()
            && shares.room() > 0
            && let Some(name) = self.due.pop()
        {
            let asked = shares.room_of(&name);
            if asked == 0 {
                shares.hold_back(name);
                continue;
            }
            shares.let_go(&name);
            let engine = self.engine.clone();
            self.looks.spawn(async move { Look::at(&engine, name, asked).await });
        }
    }

    fn looked(&mut self, look: Result<Look, JoinError>) {
        let Look { name, asked, found } = match look {
            Ok(look) => look,
            Err(failure) => return error!(%failure, "a look at a queue failed"),
        };
        let (queue, to_deliver) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(failure) => {
                complain("tasks to deliver", &failure);
                let wait = self.backoff.next();
                self.alarms.set(Instant::now() + wait, Alarm::Queue(name));
                return;
            }
        };
        self.backoff.reset();
        let now = Instant::now();
        if to_deliver.tasks.len() == asked {
            self.due.push(name.clone());
        }
        if let Some(at) = to_deliver.again_at {
            let wait = at.since(self.engine.now()).as_millis().unsigned_abs();
            self.alarms.set(now + Duration::from_millis(wait), Alarm::Queue(name.clone()));
        }
        let url = queue.settings.target();
        for stored in to_deliver.tasks {
            self.attempt(Held { queue: queue.clone(), stored }, url.as_ref());
        }
        for class in to_deliver.left_out {
            let of_queue = || url.as_ref().map(|url| url.authority().into());
            let target = if class.is_empty() { of_queue() } else { Some(class) };
            if let Some(target) = target {
                let freed = self.engine.deliveries.hosts().wait(&target, &name, now);
                self.heed(&target, freed);
            }
        }
    }

    /// Begins an attempt to deliver a task of a queue with this URL.
    fn attempt(&mut self, held: Held, url: Option<&TargetUrl>) {
        let spec = &held.stored.task.spec;
        self.engine.deliveries.shares().begin(&held.queue.name, held.bytes());
        let mut outgoing = match Outgoing::new(spec, &held.queue.settings, url) {
            Ok(outgoing) => outgoing,
            Err(NoUrl) => return self.conclude(vec![(held, no_url())]),
        };
        outgoing.timeout = outgoing.timeout.min(self.engine.deliveries.max_timeout);
        let target: Arc<str> = outgoing.url.authority().into();
        let (client, door) = self.engine.deliveries.hosts().begin(&target);
        // What a bundle carries is known when it is sent; to the target its task is one message.
        let message = MessageId::of(spec, outgoing.content.as_ref());
        let attempt = Attempt {
            engine: self.engine.clone(),
            room: self.room.clone(),
            queue: held.queue.name.clone(),
            spec: spec.clone(),
            hold: held.stored.task.status.hold,
            trace: held.stored.task.current_span(),
            target: target.clone(),
            client,
            door,
            outgoing: Box::new(outgoing),
            message,
        };
        // On the heap, as it is large and what is spawned is moved more than once.
        let attempt = self.attempts.spawn(Box::pin(attempt.make()));
        self.places.insert(attempt.id(), Place { target, message, held });
    }

    /// Deals with attempts that have ended: this one, and all that have by now.
    fn ended(&mut self, first: Result<(Id, Ended), JoinError>) {
        let mut concluded: HashMap<QueueName, Vec<(Held, Settlement)>> = HashMap::new();
        let mut next = Some(first);
        while let Some(ended) = next {
            if let Some((held, settlement)) = self.end(ended) {
                let queue = held.queue.name.clone();
                concluded.entry(queue).or_default().push((held, settlement));
            }
            next = self.attempts.try_join_next_with_id();
        }
        concluded.into_values().for_each(|batch| self.conclude(batch));
    }

    /// Ends an attempt: what becomes of its task.
    fn end(&mut self, ended: Result<(Id, Ended), JoinError>) -> Option<(Held, Settlement)> {
        let (id, ended) = ended.unwrap_or_else(|failure| {
            if let Some(Place { held, .. }) = self.places.get(&failure.id()) {
                let (queue, id) = (&held.queue.name, &held.stored.task.spec.id);
                error!(%queue, %id, %failure, "an attempt failed; the hold of its task will end");
            }
            (failure.id(), Ended::Gone)
        });
        let Place { target, message, held } = self.places.remove(&id)?;
        self.note(&held, &ended);
        let (health, settlement) = match ended {
            Ended::Made(attempted) => {
                let Attempted { delivery, health } = *attempted;
                let settlement = match health {
                    Health::Ours => put_off(),
                    Health::Up { .. } | Health::Down => Settlement::Delivered(Box::new(delivery)),
                };
                (health, Some(settlement))
            }
            Ended::NotMade => (Health::Ours, Some(given_back())),
            Ended::NotNow => (Health::Ours, Some(put_off())),
            Ended::Pointless => (Health::Ours, Some(no_bundle())),
            Ended::Gone => (Health::Ours, None),
        };
        let mut hosts = self.engine.deliveries.hosts();
        let freed = hosts.end(&target, message, health, Instant::now());
        drop(hosts);
        self.heed(&target, freed);
        if settlement.is_none() {
            self.freed(&held.queue.name, Share { tasks: 1, bytes: held.bytes() });
        }
        Some((held, settlement?))
    }

    /// Counts how an attempt ended.
    fn note(&self, held: &Held, ended: &Ended) {
        let (outcome, took) = match ended {
            Ended::Made(made) => (made.outcome(), Some(made.delivery.exchange.total.into())),
            Ended::NotNow => (Delivered::Untried, None),
            Ended::NotMade | Ended::Pointless | Ended::Gone => return,
        };
        self.engine.meters.delivered(&held.queue.name, outcome, took);
    }

    /// Has the store hear what became of tasks of one queue.
    fn conclude(&mut self, batch: Vec<(Held, Settlement)>) {
        let Some(queue) = batch.first().map(|(held, _)| held.queue.name.clone()) else { return };
        match self.untold.entry(queue.clone()) {
            Entry::Occupied(untold) => untold.into_mut().extend(batch),
            Entry::Vacant(untold) => {
                untold.insert(Vec::new());
                self.tell(queue, batch);
            }
        }
    }

    /// Says what became of tasks of one queue, as long as it takes until that is stored.
    fn tell(&mut self, queue: QueueName, batch: Vec<(Held, Settlement)>) {
        let engine = self.engine.clone();
        let bytes = batch.iter().map(|(held, _)| held.bytes()).sum();
        let share = Share { tasks: batch.len(), bytes };
        let concluding = self.conclusions.spawn(async move { conclude(&engine, batch).await });
        self.concluding.insert(concluding.id(), (queue, share));
    }

    fn concluded(&mut self, concluded: Result<(Id, ()), JoinError>) {
        let id = concluded.map_or_else(
            |failure| {
                error!(%failure, "what became of deliveries was not stored; they will be made again");
                failure.id()
            },
            |(id, ())| id,
        );
        let Some((queue, share)) = self.concluding.remove(&id) else { return };
        self.freed(&queue, share);
        match self.untold.get_mut(&queue).map(std::mem::take) {
            Some(batch) if !batch.is_empty() => self.tell(queue, batch),
            _ => drop(self.untold.remove(&queue)),
        }
    }

    /// Gives back what deliveries had that are over; queues that were held back may go on.
    fn freed(&mut self, queue: &QueueName, share: Share) {
        let waiting = self.engine.deliveries.shares().end(queue, share);
        waiting.into_iter().for_each(|queue| self.due.push(queue));
    }

    /// Does what the end of an attempt, or a look at a target, makes possible.
    fn heed(&mut self, target: &Arc<str>, freed: Freed) {
        freed.queues.into_iter().for_each(|queue| self.due.push(queue));
        if let Some(at) = freed.again_at {
            self.alarms.set(at, Alarm::Target(target.clone()));
        }
    }

    fn ring(&mut self) {
        let now = Instant::now();
        while let Some(alarm) = self.alarms.pop(now) {
            match alarm {
                Alarm::Queue(queue) => self.due.push(queue),
                Alarm::Target(target) => {
                    let freed = self.engine.deliveries.hosts().look(&target, now);
                    self.heed(&target, freed);
                }
            }
        }
    }

    /// Ends: what was taken is begun no more, what is under way may end soon, the rest goes back.
    async fn drain(mut self) {
        while let Some(look) = self.looks.join_next().await {
            if let Ok(Look { found: Ok(Some((queue, to_deliver))), .. }) = look {
                let held = |stored| {
                    let held = Held { queue: queue.clone(), stored };
                    self.engine.deliveries.shares().begin(&queue.name, held.bytes());
                    (held, given_back())
                };
                let batch = to_deliver.tasks.into_iter().map(held).collect();
                self.conclude(batch);
            }
        }
        let ending = async {
            while let Some(ended) = self.attempts.join_next_with_id().await {
                self.ended(ended);
            }
        };
        // What is left is cut off.
        let _ = timeout(GRACE, ending).await;
        self.attempts.abort_all();
        for (_, Place { held, .. }) in std::mem::take(&mut self.places) {
            self.conclude(vec![(held, given_back())]);
        }
        while let Some(concluded) = self.conclusions.join_next_with_id().await {
            self.concluded(concluded);
        }
    }
}
