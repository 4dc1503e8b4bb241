//! Moving everything from and to other stores, and what is there before that.

use async_trait::async_trait;
use punctual_core::{OwnerKind, OwnerRef, QueueName, TaskId, Timestamp};
use redis::cmd;
use tokio::sync::mpsc::unbounded_channel;

use super::answer::Part;
use super::commit::placement;
use super::connection::Connection;
use super::fields::corrupt;
use super::node::Node;
use super::push::{Blob, refusal};
use super::receipt;
use super::scripts::{ADMIT, BIRTHS, FORGET, REMEMBER, REMEMBERED};
use super::{RedisOptions, RedisStore, closed, shards};
use crate::port::{
    KeyedItem, Memories, Memory, OwnerChange, OwnerListing, Remembered, Store, StoreError, Stored,
    Transfer,
};

/// Tasks put by one call.
const TASKS_MAX: usize = 100;
/// Bytes put by one call, but for a single task.
const BYTES_MAX: usize = 4 << 20;
/// Bytes of a receipt and of its time in a string.
const RECEIPT_BYTES: usize = 12;
/// The field of the first shard that says that the store is not whole yet.
pub(super) const FILLING: &str = "filling";
/// What an item of a request answers that was interrupted before it got there.
const NOT_REACHED: &str = "unavailable";

/// What is at a place in Redis, seen without opening it.
#[derive(Debug)]
pub struct Presence {
    /// Whether there is a store.
    pub is_made: bool,
    /// Whether it is not whole, because moving everything there was interrupted.
    pub is_filling: bool,
    /// How many servers listen to it now; none: Redis does not tell.
    pub servers: Option<u64>,
}

impl RedisStore {
    /// Looks whether there is a store, and who uses it.
    pub async fn presence(options: &RedisOptions) -> Result<Presence, StoreError> {
        let address = options.address()?;
        let (sender, _messages) = unbounded_channel();
        let opened = Connection::open(&address, sender).await;
        let mut connection = opened.map_err(closed(&address))?;
        let keys = shards(&address, &options.prefix, &mut connection).await?;
        let mut get = cmd("HMGET");
        get.arg(keys.shard(0)).arg("format").arg(FILLING);
        let read = connection.send(&get).await.and_then(|it| Ok(redis::from_redis_value(it)?));
        let (format, filling): (Option<String>, Option<String>) = read.map_err(closed(&address))?;
        let servers = connection.listeners(&keys.channel(0)).await.ok();
        Ok(Presence { is_made: format.is_some(), is_filling: filling.is_some(), servers })
    }

    /// Notes that the store is not whole from now on, or that it is. Servers refuse one that is not.
    pub async fn set_filling(&self, is_filling: bool) -> Result<(), StoreError> {
        let key = self.node.keys.shard(0);
        let note = match is_filling {
            true => cmd("HSET").arg(key).arg(FILLING).arg(1).to_owned(),
            false => cmd("HDEL").arg(key).arg(FILLING).to_owned(),
        };
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
        let connected = self.node.link.connection(deadline).await;
        let (mut connection, _) = connected.map_err(StoreError::unavailable)?;
        connection.send(&note).await.map(drop).map_err(closed(&self.node.address))
    }

    /// Removes all that is there, but for the queues that every store has.
    pub async fn clear(&self) -> Result<(), StoreError> {
        for queue in self.queues().await? {
            match queue.name.is_built_in() {
                true => self.reset_queue(&queue.name).await?,
                false => self.delete_queue(&queue.name).await?,
            };
        }
        while self.sweep(1_000).await? {}
        for kind in OwnerKind::ALL {
            let (prefix, cursor) = (String::new(), None);
            let listing = OwnerListing { kind, queue: None, prefix, cursor, limit: 100 };
            loop {
                let page = self.list_owners(listing.clone()).await?;
                if page.items.is_empty() {
                    break;
                }
                let drop_it = |stored: crate::StoredOwner| OwnerChange {
                    key: stored.owner.key(),
                    expected: Some(stored.revision),
                    after: None,
                    drop_first: 0,
                    append: Vec::new(),
                };
                let changes = page.items.into_iter().map(drop_it);
                for written in self.write(changes.map(Into::into).collect()).await {
                    written?;
                }
            }
        }
        let forget = async |shard| self.node.call(&FORGET, shard).await.send().await.map(drop);
        self.node.everywhere(forget).await.map(drop)
    }
}

