//! `punctual task`: look at tasks, control them, report on those one holds.

use clap::{Args, Subcommand};
use punctual_client::{
    After, Attempt, Client, Extend, Fail, Filter, Held, Page, RawJson, Release, Span, State,
};

use crate::output::{Output, bare, cell, or_empty, record, table};
use crate::remote::Remote;
use crate::values;

const PAGE: usize = 1_000;

/// Look at tasks and control them
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual task list mail --state failed
  punctual task why mail welcome-ada
  punctual task retry mail welcome-ada
  punctual task fail mail welcome-ada TOKEN --error 'mailbox full'")]
pub(crate) struct Task {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

/// A task, by its name.
#[derive(Args)]
struct Named {
    /// The queue
    queue: String,
    /// The task's id
    id: String,
}

/// A task, as its holder names it.
#[derive(Args)]
struct Holding {
    /// The queue
    queue: String,
    /// The task's id
    id: String,
    /// The token its take answered
    token: String,
}

impl Holding {
    fn held(&self) -> Held<'_> {
        Held { queue: &self.queue, id: &self.id, token: &self.token }
    }
}

#[derive(Subcommand)]
enum Verb {
    List(List),
    /// Show a task
    #[command(after_help = "Example:\n  punctual task get mail welcome-ada --json | jq .payload")]
    Get(Named),
    /// Say why a task is not running now
    #[command(after_help = "Example:\n  punctual task why mail welcome-ada")]
    Why(Named),
    /// Cancel a task; one that is running is asked to stop
    #[command(after_help = "Example:\n  punctual task cancel mail welcome-ada")]
    Cancel(Named),
    /// Make a task that failed, or waits for its retry, ready now
    #[command(after_help = "Example:\n  punctual task retry mail welcome-ada")]
    Retry {
        #[command(flatten)]
        task: Named,
        /// Also if somebody holds it: it is freed
        #[arg(long)]
        force: bool,
    },
    /// Set a task aside; one that is running is asked to pause
    #[command(after_help = "Example:\n  punctual task pause mail welcome-ada")]
    Pause(Named),
    /// Let a paused task go on
    #[command(after_help = "Example:\n  punctual task resume mail welcome-ada")]
    Resume(Named),
    /// Make a task like new: attempts, progress, checkpoint and history are cleared
    #[command(after_help = "Example:\n  punctual task reset mail welcome-ada")]
    Reset(Named),
    /// Remove a task, whatever its state
    #[command(after_help = "Example:\n  punctual task clean mail welcome-ada")]
    Clean(Named),
    /// Say that a held task failed: it waits for its retry, or is failed for good
    #[command(after_help = "\
Example:\n  punctual task fail mail welcome-ada TOKEN --error 'mailbox full' --retry-in 10m")]
    Fail {
        #[command(flatten)]
        task: Holding,
        /// What went wrong
        #[arg(long)]
        error: Option<String>,
        /// The wait until the next attempt, instead of the policy's
        #[arg(long, value_parser = values::span)]
        retry_in: Option<Span>,
        /// Trying again is no use
        #[arg(long)]
        permanent: bool,
    },
    /// Give a held task back; the take does not count
    #[command(after_help = "Example:\n  punctual task release mail welcome-ada TOKEN --delay 1m")]
    Release {
        #[command(flatten)]
        task: Holding,
        /// The wait until it is ready again
        #[arg(long, value_parser = values::span)]
        delay: Option<Span>,
        /// What its next holder needs to go on, any JSON
        #[arg(long, value_parser = values::json, allow_negative_numbers = true)]
        checkpoint: Option<RawJson>,
    },
    /// Hold a task for longer, report on it, and hear whether to stop
    #[command(after_help = "\
Example:\n  punctual task extend mail welcome-ada TOKEN --hold 5m --progress 0.5")]
    Extend {
        #[command(flatten)]
        task: Holding,
        /// The new length of the hold, from now
        #[arg(long, value_parser = values::span)]
        hold: Option<Span>,
        /// How far it is, from 0 to 1
        #[arg(long)]
        progress: Option<f64>,
        /// A word on where it is
        #[arg(long)]
        message: Option<String>,
        /// What its next holder would need to go on, any JSON
        #[arg(long, value_parser = values::json, allow_negative_numbers = true)]
        checkpoint: Option<RawJson>,
    },
    /// Confirm a task that was taken with --confirm; its hold begins
    #[command(after_help = "Example:\n  punctual task confirm mail welcome-ada TOKEN")]
    Confirm(Holding),
}

/// List a queue's tasks; those that are ready in hand-out order
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual task list mail
  punctual task list mail --state failed,waiting --tag urgent
  punctual task list mail --contains ada@example.org --json | jq -r '.items[].id'")]
