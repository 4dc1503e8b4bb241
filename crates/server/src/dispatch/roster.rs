//! The roster: the workers this node knows of, when each was heard of here, and who of them waits.
//!
//! Records lie in the store; what lies here is a copy. Over a store that no other server uses it is
//! always true. Over a shared one it is refreshed while it is needed, and whatever it leads to is
//! fenced by the store or ends by itself: a task that was given to one who has left is not confirmed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_core::worker::WorkerState;
use punctual_core::{QueueName, Span, TaskId, Timestamp, Token, Vote, Worker, WorkerName};
use punctual_store::{Revision, Store};
use tokio::sync::Notify;

/// How often it is written down that a worker was heard of, over a store that others use too.
const WRITTEN_EVERY: Span = Span::from_secs(1);
/// And how often of one that waits in a poll: well before its silence would be over.
const WAITING_EVERY: Span = Span::from_secs(10);

/// Something asked of a worker that it has been told.
pub(crate) type Told = (QueueName, TaskId, Token, bool);

/// A copy of all workers.
#[derive(Default)]
pub(crate) struct Roster {
    inner: Mutex<Inner>,
    /// Rings when somebody was heard of whose record may have to say so.
    heard: Notify,
}

#[derive(Default)]
struct Inner {
    members: BTreeMap<WorkerName, Member>,
    /// Who may have open ballots, and on what.
    ballots: HashMap<WorkerName, BTreeSet<(QueueName, TaskId)>>,
    bells: HashMap<WorkerName, Arc<Notify>>,
    /// How often a record was taken over, or dropped.
    changes: u64,
    /// Which change dropped somebody last.
    dropped: u64,
    closed: bool,
}

struct Member {
    worker: Worker,
    revision: Revision,
    /// Which change of the roster this is.
    change: u64,
    heard_at: Timestamp,
    /// Polls that wait now: while one does, it is heard of.
    polls: usize,
    /// Whether it let a time to confirm or a hold pass and was not heard of since.
    is_doubtful: bool,
    told: HashSet<Told>,
}

/// A worker that polls; dropped when it does no more.
pub(crate) struct Polling<'a> {
    roster: &'a Roster,
    name: WorkerName,
    /// Rings when there may be something for it.
    pub(crate) bell: Arc<Notify>,
}

/// A worker that can be given tasks of a queue.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Its name.
    pub(crate) name: WorkerName,
    /// What it is capable of.
    pub(crate) capabilities: Vec<String>,
    /// Most tasks it holds.
    pub(crate) capacity: usize,
    /// Whether others are asked first.
    pub(crate) is_doubtful: bool,
    /// The queues it serves.
    pub(crate) queues: Vec<QueueName>,
}

impl Roster {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are, by state.
    pub(crate) fn by_state(&self) -> [usize; WorkerState::ALL.len()] {
        let inner = self.lock();
        let of = |state| inner.members.values().filter(|it| it.worker.state == state).count();
        WorkerState::ALL.map(of)
    }

    /// Takes over a record. One of another incarnation has been told nothing, and the one before it
    /// must hear that it is over.
    pub(crate) fn put(&self, worker: Worker, revision: Revision) {
        let mut inner = self.lock();
        let seen_at = worker.seen_at;
        inner.changes += 1;
        let Inner { members, bells, changes, .. } = &mut *inner;
        let change = *changes;
        match members.get_mut(&worker.name) {
            Some(member) => {
                if member.worker.joined_at != worker.joined_at {
                    member.told.clear();
                    member.is_doubtful = false;
                    let bell = bells.get(&worker.name);
                    bell.into_iter().for_each(|bell| bell.notify_waiters());
                }
                member.worker = worker;
                member.revision = revision;
                member.change = change;
                member.heard_at = member.heard_at.max(seen_at);
            }
            None => {
                let name = worker.name.clone();
                let told = HashSet::new();
                let member = Member {
                    worker,
                    revision,
                    change,
                    heard_at: seen_at,
                    polls: 0,
                    is_doubtful: false,
                    told,
                };
                members.insert(name, member);
            }
        }
    }

