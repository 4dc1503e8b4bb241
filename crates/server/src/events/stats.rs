//! What happened lately, counted: pushes, takes and ends in steps of ten seconds over the last hour, of all
//! queues together and of each.
//!
//! It is counted from what is heard, so that it covers all servers that share the store, and kept in
//! memory: what was never heard was never counted, and a new server begins with what can still be heard.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use punctual_core::{Announcement, QueueName, Timestamp};
use punctual_store::Announced;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The length of a step.
pub(crate) const STEP_SECS: u64 = 10;
/// Steps that are kept: an hour of them.
pub(crate) const STEPS: usize = 360;
/// Steps of a sparkline, each of which is several.
pub(crate) const MINUTES: usize = 60;
/// Most queues that are counted by themselves. A step of one takes 24 bytes, and quiet ones none.
const QUEUES_MAX: usize = 2_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Tasks that came in.
    Pushed,
    /// Tasks that were handed out.
    Taken,
    /// Tasks that ended well.
    Done,
    /// Tasks that ended badly.
    Failed,
}

impl Count {
    /// What an event counts as, if as anything.
    fn of(kind: &str) -> Option<Self> {
        match kind {
            "task.pushed" => Some(Self::Pushed),
            "task.taken" => Some(Self::Taken),
            "task.committed" => Some(Self::Done),
            "task.failed" | "task.expired" => Some(Self::Failed),
            _ => None,
        }
    }
}

/// What happened in some steps, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// When the first step began.
    pub(crate) from: Timestamp,
    steps: Vec<[u32; 4]>,
}

impl Series {
    /// One number per step.
    pub(crate) fn of(&self, count: Count) -> Vec<u32> {
        self.steps.iter().map(|step| step[count as usize]).collect()
    }

    /// The same in fewer, longer steps.
    fn in_minutes(&self) -> Self {
        let sum = |steps: &[[u32; 4]]| {
            steps.iter().fold([0; 4], |sum: [u32; 4], step| {
                std::array::from_fn(|place| sum[place].saturating_add(step[place]))
            })
        };
        let steps = self.steps.chunks(STEPS / MINUTES).map(sum).collect();
        Self { from: self.from, steps }
    }
}

/// The counts of the last hour.
#[derive(Default)]
pub(crate) struct Stats(Mutex<Tracks>);

#[derive(Default)]
struct Tracks {
    all: Track,
    queues: HashMap<QueueName, Track>,
    /// The step in which quiet queues were last dropped.
    dropped_at: i64,
}

/// Steps in which something happened, by their time.
#[derive(Default)]
struct Track(VecDeque<(i64, [u32; 4])>);

impl Track {
    fn add(&mut self, step: i64, count: Count, number: u32) {
        // Nearly always it is the last.
        let later = self.0.iter().rev().take_while(|(known, _)| *known > step).count();
        let mut place = self.0.len() - later;
        if place == 0 || self.0[place - 1].0 != step {
            if self.0.len() >= STEPS {
                if place == 0 {
                    return;
                }
                self.0.pop_front();
                place -= 1;
            }
            self.0.insert(place, (step, [0; 4]));
            place += 1;
        }
        let known = &mut self.0[place - 1].1[count as usize];
        *known = known.saturating_add(number);
    }

    fn is_quiet(&self, now: i64) -> bool {
        self.0.back().is_none_or(|(last, _)| *last <= now - STEPS as i64)
    }

    fn series(&self, now: i64) -> Series {
        let first = now - STEPS as i64 + 1;
        let mut steps = vec![[0; 4]; STEPS];
        for (step, counts) in &self.0 {
            if let Some(known) = usize::try_from(step - first).ok().and_then(|at| steps.get_mut(at))
            {
                *known = *counts;
            }
        }
        Series { from: Timestamp::from_millis(first * STEP_SECS as i64 * 1_000), steps }
    }
}

fn step_of(time: Timestamp) -> i64 {
    time.as_millis().div_euclid(STEP_SECS as i64 * 1_000)
}

/// What is read of an event.
#[derive(Deserialize)]
struct Told {
    at: Timestamp,
    #[serde(default)]
    ids: Vec<IgnoredAny>,
}

impl Stats {
    fn tracks(&self) -> MutexGuard<'_, Tracks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what happened just now, where there is no other server.
    pub(super) fn note(&self, news: &Announcement) {
        if let (Some(count), Some(queue)) = (Count::of(news.kind()), news.queues().first()) {
            let number = u32::try_from(news.ids().len().max(1)).unwrap_or(u32::MAX);
            let step = step_of(news.at());
            self.tracks().add(queue, step, count, number, step);
        }
    }

    /// Counts what was heard, here or at another server.
    pub(super) fn hear(&self, events: &[Announced], now: Timestamp) {
        for event in events {
            let (Some(count), Some(queue)) = (Count::of(&event.kind), event.queues.first()) else {
                continue;
            };
            let Ok(told) = serde_json::from_str::<Told>(&event.data) else { continue };
            let number = u32::try_from(told.ids.len().max(1)).unwrap_or(u32::MAX);
            self.tracks().add(queue, step_of(told.at), count, number, step_of(now));
        }
    }

