//! The inbox of notices: two lists that programs know by their names.
//!
//! Outside a Cluster one script removes a message and makes its notice. In a Cluster the lists have a
//! slot of their own: there the notice is noted beside them in the step that removes the message, then
//! handed over to its shard, which knows by the number of the note what it has already.

use std::sync::Arc;

use async_trait::async_trait;
use punctual_core::{QueueName, Spec};
use redis::{FromRedisValue, ToRedisArgs, cmd};
use tokio::time::{Duration, Instant};

use super::connection::slot_of;
use super::fields::corrupt;
use super::node::Node;
use super::scripts::{INBOX, RECEIVE};
use super::trouble::{Remedy, describe, remedy};
use crate::format;
use crate::inbox::{Inbox, InboxLists, Received};
use crate::port::{Effect, StoreError};

/// How long a node serves the inbox after it was last heard of.
const LEASE_MS: u64 = 10_000;
/// Bytes of messages taken by one call, give or take one message.
const BYTES_MAX: usize = 4 << 20;
/// How long to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// An inbox in Redis.
pub(super) struct RedisInbox {
    node: Arc<Node>,
    lists: InboxLists,
    lease: String,
    outbox: String,
    last: String,
}

impl RedisInbox {
    /// An inbox over two lists; refuses names that cannot be one.
    pub(super) fn new(node: Arc<Node>, lists: InboxLists) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::Open(format!("notices.list, notices.backup: {what}"));
        if lists.list.is_empty() || lists.backup.is_empty() || lists.list == lists.backup {
            return Err(wrong("two names"));
        }
        let (lease, last) = (format!("{}:lease", lists.list), format!("{}:last", lists.backup));
        let inbox = Self { node, lease, outbox: format!("{}:outbox", lists.backup), last, lists };
        let slots = inbox.keys().map(|key| slot_of(&key));
        if inbox.node.keys.is_cluster() && slots.iter().any(|slot| *slot != slots[0]) {
            return Err(wrong(
                "one hash tag in a Cluster, like {notices}:list and {notices}:backup",
            ));
        }
        Ok(inbox)
    }

    fn keys(&self) -> [String; 6] {
        let InboxLists { list, backup } = &self.lists;
        let rejected = self.lists.rejected();
        let rest = [&self.lease, &rejected, &self.outbox, &self.last].map(Clone::clone);
        let [lease, rejected, outbox, last] = rest;
        [list.clone(), backup.clone(), lease, rejected, outbox, last]
    }

    /// Carries out a verb of the inbox's own script.
    async fn send<T: FromRedisValue>(
        &self,
        verb: &str,
        arguments: impl ToRedisArgs,
    ) -> Result<T, StoreError> {
        let mut request = cmd("EVAL");
        let keys = self.keys();
        request.arg(&INBOX.source).arg(keys.len()).arg(&keys[..]);
        request.arg(verb).arg(&self.node.session).arg(arguments);
        let connected = self.node.link.connection(Instant::now() + PATIENCE).await;
        let (mut connection, generation) = connected.map_err(StoreError::unavailable)?;
        let sent =
            connection.send(&request).await.and_then(|value| Ok(redis::from_redis_value(value)?));
        sent.map_err(|trouble| {
            let is_gone = matches!(remedy(&trouble), Remedy::Reconnect | Remedy::ReconnectInDoubt);
            if is_gone && !self.node.keys.is_cluster() {
                self.node.link.give_up(generation, &describe(&trouble));
            }
            StoreError::Unavailable { reason: describe(&trouble), effect: Effect::Unknown }
        })
    }

    /// What is kept of a message that is rejected.
    fn kept(message: &[u8], reason: &str) -> String {
        let message = String::from_utf8_lossy(message);
        serde_json::json!({"reason": reason, "message": message}).to_string()
    }

    /// Removes a message and makes its notice, in one step.
    async fn receive_here(&self, message: &[u8], notice: &Spec) -> Result<Received, StoreError> {
        let node = &self.node;
        let mut call = node.call(&RECEIVE, node.keys.shard_of(&notice.queue)).await;
        call.arg(&self.lists.backup).arg(&self.lease).arg(self.lists.rejected());
        call.arg(message).arg(Self::kept(message, DUPLICATE));
        node.made_here(&mut call, notice);
        let [word] = call.send().await?.body.parts()?;
        Ok(match word.text()?.as_str() {
            "done" => Received::Done,
            "gone" => Received::Gone,
            "full" => Received::Full,
            _ => Received::Lost,
        })
    }

    /// Removes a message and notes its notice, in one step; then hands it over.
    async fn receive_elsewhere(
        &self,
        message: &[u8],
        notice: &Spec,
    ) -> Result<Received, StoreError> {
        let ids = std::slice::from_ref(&notice.id);
        let known = self.node.read(&notice.queue, ids).await?.pop().flatten();
        if known.is_some_and(|stored| !stored.task.status.state.is_finished()) {
            return self.reject(message, DUPLICATE).await;
        }
        if self.is_full(&notice.queue).await? {
            return Ok(Received::Full);
        }
        let packed = format::marked(notice);
        let noted = self.send::<i64>("note", (message, packed)).await?;
        self.hand_over().await?;
        Ok(received(noted))
    }

    /// Whether a queue holds its `max`.
    async fn is_full(&self, name: &QueueName) -> Result<bool, StoreError> {
        let known = self.node.queue(name).await?;
        let Some(max) = known.and_then(|known| known.queue.settings.max) else { return Ok(false) };
        let stats = self.node.stats(std::slice::from_ref(name)).await?.pop().flatten();
        Ok(stats.is_some_and(|stats| stats.live() >= max))
    }

    /// Hands over what was noted.
    async fn hand_over(&self) -> Result<(), StoreError> {
        loop {
            let notes: Vec<Vec<u8>> = self.send("notes", NOTHING).await?;
            let notes: Result<Vec<_>, _> =
                notes.into_iter().map(super::commit::read_entry).collect();
            let notes = notes?;
            let Some((last, first)) = notes.last().map(|(number, spec)| (*number, spec)) else {
                return Ok(());
            };
            let shard = self.node.keys.shard_of(&first.queue);
            if notes.iter().any(|(_, spec)| self.node.keys.shard_of(&spec.queue) != shard) {
                return Err(corrupt("the outbox of the inbox", "it has notices of two queues"));
            }
            self.node.deliver(&self.outbox, shard, &notes).await?;
            self.send::<i64>("handed", last).await?;
        }
    }
}

