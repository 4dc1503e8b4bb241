//! The plainest thing that carries out the port: maps behind a lock, and linear scans.
//!
//! It is the yardstick the other stores are compared with, so it must be obviously right; it need
//! not be fast, and it keeps nothing over the end of the process.

mod bucket;
mod contents;
mod list;
mod owners;
mod shelf;
mod trail;
mod transfer;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use punctual_core::{
    Announcement, OwnerKey, OwnerKind, PlanId, Queue, QueueName, RawJson, Settings, State, TaskId,
    Timestamp, WorkerName,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::contents::Contents;
use self::shelf::{Record, Shelf};
use self::trail::Trail;
use crate::clock::{Clock, Instant};
use crate::loopback::Loopback;
use crate::port::{
    AuditEntry, AuditPage, Change, EventId, Hearing, Listing, OwnerListing, OwnerPage, Page, Push,
    Pushed, PutQueue, PutRefusal, QueueStats, Receipt, Store, StoreError, Stored, StoredOwner,
    Take, Taken, Transaction, Wake, Written,
};

/// How often the model looks at a clock that moves by itself.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The model.
pub struct ModelStore {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Arc<dyn Clock>,
    contents: Mutex<Contents>,
    wakes: UnboundedSender<Wake>,
    /// The one stream of wake-ups, until it is asked for.
    stream: Mutex<Option<UnboundedReceiver<Wake>>>,
    events: Mutex<Loopback>,
    trail: Mutex<Trail>,
}

impl ModelStore {
    /// An empty store that goes by a clock.
    ///
    /// # Panics
    /// Never where the system gives random numbers: the names of the built-in queues are well formed.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        let mut contents = Contents::default();
        for name in QueueName::BUILT_IN {
            let name = QueueName::parse(name).expect("a built-in name is well formed");
            let settings = Settings::initial(&name);
            let queue = Queue { name, settings, paused: false, created_at: now.wall };
            let made = contents.put_queue(PutQueue { queue, before: None });
            debug_assert_eq!(made, Ok(()), "the store is new");
        }
        let (wakes, first) = unbounded_channel();
        let stream = Mutex::new(Some(first));
        let contents = Mutex::new(contents);
        let events = Mutex::new(loopback());
        Self {
            inner: Arc::new(Inner {
                clock,
                contents,
                wakes,
                stream,
                events,
                trail: Mutex::default(),
            }),
        }
    }

    /// What a stop and a start change: events are counted anew, rate limits begin with a whole burst,
    /// and holds are timed by the wall clock they were stored with.
    pub fn restart(&self) {
        *self.inner.events() = loopback();
        let now = self.inner.clock.now();
        for shelf in self.inner.lock().queues.values_mut() {
            shelf.bucket = None;
            for record in shelf.records.values_mut() {
                record.time_hold(now);
            }
        }
    }
}

fn loopback() -> Loopback {
    Loopback::new().expect("the system gives random numbers")
}

