//! Pushes: ids for those that have none, a queue if there is none, one store call for all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use punctual_core::task::SettingsOf;
use punctual_core::{NewTask, Queue, QueueName, Revision, Settings, Spec, Task, TaskId, announce};
use punctual_store::{Keyed, KeyedItem, Push, Pushed, Stored};

use super::{Engine, Failure};

/// A task to push, checked; or why it cannot be, and its id if it has one.
pub(crate) type PushItem = Result<NewTask, (Option<ItemId>, Failure)>;

/// The id of an item of a batch, by which its sender knows its answer.
#[derive(Debug, Clone)]
pub(crate) enum ItemId {
    /// A task's.
    Task(TaskId),
    /// No task can have it: the text that was sent.
    Text(String),
}

impl ItemId {
    /// As it reads.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Task(id) => id.as_str(),
            Self::Text(text) => text,
        }
    }
}

impl From<TaskId> for ItemId {
    fn from(id: TaskId) -> Self {
        Self::Task(id)
    }
}

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

impl Key {
    /// The request as a store remembers it, about one thing of this id.
    pub(super) fn keyed(self, id: Option<TaskId>) -> Keyed {
        let Self { key, request, status, single } = self;
        let items = vec![KeyedItem { id, code: None }];
        Keyed { key, request, status, single, items, positions: Vec::new() }
    }
}

/// What came of a push.
#[derive(Debug)]
pub(crate) enum PushAnswer {
    /// One answer per item, with the item's id if it has one.
    Fresh(Vec<(Option<ItemId>, Result<Stored, Failure>)>),
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
    refused: Vec<(usize, Option<ItemId>, Failure)>,
}

impl Engine {
    /// Pushes tasks into a queue, as it was read if there is one, each answered by itself.
    pub(crate) async fn push(
        &self,
        queue: &QueueName,
        record: Option<&Queue>,
        items: Vec<PushItem>,
        key: Option<Key>,
    ) -> Result<PushAnswer, Failure> {
        // A repeated request is answered even if its queue is gone.
        if record.is_none() && !self.auto_create && key.is_none() {
            return Err(Failure::NoQueue(queue.clone()));
        }
        let mut others = HashMap::new();
        for name in items.iter().flatten().flat_map(NewTask::callback_queues) {
            if name != queue && !others.contains_key(name) {
                let record = self.store.queue(name).await?;
                others.insert(name.clone(), settings(name, record.as_deref()).into_owned());
            }
        }
        let own = settings(queue, record);
        let settings_of = |name: &QueueName| if name == queue { &*own } else { &others[name] };
        let prepared = self.prepare(queue, &settings_of, items);
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
                let arrived = answers.iter().filter(|answer| answer.is_ok()).count();
                self.paces.arrived(queue, arrived, self.now());
                let pushed = prepared.specs.iter().zip(&answers);
                let pushed = pushed.filter(|(_, answer)| answer.is_ok()).map(|(spec, _)| &**spec);
                self.events.announce(announce::task::all_pushed(pushed, self.now()));
                let refusal = |refusal| Failure::Push { refusal };
                let answers = answers.into_iter().map(|answer| answer.map_err(refusal)).collect();
                Ok(PushAnswer::Fresh(prepared.answers(answers, self.now())))
            }
            Pushed::Replayed { status, items } => Ok(PushAnswer::Replayed { status, items }),
            Pushed::KeyReused => Err(Failure::KeyReused),
            Pushed::NoQueue => Err(Failure::NoQueue(queue.clone())),
        }
    }

    /// Makes records of what can be pushed, by the settings of all queues that are named.
    fn prepare(
        &self,
        queue: &QueueName,
        settings_of: SettingsOf<'_>,
        items: Vec<PushItem>,
    ) -> Prepared {
        let now = self.now();
        let mut ids = self.ids.many(now, items.len());
        let mut prepared =
            Prepared { specs: Vec::new(), positions: Vec::new(), refused: Vec::new() };
        for (position, item) in items.into_iter().enumerate() {
            let checked = item.and_then(|new| {
                let in_place = new.check_queues(queue, settings_of);
                match in_place.and_then(|()| new.check_reach(&self.reach)) {
                    Ok(()) => Ok(new),
                    Err(refusal) => Err((new.id.map(ItemId::from), refusal.into())),
                }
            });
            match checked {
                Ok(mut new) => {
                    new.trace = new.trace.or_else(|| self.tracer.begin());
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

/// The settings of a queue; the initial ones if it is yet to be made.
fn settings<'a>(name: &QueueName, record: Option<&'a Queue>) -> Cow<'a, Settings> {
    match record {
        Some(record) => Cow::Borrowed(&record.settings),
        None => Cow::Owned(Settings::initial(name)),
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
            let id = match id {
                Some(ItemId::Task(id)) => Some(id.clone()),
                _ => None,
            };
            items[*position] = KeyedItem { id, code };
        }
        let Key { key, request, status, single } = key;
        Keyed { key, request, status, single, items, positions: self.positions.clone() }
    }

    /// One answer per item, in the order of the request.
    fn answers(
        self,
        pushed: Vec<Result<Revision, Failure>>,
        now: punctual_core::Timestamp,
    ) -> Vec<(Option<ItemId>, Result<Stored, Failure>)> {
        let mut answers: Vec<(usize, Option<ItemId>, Result<Stored, Failure>)> = self
            .refused
            .into_iter()
            .map(|(position, id, failure)| (position, id, Err(failure)))
            .collect();
        for ((spec, position), answer) in self.specs.into_iter().zip(self.positions).zip(pushed) {
            let id = Some(spec.id.clone().into());
            let stored = answer.map(|revision| Stored { task: Task::new(spec, now), revision });
            answers.push((position, id, stored));
        }
        answers.sort_by_key(|(position, ..)| *position);
        answers.into_iter().map(|(_, id, answer)| (id, answer)).collect()
    }
}