    /// What happened in a queue, or in all of them.
    pub(crate) fn series(&self, queue: Option<&QueueName>, now: Timestamp) -> Series {
        let tracks = self.tracks();
        let (quiet, now) = (Track::default(), step_of(now));
        match queue {
            Some(queue) => tracks.queues.get(queue).unwrap_or(&quiet).series(now),
            None => tracks.all.series(now),
        }
    }

    /// What happened by the minute in the queues in which something did, by name.
    pub(crate) fn by_queue(
        &self,
        wanted: impl Fn(&QueueName) -> bool,
        now: Timestamp,
    ) -> Vec<(QueueName, Series)> {
        let now = step_of(now);
        let tracks = self.tracks();
        let busy =
            tracks.queues.iter().filter(|(name, track)| wanted(name) && !track.is_quiet(now));
        let mut items: Vec<_> =
            busy.map(|(name, track)| (name.clone(), track.series(now).in_minutes())).collect();
        drop(tracks);
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        items
    }
}

impl Tracks {
    fn add(&mut self, queue: &QueueName, step: i64, count: Count, number: u32, now: i64) {
        self.all.add(step, count, number);
        if self.queues.len() >= QUEUES_MAX && self.dropped_at != now {
            self.dropped_at = now;
            self.queues.retain(|_, track| !track.is_quiet(now));
        }
        if let Some(track) = self.queues.get_mut(queue) {
            track.add(step, count, number);
        } else if self.queues.len() < QUEUES_MAX {
            self.queues.entry(queue.clone()).or_default().add(step, count, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use punctual_store::EventId;

    use super::*;

    const NOW: i64 = 1_000_000_000;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_millis(secs * 1_000)
    }

    fn event(kind: &str, queue: &str, secs: i64, ids: usize) -> Announced {
        let mut data =
            format!("{{\"type\":\"{kind}\",\"at\":{}", serde_json::to_string(&at(secs)).unwrap());
        match ids {
            1 => data.push_str(",\"id\":\"a\"}"),
            _ => write!(data, ",\"ids\":{}}}", serde_json::to_string(&vec!["a"; ids]).unwrap())
                .unwrap(),
        }
        let queues = vec![QueueName::parse(queue).unwrap()];
        Announced { id: EventId::default(), kind: kind.into(), queues, data: data.into() }
    }

    #[test]
    fn events_count_in_the_step_in_which_they_happened() {
        let stats = Stats::default();
        stats.hear(
            &[
                event("task.pushed", "a", NOW, 3),
                event("task.pushed", "b", NOW - 10, 1),
                event("task.failed", "a", NOW - 3_599, 1),
                event("task.expired", "a", NOW - 3_599, 1),
                event("task.progress", "a", NOW, 1),
                event("task.pushed", "a", NOW - 3_600, 9),
                event("task.pushed", "a", NOW + 10, 9),
            ],
            at(NOW),
        );
        let all = stats.series(None, at(NOW));
        assert_eq!(all.from, at(NOW - 3_590));
        let pushed = all.of(Count::Pushed);
        assert_eq!((pushed.len(), &pushed[358..]), (STEPS, &[1, 3][..]));
        assert_eq!(pushed.iter().sum::<u32>(), 4);
        let a = QueueName::parse("a").unwrap();
        let own = stats.series(Some(&a), at(NOW + 5));
        assert_eq!(own.of(Count::Pushed)[359], 3);
        assert_eq!(own.of(Count::Failed).iter().sum::<u32>(), 0);
        let later = stats.series(Some(&a), at(NOW + 3_600));
        assert_eq!(later.of(Count::Pushed), [[9].as_slice(), &[0; 359]].concat());
    }

    #[test]
    fn sparklines_have_a_number_per_minute_and_quiet_queues_have_none() {
        let stats = Stats::default();
        let heard: Vec<_> = (0..6).map(|n| event("task.committed", "b", NOW - n * 10, 2)).collect();
        stats.hear(&heard, at(NOW));
        stats.hear(
            &[event("task.pushed", "a", NOW, 1), event("task.pushed", "old", NOW - 4_000, 1)],
            at(NOW),
        );
        let items = stats.by_queue(|_| true, at(NOW));
        let names: Vec<_> = items.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(items[1].1.of(Count::Done), [&[0; 59], [12].as_slice()].concat());
        assert_eq!(stats.by_queue(|name| name.as_str() == "a", at(NOW)).len(), 1);
    }

    #[test]
    fn memory_is_bounded_whatever_is_heard() {
        let stats = Stats::default();
        for step in 0..1_000 {
            stats.hear(&[event("task.pushed", "q", NOW + step * 10, 1)], at(NOW + step * 10));
            stats.hear(&[event("task.pushed", "q", NOW - step * 10, 1)], at(NOW + step * 10));
        }
        assert!(stats.tracks().all.0.len() <= STEPS);
        for number in 0..QUEUES_MAX * 2 {
            stats.hear(&[event("task.pushed", &format!("q{number}"), NOW, 1)], at(NOW));
        }
        assert_eq!(stats.tracks().queues.len(), QUEUES_MAX);
        // Whatever is quiet makes room.
        stats.hear(&[event("task.pushed", "new", NOW + 20_000, 1)], at(NOW + 20_000));
        assert_eq!(stats.tracks().queues.len(), 1);
    }
}
