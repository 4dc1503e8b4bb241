//! The Redis store: for several nodes over one Redis, Sentinel group or Cluster.
//!
//! ```text
//!   Store ──▶ queues · push · take · commit · tasks · together · owners    build a call, read its answer
//!                         │
//!                       call ──▶ link ──▶ Redis ──▶ lua/*.lua     move records and indexes
//!                         │        ▲
//!                       heed     keeper: connects again, listens, looks at the clock
//! ```
//!
//! Every node does everything and none leads: each script takes effect whole, and claims what it hands
//! out. Redis's clock decides. `docs/redis.md` describes every key.
//!
//! - `address`, `connection`, `link`, `trouble`, `durability`: where Redis is, and whether it can be used.
//! - `keys`, `scripts`, `fields`, `record`, `owner_record`, `receipt`: how things are written there.
//! - `inbox`: the lists that messages come in by, to become notices. `events`: what all nodes hear of.
//! - `nodes`: the servers that share the store, as they know of each other. `audit`: what was done to them.
//! - `node`, `call`, `places`, `replicas`, `answer`: how a script is called, once, however often it is sent.
//! - `holdings`, `allowance`: what workers hold, and how much of it in which shard.
//! - `transfer`: everything from and to other stores.
//! - `cache`, `agenda`, `clock`, `keeper`, `check`: what a node knows, and does by itself.

mod address;
mod agenda;
mod allowance;
mod answer;
mod audit;
mod cache;
mod call;
mod check;
mod clock;
mod commit;
mod connection;
mod durability;
mod events;
mod fields;
mod holdings;
mod inbox;
mod keeper;
mod keys;
mod link;
mod names;
mod node;
mod nodes;
mod owner_record;
mod owners;
mod places;
mod push;
mod queues;
mod receipt;
mod record;
mod replicas;
mod scripts;
mod take;
mod tasks;
mod timed;
mod together;
mod transfer;
mod trouble;
mod written;

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use punctual_core::{
    Announcement, OwnerKey, PlanId, Queue, QueueName, RawJson, TaskId, Timestamp, WorkerName,
};
use redis::cmd;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tracing::{info, warn};

use self::address::{Address, Topology};
pub use self::check::Examination;
use self::clock::StoreClock;
use self::connection::Connection;
use self::durability::Durability;
use self::inbox::RedisInbox;
use self::keeper::Ready;
use self::keys::Keys;
use self::link::Link;
use self::node::Node;
pub use self::transfer::Presence;
use self::trouble::{Remedy, describe, remedy};
use crate::clock::{Clock, DevClock};
use crate::inbox::{Inbox, InboxLists};
use crate::measure::Measures;
use crate::port::{
    AuditEntry, AuditPage, EventId, Hearing, Listing, NodeCard, OwnerListing, OwnerPage, Page,
    Push, Pushed, PutQueue, PutRefusal, QueueStats, Receipt, Store, StoreError, Stored,
    StoredOwner, Take, Taken, Transaction, Wake, Written,
};

/// Shards of a new store in a Cluster.
const CLUSTER_SHARDS: usize = 64;
/// The format of the data that this version writes; `init.lua` notes it in the store, so that older versions
/// refuse it.
const FORMAT: u32 = 3;
/// The format of release 0.1. Its records are read, and rewritten when they change.
const FORMAT_OLDEST: u32 = 2;

/// How to log in, as far as the URL does not say it.
#[derive(Clone, Default, PartialEq)]
pub struct RedisLogin {
    /// The name.
    pub username: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// The password of the Sentinels.
    pub sentinel_password: Option<String>,
}

/// How to open a Redis store.
pub struct RedisOptions {
    /// Where Redis is: `redis://`, `rediss://` for TLS, `redis+sentinel://` or `redis+cluster://`.
    pub url: String,
    /// How to log in, as far as the URL does not say it.
    pub login: RedisLogin,
    /// What all keys begin with; may be empty.
    pub prefix: String,
    /// Replicas that must have a write before it is answered.
    pub wait_replicas: u32,
    /// Whether a Redis is used that may lose tasks: one that evicts, or that keeps no log.
    pub allow_unsafe: bool,
    /// Whether its clock can be moved, by [`DevClock`]. A store is made so, or not.
    pub is_dev: bool,
    /// Whether one is opened, too, that is not whole because moving everything there was interrupted.
    pub is_filled: bool,
    /// A clock that is moved from outside; none: Redis's own.
    pub clock: Option<Arc<dyn Clock>>,
}

