//! The executor: one loop that takes tasks to deliver, as many as it can carry out, and says what
//! became of them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use punctual_core::http::Delivery;
use punctual_core::http::{Exchange, Lapse, Method, NoUrl, Outgoing, TargetUrl, Verdict};
use punctual_core::queue::Mode;
use punctual_core::task::{Extension, Settlement};
use punctual_core::{Event, Queue, QueueName, Span, Timestamp};
use punctual_store::{Classes, StoreError, Stored};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{error, warn};

use super::hosts::Freed;
use super::send::{Attempted, Health, send};
use super::sign::MessageId;
use super::valve::ROOM_FIRST;
use crate::engine::{Ask, Backoff, Engine, Failure, ToDeliver, complain, random};

/// Deliveries under way at once.
const DELIVERIES_MAX: usize = 1_000;
/// Bytes of payloads under way at once, give or take one take.
const BYTES_MAX: usize = 64 << 20;
/// How much longer than its attempt a task is held, for all that is not the attempt.
const MARGIN: Span = Span::from_secs(5);
/// How long attempts may take to end once the server is asked to.
const GRACE: Duration = Duration::from_secs(5);
/// How long a task waits that this machine could not even try to deliver.
const OURS_DELAY: Span = Span::from_secs(1);

/// Carries out deliveries.
pub(crate) struct Executor {
    engine: Arc<Engine>,
    due: Due,
    alarms: BTreeSet<(Instant, Alarm)>,
    /// At most one look at a time, so that what it finds room for is still there afterwards.
    looks: JoinSet<Look>,
    attempts: JoinSet<Option<Attempted>>,
    places: HashMap<Id, Place>,
    conclusions: JoinSet<usize>,
    bytes: usize,
    backoff: Backoff,
}

/// Queues that may have something to deliver, in the order in which that was heard.
#[derive(Default)]
struct Due {
    line: VecDeque<QueueName>,
    known: HashSet<QueueName>,
}

impl Due {
    fn push(&mut self, queue: QueueName) {
        if self.known.insert(queue.clone()) {
            self.line.push_back(queue);
        }
    }

    fn pop(&mut self) -> Option<QueueName> {
        let queue = self.line.pop_front()?;
        self.known.remove(&queue);
        Some(queue)
    }
}

/// What to look at again at a time.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Alarm {
    Queue(QueueName),
    Target(Arc<str>),
}

/// A look at a queue, and what it found.
struct Look {
    name: QueueName,
    asked: usize,
    found: Result<Option<(Arc<Queue>, ToDeliver)>, StoreError>,
}

/// An attempt under way.
struct Place {
    target: Arc<str>,
    held: Held,
}

/// A task that is held here.
struct Held {
    queue: Arc<Queue>,
    stored: Stored,
}

impl Held {
    fn bytes(&self) -> usize {
        self.stored.task.spec.payload.len()
    }

    /// Something its holder says about it.
    fn ask(&self, event: impl FnOnce(punctual_core::Token) -> Event) -> Option<Ask> {
        let hold = self.stored.task.status.hold?;
        Some(Ask { id: self.stored.task.spec.id.clone(), event: event(hold.token) })
    }

    fn settle(&self, settlement: Settlement) -> Option<Ask> {
        self.ask(|token| Event::Settle { token, settlement })
    }
}

