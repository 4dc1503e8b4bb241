//! Owners in the model: records in one map, their items beside them.

use std::sync::Arc;

use punctual_core::limits::{PAGE_BYTES_MAX, TAKE_BYTES_MAX};
use punctual_core::{Owner, OwnerKey, OwnerKind, PlanId, QueueName, RawJson, Timestamp};

use super::contents::Contents;
use crate::clock::Instant;
use crate::port::{
    Change, Changes, OwnerChange, OwnerListing, OwnerPage, Revision, StoreError, StoredOwner,
    Written,
};

/// An owner as it is kept.
pub(super) struct OwnerRecord {
    pub(super) revision: Revision,
    pub(super) owner: Owner,
    items: Vec<RawJson>,
}

impl OwnerRecord {
    fn stored(&self) -> StoredOwner {
        StoredOwner { owner: self.owner.clone(), revision: self.revision }
    }
}

impl Contents {
    /// Carries out changes of several records, if nothing has changed that it was decided from.
    pub(super) fn write_together(&mut self, changes: Changes, now: Instant) -> Written {
        if let Some(keyed) = &changes.keyed
            && let Some((is_same, status, items)) = self.recall(keyed, now)
        {
            return if is_same { Written::Replayed { status, items } } else { Written::KeyReused };
        }
        let is_current = |change: &OwnerChange| {
            let revision = self.owners.get(&change.key).map(|record| record.revision);
            revision == change.expected && self.has_place(change)
        };
        let is_possible = |change: &Change| self.is_possible(change);
        if !changes.owners.iter().all(is_current) || !changes.tasks.iter().all(is_possible) {
            return Written::Lost;
        }
        let queue = changes.queue().cloned();
        let tasks = changes.tasks.into_iter().filter_map(|change| self.commit(change, now).ok());
        let tasks = tasks.collect();
        let owners = changes.owners.into_iter().map(|change| self.change_owner(change)).collect();
        for spec in changes.births {
            let _ = self.insert(Arc::new(spec), None, now);
        }
        if let Some(keyed) = changes.keyed {
            self.remember(keyed, queue, &[], now);
        }
        Written::Records { owners, tasks }
    }

    /// Whether an owner that is made may be: what goes with a queue in one that exists, a plan whose id
    /// no other queue's has.
    fn has_place(&self, change: &OwnerChange) -> bool {
        let OwnerKey { kind, queue, name } = &change.key;
        change.after.is_none()
            || match kind {
                OwnerKind::Plan => {
                    let is_namesake = |key: &OwnerKey| key.kind == *kind && key.name == *name;
                    !self.owners.keys().any(|key| is_namesake(key) && key.queue != *queue)
                }
                kind => !kind.goes_with_queue() || self.queues.contains_key(queue),
            }
    }

    fn change_owner(&mut self, change: OwnerChange) -> Option<Revision> {
        let before = self.owners.remove(&change.key);
        let owner = change.after?;
        let (mut revision, mut items) = match before {
            Some(record) => (record.revision, record.items),
            None => (Revision { birth: self.next_birth(), change: 0 }, Vec::new()),
        };
        if change.expected.is_some() {
            revision.change += 1;
        }
        items.drain(..change.drop_first.min(items.len()));
        items.extend(change.append);
        self.owners.insert(change.key, OwnerRecord { revision, owner, items });
        Some(revision)
    }

    /// Drops the owners that go with a queue.
    pub(super) fn drop_owners(&mut self, queue: &QueueName) {
        self.owners.retain(|key, _| !key.kind.goes_with_queue() || key.queue != *queue);
    }

    pub(super) fn bundles(&self, queue: &QueueName) -> u64 {
        let of_queue = |key: &&OwnerKey| key.kind == OwnerKind::Bundle && key.queue == *queue;
        self.owners.keys().filter(of_queue).count() as u64
    }

    pub(super) fn owner(&self, key: &OwnerKey) -> Option<StoredOwner> {
        self.owners.get(key).map(OwnerRecord::stored)
    }

