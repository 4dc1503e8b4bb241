//! Lists of tasks: filters over pages of the store, bounded in records examined and bytes returned.

use punctual_core::limits::{PAGE_BYTES_MAX, PAGE_EXAMINED_MAX};
use punctual_core::task::Attempt;
use punctual_core::{QueueName, State, Status, Task, Timestamp};
use punctual_store::{Listing, Sort, StoreError, Stored};

use super::held::bytes_of;
use super::{Engine, Failure};

/// Records read first, before anything is known about their size.
const CHUNK_FIRST: usize = 16;
const CHUNK_MAX: usize = 500;

/// What is listed when no state is asked for: what is being done, what comes next, what is over.
const ORDER: [State; 10] = [
    State::Running,
    State::Assigned,
    State::Pausing,
    State::Cancelling,
    State::Ready,
    State::Waiting,
    State::Paused,
    State::Failed,
    State::Done,
    State::Cancelled,
];

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only these states, listed in this order; all if none is named.
    pub(crate) states: Vec<State>,
    /// Only those with this tag.
    pub(crate) tag: Option<String>,
    /// Only those whose id begins so.
    pub(crate) id: Option<String>,
    /// Only those whose error contains this.
    pub(crate) error: Option<String>,
    /// Only those whose payload contains this.
    pub(crate) text: Option<String>,
    /// Only those that finished, or last failed, then or later.
    pub(crate) since: Option<Timestamp>,
    /// Only those that this worker holds, or held when they ended.
    pub(crate) worker: Option<String>,
    /// Only notices.
    pub(crate) notices: bool,
    /// Finished ones as one list, by when they ended; they come after the others.
    pub(crate) sort: Option<Sort>,
}

/// A page of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskPage {
    /// The tasks that match.
    pub(crate) items: Vec<Stored>,
    /// Where the next page begins; none: this was the last.
    pub(crate) next: Option<String>,
}

impl Filter {
    /// The states to list, each once.
    pub(super) fn states(&self) -> Vec<State> {
        let mut states = Vec::new();
        for state in &self.states {
            if !states.contains(state) {
                states.push(*state);
            }
        }
        if states.is_empty() { ORDER.to_vec() } else { states }
    }

    /// The lists that make up the whole, one after the other: states, and their order.
    fn parts(&self) -> Vec<(Vec<State>, Option<Sort>)> {
        let states = self.states();
        if self.sort.is_none() {
            return vec![(states, None)];
        }
        let (finished, live): (Vec<State>, Vec<State>) =
            states.into_iter().partition(|state| state.is_finished());
        let parts = [(live, None), (finished, self.sort)];
        parts.into_iter().filter(|(states, _)| !states.is_empty()).collect()
    }

    /// Whether every task in the right state matches.
    fn is_plain(&self) -> bool {
        let names_none =
            self.tag.is_none() && self.id.is_none() && self.worker.is_none() && !self.notices;
        names_none && self.error.is_none() && self.text.is_none() && self.since.is_none()
    }

    /// Whether a task is one of those to list.
    pub(super) fn selects(&self, task: &Task, now: Timestamp) -> bool {
        let state = task.status.state_at(now);
        (self.states.is_empty() || self.states.contains(&state)) && self.matches(task)
    }

    fn matches(&self, task: &Task) -> bool {
        let Task { spec, status } = task;
        let error = status.error.as_deref().unwrap_or_default();
        (!self.notices || spec.notice.is_some())
            && self.id.as_ref().is_none_or(|id| spec.id.as_str().starts_with(id))
            && self.tag.as_ref().is_none_or(|tag| spec.tags.contains(tag))
            && self.worker.as_ref().is_none_or(|worker| {
                status.worker.as_ref().is_some_and(|name| name.as_str() == worker)
            })
            && self.since.is_none_or(|since| last_end(status).is_some_and(|at| at >= since))
            && self.error.as_ref().is_none_or(|text| error.contains(text))
            && self.text.as_ref().is_none_or(|text| contains(spec.payload.as_str(), text))
    }
}

/// When a task finished; else when its last attempt failed.
fn last_end(status: &Status) -> Option<Timestamp> {
    let is_failure = |attempt: &&Attempt| attempt.outcome.is_failure();
    let failed_at = || status.history.iter().rev().find(is_failure).map(|last| last.ended_at);
    status.finished_at.or_else(failed_at)
}

/// Whether a JSON text contains a text, as it is written or as it reads once escapes are undone.
fn contains(json: &str, text: &str) -> bool {
    fn reads(value: &serde_json::Value, text: &str) -> bool {
        match value {
            serde_json::Value::String(string) => string.contains(text),
            serde_json::Value::Array(items) => items.iter().any(|item| reads(item, text)),
            serde_json::Value::Object(members) => {
                members.iter().any(|(name, value)| name.contains(text) || reads(value, text))
            }
            _ => false,
        }
    }
    json.contains(text)
        || (json.contains('\\')
            && serde_json::from_str(json).is_ok_and(|value| reads(&value, text)))
}