impl RedisOptions {
    /// The usual options for a URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            login: RedisLogin::default(),
            prefix: "punctual".to_owned(),
            wait_replicas: 0,
            allow_unsafe: false,
            is_dev: false,
            is_filled: false,
            clock: None,
        }
    }

    /// Fails with what is wrong with them, as far as that can be told without asking Redis.
    pub fn check(&self) -> Result<(), StoreError> {
        self.address().map(drop)
    }

    /// Where Redis is, if all of them are right.
    fn address(&self) -> Result<Address, StoreError> {
        keys::check_prefix(&self.prefix)?;
        Address::parse(&self.url)?.with(&self.login)
    }
}

/// The Redis store.
pub struct RedisStore {
    node: Arc<Node>,
    /// What runs by itself ends with the store.
    _tasks: JoinSet<()>,
}

impl RedisStore {
    /// Connects to Redis, and sets the store up there if it is new.
    ///
    /// Fails if Redis would lose tasks and is not allowed to, refuses the login, or holds a store of a
    /// newer version; the message says which. That it cannot be reached, or not yet, is retryable.
    pub async fn open(options: RedisOptions) -> Result<Arc<Self>, StoreError> {
        let address = options.address()?;
        let (sender, messages) = unbounded_channel();
        let opened = Connection::open(&address, sender.clone()).await;
        let mut connection = opened.map_err(closed(&address))?;
        let durability = Durability::read(&mut connection).await.map_err(closed(&address))?;
        match durability.objection() {
            Some(objection) if !options.allow_unsafe => return Err(StoreError::Open(objection)),
            Some(objection) => warn!("{objection}"),
            None => {}
        }
        let keys = shards(&address, &options.prefix, &mut connection).await?;
        check_kind(&address, &keys, &mut connection, &options).await?;
        let session = random_name().map_err(|error| StoreError::Open(error.to_string()))?;
        let clock = StoreClock::new(options.clock);
        let (link, broken) = Link::new();
        let mut node = Node::new(address, keys, link, clock, options.wait_replicas, session);
        node.is_dev = options.is_dev;
        node.note_durability(&durability);
        node.set_up(&mut connection).await.map_err(closed(&node.address))?;
        let heard = connection.listen(&node.address, &node.keys, sender).await;
        let ears = heard.map_err(closed(&node.address))?;
        let node = Arc::new(node);
        let tasks = node.start(Ready { connection, messages, ears }, broken);
        if options.is_dev {
            // Whoever moved the clock last may not have got to all shards.
            node.shift(0).await?;
        }
        Ok(Arc::new(Self { node, _tasks: tasks }))
    }

    /// Compares all records with all indexes, and mends the indexes if asked to. One line for each thing
    /// that is wrong. The store can be used meanwhile.
    pub async fn check(&self, is_mending: bool) -> Result<Vec<String>, StoreError> {
        self.node.check(is_mending).await
    }
}

impl Node {
    fn note_durability(&self, durability: &Durability) {
        let text = durability.describe(self.wait_replicas);
        let mut known = self.durability.write().unwrap_or_else(PoisonError::into_inner);
        if *known != text {
            info!("{text}");
            *known = text;
        }
    }
}

/// What an error of Redis means for a store that is not open yet.
fn closed(address: &Address) -> impl Fn(redis::RedisError) -> StoreError {
    move |error| {
        let text = format!("{} at {address}", describe(&error));
        match remedy(&error) {
            Remedy::Refuse | Remedy::GiveUp => StoreError::Open(text),
            _ => StoreError::unavailable(text),
        }
    }
}

