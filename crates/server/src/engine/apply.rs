//! The common path of all verbs on tasks that exist: decide, commit, and on a lost race read again.

use std::sync::Arc;

use punctual_core::task::Context;
use punctual_core::{Decision, Event, Fate, Queue, Refusal, Task, TaskId, Timestamp, Token, Verb};
use punctual_store::{StoreError, Stored};

use super::owned::{Decided, Undone};
use super::{Engine, Failure, Filter, random};

/// How often a record is read again before the request is given up.
const ROUNDS_MAX: usize = 16;

/// Something that is to happen to one task.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The task.
    pub(crate) id: TaskId,
    /// What is to happen to it.
    pub(crate) event: Event,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It happened, or had happened before.
    Task {
        /// The task after it.
        task: Task,
        /// Its queue.
        queue: Arc<Queue>,
        /// Whether this made a difference.
        changed: bool,
    },
    /// It happened before, and the task is gone or another one by now.
    Before {
        /// Which settle verb it was.
        verb: Verb,
    },
}

/// What is known of a task before it is decided on.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing: it has to be read.
    Unread,
    /// A record that may be out of date. Good enough for a decision the store will fence, not good
    /// enough to refuse anything.
    Cached(Stored),
    /// A record that was just read.
    Read(Stored),
}

type Answer = Result<Outcome, Failure>;

impl Ask {
    /// Checks every field that can be judged without the task.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.event {
            Event::Extend { extension, .. } => extension.check()?,
            Event::Settle { settlement, .. } => settlement.check()?,
            Event::Edit(edit) => edit.check()?,
            _ => {}
        }
        Ok(())
    }

    /// Whether its holder says that it has worked on the task and is through with it.
    fn ends_work(&self) -> bool {
        match &self.event {
            Event::Settle { settlement, .. } => settlement.verb() != Verb::Release,
            _ => false,
        }
    }

    /// The token its holder shows, for verbs of holders.
    pub(super) fn token(&self) -> Option<Token> {
        match &self.event {
            Event::Confirm { token }
            | Event::Extend { token, .. }
            | Event::Settle { token, .. } => Some(*token),
            _ => None,
        }
    }
}

/// A decision on its way to the store.
struct Pending {
    index: usize,
    cached: bool,
    changed: bool,
    before: Stored,
}

/// Some asks on their way.
struct Run<'a> {
    engine: &'a Engine,
    queue: &'a Arc<Queue>,
    asks: &'a [Ask],
    only: Option<&'a Filter>,
    /// What is not answered yet, by its place among the asks.
    open: Vec<(usize, Known)>,
    answers: Vec<Option<Answer>>,
}

impl Engine {
    /// Lets things happen to tasks of one queue: one commit for all, each answered by itself. A task
    /// that had to be read again is left alone if it is not selected by `only` any more.
    ///
    /// An error means that nothing of it is known to have happened.
    pub(super) async fn apply(
        &self,
        queue: &Arc<Queue>,
        asks: &[Ask],
        known: Vec<Known>,
        only: Option<&Filter>,
    ) -> Result<Vec<Answer>, StoreError> {
        let open = known.into_iter().enumerate().collect();
        let answers = asks.iter().map(|_| None).collect();
        let mut run = Run { engine: self, queue, asks, only, open, answers };
        let rest = match run.finish().await {
            Ok(()) => Failure::Contended,
            Err(error) if run.answers.iter().all(Option::is_none) => return Err(error),
            // What was answered has happened; only the rest is in doubt.
            Err(error) => Failure::Store(error),
        };
        let answer = |answer: Option<Answer>| answer.unwrap_or_else(|| Err(rest.clone()));
        Ok(run.answers.into_iter().map(answer).collect())
    }

    /// Lets `core` decide what an event makes of a task.
    pub(super) fn decide(
        &self,
        queue: &Queue,
        task: &Task,
        event: Event,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        // Only a callback needs an id, so only for one is an id made.
        let made = task.spec.makes_tasks().then(|| self.ids.one(now));
        let callback_id = made.as_ref().unwrap_or(&task.spec.id);
        let context = Context { now, queue: &queue.settings, roll: random::roll(), callback_id };
        task.decide(event, &context)
    }
}

