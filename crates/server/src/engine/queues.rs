//! Queues: made on demand, changed by merging, paused, emptied, deleted.

use std::sync::Arc;

use punctual_core::announce::queue::{Change, changed};
use punctual_core::queue::{Mode, SettingsPatch};
use punctual_core::{Queue, QueueName, Refusal, Settings};
use punctual_store::port::PutRefusal;
use punctual_store::{PutQueue, QueueStats, StoreError};

use super::{Engine, Failure};
use crate::access::{self, Scope};

/// How often a queue is read again before the request is given up.
const ROUNDS_MAX: usize = 16;

/// A queue and what it holds.
#[derive(Debug)]
pub(crate) struct QueueReading {
    /// The queue.
    pub(crate) queue: Arc<Queue>,
    /// What it holds.
    pub(crate) stats: QueueStats,
}

/// Which queues to list.
#[derive(Debug, Default)]
pub(crate) struct QueueFilter {
    /// Only those with this tag.
    pub(crate) tag: Option<String>,
    /// Only those of this mode.
    pub(crate) mode: Option<Mode>,
    /// Only those among these.
    pub(crate) scope: Scope,
}

impl Engine {
    /// Makes a queue with its initial settings, if there is none yet and one more may be.
    pub(super) async fn create_queue(&self, name: &QueueName) -> Result<(), Failure> {
        let queue = self.new_queue(name, Settings::initial(name));
        match self.insert_queue(queue).await? {
            Ok(()) => {
                self.tell_changed(name, Change::Created);
                Ok(())
            }
            // Somebody else made it: just as good.
            Err(PutRefusal::Lost) => Ok(()),
            Err(PutRefusal::HoldsTasks) => Err(Failure::Contended),
        }
    }

    fn tell_changed(&self, name: &QueueName, change: Change) {
        self.events.announce([changed(name, change, self.now())]);
    }

    fn new_queue(&self, name: &QueueName, settings: Settings) -> Queue {
        let made_by = access::current().map(|bearer| bearer.mark());
        let settings = Settings { made_by, ..settings };
        Queue { name: name.clone(), settings, paused: false, created_at: self.now() }
    }

    async fn insert_queue(&self, queue: Queue) -> Result<Result<(), PutRefusal>, Failure> {
        queue.name.check_new().map_err(|invalid| Failure::Refused(invalid.into()))?;
        // One at a time, so that the count below still holds when the queue is stored.
        let _one = self.creating.lock().await;
        let queues = self.store.queues().await?;
        let count = queues.iter().filter(|queue| !queue.name.is_built_in()).count();
        if count >= self.max_queues && !queues.iter().any(|other| other.name == queue.name) {
            let rule = format!(
                "the server holds its {} queues; delete one, or raise max_queues",
                self.max_queues
            );
            return Err(Failure::invalid("queue", rule));
        }
        if let Some(max) = access::current().and_then(|bearer| bearer.limits.queues) {
            let own = |other: &&Arc<Queue>| other.settings.made_by == queue.settings.made_by;
            if queues.iter().filter(own).count() as u64 >= max {
                let text = format!("queues: the token made {max} queues, its limit; delete one");
                return Err(Failure::Limited(text));
            }
        }
        Ok(self.store.put_queue(PutQueue { queue, before: None }).await?)
    }

    /// Makes a queue or changes its settings, if `condition` allows it of the settings that are changed.
    /// True: it was made.
    pub(crate) async fn put_queue(
        &self,
        name: &QueueName,
        patch: SettingsPatch,
        condition: impl Fn(Option<&Settings>) -> Result<(), Refusal>,
    ) -> Result<bool, Failure> {
        for _ in 0..ROUNDS_MAX {
            let before = self.store.queue(name).await?;
            condition(before.as_ref().map(|queue| &queue.settings))?;
            let created = before.is_none();
            let stored = match before {
                Some(before) => {
                    let settings = patch.clone().apply(&before.settings, name)?;
                    let kept =
                        patch.check_origin(&before.settings, &settings, &self.secret_headers);
                    kept.map_err(|invalid| Failure::Refused(invalid.into()))?;
                    if settings.url != before.settings.url {
                        settings.check_reach(&self.reach)?;
                    }
                    let queue = Queue { settings, ..Queue::clone(&before) };
                    self.store.put_queue(PutQueue { queue, before: Some(before) }).await?
                }
                None => {
                    let settings = patch.clone().apply(&Settings::initial(name), name)?;
                    settings.check_reach(&self.reach)?;
                    self.insert_queue(self.new_queue(name, settings)).await?
                }
            };
            match stored {
                Ok(()) => {
                    self.bells.ring(name);
                    let change = if created { Change::Created } else { Change::Settings };
                    self.tell_changed(name, change);
                    return Ok(created);
                }
                Err(PutRefusal::Lost) => {}
                Err(PutRefusal::HoldsTasks) => {
                    return Err(Failure::WrongState(format!(
                        "mode: queue {name} holds tasks or bundles; reset it or let them end first"
                    )));
                }
            }
        }
        Err(Failure::Contended)
    }

