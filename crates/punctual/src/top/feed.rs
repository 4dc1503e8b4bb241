//! What the server says of how things stand, asked again and again.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::TryFutureExt;
use punctual_client::{Client, Error, FailureGroup, Page, Plan, Queue, QueueStats, Stats, Worker};
use ratatui::crossterm::event::KeyEvent;
use serde::Serialize;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::pages::gather;

/// How often the server is asked how things stand.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Grouping failures costs the server more than all the rest, so it is done less often.
const ASKS_PER_FAILURES: usize = 5;
/// Most workers that are looked at.
const WORKERS_MAX: usize = 1_000;
/// Most plans that are looked at.
const PLANS_MAX: usize = 100;
/// Rates are averages over so long: the last minute that the server counts.
const WINDOW_SECS: u64 = 60;
/// The server counts in steps that long; the last of the window is under way.
const STEP_SECS: u64 = 10;

/// Something to show.
#[derive(Debug)]
pub(super) enum News {
    /// How things stand.
    Stand(Box<Stand>),
    /// What has failed, those that failed last first.
    Failures(Vec<FailureGroup>),
    /// The server cannot be asked.
    Away(String),
    /// A word for the user.
    Said(String),
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal has another size.
    Resized,
}

/// How things stand.
#[derive(Debug, Default)]
pub(super) struct Stand {
    pub(super) queues: Vec<Queue>,
    /// Of the queues in which anything happened.
    pub(super) rates: HashMap<String, Rates>,
    /// Of all queues together, where that may be seen.
    pub(super) total: Option<Rates>,
    pub(super) workers: Vec<Worker>,
    /// Those to come, the soonest first.
    pub(super) plans: Vec<Plan>,
    /// Whether there are more plans than these.
    pub(super) has_more_plans: bool,
}

/// Tasks per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Rates {
    #[serde(rename = "in")]
    pub(super) pushed: f64,
    pub(super) out: f64,
    pub(super) failed: f64,
}

impl Rates {
    /// What was counted in the last minute, with this long of it over.
    fn of([pushed, done, failed]: [&[u64]; 3], step: u64, secs: f64) -> Self {
        let steps = usize::try_from(WINDOW_SECS / step.max(1)).unwrap_or(1).max(1);
        let per_second = |counts: &[u64]| {
            counts.iter().rev().take(steps).map(|count| *count as f64).sum::<f64>() / secs
        };
        Self { pushed: per_second(pushed), out: per_second(done), failed: per_second(failed) }
    }

    fn of_queue(stats: &QueueStats, secs: f64) -> Self {
        let QueueStats { step, pushed, done, failed, .. } = stats;
        Self::of([pushed, done, failed], *step, secs)
    }

    fn of_all(stats: &Stats, secs: f64) -> Self {
        let Stats { step, pushed, done, failed, .. } = stats;
        Self::of([pushed, done, failed], *step, secs)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            pushed: self.pushed + other.pushed,
            out: self.out + other.out,
            failed: self.failed + other.failed,
        }
    }
}

/// How long the last minute is that the server counts: its last step has only begun. Steps begin at
/// whole multiples of their length.
fn window_secs() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let begun = now.as_secs_f64() % STEP_SECS as f64;
    (WINDOW_SECS - STEP_SECS) as f64 + begun
}

/// Brings news as long as anybody hears them.
pub(super) async fn bring(client: &Client, news: Sender<News>) {
    let mut asks = 0;
    loop {
        let told = match stand(client).await {
            Ok(stand) => News::Stand(Box::new(stand)),
            Err(error) => {
                asks = 0;
                News::Away(error.to_string())
            }
        };
        let is_there = matches!(told, News::Stand(_));
        if news.send(told).await.is_err() {
            return;
        }
        if is_there {
            // That it cannot be asked, the next question will tell.
            if asks % ASKS_PER_FAILURES == 0
                && let Ok(failures) = failures(client).await
                && news.send(News::Failures(failures)).await.is_err()
            {
                return;
            }
            asks += 1;
        }
        sleep(ASK_EVERY).await;
    }
}

/// Asks how things stand.
pub(super) async fn stand(client: &Client) -> Result<Stand, Error> {
    let queues = gather(usize::MAX, async |n, cursor| client.queues(None, None, n, cursor).await);
    let workers = gather(WORKERS_MAX, async |n, cursor| client.workers(None, n, cursor).await);
    let plans = gather(PLANS_MAX, async |n, cursor| client.next_plans(n, cursor).await);
    let total = client.stats(None).map_ok(Some);
    // A token that is good for some queues only still sees those.
    let (queues, by_queue, total, workers, plans) = tokio::join!(
        queues,
        client.queue_stats(),
        total.or_else(|error| forgo(error, None)),
        workers.or_else(|error| forgo(error, nothing())),
        plans.or_else(|error| forgo(error, nothing())),
    );
    let (secs, plans) = (window_secs(), plans?);
    let rates = |stats: QueueStats| (stats.queue.clone(), Rates::of_queue(&stats, secs));
    Ok(Stand {
        queues: queues?.items,
        rates: by_queue?.into_iter().map(rates).collect(),
        total: total?.map(|stats| Rates::of_all(&stats, secs)),
        workers: workers?.items,
        has_more_plans: plans.next.is_some(),
        plans: plans.items,
    })
}

/// Asks what has failed: the first of it, where there is a lot.
pub(super) async fn failures(client: &Client) -> Result<Vec<FailureGroup>, Error> {
    client.failures(None, None).await.map(|page| page.items)
}

async fn forgo<T>(error: Error, instead: T) -> Result<T, Error> {
    if error.status() == Some(403) { Ok(instead) } else { Err(error) }
}

fn nothing<T>() -> Page<T> {
    Page { items: Vec::new(), next: None }
}

/// Pauses a queue or lets it go on, and tells the user what came of it.
pub(super) fn turn(client: Client, queue: String, is_paused: bool, news: Sender<News>) {
    tokio::spawn(async move {
        let turned = match is_paused {
            true => client.resume_queue(&queue).await,
            false => client.pause_queue(&queue).await,
        };
        let said = match turned {
            Ok(queue) if queue.paused => format!("{} is paused", queue.name),
            Ok(queue) => format!("{} goes on", queue.name),
            Err(error) => error.to_string(),
        };
        // Nobody may be left to hear it.
        let _ = news.send(News::Said(said)).await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_last_minute_whatever_the_steps() {
        let minutes = Rates::of([&[9, 120], &[5, 60], &[7, 0]], 60, 60.0);
        assert_eq!(minutes, Rates { pushed: 2.0, out: 1.0, failed: 0.0 });
        let tens: [u64; 8] = [99, 99, 20, 20, 20, 20, 20, 10];
        let tens = Rates::of([&tens, &tens[..1], &[]], 10, 55.0);
        assert_eq!(tens, Rates { pushed: 2.0, out: 99.0 / 55.0, failed: 0.0 });
        assert!((50.0..60.0).contains(&window_secs()));
    }
}
