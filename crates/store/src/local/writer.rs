//! The one thread that changes an embedded store, and its group commit.
//!
//! It takes all jobs that wait, applies them, makes them durable with one sync, then answers them
//! all. While it syncs, the next group gathers. Nothing is answered before it is durable, and
//! nothing that is not durable is seen by anybody else, because every read of the indexes is a job,
//! too.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use punctual_core::{Queue, QueueName};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::job::Job;
use super::journal::JournalError;
use super::shard::Shard;
use crate::port::{Effect, StoreError, Wake};

/// Jobs in one group, at most.
const GROUP_MAX: usize = 1_024;
/// Pushes are refused below this, so that takes and commits can go on.
const RESERVE_BYTES: u64 = 64 << 20;
/// How long nothing has to happen before space is given back.
const IDLE: Duration = Duration::from_secs(1);

/// Queues as everybody may see them.
pub(super) type Published = Arc<RwLock<BTreeMap<QueueName, Arc<Queue>>>>;

/// What a job works on.
pub(super) struct Desk<'a> {
    /// The shard.
    pub(super) shard: &'a mut Shard,
    /// Whether there is space for more tasks; looked up once per group.
    has_space: Option<bool>,
}

impl Desk<'_> {
    /// Whether there is space for more tasks.
    pub(super) fn has_space(&mut self) -> bool {
        *self.has_space.get_or_insert_with(|| {
            self.shard.journal.free_bytes().is_none_or(|free| free >= RESERVE_BYTES)
        })
    }
}

/// The writer thread.
pub(super) struct Writer {
    pub(super) shard: Shard,
    pub(super) jobs: Receiver<Box<dyn Job>>,
    pub(super) wakes: UnboundedSender<Wake>,
    pub(super) published: Published,
    pub(super) failure: watch::Sender<Option<String>>,
}

/// What ended a wait.
enum Woken {
    Job(Box<dyn Job>),
    Time,
    Closed,
}

impl Writer {
    /// Works until the store is closed or breaks.
    pub(super) fn run(mut self) {
        let mut may_tidy = true;
        // What fell due while the server was down is announced before anything is asked.
        if let Err((reason, begun)) = self.group(None) {
            return self.fail(&reason, begun);
        }
        loop {
            let first = match self.wait(may_tidy) {
                Woken::Job(job) => Some(job),
                Woken::Time => None,
                Woken::Closed => return self.shard.journal.close(),
            };
            if first.is_some() {
                may_tidy = true;
            } else if may_tidy && self.is_idle() {
                match self.shard.journal.tidy() {
                    Ok(more) => may_tidy = more,
                    Err(JournalError::Full) => may_tidy = false,
                    Err(JournalError::Broken(reason)) => return self.fail(&reason, Vec::new()),
                }
            }
            if let Err((reason, begun)) = self.group(first) {
                return self.fail(&reason, begun);
            }
        }
    }

    /// Shows everybody all queues, at start.
    pub(super) fn publish_all(&self) {
        self.publish(&self.shard.queues.keys().copied().collect::<Vec<_>>());
    }

    fn is_idle(&self) -> bool {
        self.shard.due_in_ms() != Some(0)
    }

    /// Waits for a job, for the next due time, or a while before tidying up.
    fn wait(&self, may_tidy: bool) -> Woken {
        let due = self.shard.due_in_ms().map(|ms| Duration::from_millis(ms.unsigned_abs()));
        let timeout = if may_tidy { Some(due.map_or(IDLE, |due| due.min(IDLE))) } else { due };
        let received = match timeout {
            Some(timeout) => self.jobs.recv_timeout(timeout),
            None => self.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(job) => Woken::Job(job),
            Err(RecvTimeoutError::Timeout) => Woken::Time,
            Err(RecvTimeoutError::Disconnected) => Woken::Closed,
        }
    }

    /// Carries out one group. Fails if nothing can be said any more about what is on disk.
    fn group(&mut self, first: Option<Box<dyn Job>>) -> Result<(), (String, Vec<Box<dyn Job>>)> {
        self.shard.begin();
        let mut begun = Vec::new();
        let mut outcome = Ok(());
        let mut desk = Desk { shard: &mut self.shard, has_space: None };
        let waiting = std::iter::from_fn(|| self.jobs.try_recv().ok());
        for mut job in first.into_iter().chain(waiting).take(GROUP_MAX) {
            // A job that joined the group late must not happen before it was asked for.
            desk.shard.now = desk.shard.clock.now();
            outcome = job.apply(&mut desk);
            begun.push(job);
            if outcome.is_err() {
                break;
            }
        }
        let verdict = match outcome.and_then(|()| self.finish(begun.len())) {
            Ok(()) => Ok(()),
            Err(JournalError::Full) => {
                self.shard.undo();
                tracing::warn!("the disk is full: a group of requests was refused");
                Err(StoreError::unavailable("the disk is full; free some space and try again"))
            }
            Err(JournalError::Broken(reason)) => return Err((reason, begun)),
        };
        let (touched, wakes) = self.shard.settle();
        self.publish(&touched);
        for job in begun {
            job.answer(verdict.clone());
        }
        for wake in wakes {
            // Nobody listens while the server starts or stops; then nobody waits either.
            let _ = self.wakes.send(wake);
        }
        Ok(())
    }

    /// Makes the group durable, and notes how long that took.
    fn finish(&mut self, jobs: usize) -> Result<(), JournalError> {
        let begun = Instant::now();
        self.shard.finish()?;
        if jobs > 0 {
            self.shard.measures.sync.took(begun.elapsed());
            self.shard.measures.group.observe(jobs as f64);
        }
        Ok(())
    }

    /// Shows everybody the queues as they are now durable.
    fn publish(&self, touched: &[u32]) {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let mut is_any_gone = false;
        for number in touched {
            match self.shard.queues.get(number) {
                Some(index) => {
                    let known = published.get(&index.queue.name);
                    if known.is_none_or(|known| !Arc::ptr_eq(known, &index.queue)) {
                        published.insert(index.queue.name.clone(), Arc::clone(&index.queue));
                    }
                }
                None => is_any_gone = true,
            }
        }
        if is_any_gone {
            published.retain(|name, _| self.shard.numbers.contains_key(name));
        }
    }

    /// Says that the store is broken, answers everybody, and ends. A failed sync is never repeated.
    fn fail(self, reason: &str, begun: Vec<Box<dyn Job>>) {
        tracing::error!(reason, "the store cannot write any more and stops");
        let error = StoreError::Unavailable {
            reason: format!("the store has stopped: {reason}"),
            effect: Effect::Unknown,
        };
        self.failure.send_replace(Some(reason.to_owned()));
        for job in begun {
            job.answer(Err(error.clone()));
        }
        // Jobs that were not begun are dropped with the channel, which answers them.
    }
}