/// Says of each record whether it matches. Payloads are read where that keeps nobody waiting.
async fn judged(filter: &Filter, records: Vec<Stored>) -> Vec<(Stored, bool)> {
    let judge = |filter: &Filter, records: Vec<Stored>| {
        let judge = |stored: Stored| {
            let matches = filter.matches(&stored.task);
            (stored, matches)
        };
        records.into_iter().map(judge).collect()
    };
    if filter.text.is_none() {
        return judge(filter, records);
    }
    let filter = filter.clone();
    let judged = tokio::task::spawn_blocking(move || judge(&filter, records));
    judged.await.expect("looking for a text does not panic")
}

/// A page in the making.
struct Gathering<'a> {
    filter: &'a Filter,
    limit: usize,
    items: Vec<Stored>,
    bytes: usize,
    examined: usize,
    examined_bytes: usize,
}

impl Gathering<'_> {
    /// How many of these records can be examined before the page is full.
    fn room_for(&self, records: &[(Stored, bool)]) -> usize {
        let (mut items, mut bytes) = (self.items.len(), self.bytes);
        for (index, (stored, matches)) in records.iter().enumerate() {
            if items == self.limit {
                return index;
            }
            if *matches {
                bytes += bytes_of(&stored.task);
                if bytes > PAGE_BYTES_MAX && items > 0 {
                    return index;
                }
                items += 1;
            }
        }
        records.len()
    }

    fn examine(&mut self, records: Vec<(Stored, bool)>) {
        self.examined += records.len().max(1);
        for (stored, matches) in records {
            let bytes = bytes_of(&stored.task);
            self.examined_bytes += bytes;
            if matches {
                self.bytes += bytes;
                self.items.push(stored);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.items.len() >= self.limit || self.examined >= PAGE_EXAMINED_MAX
    }

    /// How many records to read next: as many as may be wanted, not many more bytes than a page.
    fn chunk(&self) -> usize {
        let wanted = if self.filter.is_plain() { self.limit - self.items.len() } else { CHUNK_MAX };
        let average = self.examined_bytes.checked_div(self.examined).unwrap_or(0).max(1);
        let affordable = if self.examined == 0 { CHUNK_FIRST } else { PAGE_BYTES_MAX / average };
        wanted.min(affordable).min(PAGE_EXAMINED_MAX - self.examined).max(1)
    }
}

impl Engine {
    /// Lists tasks of a queue that exists.
    pub(crate) async fn list(
        &self,
        queue: &QueueName,
        filter: &Filter,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<TaskPage, Failure> {
        let parts = filter.parts();
        let (mut part, mut cursor) = begin(cursor, parts.len())?;
        let mut page = Gathering {
            filter,
            limit,
            items: Vec::new(),
            bytes: 0,
            examined: 0,
            examined_bytes: 0,
        };
        let mut chunk = page.chunk();
        loop {
            let (states, sort) = parts[part].clone();
            let listing = Listing {
                queue: queue.clone(),
                states,
                cursor: cursor.clone(),
                limit: chunk,
                sort,
            };
            let read = self.store.list(listing).await?;
            let items = judged(filter, read.items).await;
            let room = page.room_for(&items);
            if room == 0 && !items.is_empty() {
                let next = Some(place(part, cursor, parts.len()));
                return Ok(TaskPage { items: page.items, next });
            }
            if room < items.len() {
                // A cursor stands only at the end of what the store read, so the page is read again
                // exactly as far as it goes.
                chunk = room;
                continue;
            }
            page.examine(items);
            cursor = read.next;
            if cursor.is_none() {
                part += 1;
            }
            if part == parts.len() {
                return Ok(TaskPage { items: page.items, next: None });
            }
            if page.is_full() {
                let next = Some(place(part, cursor, parts.len()));
                return Ok(TaskPage { items: page.items, next });
            }
            chunk = page.chunk();
        }
    }
}

/// The cursor for a place in one of several lists; in a single one it is that of the store.
fn place(part: usize, cursor: Option<String>, parts: usize) -> String {
    let cursor = cursor.unwrap_or_default();
    if parts == 1 { cursor } else { format!("{part}~{cursor}") }
}

/// The list a cursor stands in, and its place there.
fn begin(cursor: Option<String>, parts: usize) -> Result<(usize, Option<String>), Failure> {
    if parts == 1 {
        return Ok((0, cursor));
    }
    let Some(text) = cursor else { return Ok((0, None)) };
    let place = text.split_once('~').and_then(|(part, cursor)| Some((part.parse().ok()?, cursor)));
    let (part, cursor) = place.filter(|(part, _)| *part < parts).ok_or(StoreError::BadCursor)?;
    Ok((part, Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_as_written_and_as_it_reads() {
        let json = r#"{"name":"caf\u00e9","path":"a\/b","n":[1,{"\u4e2d":"\u6587"}]}"#;
        for text in ["café", "a/b", r"a\/b", "中", "文", "\"n\"", "[1"] {
            assert!(contains(json, text), "{text}");
        }
        for text in ["cafe", "é\"", "x"] {
            assert!(!contains(json, text), "{text}");
        }
    }

    #[test]
    fn a_state_named_twice_is_listed_once() {
        let states = vec![State::Ready, State::Done, State::Ready];
        let filter = Filter { states, ..Filter::default() };
        assert_eq!(filter.states(), [State::Ready, State::Done]);
        assert_eq!(Filter::default().states().len(), State::ALL.len());
    }
}
