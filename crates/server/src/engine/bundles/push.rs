//! Pushes into bundles.

use std::sync::Arc;

use punctual_core::announce;
use punctual_core::bundle::{BundleKey, BundlePush, Delivering, Pushed};
use punctual_core::queue::Mode;
use punctual_core::task::Edit;
use punctual_core::{
    Announcement, Event, Fate, Owner, OwnerKey, Patch, Queue, QueueName, TaskId, Timestamp,
};
use punctual_store::{Change, Changes, Keyed, KeyedItem, OwnerChange, Stored, Written};

use super::{Found, ROUNDS_MAX};
use crate::engine::{Engine, Failure, Key};

/// A push into a bundle.
#[derive(Debug)]
pub(crate) struct Pushing {
    /// The bundle's key.
    pub(crate) key: BundleKey,
    /// What makes the key one of its own, where nothing merges.
    pub(crate) own: Option<TaskId>,
    /// What is pushed.
    pub(crate) push: BundlePush,
    /// The request, where it carries an `Idempotency-Key`.
    pub(crate) keyed: Option<Key>,
}

/// What came of a push.
#[derive(Debug)]
pub(crate) struct BundleAnswer {
    /// The bundle's key.
    pub(crate) key: BundleKey,
    /// How many payloads are in the bundle, and when what was pushed is due; none: the request was
    /// answered before, and the bundle is gone by now.
    pub(crate) now: Option<(u64, Timestamp)>,
    /// Whether the request was answered before.
    pub(crate) replayed: bool,
}

impl Pushing {
    /// The bundle's key with another ending that makes it its own.
    fn key_with(&self, other: Option<&TaskId>) -> BundleKey {
        let common = self.own.as_ref().and_then(|own| self.key.as_str().strip_suffix(own.as_str()));
        match (common, other) {
            (Some(common), Some(other)) => BundleKey::composed(format!("{common}{other}")),
            _ => self.key.clone(),
        }
    }

    fn keyed(&self) -> Option<Keyed> {
        let Key { key, request, status, single } = self.keyed?;
        let items = vec![KeyedItem { id: self.own.clone(), code: None }];
        Some(Keyed { key, request, status, single, items, positions: Vec::new() })
    }
}

impl Engine {
    /// A new id, for a bundle that nothing merges with.
    pub(crate) fn new_id(&self) -> TaskId {
        self.ids.one(self.now())
    }

    /// Pushes into a bundle, which is made if there is none.
    pub(crate) async fn push_bundle(
        &self,
        queue: &QueueName,
        pushing: &Pushing,
    ) -> Result<BundleAnswer, Failure> {
        pushing.push.check()?;
        if let Some(target) = &pushing.push.target {
            target.check()?;
            target.check_reach(&self.reach)?;
        }
        let queue = self.bundle_queue(queue).await?;
        let owner = OwnerKey::bundle(&queue.name, &pushing.key);
        let _lock = self.owner_locks.lock([&owner]).await;
        for _ in 0..ROUNDS_MAX {
            let (step, answer) = self.bundle_step(&queue, pushing).await?;
            let news: Vec<_> = bundle_pushed(&step, self.now()).collect();
            match self.store.write_one(step.into()).await? {
                Written::Task(_) | Written::Records { .. } => {
                    self.events.announce(news);
                    return Ok(answer);
                }
                Written::Replayed { items, .. } => {
                    let own = items.into_iter().next().and_then(|item| item.id);
                    return self.replayed(&queue.name, pushing, own.as_ref()).await;
                }
                Written::KeyReused => return Err(Failure::KeyReused),
                Written::Lost => {}
            }
        }
        Err(Failure::Contended)
    }

    /// The step that a push is.
    pub(in crate::engine) async fn bundle_step(
        &self,
        queue: &Queue,
        pushing: &Pushing,
    ) -> Result<(Changes, BundleAnswer), Failure> {
        let delivers = delivers(queue, &pushing.push)?;
        let found = self.find(&OwnerKey::bundle(&queue.name, &pushing.key)).await?;
        let task = match &found {
            Some(found) if delivers => self.task_of(&found.bundle).await?,
            _ => None,
        };
        self.pushed(queue, pushing, delivers, found, task)
    }

