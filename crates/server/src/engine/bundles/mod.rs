//! Bundles: what clients do to them, and what workers do with them.
//!
//! - `push`: payloads come in; where the server delivers, the task that does so is made or moved in
//!   the same step.
//! - `work`: schedule, get, complete, release. `wait`: those who wait for a bundle to fall due.
//! - `query`: reading and listing.
//!
//! Every change is: read, let `core` decide, step; on a lost race read again.

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
    Bundle, Event, Owner, OwnerDecision, OwnerKey, Patch, Queue, QueueName, State, Timestamp,
};
use punctual_store::{Change, Changes, OwnerListing, Revision, Stored, StoredOwner};

pub(crate) use self::push::Pushing;
pub(super) use self::push::bundle_pushed;
pub(crate) use self::query::{BundleFilter, BundleReading};
pub(super) use self::wait::Bells;
pub(crate) use self::work::Scheduled;

use super::owned::step_of;
use super::{Ask, Engine, Failure};

/// How often a bundle is read again before the request is given up.
const ROUNDS_MAX: usize = 64;
/// Bundles removed at a time.
const REMOVED_MAX: usize = 500;

/// A bundle as it was read.
struct Found {
    bundle: Box<Bundle>,
    revision: Revision,
}

impl Found {
    fn of(stored: StoredOwner) -> Option<Self> {
        match stored.owner {
            Owner::Bundle(bundle) => Some(Self { bundle, revision: stored.revision }),
            _ => None,
        }
    }
}

impl Engine {
    async fn find(&self, key: &OwnerKey) -> Result<Option<Found>, Failure> {
        Ok(self.owner(key).await?.and_then(Found::of))
    }

    /// Reads a queue whose bundles workers take.
    async fn worked_queue(&self, name: &QueueName) -> Result<Arc<Queue>, Failure> {
        let queue = self.queue(name).await?;
        if queue.settings.mode == Mode::Pull {
            return Ok(queue);
        }
        Err(Failure::WrongState(format!(
            "workers take bundles from queues of mode pull only, and queue {name} is of another"
        )))
    }

    /// Lets something happen to a bundle that exists, as time has left it.
    async fn change_bundle<T>(
        &self,
        queue: &Queue,
        key: &BundleKey,
        change: impl Fn(Box<Bundle>, Timestamp) -> Result<(OwnerDecision, T), Failure>,
    ) -> Result<T, Failure> {
        let owner = OwnerKey::bundle(&queue.name, key);
        let _lock = self.owner_locks.lock([&owner]).await;
        for _ in 0..ROUNDS_MAX {
            let Some(found) = self.find(&owner).await? else {
                return Err(no_bundle(&queue.name, key));
            };
            let now = self.now();
            let before = found.bundle.clone();
            let lapsed = found.bundle.lapsed(&queue.settings, now);
            let mut news: Vec<_> =
                announce::bundle::lapsed(&before, lapsed.as_deref(), now).into_iter().collect();
            let (decision, answer) = match lapsed {
                Some(bundle) => {
                    let (decision, answer) = change(bundle, now)?;
                    (decision, Ok(answer))
                }
                None => (OwnerDecision::remove(), Err(no_bundle(&queue.name, key))),
            };
            news.extend(decision.spawn.iter().map(|spec| announce::task::pushed(spec, now)));
            if self.step(step_of(owner.clone(), found.revision, decision)).await? {
                self.events.announce(news);
                return answer;
            }
        }
        Err(Failure::Contended)
    }

    /// Carries out a step. False: it lost its race.
    async fn step(&self, step: Changes) -> Result<bool, Failure> {
        Ok(self.store.write_one(step.into()).await?.is_done())
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
            let bundle = found.ok_or_else(|| no_bundle(&queue.name, key))?.bundle;
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
        let _lock = self.owner_locks.lock([&owner]).await;
        for _ in 0..ROUNDS_MAX {
            let Some(found) = self.find(&owner).await? else {
                return Err(no_bundle(&queue.name, key));
            };
            let mut step = step_of(owner.clone(), found.revision, OwnerDecision::remove());
            if let Some(task) = self.task_of(&found.bundle).await? {
                step.tasks.push(self.cleaned(&queue, &task)?);
            }
            if self.step(step).await? {
                self.events.announce([announce::bundle::deleted(&queue.name, key, self.now())]);
                return Ok(());
            }
        }
        Err(Failure::Contended)
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
            for found in page.items.into_iter().filter_map(Found::of) {
                if found.bundle.key.as_str()[prefix.len()..].contains('/') {
                    continue;
                }
                match self.delete_bundle(queue, &found.bundle.key).await {
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

fn no_bundle(queue: &QueueName, key: &BundleKey) -> Failure {
    Failure::NoBundle { queue: queue.clone(), key: key.clone() }
}
