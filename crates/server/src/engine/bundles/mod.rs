//! Bundles: what clients do to them, and what workers do with them.
//!
//! - `push`: payloads come in; where the server delivers, the task that does so is made or moved in
//!   the same step.
//! - `work`: schedule, get, complete, release. `wait`: those who wait for a bundle to fall due.
//! - `query`: reading and listing.
//!
//! Every change goes through `transact`.

mod push;
mod query;
mod wait;
mod work;

use std::sync::Arc;

use punctual_core::announce;
use punctual_core::bundle::BundleKey;
use punctual_core::queue::Mode;
use punctual_core::task::Edit;
use punctual_core::{
    Announcements, Bundle, Change, Changes, Event, Owner, OwnerChange, OwnerDecision, OwnerKey,
    Patch, Queue, QueueName, State, Stored, StoredOwner, Timestamp,
};
use punctual_store::OwnerListing;

pub(crate) use self::push::Pushing;
pub(crate) use self::query::{BundleFilter, BundleReading};
pub(super) use self::wait::Bells;
pub(crate) use self::work::Scheduled;

use super::records::{Found, Records};
use super::transact::Verdict;
use super::{Ask, Engine, Failure};

/// Bundles removed at a time.
const REMOVED_MAX: usize = 500;

fn bundle_of(stored: StoredOwner) -> Option<Box<Bundle>> {
    match stored.owner {
        Owner::Bundle(bundle) => Some(bundle),
        _ => None,
    }
}

impl Engine {
    async fn find(&self, key: &OwnerKey) -> Result<Option<Box<Bundle>>, Failure> {
        Ok(self.owner(key).await?.and_then(bundle_of))
    }

    /// Reads a queue whose bundles workers take.
    async fn worked_queue(&self, name: &QueueName) -> Result<Arc<Queue>, Failure> {
        let queue = self.queue(name).await?;
        queue.check_bundle_work()?;
        Ok(queue)
    }

    /// Lets something happen to a bundle that exists, as time has left it.
    async fn change_bundle<T>(
        &self,
        queue: &Queue,
        key: &BundleKey,
        change: impl Fn(Box<Bundle>, Timestamp) -> Result<(OwnerDecision, T), Failure>,
    ) -> Result<T, Failure> {
        let owner = OwnerKey::bundle(&queue.name, key);
        let changed = self.transact(std::slice::from_ref(&owner), |records, now| {
            let found = records.bundle(&owner)?;
            let (before, revision) = found.ok_or_else(|| no_bundle(&queue.name, key))?;
            let lapsed = Box::new(before.clone()).lapsed(&queue.settings, now);
            let lapse = announce::bundle::lapsed(before, lapsed.as_deref(), now);
            let mut news: Announcements = lapse.into_iter().collect();
            let (decision, answer) = match lapsed {
                Some(bundle) => {
                    let (decision, answer) = change(bundle, now)?;
                    (decision, Ok(answer))
                }
                None => (OwnerDecision::remove(), Err(no_bundle(&queue.name, key))),
            };
            news.extend(decision.spawn.iter().map(|spec| announce::task::pushed(spec, now)));
            let changes = Changes::of_owner(owner.clone(), revision, decision);
            Ok(Verdict::Write(changes, news, answer))
        });
        changed.await?.answer()?
    }

    /// Adds strings to those kept with a bundle and takes others away.
    pub(crate) async fn change_data(
        &self,
        queue: &QueueName,
        key: &BundleKey,
        add: &[String],
        remove: &[String],
    ) -> Result<(), Failure> {
        let queue = self.queue(queue).await?;
        self.change_bundle(&queue, key, |mut bundle, _| {
            bundle.change_data(add, remove)?;
            Ok((OwnerDecision::keep(Owner::Bundle(bundle)), ()))
        })
        .await
    }