impl Executor {
    /// An executor that is not running yet.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            due: Due::default(),
            alarms: BTreeSet::new(),
            looks: JoinSet::new(),
            attempts: JoinSet::new(),
            places: HashMap::new(),
            conclusions: JoinSet::new(),
            bytes: 0,
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
            let alarm = self.alarms.first().map(|(at, _)| *at);
            tokio::select! {
                () = &mut closing => break,
                called = engine.deliveries.calls() => {
                    called.into_iter().for_each(|queue| self.due.push(queue));
                }
                Some(look) = self.looks.join_next() => self.looked(look),
                Some(ended) = self.attempts.join_next_with_id() => self.ended(ended),
                Some(concluded) = self.conclusions.join_next() => {
                    self.bytes -= concluded.unwrap_or(0);
                }
                () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => {
                    self.ring();
                }
            }
        }
        self.drain().await;
    }

    /// What was ready before the start was announced to nobody.
    async fn find_queues(&mut self) {
        loop {
            match self.engine.http_queues().await {
                Ok(queues) => {
                    queues.into_iter().for_each(|queue| self.due.push(queue));
                    return;
                }
                Err(failure) => {
                    complain("queues to deliver from", &failure);
                    self.backoff.wait().await;
                }
            }
        }
    }

    /// How many more attempts can be made beside those under way.
    fn room(&self) -> usize {
        let under_way = self.attempts.len() + self.conclusions.len();
        if self.bytes >= BYTES_MAX { 0 } else { DELIVERIES_MAX.saturating_sub(under_way) }
    }

    /// Looks at the next queue, if none is being looked at and there is room for what it may have.
    fn look(&mut self) {
        let asked = self.room();
        if asked == 0 || !self.looks.is_empty() {
            return;
        }
        if let Some(name) = self.due.pop() {
            let engine = self.engine.clone();
            self.looks.spawn(async move {
                let found = look_at(&engine, &name, asked).await;
                Look { name, asked, found }
            });
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
                self.alarms.insert((Instant::now() + wait, Alarm::Queue(name)));
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
            self.alarms.insert((now + Duration::from_millis(wait), Alarm::Queue(name.clone())));
        }
        for stored in to_deliver.tasks {
            self.attempt(Held { queue: queue.clone(), stored });
        }
        for class in to_deliver.left_out {
            let target = if class.is_empty() { target_of(&queue) } else { Some(class) };
            if let Some(target) = target {
                let freed = self.engine.deliveries.hosts().wait(&target, &name, now);
                self.heed(&target, freed);
            }
        }
    }

    /// Begins an attempt.
    fn attempt(&mut self, held: Held) {
        let spec = &held.stored.task.spec;
        self.bytes += held.bytes();
        let outgoing = match Outgoing::new(spec, &held.queue.settings) {
            Ok(outgoing) => outgoing,
            Err(NoUrl) => return self.conclude(held, no_url()),
        };
        let target: Arc<str> = outgoing.url.authority().into();
        let client = self.engine.deliveries.hosts().begin(&target);
        let id = MessageId::of(spec, outgoing.content.as_ref());
        let needed = outgoing.timeout + MARGIN;
        let is_short = held.stored.task.status.hold.is_none_or(|hold| hold.length < needed);
        let extension = Extension { hold: Some(needed), ..Extension::default() };
        let extend = held.ask(|token| Event::Extend { token, extension }).filter(|_| is_short);
        let (engine, queue) = (self.engine.clone(), held.queue.clone());
        let attempt = self.attempts.spawn(async move {
            if let Some(extend) = extend
                && let Err(failure) = engine.happen_to_one(&queue.name, extend).await
            {
                warn!(queue = %queue.name, %failure, "a task was not held long enough to be delivered");
                return None;
            }
            Some(send(&client, outgoing, id, engine.now()).await)
        });
        self.places.insert(attempt.id(), Place { target, held });
    }

    fn ended(&mut self, ended: Result<(Id, Option<Attempted>), JoinError>) {
        let (id, attempted) = match ended {
            Ok(ended) => ended,
            Err(failure) => {
                error!(%failure, "an attempt failed; the hold of its task will end");
                (failure.id(), None)
            }
        };
        let Some(Place { target, held }) = self.places.remove(&id) else { return };
        let health = attempted.as_ref().map_or(Health::Ours, |attempted| attempted.health);
        let freed = self.engine.deliveries.hosts().end(&target, health, Instant::now());
        self.heed(&target, freed);
        match attempted {
            Some(Attempted { health: Health::Ours, .. }) => {
                self.conclude(
                    held,
                    Settlement::Release { delay: Some(OURS_DELAY), checkpoint: None },
                );
            }
            Some(Attempted { delivery, .. }) => {
                self.conclude(held, Settlement::Delivered(Box::new(delivery)));
            }
            None => self.bytes -= held.bytes(),
        }
    }

    /// Says what became of a task, as long as it takes until that is stored.
    fn conclude(&mut self, held: Held, settlement: Settlement) {
        let engine = self.engine.clone();
        self.conclusions.spawn(async move {
            let bytes = held.bytes();
            if let Some(ask) = held.settle(settlement) {
                conclude(&engine, &held, ask).await;
            }
            bytes
        });
    }

    /// Does what the end of an attempt, or a look at a target, makes possible.
    fn heed(&mut self, target: &Arc<str>, freed: Freed) {
        freed.queues.into_iter().for_each(|queue| self.due.push(queue));
        if let Some(at) = freed.again_at {
            self.alarms.insert((at, Alarm::Target(target.clone())));
        }
    }

    fn ring(&mut self) {
        let now = Instant::now();
        while let Some((at, _)) = self.alarms.first()
            && *at <= now
        {
            match self.alarms.pop_first() {
                Some((_, Alarm::Queue(queue))) => self.due.push(queue),
                Some((_, Alarm::Target(target))) => {
                    let freed = self.engine.deliveries.hosts().look(&target, now);
                    self.heed(&target, freed);
                }
                None => {}
            }
        }
    }

    /// Ends: what was taken is begun no more, what is under way may end soon, the rest goes back.
    async fn drain(mut self) {
        while let Some(look) = self.looks.join_next().await {
            if let Ok(Look { found: Ok(Some((queue, to_deliver))), .. }) = look {
                for stored in to_deliver.tasks {
                    self.conclude(Held { queue: queue.clone(), stored }, given_back());
                }
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
            self.conclude(held, given_back());
        }
        while self.conclusions.join_next().await.is_some() {}
    }
}

