//! What the server says: how things stand, asked again and again, and what happens, as it happens.

use std::time::Duration;

use futures_util::TryFutureExt;
use punctual_client::{
    Client, Error, Event, EventFilter, Filter, Plan, PlanState, Queue, State, Timestamp, Worker,
};
use ratatui::crossterm::event::KeyEvent;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::pages::gather;

/// How often the server is asked how things stand.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Most workers and plans that are looked at.
const LIST_MAX: usize = 1_000;
/// Queues that are asked for their failed tasks, and how many of each.
const FAILED_QUEUES_MAX: usize = 8;
const FAILED_EACH: usize = 5;

/// Something to show.
#[derive(Debug)]
pub(super) enum News {
    /// How things stand.
    Stand(Box<Stand>),
    /// Something happened to tasks of a queue.
    Happened { queue: String, what: What, count: u64 },
    /// Something failed.
    Failed(Failure),
    /// The server cannot be asked.
    Away(String),
    /// A word for the user.
    Said(String),
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal has another size.
    Resized,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    In,
    Out,
    Failed,
}

/// How things stand.
#[derive(Debug, Default)]
pub(super) struct Stand {
    pub(super) queues: Vec<Queue>,
    pub(super) workers: Vec<Worker>,
    /// Those to come, the soonest first.
    pub(super) plans: Vec<Plan>,
    /// The latest that are kept, where they were asked for.
    pub(super) failures: Vec<Failure>,
}

/// Something that failed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(super) struct Failure {
    pub(super) at: Timestamp,
    pub(super) queue: String,
    pub(super) id: String,
    pub(super) error: String,
}

/// Brings news as long as anybody hears them.
pub(super) async fn bring(client: &Client, news: Sender<News>) {
    tokio::join!(ask(client, &news), listen(client, &news));
}

/// Asks how things stand, failures included.
pub(super) async fn snapshot(client: &Client) -> Result<Stand, Error> {
    let mut stand = stand(client).await?;
    let mut failed: Vec<_> = stand.queues.iter().filter(|queue| queue.counts.failed > 0).collect();
    failed.sort_by_key(|queue| std::cmp::Reverse(queue.counts.failed));
    for queue in failed.into_iter().take(FAILED_QUEUES_MAX) {
        let filter = Filter::new().states([State::Failed]);
        let page = client.tasks(&queue.name, &filter, FAILED_EACH, None).await?;
        stand.failures.extend(page.items.into_iter().map(|task| Failure {
            at: task.finished_at.unwrap_or(task.due_at),
            queue: task.queue,
            id: task.id,
            error: task.error.unwrap_or_default(),
        }));
    }
    stand.failures.sort_by_key(|failure| std::cmp::Reverse(failure.at));
    Ok(stand)
}

async fn stand(client: &Client) -> Result<Stand, Error> {
    let queues = gather(usize::MAX, async |n, cursor| client.queues(None, None, n, cursor).await);
    let workers = gather(LIST_MAX, async |n, cursor| client.workers(None, n, cursor).await);
    let states = [PlanState::Scheduled];
    let plans = gather(LIST_MAX, async |n, cursor| client.plans(None, &states, n, cursor).await);
    // A token that is good for queues only still sees those.
    let (queues, workers, plans) = tokio::join!(
        queues,
        workers.map_ok(|page| page.items).or_else(forgo),
        plans.map_ok(|page| page.items).or_else(forgo),
    );
    let mut plans = plans?;
    plans.sort_by_key(|plan| plan.next_at.map_or(i64::MAX, Timestamp::as_millis));
    Ok(Stand { queues: queues?.items, workers: workers?, plans, failures: Vec::new() })
}

async fn forgo<T>(error: Error) -> Result<Vec<T>, Error> {
    if error.status() == Some(403) { Ok(Vec::new()) } else { Err(error) }
}

async fn ask(client: &Client, news: &Sender<News>) {
    // What failed before is asked for once, and again after the server was away.
    let mut is_new = true;
    loop {
        let asked = if is_new { snapshot(client).await } else { stand(client).await };
        is_new = asked.is_err();
        let told = match asked {
            Ok(stand) => News::Stand(Box::new(stand)),
            Err(error) => News::Away(error.to_string()),
        };
        if news.send(told).await.is_err() {
            return;
        }
        sleep(ASK_EVERY).await;
    }
}

async fn listen(client: &Client, news: &Sender<News>) {
    let mut last_id = String::new();
    loop {
        let mut filter = EventFilter::new();
        if !last_id.is_empty() {
            filter = filter.after(&last_id);
        }
        // Whether the server is there, the other task says.
        if let Ok(mut events) = client.events(&filter).await {
            while let Ok(Some(event)) = events.next().await {
                for told in read(&event).into_iter().flatten() {
                    if news.send(told).await.is_err() {
                        return;
                    }
                }
            }
            events.last_id().clone_into(&mut last_id);
        }
        sleep(ASK_EVERY).await;
    }
}

#[derive(Deserialize)]
struct Told {
    at: Timestamp,
    queue: Option<String>,
    id: Option<String>,
    #[serde(default)]
    ids: Vec<IgnoredAny>,
    error: Option<String>,
}

/// What an event is to those who watch: something to count, and something to tell.
fn read(event: &Event) -> [Option<News>; 2] {
    let what = match event.kind.as_str() {
        "task.pushed" | "bundle.pushed" => What::In,
        "task.committed" => What::Out,
        kind if kind.starts_with("pub.") => What::Out,
        "task.failed" | "task.retrying" | "task.expired" => What::Failed,
        _ => return [None, None],
    };
    let Ok(told) = serde_json::from_str::<Told>(event.data.as_str()) else { return [None, None] };
    let Some(queue) = told.queue else { return [None, None] };
    let failure = (what == What::Failed).then(|| {
        News::Failed(Failure {
            at: told.at,
            queue: queue.clone(),
            id: told.id.unwrap_or_default(),
            error: told.error.unwrap_or_else(|| event.kind.clone()),
        })
    });
    let count = told.ids.len().max(1) as u64;
    [Some(News::Happened { queue, what, count }), failure]
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
