//! Bundles as they read.

use std::collections::HashMap;

use punctual_core::bundle::{BundleKey, Delivering};
use punctual_core::limits::{BUNDLE_ITEMS_MAX, PAGE_EXAMINED_MAX};
use punctual_core::{
    Bundle, OwnerKey, OwnerKind, Queue, QueueName, RawJson, Shared, Status, TaskId, Timestamp,
};
use punctual_store::OwnerListing;

use super::{bundle_of, no_bundle};
use crate::engine::{Engine, Failure};

/// A bundle as it reads.
#[derive(Debug)]
pub(crate) struct BundleReading {
    /// The bundle.
    pub(crate) bundle: Box<Bundle>,
    /// The task that delivers it, or delivered it last.
    pub(crate) delivery: Option<Shared<Status>>,
}

/// Which bundles to list.
#[derive(Debug, Default)]
pub(crate) struct BundleFilter {
    /// Only those in this state.
    pub(crate) state: Option<String>,
    /// Only those whose key begins so.
    pub(crate) prefix: Option<String>,
}

/// A page of bundles.
#[derive(Debug)]
pub(crate) struct BundlePage {
    /// The bundles that match.
    pub(crate) items: Vec<BundleReading>,
    /// Where the next page begins; none: this was the last.
    pub(crate) next: Option<String>,
}

impl BundleReading {
    /// Every state there is.
    pub(crate) const STATES: [&str; 5] = ["waiting", "started", "locked", "delivering", "failed"];

    /// Where it stands.
    pub(crate) fn state(&self, now: Timestamp) -> &'static str {
        match Delivering::of(self.delivery.as_deref()) {
            Delivering::Held => "delivering",
            _ => self.bundle.state_name(now),
        }
    }
}

impl Engine {
    /// Reads a bundle and its first payloads.
    pub(crate) async fn read_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
    ) -> Result<(BundleReading, Vec<RawJson>), Failure> {
        let queue = self.queue(queue).await?;
        let owner = OwnerKey::bundle(&queue.name, key);
        // One that nobody changes here meanwhile, so that its parts are of the same moment.
        let _lock = self.owner_locks.lock([&owner]).await;
        let payloads = self.payloads(&owner, BUNDLE_ITEMS_MAX).await?;
        let found = self.find(&owner).await?;
        let reading = self.readings(&queue, found.into_iter().collect()).await?.pop();
        Ok((reading.ok_or_else(|| no_bundle(&queue.name, key))?, payloads))
    }

    /// Lists the bundles of a queue by their keys.
    pub(crate) async fn list_bundles(
        &self,
        queue: &QueueName,
        filter: &BundleFilter,
        limit: usize,
        mut cursor: Option<String>,
    ) -> Result<BundlePage, Failure> {
        let queue = self.queue(queue).await?;
        let (mut items, mut examined) = (Vec::new(), 0);
        loop {
            let listing = OwnerListing {
                kind: OwnerKind::Bundle,
                queue: Some(queue.name.clone()),
                prefix: filter.prefix.clone().unwrap_or_default(),
                cursor,
                limit: limit - items.len(),
            };
            let page = self.store.list_owners(listing).await?;
            examined += page.items.len().max(1);
            let found = page.items.into_iter().filter_map(bundle_of).collect();
            let now = self.now();
            let wanted = |reading: &BundleReading| {
                filter.state.as_ref().is_none_or(|state| reading.state(now) == state)
            };
            items.extend(self.readings(&queue, found).await?.into_iter().filter(wanted));
            cursor = page.next;
            if cursor.is_none() || items.len() >= limit || examined >= PAGE_EXAMINED_MAX {
                return Ok(BundlePage { items, next: cursor });
            }
        }
    }

    /// Bundles with what their tasks say. What was dropped by time alone is left out.
    #[expect(clippy::vec_box, reason = "bundles come in boxes and go on in them")]
    async fn readings(
        &self,
        queue: &Queue,
        found: Vec<Box<Bundle>>,
    ) -> Result<Vec<BundleReading>, Failure> {
        let ids: Vec<TaskId> = found.iter().filter_map(|bundle| bundle.task.clone()).collect();
        let mut statuses: HashMap<TaskId, Shared<Status>> = HashMap::new();
        if !ids.is_empty() {
            for stored in self.store.read(&queue.name, &ids).await?.into_iter().flatten() {
                statuses.insert(stored.task.spec.id.clone(), stored.task.status);
            }
        }
        let now = self.now();
        let readings = found.into_iter().filter_map(|bundle| {
            let bundle = bundle.lapsed(&queue.settings, now)?;
            let delivery = bundle.task.as_ref().and_then(|task| statuses.remove(task));
            Some(BundleReading { bundle, delivery })
        });
        Ok(readings.collect())
    }
}
