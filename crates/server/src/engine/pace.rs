//! How much work queues get and how long it takes, as this node has seen lately; and from that, how
//! many workers a queue needs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_core::queue::Mode;
use punctual_core::{QueueName, State, Timestamp, WorkerName};
use punctual_store::QueueStats;

use super::{Engine, Failure, QueueReading};

/// How fast what was seen loses its weight, in seconds.
const MEMORY_SECS: f64 = 60.0;
/// In how many seconds a backlog should be worked off.
const DRAIN_SECS: f64 = 60.0;
/// How long a worker counts that was not heard of: longer than the longest wait of a take.
const WORKER_SECS: f64 = 90.0;
/// Most workers told apart in one queue.
const WORKERS_MAX: usize = 10_000;

/// How many workers a queue has and needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Tasks that are ready and wait for a worker.
    pub(crate) backlog: u64,
    /// Workers seen lately.
    pub(crate) workers: u64,
    /// Workers it takes to keep up with what arrives and to work off the backlog.
    pub(crate) desired_workers: u64,
}

impl Scale {
    /// The same where workers register: there are so many, with so many places together. One that has
    /// several does as many tasks at once.
    fn registered(self, workers: u64, places: u64) -> Self {
        let desired_workers = match places {
            0 => self.desired_workers,
            places => (self.desired_workers * workers).div_ceil(places),
        };
        Self { workers, desired_workers, ..self }
    }
}

/// What was seen of every queue.
#[derive(Debug, Default)]
pub(super) struct Paces {
    queues: Mutex<HashMap<QueueName, Pace>>,
}

/// What was seen of a queue. Counts lose weight with time.
#[derive(Debug)]
struct Pace {
    since: Timestamp,
    at: Timestamp,
    arrived: f64,
    served: f64,
    served_secs: f64,
    workers: HashMap<WorkerName, Timestamp>,
    /// When somebody last asked for tasks.
    asked_at: Option<Timestamp>,
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    // A clock that was set back has measured nothing.
    to.since(from).as_secs_f64()
}

impl Paces {
    fn lock(&self) -> MutexGuard<'_, HashMap<QueueName, Pace>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see(&self, queue: &QueueName, now: Timestamp, what: impl FnOnce(&mut Pace)) {
        let mut queues = self.lock();
        if !queues.contains_key(queue) {
            queues.insert(queue.clone(), Pace::new(now));
        }
        if let Some(pace) = queues.get_mut(queue) {
            pace.fade(now);
            what(pace);
        }
    }

    /// Tasks were pushed.
    pub(super) fn arrived(&self, queue: &QueueName, tasks: usize, now: Timestamp) {
        self.see(queue, now, |pace| pace.arrived += tasks as f64);
    }

    /// Tasks were worked on, each since the time given.
    pub(super) fn served(&self, queue: &QueueName, since: &[Timestamp], now: Timestamp) {
        if since.is_empty() {
            return;
        }
        self.see(queue, now, |pace| {
            pace.served += since.len() as f64;
            pace.served_secs += since.iter().map(|since| seconds(*since, now)).sum::<f64>();
        });
    }

    /// A worker was heard of.
    pub(super) fn heard<'a>(
        &self,
        queue: &QueueName,
        workers: impl IntoIterator<Item = &'a WorkerName>,
        now: Timestamp,
    ) {
        let mut workers = workers.into_iter().peekable();
        if workers.peek().is_some() {
            self.see(queue, now, |pace| workers.for_each(|worker| pace.hear(worker, now)));
        }
    }

    /// Somebody asked for tasks.
    pub(super) fn asked(&self, queue: &QueueName, worker: Option<&WorkerName>, now: Timestamp) {
        self.see(queue, now, |pace| {
            pace.asked_at = Some(now);
            worker.into_iter().for_each(|worker| pace.hear(worker, now));
        });
    }

    /// When somebody last asked for tasks.
    pub(super) fn asked_at(&self, queue: &QueueName) -> Option<Timestamp> {
        self.lock().get(queue)?.asked_at
    }

    /// A queue is gone.
    pub(super) fn forget(&self, queue: &QueueName) {
        self.lock().remove(queue);
    }

    /// How many workers a queue has and needs, by what it holds and how many takers wait.
    fn scale(&self, queue: &QueueName, stats: &QueueStats, waiting: u64, now: Timestamp) -> Scale {
        let (backlog, held) = (stats.count(State::Ready), stats.held());
        let mut queues = self.lock();
        let Some(pace) = queues.get_mut(queue) else {
            let desired_workers = u64::from(backlog + held > 0);
            return Scale { backlog, workers: held + waiting, desired_workers };
        };
        pace.fade(now);
        pace.dismiss(now);
        // Workers without names cannot be told apart; each has a task or waits for one.
        let workers = match pace.workers.len() as u64 {
            0 => held + waiting,
            named => named,
        };
        Scale { backlog, workers, desired_workers: pace.desired(backlog, held) }
    }
}

impl Pace {
    fn new(now: Timestamp) -> Self {
        let workers = HashMap::new();
        Self {
            since: now,
            at: now,
            arrived: 0.0,
            served: 0.0,
            served_secs: 0.0,
            workers,
            asked_at: None,
        }
    }

