//! What is shown: how things stand, what happened lately, and what the user looks at.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use punctual_client::{Plan, Queue, Worker};
use serde::Serialize;
use serde_json::{Value, json};

use super::feed::{Failure, News, Stand, What};

/// Rates are averages over so many seconds.
const WINDOW_SECS: u64 = 10;
const FAILURES_MAX: usize = 100;

/// All that is known.
pub(super) struct Board {
    pub(super) url: String,
    started: Instant,
    stand: Stand,
    /// Whether how things stand was ever told.
    pub(super) is_known: bool,
    /// Why the server cannot be asked, if so.
    pub(super) away: Option<String>,
    /// The last word for the user.
    pub(super) said: String,
    counted: HashMap<String, Counted>,
    failures: VecDeque<Failure>,
    pub(super) filter: String,
    /// Whether keys go to the filter.
    pub(super) is_typing: bool,
    pub(super) sort: Sort,
    /// The name of the queue that is chosen.
    chosen: Option<String>,
}

/// What rows are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Name,
    Ready,
    In,
    Out,
    Failed,
    Oldest,
}

impl Sort {
    const ALL: [Self; 6] =
        [Self::Name, Self::Ready, Self::In, Self::Out, Self::Failed, Self::Oldest];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Ready => "ready",
            Self::In => "in",
            Self::Out => "out",
            Self::Failed => "failed",
            Self::Oldest => "oldest",
        }
    }

    pub(super) fn next(self) -> Self {
        self.turned(1)
    }

    pub(super) fn previous(self) -> Self {
        self.turned(Self::ALL.len() - 1)
    }

    fn turned(self, by: usize) -> Self {
        let place = Self::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Self::ALL[(place + by) % Self::ALL.len()]
    }
}

/// What happened in a queue, second by second.
#[derive(Default)]
struct Counted {
    seconds: VecDeque<(u64, [u64; 3])>,
}

impl Counted {
    fn add(&mut self, second: u64, what: What, count: u64) {
        if self.seconds.back().is_none_or(|(last, _)| *last != second) {
            self.seconds.push_back((second, [0; 3]));
        }
        if let Some((_, counts)) = self.seconds.back_mut() {
            counts[what as usize] += count;
        }
        self.forget(second);
    }

    fn forget(&mut self, now: u64) {
        while self.seconds.front().is_some_and(|(second, _)| second + WINDOW_SECS < now) {
            self.seconds.pop_front();
        }
    }

    fn total(&self, now: u64) -> [u64; 3] {
        let recent = self.seconds.iter().filter(|(second, _)| second + WINDOW_SECS >= now);
        recent.fold([0; 3], |[a, b, c], (_, [x, y, z])| [a + x, b + y, c + z])
    }
}

/// Tasks per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Rates {
    #[serde(rename = "in")]
    pub(super) pushed: f64,
    pub(super) out: f64,
    pub(super) failed: f64,
}

/// A queue, and what happens in it.
pub(super) struct Row<'a> {
    pub(super) queue: &'a Queue,
    pub(super) rates: Rates,
}

impl Board {
    pub(super) fn new(url: &str, filter: String) -> Self {
        Self {
            url: url.to_owned(),
            started: Instant::now(),
            stand: Stand::default(),
            is_known: false,
            away: None,
            said: String::new(),
            counted: HashMap::new(),
            failures: VecDeque::new(),
            filter,
            is_typing: false,
            sort: Sort::Name,
            chosen: None,
        }
    }

    /// Takes in how things stand.
    pub(super) fn show(&mut self, mut stand: Stand) {
        for failure in stand.failures.drain(..).rev() {
            if !self.failures.contains(&failure) {
                self.failed(failure);
            }
        }
        self.counted.retain(|name, _| stand.queues.iter().any(|queue| queue.name == *name));
        self.stand = stand;
        self.is_known = true;
        self.away = None;
    }

