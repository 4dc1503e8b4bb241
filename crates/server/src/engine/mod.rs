//! The verbs: read, let `core` decide, let the store commit; and the loops that timers wake.
//!
//! ```text
//!   api ──▶ push ──────────────────────────────▶ store.push
//!       ──▶ take ──▶ lines of waiters ──────────▶ store.take ──▶ held (records handed out here)
//!       ──▶ happen, bulk ──▶ apply ──▶ owned ──▶ store.commit     ▲ decided from, without a read
//!                                        └─────▶ store.step, for tasks of bundles, plans and flows
//!       ──▶ bundles, plans, flows ─────────────▶ store.step
//!       ──▶ query, queues ──────────────────────▶ store.list, store.stats …
//!       ──▶ workers, assign, votes ────────────▶ store.step, store.commit
//!   store.wakeups ──▶ loops ──▶ lines; deliveries; dispatch; owned (holds, alarms); store.sweep
//! ```
//!
//! Random values and the time enter here and nowhere below. No rule about tasks lives here: what a
//! verb makes of a task is `core`'s to say.

mod apply;
mod assign;
mod bulk;
mod bundles;
mod deliver;
mod failure;
mod failures;
mod flows;
mod free;
mod happen;
mod held;
mod holdings;
mod lines;
mod loops;
mod moved;
mod notices;
mod owned;
mod owners;
mod pace;
mod plans;
mod poll;
mod publish;
mod push;
mod query;
mod queues;
pub(crate) mod random;
mod records;
mod take;
mod to_its_end;
mod tokens;
mod totals;
mod transact;
mod votes;
mod wait;
mod workers;
mod write;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use punctual_core::http::{Outgoing, Reach, TargetUrl};
use punctual_core::notice::NoticeSettings;
use punctual_core::queue::Mode;
use punctual_core::why::{self, Surroundings, Why};
use punctual_core::{Event, Queue, QueueName, Span, State, Task, TaskId, Timestamp};
use punctual_store::{Backup, Store, StoreError, Stored};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) use self::apply::{Ask, Outcome};
pub(crate) use self::bulk::{Bulk, BulkAnswer};
pub(crate) use self::bundles::{BundleFilter, BundleReading, Pushing, Scheduled};
pub(crate) use self::deliver::ToDeliver;
pub(crate) use self::failure::Failure;
pub(crate) use self::failures::FailureGroup;
pub(crate) use self::flows::{FlowAnswer, FlowFilter, FlowReading, FlowStepReading};
pub(crate) use self::loops::{Backoff, complain};
pub(crate) use self::pace::Scale;
pub(crate) use self::plans::{PlanAnswer, PlanFilter, PlanOrder};
pub(crate) use self::poll::{Orders, PollAsk};
pub(crate) use self::push::{ItemId, Key, PushAnswer, PushItem};
pub(crate) use self::query::Filter;
pub(crate) use self::queues::{QueueFilter, QueueReading};
pub(crate) use self::take::{Handout, TakeAsk};
pub(crate) use self::totals::{Totals, depths};
pub(crate) use self::wait::{Waited, check_wait};
pub(crate) use self::workers::{WorkerFilter, WorkerReading};

use self::bundles::Bells;
use self::held::Held;
use self::lines::Lines;
use self::owners::OwnerLocks;
use self::pace::Paces;
use self::random::Ids;
use self::write::Writer;
use crate::ServerConfig;
use crate::access::Tokens;
use crate::delivery::Deliveries;
use crate::dispatch::{Dispatch, Roster};
use crate::events::Events;
use crate::metrics::{Meters, Requests, Sources, unix_seconds};
use crate::traces::Tracer;