    /// Takes from the weight of what was seen before.
    fn fade(&mut self, now: Timestamp) {
        let rest = (-seconds(self.at, now) / MEMORY_SECS).exp();
        self.arrived *= rest;
        self.served *= rest;
        self.served_secs *= rest;
        self.at = now;
    }

    fn hear(&mut self, worker: &WorkerName, now: Timestamp) {
        if self.workers.len() >= WORKERS_MAX {
            self.dismiss(now);
        }
        if let Some(heard) = self.workers.get_mut(worker) {
            *heard = now;
        } else if self.workers.len() < WORKERS_MAX {
            self.workers.insert(worker.clone(), now);
        }
    }

    fn dismiss(&mut self, now: Timestamp) {
        self.workers.retain(|_, heard| seconds(*heard, now) < WORKER_SECS);
    }

    fn desired(&self, backlog: u64, held: u64) -> u64 {
        // Not even half a task of late, and none now: nobody is needed.
        if backlog + held == 0 && self.arrived < 0.5 {
            return 0;
        }
        if self.served <= 0.0 {
            return 1;
        }
        // What is young has not filled its memory yet.
        let age = seconds(self.since, self.at).max(1.0);
        let remembered = MEMORY_SECS * (1.0 - (-age / MEMORY_SECS).exp());
        let service = self.served_secs / self.served;
        let needed = (self.arrived / remembered + backlog as f64 / DRAIN_SECS) * service;
        // Rounding must not ask for a worker more than exactly enough.
        ((needed - 1e-6).ceil() as u64).max(1)
    }
}

impl Engine {
    /// How many workers a queue has and needs.
    pub(crate) async fn scale(&self, queue: &QueueName) -> Result<Scale, Failure> {
        let QueueReading { queue: record, stats } = self.read_queue(queue).await?;
        let waiting = self.lines.waiting(queue) as u64;
        let scale = self.paces.scale(queue, &stats, waiting, self.now());
        if !matches!(record.settings.mode, Mode::Dispatch | Mode::Vote) {
            return Ok(scale);
        }
        if !self.store.is_exclusive() {
            self.find_workers().await?;
        }
        let serving = self.roster.serving(queue);
        let places = serving.iter().map(|worker| worker.capacity as u64).sum();
        Ok(scale.registered(serving.len() as u64, places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000_000 + seconds * 1_000)
    }

    fn stats(ready: u64, running: u64) -> QueueStats {
        let mut stats = QueueStats::default();
        stats.counts[State::Ready as usize] = ready;
        stats.counts[State::Running as usize] = running;
        stats
    }

    #[test]
    fn a_steady_load_asks_for_as_many_workers_as_it_keeps_busy() {
        let (paces, queue) = (Paces::default(), QueueName::parse("q").unwrap());
        // Three tasks a second of two seconds each keep six workers busy.
        for second in 0..600 {
            paces.arrived(&queue, 3, at(second));
            paces.served(&queue, &[at(second - 2); 3], at(second));
        }
        let desired = |ready, now| paces.scale(&queue, &stats(ready, 6), 0, now).desired_workers;
        assert!((5..=7).contains(&desired(0, at(600))), "{}", desired(0, at(600)));
        // 300 more within a minute are five more a second.
        assert!((15..=17).contains(&desired(300, at(600))), "{}", desired(300, at(600)));
        let idle = paces.scale(&queue, &stats(0, 0), 0, at(1_200));
        assert_eq!(idle, Scale { backlog: 0, workers: 0, desired_workers: 0 });
        assert_eq!(desired(0, at(1_200)), 1, "what is held needs its worker");
    }

    #[test]
    fn a_queue_of_which_little_is_known_asks_for_one_worker() {
        let (paces, queue) = (Paces::default(), QueueName::parse("q").unwrap());
        assert_eq!(paces.scale(&queue, &stats(0, 0), 0, at(0)).desired_workers, 0);
        assert_eq!(paces.scale(&queue, &stats(9, 0), 0, at(0)).desired_workers, 1);
        paces.arrived(&queue, 9, at(0));
        assert_eq!(paces.scale(&queue, &stats(9, 0), 0, at(0)).desired_workers, 1);
        paces.forget(&queue);
        assert_eq!(paces.scale(&queue, &stats(0, 0), 0, at(0)).desired_workers, 0);
    }

    #[test]
    fn registered_workers_do_as_many_tasks_at_once_as_they_have_places() {
        let scale = Scale { backlog: 9, workers: 0, desired_workers: 9 };
        assert_eq!(scale.registered(0, 0), scale);
        assert_eq!(scale.registered(2, 2).desired_workers, 9);
        let four = Scale { workers: 2, desired_workers: 3, ..scale };
        assert_eq!(scale.registered(2, 8), four);
    }

    #[test]
    fn workers_count_until_they_are_not_heard_of() {
        let (paces, queue) = (Paces::default(), QueueName::parse("q").unwrap());
        let workers = |now, waiting| paces.scale(&queue, &stats(0, 2), waiting, now).workers;
        assert_eq!(workers(at(0), 3), 5, "nameless ones hold or wait");
        let names = ["a", "b", "a"].map(|name| WorkerName::parse(name).unwrap());
        paces.heard(&queue, &names, at(0));
        assert_eq!(workers(at(0), 3), 2);
        paces.heard(&queue, &names[..1], at(60));
        assert_eq!(workers(at(100), 3), 1);
        assert_eq!(workers(at(200), 0), 2, "back to those who hold");
    }
}
