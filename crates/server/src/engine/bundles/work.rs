//! Bundles in the hands of workers.

use std::time::Duration;

use punctual_core::announce;
use punctual_core::bundle::{BundleKey, Get};
use punctual_core::limits::{BUNDLE_ITEMS_MAX, WAIT_MS_MAX};
use punctual_core::{
    Announcements, Bundle, Changes, Owner, OwnerDecision, OwnerKey, OwnerKind, Queue, QueueName,
    RawJson, Span, StoredOwner, Timestamp,
};
use tokio::time::{Instant, sleep, sleep_until};

use super::no_bundle;
use super::wait::Looking;
use crate::engine::records::{Halt, Records};
use crate::engine::transact::Verdict;
use crate::engine::{Engine, Failure};

/// How often somebody who waits for a due time looks at the clock, which may be set meanwhile.
const CLOCK_LOOK: Duration = Duration::from_secs(1);

/// What a worker that asks for a due bundle is told.
#[derive(Debug)]
pub(crate) enum Scheduled {
    /// This one is due.
    Due {
        /// Its key.
        key: BundleKey,
        /// Since when.
        ontime: Timestamp,
    },
    /// None is due.
    None {
        /// When the first will be.
        next_at: Option<Timestamp>,
    },
}

/// What a get hands out.
#[derive(Debug)]
pub(crate) struct GotBundle {
    /// The payloads, in push order.
    pub(crate) payloads: Vec<RawJson>,
    /// The bundle, locked.
    pub(crate) bundle: Box<Bundle>,
    /// Until when.
    pub(crate) locked_until: Timestamp,
}

impl Engine {
    /// Hands out a bundle that is due, waiting for one if the worker wants to.
    pub(crate) async fn schedule(
        &self,
        queue: &QueueName,
        wait: Span,
    ) -> Result<Scheduled, Failure> {
        if wait.as_millis() > WAIT_MS_MAX {
            return Err(Failure::invalid("wait", "at most 60 seconds"));
        }
        let end = Instant::now() + Duration::from_millis(wait.as_millis().unsigned_abs());
        let Some(listener) = self.bells.listen(queue) else {
            return self.schedule_now(queue).await;
        };
        loop {
            let Looking { rings, rung } = listener.look();
            let mut rung = std::pin::pin!(rung);
            rung.as_mut().enable();
            let found = self.schedule_now(queue).await?;
            let Scheduled::None { next_at } = &found else { return Ok(found) };
            if wait.is_zero() || self.bells.is_closed() {
                return Ok(found);
            }
            listener.looked(rings);
            tokio::select! {
                () = rung => {}
                () = self.until(*next_at) => {}
                () = sleep_until(end) => return Ok(found),
            }
        }
    }

    /// Waits for a time on the store's clock.
    async fn until(&self, at: Option<Timestamp>) {
        let Some(at) = at else { return std::future::pending().await };
        loop {
            let left = at.since(self.now()).as_millis();
            if left <= 0 {
                return;
            }
            sleep(Duration::from_millis(left.unsigned_abs()).min(CLOCK_LOOK)).await;
        }
    }

    async fn schedule_now(&self, queue: &QueueName) -> Result<Scheduled, Failure> {
        // One at a time, as all of them want the same bundle: the first.
        let line = OwnerKey { kind: OwnerKind::Bundle, queue: queue.clone(), name: "".into() };
        let _lock = self.owner_locks.lock([&line]).await;
        // Every round that hands out nothing has removed or failed an abandoned bundle.
        loop {
            let queue = self.worked_queue(queue).await?;
            let scheduled = self.transact_locked(|records, now| schedule(records, &queue, now));
            if let Some(scheduled) = scheduled.await?.answer()? {
                return Ok(scheduled);
            }
        }
    }

