//! One node's side of the store: its connection, what it knows, and whom it tells.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures_util::future::{join_all, try_join_all};
use punctual_core::{Queue, QueueName, Settings};
use redis::{RedisResult, cmd};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing::{error, info};

use super::address::Address;
use super::agenda::Agenda;
use super::answer::Answer;
use super::cache::Cache;
use super::clock::StoreClock;
use super::connection::Connection;
use super::events::Events;
use super::keys::{Keys, escaped};
use super::link::Link;
use super::places::Places;
use super::queues::queue_fields;
use super::replicas::Replicas;
use super::scripts::{ALIVE, INIT};
use crate::measure::RedisMeasures;
use crate::port::{StoreError, Wake};

/// All that a node has.
pub(super) struct Node {
    pub(super) address: Address,
    pub(super) keys: Keys,
    pub(super) link: Link,
    pub(super) clock: StoreClock,
    /// Whether the store is made, where it is new, with a clock that can be moved.
    pub(super) is_dev: bool,
    /// What other nodes and the shards know this node by.
    pub(super) session: String,
    pub(super) places: Vec<Places>,
    pub(super) cache: Cache,
    pub(super) agenda: Agenda,
    /// Told when something may have been said that was not heard.
    pub(super) missed: Notify,
    /// Replicas an answer waits for.
    pub(super) wait_replicas: u32,
    pub(super) replicas: Vec<Replicas>,
    /// What an acknowledgement is worth, as last read.
    pub(super) durability: RwLock<String>,
    pub(super) events: Events,
    pub(super) measures: Arc<RedisMeasures>,
    wakes: UnboundedSender<Wake>,
    stream: Mutex<Option<UnboundedReceiver<Wake>>>,
    is_heard: AtomicBool,
}

impl Node {
    /// A node that is not connected yet.
    pub(super) fn new(
        address: Address,
        keys: Keys,
        link: Link,
        clock: StoreClock,
        wait_replicas: u32,
        session: String,
    ) -> Self {
        let (wakes, stream) = unbounded_channel();
        let shards = keys.shards();
        Self {
            address,
            keys,
            link,
            clock,
            is_dev: false,
            session,
            places: (0..shards).map(|_| Places::new()).collect(),
            cache: Cache::default(),
            agenda: Agenda::new(shards),
            missed: Notify::new(),
            wait_replicas,
            replicas: (0..shards).map(|_| Replicas::default()).collect(),
            durability: RwLock::new(String::new()),
            events: Events::new(),
            measures: Arc::default(),
            wakes,
            stream: Mutex::new(Some(stream)),
            is_heard: AtomicBool::new(false),
        }
    }

    /// Tells the listener, if there is one.
    pub(super) fn wake(&self, wake: Wake) {
        if self.is_heard.load(Ordering::Relaxed) {
            // A listener that is gone needs nothing any more.
            let _ = self.wakes.send(wake);
        }
    }

    /// The one stream of wake-ups; a second call gets one that has ended.
    pub(super) fn wakeups(&self) -> UnboundedReceiver<Wake> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.is_heard.store(true, Ordering::Relaxed);
        stream.unwrap_or_else(|| unbounded_channel().1)
    }

    /// Makes use of what every answer says besides.
    pub(super) fn heed(&self, shard: usize, answer: &Answer) {
        if let Some(at_ms) = answer.soon_ms {
            self.agenda.no_later_than(shard, at_ms);
        }
        for opened in &answer.queues {
            self.cache.check(&opened.name, &opened.rev);
            if opened.ready > 0 {
                self.wake(Wake::Ready { queue: opened.name.clone(), count: opened.ready });
            }
        }
    }

    /// Does something in every shard at once.
    pub(super) async fn everywhere<T, F>(
        &self,
        act: impl Fn(usize) -> F,
    ) -> Result<Vec<T>, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        try_join_all((0..self.keys.shards()).map(act)).await
    }

    /// Gathers what is found in the shards that answer. Fails if nothing was found and one did not.
    pub(super) async fn wherever_possible<T, F>(
        &self,
        look: impl Fn(usize) -> F,
    ) -> Result<Vec<T>, StoreError>
    where
        F: Future<Output = Result<Vec<T>, StoreError>>,
    {
        let (mut found, mut trouble) = (Vec::new(), None);
        for answer in join_all((0..self.keys.shards()).map(look)).await {
            match answer {
                Ok(more) => found.extend(more),
                Err(error) => trouble = Some(error),
            }
        }
        match trouble {
            Some(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }

    /// Whether every shard can be written to.
    pub(super) async fn health(&self) -> Result<(), StoreError> {
        self.link.check().map_err(StoreError::unavailable)?;
        let write = async |shard| self.call(&ALIVE, shard).await.send().await.map(drop);
        self.everywhere(write).await.map(drop)
    }

    /// Sets up every shard as far as it is not. True if one was empty.
    pub(super) async fn set_up(&self, connection: &mut Connection) -> RedisResult<bool> {
        let mut is_new = false;
        for shard in 0..self.keys.shards() {
            is_new |= self.set_up_shard(connection, shard).await?;
        }
        if is_new {
            info!(shards = self.keys.shards(), "the store was set up in Redis");
        }
        Ok(is_new)
    }

    async fn set_up_shard(&self, connection: &mut Connection, shard: usize) -> RedisResult<bool> {
        let now = self.clock.now();
        let mut init = cmd("EVAL");
        init.arg(&INIT.source);
        self.name_keys(&mut init, shard);
        init.arg(shard).arg(self.keys.shards()).arg(i32::from(self.keys.is_cluster()));
        init.arg(now.as_millis()).arg(i32::from(self.is_dev)).arg(super::FORMAT);
        for name in QueueName::BUILT_IN {
            let name = QueueName::parse(name).expect("a built-in name is well formed");
            if self.keys.shard_of(&name) == shard {
                let settings = Settings::initial(&name);
                let queue = Queue { name, settings, paused: false, created_at: now };
                let fields = queue_fields(&queue);
                init.arg(queue.name.as_str()).arg(escaped(queue.name.as_str()));
                init.arg(fields.flat().len());
                for text in fields.flat() {
                    init.arg(&text[..]);
                }
            }
        }
        Ok(redis::from_redis_value::<i64>(connection.send(&init).await?)? == 1)
    }

    /// Sets up again what was there before and is gone: in one shard, or wherever that is so.
    pub(super) async fn set_up_again(
        &self,
        connection: &mut Connection,
        shard: Option<usize>,
    ) -> RedisResult<()> {
        let is_lost = match shard {
            Some(shard) => self.set_up_shard(connection, shard).await?,
            None => self.set_up(connection).await?,
        };
        if is_lost {
            error!(
                "Redis has lost what this store kept: it was flushed, or started again without its data. \
                 The store begins anew, empty; look for a backup of Redis before anything else is pushed"
            );
            self.cache.clear(self.link.current());
        }
        Ok(())
    }
}