    /// Takes in news.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Stand(stand) => self.show(*stand),
            News::Happened { queue, what, count } => {
                let second = self.second();
                self.counted.entry(queue).or_default().add(second, what, count);
            }
            News::Failed(failure) => self.failed(failure),
            News::Away(reason) => {
                self.away = Some(reason);
                self.said.clear();
            }
            News::Said(word) => self.said = word,
            News::Key(_) | News::Resized => {}
        }
    }

    fn failed(&mut self, failure: Failure) {
        self.failures.push_front(failure);
        self.failures.truncate(FAILURES_MAX);
    }

    fn second(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// The time that rates are averages of.
    fn window(&self) -> f64 {
        let window = Duration::from_secs(WINDOW_SECS);
        self.started.elapsed().clamp(Duration::from_secs(1), window).as_secs_f64()
    }

    fn rates(&self, queue: &str) -> Rates {
        let now = self.second();
        let [pushed, out, failed] =
            self.counted.get(queue).map_or([0; 3], |counted| counted.total(now));
        let per_second = |count: u64| count as f64 / self.window();
        Rates { pushed: per_second(pushed), out: per_second(out), failed: per_second(failed) }
    }

    /// The rates of all queues together.
    pub(super) fn total(&self) -> Rates {
        self.stand.queues.iter().map(|queue| self.rates(&queue.name)).fold(
            Rates::default(),
            |all, one| Rates {
                pushed: all.pushed + one.pushed,
                out: all.out + one.out,
                failed: all.failed + one.failed,
            },
        )
    }

    /// The queues to show, in order.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let shown = self.stand.queues.iter().filter(|queue| queue.name.contains(&self.filter));
        let mut rows: Vec<_> =
            shown.map(|queue| Row { queue, rates: self.rates(&queue.name) }).collect();
        let weight = |row: &Row<'_>| match self.sort {
            Sort::Name => 0.0,
            Sort::Ready => row.queue.counts.ready as f64,
            Sort::In => row.rates.pushed,
            Sort::Out => row.rates.out,
            Sort::Failed => row.queue.counts.failed as f64,
            Sort::Oldest => row.queue.oldest_ready_age.map_or(0.0, |age| age.as_secs_f64()),
        };
        // Those with most come first; among equals the server's order, by name, stays.
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        rows
    }

    pub(super) fn queues(&self) -> usize {
        self.stand.queues.len()
    }

    pub(super) fn workers(&self) -> &[Worker] {
        &self.stand.workers
    }

    pub(super) fn plans(&self) -> &[Plan] {
        &self.stand.plans
    }

    pub(super) fn failures(&self) -> impl ExactSizeIterator<Item = &Failure> {
        self.failures.iter()
    }

    /// The place of the chosen queue among the rows.
    pub(super) fn place(&self, rows: &[Row<'_>]) -> Option<usize> {
        let place = rows.iter().position(|row| Some(&row.queue.name) == self.chosen.as_ref());
        place.or((!rows.is_empty()).then_some(0))
    }

    /// The chosen queue, and whether it is paused.
    pub(super) fn chosen(&self) -> Option<(String, bool)> {
        let rows = self.rows();
        let row = rows.get(self.place(&rows)?)?;
        Some((row.queue.name.clone(), row.queue.paused))
    }

    /// Chooses another queue, so many rows further down.
    pub(super) fn move_by(&mut self, by: isize) {
        let rows = self.rows();
        let Some(place) = self.place(&rows) else { return };
        let place = place.saturating_add_signed(by).min(rows.len() - 1);
        self.chosen = Some(rows[place].queue.name.clone());
    }

    /// All of it, for programs.
    pub(super) fn frame(&self) -> Value {
        let queue = |row: Row<'_>| {
            let Queue { name, mode, paused, counts, oldest_ready_age, .. } = row.queue;
            json!({
                "name": name, "mode": mode, "paused": paused,
                "oldest_ready_age": oldest_ready_age, "counts": counts, "rates": row.rates,
            })
        };
        json!({
            "queues": self.rows().into_iter().map(queue).collect::<Vec<_>>(),
            "rates": self.total(),
            "workers": self.workers(),
            "failures": self.failures,
            "plans": self.plans(),
        })
    }
}