/// Takes what a queue has to deliver, no more of it than its targets have room for.
async fn look_at(
    engine: &Engine,
    name: &QueueName,
    asked: usize,
) -> Result<Option<(Arc<Queue>, ToDeliver)>, StoreError> {
    let queue = match engine.queue(name).await {
        Ok(queue) if queue.settings.mode == Mode::Http => queue,
        Ok(_) => return Ok(None),
        Err(Failure::Store(failure)) => return Err(failure),
        Err(_) => return Ok(None),
    };
    let classes = {
        let (hosts, now) = (engine.deliveries.hosts(), Instant::now());
        let mut named = hosts.rooms(now);
        if let Some(target) = target_of(&queue) {
            share(&mut named, target.clone(), hosts.room(&target, now));
        }
        Classes { named, others: ROOM_FIRST }
    };
    let hold = queue.settings.timeout + MARGIN;
    Ok(engine.take_to_deliver(name, asked, hold, classes).await?.map(|taken| (queue, taken)))
}

/// Shares the room of the queue's own target between the tasks that name no URL and those that name
/// it themselves: they wait in two lanes.
fn share(named: &mut Vec<(Arc<str>, usize)>, target: Arc<str>, room: usize) {
    let half = (room + usize::from(random::roll() < 0.5)) / 2;
    named.retain(|(name, _)| *name != target);
    named.push((target, half));
    named.push(("".into(), room - half));
}

/// The target of a queue's tasks that name none.
fn target_of(queue: &Queue) -> Option<Arc<str>> {
    let url = TargetUrl::parse("url", queue.settings.url.as_ref()?).ok()?;
    Some(url.authority().into())
}

/// What becomes of a task that can be delivered nowhere.
fn no_url() -> Settlement {
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
    let verdict = Verdict::hopeless("no_url", "neither the task nor its queue names one any more");
    Settlement::Delivered(Box::new(Delivery { exchange, status: None, verdict }))
}

fn given_back() -> Settlement {
    Settlement::Release { delay: None, checkpoint: None }
}

/// Says what became of a task, again and again while the store cannot hear it and the hold lasts.
async fn conclude(engine: &Engine, held: &Held, ask: Ask) {
    let until = held.stored.task.status.hold.map_or(Timestamp::default(), |hold| hold.until);
    let mut backoff = Backoff::default();
    loop {
        match engine.happen_to_one(&held.queue.name, ask.clone()).await {
            Err(Failure::Store(failure)) if engine.now() < until => {
                complain("what was delivered", &failure);
                backoff.wait().await;
            }
            Err(Failure::Contended) if engine.now() < until => {
                sleep(Duration::from_millis(10)).await
            }
            Err(Failure::Store(failure)) => {
                return warn!(queue = %held.queue.name, id = %ask.id, %failure,
                    "what became of a delivery was not stored; it will be made again");
            }
            // Done, or the task is gone or somebody else's by now.
            _ => return,
        }
    }
}
