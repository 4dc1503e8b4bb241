//! Failed tasks by what went wrong: what somebody who looks after queues wants to see first.

use std::collections::BTreeMap;

use punctual_core::limits::{PAGE_EXAMINED_MAX, PAGE_ITEMS_MAX};
use punctual_core::{QueueName, State, TaskId, Timestamp};

use super::{Engine, Failure, Filter, depths};
use crate::access::Scope;

/// Most characters of an error that tell it from others. A group's error is a part of that of its every
/// task, so a filter by it finds them.
const ERROR_CHARS_MAX: usize = 200;

/// Failed tasks of one queue that failed alike.
#[derive(Debug, PartialEq)]
pub(crate) struct FailureGroup {
    /// The queue.
    pub(crate) queue: QueueName,
    /// The beginning of what went wrong; none: nothing was said.
    pub(crate) error: Option<String>,
    /// How many there are.
    pub(crate) count: usize,
    /// When the last of them failed.
    pub(crate) last_at: Option<Timestamp>,
    /// That one.
    pub(crate) id: TaskId,
}

/// The first line of an error, as far as it tells it from others.
fn gist(error: &str) -> String {
    error.lines().next().unwrap_or_default().chars().take(ERROR_CHARS_MAX).collect()
}

/// A page in the making.
#[derive(Default)]
struct Groups {
    groups: BTreeMap<(QueueName, Option<String>), FailureGroup>,
    examined: usize,
}

impl Groups {
    fn add(&mut self, queue: &QueueName, error: Option<&str>, at: Option<Timestamp>, id: &TaskId) {
        let error = error.map(gist).filter(|error| !error.is_empty());
        let group = self.groups.entry((queue.clone(), error.clone())).or_insert_with(|| {
            FailureGroup { queue: queue.clone(), error, count: 0, last_at: None, id: id.clone() }
        });
        group.count += 1;
        if at >= group.last_at {
            group.last_at = at;
            group.id = id.clone();
        }
    }

    /// The groups, those that failed last first.
    fn newest_first(self) -> Vec<FailureGroup> {
        let mut groups: Vec<_> = self.groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.last_at));
        groups
    }
}

impl Engine {
    /// Groups failed tasks of one queue, or of all that a caller may see, queue by queue. Also says where
    /// the next call goes on: a group may have more tasks there.
    pub(crate) async fn failures(
        &self,
        queue: Option<&QueueName>,
        scope: &Scope,
        cursor: Option<&str>,
    ) -> Result<(Vec<FailureGroup>, Option<String>), Failure> {
        let (first, mut place) = match cursor {
            Some(cursor) => read_cursor(cursor)?,
            None => (None, None),
        };
        let queues = match queue {
            Some(queue) => vec![self.queue(queue).await?.name.clone()],
            None => self.queues_with_failures(scope).await?,
        };
        let filter = Filter { states: vec![State::Failed], ..Filter::default() };
        let mut groups = Groups::default();
        for queue in queues.iter().filter(|queue| first.as_ref().is_none_or(|from| *queue >= from))
        {
            if first.as_ref() != Some(queue) {
                place = None;
            }
            loop {
                if groups.examined >= PAGE_EXAMINED_MAX {
                    let next = format!("{queue} {}", place.unwrap_or_default());
                    return Ok((groups.newest_first(), Some(next)));
                }
                let limit = PAGE_ITEMS_MAX.min(PAGE_EXAMINED_MAX - groups.examined);
                let page = self.list(queue, &filter, limit, place.take()).await?;
                groups.examined += page.items.len().max(1);
                for stored in &page.items {
                    let status = &stored.task.status;
                    let error = status.error.as_deref();
                    groups.add(queue, error, status.finished_at, &stored.task.spec.id);
                }
                place = page.next;
                if place.is_none() {
                    break;
                }
            }
        }
        Ok((groups.newest_first(), None))
    }

    /// The queues of a scope that have failed tasks, by name. Counts come from indexes.
    async fn queues_with_failures(&self, scope: &Scope) -> Result<Vec<QueueName>, Failure> {
        let queues = depths(&*self.store, scope).await?.into_iter();
        let failed = queues.filter(|reading| reading.stats.count(State::Failed) > 0);
        Ok(failed.map(|reading| reading.queue.name.clone()).collect())
    }
}

/// Where a call ended: a queue, and the place in it if it was begun.
fn read_cursor(cursor: &str) -> Result<(Option<QueueName>, Option<String>), Failure> {
    let bad = || Failure::invalid("cursor", "the next of the answer before");
    let (queue, place) = cursor.split_once(' ').ok_or_else(bad)?;
    let queue = QueueName::parse(queue).map_err(|_| bad())?;
    Ok((Some(queue), Some(place.to_owned()).filter(|place| !place.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_is_what_begins_alike_and_the_last_one_is_named() {
        let (q, p) = (QueueName::parse("q").unwrap(), QueueName::parse("p").unwrap());
        let id = |text| TaskId::parse(text).unwrap();
        let at = |ms| Some(Timestamp::from_millis(ms));
        let mut groups = Groups::default();
        groups.add(&q, Some("boom\nat 1"), at(1), &id("a"));
        groups.add(&q, Some("boom\nat 2"), at(3), &id("b"));
        groups.add(&q, Some("boom"), at(2), &id("c"));
        groups.add(&p, Some("boom"), at(9), &id("d"));
        groups.add(&q, None, at(4), &id("e"));
        groups.add(&q, Some(""), at(4), &id("f"));
        let told: Vec<_> = groups
            .newest_first()
            .into_iter()
            .map(|group| (group.queue.to_string(), group.error, group.count, group.id.to_string()))
            .collect();
        let boom = || Some("boom".to_owned());
        assert_eq!(
            told,
            [
                ("p".to_owned(), boom(), 1, "d".to_owned()),
                ("q".to_owned(), None, 2, "f".to_owned()),
                ("q".to_owned(), boom(), 3, "b".to_owned()),
            ]
        );
        assert_eq!(gist(&"é".repeat(999)).chars().count(), 200);
    }
}
