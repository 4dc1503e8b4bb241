//! What is told at most once a second and task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::{Announcement, QueueName};

const EVERY: Duration = Duration::from_secs(1);
/// Tasks remembered before those are looked for that may be told of again.
const TASKS_SWEPT: usize = 10_000;

/// When tasks were last told of.
#[derive(Default)]
pub(super) struct Pace(Mutex<HashMap<(QueueName, Arc<str>), Instant>>);

impl Pace {
    /// What of an announcement may be told now.
    pub(super) fn limit(&self, announcement: Announcement) -> Option<Announcement> {
        self.limit_at(announcement, Instant::now())
    }

    fn limit_at(&self, announcement: Announcement, now: Instant) -> Option<Announcement> {
        let queue = announcement.queues().first()?.clone();
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TASKS_SWEPT {
            told.retain(|_, at| now.duration_since(*at) < EVERY);
        }
        announcement.only(|id| {
            let last = told.entry((queue.clone(), id.clone()));
            let is_first = matches!(last, std::collections::hash_map::Entry::Vacant(_));
            let last = last.or_insert(now);
            let is_due = is_first || now.duration_since(*last) >= EVERY;
            if is_due {
                *last = now;
            }
            is_due
        })
    }
}

#[cfg(test)]
mod tests {
    use punctual_core::Timestamp;

    use super::*;

    fn progress(ids: &[&str]) -> Announcement {
        let queue = QueueName::parse("q").unwrap();
        let new = Announcement::new("task.progress", Timestamp::default()).in_queue(&queue);
        ids.iter().fold(new, |announcement, id| announcement.about((*id).into()))
    }

    #[test]
    fn a_task_is_told_of_once_a_second() {
        let (pace, start) = (Pace::default(), Instant::now());
        let told = |ids: &[&str], millis| {
            let told = pace.limit_at(progress(ids), start + Duration::from_millis(millis));
            told.map_or_else(Vec::new, |told| told.ids().iter().map(|id| id.to_string()).collect())
        };
        assert_eq!(told(&["a"], 0), ["a"]);
        assert!(told(&["a"], 999).is_empty());
        assert_eq!(told(&["a", "b"], 999), ["b"]);
        assert_eq!(told(&["a", "b"], 1_000), ["a"]);
        assert_eq!(told(&["a", "b"], 2_000), ["a", "b"]);
    }

    #[test]
    fn memory_is_bounded() {
        let (pace, start) = (Pace::default(), Instant::now());
        for n in 0..3 * TASKS_SWEPT as u64 {
            pace.limit_at(progress(&[&n.to_string()]), start + Duration::from_millis(n));
        }
        assert!(pace.0.lock().unwrap().len() <= TASKS_SWEPT);
    }
}
