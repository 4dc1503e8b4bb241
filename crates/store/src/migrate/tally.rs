//! What a store holds, summed up: how many of each kind, and a digest that tells two stores apart.

use std::hash::Hasher;

use punctual_core::{Owner, OwnerKey, OwnerKind, Queue, RawJson, State, Task};
use serde::Serialize;
use siphasher::sip::SipHasher13;

use super::pages::{OwnerPages, TaskPages, audit_trail};
use crate::port::{AuditEntry, Remembered, StoreError, Transfer};

/// Items read at a time.
const ITEMS: usize = 500;

/// How many records of a kind there are, and the sum of their hashes, which does not depend on their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// How many.
    pub count: u64,
    digest: u64,
}

impl Sum {
    fn add(&mut self, record: &impl Serialize) {
        let packed = postcard::to_stdvec(record).expect("records can be packed");
        let mut hasher = SipHasher13::new_with_keys(0, 0);
        hasher.write(&packed);
        self.count += 1;
        self.digest = self.digest.wrapping_add(hasher.finish());
    }
}

/// What a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    queues: Sum,
    tasks: Sum,
    /// In the order of [`OwnerKind::ALL`].
    owners: [Sum; OwnerKind::ALL.len()],
    items: Sum,
    audit: Sum,
    reserved: u64,
    receipts: u64,
    keyed: u64,
}

impl Tally {
    /// Reads all that a store holds, but for what it only remembers.
    pub async fn of(store: &dyn Transfer) -> Result<Self, StoreError> {
        let mut tally = Self::default();
        for queue in store.queues().await? {
            tally.add_queue(&queue);
            let mut pages = TaskPages::new(store, &queue.name);
            let mut births = hashbrown::HashSet::new();
            while let Some(page) = pages.next().await? {
                for stored in page {
                    // One that became due while this went on is read in both its states.
                    let is_waiting = stored.task.status.state == State::Waiting;
                    let is_ready = stored.task.status.state == State::Ready;
                    let birth = stored.revision.birth;
                    if !(is_waiting || is_ready) || births.insert(birth) {
                        tally.add_task(&stored.task);
                    }
                }
            }
        }
        for kind in OwnerKind::ALL {
            let mut pages = OwnerPages::new(store, kind);
            while let Some(page) = pages.next().await? {
                for stored in page {
                    tally.add_owner(&stored.owner);
                    tally.read_items(store, &stored.owner.key()).await?;
                }
            }
        }
        tally.add_audit(&audit_trail(store).await?);
        Ok(tally)
    }

    async fn read_items(&mut self, store: &dyn Transfer, key: &OwnerKey) -> Result<(), StoreError> {
        let mut count = 0;
        loop {
            let items = store.items(key, count, ITEMS).await?;
            if items.is_empty() {
                return Ok(());
            }
            count += items.len();
            items.iter().for_each(|item| self.add_item(key, item));
        }
    }

    pub(super) fn add_queue(&mut self, queue: &Queue) {
        self.queues.add(queue);
    }

    pub(super) fn add_task(&mut self, task: &Task) {
        let mut status = task.status.clone();
        // Which of the two it is, the clock says.
        if status.state == State::Waiting {
            status.state = State::Ready;
        }
        self.tasks.add(&(&*task.spec, status));
    }

    pub(super) fn add_owner(&mut self, owner: &Owner) {
        self.owners[owner.key().kind as usize].add(owner);
    }

    pub(super) fn add_item(&mut self, key: &OwnerKey, item: &RawJson) {
        self.items.add(&(key, item.as_str()));
    }

    /// Here the order counts.
    pub(super) fn add_audit(&mut self, trail: &[AuditEntry]) {
        trail.iter().enumerate().for_each(|placed| self.audit.add(&placed));
    }

    pub(super) fn add_memory(&mut self, item: &Remembered) {
        match item {
            Remembered::Reserved { .. } => self.reserved += 1,
            Remembered::Receipt { .. } => self.receipts += 1,
            Remembered::Keyed { .. } => self.keyed += 1,
        }
    }

    pub(super) fn take_memories_of(&mut self, other: &Self) {
        (self.reserved, self.receipts, self.keyed) = (other.reserved, other.receipts, other.keyed);
    }

    /// How many of each kind, with its name in the plural.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let names = ["bundles", "plans", "flows", "steps", "workers", "votes"];
        let owners = names.into_iter().zip(self.owners.map(|sum| sum.count));
        let mut counts = vec![("queues", self.queues.count), ("tasks", self.tasks.count)];
        counts.extend(owners);
        counts.extend([
            ("items", self.items.count),
            ("audit entries", self.audit.count),
            ("reserved ids", self.reserved),
            ("receipts", self.receipts),
            ("keyed requests", self.keyed),
        ]);
        counts
    }

    /// What tells it from another, if anything does.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let pairs = self.counts().into_iter().zip(other.counts());
        let parts: Vec<String> = pairs
            .filter(|(one, two)| one != two)
            .map(|((name, one), (_, two))| format!("{two} {name} of {one}"))
            .collect();
        if !parts.is_empty() {
            return Some(parts.join(", "));
        }
        (self != other).then(|| "there are as many records, but not all are the same".to_owned())
    }
}