    /// Stops or resumes handing out tasks.
    pub(crate) async fn pause_queue(&self, name: &QueueName, paused: bool) -> Result<(), Failure> {
        for _ in 0..ROUNDS_MAX {
            let before = self.queue(name).await?;
            if before.paused == paused {
                return Ok(());
            }
            let queue = Queue { paused, ..Queue::clone(&before) };
            if self.store.put_queue(PutQueue { queue, before: Some(before) }).await?.is_ok() {
                self.bells.ring(name);
                self.tell_changed(name, if paused { Change::Paused } else { Change::Resumed });
                return Ok(());
            }
        }
        Err(Failure::Contended)
    }

    /// Drops all tasks and bundles of a queue.
    pub(crate) async fn reset_queue(&self, name: &QueueName) -> Result<(), Failure> {
        if !self.store.reset_queue(name).await? {
            return Err(Failure::NoQueue(name.clone()));
        }
        self.tell_changed(name, Change::Reset);
        Ok(self.tell_owners(Some(name)).await.map_err(StoreError::in_doubt)?)
    }

    /// Drops a queue and all it holds.
    pub(crate) async fn delete_queue(&self, name: &QueueName) -> Result<(), Failure> {
        if name.is_built_in() {
            let text = format!("queue {name} is built in and cannot be deleted; reset empties it");
            return Err(Failure::WrongState(text));
        }
        if !self.store.delete_queue(name).await? {
            return Err(Failure::NoQueue(name.clone()));
        }
        self.tell_changed(name, Change::Deleted);
        self.paces.forget(name);
        self.lines.fail(name, &Failure::NoQueue(name.clone()));
        self.bells.ring(name);
        Ok(self.tell_owners(Some(name)).await.map_err(StoreError::in_doubt)?)
    }

    /// Tells plans and flows that tasks of a queue, or of any, may be gone without a word.
    pub(super) async fn tell_owners(&self, queue: Option<&QueueName>) -> Result<(), StoreError> {
        self.tell_plans(queue).await?;
        self.tell_flows(queue).await
    }

    /// Reads a queue and what it holds.
    pub(crate) async fn read_queue(&self, name: &QueueName) -> Result<QueueReading, Failure> {
        let queue = self.queue(name).await?;
        let stats = self.store.stats(std::slice::from_ref(name)).await?.pop().flatten();
        let stats = stats.ok_or_else(|| Failure::NoQueue(name.clone()))?;
        Ok(QueueReading { queue, stats })
    }

    /// Lists queues by name, from the one after `cursor` on, and says where the next page begins.
    pub(crate) async fn list_queues(
        &self,
        filter: &QueueFilter,
        limit: usize,
        cursor: Option<&QueueName>,
    ) -> Result<(Vec<QueueReading>, Option<QueueName>), Failure> {
        let mut matching: Vec<Arc<Queue>> = self.store.queues().await?;
        matching.retain(|queue| {
            cursor.is_none_or(|cursor| queue.name > *cursor)
                && filter.scope.covers(&queue.name)
                && filter.mode.is_none_or(|mode| queue.settings.mode == mode)
                && filter.tag.as_ref().is_none_or(|tag| queue.settings.tag.as_ref() == Some(tag))
        });
        let more = matching.len() > limit;
        matching.truncate(limit);
        let names: Vec<QueueName> = matching.iter().map(|queue| queue.name.clone()).collect();
        let stats = self.store.stats(&names).await?;
        let items = matching
            .into_iter()
            .zip(stats)
            .filter_map(|(queue, stats)| Some(QueueReading { queue, stats: stats? }))
            .collect();
        Ok((items, names.into_iter().next_back().filter(|_| more)))
    }
}