struct List {
    /// The queue
    queue: String,
    /// Only these states, separated by commas
    #[arg(long, value_parser = values::state, value_delimiter = ',')]
    state: Vec<State>,
    /// Only those with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only those whose id begins so
    #[arg(long, value_name = "PREFIX")]
    id: Option<String>,
    /// Only those with this in their error
    #[arg(long)]
    error: Option<String>,
    /// Only those with this text in their payload
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

impl Task {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        let after = |task| After::Task(Box::new(task));
        let (after, what) = match self.verb {
            Verb::List(list) => return list.run(&client, &output).await,
            Verb::Get(Named { queue, id }) => {
                let task = client.task(&queue, &id).await?;
                return output.answer(&task, || shown(&task));
            }
            Verb::Why(Named { queue, id }) => {
                let why = client.why(&queue, &id).await?;
                return output.answer(&why, || format!("{} ({})", why.text, why.reason));
            }
            Verb::Clean(Named { queue, id }) => {
                client.clean(&queue, &id).await?;
                return output.done(|| format!("removed {queue}/{id}"));
            }
            Verb::Extend { task, hold, progress, message, checkpoint } => {
                let extend = Extend { hold, progress, message, checkpoint };
                let extended = client.extend(task.held(), &extend).await?;
                return output.answer(&extended, || heard(&extended));
            }
            Verb::Cancel(Named { queue, id }) => {
                (after(client.cancel(&queue, &id).await?), "cancel")
            }
            Verb::Pause(Named { queue, id }) => (after(client.pause(&queue, &id).await?), "pause"),
            Verb::Resume(Named { queue, id }) => {
                (after(client.resume(&queue, &id).await?), "resume")
            }
            Verb::Reset(Named { queue, id }) => (after(client.reset(&queue, &id).await?), "reset"),
            Verb::Retry { task: Named { queue, id }, force } => {
                (after(client.retry(&queue, &id, force).await?), "retry")
            }
            Verb::Confirm(task) => (after(client.confirm(task.held()).await?), "confirm"),
            Verb::Fail { task, error, retry_in, permanent } => {
                let fail = Fail { error, retry_in, permanent };
                (client.fail(task.held(), &fail).await?, "fail")
            }
            Verb::Release { task, delay, checkpoint } => {
                let release = Release { delay, checkpoint };
                (client.release(task.held(), &release).await?, "release")
            }
        };
        output.answer(&after, || {
            let state = after.state().map_or("gone since", |state| state.name());
            let until = match after.task() {
                Some(task) if task.state == State::Waiting => format!(" until {}", task.due_at),
                _ => String::new(),
            };
            format!("{what} {}: {state}{until}", after.id())
        })
    }
}

fn heard(extended: &punctual_client::Extended) -> String {
    let wish = match (extended.cancel, extended.pause) {
        (true, _) => "; you are asked to stop for good",
        (_, true) => "; you are asked to pause",
        _ => "",
    };
    format!("held until {}{wish}", extended.hold_until)
}

impl List {
    async fn run(self, client: &Client, output: &Output) -> anyhow::Result<()> {
        let mut filter = Filter::new().states(self.state);
        if let Some(tag) = self.tag {
            filter = filter.tag(tag);
        }
        if let Some(prefix) = self.id {
            filter = filter.id_prefix(prefix);
        }
        if let Some(error) = self.error {
            filter = filter.error(error);
        }
        if let Some(text) = self.contains {
            filter = filter.payload_contains(text);
        }
        // A page may be short without being the last, so read on until there are enough.
        let mut tasks = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let limit = (self.limit - tasks.len()).min(PAGE);
            let page = client.tasks(&self.queue, &filter, limit, next.as_deref()).await?;
            tasks.extend(page.items);
            next = page.next;
            if next.is_none() || tasks.len() >= self.limit {
                break;
            }
        }
        let page = Page { items: tasks, next };
        output.answer(&page, || listed(&self.queue, &page))
    }
}

fn listed(queue: &str, page: &Page<punctual_client::Task>) -> String {
    if page.items.is_empty() {
        return format!("no such tasks in {queue}");
    }
    let rows: Vec<_> = page
        .items
        .iter()
        .map(|task| {
            [
                task.id.clone(),
                task.state.to_string(),
                attempts(task),
                task.due_at.to_string(),
                or_empty(task.worker.as_deref()),
                cell(&or_empty(task.error.as_deref())),
                cell(task.payload.as_str()),
            ]
        })
        .collect();
    let table = table(["ID", "STATE", "ATTEMPT", "DUE", "WORKER", "ERROR", "PAYLOAD"], &rows);
    match &page.next {
        Some(_) => format!("{table}\n(there are more; see --limit)"),
        None => table,
    }
}

fn attempts(task: &punctual_client::Task) -> String {
    match task.max_attempts {
        -1 => task.attempt.to_string(),
        max => format!("{}/{max}", task.attempt),
    }
}

fn shown(task: &punctual_client::Task) -> String {
    let json = |value: &Option<RawJson>| value.as_ref().map(|json| json.as_str().to_owned());
    let time = |value: Option<punctual_client::Timestamp>| value.map(|time| time.to_string());
    let history: Vec<_> = task.history.iter().map(attempted).collect();
    record(vec![
        ("queue", Some(task.queue.clone())),
        ("id", Some(task.id.clone())),
        ("state", Some(task.state.to_string())),
        ("payload", Some(task.payload.as_str().to_owned())),
        ("priority", Some(task.priority.to_string())),
        ("attempt", Some(attempts(task))),
        ("created_at", time(Some(task.created_at))),
        ("due_at", time(Some(task.due_at))),
        ("taken_at", time(task.taken_at)),
        ("hold_until", time(task.hold_until)),
        ("worker", task.worker.clone()),
        ("progress", task.progress.map(|progress| progress.to_string())),
        ("message", task.message.clone()),
        ("checkpoint", json(&task.checkpoint)),
        ("result", json(&task.result)),
        ("error", task.error.clone()),
        ("finished_at", time(task.finished_at)),
        ("tags", Some(task.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("plan", json(&task.plan)),
        ("flow", json(&task.flow)),
        ("history", Some(history.join("\n")).filter(|history| !history.is_empty())),
    ])
}

fn attempted(attempt: &Attempt) -> String {
    let who = or_empty(attempt.worker.as_ref());
    let error = or_empty(attempt.error.as_deref());
    let line = format!("{} {} {who} {error}", attempt.at, bare(&attempt.outcome));
    cell(&line)
}