    /// Locks a bundle for a worker and hands out its first payloads.
    pub(crate) async fn get_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
        get: &Get,
    ) -> Result<GotBundle, Failure> {
        get.check().map_err(|invalid| Failure::Refused(invalid.into()))?;
        let queue = self.worked_queue(queue).await?;
        let owner = OwnerKey::bundle(&queue.name, key);
        let got = self.transact(std::slice::from_ref(&owner), |records, now| {
            let no_bundle = || no_bundle(&queue.name, key);
            let (bundle, revision) = records.bundle(&owner)?.ok_or_else(no_bundle)?;
            if queue.paused && bundle.lock(now).is_none() {
                let text = format!("queue {} is paused and hands nothing out", queue.name);
                return Err(Failure::WrongState(text).into());
            }
            let lapsed = Box::new(bundle.clone()).lapsed(&queue.settings, now);
            let mut bundle = lapsed.ok_or_else(no_bundle)?;
            // Its holder gets the same again; it fitted then, and does now.
            let wanted = match bundle.lock(now) {
                Some(lock) => lock.got,
                None => get.number.unwrap_or(u64::MAX).min(bundle.size),
            };
            let limit = usize::try_from(wanted).unwrap_or(usize::MAX).min(BUNDLE_ITEMS_MAX);
            let payloads = records.items(&owner, 0, limit)?.to_vec();
            bundle.get(get, payloads.len() as u64, now)?;
            let locked_until = now + get.timeout;
            let decision = OwnerDecision::keep(Owner::Bundle(bundle.clone()));
            let changes = Changes::of_owner(owner.clone(), revision, decision);
            let got = GotBundle { payloads, bundle, locked_until };
            Ok(Verdict::Write(changes, Announcements::default(), got))
        });
        got.await?.answer()
    }

    /// The first payloads of a bundle are dealt with. Says how many are left.
    pub(crate) async fn complete_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
        number: Option<u64>,
        random: &str,
    ) -> Result<u64, Failure> {
        let queue = self.worked_queue(queue).await?;
        let completed = self.change_bundle(&queue, key, |bundle, now| {
            let (drop_first, left) = bundle.complete(number, random, now)?;
            Ok(match left {
                Some(left) => {
                    let size = left.size;
                    let kept = OwnerDecision::keep(Owner::Bundle(left));
                    (OwnerDecision { drop_first, ..kept }, (drop_first, size))
                }
                None => (OwnerDecision::remove(), (drop_first, 0)),
            })
        });
        let (number, left) = completed.await?;
        let now = self.now();
        self.events.announce([announce::bundle::delivered(&queue.name, key, number, left, now)]);
        Ok(left)
    }

    /// A worker gives a bundle back. Says how much is in it and when it is due.
    pub(crate) async fn release_bundle(
        &self,
        queue: &QueueName,
        key: &BundleKey,
        random: &str,
        ontime: Option<Timestamp>,
    ) -> Result<(u64, Timestamp), Failure> {
        let queue = self.worked_queue(queue).await?;
        self.change_bundle(&queue, key, |mut bundle, now| {
            bundle.release(random, ontime, now)?;
            let answer = (bundle.size, bundle.due_at);
            Ok((OwnerDecision::keep(Owner::Bundle(bundle)), answer))
        })
        .await
    }
}

/// Hands out the bundle that is due first. None: it was abandoned, and the next one is to be looked at.
fn schedule(
    records: &Records,
    queue: &Queue,
    now: Timestamp,
) -> Result<Verdict<Option<Scheduled>>, Halt> {
    let none = |next_at| Ok(Verdict::Answer(Some(Scheduled::None { next_at })));
    if queue.paused {
        return none(None);
    }
    let Some(StoredOwner { owner: Owner::Bundle(bundle), revision }) =
        records.first_due(&queue.name)?
    else {
        return none(None);
    };
    let (key, ontime) = (bundle.key.clone(), bundle.due_at);
    if ontime > now {
        return none(Some(ontime));
    }
    let owner = OwnerKey::bundle(&queue.name, &key);
    let is_abandoned = bundle.abandoned_at.is_some_and(|at| at <= now);
    let lapsed = bundle.clone().lapsed(&queue.settings, now);
    let news = match is_abandoned {
        true => announce::bundle::lapsed(bundle, lapsed.as_deref(), now),
        false => Some(announce::bundle::due(&queue.name, &key, now)),
    };
    let decision = match lapsed {
        Some(mut bundle) => {
            if !is_abandoned {
                bundle.start(&queue.settings, now);
            }
            OwnerDecision::keep(Owner::Bundle(bundle))
        }
        None => OwnerDecision::remove(),
    };
    let changes = Changes::of_owner(owner, *revision, decision);
    let scheduled = (!is_abandoned).then_some(Scheduled::Due { key, ontime });
    Ok(Verdict::Write(changes, news.into_iter().collect(), scheduled))
}