impl Run<'_> {
    fn outcome(&self, task: Task, changed: bool) -> Outcome {
        Outcome::Task { task, queue: self.queue.clone(), changed }
    }

    async fn finish(&mut self) -> Result<(), StoreError> {
        for _ in 0..ROUNDS_MAX {
            if self.open.is_empty() {
                break;
            }
            self.read().await?;
            self.commit().await?;
        }
        self.recall().await
    }

    /// Reads what is unread. What does not exist or is not selected is answered.
    async fn read(&mut self) -> Result<(), StoreError> {
        let id = |(index, known): &(usize, Known)| match known {
            Known::Unread => Some(self.asks[*index].id.clone()),
            _ => None,
        };
        let ids: Vec<TaskId> = self.open.iter().filter_map(id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut records = self.engine.store.read(&self.queue.name, &ids).await?.into_iter();
        let now = self.engine.now();
        for (index, known) in std::mem::take(&mut self.open) {
            let known = match known {
                Known::Unread => match records.next().flatten() {
                    None => {
                        let (queue, id) = (self.queue.name.clone(), self.asks[index].id.clone());
                        self.answers[index] = Some(Err(Failure::NoTask { queue, id }));
                        continue;
                    }
                    Some(Stored { task, .. })
                        if self.only.is_some_and(|only| !only.selects(&task, now)) =>
                    {
                        self.answers[index] = Some(Ok(self.outcome(task, false)));
                        continue;
                    }
                    Some(stored) => Known::Read(stored),
                },
                known => known,
            };
            self.open.push((index, known));
        }
        Ok(())
    }

    /// Decides and commits. What lost its race, or was refused by a record that may be out of date,
    /// stays open.
    async fn commit(&mut self) -> Result<(), StoreError> {
        let now = self.engine.now();
        let asks = self.asks;
        let mut pending = Vec::new();
        for (index, known) in std::mem::take(&mut self.open) {
            let (stored, cached) = match known {
                Known::Cached(stored) => (stored, true),
                Known::Read(stored) => (stored, false),
                Known::Unread => unreachable!("all that is open was read"),
            };
            match self.engine.decide(self.queue, &stored.task, asks[index].event.clone(), now) {
                Ok(decision) => {
                    let changed = decision.fate != Fate::Same;
                    pending.push((Pending { index, cached, changed, before: stored }, decision));
                }
                Err(_) if cached => self.open.push((index, Known::Unread)),
                Err(refusal) => self.answers[index] = Some(Err(refusal.into())),
            }
        }
        let (pending, decisions): (Vec<Pending>, Vec<Decision>) = pending.into_iter().unzip();
        let decided = pending.iter().zip(decisions).map(|(pending, decision)| Decided {
            queue: self.queue,
            event: &asks[pending.index].event,
            before: &pending.before,
            decision,
        });
        let results = self.engine.commit(decided.collect(), now).await?;
        self.committed(pending, results, now);
        Ok(())
    }

    fn committed(
        &mut self,
        pending: Vec<Pending>,
        results: Vec<Result<Stored, Undone>>,
        now: Timestamp,
    ) {
        let (mut workers, mut served) = (Vec::new(), Vec::new());
        for (Pending { index, cached, changed, before }, result) in pending.into_iter().zip(results)
        {
            match result {
                Ok(stored) => {
                    self.engine.held.keep([&stored]);
                    self.answers[index] = Some(Ok(self.outcome(stored.task, changed)));
                    let (ask, status) = (&self.asks[index], &before.task.status);
                    if matches!(ask.event, Event::Clean) {
                        self.engine.events.waiters.removed(&self.queue.name, [&ask.id]);
                    }
                    workers.extend(status.worker.clone().filter(|_| ask.token().is_some()));
                    served.extend(status.taken_at.filter(|_| changed && ask.ends_work()));
                }
                Err(Undone::Refused(refusal)) if !cached => {
                    self.answers[index] = Some(Err(refusal.into()));
                }
                Err(Undone::Store(failure)) => {
                    self.answers[index] = Some(Err(Failure::Store(failure)));
                }
                Err(Undone::Lost | Undone::Refused(_)) => self.open.push((index, Known::Unread)),
            }
        }
        workers.iter().for_each(|worker| self.engine.roster.hear(worker, now));
        self.engine.paces.heard(&self.queue.name, &workers, now);
        self.engine.paces.served(&self.queue.name, &served, now);
    }

    /// Settle verbs that came too late because they came before: their receipts say so.
    async fn recall(&mut self) -> Result<(), StoreError> {
        let mut receipts = Vec::new();
        let mut indexes = Vec::new();
        for (index, (ask, answer)) in self.asks.iter().zip(&self.answers).enumerate() {
            let late = matches!(
                answer,
                Some(Err(Failure::NoTask { .. } | Failure::Refused(Refusal::StaleToken)))
            );
            if late && let Some(receipt) = ask.receipt(&self.queue.name) {
                receipts.push(receipt);
                indexes.push(index);
            }
        }
        if receipts.is_empty() {
            return Ok(());
        }
        let settled = self.engine.store.settled(&receipts).await.inspect_err(|_| {
            // Whether these happened before is not known now.
            for index in &indexes {
                self.answers[*index] = None;
            }
        })?;
        for ((index, receipt), settled) in indexes.into_iter().zip(receipts).zip(settled) {
            if settled {
                self.answers[index] = Some(Ok(Outcome::Before { verb: receipt.verb }));
            }
        }
        Ok(())
    }
}