impl Node {
    async fn admit_piece(&self, queue: &QueueName, tasks: &[Stored]) -> Result<(), StoreError> {
        let mut call = self.call(&ADMIT, self.keys.shard_of(queue)).await;
        call.arg(queue.as_str());
        for Stored { task, revision } in tasks {
            let delivers = matches!(task.spec.owner, Some(OwnerRef::Bundle(_)));
            call.arg(task.spec.id.as_str()).arg(revision.birth).arg(revision.change);
            call.arg(u8::from(delivers));
            placement(&mut call, task, true);
        }
        let (word, _) = call.send().await?.body.tagged()?;
        match word.as_str() {
            "ADMITTED" => Ok(()),
            _ => Err(StoreError::Open(format!("there is no queue {queue}"))),
        }
    }

    /// A piece of what a shard remembers, and where the next begins.
    async fn remembered_in(
        &self,
        shard: usize,
        memory: &Memory,
        position: &str,
    ) -> Result<(Vec<Remembered>, String), StoreError> {
        let mut call = self.call(&REMEMBERED, shard).await;
        match memory {
            Memory::Reserved(queue) => call.arg("reserved").arg(position).arg(queue.as_str()),
            Memory::Receipts => call.arg("receipts").arg(position),
            Memory::Keyed => call.arg("keyed").arg(position),
        };
        let [next, flat] = call.send().await?.body.parts()?;
        let mut flat = flat.list()?.into_iter();
        let mut found = Vec::new();
        while let Some(first) = flat.next() {
            let mut part = || flat.next().unwrap_or_default();
            match memory {
                Memory::Reserved(queue) => found.push(reserved(queue, first, &part())?),
                Memory::Receipts => receipts(&first, &part().bytes()?, &mut found)?,
                Memory::Keyed => {
                    found.push(keyed(first, [part(), part(), part(), part(), part()])?);
                }
            }
        }
        Ok((found, next.text()?))
    }
}

fn reserved(queue: &QueueName, id: Part, until: &Part) -> Result<Remembered, StoreError> {
    let id = TaskId::parse(&id.text()?).map_err(|error| corrupt("a reserved id", error))?;
    let until = Timestamp::from_millis(until.int()?);
    Ok(Remembered::Reserved { queue: queue.clone(), id, until })
}

fn receipts(began: &Part, string: &[u8], found: &mut Vec<Remembered>) -> Result<(), StoreError> {
    let began = began.int()?;
    for receipt in string.chunks_exact(RECEIPT_BYTES) {
        if let Some((fingerprint, time)) = receipt.split_first_chunk::<8>()
            && let Some(time) = time.first_chunk::<4>()
        {
            let at = Timestamp::from_millis(began + i64::from(u32::from_be_bytes(*time)));
            let fingerprint = u64::from_be_bytes(*fingerprint);
            found.push(Remembered::Receipt { at, fingerprint });
        }
    }
    Ok(())
}

fn keyed(key: Part, parts: [Part; 5]) -> Result<Remembered, StoreError> {
    let number = |part: Part| -> Result<u128, StoreError> {
        let bytes: Result<[u8; 16], _> = part.bytes()?.try_into();
        bytes.map(u128::from_be_bytes).map_err(|_| corrupt("a keyed request", "its key is not one"))
    };
    let [at, request, letters, blob, queue] = parts;
    let (letters, queue) = (letters.bytes()?, queue.text()?);
    let Blob { status, mut items, positions } = Blob::unpack(&blob.bytes()?)?;
    // One without letters was answered whole, in one step.
    if !letters.is_empty() {
        fill_in(&mut items, &positions, &letters);
    }
    Ok(Remembered::Keyed {
        at: Timestamp::from_millis(at.int()?),
        queue: QueueName::parse(&queue).ok(),
        key: number(key)?,
        request: number(request)?,
        status,
        items,
    })
}

/// Writes down what became of each task of a request. If that was interrupted, the rest was not pushed.
fn fill_in(items: &mut [KeyedItem], positions: &[usize], letters: &[u8]) {
    for (number, position) in positions.iter().enumerate() {
        let Some(item) = items.get_mut(*position) else { continue };
        item.code = match letters.get(number) {
            Some(letter) => refusal(*letter).map(|it| it.code().to_owned()),
            None => Some(NOT_REACHED.to_owned()),
        };
    }
}