    /// How often a record was taken over, or dropped.
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Takes over all records there were: who is not among them is gone. What was taken over after
    /// `changes` is newer, and stays; if somebody was dropped since, who is not known here may be just
    /// that one, and is left to the next list.
    pub(crate) fn replace(&self, mut workers: Vec<(Worker, Revision)>, changes: u64) {
        let names: HashSet<WorkerName> = workers.iter().map(|(it, _)| it.name.clone()).collect();
        let is_newer = |member: &Member| member.change > changes;
        let mut inner = self.lock();
        let Inner { members, bells, dropped, .. } = &mut *inner;
        let is_late = *dropped > changes;
        workers.retain(|(worker, _)| !is_late || members.contains_key(&worker.name));
        members.retain(|name, member| {
            let is_there = names.contains(name) || is_newer(member);
            let bell = bells.get(name).filter(|_| !is_there);
            bell.into_iter().for_each(|bell| bell.notify_waiters());
            is_there
        });
        drop(inner);
        for (worker, revision) in workers {
            if !self.lock().members.get(&worker.name).is_some_and(is_newer) {
                self.put(worker, revision);
            }
        }
    }

    /// A worker is gone.
    pub(crate) fn remove(&self, name: &WorkerName) {
        {
            let mut inner = self.lock();
            if inner.members.remove(name).is_some() {
                inner.changes += 1;
                inner.dropped = inner.changes;
            }
        }
        self.ring(name);
    }

    /// A worker as it is known here.
    pub(crate) fn get(&self, name: &WorkerName) -> Option<(Worker, Revision)> {
        self.lock().members.get(name).map(|member| (member.worker.clone(), member.revision))
    }