/// The shards of the store that is there, or of a new one.
async fn shards(
    address: &Address,
    prefix: &str,
    connection: &mut Connection,
) -> Result<Keys, StoreError> {
    let is_cluster = address.topology == Topology::Cluster;
    let keys = |shards| match is_cluster {
        true => Keys::cluster(prefix, shards),
        false => Keys::single(prefix),
    };
    // The first shard has the same name however many there are.
    let first = keys(CLUSTER_SHARDS).shard(0);
    let mut get = cmd("HMGET");
    get.arg(&first).arg("format").arg("shards");
    let read = connection.send(&get).await.and_then(|value| Ok(redis::from_redis_value(value)?));
    let (format, shards): (Option<u32>, Option<usize>) = read.map_err(closed(address))?;
    match format {
        Some(format) if !(FORMAT_OLDEST..=FORMAT).contains(&format) => {
            Err(StoreError::Open(format!(
                "the store in Redis is of format {format}, and this version knows formats \
             {FORMAT_OLDEST} to {FORMAT}; \
             use the version that wrote it, or another prefix"
            )))
        }
        _ => Ok(keys(shards.unwrap_or(CLUSTER_SHARDS))),
    }
}

/// Refuses a store that is not whole, or whose clock may have been moved, or must not be.
async fn check_kind(
    address: &Address,
    keys: &Keys,
    connection: &mut Connection,
    options: &RedisOptions,
) -> Result<(), StoreError> {
    let mut get = cmd("HMGET");
    get.arg(keys.shard(0)).arg("format").arg("ahead").arg(transfer::FILLING);
    let read = connection.send(&get).await.and_then(|value| Ok(redis::from_redis_value(value)?));
    let (format, ahead, filling): (Option<String>, Option<String>, Option<String>) =
        read.map_err(closed(address))?;
    if filling.is_some() && !options.is_filled {
        return Err(StoreError::Open(
            "store: the one in Redis is not whole, because punctual migrate has not ended there; run it \
             again with --force"
                .to_owned(),
        ));
    }
    match (options.is_dev, format.is_some(), ahead.is_some()) {
        (true, true, false) => Err(StoreError::Open(
            "dev: the store in Redis was not made by serve --dev, and moving its clock could harm it; \
             give another prefix"
                .to_owned(),
        )),
        (false, _, true) => Err(StoreError::Open(
            "store: the one in Redis was made by serve --dev, and its clock may have been moved; \
             serve it with --dev, or give another prefix"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// A name that no other node has.
fn random_name() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}

#[async_trait]
impl DevClock for RedisStore {
    async fn shift(&self, by_ms: i64) -> Result<(), StoreError> {
        self.node.shift(by_ms).await
    }
}

#[async_trait]
impl Store for RedisStore {
    fn now(&self) -> Timestamp {
        self.node.clock.now()
    }

    fn durability(&self) -> String {
        self.node.durability.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn measures(&self) -> Measures {
        let measures = Arc::clone(&self.node.measures);
        let is_connected = self.node.link.current().is_some();
        measures.connected.store(u64::from(is_connected), Ordering::Relaxed);
        Measures::Redis(measures)
    }

    fn kind(&self) -> &'static str {
        match self.node.address.topology {
            Topology::Single => "redis",
            Topology::Sentinel { .. } => "redis sentinel",
            Topology::Cluster => "redis cluster",
        }
    }

    fn wakeups(&self) -> UnboundedReceiver<Wake> {
        self.node.wakeups()
    }

    fn hearing(&self) -> Hearing {
        self.node.events.hearing()
    }

    async fn announce(&self, announcements: &[Announcement]) -> Result<EventId, StoreError> {
        self.node.announce(announcements).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.node.health().await
    }

    async fn failed(&self) -> String {
        // Whatever happens to Redis, it may come back.
        std::future::pending().await
    }

    async fn tick(&self) -> Result<(), StoreError> {
        let looked = self.node.everywhere(|shard| self.node.look(shard)).await.map(drop);
        // Whoever sleeps until a moment that was far away by the clock as it stood.
        self.node.agenda.clock_moved();
        looked
    }

    async fn put_queue(&self, put: PutQueue) -> Result<Result<(), PutRefusal>, StoreError> {
        self.node.put_queue(put).await
    }

    async fn queue(&self, name: &QueueName) -> Result<Option<Arc<Queue>>, StoreError> {
        Ok(self.node.queue(name).await?.map(|known| known.queue))
    }

    async fn queues(&self) -> Result<Vec<Arc<Queue>>, StoreError> {
        self.node.queues().await
    }

    async fn stats(&self, names: &[QueueName]) -> Result<Vec<Option<QueueStats>>, StoreError> {
        self.node.stats(names).await
    }

    async fn reset_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        self.node.drop_queue(name, "reset").await
    }

    async fn delete_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        self.node.drop_queue(name, "delete").await
    }

    async fn push(&self, push: Push) -> Result<Pushed, StoreError> {
        self.node.push(push).await
    }

    async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        self.node.take(take).await
    }

    async fn loads(&self, workers: &[WorkerName]) -> Result<Vec<usize>, StoreError> {
        self.node.loads(workers).await
    }

    async fn holdings(&self, worker: &WorkerName) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
        self.node.holdings(worker).await
    }

    async fn write(&self, transactions: Vec<Transaction>) -> Vec<Result<Written, StoreError>> {
        self.node.write(transactions).await
    }

    async fn remove(&self, queue: &QueueName, ids: &[TaskId]) -> Result<Vec<bool>, StoreError> {
        self.node.remove(queue, ids).await
    }

    async fn read(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<Option<Stored>>, StoreError> {
        self.node.read(queue, ids).await
    }

    async fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        self.node.list(listing).await
    }

    async fn settled(&self, receipts: &[Receipt]) -> Result<Vec<bool>, StoreError> {
        self.node.settled(receipts).await
    }

    async fn expired(&self, limit: usize) -> Result<Vec<Stored>, StoreError> {
        self.node.expired(limit).await
    }

    async fn owners(&self, keys: &[OwnerKey]) -> Result<Vec<Option<StoredOwner>>, StoreError> {
        self.node.owners(keys).await
    }

    async fn items(
        &self,
        key: &OwnerKey,
        from: usize,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError> {
        self.node.items(key, from, limit).await
    }

    async fn list_owners(&self, listing: OwnerListing) -> Result<OwnerPage, StoreError> {
        self.node.list_owners(listing).await
    }

    async fn timed_plans(
        &self,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        self.node.timed_plans(cursor.as_deref(), limit).await
    }

    async fn station(&self, plan: &PlanId) -> Result<Option<QueueName>, StoreError> {
        self.node.station(plan.as_str()).await
    }

    async fn first_due(&self, queue: &QueueName) -> Result<Option<StoredOwner>, StoreError> {
        self.node.first_due(queue).await
    }

    async fn alarms(&self, limit: usize) -> Result<Vec<StoredOwner>, StoreError> {
        self.node.alarms(limit).await
    }

    async fn sweep(&self, limit: usize) -> Result<bool, StoreError> {
        self.node.sweep(limit).await
    }

    async fn attend(&self, card: &NodeCard) -> Result<(), StoreError> {
        self.node.attend(card).await
    }

    async fn leave(&self, id: &str) -> Result<(), StoreError> {
        self.node.leave(id).await
    }

    async fn nodes(&self) -> Result<Vec<NodeCard>, StoreError> {
        self.node.nodes().await
    }

    async fn audit(&self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        self.node.audit(entries).await
    }

    async fn audited(&self, cursor: Option<String>, limit: usize) -> Result<AuditPage, StoreError> {
        self.node.audited(cursor.as_deref(), limit).await
    }

    async fn bytes(&self) -> Result<Option<u64>, StoreError> {
        self.node.bytes().await
    }

    fn shares_place(&self, a: &QueueName, b: &QueueName) -> bool {
        self.node.keys.shard_of(a) == self.node.keys.shard_of(b)
    }

    fn inbox(&self, lists: InboxLists) -> Result<Arc<dyn Inbox>, StoreError> {
        Ok(Arc::new(RedisInbox::new(self.node.clone(), lists)?))
    }
}
