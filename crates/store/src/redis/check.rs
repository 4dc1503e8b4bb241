//! Looks for records and indexes that disagree, and mends them from what the records say.
//!
//! Scripts keep the two in step; only hands from outside, or a Redis that lost part of its data, can
//! part them. A task that is held but whose hold was lost is found by itself, see `lua/look.lua`.

use std::time::Instant;

use punctual_core::{OwnerKind, QueueName};
use redis::{RedisResult, Value, cmd};
use tokio::sync::mpsc::unbounded_channel;

use super::answer::Part;
use super::clock::StoreClock;
use super::connection::Connection;
use super::durability::Durability;
use super::link::Link;
use super::node::Node;
use super::scripts::{CHECK, CHECK_HELD, CHECK_OWNERS, LANES};
use super::{RedisOptions, RedisStore, closed, random_name, shards};
use crate::clock::{Clock, SystemClock};
use crate::port::StoreError;

/// What a look at a store in Redis showed.
#[derive(Debug)]
pub struct Examination {
    /// What an acknowledgement is worth.
    pub durability: String,
    /// Why the settings of Redis are not such that tasks are safe, if they are not.
    pub objection: Option<String>,
    /// How far Redis's clock is ahead of the one here, in milliseconds.
    pub clock_ahead_ms: i64,
    /// Shards that hold nothing: all of them, where there is no store.
    pub empty_shards: usize,
    /// How many shards there are.
    pub shards: usize,
    /// What is wrong with records and indexes, one line each; not looked for if a shard is empty.
    pub findings: Vec<String>,
}

impl RedisStore {
    /// Looks at a store without opening it: at Redis's settings and clock, and at all records and
    /// indexes, which are mended if asked to. Servers may use the store meanwhile. Makes no store where
    /// there is none.
    pub async fn examine(
        options: RedisOptions,
        is_mending: bool,
    ) -> Result<Examination, StoreError> {
        let address = options.address()?;
        let (sender, _messages) = unbounded_channel();
        let opened = Connection::open(&address, sender).await;
        let mut connection = opened.map_err(closed(&address))?;
        let durability = Durability::read(&mut connection).await.map_err(closed(&address))?;
        let keys = shards(&address, &options.prefix, &mut connection).await?;
        let clock_ahead_ms = clock_ahead_ms(&mut connection).await.map_err(closed(&address))?;
        let (shards, mut empty_shards) = (keys.shards(), 0);
        for shard in 0..shards {
            let mut exists = cmd("EXISTS");
            exists.arg(keys.shard(shard));
            let there = connection.send(&exists).await.map_err(closed(&address))?;
            empty_shards += usize::from(there == Value::Int(0));
        }
        let (link, _broken) = Link::new();
        link.set_up(connection, 1);
        let session = random_name().map_err(|error| StoreError::Open(error.to_string()))?;
        let node = Node::new(address, keys, link, StoreClock::new(None), 0, session);
        let findings = match empty_shards {
            0 => node.check(is_mending).await?,
            _ => Vec::new(),
        };
        Ok(Examination {
            durability: durability.describe(options.wait_replicas),
            objection: durability.objection(),
            clock_ahead_ms,
            empty_shards,
            shards,
            findings,
        })
    }
}

/// How far Redis's clock is ahead of the one here.
async fn clock_ahead_ms(connection: &mut Connection) -> RedisResult<i64> {
    let sent = Instant::now();
    let answer = connection.send(&cmd("TIME")).await?;
    let halfway = i64::try_from(sent.elapsed().as_millis() / 2).unwrap_or(0);
    let (seconds, micros): (i64, i64) = redis::from_redis_value(answer)?;
    let here = SystemClock::new().now().wall.as_millis();
    Ok(seconds * 1_000 + micros / 1_000 + halfway - here)
}

impl Node {
    /// Checks every queue and every owner. One line for each thing that is wrong.
    pub(super) async fn check(&self, is_mending: bool) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for queue in self.queues().await? {
            findings.extend(self.check_queue(&queue.name, is_mending).await?);
        }
        for shard in 0..self.keys.shards() {
            findings.extend(self.check_owners(shard, is_mending).await?);
            findings.extend(self.check_held(shard, is_mending).await?);
        }
        Ok(findings)
    }

    /// Checks the owners of a shard.
    async fn check_owners(
        &self,
        shard: usize,
        is_mending: bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut indexes = self.check_owners_step(shard, is_mending, "indexes").await?;
        indexes.sort_unstable();
        // SCAN may name a key twice.
        indexes.dedup();
        let kinds = OwnerKind::ALL.map(OwnerKind::name);
        let plurals = kinds.map(|kind| format!("{kind}s"));
        let shared = ["timer", "plan:time:set", "plan:ids", "alarm"];
        let indexes = indexes.iter().chain(&plurals).map(String::as_str);
        let mut findings = Vec::new();
        for step in indexes.chain(shared).chain(kinds) {
            findings.extend(self.check_owners_step(shard, is_mending, step).await?);
        }
        Ok(findings)
    }

    async fn check_owners_step(
        &self,
        shard: usize,
        is_mending: bool,
        step: &str,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        let mut position = "0".to_owned();
        while !position.is_empty() {
            let mut call = self.call(&CHECK_OWNERS, shard).await;
            call.arg(u8::from(is_mending)).arg(step).arg(&position);
            position = read_piece(call.send().await?.body, &mut found)?;
        }
        Ok(found)
    }

    /// Checks what the workers of a shard hold.
    async fn check_held(&self, shard: usize, is_mending: bool) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        let mut position = "0".to_owned();
        while !position.is_empty() {
            let mut call = self.call(&CHECK_HELD, shard).await;
            call.arg(u8::from(is_mending)).arg(&position);
            position = read_piece(call.send().await?.body, &mut findings)?;
        }
        Ok(findings)
    }

    /// Checks one queue.
    pub(super) async fn check_queue(
        &self,
        queue: &QueueName,
        is_mending: bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for index in self.indexes(queue).await? {
            self.check_step(queue, is_mending, &index, &mut findings).await?;
        }
        for step in ["records", "counts"] {
            self.check_step(queue, is_mending, step, &mut findings).await?;
        }
        Ok(findings)
    }

    /// The names of a queue's indexes, without the prefix.
    async fn indexes(&self, queue: &QueueName) -> Result<Vec<String>, StoreError> {
        let mut call = self.call(&LANES, self.keys.shard_of(queue)).await;
        call.arg(queue.as_str());
        let mut names = Vec::new();
        for part in call.send().await?.body.list()? {
            names.push(part.text()?);
        }
        Ok(names)
    }

    async fn check_step(
        &self,
        queue: &QueueName,
        is_mending: bool,
        step: &str,
        findings: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let mut position = "0".to_owned();
        while !position.is_empty() {
            let mut call = self.call(&CHECK, self.keys.shard_of(queue)).await;
            call.arg(queue.as_str()).arg(u8::from(is_mending)).arg(step).arg(&position);
            position = read_piece(call.send().await?.body, findings)?;
        }
        Ok(())
    }
}

/// Reads what a piece of a check has found, and where to go on; empty: that was all.
fn read_piece(body: Part, findings: &mut Vec<String>) -> Result<String, StoreError> {
    let [next, lines] = body.parts()?;
    for line in lines.list()? {
        findings.push(line.text()?);
    }
    next.text()
}
