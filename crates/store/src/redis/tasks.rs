//! Reading, listing and removing tasks, and what time has done to them.

use punctual_core::{QueueName, TaskId};

use super::answer::Part;
use super::node::Node;
use super::receipt;
use super::record::stored;
use super::scripts::{EXPIRED, LIST, READ, REMOVE, SETTLED, SWEEP};
use crate::port::{Listing, Page, Receipt, Sort, StoreError, Stored};

/// Items of one call.
const ITEMS_MAX: usize = 500;

fn record(queue: &QueueName, part: Part) -> Result<Option<Stored>, StoreError> {
    part.record()?.map(|record| stored(queue, record)).transpose()
}

impl Node {
    pub(super) async fn read(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<Option<Stored>>, StoreError> {
        let mut all = Vec::with_capacity(ids.len());
        while all.len() < ids.len() {
            let mut call = self.call(&READ, self.keys.shard_of(queue)).await;
            call.arg(queue.as_str());
            for id in ids[all.len()..].iter().take(ITEMS_MAX) {
                call.arg(id.as_str());
            }
            for part in call.send().await?.body.list()? {
                all.push(record(queue, part)?);
            }
        }
        Ok(all)
    }

    pub(super) async fn remove(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<bool>, StoreError> {
        let mut all = Vec::with_capacity(ids.len());
        for ids in ids.chunks(ITEMS_MAX) {
            let mut call = self.call(&REMOVE, self.keys.shard_of(queue)).await;
            call.arg(queue.as_str());
            for id in ids {
                call.arg(id.as_str());
            }
            let [letters] = call.send().await?.body.parts()?;
            all.extend(letters.bytes()?.into_iter().map(|letter| letter == b'k'));
        }
        Ok(all)
    }

    pub(super) async fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        let Listing { queue, states, cursor, limit, sort } = listing;
        let cursor = cursor.map(|cursor| read_cursor(&cursor)).transpose()?.unwrap_or_default();
        let mut call = self.call(&LIST, self.keys.shard_of(&queue)).await;
        let sort = match sort {
            None => "",
            Some(Sort::Oldest) => "oldest",
            Some(Sort::Newest) => "newest",
        };
        call.arg(queue.as_str()).arg(limit.min(ITEMS_MAX)).arg(cursor).arg(sort);
        for state in states {
            call.arg(state.name());
        }
        let [records, next] = call.send().await?.body.parts()?;
        let mut items = Vec::new();
        for part in records.list()? {
            items.extend(record(&queue, part)?);
        }
        let next = next.text()?;
        Ok(Page { items, next: (!next.is_empty()).then(|| next.replace(' ', ".")) })
    }

    pub(super) async fn settled(&self, receipts: &[Receipt]) -> Result<Vec<bool>, StoreError> {
        let mut all = vec![false; receipts.len()];
        let shard_of = |receipt: &Receipt| self.keys.shard_of(&receipt.queue);
        for (shard, places) in self.by_shard(receipts, shard_of) {
            for places in places.chunks(ITEMS_MAX) {
                let mut call = self.call(&SETTLED, shard).await;
                for place in places {
                    call.arg(&receipt::digest(receipts[*place].fingerprint())[..]);
                }
                let [letters] = call.send().await?.body.parts()?;
                for (place, letter) in places.iter().zip(letters.bytes()?) {
                    all[*place] = letter == b'k';
                }
            }
        }
        Ok(all)
    }

    pub(super) async fn expired(&self, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let mut all = self.wherever_possible(|shard| self.expired_in(shard, limit)).await?;
        all.truncate(limit);
        Ok(all)
    }

    async fn expired_in(&self, shard: usize, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let mut call = self.call(&EXPIRED, shard).await;
        call.arg(limit.min(ITEMS_MAX));
        let mut parts = call.send().await?.body.list()?.into_iter();
        let mut found = Vec::new();
        while let (Some(queue), Some(part)) = (parts.next(), parts.next()) {
            found.extend(record(&queue.name()?, part)?);
        }
        Ok(found)
    }

    pub(super) async fn sweep(&self, limit: usize) -> Result<bool, StoreError> {
        let more = self.everywhere(|shard| self.sweep_in(shard, limit)).await?;
        Ok(more.contains(&true))
    }

    async fn sweep_in(&self, shard: usize, limit: usize) -> Result<bool, StoreError> {
        let mut call = self.call(&SWEEP, shard).await;
        call.arg(limit.min(ITEMS_MAX));
        let [more] = call.send().await?.body.parts()?;
        Ok(more.int()? == 1)
    }
}

/// A cursor as the script reads it, if it is one that was given out.
fn read_cursor(cursor: &str) -> Result<String, StoreError> {
    let numbers: Result<Vec<i64>, _> = cursor.split('.').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([group, priority, at, birth, version])
            if *group > 0 && [at, birth, version].into_iter().all(|number| *number >= 0) =>
        {
            Ok(format!("{group} {priority} {at} {birth} {version}"))
        }
        _ => Err(StoreError::BadCursor),
    }
}