    pub(super) fn items(&self, key: &OwnerKey, from: usize, limit: usize) -> Vec<RawJson> {
        let Some(record) = self.owners.get(key) else { return Vec::new() };
        let mut bytes = 0;
        let fits = |(index, item): &(usize, &RawJson)| {
            bytes += item.len();
            *index == 0 || bytes <= TAKE_BYTES_MAX
        };
        let items = record.items.iter().skip(from).take(limit).enumerate().take_while(fits);
        items.map(|(_, item)| item.clone()).collect()
    }

    pub(super) fn list_owners(&self, listing: &OwnerListing) -> Result<OwnerPage, StoreError> {
        let after: Option<OwnerKey> = match &listing.cursor {
            Some(cursor) => Some(serde_json::from_str(cursor).map_err(|_| StoreError::BadCursor)?),
            None => None,
        };
        let found = self.owners.iter().filter(|(key, _)| {
            key.kind == listing.kind
                && listing.queue.as_ref().is_none_or(|queue| key.queue == *queue)
                && key.name.starts_with(&listing.prefix)
                && after.as_ref().is_none_or(|after| *key > after)
        });
        let (mut page, mut bytes) = (Vec::new(), 0);
        let mut more = None;
        for (key, record) in found {
            bytes += RawJson::of(&record.owner).len();
            if page.len() == listing.limit || (bytes > PAGE_BYTES_MAX && !page.is_empty()) {
                more = page.last();
                break;
            }
            page.push((key, record));
        }
        let next = more.map(|(key, _)| serde_json::to_string(key).expect("a key has only texts"));
        Ok(OwnerPage { items: page.into_iter().map(|(_, record)| record.stored()).collect(), next })
    }

    pub(super) fn timed_plans(
        &self,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        let after: Option<(Timestamp, OwnerKey)> = match cursor {
            Some(cursor) => Some(serde_json::from_str(cursor).map_err(|_| StoreError::BadCursor)?),
            None => None,
        };
        let timed = self.owners.iter().filter_map(|(key, record)| match &record.owner {
            Owner::Plan(plan) => Some(((plan.timed_at()?, key.clone()), record)),
            _ => None,
        });
        let mut timed: Vec<_> =
            timed.filter(|(place, _)| after.as_ref().is_none_or(|after| place > after)).collect();
        timed.sort_by(|(a, _), (b, _)| a.cmp(b));
        let has_more = timed.len() > limit;
        timed.truncate(limit);
        let last = timed.last().filter(|_| has_more);
        let next = last.map(|(place, _)| serde_json::to_string(place).expect("it has only texts"));
        Ok(OwnerPage {
            items: timed.into_iter().map(|(_, record)| record.stored()).collect(),
            next,
        })
    }

    pub(super) fn station(&self, plan: &PlanId) -> Option<QueueName> {
        let is_it = |key: &&OwnerKey| key.kind == OwnerKind::Plan && *key.name == *plan.as_str();
        self.owners.keys().find(is_it).map(|key| key.queue.clone())
    }

    pub(super) fn first_due(&self, queue: &QueueName) -> Option<StoredOwner> {
        let of_queue = self.owners.iter().filter(|(key, _)| key.queue == *queue);
        let due = of_queue.filter_map(|(key, record)| Some((record.owner.due_at()?, key, record)));
        due.min_by_key(|(at, key, _)| (*at, *key)).map(|(_, _, record)| record.stored())
    }

    pub(super) fn alarms(&self, limit: usize, now: Instant) -> Vec<StoredOwner> {
        let alarm = |record: &OwnerRecord| record.owner.alarm_at().filter(|at| *at <= now.wall);
        let rung =
            self.owners.iter().filter_map(|(key, record)| Some((alarm(record)?, key, record)));
        let mut rung: Vec<_> = rung.collect();
        rung.sort_by_key(|(at, key, _)| (*at, *key));
        rung.into_iter().take(limit).map(|(_, _, record)| record.stored()).collect()
    }
}