    /// The answer to a request that was answered before, as its bundle reads now.
    async fn replayed(
        &self,
        queue: &QueueName,
        pushing: &Pushing,
        own: Option<&TaskId>,
    ) -> Result<BundleAnswer, Failure> {
        let key = pushing.key_with(own);
        let found = self.find(&OwnerKey::bundle(queue, &key)).await?;
        let now = found.map(|found| (found.bundle.size, found.bundle.next_due_at()));
        Ok(BundleAnswer { key, now, replayed: true })
    }

    /// Reads a queue to push into, and makes it if there is none.
    async fn bundle_queue(&self, name: &QueueName) -> Result<Arc<Queue>, Failure> {
        match self.queue(name).await {
            Err(Failure::NoQueue(_)) if self.auto_create => {
                self.create_queue(name).await?;
                self.queue(name).await
            }
            read => read,
        }
    }

    /// The step that a push is, by what there is.
    fn pushed(
        &self,
        queue: &Queue,
        pushing: &Pushing,
        delivers: bool,
        found: Option<Found>,
        task: Option<Stored>,
    ) -> Result<(Changes, BundleAnswer), Failure> {
        let now = self.now();
        let expected = found.as_ref().map(|found| found.revision);
        let before = found.map(|found| found.bundle);
        let status = task.as_ref().map(|stored| &*stored.task.status);
        let delivering = delivers.then(|| Delivering::of(status));
        let push = &pushing.push;
        let pushed = push.apply(queue, &pushing.key, before, delivering, now)?;
        let Pushed { mut bundle, drop_first, deliver_at } = pushed;
        let mut step = Changes { keyed: pushing.keyed(), ..Changes::default() };
        match (delivering, deliver_at, task) {
            (Some(Delivering::Not), _, task) => {
                // One task per bundle: that of a failed delivery makes way.
                step.tasks.extend(task.map(|task| self.cleaned(queue, &task)).transpose()?);
                step.births.push(bundle.deliver_by(self.ids.one(now), now));
            }
            (Some(_), Some(at), Some(task)) => {
                let edit = Edit { due: Patch::Set(at), ..Edit::default() };
                let decision = self.decide(queue, &task.task, Event::Edit(edit), now)?;
                step.tasks.push(Change { expected: task.revision, decision });
            }
            (_, _, Some(Stored { task, revision })) => {
                // Only to be sure that its delivery has not begun meanwhile, or ended.
                let decision = task.kept(Fate::Same);
                step.tasks.push(Change { expected: revision, decision });
            }
            (_, _, None) => {}
        }
        let now = Some((bundle.size, bundle.next_due_at()));
        let answer = BundleAnswer { key: pushing.key_with(None), now, replayed: false };
        step.owners.push(OwnerChange {
            key: OwnerKey::bundle(&queue.name, &pushing.key),
            expected,
            after: Some(Owner::Bundle(bundle)),
            drop_first: usize::try_from(drop_first).unwrap_or(usize::MAX),
            append: vec![push.payload.clone()],
        });
        Ok((step, answer))
    }
}

/// What a step that is a push into a bundle announces: that, and the task that shall deliver it.
pub(in crate::engine) fn bundle_pushed(
    step: &Changes,
    now: Timestamp,
) -> impl Iterator<Item = Announcement> {
    let bundles = step.owners.iter().filter_map(move |change| match &change.after {
        Some(Owner::Bundle(bundle)) => Some(announce::bundle::pushed(bundle, now)),
        _ => None,
    });
    bundles.chain(step.births.iter().map(move |spec| announce::task::pushed(spec, now)))
}

/// Whether the server delivers what is pushed, and whether it knows where.
fn delivers(queue: &Queue, push: &BundlePush) -> Result<bool, Failure> {
    match queue.settings.mode {
        Mode::Pull => Ok(false),
        Mode::Http if push.target.is_some() || queue.settings.url.is_some() => Ok(true),
        Mode::Http => Err(Failure::invalid("url", "the queue's settings must name one")),
        _ => Err(Failure::WrongState(format!(
            "bundles apply to queues of mode pull and http only, and queue {} is of another",
            queue.name
        ))),
    }
}