impl Inner {
    fn events(&self) -> MutexGuard<'_, Loopback> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trail(&self) -> MutexGuard<'_, Trail> {
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out an operation, then says what became possible, in some queues or in all.
    fn change<T>(
        &self,
        queues: Option<&[QueueName]>,
        operation: impl FnOnce(&mut Contents, Instant) -> T,
    ) -> T {
        self.carry_out(|contents, now| {
            let answer = operation(contents, now);
            self.announce(contents, now, |name| queues.is_none_or(|names| names.contains(name)));
            answer
        })
    }

    /// Carries out an operation, then tells workers if what they hold has changed.
    fn carry_out<T>(&self, operation: impl FnOnce(&mut Contents, Instant) -> T) -> T {
        let mut contents = self.lock();
        let before = contents.holders();
        let answer = operation(&mut contents, self.clock.now());
        let after = contents.holders();
        let workers: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for worker in workers {
            if before.get(worker) != after.get(worker) {
                // Nobody has to listen.
                let _ = self.wakes.send(Wake::Worker { worker: worker.clone() });
            }
        }
        answer
    }

    fn read<T>(&self, operation: impl FnOnce(&Contents, Instant) -> T) -> T {
        let contents = self.lock();
        operation(&contents, self.clock.now())
    }

    fn announce(&self, contents: &Contents, now: Instant, which: impl Fn(&QueueName) -> bool) {
        let mut wakes = Vec::new();
        for shelf in contents.queues.values().filter(|shelf| which(&shelf.queue.name)) {
            let count = shelf.count(now, |state| state == State::Ready);
            if count > 0 && !shelf.queue.paused {
                wakes.push(Wake::Ready { queue: shelf.queue.name.clone(), count });
            }
            if shelf.records.values().any(|record| record.is_expired(now)) {
                wakes.push(Wake::Expired);
            }
            let over = shelf.records.values().any(|record| record.is_over(now));
            if over || shelf.reserved.values().any(|until| *until <= now.wall) {
                wakes.push(Wake::Sweep);
            }
        }
        for key in contents.owners.keys().filter(|key| which(&key.queue)) {
            if key.kind == OwnerKind::Bundle {
                wakes.push(Wake::Bundles { queue: key.queue.clone() });
            }
        }
        if !contents.alarms(1, now).is_empty() {
            wakes.push(Wake::Alarms);
        }
        for wake in wakes {
            // Nobody has to listen.
            let _ = self.wakes.send(wake);
        }
    }

    /// Announces the queues in which something fell due between two looks at the clock.
    fn look(&self, last: Instant) -> Instant {
        let contents = self.lock();
        let now = self.clock.now();
        let rang = contents.alarms(usize::MAX, now).len() > contents.alarms(usize::MAX, last).len();
        let moved = |name: &QueueName| {
            contents.queues.get(name).is_some_and(|shelf| shelf.moved(last, now))
        };
        if rang || contents.queues.keys().any(moved) {
            self.announce(&contents, now, moved);
        }
        now
    }
}

impl Shelf {
    /// Whether time alone has changed what can be done here.
    fn moved(&self, last: Instant, now: Instant) -> bool {
        let records = self.records.values().any(|record| {
            record.state(last) != record.state(now)
                || record.is_expired(last) != record.is_expired(now)
                || record.is_over(last) != record.is_over(now)
        });
        let ended = |until: &Timestamp| (*until <= last.wall) != (*until <= now.wall);
        records
            || self.reserved.values().any(ended)
            || self.rate_at(last).is_some() != self.rate_at(now).is_some()
    }
}

/// Looks at the clock again and again, until the store is gone.
fn watch(store: &Weak<Inner>) {
    let mut last = match store.upgrade() {
        Some(inner) => inner.clock.now(),
        None => return,
    };
    while let Some(inner) = store.upgrade() {
        last = inner.look(last);
        drop(inner);
        std::thread::sleep(LOOK_EVERY);
    }
}

#[async_trait]
impl Store for ModelStore {
    fn now(&self) -> Timestamp {
        self.inner.clock.now().wall
    }

    fn durability(&self) -> String {
        "none: kept in memory until the process ends".to_owned()
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn kind(&self) -> &'static str {
        "model"
    }

    fn wakeups(&self) -> UnboundedReceiver<Wake> {
        let stream = self.inner.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if stream.is_some() {
            // Only a listener needs to hear of what falls due.
            let inner = Arc::downgrade(&self.inner);
            std::thread::spawn(move || watch(&inner));
        }
        stream.unwrap_or_else(|| unbounded_channel().1)
    }

    fn hearing(&self) -> Hearing {
        self.inner.events().hearing()
    }

    async fn announce(&self, announcements: &[Announcement]) -> Result<EventId, StoreError> {
        Ok(self.inner.events().announce(announcements))
    }

    async fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn failed(&self) -> String {
        std::future::pending().await
    }

    async fn tick(&self) -> Result<(), StoreError> {
        self.inner.change(None, |_, _| ());
        Ok(())
    }

    async fn put_queue(&self, put: PutQueue) -> Result<Result<(), PutRefusal>, StoreError> {
        let name = put.queue.name.clone();
        Ok(self.inner.change(Some(&[name]), |contents, _| contents.put_queue(put)))
    }

    async fn queue(&self, name: &QueueName) -> Result<Option<Arc<Queue>>, StoreError> {
        Ok(self.inner.lock().queues.get(name).map(|shelf| shelf.queue.clone()))
    }

    async fn queues(&self) -> Result<Vec<Arc<Queue>>, StoreError> {
        Ok(self.inner.lock().queues.values().map(|shelf| shelf.queue.clone()).collect())
    }

    async fn stats(&self, names: &[QueueName]) -> Result<Vec<Option<QueueStats>>, StoreError> {
        Ok(self.inner.read(|contents, now| {
            let stats = |name| {
                let shelf = contents.queues.get(name)?;
                Some(shelf.stats(contents.bundles(name), now))
            };
            names.iter().map(stats).collect()
        }))
    }

    async fn reset_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        Ok(self.inner.carry_out(|contents, _| {
            contents.drop_owners(name);
            contents.queues.get_mut(name).is_some_and(|shelf| {
                shelf.records.clear();
                shelf.reserved.clear();
                true
            })
        }))
    }

    async fn delete_queue(&self, name: &QueueName) -> Result<bool, StoreError> {
        Ok(self.inner.carry_out(|contents, _| {
            contents.drop_owners(name);
            contents.queues.remove(name).is_some()
        }))
    }

    async fn push(&self, push: Push) -> Result<Pushed, StoreError> {
        let name = push.queue.clone();
        Ok(self.inner.change(Some(&[name]), |contents, now| contents.push(push, now)))
    }