const DUPLICATE: &str = "id: a live task has it, or it is reserved";
/// No further arguments.
const NOTHING: Option<&str> = None;

fn received(answer: i64) -> Received {
    match answer {
        1 => Received::Done,
        0 => Received::Gone,
        _ => Received::Lost,
    }
}

#[async_trait]
impl Inbox for RedisInbox {
    fn lists(&self) -> &InboxLists {
        &self.lists
    }

    async fn next(&self, n: usize) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let taken: Vec<redis::Value> = self.send("next", (LEASE_MS, n, BYTES_MAX)).await?;
        let mut taken = taken.into_iter();
        if taken.next() != Some(redis::Value::Int(1)) {
            return Ok(None);
        }
        if self.node.keys.is_cluster() {
            self.hand_over().await?;
        }
        let messages: Result<Vec<Vec<u8>>, _> = taken.map(redis::from_redis_value).collect();
        messages.map(Some).map_err(|error| corrupt("a message of the inbox", error))
    }

    async fn receive(&self, message: &[u8], notice: &Spec) -> Result<Received, StoreError> {
        match self.node.keys.is_cluster() {
            true => self.receive_elsewhere(message, notice).await,
            false => self.receive_here(message, notice).await,
        }
    }

    async fn reject(&self, message: &[u8], reason: &str) -> Result<Received, StoreError> {
        let kept = Self::kept(message, reason);
        Ok(received(self.send("reject", (message, kept)).await?))
    }

    async fn leave(&self) -> Result<(), StoreError> {
        self.send::<i64>("leave", NOTHING).await.map(drop)
    }
}
