//! The dispatcher: one loop that looks at queues that may have tasks, and hands them out.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::queue::Mode;
use punctual_core::{Queue, QueueName, Timestamp};
use punctual_store::StoreError;
use tokio::time::{Instant, interval, sleep_until};

use super::assign::assign;
use super::turns::{Rivals, Turns};
use crate::alarms::Alarms;
use crate::calls::Due;
use crate::engine::{Backoff, Engine, complain};

/// How often workers and votes are looked for that other servers know of.
const REFRESH: Duration = Duration::from_secs(1);

/// Hands out tasks.
pub(crate) struct Dispatcher {
    engine: Arc<Engine>,
    due: Due,
    alarms: Alarms<QueueName>,
    turns: Turns,
    backoff: Backoff,
}

/// What came of a look at a queue.
#[derive(Debug, Default)]
struct Look {
    /// Whether something was handed out, so that there may be more.
    is_progress: bool,
    /// Whether there may be tasks for which nobody had a place.
    is_hungry: bool,
    /// When the rate limit lets the next one go.
    again_at: Option<Timestamp>,
}

impl Dispatcher {
    /// A dispatcher that is not running yet.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            due: Due::default(),
            alarms: Alarms::default(),
            turns: Turns::default(),
            backoff: Backoff::default(),
        }
    }

    /// Hands out tasks for ever. It may be dropped at any time: what was handed out is confirmed, or
    /// its time to confirm ends.
    pub(crate) async fn run(mut self) {
        while let Err(failure) = self.find().await {
            complain("workers and the queues they serve", &failure);
            self.backoff.wait().await;
        }
        let engine = self.engine.clone();
        let mut refresh = interval(REFRESH);
        loop {
            while let Some(name) = self.due.pop() {
                self.look(name).await;
            }
            engine.dispatch.calls.is_through(true);
            let alarm = self.alarms.next_at();
            let is_shared = !engine.store().is_exclusive() && engine.roster.is_polled();
            tokio::select! {
                called = engine.dispatch.calls.next() => {
                    let mut called: Vec<QueueName> = called.into_iter().collect();
                    called.sort_by_key(|queue| self.turns.last_served(queue));
                    called.into_iter().for_each(|queue| self.due.push(queue));
                }
                () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => {
                    while let Some(queue) = self.alarms.pop(Instant::now()) {
                        self.due.push(queue);
                    }
                }
                _ = refresh.tick(), if is_shared => self.refresh().await,
            }
        }
    }

    /// Who is there, and what was ready before the start and was announced to nobody.
    async fn find(&mut self) -> Result<(), StoreError> {
        self.engine.find_workers().await?;
        self.engine.find_votes().await?;
        for queue in self.engine.handed_out_queues().await? {
            self.engine.free_own(&queue).await?;
            self.due.push(queue.name.clone());
        }
        Ok(())
    }

    /// Hears what other servers know of workers and votes.
    async fn refresh(&mut self) {
        let found = match self.engine.find_workers().await {
            Ok(()) => self.engine.find_votes().await,
            failed => failed,
        };
        if let Err(failure) = found {
            complain("workers of other servers", &failure);
        }
    }

    /// Looks at a queue, and sees to it that it is looked at again.
    async fn look(&mut self, name: QueueName) {
        // A place that is freed while it is looked at must be heard of.
        self.engine.dispatch.hungry().insert(name.clone());
        let rivals = self.turns.begin(&name, &self.engine.dispatch.hungry());
        match self.look_once(&name, &rivals).await {
            Ok(look) => {
                self.backoff.reset();
                if !look.is_hungry {
                    self.engine.dispatch.hungry().remove(&name);
                }
                if let Some(at) = look.again_at {
                    let wait = at.since(self.engine.now()).as_millis().unsigned_abs();
                    self.alarms.set(Instant::now() + Duration::from_millis(wait), name);
                } else if look.is_progress {
                    self.turns.served(&name);
                    self.due.push(name);
                }
            }
            Err(failure) => {
                complain("tasks to hand out", &failure);
                self.alarms.set(Instant::now() + self.backoff.next(), name);
            }
        }
    }

    async fn look_once(&mut self, name: &QueueName, rivals: &Rivals) -> Result<Look, StoreError> {
        let Some(queue) = self.engine.store().queue(name).await? else {
            self.turns.forget(name);
            return Ok(Look::default());
        };
        match queue.settings.mode {
            Mode::Dispatch => self.assign(&queue, rivals).await,
            Mode::Vote => self.open(&queue).await,
            Mode::Pub => {
                let (count, again_at) = self.engine.publish(&queue).await?;
                Ok(Look { is_progress: count > 0, is_hungry: false, again_at })
            }
            Mode::Pull | Mode::Http => Ok(Look::default()),
        }
    }

    async fn assign(&mut self, queue: &Queue, rivals: &Rivals) -> Result<Look, StoreError> {
        let is_shared = !self.engine.store().is_exclusive();
        if is_shared {
            // Who has joined or left elsewhere is known before anything is handed out.
            self.engine.find_workers().await?;
        }
        let assigned = assign(&self.engine, queue, rivals).await?;
        if is_shared && assigned.is_hungry && assigned.count == 0 {
            // Somebody may join elsewhere, and nobody says so here.
            self.alarms.set(Instant::now() + REFRESH, queue.name.clone());
        }
        if assigned.is_hungry && !assigned.yielded_to.is_empty() {
            // What the others cannot use is its own after all.
            self.turns.yielded(&queue.name);
            assigned.yielded_to.into_iter().for_each(|rival| self.due.push(rival));
            self.due.push(queue.name.clone());
        }
        Ok(Look {
            is_progress: assigned.count > 0,
            is_hungry: assigned.is_hungry,
            again_at: assigned.again_at,
        })
    }

    async fn open(&mut self, queue: &Queue) -> Result<Look, StoreError> {
        if !self.engine.store().is_exclusive() {
            // Whoever has joined by now has a voice.
            self.refresh().await;
        }
        let (count, again_at) = self.engine.begin_votes(queue).await?;
        Ok(Look { is_progress: count > 0, is_hungry: true, again_at })
    }
}
