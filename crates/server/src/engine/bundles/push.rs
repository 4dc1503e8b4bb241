//! Pushes into bundles.

use std::sync::Arc;

use punctual_core::announce;
use punctual_core::bundle::{BundleKey, BundlePush, Delivering, Pushed};
use punctual_core::queue::Mode;
use punctual_core::task::Edit;
use punctual_core::{
    Announcements, Change, Changes, Event, Fate, Keyed, Owner, OwnerChange, OwnerKey, Patch, Queue,
    QueueName, Stored, TaskId, Timestamp,
};

use super::delivery_of;
use crate::engine::records::{Found, Records};
use crate::engine::transact::{Done, Verdict};
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
        self.keyed.map(|key| key.keyed(self.own.clone()))
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
        let keys = [OwnerKey::bundle(&queue.name, &pushing.key)];
        let pushed = self.transact(&keys, |records, now| {
            let (changes, news, answer) = self.push_into(records, &queue, pushing, now)?;
            Ok(Verdict::Write(changes, news, answer))
        });
        match pushed.await? {
            Done::Now(answer) => Ok(answer),
            Done::Before { items, .. } => {
                let own = items.into_iter().next().and_then(|item| item.id);
                self.replayed(&queue.name, pushing, own.as_ref()).await
            }
        }
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
        let now = found.map(|bundle| (bundle.size, bundle.next_due_at()));
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

    /// Decides a push: the changes, the events that tell of them, and the answer.
    pub(in crate::engine) fn push_into(
        &self,
        records: &Records,
        queue: &Queue,
        pushing: &Pushing,
        now: Timestamp,
    ) -> Found<(Changes, Announcements, BundleAnswer)> {
        let is_delivered = delivers(queue, &pushing.push)?;
        let found = records.bundle(&OwnerKey::bundle(&queue.name, &pushing.key))?;
        let task = match found {
            Some((bundle, _)) if is_delivered => delivery_of(records, bundle)?,
            _ => None,
        };
        let expected = found.map(|(_, revision)| revision);
        let before = found.map(|(bundle, _)| Box::new(bundle.clone()));
        let status = task.map(|stored| &*stored.task.status);
        let delivering = is_delivered.then(|| Delivering::of(status));
        let push = &pushing.push;
        let pushed = push.apply(queue, &pushing.key, before, delivering, now)?;
        let Pushed { mut bundle, drop_first, deliver_at } = pushed;
        let mut changes = Changes { keyed: pushing.keyed(), ..Changes::default() };
        match (delivering, deliver_at, task) {
            (Some(Delivering::Not), _, task) => {
                // One task per bundle: that of a failed delivery makes way.
                changes.tasks.extend(task.map(|task| self.cleaned(queue, task)).transpose()?);
                changes.births.push(bundle.deliver_by(self.ids.one(now), now));
            }
            (Some(_), Some(at), Some(task)) => {
                let edit = Edit { due: Patch::Set(at), ..Edit::default() };
                let decision = self.decide(queue, &task.task, Event::Edit(edit), now)?;
                changes.tasks.push(Change { expected: task.revision, decision });
            }
            (_, _, Some(Stored { task, revision })) => {
                // Only to be sure that its delivery has not begun meanwhile, or ended.
                let decision = task.clone().kept(Fate::Same);
                changes.tasks.push(Change { expected: *revision, decision });
            }
            (_, _, None) => {}
        }
        let news = std::iter::once(announce::bundle::pushed(&bundle, now));
        let births = changes.births.iter().map(|spec| announce::task::pushed(spec, now));
        let news = news.chain(births).collect();
        let reading = Some((bundle.size, bundle.next_due_at()));
        let answer = BundleAnswer { key: pushing.key_with(None), now: reading, replayed: false };
        changes.owners.push(OwnerChange {
            key: OwnerKey::bundle(&queue.name, &pushing.key),
            expected,
            after: Some(Owner::Bundle(bundle)),
            drop_first: usize::try_from(drop_first).unwrap_or(usize::MAX),
            append: vec![push.payload.clone()],
        });
        Ok((changes, news, answer))
    }
}

/// Whether the server delivers what is pushed, and whether it knows where.
fn delivers(queue: &Queue, push: &BundlePush) -> Result<bool, Failure> {
    queue.check_bundles()?;
    if queue.settings.mode != Mode::Http {
        return Ok(false);
    }
    if push.target.is_none() && queue.settings.url.is_none() {
        return Err(Failure::invalid("url", "the queue's settings must name one"));
    }
    Ok(true)
}
