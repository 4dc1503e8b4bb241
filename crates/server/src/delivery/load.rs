//! The payloads a bundle is delivered with, read when its delivery begins.
//!
//! What all deliveries of bundles carry together is bounded: whoever cannot have its share in time is
//! given back.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::bundle::{BundleKey, Sent};
use punctual_core::limits::{BUNDLE_ITEMS_MAX, TAKE_BYTES_MAX};
use punctual_core::{Bundle, Owner, OwnerKey, OwnerRef, RawJson, Spec, TaskId};
use punctual_store::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::engine::Engine;

/// Bytes are counted in blocks of this size.
const BLOCK_BYTES: usize = 1 << 10;
/// Bytes of bundles under way at once.
const BYTES_MAX: usize = 128 << 20;
/// What is set aside to read a bundle: its payloads, and the array they become.
const READING_BYTES: usize = 2 * (TAKE_BYTES_MAX + BLOCK_BYTES);

/// The room for bundles under way.
#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BYTES_MAX / BLOCK_BYTES)))
    }
}

/// What is sent, as long as there is room for it.
pub(super) struct Load {
    pub(super) json: RawJson,
    pub(super) sent: Sent,
    _share: OwnedSemaphorePermit,
}

/// Why there is nothing to send.
pub(super) enum NoLoad {
    /// There is no room for it now, or the store cannot say.
    NotNow,
    /// The bundle is gone, or delivered by another task.
    NoBundle,
}

/// The bundle a task delivers.
pub(super) fn bundle_of(spec: &Spec) -> Option<&BundleKey> {
    match &spec.owner {
        Some(OwnerRef::Bundle(key)) => Some(key),
        _ => None,
    }
}

impl Room {
    /// Reads what a bundle's task has to deliver, if there is room for it within a while.
    pub(super) async fn load(
        self,
        engine: &Engine,
        key: &OwnerKey,
        task: &TaskId,
        within: Duration,
    ) -> Result<Load, NoLoad> {
        let blocks = (READING_BYTES / BLOCK_BYTES) as u32;
        let Ok(Ok(mut share)) = timeout(within, self.0.acquire_many_owned(blocks)).await else {
            return Err(NoLoad::NotNow);
        };
        let read = read(engine, key).await.map_err(|failure| {
            tracing::warn!(bundle = %key, id = %task, %failure, "a bundle to deliver cannot be read now");
            NoLoad::NotNow
        })?;
        let Some(Read { before, payloads, after }) = read else { return Err(NoLoad::NoBundle) };
        // As long as this very task delivers it, its first payloads stay the same.
        let is_its = |bundle: &Bundle| bundle.task.as_ref() == Some(task);
        if !is_its(&before) || !is_its(&after) || payloads.is_empty() {
            return Err(NoLoad::NoBundle);
        }
        let number = payloads.len() as u64;
        // What came after the look at them came later, however soon.
        let sent = Sent { number, had: number.max(before.size) };
        let json = match payloads.as_slice() {
            [payload] if after.alone => payload.clone(),
            payloads => array(payloads),
        };
        let blocks = json.len() / BLOCK_BYTES + 1;
        drop(share.split(share.num_permits().saturating_sub(blocks)));
        Ok(Load { json, sent, _share: share })
    }
}

/// A bundle around the moment in which its payloads were read.
struct Read {
    before: Box<Bundle>,
    payloads: Vec<RawJson>,
    after: Box<Bundle>,
}

async fn read(engine: &Engine, key: &OwnerKey) -> Result<Option<Read>, StoreError> {
    let Some(before) = bundle(engine, key).await? else { return Ok(None) };
    let payloads = engine.payloads(key, BUNDLE_ITEMS_MAX).await?;
    Ok(bundle(engine, key).await?.map(|after| Read { before, payloads, after }))
}

async fn bundle(engine: &Engine, key: &OwnerKey) -> Result<Option<Box<Bundle>>, StoreError> {
    Ok(match engine.owner(key).await?.map(|stored| stored.owner) {
        Some(Owner::Bundle(bundle)) => Some(bundle),
        _ => None,
    })
}

/// One JSON array of all payloads, each as it was pushed.
fn array(payloads: &[RawJson]) -> RawJson {
    let bytes: usize = payloads.iter().map(|payload| payload.len() + 1).sum();
    let mut json = String::with_capacity(bytes + 1);
    for (index, payload) in payloads.iter().enumerate() {
        json.push(if index == 0 { '[' } else { ',' });
        json.push_str(payload.as_str());
    }
    json.push(']');
    RawJson::stored(&json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_become_an_array_as_they_were_pushed() {
        let payloads = ["{\"a\": 1}", "null", "\"x\""].map(|text| RawJson::parse(text).unwrap());
        assert_eq!(array(&payloads).as_str(), "[{\"a\": 1},null,\"x\"]");
        assert_eq!(array(&payloads[1..2]).as_str(), "[null]");
    }
}
