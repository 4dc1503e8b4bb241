//! Queues: how they are written, read and dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use punctual_core::queue::{Mode, Order};
use punctual_core::{Queue, QueueName, Timestamp};

use super::answer::Part;
use super::cache::Known;
use super::fields::{Fields, corrupt, seconds};
use super::node::Node;
use super::scripts::{DROP_QUEUE, PUT_QUEUE, QUEUES, STATS};
use crate::port::{PutQueue, PutRefusal, QueueStats, StoreError};

/// Queues read by one call.
const QUEUES_MAX: usize = 500;

/// The fields of a queue that say what it is like.
pub(super) fn queue_fields(queue: &Queue) -> Fields<'_> {
    let settings = &queue.settings;
    let mut fields = Fields::default();
    fields.set("tag", settings.tag.as_deref().unwrap_or_default().as_bytes());
    fields.text("max", settings.max.unwrap_or(0));
    let mode = match settings.mode {
        Mode::Pull => "pull",
        Mode::Dispatch => "dispatch",
        Mode::Http => "http",
        Mode::Vote => "vote",
        Mode::Pub => "pub",
    };
    fields.set("mode", mode.as_bytes());
    fields.text("paused", u8::from(queue.paused));
    let order = match settings.order {
        Order::Fifo => "fifo",
        Order::Random => "random",
    };
    fields.set("order", order.as_bytes());
    fields.text("hold", seconds(settings.hold.as_millis()));
    fields.text("confirm", seconds(settings.confirm_within.as_millis()));
    if let Some(max_runtime) = settings.max_runtime {
        fields.text("runtime", seconds(max_runtime.as_millis()));
    }
    if let Some(concurrency) = settings.concurrency {
        fields.text("concurrency", concurrency);
    }
    if let Some(rate) = settings.rate {
        fields.text("limit", rate.limit);
        fields.text("per", seconds(rate.per.as_millis()));
    }
    let record = serde_json::to_vec(queue).expect("records have string keys only");
    fields.set("record", record);
    fields
}

fn known(rev: Part, record: Part) -> Result<Known, StoreError> {
    let record = record.bytes()?;
    let queue: Queue =
        serde_json::from_slice(&record).map_err(|error| corrupt("the record of a queue", error))?;
    Ok(Known { queue: Arc::new(queue), rev: rev.text()?.into() })
}

impl Node {
    /// Reads a queue, from memory if nothing says that it changed.
    pub(super) async fn queue(&self, name: &QueueName) -> Result<Option<Known>, StoreError> {
        match self.cache.get(name, self.link.current()) {
            Some(known) => Ok(Some(known)),
            None => self.read_queue(name).await,
        }
    }

    async fn read_queue(&self, name: &QueueName) -> Result<Option<Known>, StoreError> {
        let moment = self.cache.moment();
        let mut call = self.call(&QUEUES, self.keys.shard_of(name)).await;
        call.arg("=").arg(name.as_str());
        let [records, _] = call.send().await?.body.parts()?;
        let mut records = records.list()?.into_iter();
        let (Some(rev), Some(record)) = (records.next(), records.next()) else {
            return Ok(None);
        };
        let known = known(rev, record)?;
        self.cache.keep(known.clone(), moment);
        Ok(Some(known))
    }

    /// Reads all queues, by name.
    pub(super) async fn queues(&self) -> Result<Vec<Arc<Queue>>, StoreError> {
        let mut queues = self.everywhere(|shard| self.queues_in(shard)).await?.concat();
        queues.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(queues)
    }

    async fn queues_in(&self, shard: usize) -> Result<Vec<Arc<Queue>>, StoreError> {
        let mut queues = Vec::new();
        let mut after = String::new();
        loop {
            let mut call = self.call(&QUEUES, shard).await;
            call.arg(&after).arg(QUEUES_MAX);
            let [records, last] = call.send().await?.body.parts()?;
            let mut records = records.list()?.into_iter();
            while let (Some(rev), Some(record)) = (records.next(), records.next()) {
                queues.push(known(rev, record)?.queue);
            }
            after = last.text()?;
            if after.is_empty() {
                return Ok(queues);
            }
        }
    }

