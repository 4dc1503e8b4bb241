//! What is compared after every step, and the invariants that must hold whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use punctual_core::{QueueName, State, Task, TaskId, Timestamp, Verb};

use super::pair::{Outcome, Pair, answered};
use super::steps::{QUEUES, Step, WORKERS};
use crate::conformance::fixture::{queue, worker};
use crate::port::{Listing, Receipt, Store, Stored};

/// How many of the last tokens are asked for by their receipts.
const RECEIPTS: usize = 12;

type Finished = BTreeMap<(QueueName, TaskId), Task>;

/// A task as it reads: whether a store has written down that its time has come is its own business.
pub(super) fn as_it_reads(stored: &Stored, now: Timestamp) -> Task {
    let mut task = stored.task.clone();
    task.status.state = task.status.state_at(now);
    task
}

/// All tasks of a queue, state by state, in pages.
async fn listed(
    store: &dyn Store,
    name: &QueueName,
    limit: usize,
) -> Result<Vec<Task>, TestCaseError> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let states = State::ALL.to_vec();
        let page = answered(
            store.list(Listing { queue: name.clone(), states, cursor, limit, sort: None }).await,
        )?;
        all.extend(page.items.iter().map(|stored| as_it_reads(stored, store.now())));
        prop_assert!(all.len() < 1_000, "a list comes to an end");
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

impl Pair {
    /// Compares all that can be observed.
    pub(super) async fn compare(&self) -> Outcome {
        let subject = self.subject();
        prop_assert_eq!(subject.now(), self.now());
        let queues = answered(self.model.queues().await)?;
        prop_assert_eq!(&answered(subject.queues().await)?, &queues, "the queues");
        let names = QUEUES.map(queue);
        let stats = answered(self.model.stats(&names).await)?;
        prop_assert_eq!(&answered(subject.stats(&names).await)?, &stats, "what the queues hold");
        for (name, id) in &self.names {
            self.both(name, id).await?;
        }
        for (name, stats) in names.iter().zip(stats) {
            let all = listed(self.model.as_ref(), name, usize::MAX).await?;
            prop_assert_eq!(
                &listed(subject.as_ref(), name, 3).await?,
                &all,
                "the list of {}",
                name
            );
            self.sound(name, &all, stats.map_or([0; 10], |stats| stats.counts))?;
        }
        self.compare_owners().await?;
        self.compare_holdings().await?;
        self.compare_expired().await?;
        self.compare_receipts().await
    }

    async fn compare_holdings(&self) -> Outcome {
        let workers = WORKERS.map(worker);
        let loads = answered(self.model.loads(&workers).await)?;
        prop_assert_eq!(&answered(self.subject().loads(&workers).await)?, &loads, "loads");
        for worker in &workers {
            let mut model = answered(self.model.holdings(worker).await)?;
            let mut subject = answered(self.subject().holdings(worker).await)?;
            model.sort();
            subject.sort();
            prop_assert_eq!(subject, model, "what {} holds", worker);
        }
        Ok(())
    }

    async fn compare_expired(&self) -> Outcome {
        let key = |task: &Task| (task.spec.queue.clone(), task.spec.id.clone());
        let now = self.now();
        let tasks = |stored: &[Stored]| -> Vec<Task> {
            stored.iter().map(|stored| as_it_reads(stored, now)).collect()
        };
        let mut model = tasks(&answered(self.model.expired(usize::MAX).await)?);
        let mut subject = tasks(&answered(self.subject().expired(usize::MAX).await)?);
        model.sort_by_key(key);
        subject.sort_by_key(key);
        prop_assert_eq!(subject, model, "holds that ended, starts that were missed");
        Ok(())
    }

    async fn compare_receipts(&self) -> Outcome {
        let verbs = [Verb::Commit, Verb::Fail, Verb::Release, Verb::Cancelled, Verb::Paused];
        let last = self.tokens.iter().rev().take(RECEIPTS);
        let receipts: Vec<_> = last
            .flat_map(|(token, queue, id)| {
                let (queue, id) = (queue.clone(), id.clone());
                verbs.map(|verb| Receipt {
                    queue: queue.clone(),
                    id: id.clone(),
                    token: *token,
                    verb,
                })
            })
            .collect();
        let model = answered(self.model.settled(&receipts).await)?;
        prop_assert_eq!(answered(self.subject().settled(&receipts).await)?, model, "receipts");
        Ok(())
    }

