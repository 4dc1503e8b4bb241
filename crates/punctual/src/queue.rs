//! `punctual queue`: look at queues, change their settings, stop and empty them.

use clap::{Args, Subcommand};
use punctual_client::{Client, Page, QueueChanges, RawJson, State};

use crate::output::{Output, bare, or_empty, record, table};
use crate::remote::Remote;
use crate::values;

const PAGE: usize = 1_000;

/// Look at queues and change them
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual queue list
  punctual queue get mail
  punctual queue set mail hold=60s max_attempts=3
  punctual queue pause mail")]
pub(crate) struct Queue {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    /// List all queues
    #[command(after_help = "Example:\n  punctual queue list --tag billing")]
    List {
        /// Only those with this tag
        #[arg(long)]
        tag: Option<String>,
    },
    /// Show a queue: its settings and what it holds
    #[command(after_help = "Example:\n  punctual queue get mail --json | jq .counts")]
    Get {
        /// The queue
        queue: String,
    },
    /// Make a queue, or change its settings
    #[command(after_help = "\
Fields: mode, tag, max, hold, confirm_within, max_attempts, retry, order, concurrency, rate, keep.
A value is JSON, or else text. FIELD= with nothing behind it goes back to the default.

Examples:
  punctual queue set mail hold=60s max_attempts=3
  punctual queue set mail retry='{\"first\":\"1s\",\"factor\":2,\"max\":\"1m\"}'
  punctual queue set mail rate='{\"limit\":100,\"per\":\"1s\"}' concurrency=10
  punctual queue set mail max= keep='{\"done\":\"1h\"}'")]
    Set {
        /// The queue
        queue: String,
        /// A setting and its new value
        #[arg(value_name = "FIELD=VALUE", value_parser = values::setting)]
        settings: Vec<(String, RawJson)>,
    },
    /// Hand out nothing; pushes go on
    #[command(after_help = "Example:\n  punctual queue pause mail")]
    Pause {
        /// The queue
        queue: String,
    },
    /// Hand out tasks again
    #[command(after_help = "Example:\n  punctual queue resume mail")]
    Resume {
        /// The queue
        queue: String,
    },
    /// Drop all its tasks, keep its settings
    #[command(after_help = "Example:\n  punctual queue reset mail")]
    Reset {
        /// The queue
        queue: String,
    },
    /// Drop the queue and all it holds
    #[command(after_help = "Example:\n  punctual queue delete mail")]
    Delete {
        /// The queue
        queue: String,
    },
}

impl Queue {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::List { tag } => list(&client, &output, tag.as_deref()).await,
            Verb::Get { queue } => {
                let queue = client.queue(&queue).await?;
                output.answer(&queue, || shown(&queue))
            }
            Verb::Set { queue, settings } => {
                let changes =
                    settings.into_iter().fold(QueueChanges::new(), |changes, (field, value)| {
                        changes.set(&field, value)
                    });
                let queue = client.put_queue(&queue, &changes).await?;
                output.answer(&queue, || shown(&queue))
            }
            Verb::Pause { queue } => {
                let answer = client.pause_queue(&queue).await?;
                output.answer(&answer, || format!("paused {queue}"))
            }
            Verb::Resume { queue } => {
                let answer = client.resume_queue(&queue).await?;
                output.answer(&answer, || format!("resumed {queue}"))
            }
            Verb::Reset { queue } => {
                let answer = client.reset_queue(&queue).await?;
                output.answer(&answer, || format!("reset {queue}: it is empty"))
            }
            Verb::Delete { queue } => {
                client.delete_queue(&queue).await?;
                output.done(|| format!("deleted {queue}"))
            }
        }
    }
}

async fn list(client: &Client, output: &Output, tag: Option<&str>) -> anyhow::Result<()> {
    let mut queues = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = client.queues(tag, None, PAGE, cursor.as_deref()).await?;
        queues.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let page = Page { items: queues, next: None };
    output.answer(&page, || {
        let rows: Vec<_> = page.items.iter().map(row).collect();
        table(
            ["QUEUE", "MODE", "TAG", "", "READY", "WAITING", "TAKEN", "FAILED", "OLDEST READY"],
            &rows,
        )
    })
}

fn row(queue: &punctual_client::Queue) -> [String; 9] {
    let setting = |name: &str| queue.settings.get(name).and_then(|value| value.as_str());
    [
        queue.name.clone(),
        queue.mode.name().to_owned(),
        or_empty(setting("tag")),
        if queue.paused { "paused".to_owned() } else { String::new() },
        queue.counts.ready.to_string(),
        queue.counts.waiting.to_string(),
        queue.counts.taken.to_string(),
        queue.counts.failed.to_string(),
        or_empty(queue.oldest_ready_age.map(|age| format!("{:.1}s", age.as_secs_f64()))),
    ]
}

fn shown(queue: &punctual_client::Queue) -> String {
    let mut fields = vec![
        ("name", Some(queue.name.clone())),
        ("mode", Some(queue.mode.name().to_owned())),
        ("paused", Some(queue.paused.to_string())),
    ];
    for (name, value) in queue.settings.iter().filter(|(_, value)| !value.is_null()) {
        fields.push((name, Some(bare(value))));
    }
    let age = queue.oldest_ready_age.map(|age| format!("{:.3} s", age.as_secs_f64()));
    fields.push(("oldest_ready_age", age));
    fields.push(("tasks", Some(counted(queue))));
    record(fields)
}

/// How many tasks are in which state, as far as there are any.
fn counted(queue: &punctual_client::Queue) -> String {
    let counts = serde_json::json!(queue.counts);
    let states: Vec<_> = State::ALL
        .iter()
        .filter(|state| counts[state.name()] != 0)
        .map(|state| format!("{} {state}", counts[state.name()]))
        .collect();
    if states.is_empty() { "none".to_owned() } else { states.join(", ") }
}