    /// Has a bundle dealt with now that failed, or waits for its time. Says how it read just after
    /// that.
    pub(crate) async fn retry_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
    ) -> Result<BundleReading, Failure> {
        let queue = self.queue(queue).await?;
        if queue.settings.mode == Mode::Http {
            let found = self.find(&OwnerKey::bundle(&queue.name, key)).await?;
            let bundle = found.ok_or_else(|| no_bundle(&queue.name, key))?;
            if let Some(stored) = self.task_of(&bundle).await? {
                let id = stored.task.spec.id.clone();
                let now = self.now();
                let event = match stored.task.status.state_at(now) {
                    State::Waiting | State::Ready => {
                        Event::Edit(Edit { due: Patch::Set(now), ..Edit::default() })
                    }
                    _ => Event::Retry { force: false },
                };
                let ask = Ask { id, event };
                self.happen_to_one(&queue.name, ask).await?;
                return Ok(BundleReading { bundle, delivery: Some(stored.task.status) });
            }
        }
        self.change_bundle(&queue, key, |mut bundle, now| {
            bundle.retry(now)?;
            let mut spawn = Vec::new();
            if queue.settings.mode == Mode::Http {
                spawn.push(bundle.deliver_by(self.ids.one(now), now));
            }
            let reading = BundleReading { bundle: bundle.clone(), delivery: None };
            let kept = OwnerDecision::keep(Owner::Bundle(bundle));
            Ok((OwnerDecision { spawn, ..kept }, reading))
        })
        .await
    }

    async fn task_of(&self, bundle: &Bundle) -> Result<Option<Stored>, Failure> {
        let Some(id) = &bundle.task else { return Ok(None) };
        Ok(self.store.read(&bundle.queue, std::slice::from_ref(id)).await?.pop().flatten())
    }

    /// Removes a bundle, and with it the task that delivers it.
    pub(crate) async fn delete_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
    ) -> Result<(), Failure> {
        let queue = self.queue(queue).await?;
        let owner = OwnerKey::bundle(&queue.name, key);
        let deleted = self.transact(std::slice::from_ref(&owner), |records, now| {
            let found = records.bundle(&owner)?;
            let (bundle, revision) = found.ok_or_else(|| no_bundle(&queue.name, key))?;
            let mut changes = Changes::from(OwnerChange::remove(owner.clone(), revision));
            if let Some(task) = delivery_of(records, bundle)? {
                changes.tasks.push(self.cleaned(&queue, task)?);
            }
            let news = announce::bundle::deleted(&queue.name, key, now).into();
            Ok(Verdict::Write(changes, news, ()))
        });
        deleted.await?.answer()
    }

    /// Removes all bundles of a queue whose key begins like this and goes on without a slash.
    pub(crate) async fn delete_bundles(
        &self,
        queue: &QueueName,
        prefix: &str,
    ) -> Result<(), Failure> {
        let mut cursor = None;
        loop {
            let listing = OwnerListing {
                kind: punctual_core::OwnerKind::Bundle,
                queue: Some(queue.clone()),
                prefix: prefix.to_owned(),
                cursor,
                limit: REMOVED_MAX,
            };
            let page = self.store.list_owners(listing).await?;
            for bundle in page.items.into_iter().filter_map(bundle_of) {
                if bundle.key.as_str()[prefix.len()..].contains('/') {
                    continue;
                }
                match self.delete_bundle(queue, &bundle.key).await {
                    Ok(()) | Err(Failure::NoBundle { .. }) => {}
                    Err(failure) => return Err(failure),
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// The removal of a task, as a part of a step.
    fn cleaned(&self, queue: &Queue, stored: &Stored) -> Result<Change, Failure> {
        let decision = self.decide(queue, &stored.task, Event::Clean, self.now())?;
        Ok(Change { expected: stored.revision, decision })
    }
}

/// The task that delivers a bundle.
fn delivery_of<'a>(records: &'a Records, bundle: &Bundle) -> Found<Option<&'a Stored>> {
    match &bundle.task {
        Some(id) => records.task(&bundle.queue, id),
        None => Ok(None),
    }
}

fn no_bundle(queue: &QueueName, key: &BundleKey) -> Failure {
    Failure::NoBundle { queue: queue.clone(), key: key.clone() }
}
