//! Bundles in the hands of workers.

use std::time::Duration;

use punctual_core::announce;
use punctual_core::bundle::{BundleKey, Get};
use punctual_core::limits::{BUNDLE_ITEMS_MAX, WAIT_MS_MAX};
use punctual_core::{
    Bundle, Owner, OwnerDecision, OwnerKey, OwnerKind, QueueName, RawJson, Span, Timestamp,
};
use tokio::time::{Instant, sleep, sleep_until};

use super::wait::Looking;
use super::{Found, ROUNDS_MAX, no_bundle};
use crate::engine::owned::step_of;
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
        for _ in 0..ROUNDS_MAX {
            let queue = self.worked_queue(queue).await?;
            if queue.paused {
                return Ok(Scheduled::None { next_at: None });
            }
            let Some(found) = self.store.first_due(&queue.name).await?.and_then(Found::of) else {
                return Ok(Scheduled::None { next_at: None });
            };
            let (now, ontime) = (self.now(), found.bundle.due_at);
            if ontime > now {
                return Ok(Scheduled::None { next_at: Some(ontime) });
            }
            let key = found.bundle.key.clone();
            let owner = OwnerKey::bundle(&queue.name, &key);
            let is_abandoned = found.bundle.abandoned_at.is_some_and(|at| at <= now);
            let before = found.bundle.clone();
            let lapsed = found.bundle.lapsed(&queue.settings, now);
            let news = match is_abandoned {
                true => announce::bundle::lapsed(&before, lapsed.as_deref(), now),
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
            let happened = self.step(step_of(owner, found.revision, decision)).await?;
            if happened {
                self.events.announce(news);
            }
            if happened && !is_abandoned {
                return Ok(Scheduled::Due { key, ontime });
            }
        }
        Err(Failure::Contended)
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
        let _lock = self.owner_locks.lock([&owner]).await;
        for _ in 0..ROUNDS_MAX {
            let Some(found) = self.find(&owner).await? else {
                return Err(no_bundle(&queue.name, key));
            };
            let now = self.now();
            if queue.paused && found.bundle.lock(now).is_none() {
                let text = format!("queue {} is paused and hands nothing out", queue.name);
                return Err(Failure::WrongState(text));
            }
            let lapsed = found.bundle.lapsed(&queue.settings, now);
            let Some(mut bundle) = lapsed else { return Err(no_bundle(&queue.name, key)) };
            // Whoever has it gets the same again; it fitted then, and does now.
            let wanted = match bundle.lock(now) {
                Some(lock) => lock.got,
                None => get.number.unwrap_or(u64::MAX).min(bundle.size),
            };
            let limit = usize::try_from(wanted).unwrap_or(usize::MAX).min(BUNDLE_ITEMS_MAX);
            let payloads = self.payloads(&owner, limit).await?;
            bundle.get(get, payloads.len() as u64, now)?;
            let locked_until = now + get.timeout;
            let decision = OwnerDecision::keep(Owner::Bundle(bundle.clone()));
            if self.step(step_of(owner.clone(), found.revision, decision)).await? {
                return Ok(GotBundle { payloads, bundle, locked_until });
            }
        }
        Err(Failure::Contended)
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
