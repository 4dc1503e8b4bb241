//! The running tasks. Each is confirmed if necessary, passed to its handler, kept alive by heartbeats, and
//! settled with the handler's result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use punctual_core::State;
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use tracing::warn;

use super::{Handler, Job, Outcome, Pause, Signal, Stop, is_passing};
use crate::error::Error;
use crate::hold::{Commit, Extend, Fail, Release, Stopped};
use crate::task::{Taken, Task};
use crate::transport::Client;

/// The least time between two heartbeats of one task, and the most.
const BEAT_MIN: Duration = Duration::from_millis(50);
const BEAT_MAX: Duration = Duration::from_secs(60);
/// How often progress is reported at most.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// How long handlers may run after they were told to stop, before they are aborted.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A task's queue and id.
type Name = (String, String);

/// All running tasks.
#[derive(Clone)]
pub(super) struct Jobs(Arc<Inner>);

struct Inner {
    client: Client,
    handlers: tokio::runtime::Handle,
    under_way: Mutex<HashMap<Name, watch::Sender<Option<Stop>>>>,
    ended: Notify,
}

impl Jobs {
    pub(super) fn new(client: Client, handlers: tokio::runtime::Handle) -> Self {
        let under_way = Mutex::default();
        Self(Arc::new(Inner { client, handlers, under_way, ended: Notify::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, watch::Sender<Option<Stop>>>> {
        self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a task in the background when there is a permit: the reserved one, or one of its handler. A task
    /// that is already running is left alone.
    pub(super) fn start(&self, taken: Taken, handler: Handler, room: Option<OwnedSemaphorePermit>) {
        let name = (taken.task.queue.clone(), taken.task.id.clone());
        let (stopper, stop) = watch::channel(None);
        {
            let mut under_way = self.lock();
            if under_way.contains_key(&name) {
                return;
            }
            under_way.insert(name.clone(), stopper.clone());
        }
        let jobs = self.clone();
        tokio::spawn(async move {
            let carrying = Carrying { client: jobs.0.client.clone(), taken, stopper, stop };
            carrying.run(&jobs.0.handlers, &handler, room).await;
            jobs.lock().remove(&name);
            jobs.0.ended.notify_waiters();
        });
    }

    /// Tells the handler of a task to stop, if it runs here.
    pub(super) fn stop(&self, queue: &str, id: &str, reason: Stop) {
        if let Some(stopper) = self.lock().get(&(queue.to_owned(), id.to_owned())) {
            told(stopper, reason);
        }
    }

    /// Tells the handlers of a queue that its tasks now belong to another worker.
    pub(super) fn lose(&self, queue: &str) {
        let under_way = self.lock();
        let of_queue = under_way.iter().filter(|((of, _), _)| of == queue);
        of_queue.for_each(|(_, stopper)| told(stopper, Stop::Lost));
    }

    /// Waits until no task is running. After `grace`, or in a hurry, handlers are told to stop, and are aborted
    /// if they do not.
    pub(super) async fn finish(&self, grace: Duration, hurry: Signal) {
        tokio::select! {
            () = self.idle() => return,
            () = tokio::time::sleep(grace) => {}
            () = hurry => {}
        }
        for stopper in self.lock().values() {
            told(stopper, Stop::Stopping);
        }
        let _ = tokio::time::timeout(LAST_WORDS * 2, self.idle()).await;
    }

    async fn idle(&self) {
        loop {
            let ended = self.0.ended.notified();
            if self.lock().is_empty() {
                return;
            }
            ended.await;
        }
    }
}

/// Keeps the first reason to stop, except that the loss of the hold always wins.
fn told(stopper: &watch::Sender<Option<Stop>>, reason: Stop) {
    stopper.send_if_modified(|told| {
        let is_new = told.is_none() || (reason == Stop::Lost && *told != Some(Stop::Lost));
        if is_new {
            *told = Some(reason);
        }
        is_new
    });
}

/// One running task.
struct Carrying {
    client: Client,
    taken: Taken,
    stopper: watch::Sender<Option<Stop>>,
    stop: watch::Receiver<Option<Stop>>,
}

impl Carrying {
    async fn run(
        mut self,
        handlers: &tokio::runtime::Handle,
        handler: &Handler,
        room: Option<OwnedSemaphorePermit>,
    ) {
        let room = match room {
            None if handler.confirms_at_once => None,
            // A task that cannot start is not confirmed, so the server gives it to another worker.
            None => match handler.room.clone().acquire_owned().await {
                Ok(room) => Some(room),
                Err(_) => return,
            },
            room => room,
        };
        if self.taken.task.state == State::Assigned && !self.confirm().await {
            return;
        }
        let (report, reports) = watch::channel(Extend::default());
        let job = Job { task: self.taken.task.clone(), stop: self.stop.clone(), report };
        let working = handlers.spawn(begin(handler.clone(), job, room.is_some()));
        let (outcome, unsent) = self.attend(working, reports).await;
        self.settle(outcome, unsent).await;
        drop(room);
    }

    /// Confirms the task; false: another worker has it now.
    async fn confirm(&mut self) -> bool {
        match self.client.confirm(self.taken.held()).await {
            Ok(task) => {
                // The task of a vote has no hold of its own.
                let Task { taken_at, hold_until, .. } = task;
                self.taken.task.taken_at = taken_at.or(self.taken.task.taken_at);
                self.taken.task.hold_until = hold_until.or(self.taken.task.hold_until);
                true
            }
            Err(error) => {
                warn!(queue = self.taken.task.queue, id = self.taken.task.id, %error, "a task was not confirmed");
                false
            }
        }
    }

    /// Extends the hold while the handler works. Returns the outcome, and the last report if it was not sent.
    async fn attend(
        &self,
        mut working: JoinHandle<Outcome>,
        mut reports: watch::Receiver<Extend>,
    ) -> (Outcome, Extend) {
        let length = hold_of(&self.taken.task);
        let beat = (length / 3).clamp(BEAT_MIN, BEAT_MAX);
        let mut held_until = Instant::now() + length;
        let mut next_beat = Instant::now() + beat;
        let mut reported_at = Instant::now() - REPORT_EVERY;
        let mut stop = self.stop.clone();
        let mut cut_off_at = None;
        // A handler may drop its job and still be running.
        let mut has_job = true;
        loop {
            let is_reported = reports.has_changed().unwrap_or(false);
            let at =
                if is_reported { next_beat.min(reported_at + REPORT_EVERY) } else { next_beat };
            tokio::select! {
                biased;
                outcome = &mut working => {
                    if outcome.as_ref().is_err_and(JoinError::is_cancelled) {
                        // The program's own runtime may end at any time.
                        told(&self.stopper, Stop::Stopping);
                    }
                    return (returned(outcome), unsent(&mut reports));
                }
                () = tokio::time::sleep_until(at) => {
                    reported_at = Instant::now();
                    let report = reports.borrow_and_update().clone();
                    if self.beat(&report).await {
                        held_until = reported_at + length;
                        next_beat = reported_at + beat;
                    } else {
                        next_beat = reported_at + (beat / 3).max(BEAT_MIN);
                    }
                    if Instant::now() >= held_until {
                        told(&self.stopper, Stop::Lost);
                    }
                }
                changed = reports.changed(), if has_job && !is_reported => has_job = changed.is_ok(),
                _ = stop.changed(), if cut_off_at.is_none() => {
                    if *stop.borrow() == Some(Stop::Stopping) {
                        cut_off_at = Some(Instant::now() + LAST_WORDS);
                    }
                }
                () = sleep_until(cut_off_at) => {
                    working.abort();
                    cut_off_at = None;
                }
            }
        }
    }

    /// Extends the hold, and learns whether the task should stop. False: the request failed.
    async fn beat(&self, report: &Extend) -> bool {
        match self.client.extend(self.taken.held(), report).await {
            Ok(extended) => {
                if extended.cancel {
                    told(&self.stopper, Stop::Cancelled);
                } else if extended.pause {
                    told(&self.stopper, Stop::Paused);
                }
                true
            }
            Err(error) if is_passing(&error) => false,
            Err(_) => {
                told(&self.stopper, Stop::Lost);
                true
            }
        }
    }

    /// Settles the task, and repeats the request as long as it can still succeed.
    async fn settle(&self, outcome: Outcome, unsent: Extend) {
        let deadline = Instant::now() + hold_of(&self.taken.task);
        let reason = *self.stop.borrow();
        let mut pause = Pause::default();
        loop {
            match self.settle_once(&outcome, reason, &unsent).await {
                Ok(()) => return,
                Err(error) if is_passing(&error) && Instant::now() < deadline => {
                    pause.after(&error, "settling a task").await;
                }
                Err(error) => {
                    let Task { queue, id, .. } = &self.taken.task;
                    warn!(queue, id, %error, "a task was not settled; another worker gets it");
                    return;
                }
            }
        }
    }

    async fn settle_once(
        &self,
        outcome: &Outcome,
        reason: Option<Stop>,
        unsent: &Extend,
    ) -> Result<(), Error> {
        let (client, held) = (&self.client, self.taken.held());
        let checkpoint = unsent.checkpoint.clone();
        let fail = match outcome {
            Ok(result) => {
                let commit = Commit { result: Some(result.clone()) };
                return client.commit(held, &commit).await.map(drop);
            }
            Err(fail) => fail,
        };
        let stopped =
            Stopped { checkpoint: checkpoint.clone(), error: fail.error.clone(), result: None };
        match reason {
            Some(Stop::Cancelled) => client.cancelled(held, &stopped).await.map(drop),
            Some(Stop::Paused) => client.paused(held, &stopped).await.map(drop),
            Some(Stop::Stopping) => {
                client.release(held, &Release { checkpoint, delay: None }).await.map(drop)
            }
            Some(Stop::Lost) => Ok(()),
            None => {
                if checkpoint.is_some() {
                    // A failure carries no checkpoint, and the next attempt needs it.
                    client.extend(held, &Extend { checkpoint, ..Extend::default() }).await?;
                }
                client.fail(held, fail).await.map(drop)
            }
        }
    }
}

/// Calls a handler, once there is room for it, unless the task shall stop before.
async fn begin(handler: Handler, job: Job, has_room: bool) -> Outcome {
    let _room = match has_room {
        true => None,
        false => tokio::select! {
            room = handler.room.acquire_owned() => Some(room?),
            _ = job.stopped() => return Err(Fail::default()),
        },
    };
    (handler.call)(job).await
}

/// Returns the outcome of a handler; a panic counts as a failure.
fn returned(outcome: Result<Outcome, JoinError>) -> Outcome {
    outcome.unwrap_or_else(|error| {
        let what =
            if error.is_panic() { "the handler panicked" } else { "the handler was cut off" };
        Err(Fail { error: Some(what.to_owned()), ..Fail::default() })
    })
}

fn unsent(reports: &mut watch::Receiver<Extend>) -> Extend {
    let is_new = reports.has_changed().unwrap_or(true);
    if is_new { reports.borrow_and_update().clone() } else { Extend::default() }
}

/// Returns the length of the hold.
fn hold_of(task: &Task) -> Duration {
    const UNKNOWN: Duration = Duration::from_secs(10);
    let (Some(from), Some(until)) = (task.taken_at, task.hold_until) else { return UNKNOWN };
    Duration::from_millis(until.since(from).as_millis().unsigned_abs())
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
