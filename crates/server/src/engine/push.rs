//! Pushes: ids for those that have none, a queue if there is none, one store call for all.

use std::sync::Arc;

use punctual_core::{NewTask, QueueName, Settings, Spec, Status, Task, TaskId};
use punctual_store::{Keyed, KeyedItem, Push, Pushed};

use super::{Engine, Failure};

/// A task to push, checked; or why it cannot be, and its id if it has one.
pub(crate) type PushItem = Result<NewTask, (Option<TaskId>, Failure)>;

/// The identity of a request that carries an `Idempotency-Key`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Hash of access token, route and key.
    pub(crate) key: u128,
    /// Hash of the body.
    pub(crate) request: u128,
    /// The status the request is answered with if it takes effect.
    pub(crate) status: u16,
    /// Whether the request is one task, not a batch.
    pub(crate) single: bool,
}

/// What came of a push.
#[derive(Debug)]
pub(crate) enum PushAnswer {
    /// One answer per item, with the item's id if it has one.
    Fresh(Vec<(Option<TaskId>, Result<Task, Failure>)>),
    /// The request was answered before: with this status, and these items.
    Replayed {
        /// The status.
        status: u16,
        /// The items.
        items: Vec<KeyedItem>,
    },
}

/// A push that can be sent to the store, and what it will answer for those left out.
struct Prepared {
    specs: Vec<Arc<Spec>>,
    /// Where the answers of `specs` stand among all.
    positions: Vec<usize>,
    refused: Vec<(usize, Option<TaskId>, Failure)>,
}

impl Engine {
    /// Pushes tasks into a queue, each answered by itself.
    pub(crate) async fn push(
        &self,
        queue: &QueueName,
        items: Vec<PushItem>,
        key: Option<Key>,
    ) -> Result<PushAnswer, Failure> {
        let record = self.store.queue(queue).await?;
        let prepared = match &record {
            Some(record) => self.prepare(queue, &record.settings, items),
            // A repeated request is answered even if its queue is gone.
            None if self.auto_create || key.is_some() => {
                self.prepare(queue, &Settings::initial(queue), items)
            }
            None => return Err(Failure::NoQueue(queue.clone())),
        };
        if prepared.specs.is_empty() && key.is_none_or(|key| key.single) {
            return Ok(PushAnswer::Fresh(prepared.answers(Vec::new(), self.now())));
        }
        let push = || Push {
            queue: queue.clone(),
            tasks: prepared.specs.clone(),
            keyed: key.map(|key| prepared.keyed(key)),
        };
        let mut pushed = self.store.push(push()).await?;
        if pushed == Pushed::NoQueue && self.auto_create {
            self.create_queue(queue).await?;
            pushed = self.store.push(push()).await?;
        }
        match pushed {
            Pushed::Answers(answers) => {
                let refusal = |refusal| Failure::Push { refusal };
                let answers = answers.into_iter().map(|answer| answer.map_err(refusal));
                let answers = answers.map(|answer| answer.map(|_| ())).collect();
                Ok(PushAnswer::Fresh(prepared.answers(answers, self.now())))
            }
            Pushed::Replayed { status, items } => Ok(PushAnswer::Replayed { status, items }),
            Pushed::KeyReused => Err(Failure::KeyReused),
            Pushed::NoQueue => Err(Failure::NoQueue(queue.clone())),
        }
    }

    fn prepare(&self, queue: &QueueName, settings: &Settings, items: Vec<PushItem>) -> Prepared {
        let now = self.now();
        let mut ids = self.ids.many(now, items.len());
        let mut prepared =
            Prepared { specs: Vec::new(), positions: Vec::new(), refused: Vec::new() };
        for (position, item) in items.into_iter().enumerate() {
            let checked = item.and_then(|new| {
                match new.check_queue(settings).and_then(|()| new.check_reach(&self.reach)) {
                    Ok(()) => Ok(new),
                    Err(refusal) => Err((new.id, refusal.into())),
                }
            });
            match checked {
                Ok(mut new) => {
                    let id = new.id.take().or_else(|| ids.next()).expect("one id per item");
                    prepared.specs.push(Arc::new(Spec::new(queue.clone(), new, id, now)));
                    prepared.positions.push(position);
                }
                Err((id, failure)) => prepared.refused.push((position, id, failure)),
            }
        }
        prepared
    }
}

impl Prepared {
    fn len(&self) -> usize {
        self.specs.len() + self.refused.len()
    }

    /// What a store has to remember of the request.
    fn keyed(&self, key: Key) -> Keyed {
        let mut items = vec![KeyedItem { id: None, code: None }; self.len()];
        for (position, spec) in self.positions.iter().zip(&self.specs) {
            items[*position].id = Some(spec.id.clone());
        }
        for (position, id, failure) in &self.refused {
            let code = Some(failure.code().name().to_owned());
            items[*position] = KeyedItem { id: id.clone(), code };
        }
        let Key { key, request, status, single } = key;
        Keyed { key, request, status, single, items, positions: self.positions.clone() }
    }

    /// One answer per item, in the order of the request.
    fn answers(
        self,
        pushed: Vec<Result<(), Failure>>,
        now: punctual_core::Timestamp,
    ) -> Vec<(Option<TaskId>, Result<Task, Failure>)> {
        let mut answers: Vec<(usize, Option<TaskId>, Result<Task, Failure>)> = self
            .refused
            .into_iter()
            .map(|(position, id, failure)| (position, id, Err(failure)))
            .collect();
        for ((spec, position), answer) in self.specs.into_iter().zip(self.positions).zip(pushed) {
            let id = Some(spec.id.clone());
            let task = answer.map(|()| Task { status: Status::new(spec.due_at, now), spec });
            answers.push((position, id, task));
        }
        answers.sort_by_key(|(position, ..)| *position);
        answers.into_iter().map(|(_, id, answer)| (id, answer)).collect()
    }
}