/// Everything the verbs need.
pub(crate) struct Engine {
    store: Arc<dyn Store>,
    auto_create: bool,
    max_queues: usize,
    /// The hold of runs of plans that name none.
    plan_exec_timeout: Option<Span>,
    /// Where deliveries may go.
    reach: Reach,
    /// Names of headers that are secret besides those that always are.
    secret_headers: Vec<String>,
    /// What holds for notices that do not say otherwise.
    notices: NoticeSettings,
    ids: Ids,
    held: Held,
    lines: Lines,
    /// Those who wait for bundles.
    bells: Bells,
    owner_locks: OwnerLocks,
    /// Votes are changed by one request of this node at a time. Whoever has such a lock may ask for
    /// those of owners, not the other way round.
    vote_locks: OwnerLocks,
    /// Tasks are assigned by one request, or round, of this node at a time.
    assigning: tokio::sync::Mutex<()>,
    /// Rounds of holds and owners that found something to do.
    rounds: AtomicU64,
    /// When this node began to listen: whoever was not heard of before may have spoken to nobody.
    started_at: Timestamp,
    /// The same by the machine's clock, in Unix seconds.
    process_started_at: f64,
    paces: Paces,
    /// The workers this node knows of.
    pub(crate) roster: Arc<Roster>,
    /// The end of every write.
    writer: Arc<Writer>,
    /// What the server hands out itself.
    pub(crate) dispatch: Dispatch,
    /// What is counted.
    pub(crate) meters: Arc<Meters>,
    /// Where the spans of tasks go.
    tracer: Arc<Tracer>,
    /// What is told to whoever listens.
    pub(crate) events: Arc<Events>,
    /// What the server delivers itself.
    pub(crate) deliveries: Deliveries,
    /// Where tasks go whose taker was gone before its answer was written.
    returned: UnboundedSender<(QueueName, Vec<Ask>)>,
    /// Who may do what.
    pub(crate) tokens: Arc<Tokens>,
    /// Tokens are made and revoked by one request at a time.
    granting: tokio::sync::Mutex<()>,
    /// Queues are counted and made by one request at a time.
    creating: tokio::sync::Mutex<()>,
}

/// Tasks to give back, as releases in their queue.
pub(crate) type Returned = UnboundedReceiver<(QueueName, Vec<Ask>)>;