    /// A task is in exactly one state and one index; attempts stay within their limit; only a held
    /// task has a valid token, and that was the last one handed out for it.
    fn sound(&self, name: &QueueName, all: &[Task], counts: [u64; 10]) -> Outcome {
        let ids: BTreeSet<_> = all.iter().map(|task| &task.spec.id).collect();
        prop_assert_eq!(ids.len(), all.len(), "each task of {} is listed once", name);
        let known = |id| self.names.contains(&(name.clone(), TaskId::clone(id)));
        prop_assert!(ids.into_iter().all(known), "a task of {} came from nowhere", name);
        let count = |state| all.iter().filter(|t| t.status.state_at(self.now()) == state).count();
        prop_assert_eq!(State::ALL.map(|state| count(state) as u64), counts);
        for task in all {
            let status = &task.status;
            if let Some(limit) = task.spec.max_attempts.and_then(|max| max.limit()) {
                // A notice that was under way when it got lost does not count.
                let used = match task.spec.notice {
                    Some(_) => status.notified.count,
                    None => status.attempt,
                };
                prop_assert!(used <= limit + status.granted, "{:?}", task);
            }
            prop_assert_eq!(status.hold.is_some(), status.state.is_held(), "{:?}", task);
            if let Some(hold) = status.hold {
                let mut last = self.tokens.iter().rev();
                let last = last.find(|(_, queue, id)| queue == name && *id == task.spec.id);
                prop_assert!(last.is_some_and(|(token, ..)| *token == hold.token), "{:?}", task);
            }
        }
        Ok(())
    }

    /// Notes what a take handed out: due, and with a token that was never seen before.
    pub(super) fn handed_out(&mut self, task: &Task) -> Outcome {
        prop_assert!(task.due_at() <= self.now(), "handed out before it was due: {:?}", task);
        let token = task.status.hold.map(|hold| hold.token);
        let token = token.ok_or_else(|| TestCaseError::fail("a taken task is not held"))?;
        prop_assert!(self.tokens.iter().all(|(old, ..)| *old != token), "a token came twice");
        self.tokens.push((token, task.spec.queue.clone(), task.spec.id.clone()));
        Ok(())
    }

    /// The tasks that have ended.
    pub(super) async fn finished(&self) -> Result<Finished, TestCaseError> {
        let mut finished = BTreeMap::new();
        for name in QUEUES.map(queue) {
            for task in listed(self.subject().as_ref(), &name, usize::MAX).await? {
                if task.status.state.is_finished() {
                    finished.insert((name.clone(), task.spec.id.clone()), task);
                }
            }
        }
        Ok(finished)
    }

    /// A finished task changes only by an explicit verb: time and other people's takes leave it.
    pub(super) async fn finished_stay(&self, step: &Step, before: &Finished) -> Outcome {
        let explicit = matches!(
            step,
            Step::Push { .. }
                | Step::Happen { .. }
                | Step::Late { .. }
                | Step::Owners(_)
                | Step::Remove { .. }
                | Step::ResetQueue { .. }
                | Step::DeleteQueue { .. }
        );
        if explicit {
            return Ok(());
        }
        let after = self.finished().await?;
        for (key, task) in before {
            match after.get(key) {
                Some(same) => prop_assert_eq!(same, task),
                None => {
                    let over = task.status.keep_until.is_none_or(|until| until <= self.now());
                    let swept = matches!(step, Step::Sweep { .. }) && over;
                    // The callback of a task that expires replaces a finished one of its id.
                    let replaced = matches!(step, Step::Expire) && key.0 == queue(QUEUES[2]);
                    prop_assert!(swept || replaced, "it went without being asked to: {:?}", task);
                }
            }
        }
        Ok(())
    }
}
