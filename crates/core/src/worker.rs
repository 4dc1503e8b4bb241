//! Workers that registered: the queues they serve, what they are capable of, and whether they were
//! heard of lately. And the sharing out of tasks among them.

use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::error::{Invalid, Refusal, check_size};
use crate::limits::{CAPACITY_MAX, SESSION_BYTES_MAX, WORKER_QUEUES_MAX};
use crate::name::{QueueName, WorkerName};
use crate::patch::Patch;
use crate::task::check_capabilities;
use crate::time::{Span, Timestamp};

/// How long a worker may be silent before it is lost.
pub const SILENCE: Span = Span::from_millis(30_000);

/// How long a lost worker can still be read, for people who wonder what became of it.
const LOST_KEPT: Span = Span::from_millis(24 * 3_600_000);

/// A worker that registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its name.
    pub name: WorkerName,
    /// The queues it serves.
    pub queues: Vec<QueueName>,
    /// What it is capable of.
    pub capabilities: Vec<String>,
    /// Most tasks it holds at once.
    pub capacity: u32,
    /// Which incarnation it is, as it says itself.
    pub session: Option<String>,
    /// Where it stands.
    pub state: WorkerState,
    /// When this incarnation joined.
    pub joined_at: Timestamp,
    /// When it was last heard of, as far as that was written down.
    pub seen_at: Timestamp,
}

/// Where a worker stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumCount,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum WorkerState {
    /// It is given tasks.
    Active,
    /// It is given no more tasks and finishes what it has.
    Draining,
    /// It was not heard of for too long. It has nothing, and is kept for people to see.
    Lost,
}

impl WorkerState {
    /// Every state.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A request to join, or to change what was said then: what is left out stays, `null` resets.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkerPatch {
    /// See [`Worker::queues`].
    pub queues: Patch<Vec<QueueName>>,
    /// See [`Worker::capabilities`].
    pub capabilities: Patch<Vec<String>>,
    /// See [`Worker::capacity`].
    pub capacity: Patch<u32>,
    /// See [`Worker::session`].
    pub session: Patch<String>,
}

/// A worker that has joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The worker after it.
    pub worker: Worker,
    /// Whether it is another incarnation than the one before, which has lost what it held.
    pub is_reborn: bool,
}

impl WorkerPatch {
    /// The worker after it has joined, or joined again.
    pub fn join(
        self,
        name: &WorkerName,
        before: Option<Worker>,
        now: Timestamp,
    ) -> Result<Joined, Refusal> {
        let is_new = before.as_ref().is_none_or(|worker| worker.state == WorkerState::Lost);
        let session = before.as_ref().and_then(|worker| worker.session.clone());
        let is_reborn = match (&self.session, &before) {
            (Patch::Set(given), Some(_)) => session.as_ref() != Some(given),
            _ => false,
        };
        let before = before.unwrap_or_else(|| Worker::unknown(name, now));
        if is_new {
            name.check_new()?;
        }
        if let Patch::Set(queues) = &self.queues {
            for queue in queues {
                queue.check_new().map_err(|invalid| Invalid::new("queues", invalid.rule))?;
            }
        }
        let mut queues = self.queues.apply(before.queues, Vec::new());
        queues.sort_unstable();
        queues.dedup();
        let mut capabilities = self.capabilities.apply(before.capabilities, Vec::new());
        check_capabilities("capabilities", &capabilities)?;
        capabilities.sort_unstable();
        capabilities.dedup();
        let worker = Worker {
            name: name.clone(),
            queues,
            capabilities,
            capacity: self.capacity.apply(before.capacity, 1),
            session: self.session.apply_optional(session),
            state: WorkerState::Active,
            joined_at: if is_new || is_reborn { now } else { before.joined_at },
            seen_at: now,
        };
        worker.check()?;
        Ok(Joined { worker, is_reborn })
    }
}

impl Worker {
    /// One of which nothing is known but its name.
    fn unknown(name: &WorkerName, now: Timestamp) -> Self {
        Self {
            name: name.clone(),
            queues: Vec::new(),
            capabilities: Vec::new(),
            capacity: 1,
            session: None,
            state: WorkerState::Active,
            joined_at: now,
            seen_at: now,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        if !(1..=WORKER_QUEUES_MAX).contains(&self.queues.len()) {
            return Err(Invalid::new("queues", "name 1 to 1000 queues that it serves").into());
        }
        if !(1..=CAPACITY_MAX).contains(&self.capacity) {
            return Err(Invalid::new("capacity", "a whole number from 1 to 10000").into());
        }
        match &self.session {
            Some(session) if session.is_empty() => {
                Err(Invalid::new("session", "no empty text").into())
            }
            Some(session) => check_size("session", session.len(), SESSION_BYTES_MAX),
            None => Ok(()),
        }
    }

    /// When the server must look whether it is still there, or that it may be forgotten.
    pub fn alarm_at(&self) -> Timestamp {
        match self.state {
            WorkerState::Active | WorkerState::Draining => self.seen_at + SILENCE,
            WorkerState::Lost => self.seen_at + LOST_KEPT,
        }
    }

    /// What becomes of it when that time has come, and it was last heard of at `heard_at` as far as
    /// is known. None: it is forgotten.
    pub fn ring(mut self, heard_at: Timestamp, now: Timestamp) -> Option<Self> {
        if self.state == WorkerState::Lost {
            return None;
        }
        self.seen_at = self.seen_at.max(heard_at.min(now));
        if self.alarm_at() <= now {
            self.state = WorkerState::Lost;
        }
        Some(self)
    }

    /// Whether one that says it is `session` is this incarnation. Who says nothing is believed.
    pub fn is_session(&self, session: Option<&str>) -> bool {
        session.is_none() || self.session.as_deref() == session
    }

    /// Whether it can be given tasks of a queue.
    pub fn serves(&self, queue: &QueueName) -> bool {
        self.state == WorkerState::Active && self.queues.binary_search(queue).is_ok()
    }

    /// What it would need besides what it is capable of.
    pub fn lacks<'a>(&'a self, requires: &'a [String]) -> impl Iterator<Item = &'a String> {
        requires.iter().filter(|needed| self.capabilities.binary_search(needed).is_err())
    }
}

/// Shares `tasks` out among workers of which each holds some already and has so many free places:
/// always the next one to whoever has least. Answers how many each gets.
pub fn shares(tasks: usize, workers: &[(usize, usize)]) -> Vec<usize> {
    let mut line: std::collections::BinaryHeap<_> = workers
        .iter()
        .enumerate()
        .filter(|(_, (_, free))| *free > 0)
        .map(|(place, (load, _))| std::cmp::Reverse((*load, place)))
        .collect();
    let mut shares = vec![0; workers.len()];
    for _ in 0..tasks {
        let Some(std::cmp::Reverse((load, place))) = line.pop() else { break };
        shares[place] += 1;
        if shares[place] < workers[place].1 {
            line.push(std::cmp::Reverse((load + 1, place)));
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_go_to_whoever_has_least_and_nobody_gets_too_many() {
        assert_eq!(shares(4, &[(0, 9), (0, 9)]), [2, 2]);
        assert_eq!(shares(3, &[(5, 9), (0, 9)]), [0, 3]);
        assert_eq!(shares(7, &[(5, 9), (0, 9)]), [1, 6]);
        assert_eq!(shares(9, &[(0, 2), (0, 1), (0, 0)]), [2, 1, 0]);
        assert_eq!(shares(1, &[(1, 1), (0, 1), (0, 1)]), [0, 1, 0]);
        assert_eq!(shares(5, &[]), Vec::<usize>::new());
    }
}
