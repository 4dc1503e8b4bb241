//! What is shown: how things stand, what has failed, and what the user looks at.

use punctual_client::{FailureGroup, Plan, Queue, Worker};
use serde_json::{Value, json};

use super::feed::{News, Rates, Stand};

/// All that is known.
pub(super) struct Board {
    pub(super) url: String,
    stand: Stand,
    /// Whether how things stand was ever told.
    pub(super) is_known: bool,
    /// Why the server cannot be asked, if so.
    pub(super) away: Option<String>,
    /// The last word for the user.
    pub(super) said: String,
    failures: Vec<FailureGroup>,
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

/// A queue, and what happens in it.
pub(super) struct Row<'a> {
    pub(super) queue: &'a Queue,
    pub(super) rates: Rates,
}

impl Board {
    pub(super) fn new(url: &str, filter: String) -> Self {
        Self {
            url: url.to_owned(),
            stand: Stand::default(),
            is_known: false,
            away: None,
            said: String::new(),
            failures: Vec::new(),
            filter,
            is_typing: false,
            sort: Sort::Name,
            chosen: None,
        }
    }

    /// Takes in news.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Stand(stand) => {
                self.stand = *stand;
                self.is_known = true;
                self.away = None;
            }
            News::Failures(failures) => self.failures = failures,
            News::Away(reason) => {
                self.away = Some(reason);
                self.said.clear();
            }
            News::Said(word) => self.said = word,
            News::Key(_) | News::Resized => {}
        }
    }

    fn rates(&self, queue: &str) -> Rates {
        self.stand.rates.get(queue).copied().unwrap_or_default()
    }

    /// The rates of all queues together, as far as they may be seen.
    pub(super) fn total(&self) -> Rates {
        let seen = || self.stand.rates.values().copied().fold(Rates::default(), Rates::and);
        self.stand.total.unwrap_or_else(seen)
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

    pub(super) fn has_more_plans(&self) -> bool {
        self.stand.has_more_plans
    }

    pub(super) fn failures(&self) -> &[FailureGroup] {
        &self.failures
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
