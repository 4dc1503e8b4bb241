//! Records this node handed out, kept so that their holders' verbs need no read.
//!
//! What lies here may be out of date, so nothing is refused because of it: a decision made from it
//! is fenced by the store, and what loses its race is read again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use punctual_core::task::Attempt;
use punctual_core::{QueueName, RawJson, Task, TaskId, Token};
use punctual_store::Stored;

const BYTES_MAX: usize = 32 << 20;

/// Two generations of records by their holder's token. When the young one is full the old one is
/// dropped as a whole, so that neither a clock nor a list of ages is needed.
#[derive(Debug, Default)]
pub(crate) struct Held {
    generations: Mutex<Generations>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Token, Stored>,
    old: HashMap<Token, Stored>,
    young_bytes: usize,
}

impl Held {
    /// Keeps records that are held; others are let go.
    pub(crate) fn keep<'a>(&self, records: impl IntoIterator<Item = &'a Stored>) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        for stored in records {
            generations.keep(stored);
        }
    }

    /// Takes out the record of a task, if its holder has this token.
    pub(crate) fn take_out(&self, queue: &QueueName, id: &TaskId, token: Token) -> Option<Stored> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = generations.take_out(token)?;
        let spec = &stored.task.spec;
        (spec.queue == *queue && spec.id == *id).then_some(stored)
    }
}

impl Generations {
    fn keep(&mut self, stored: &Stored) {
        let Some(hold) = stored.task.status.hold else { return };
        self.take_out(hold.token);
        let bytes = bytes_of(&stored.task);
        if self.young_bytes + bytes > BYTES_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if bytes <= BYTES_MAX / 2 {
            self.young_bytes += bytes;
            self.young.insert(hold.token, stored.clone());
        }
    }

    fn take_out(&mut self, token: Token) -> Option<Stored> {
        let Some(stored) = self.young.remove(&token) else { return self.old.remove(&token) };
        self.young_bytes -= bytes_of(&stored.task);
        Some(stored)
    }
}

/// About what a record takes in memory, and in an answer.
pub(super) fn bytes_of(task: &Task) -> usize {
    let status = &task.status;
    // The data of a notice reads twice, as it was given and as it was understood.
    let payloads = if task.spec.notice.is_some() { 2 } else { 1 };
    let answer = |attempt: &Attempt| attempt.http.as_ref()?.answer.as_ref().map(String::len);
    size_of::<Stored>()
        + size_of_val(&**status)
        + size_of_val(&*task.spec)
        + payloads * task.spec.payload.len()
        + status.history.iter().filter_map(answer).sum::<usize>()
        + task.spec.tags.iter().map(String::len).sum::<usize>()
        + status.result.as_ref().map_or(0, RawJson::len)
        + status.message.as_ref().map_or(0, String::len)
        + status.error.as_ref().map_or(0, String::len)
        + status.checkpoint.as_ref().map_or(0, RawJson::len)
        + status.history.len() * 256
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_core::task::Grant;
    use punctual_core::{NewTask, Seed, Span, Spec, Status, Timestamp};
    use punctual_store::Revision;

    use super::*;

    fn held(id: &str, token: Token, payload_bytes: usize) -> Stored {
        let now = Timestamp::from_millis(1);
        let payload = RawJson::of(&"x".repeat(payload_bytes));
        let new = NewTask { payload: Some(payload), ..NewTask::default() };
        let queue = QueueName::parse("q").unwrap();
        let spec = Spec::new(queue, new, TaskId::parse(id).unwrap(), now);
        let mut status = Status::new(now, now);
        let hold = Span::from_secs(1);
        status.take(Grant {
            token,
            worker: None,
            now,
            hold,
            confirm_within: None,
            max_runtime: None,
        });
        let task = Task { spec: Arc::new(spec), status: status.into() };
        Stored { task, revision: Revision { birth: 1, change: 1 } }
    }

    #[test]
    fn a_record_is_found_by_its_own_token_once() {
        let (records, seed) = (Held::default(), Seed::new(7));
        let stored = held("a", seed.token(0), 10);
        records.keep([&stored]);
        let (queue, id) = (&stored.task.spec.queue, &stored.task.spec.id);
        assert_eq!(records.take_out(queue, id, seed.token(1)), None);
        assert_eq!(records.take_out(queue, id, seed.token(0)), Some(stored.clone()));
        assert_eq!(records.take_out(queue, id, seed.token(0)), None);
        records.keep([&stored]);
        let other = TaskId::parse("b").unwrap();
        assert_eq!(records.take_out(queue, &other, seed.token(0)), None);
    }

    #[test]
    fn memory_is_bounded() {
        let (records, seed) = (Held::default(), Seed::new(7));
        for index in 0..200 {
            records.keep([&held("a", seed.token(index), 1 << 20)]);
            let generations = records.generations.lock().unwrap();
            let kept = generations.young.len() + generations.old.len();
            assert!(kept <= 32, "{kept} records of a MiB");
            assert!(generations.young_bytes <= BYTES_MAX / 2);
        }
        let last = held("a", seed.token(199), 1 << 20);
        let (queue, id) = (&last.task.spec.queue, &last.task.spec.id);
        assert!(records.take_out(queue, id, seed.token(199)).is_some());
    }
}