    /// A worker polls. None: nobody waits any more.
    pub(crate) fn poll(&self, name: &WorkerName) -> Option<Polling<'_>> {
        let mut inner = self.lock();
        if inner.closed {
            return None;
        }
        let bell = inner.bells.entry(name.clone()).or_default().clone();
        Some(Polling { roster: self, name: name.clone(), bell })
    }

    /// A worker was heard of.
    pub(crate) fn hear(&self, name: &WorkerName, now: Timestamp) {
        if let Some(member) = self.lock().members.get_mut(name) {
            member.heard_at = member.heard_at.max(now);
            member.is_doubtful = false;
            self.heard.notify_one();
        }
    }

    /// When a worker was last heard of here.
    pub(crate) fn heard_at(&self, name: &WorkerName, now: Timestamp) -> Option<Timestamp> {
        let inner = self.lock();
        let member = inner.members.get(name)?;
        Some(if member.polls > 0 { now } else { member.heard_at })
    }

    /// A worker let a time to confirm or a hold pass.
    pub(crate) fn doubt(&self, name: &WorkerName) {
        if let Some(member) = self.lock().members.get_mut(name) {
            member.is_doubtful = true;
        }
    }

    /// Whether there is something among what is asked of a worker that it has not been told; from now
    /// on it has been.
    pub(crate) fn tell(&self, name: &WorkerName, asked: HashSet<Told>) -> bool {
        let mut inner = self.lock();
        let Some(member) = inner.members.get_mut(name) else { return false };
        let is_news = !asked.is_subset(&member.told);
        member.told = asked;
        is_news
    }

    /// Says that there may be something for a worker.
    pub(crate) fn ring(&self, name: &WorkerName) {
        if let Some(bell) = self.lock().bells.get(name) {
            bell.notify_waiters();
        }
    }

    /// Says that there may be something for everybody.
    pub(crate) fn ring_all(&self) {
        self.lock().bells.values().for_each(|bell| bell.notify_waiters());
    }

    /// Lets all who wait go, and nobody wait any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ring_all();
    }

    /// Whether nobody waits any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether anybody polls here.
    pub(crate) fn is_polled(&self) -> bool {
        !self.lock().bells.is_empty()
    }

    /// Who can be given tasks of a queue, by name.
    pub(crate) fn serving(&self, queue: &QueueName) -> Vec<Candidate> {
        let inner = self.lock();
        let serving = inner.members.values().filter(|member| member.worker.serves(queue));
        let candidate = |member: &Member| Candidate {
            name: member.worker.name.clone(),
            capabilities: member.worker.capabilities.clone(),
            capacity: member.worker.capacity as usize,
            is_doubtful: member.is_doubtful,
            queues: member.worker.queues.clone(),
        };
        serving.map(candidate).collect()
    }

    /// The queues a worker can be given tasks of.
    pub(crate) fn queues_of(&self, name: &WorkerName) -> Vec<QueueName> {
        let inner = self.lock();
        let active = |member: &&Member| member.worker.state == WorkerState::Active;
        inner.members.get(name).filter(active).map_or_else(Vec::new, |it| it.worker.queues.clone())
    }

    /// A vote is under way: who can answer and has not heard of it is told.
    pub(crate) fn vote(&self, vote: &Vote) {
        let mut inner = self.lock();
        for worker in vote.awaited() {
            let ballot = (vote.queue.clone(), vote.task.clone());
            let is_new = inner.ballots.entry(worker.clone()).or_default().insert(ballot);
            let bell = inner.bells.get(worker).filter(|_| is_new);
            bell.into_iter().for_each(|bell| bell.notify_waiters());
        }
    }

    /// What a worker may have open ballots on.
    pub(crate) fn ballots(&self, name: &WorkerName) -> Vec<(QueueName, TaskId)> {
        self.lock().ballots.get(name).map_or_else(Vec::new, |it| it.iter().cloned().collect())
    }

    /// A worker has no open ballot on a task.
    pub(crate) fn has_voted(&self, name: &WorkerName, queue: &QueueName, task: &TaskId) {
        let mut inner = self.lock();
        if let Some(ballots) = inner.ballots.get_mut(name) {
            ballots.remove(&(queue.clone(), task.clone()));
            if ballots.is_empty() {
                inner.ballots.remove(name);
            }
        }
    }

    /// Waits until somebody was heard of.
    pub(crate) async fn somebody_heard(&self) {
        self.heard.notified().await;
    }

    /// The records of workers that were heard of and whose records do not say so yet; and how long to
    /// wait for those that say so since less than a second.
    pub(crate) fn unwritten(&self, now: Timestamp) -> (Vec<(Worker, Revision)>, Option<Span>) {
        let inner = self.lock();
        let (mut due, mut wait) = (Vec::new(), None);
        for member in inner.members.values() {
            let heard_at = if member.polls > 0 { now } else { member.heard_at };
            let Worker { seen_at, state, .. } = member.worker;
            if heard_at <= seen_at || state == WorkerState::Lost {
                continue;
            }
            let age = now.since(seen_at);
            let every = if member.polls > 0 { WAITING_EVERY } else { WRITTEN_EVERY };
            if age >= every {
                due.push((Worker { seen_at: heard_at, ..member.worker.clone() }, member.revision));
            } else {
                let rest = Span::from_millis(every.as_millis() - age.as_millis());
                wait = Some(wait.map_or(rest, |wait: Span| wait.min(rest)));
            }
        }
        (due, wait)
    }
}

impl<'a> Polling<'a> {
    /// The worker is known, and heard of as long as it waits.
    pub(crate) fn counts(&'a self, store: &'a dyn Store) -> Waiting<'a> {
        if let Some(member) = self.roster.lock().members.get_mut(&self.name) {
            member.polls += 1;
        }
        Waiting { polling: self, store }
    }
}

/// A poll that waits; dropped when it does no more.
pub(crate) struct Waiting<'a> {
    polling: &'a Polling<'a>,
    store: &'a dyn Store,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Polling { roster, name, .. } = self.polling;
        if let Some(member) = roster.lock().members.get_mut(name) {
            member.polls = member.polls.saturating_sub(1);
        }
        roster.hear(name, self.store.now());
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut inner = self.roster.lock();
        // One is the roster's own, one is ours.
        if inner.bells.get(&self.name).is_some_and(|bell| Arc::strong_count(bell) <= 2) {
            inner.bells.remove(&self.name);
        }
    }
}
