//! Owners: read, and changed by one request of this node at a time.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use punctual_core::{OwnerKey, RawJson};
use punctual_store::{StoreError, StoredOwner};
use tokio::sync::{Mutex, MutexGuard};

use super::Engine;

const LOCKS: usize = 1_024;

/// Locks on owners, shared by those whose keys fall on the same one. They only save this node races
/// with itself; what is changed is fenced by the store.
pub(super) struct OwnerLocks(Vec<Mutex<()>>);

impl Default for OwnerLocks {
    fn default() -> Self {
        Self((0..LOCKS).map(|_| Mutex::new(())).collect())
    }
}

impl OwnerLocks {
    /// Waits until nobody else here changes these owners. One that has such locks must not ask for
    /// more.
    pub(super) async fn lock<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a OwnerKey>,
    ) -> Vec<MutexGuard<'_, ()>> {
        // In order, so that nobody waits for one who waits for him.
        let places: BTreeSet<usize> = keys.into_iter().map(place).collect();
        let mut locks = Vec::with_capacity(places.len());
        for place in places {
            locks.push(self.0[place].lock().await);
        }
        locks
    }
}

fn place(key: &OwnerKey) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() as usize % LOCKS
}

impl Engine {
    /// Reads an owner.
    pub(crate) async fn owner(&self, key: &OwnerKey) -> Result<Option<StoredOwner>, StoreError> {
        Ok(self.store.owners(std::slice::from_ref(key)).await?.pop().flatten())
    }

    /// Reads the first payloads of a bundle, as many as fit into one answer.
    pub(crate) async fn payloads(
        &self,
        key: &OwnerKey,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError> {
        self.store.items(key, 0, limit).await
    }
}
