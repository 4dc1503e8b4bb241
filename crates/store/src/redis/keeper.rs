//! What a node does by itself: it keeps the connection, listens to the others, and looks at the clock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use punctual_core::{OwnerKind, QueueName, Span, State, WorkerName};
use redis::cluster_async::ClusterConnection;
use redis::{PushInfo, PushKind, RedisResult, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use super::address::Topology;
use super::answer::Part;
use super::connection::{self, Connection, RESPONSE_TIMEOUT};
use super::durability::Durability;
use super::holdings::read_member;
use super::link::Broken;
use super::node::Node;
use super::scripts::LOOK;
use super::trouble::describe;
use crate::port::{StoreError, Wake};

/// The first wait before connecting again, and the longest.
const RECONNECT_FIRST: Duration = Duration::from_millis(50);
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// How long to wait before listening again to what can not be heard.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// How long to wait after a look that failed.
const LOOK_AGAIN: Span = Span::from_secs(1);

/// A connection that is ready for use, and what comes over it unasked.
pub(super) struct Ready {
    pub(super) connection: Connection,
    pub(super) messages: UnboundedReceiver<PushInfo>,
    /// What messages come over, where that is another connection.
    pub(super) ears: Option<ClusterConnection>,
}

impl Node {
    /// Starts what runs as long as the store. `first` is its first connection.
    pub(super) fn start(
        self: &Arc<Self>,
        first: Ready,
        broken: UnboundedReceiver<Broken>,
    ) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let listener = self.use_connection(first, 1);
        tasks.spawn(self.clone().keep_connected(broken, listener));
        tasks.spawn(self.clone().keep_time());
        tasks.spawn(self.clone().catch_up());
        tasks.spawn(self.clone().hear_events());
        if let Topology::Sentinel { primary } = &self.address.topology {
            tasks.spawn(self.clone().hear_sentinels(primary.clone()));
        }
        tasks
    }

    /// Gives all requests a connection, and listens to it.
    fn use_connection(self: &Arc<Self>, ready: Ready, generation: u64) -> JoinSet<()> {
        self.cache.clear(Some(generation));
        self.link.set_up(ready.connection.clone(), generation);
        let mut listener = JoinSet::new();
        listener.spawn(self.clone().listen(ready, generation));
        listener
    }

    /// Connects anew whenever the connection is broken, until that works.
    async fn keep_connected(
        self: Arc<Self>,
        mut broken: UnboundedReceiver<Broken>,
        mut listener: JoinSet<()>,
    ) {
        while let Some(Broken { generation, reason }) = broken.recv().await {
            // The connection to a Cluster is used until there is a better one.
            let is_lost = !self.keys.is_cluster();
            if is_lost {
                warn!(reason, "the connection to Redis is lost");
                self.cache.clear(None);
                listener.abort_all();
            } else {
                warn!(reason, "part of Redis does not answer");
            }
            let mut pause = RECONNECT_FIRST;
            let ready = loop {
                match self.connect().await {
                    Ok(ready) => break ready,
                    Err(trouble) if is_lost => self.link.set_down(describe(&trouble)),
                    Err(_) => {}
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RECONNECT_MAX);
            };
            listener = self.use_connection(ready, generation + 1);
            self.measures.reconnects.fetch_add(1, Ordering::Relaxed);
            info!("connected to Redis again");
            self.missed.notify_one();
        }
    }

    /// Connects, checks that all is as it must be, and listens.
    async fn connect(&self) -> RedisResult<Ready> {
        let (sender, messages) = unbounded_channel();
        let mut connection = Connection::open(&self.address, sender.clone()).await?;
        self.set_up_again(&mut connection, None).await?;
        let ears = connection.listen(&self.address, &self.keys, sender).await?;
        if let Ok(durability) = Durability::read(&mut connection).await {
            if let Some(objection) = durability.objection() {
                warn!("{objection}");
            }
            self.note_durability(&durability);
        }
        Ok(Ready { connection, messages, ears })
    }

    /// Looks at every shard and every queue whenever something may have been said that was not heard.
    async fn catch_up(self: Arc<Self>) {
        loop {
            self.missed.notified().await;
            for shard in 0..self.keys.shards() {
                self.agenda.no_later_than(shard, 0);
            }
            // If Redis is gone again, the next connection does this.
            let _ = self.wake_all().await;
        }
    }

    async fn wake_all(&self) -> Result<(), StoreError> {
        let names: Vec<_> =
            self.queues().await?.into_iter().map(|queue| queue.name.clone()).collect();
        for (queue, stats) in names.iter().zip(self.stats(&names).await?) {
            let stats = stats.unwrap_or_default();
            if stats.count(State::Ready) > 0 {
                let count = usize::try_from(stats.count(State::Ready)).unwrap_or(usize::MAX);
                self.wake(Wake::Ready { queue: queue.clone(), count });
            }
            if stats.bundles > 0 {
                self.wake(Wake::Bundles { queue: queue.clone() });
            }
        }
        for key in self.owner_names(OwnerKind::Worker).await? {
            self.heed_worker(&format!("worker {}", key.name));
        }
        Ok(())
    }

    /// Hears what comes over a connection.
    async fn listen(self: Arc<Self>, mut ready: Ready, generation: u64) {
        while let Some(PushInfo { kind, data }) = ready.messages.recv().await {
            match kind {
                PushKind::Message | PushKind::SMessage => self.hear(data),
                PushKind::Disconnection if !self.keys.is_cluster() => {
                    self.link.give_up(generation, "Redis: it closed the connection");
                }
                // Of a Cluster only one server is gone, or a shard has moved to another.
                PushKind::Disconnection | PushKind::SUnsubscribe | PushKind::Unsubscribe => {
                    self.listen_again(&mut ready, generation).await;
                }
                _ => {}
            }
        }
    }

    /// Listens to every shard anew, as soon as that works. Until then nothing is known for sure.
    async fn listen_again(&self, ready: &mut Ready, generation: u64) {
        self.cache.clear(None);
        ready.ears = None;
        loop {
            tokio::time::sleep(LISTEN_AGAIN).await;
            let (sender, messages) = unbounded_channel();
            match ready.connection.listen(&self.address, &self.keys, sender).await {
                Ok(ears) => {
                    (ready.ears, ready.messages) = (ears, messages);
                    break;
                }
                Err(trouble) => warn!(reason = describe(&trouble), "not all of Redis can be heard"),
            }
        }
        self.cache.clear(Some(generation));
        self.missed.notify_one();
    }

    /// Hears one message: from a node, lines of what happened; from anybody else, that all should look.
    fn hear(&self, data: Vec<Value>) {
        let mut parts = data.into_iter().map(Part::new);
        let (Some(channel), Some(text)) = (parts.next(), parts.next()) else { return };
        let shard = channel.bytes().ok().and_then(|channel| self.keys.shard_of_channel(&channel));
        let (Some(shard), Ok(text)) = (shard, text.bytes()) else { return };
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut lines = text.lines();
        match lines.next().and_then(|line| line.strip_prefix("punctual ")) {
            // What else this node has done, it knows; what it did to workers, the script alone knows.
            Some(session) if session == self.session => {
                lines.for_each(|line| self.heed_worker(line));
            }
            Some(_) => lines.for_each(|line| self.heed_line(shard, line)),
            None => self.missed.notify_one(),
        }
    }

    fn heed_line(&self, shard: usize, line: &str) {
        let name = |text: &str| QueueName::parse(text).ok();
        match line.split_once(' ') {
            Some(("ready", rest)) => {
                let Some((count, queue)) = rest.split_once(' ') else { return };
                if let (Ok(count), Some(queue)) = (count.parse(), name(queue)) {
                    self.wake(Wake::Ready { queue, count });
                }
            }
            Some(("queue", queue)) => {
                if let Some(queue) = name(queue) {
                    self.cache.drop(&queue);
                }
            }
            Some(("bundles", queue)) => {
                if let Some(queue) = name(queue) {
                    self.wake(Wake::Bundles { queue });
                }
            }
            Some(("vote", vote)) => {
                if let Ok((queue, task)) = read_member(vote) {
                    self.wake(Wake::Vote { queue, task });
                }
            }
            Some(("next", at_ms)) => {
                if let Ok(at_ms) = at_ms.parse() {
                    self.agenda.no_later_than(shard, at_ms);
                }
            }
            _ => self.heed_worker(line),
        }
    }

    fn heed_worker(&self, line: &str) {
        let name = line.strip_prefix("worker ").and_then(|name| WorkerName::parse(name).ok());
        if let Some(worker) = name {
            self.wake(Wake::Worker { worker });
        }
    }

    /// Sleeps until the nearest moment of any shard, and has it looked at. A shard that does not answer
    /// keeps no other waiting.
    async fn keep_time(self: Arc<Self>) {
        let mut looks = JoinSet::new();
        loop {
            let first = self.agenda.first();
            let wait_ms = first.map(|(_, at_ms)| at_ms - self.clock.now().as_millis());
            if let (Some((shard, at_ms)), Some(late_ms @ ..=0)) = (first, wait_ms) {
                self.agenda.take_off(shard);
                if at_ms > 0 {
                    self.measures.due.observe(late_ms.unsigned_abs() as f64 / 1_000.0);
                }
                let node = self.clone();
                // What went wrong is tried again when the shard is looked at next.
                looks.spawn(async move { node.look(shard).await.is_ok() });
                continue;
            }
            tokio::select! {
                () = sleep(wait_ms) => {}
                () = self.agenda.changed() => {}
                Some(_) = looks.join_next() => {}
            }
        }
    }

    /// Looks at what has fallen due in a shard, and says so.
    pub(super) async fn look(&self, shard: usize) -> Result<(), StoreError> {
        let looked = async {
            let answer = self.call(&LOOK, shard).await.send().await?;
            let [expired, sweep, outbox, alarms, next, odd] = answer.body.parts()?;
            for queue in odd.list()? {
                self.mend(&queue.name()?).await?;
            }
            if next.int()? > 0 {
                self.agenda.no_later_than(shard, next.int()?);
            }
            if expired.int()? == 1 {
                self.wake(Wake::Expired);
            }
            if sweep.int()? == 1 {
                self.wake(Wake::Sweep);
            }
            if alarms.int()? == 1 {
                self.wake(Wake::Alarms);
            }
            if outbox.int()? == 1 {
                self.hand_over(shard).await?;
            }
            Ok(())
        };
        let looked = looked.await;
        if looked.is_err() {
            let again = self.clock.now() + LOOK_AGAIN;
            self.agenda.no_later_than(shard, again.as_millis());
        }
        looked
    }

    /// Mends a queue that lost something.
    async fn mend(&self, queue: &QueueName) -> Result<(), StoreError> {
        for finding in self.check_queue(queue, true).await? {
            error!(%queue, "{finding}; mended");
        }
        Ok(())
    }

    /// Hears from a Sentinel that the primary has changed. Requests that fail find out as well; this is
    /// for a node that has nothing to request.
    async fn hear_sentinels(self: Arc<Self>, primary: String) {
        for (host, port) in self.address.hosts.iter().cycle() {
            let (sender, mut messages) = unbounded_channel();
            let heard = async {
                let info = self.address.sentinel(host, *port)?;
                let mut sentinel =
                    connection::connect(info, Some(sender), RESPONSE_TIMEOUT).await?;
                sentinel.subscribe("+switch-master").await?;
                while let Some(PushInfo { kind, data }) = messages.recv().await {
                    match kind {
                        PushKind::Message if is_about(&data, &primary) => {
                            if let Some(generation) = self.link.current() {
                                self.link.give_up(
                                    generation,
                                    "Redis: another server is the primary now",
                                );
                            }
                        }
                        PushKind::Disconnection => break,
                        _ => {}
                    }
                }
                RedisResult::Ok(())
            };
            // One Sentinel less is no trouble as long as another can be heard.
            let _ = heard.await;
            tokio::time::sleep(RECONNECT_MAX).await;
        }
    }
}

/// Whether a message of a Sentinel is about the primary of a name.
fn is_about(data: &[Value], primary: &str) -> bool {
    let text = data.get(1).and_then(|text| match text {
        Value::BulkString(text) => std::str::from_utf8(text).ok(),
        _ => None,
    });
    text.and_then(|text| text.split(' ').next()) == Some(primary)
}

/// Sleeps; for ever, if there is nothing to wake for.
async fn sleep(wait_ms: Option<i64>) {
    match wait_ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms.unsigned_abs())).await,
        None => std::future::pending().await,
    }
}