/// How many tasks go into the next call.
fn next_piece(tasks: &[Stored]) -> usize {
    let mut bytes = 0;
    let fits = |stored: &&Stored| {
        bytes += stored.task.spec.payload.len() + stored.task.status.bytes();
        bytes <= BYTES_MAX
    };
    tasks.iter().take(TASKS_MAX).take_while(fits).count().max(1).min(tasks.len())
}

#[async_trait]
impl Transfer for RedisStore {
    async fn gather(&self) -> Result<(), StoreError> {
        // What is handed over makes nothing that had to be handed over in turn.
        self.node.everywhere(|shard| self.node.hand_over(shard)).await.map(drop)
    }

    async fn reserve_births(&self, queue: &QueueName, count: u64) -> Result<u64, StoreError> {
        let mut call = self.node.call(&BIRTHS, self.node.keys.shard_of(queue)).await;
        call.arg(count);
        let [first] = call.send().await?.body.parts()?;
        Ok(first.int()?.unsigned_abs())
    }

    async fn admit(&self, queue: &QueueName, tasks: Vec<Stored>) -> Result<(), StoreError> {
        let mut rest = &tasks[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(next_piece(rest));
            self.node.admit_piece(queue, piece).await?;
            rest = after;
        }
        Ok(())
    }

    async fn remembered(
        &self,
        memory: &Memory,
        cursor: Option<String>,
    ) -> Result<Memories, StoreError> {
        let (first, last) = match memory {
            Memory::Reserved(queue) => (self.node.keys.shard_of(queue), None),
            Memory::Receipts | Memory::Keyed => (0, Some(self.node.keys.shards() - 1)),
        };
        let cursor = cursor.unwrap_or_else(|| format!("{first} 0"));
        let (shard, position) = cursor.split_once(' ').ok_or(StoreError::BadCursor)?;
        let shard: usize = shard.parse().map_err(|_| StoreError::BadCursor)?;
        if shard >= self.node.keys.shards() {
            return Err(StoreError::BadCursor);
        }
        let (items, next) = self.node.remembered_in(shard, memory, position).await?;
        let next = match (next.is_empty(), last) {
            (false, _) => Some(format!("{shard} {next}")),
            (true, Some(last)) if shard < last => Some(format!("{} 0", shard + 1)),
            (true, _) => None,
        };
        Ok(Memories { items, next })
    }

    async fn remember(&self, items: Vec<Remembered>) -> Result<(), StoreError> {
        for shard in 0..self.node.keys.shards() {
            let mine: Vec<&Remembered> =
                items.iter().filter(|item| self.belongs(item, shard)).collect();
            if mine.is_empty() {
                continue;
            }
            let mut call = self.node.call(&REMEMBER, shard).await;
            for item in mine {
                remember_args(&mut call, item);
            }
            call.send().await?;
        }
        Ok(())
    }
}

impl RedisStore {
    /// Whether something is remembered in a shard: where its queue lies, or if that is not known, in all.
    fn belongs(&self, item: &Remembered, shard: usize) -> bool {
        let keys = &self.node.keys;
        let home = match item {
            Remembered::Reserved { queue, .. } => Some(keys.shard_of(queue)),
            Remembered::Keyed { queue, .. } => queue.as_ref().map(|queue| keys.shard_of(queue)),
            Remembered::Receipt { fingerprint, .. } => keys.shard_of_receipt(*fingerprint),
        };
        home.is_none_or(|home| home == shard)
    }
}

fn remember_args(call: &mut super::call::Call<'_>, item: &Remembered) {
    match item {
        Remembered::Reserved { queue, id, until } => {
            call.arg("reserved").arg(queue.as_str()).arg(id.as_str()).arg(until.as_millis());
        }
        Remembered::Receipt { at, fingerprint } => {
            call.arg("receipt").arg(&receipt::digest(*fingerprint)[..]).arg(at.as_millis());
        }
        Remembered::Keyed { at, queue, key, request, status, items } => {
            // As many letters as there can be tasks, so that nothing of it is pushed again.
            let letters = "k".repeat(items.len());
            let blob = Blob { status: *status, items: items.clone(), positions: Vec::new() };
            call.arg("keyed").arg(&key.to_be_bytes()[..]).arg(at.as_millis());
            call.arg(&request.to_be_bytes()[..]).arg(letters).arg(blob.packed());
            call.arg(queue.as_ref().map_or("", QueueName::as_str));
        }
    }
}