impl Engine {
    /// An engine over a store, and the tasks its takers did not live to receive.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        config: &ServerConfig,
        tracer: Arc<Tracer>,
    ) -> (Arc<Self>, Returned) {
        let (returned, receiver) = unbounded_channel();
        let meters = Arc::<Meters>::default();
        let roster = Arc::<Roster>::default();
        let events = Events::new(store.clone(), meters.clone(), tracer.clone());
        let (store_of, events_of, roster_of) = (store.clone(), events.clone(), roster.clone());
        let writer = Writer { store: store_of, events: events_of, roster: roster_of };
        let bytes_max = crate::api::bytes_in_flight_max();
        let tokens = Tokens::new(store.clone(), &config.tokens, bytes_max);
        let engine = Self {
            tokens: Arc::new(tokens),
            granting: tokio::sync::Mutex::new(()),
            rounds: AtomicU64::new(0),
            started_at: store.now(),
            writer: Arc::new(writer),
            events,
            roster,
            tracer,
            meters,
            process_started_at: unix_seconds(),
            store,
            auto_create: config.auto_create,
            max_queues: config.max_queues,
            plan_exec_timeout: config.plan_exec_timeout,
            reach: config.delivery.reach.clone(),
            secret_headers: config.secret_headers.clone(),
            notices: config.notices.clone(),
            ids: Ids::default(),
            held: Held::default(),
            lines: Lines::default(),
            bells: Bells::default(),
            owner_locks: OwnerLocks::default(),
            vote_locks: OwnerLocks::default(),
            assigning: tokio::sync::Mutex::new(()),
            dispatch: Dispatch::default(),
            paces: Paces::default(),
            deliveries: Deliveries::new(config.delivery.clone()),
            returned,
            creating: tokio::sync::Mutex::new(()),
        };
        (Arc::new(engine), receiver)
    }

    /// The time all decisions go by.
    pub(crate) fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// What the store is, and what its acknowledgement is worth; an error if it cannot write now.
    pub(crate) async fn health(&self) -> Result<(&'static str, String), StoreError> {
        self.store.health().await?;
        Ok((self.store.kind(), self.store.durability()))
    }

    /// All that is measured, as text.
    pub(crate) async fn metrics(&self, requests: &Requests, is_open_metrics: bool) -> String {
        let sources = Sources {
            store: &*self.store,
            meters: &self.meters,
            requests,
            tracer: &self.tracer,
            targets: self.deliveries.readings(self.now()),
            workers: self.roster.by_state(),
            listeners: self.events.listeners(),
            started_at: self.process_started_at,
        };
        crate::metrics::gather(sources, is_open_metrics).await
    }

    /// A copy of the store as it is now.
    pub(crate) async fn backup(&self) -> Result<Backup, Failure> {
        Ok(self.store.backup().await?)
    }

    /// Refuses an address that deliveries may not go to.
    pub(crate) fn check_reach(&self, field: &'static str, url: &TargetUrl) -> Result<(), Failure> {
        url.check_reach(field, &self.reach).map_err(|invalid| Failure::Refused(invalid.into()))
    }

    /// Reads a queue.
    pub(crate) async fn queue(&self, name: &QueueName) -> Result<Arc<Queue>, Failure> {
        self.store.queue(name).await?.ok_or_else(|| Failure::NoQueue(name.clone()))
    }

    /// Reads a task.
    pub(crate) async fn task(&self, queue: &QueueName, id: &TaskId) -> Result<Task, Failure> {
        Ok(self.stored(queue, id).await?.task)
    }

    /// Reads a task with its version.
    pub(crate) async fn stored(&self, queue: &QueueName, id: &TaskId) -> Result<Stored, Failure> {
        let read = self.store.read(queue, std::slice::from_ref(id)).await?.pop().flatten();
        read.ok_or_else(|| Failure::NoTask { queue: queue.clone(), id: id.clone() })
    }

    /// Removes a task, whatever its state. If it has an owner, that hears of it.
    pub(crate) async fn clean(&self, queue: &QueueName, id: &TaskId) -> Result<(), Failure> {
        let mode = self.queue(queue).await?.settings.mode;
        let task = self.task(queue, id).await?;
        // A vote goes with its task.
        let is_voted_on = mode == Mode::Vote && task.status.hold.is_some();
        if task.spec.owner.is_some() || is_voted_on {
            let ask = Ask { id: id.clone(), event: Event::Clean };
            return self.happen_to_one(queue, ask).await.map(|_| ());
        }
        let removed = self.store.remove(queue, std::slice::from_ref(id)).await?;
        if removed.first() == Some(&true) {
            self.events.waiters.removed(queue, [id]);
            return Ok(());
        }
        Err(Failure::NoTask { queue: queue.clone(), id: id.clone() })
    }

    /// Explains why a task is not running.
    pub(crate) async fn why(&self, queue: &QueueName, id: &TaskId) -> Result<Why, Failure> {
        let record = self.queue(queue).await?;
        let task = match self.task(queue, id).await {
            Err(missing @ Failure::NoTask { .. }) => {
                return self.why_no_task(queue, id).await?.ok_or(missing);
            }
            task => task?,
        };
        let stats = self.store.stats(std::slice::from_ref(queue)).await?.pop().flatten();
        let stats = stats.unwrap_or_default();
        let settings = &record.settings;
        let around = Surroundings {
            held: stats.held(),
            ready: stats.count(State::Ready),
            rate_at: stats.rate_at,
            takers: self.lines.waiting(queue) as u64,
            staff: self.staff(&record, &task).await?,
            awaited: self.awaited_on(&record, &task).await?,
            target: Outgoing::new(&task.spec, settings, settings.target().as_ref()).ok().map(
                |outgoing| self.deliveries.target(queue, &outgoing.url.authority(), self.now()),
            ),
        };
        Ok(why::why(&task, &record, around, self.now()))
    }
}
