//! Ids for tasks that the server itself makes: the one a task is to have, or the first like it that no
//! other task keeps.

use std::collections::HashSet;

use punctual_core::rename::IDS_MAX;
use punctual_core::{
    Announcement, Announcements, Decision, QueueName, TaskId, Timestamp, announce,
};
use punctual_store::StoreError;

use super::owned::Decided;
use super::records::{Found, Records};
use super::{Engine, Failure};

/// The id under which a task can be made, and not one of those that others will use.
pub(super) fn free_id(
    records: &Records,
    queue: &QueueName,
    id: &TaskId,
    used: &HashSet<TaskId>,
    now: Timestamp,
) -> Found<TaskId> {
    for n in 1..=IDS_MAX {
        let other = id.nth(n);
        if n > 1 && used.contains(&other) {
            continue;
        }
        if !records.task(queue, &other)?.is_some_and(|stored| stored.task.keeps_id(now)) {
            return Ok(other);
        }
    }
    Err(Failure::invalid("id", format!("other tasks have {id} and all ids like it")).into())
}

impl Engine {
    /// Gives tasks of callbacks other ids, where other tasks keep those that they name. Answers the events
    /// that tell of it, each with the place of its decision.
    pub(super) async fn rename_callbacks(
        &self,
        decided: &mut [Decided<'_>],
        now: Timestamp,
    ) -> Result<Vec<(usize, Announcement)>, StoreError> {
        let mut told = Vec::new();
        let mut used: HashSet<(QueueName, TaskId)> = HashSet::new();
        for (place, decided) in decided.iter_mut().enumerate() {
            if !decided.names_callback() {
                continue;
            }
            let Decision { task: ended, spawn, .. } = &mut decided.decision;
            for spec in spawn {
                let wanted = spec.id.clone();
                for n in 1..=IDS_MAX {
                    let id = wanted.nth(n);
                    let key = (spec.queue.clone(), id.clone());
                    let is_own = ended.spec.queue == spec.queue && ended.spec.id == id;
                    let is_kept = if is_own {
                        ended.keeps_id(now)
                    } else {
                        let read = self.store.read(&spec.queue, std::slice::from_ref(&id)).await?;
                        read.into_iter().flatten().any(|stored| {
                            stored.task.keeps_id(now) || stored.task.spec.owner.is_some()
                        })
                    };
                    if !is_kept && used.insert(key) {
                        spec.id = id;
                        break;
                    }
                }
                if spec.id != wanted {
                    let mut news = Announcements::default();
                    announce::refused::renamed(&spec.queue, &wanted, &spec.id, now, &mut news);
                    told.extend(news.into_vec().into_iter().map(|news| (place, news)));
                }
            }
        }
        Ok(told)
    }
}
