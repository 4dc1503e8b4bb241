//! Who holds what: the tasks each worker has, over all queues of mode dispatch.
//!
//! It follows from the entries of the queues and changes with them, so what undoes a change of an
//! entry undoes it here as well. Tasks of other queues have no number in `holder` and cost nothing.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use punctual_core::{State, WorkerName};

use super::index::Entry;
use super::numbers::Numbers;

/// Nobody holds it, or it does not matter who does.
pub(super) const NOBODY: u32 = u32::MAX;

/// The tasks each worker holds.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    /// Workers that hold tasks, numbered.
    workers: Numbers,
    /// Per worker, the births of its tasks and the numbers of their queues.
    tasks: HashMap<u32, BTreeMap<u64, u32>>,
    /// Workers that should look again.
    changed: BTreeSet<u32>,
}

impl Holdings {
    /// The number of a worker that gets a task.
    pub(super) fn number(&mut self, worker: &WorkerName) -> u32 {
        self.workers.number(worker.as_str())
    }

    /// What lay in a slot of a queue became something else.
    pub(super) fn moved(&mut self, queue: u32, before: Option<&Entry>, after: Option<&Entry>) {
        let is_kept = |entry: &&Entry| entry.holder != NOBODY;
        let (before, after) = (before.filter(is_kept), after.filter(is_kept));
        match (before, after) {
            (None, None) => {}
            (Some(before), Some(after))
                if (before.holder, before.birth) == (after.holder, after.birth) =>
            {
                let asks = matches!(after.state(), Some(State::Pausing | State::Cancelling));
                if asks && before.kind != after.kind {
                    self.changed.insert(after.holder);
                }
            }
            _ => {
                before.into_iter().for_each(|entry| self.leave(entry));
                after.into_iter().for_each(|entry| self.enter(queue, entry));
            }
        }
    }

    fn enter(&mut self, queue: u32, entry: &Entry) {
        self.tasks.entry(entry.holder).or_default().insert(entry.birth, queue);
        self.workers.enter(entry.holder);
        self.changed.insert(entry.holder);
    }

    fn leave(&mut self, entry: &Entry) {
        if let Some(tasks) = self.tasks.get_mut(&entry.holder) {
            tasks.remove(&entry.birth);
            if tasks.is_empty() {
                self.tasks.remove(&entry.holder);
            }
        }
        self.workers.leave(entry.holder);
        self.changed.insert(entry.holder);
    }

    /// The births of a worker's tasks and the numbers of their queues.
    pub(super) fn of(&self, worker: &WorkerName) -> Option<&BTreeMap<u64, u32>> {
        self.tasks.get(&self.workers.find(worker.as_str())?)
    }

    /// How many tasks a worker holds.
    pub(super) fn load(&self, worker: &WorkerName) -> usize {
        self.of(worker).map_or(0, BTreeMap::len)
    }

    /// The workers that should look again, each once.
    pub(super) fn changed(&mut self) -> Vec<WorkerName> {
        let changed = std::mem::take(&mut self.changed);
        let names = changed.into_iter().map(|number| self.workers.name(number));
        names.filter_map(|name| WorkerName::parse(name).ok()).collect()
    }

    /// Nobody needs to look again: the changes were undone.
    pub(super) fn undone(&mut self) {
        self.changed.clear();
    }

    /// Forgets the numbers of workers without tasks. Not while a change may be undone.
    pub(super) fn forget_idle(&mut self) {
        self.workers.forget_idle();
    }

    /// All of it, by name.
    #[cfg(test)]
    pub(super) fn picture(&self) -> String {
        let named = self.tasks.iter().map(|(number, tasks)| (self.workers.name(*number), tasks));
        format!("{:?}", named.collect::<BTreeMap<_, _>>())
    }
}