    async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        // A take makes no task available, so it announces none.
        Ok(self.inner.carry_out(|contents, now| contents.take(take, now)))
    }

    async fn loads(&self, workers: &[WorkerName]) -> Result<Vec<usize>, StoreError> {
        Ok(self.inner.read(|contents, _| {
            workers.iter().map(|worker| contents.holdings(worker).count()).collect()
        }))
    }

    async fn holdings(&self, worker: &WorkerName) -> Result<Vec<(QueueName, TaskId)>, StoreError> {
        Ok(self.inner.read(|contents, _| {
            let place = |record: &Record| {
                let spec = &record.task.spec;
                (spec.queue.clone(), spec.id.clone())
            };
            contents.holdings(worker).map(place).collect()
        }))
    }

    async fn write(&self, transactions: Vec<Transaction>) -> Vec<Result<Written, StoreError>> {
        self.inner.change(concerned(&transactions).as_deref(), |contents, now| {
            let write = |transaction| match transaction {
                Transaction::Task(change) => contents.commit(change, now).into(),
                Transaction::Records(changes) => contents.write_together(*changes, now),
            };
            transactions.into_iter().map(write).map(Ok).collect()
        })
    }

    async fn remove(&self, queue: &QueueName, ids: &[TaskId]) -> Result<Vec<bool>, StoreError> {
        let queues = [queue.clone()];
        Ok(self.inner.change(Some(&queues), |contents, _| {
            let Some(shelf) = contents.queues.get_mut(queue) else {
                return vec![false; ids.len()];
            };
            ids.iter().map(|id| shelf.records.remove(id).is_some()).collect()
        }))
    }

    async fn read(
        &self,
        queue: &QueueName,
        ids: &[TaskId],
    ) -> Result<Vec<Option<Stored>>, StoreError> {
        Ok(self.inner.read(|contents, _| {
            let shelf = contents.queues.get(queue);
            let read = |id| Some(shelf?.records.get(id)?.stored());
            ids.iter().map(read).collect()
        }))
    }

    async fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        self.inner.read(|contents, now| match contents.queues.get(&listing.queue) {
            Some(shelf) => list::page(shelf, &listing, contents.births, now),
            None => Ok(Page { items: Vec::new(), next: None }),
        })
    }

    async fn settled(&self, receipts: &[Receipt]) -> Result<Vec<bool>, StoreError> {
        let mut contents = self.inner.lock();
        let now = self.inner.clock.now();
        Ok(receipts.iter().map(|receipt| contents.is_settled(receipt, now)).collect())
    }

    async fn expired(&self, limit: usize) -> Result<Vec<Stored>, StoreError> {
        Ok(self.inner.read(|contents, now| {
            let records = contents.queues.values().flat_map(|shelf| shelf.records.values());
            let expired = records.filter(|record| record.is_expired(now));
            expired.take(limit).map(|record| record.stored()).collect()
        }))
    }

    async fn owners(&self, keys: &[OwnerKey]) -> Result<Vec<Option<StoredOwner>>, StoreError> {
        Ok(self.inner.read(|contents, _| keys.iter().map(|key| contents.owner(key)).collect()))
    }

    async fn items(
        &self,
        key: &OwnerKey,
        from: usize,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError> {
        Ok(self.inner.read(|contents, _| contents.items(key, from, limit)))
    }

    async fn list_owners(&self, listing: OwnerListing) -> Result<OwnerPage, StoreError> {
        self.inner.read(|contents, _| contents.list_owners(&listing))
    }

    async fn timed_plans(
        &self,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        self.inner.read(|contents, _| contents.timed_plans(cursor.as_deref(), limit))
    }

    async fn audit(&self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        self.inner.trail().add(entries);
        Ok(())
    }

    async fn audited(&self, cursor: Option<String>, limit: usize) -> Result<AuditPage, StoreError> {
        self.inner.trail().page(cursor.as_deref(), limit)
    }

    async fn station(&self, plan: &PlanId) -> Result<Option<QueueName>, StoreError> {
        Ok(self.inner.read(|contents, _| contents.station(plan)))
    }

    async fn first_due(&self, queue: &QueueName) -> Result<Option<StoredOwner>, StoreError> {
        Ok(self.inner.read(|contents, _| contents.first_due(queue)))
    }

    async fn alarms(&self, limit: usize) -> Result<Vec<StoredOwner>, StoreError> {
        Ok(self.inner.read(|contents, now| contents.alarms(limit, now)))
    }

    async fn sweep(&self, limit: usize) -> Result<bool, StoreError> {
        let mut contents = self.inner.lock();
        Ok(contents.sweep(limit, self.inner.clock.now()))
    }
}

/// The queues that transactions about single tasks concern; none: any queue may be concerned.
fn concerned(transactions: &[Transaction]) -> Option<Vec<QueueName>> {
    let mut queues = Vec::new();
    for transaction in transactions {
        let Transaction::Task(Change { decision, .. }) = transaction else { return None };
        queues.push(decision.task.spec.queue.clone());
        queues.extend(decision.spawn.iter().map(|spec| spec.queue.clone()));
    }
    Some(queues)
}