    /// Stores a queue, if it is still as it was.
    pub(super) async fn put_queue(
        &self,
        put: PutQueue,
    ) -> Result<Result<(), PutRefusal>, StoreError> {
        let PutQueue { queue, before } = put;
        let rev = match &before {
            None => Arc::from(""),
            Some(before) => match self.revision(before).await? {
                Some(rev) => rev,
                None => return Ok(Err(PutRefusal::Lost)),
            },
        };
        let settings = &queue.settings;
        let changes = |differs: fn(&Queue, &Queue) -> bool| {
            u8::from(before.as_ref().is_some_and(|before| differs(before, &queue)))
        };
        let mut call = self.call(&PUT_QUEUE, self.keys.shard_of(&queue.name)).await;
        call.arg(queue.name.as_str()).arg(&*rev);
        call.arg(changes(|before, after| before.settings.mode != after.settings.mode));
        call.arg(changes(|before, after| before.settings.rate != after.settings.rate));
        debug_assert!(settings.max != Some(0), "0 stands for no limit");
        call.fields(&queue_fields(&queue));
        let (word, _) = call.send().await?.body.tagged()?;
        self.cache.drop(&queue.name);
        Ok(match word.as_str() {
            "KEPT" => Ok(()),
            "HOLDS" => Err(PutRefusal::HoldsTasks),
            _ => Err(PutRefusal::Lost),
        })
    }

    /// The revision under which a queue reads like this; none if it reads otherwise now.
    async fn revision(&self, queue: &Queue) -> Result<Option<Arc<str>>, StoreError> {
        let is_same = |known: &Known| *known.queue == *queue;
        if let Some(known) = self.queue(&queue.name).await?.filter(is_same) {
            return Ok(Some(known.rev));
        }
        let now = self.read_queue(&queue.name).await?;
        Ok(now.filter(is_same).map(|known| known.rev))
    }

    /// Drops all tasks and bundles of a queue, and perhaps the queue. False: there was none.
    pub(super) async fn drop_queue(
        &self,
        name: &QueueName,
        how: &'static str,
    ) -> Result<bool, StoreError> {
        let mut call = self.call(&DROP_QUEUE, self.keys.shard_of(name)).await;
        call.arg(name.as_str()).arg(how);
        let (word, _) = call.send().await?.body.tagged()?;
        self.cache.drop(name);
        Ok(word == "DROPPED")
    }

    /// What queues hold.
    pub(super) async fn stats(
        &self,
        names: &[QueueName],
    ) -> Result<Vec<Option<QueueStats>>, StoreError> {
        let mut all = vec![None; names.len()];
        for (shard, places) in self.by_shard(names, |name| self.keys.shard_of(name)) {
            for places in places.chunks(QUEUES_MAX) {
                let mut call = self.call(&STATS, shard).await;
                for place in places {
                    call.arg(names[*place].as_str());
                }
                let stats = call.send().await?.body.list()?;
                for (place, stats) in places.iter().zip(stats) {
                    all[*place] = read_stats(stats)?;
                }
            }
        }
        Ok(all)
    }

    /// The places of items, by the shard they belong to.
    pub(super) fn by_shard<T>(
        &self,
        items: &[T],
        shard_of: impl Fn(&T) -> usize,
    ) -> BTreeMap<usize, Vec<usize>> {
        let mut shards: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            shards.entry(shard_of(item)).or_default().push(place);
        }
        shards
    }
}

fn read_stats(part: Part) -> Result<Option<QueueStats>, StoreError> {
    if part.is_nothing() {
        return Ok(None);
    }
    let [counts, oldest, rate_at, bundles] = part.parts()?;
    let mut stats = QueueStats::default();
    for (count, part) in stats.counts.iter_mut().zip(counts.list()?) {
        *count = part.count()? as u64;
    }
    let time = |part: &Part| -> Result<Option<Timestamp>, StoreError> {
        Ok(Some(part.int()?).filter(|ms| *ms > 0).map(Timestamp::from_millis))
    };
    stats.oldest_ready_at = time(&oldest)?;
    stats.rate_at = time(&rate_at)?;
    stats.bundles = bundles.count()? as u64;
    Ok(Some(stats))
}
