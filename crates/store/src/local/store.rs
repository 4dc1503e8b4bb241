//! The port, carried out: what is asked of the writer, and what is read beside it.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use hashbrown::HashSet;
use punctual_core::{
    Announcement, OwnerKey, PlanId, Queue, QueueName, RawJson, TaskId, Timestamp, WorkerName,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::owners::{
    grows, parse_time_cursor, read_items, read_owners, stored_owner, timed_at, write_cursor,
};
use super::readers::{Spot, read_ids, read_specs, read_stored, stored};
use super::rows::packed;
use super::tasks::{TakenRow, TakenRows};
use super::{FILE, LOG, LocalStore, audit, low_on_space};
use crate::measure::Measures;
use crate::port::{
    AuditEntry, AuditPage, Backup, Effect, EventId, Hearing, Listing, NoBackup, OwnerListing,
    OwnerPage, Page, Push, Pushed, PutQueue, PutRefusal, QueueStats, Receipt, Revision, Store,
    StoreError, Stored, StoredOwner, Take, Taken, Transaction, Wake, Written,
};

#[async_trait]
impl Store for LocalStore {
    fn now(&self) -> Timestamp {
        self.clock.now().wall
    }

    fn durability(&self) -> String {
        if self.dir.is_some() {
            "every answer is on disk (fsync)".to_owned()
        } else {
            "none: kept in memory until the server stops".to_owned()
        }
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn measures(&self) -> Measures {
        Measures::Local(Arc::clone(&self.measures))
    }

    async fn audit(&self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        self.run(move |desk| desk.shard.note_done(&entries)).await
    }

    async fn audited(&self, cursor: Option<String>, limit: usize) -> Result<AuditPage, StoreError> {
        let before = cursor.map_or(Ok(u64::MAX), |cursor| cursor.parse());
        let before = before.map_err(|_| StoreError::BadCursor)?;
        let page = self.run(move |desk| Ok(desk.shard.audit.page(before, limit))).await?;
        self.readers.read(move |reader| audit::read_page(reader, page)).await
    }

    async fn bytes(&self) -> Result<Option<u64>, StoreError> {
        let Some(dir) = &self.dir else { return Ok(None) };
        let file = |name| std::fs::metadata(dir.join(name)).map_or(0, |file| file.len());
        Ok(Some(file(FILE) + file(LOG)))
    }

    fn kind(&self) -> &'static str {
        if self.dir.is_some() { "embedded" } else { "memory" }
    }

    fn wakeups(&self) -> UnboundedReceiver<Wake> {
        let wakes = self.wakes.lock().unwrap_or_else(PoisonError::into_inner).take();
        wakes.unwrap_or_else(|| unbounded_channel().1)
    }

    fn hearing(&self) -> Hearing {
        self.events.hearing()
    }

    async fn announce(&self, announcements: &[Announcement]) -> Result<EventId, StoreError> {
        Ok(self.events.announce(announcements))
    }

    async fn backup(&self) -> Result<Backup, NoBackup> {
        match &self.copier {
            Some(copier) => copier.copy().await,
            None => Err(NoBackup::Unsupported("memory: keeps nothing that could be backed up")),
        }
    }

    async fn health(&self) -> Result<(), StoreError> {
        let has_space = self.run(|desk| Ok(desk.has_space())).await?;
        if has_space { Ok(()) } else { Err(low_on_space()) }
    }

    async fn failed(&self) -> String {
        let mut failure = self.failure.clone();
        let reason = failure.wait_for(Option::is_some).await.map(|reason| reason.clone());
        reason.ok().flatten().unwrap_or_else(|| "the store's thread has ended".to_owned())
    }

    async fn tick(&self) -> Result<(), StoreError> {
        while self.run(|desk| Ok(desk.shard.is_behind())).await? {}
        Ok(())
    }

    async fn put_queue(&self, put: PutQueue) -> Result<Result<(), PutRefusal>, StoreError> {
        self.run(move |desk| desk.shard.put_queue(&put)).await
    }

    async fn queue(&self, name: &QueueName) -> Result<Option<Arc<Queue>>, StoreError> {
        let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
        Ok(published.get(name).cloned())
    }

    async fn queues(&self) -> Result<Vec<Arc<Queue>>, StoreError> {
        let published = self.published.read().unwrap_or_else(PoisonError::into_inner);
        Ok(published.values().cloned().collect())
    }

    async fn stats(&self, names: &[QueueName]) -> Result<Vec<Option<QueueStats>>, StoreError> {
        let names = names.to_vec();
        self.run(move |desk| Ok(names.iter().map(|name| desk.shard.stats(name)).collect())).await
    }

    async fn reset_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        let name = name.clone();
        self.run(move |desk| desk.shard.reset_queue(&name)).await
    }

    async fn delete_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        let name = name.clone();
        self.run(move |desk| Ok(desk.shard.remove_queue(&name)?.is_some())).await
    }

    async fn push(&self, mut push: Push) -> Result<Pushed, StoreError> {
        // Packed here, off the writer thread.
        let mut specs: Vec<Vec<u8>> = push.tasks.iter().map(|spec| packed(&**spec)).collect();
        let pushed = self.run(move |desk| {
            if !desk.has_space() {
                return Ok(None);
            }
            desk.shard.push(&mut push, &mut specs).map(Some)
        });
        pushed.await?.ok_or_else(low_on_space)
    }

    async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        let Some(taken) = self.run(move |desk| desk.shard.take(&take)).await? else {
            return Ok(Taken::NoQueue);
        };
        let TakenRows { per_taker: rows, again_at, left_out } = taken;
        let is_at_hand = |row: &TakenRow| row.spec.is_some();
        let per_taker = if rows.iter().flatten().all(is_at_hand) {
            rows.into_iter().map(|rows| rows.into_iter().filter_map(stored).collect()).collect()
        } else {
            let read = self.take_readers.read(move |reader| read_specs(reader, rows)).await;
            // They are handed out already, only not to be shown: their holds will end.
            read.map_err(|error| StoreError::Unavailable {
                reason: error.to_string(),
                effect: Effect::Unknown,
            })?
        };
        Ok(Taken::Tasks { per_taker, again_at, left_out })
    }

    async fn loads(&self, workers: &[WorkerName]) -> Result<Vec<usize>, StoreError> {
        let workers = workers.to_vec();
        self.run(move |desk| {
            Ok(workers.iter().map(|worker| desk.shard.holdings.load(worker)).collect())
        })
        .await
    }

    async fn holdings(&self, worker: &WorkerName) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
        let worker = worker.clone();
        let births = self.run(move |desk| Ok(desk.shard.holdings_of(&worker))).await?;
        self.readers.read(move |reader| read_ids(reader, births)).await
    }

    async fn write(&self, mut transactions: Vec<Transaction>) -> Vec<Result<Written, StoreError>> {
        let count = transactions.len();
        let written = self.run(move |desk| {
            let is_low = transactions.iter().any(grows) && !desk.has_space();
            let write = |transaction| match is_low && grows(&transaction) {
                true => Ok(Err(low_on_space())),
                false => desk.shard.write(transaction).map(Ok),
            };
            transactions.drain(..).map(write).collect::<Result<Vec<_>, _>>()
        });
        written.await.unwrap_or_else(|failure| vec![Err(failure); count])
    }

    async fn remove(&self, queue: &QueueName, ids: &[TaskId]) -> Result<Vec<bool>, StoreError> {
        let (queue, ids) = (queue.clone(), ids.to_vec());
        self.run(move |desk| desk.shard.remove_tasks(&queue, &ids)).await
    }

    async fn read(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<Option<Stored>>, StoreError> {
        let (queue, ids) = (queue.clone(), ids.to_vec());
        let spots = self.run(move |desk| {
            let spot = |id| {
                let (number, slot) = desk.shard.find_task(&queue, id)?;
                desk.shard.index(number).entry(slot).spot()
            };
            Ok(ids.iter().map(spot).collect::<Vec<Option<Spot>>>())
        });
        let spots = spots.await?;
        self.readers
            .read(move |reader| {
                let known: Vec<Spot> = spots.iter().copied().flatten().collect();
                let mut stored = read_stored(reader, &known)?.into_iter();
                let found =
                    spots.into_iter().map(|spot| spot.and_then(|_| stored.next().flatten()));
                Ok(found.collect())
            })
            .await
    }

    async fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        let states = listing.states.clone();
        let (spots, next) = self.run(move |desk| Ok(desk.shard.list(&listing))).await??;
        let now = self.now();
        let is_asked_for =
            move |stored: &Stored| states.contains(&stored.task.status.state_at(now));
        let items: Vec<Stored> = self.read_spots(spots).await?;
        Ok(Page { items: items.into_iter().filter(is_asked_for).collect(), next })
    }

    async fn settled(&self, receipts: &[Receipt]) -> Result<Vec<bool>, StoreError> {
        let receipts = receipts.to_vec();
        self.run(move |desk| Ok(desk.shard.settled(&receipts))).await
    }

    async fn expired(&self, limit: usize) -> Result<Vec<Stored>, StoreError> {
        loop {
            let spots = self.run(move |desk| Ok(desk.shard.expired(limit))).await?;
            let ended: HashSet<Revision> = spots.iter().map(Spot::revision).collect();
            let mut read = self.read_spots(spots).await?;
            // What changed before it was read has another hold by now, or none.
            read.retain(|stored| ended.contains(&stored.revision));
            if ended.is_empty() || !read.is_empty() {
                return Ok(read);
            }
        }
    }

    async fn owners(&self, keys: &[OwnerKey]) -> Result<Vec<Option<StoredOwner>>, StoreError> {
        let keys = keys.to_vec();
        let rows = self.run(move |desk| Ok(desk.shard.owner_rows(&keys))).await??;
        rows.into_iter().map(|row| row.map(stored_owner).transpose()).collect()
    }

    async fn items(
        &self,
        key: &OwnerKey,
        from: usize,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError> {
        let key = key.clone();
        let keys = self.run(move |desk| Ok(desk.shard.item_keys(&key, from, limit))).await?;
        self.readers.read(move |reader| read_items(reader, &keys)).await
    }

    async fn list_owners(&self, listing: OwnerListing) -> Result<OwnerPage, StoreError> {
        let (births, next) = self.run(move |desk| Ok(desk.shard.list_owners(&listing))).await??;
        let read = self.readers.read(move |reader| read_owners(reader, &births));
        let (items, is_all) = read.await?;
        let last = items.last().filter(|_| !is_all).map(|stored| stored.owner.key());
        let next = last.map_or(next, |last| Some(write_cursor(&last.queue, &last.name)));
        Ok(OwnerPage { items, next })
    }

    async fn timed_plans(
        &self,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        let mut after = cursor.as_deref().map(parse_time_cursor).transpose()?;
        loop {
            let timed: Vec<(i64, u64)> = self
                .run(move |desk| Ok(desk.shard.owners.timed(after).take(limit + 1).collect()))
                .await?;
            let mut page = &timed[..timed.len().min(limit)];
            let births: Vec<u64> = page.iter().map(|(_, birth)| *birth).collect();
            let read = self.readers.read(move |reader| read_owners(reader, &births));
            let (mut items, is_all) = read.await?;
            if let Some(last) = items.last().filter(|_| !is_all) {
                let end = page.iter().position(|(_, birth)| *birth == last.revision.birth);
                page = &page[..end.map_or(0, |end| end + 1)];
            }
            let has_more = page.len() < timed.len();
            after = page.last().copied().filter(|_| has_more);
            // What changed before it was read may wait for another time by now, or for none.
            items.retain(|stored| page.contains(&(timed_at(stored), stored.revision.birth)));
            if after.is_none() || !items.is_empty() {
                let next = after.map(|(at, birth)| format!("{at}-{birth}"));
                return Ok(OwnerPage { items, next });
            }
        }
    }

    async fn station(&self, plan: &PlanId) -> Result<Option<QueueName>, StoreError> {
        let plan = plan.clone();
        self.run(move |desk| Ok(desk.shard.owners.station(plan.as_str()).cloned())).await
    }

    async fn first_due(&self, queue: &QueueName) -> Result<Option<StoredOwner>, StoreError> {
        let queue = queue.clone();
        let row = self.run(move |desk| Ok(desk.shard.first_due_row(&queue))).await??;
        row.map(stored_owner).transpose()
    }

    async fn alarms(&self, limit: usize) -> Result<Vec<StoredOwner>, StoreError> {
        loop {
            let births: Vec<u64> = self
                .run(move |desk| {
                    let now = desk.shard.now.wall;
                    Ok(desk.shard.owners.alarms(now).take(limit).collect())
                })
                .await?;
            let is_any = !births.is_empty();
            let now = self.now();
            let read = self.readers.read(move |reader| read_owners(reader, &births));
            let (mut read, _) = read.await?;
            // What changed before it was read may have another alarm by now, or none.
            read.retain(|stored| stored.owner.alarm_at().is_some_and(|at| at <= now));
            if !is_any || !read.is_empty() {
                return Ok(read);
            }
        }
    }

    async fn sweep(&self, limit: usize) -> Result<bool, StoreError> {
        self.run(move |desk| desk.shard.sweep(limit)).await
    }
}

impl LocalStore {
    /// Reads tasks; those that have gone meanwhile are left out.
    async fn read_spots(&self, spots: Vec<Spot>) -> Result<Vec<Stored>, StoreError> {
        let read = self.readers.read(move |reader| read_stored(reader, &spots));
        Ok(read.await?.into_iter().flatten().collect())
    }
}
