//! `punctual queue`: look at queues, change their settings, stop and empty them.

use std::io::{IsTerminal, stdin};

use anyhow::ensure;
use clap::{Args, Subcommand};
use punctual_client::{Client, Mode, QueueChanges, RawJson, Scale, Span, State};
use serde_json::{Map, Number, Value};

use crate::output::{Output, bare, brief, is_confirmed, or_empty};
use crate::pages::{gather, listed};
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::length;
use crate::values;
use crate::watch::Watch;

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
    #[command(visible_alias = "ls", after_help = "Example:\n  punctual queue list --tag billing")]
    List {
        /// Only those with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Only those of this mode: pull, dispatch, http, vote, pub
        #[arg(long, value_parser = values::word::<Mode>)]
        mode: Option<Mode>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a queue: its settings and what it holds
    #[command(after_help = "Example:\n  punctual queue get mail --json | jq .counts")]
    Get {
        /// The queue
        queue: String,
        #[command(flatten)]
        watch: Watch,
    },
    /// Make a queue, or change its settings
    #[command(after_help = "\
Fields of every queue: mode, tag, max, hold, confirm_within, max_attempts, max_runtime, retry, order,
concurrency, rate, keep, abandon_after, abandoned; of mode http also url, headers, secret, timeout.
A value is JSON, or else text. FIELD= with nothing behind it goes back to the default.

Examples:
  punctual queue set mail hold=60s max_attempts=3
  punctual queue set mail retry='{\"first\":\"1s\",\"factor\":2,\"max\":\"1m\"}'
  punctual queue set mail rate='{\"limit\":100,\"per\":\"1s\"}' concurrency=10
  punctual queue set mail max= keep='{\"done\":\"1h\"}'
  punctual queue set hooks mode=http url=https://example.com/hook timeout=10s")]
    Set {
        /// The queue
        queue: String,
        /// A setting and its new value
        #[arg(value_name = "FIELD=VALUE", value_parser = values::setting)]
        settings: Vec<(String, RawJson)>,
    },
    /// Say how many workers a queue needs, by what comes in and what they manage
    #[command(after_help = "Example:\n  punctual queue scale mail --json | jq .desired_workers")]
    Scale {
        /// The queue
        queue: String,
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
    /// Drop all its tasks, keep its settings; on a terminal it asks first
    #[command(after_help = "Example:\n  punctual queue reset mail")]
    Reset {
        /// The queue
        queue: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Drop the queue and all it holds; on a terminal it asks first
    #[command(visible_alias = "rm", after_help = "Example:\n  punctual queue delete mail --yes")]
    Delete {
        /// The queue
        queue: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

impl Queue {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::List { tag, mode, watch } => {
                watch.over(async || list(&client, &output, tag.as_deref(), mode).await).await
            }
            Verb::Get { queue, watch } => {
                let show = async || {
                    let queue = client.queue(&queue).await?;
                    output.answer(&queue, || shown(&queue))
                };
                watch.over(show).await
            }
            Verb::Set { queue, settings } => {
                let changes =
                    settings.into_iter().fold(QueueChanges::new(), |changes, (field, value)| {
                        changes.set(&field, value)
                    });
                let queue = client.put_queue(&queue, &changes).await?;
                output.answer(&queue, || shown(&queue))
            }
            Verb::Scale { queue } => {
                let scale = client.scale(&queue).await?;
                output.answer(&scale, || scaled(&scale))
            }
            Verb::Pause { queue } => {
                let answer = client.pause_queue(&queue).await?;
                output.answer(&answer, || format!("paused {queue}"))
            }
            Verb::Resume { queue } => {
                let answer = client.resume_queue(&queue).await?;
                output.answer(&answer, || format!("resumed {queue}"))
            }
            Verb::Reset { queue, yes } => {
                confirm(&client, "drop", &queue, yes).await?;
                let answer = client.reset_queue(&queue).await?;
                output.answer(&answer, || format!("reset {queue}: it is empty"))
            }
            Verb::Delete { queue, yes } => {
                confirm(&client, "delete the queue and drop", &queue, yes).await?;
                client.delete_queue(&queue).await?;
                output.done(|| format!("deleted {queue}"))
            }
        }
    }
}

/// Lets a person think again before everything in a queue is dropped.
async fn confirm(client: &Client, what: &str, queue: &str, yes: bool) -> anyhow::Result<()> {
    if yes || !stdin().is_terminal() {
        return Ok(());
    }
    let held = client.queue(queue).await?;
    let bundles = match held.counts.bundles {
        0 => String::new(),
        n => format!(", {n} bundles"),
    };
    let question = format!("{what} all that is in {queue} ({}{bundles})?", counted(&held));
    ensure!(is_confirmed(&question)?, "nothing was changed");
    Ok(())
}

async fn list(
    client: &Client,
    output: &Output,
    tag: Option<&str>,
    mode: Option<Mode>,
) -> anyhow::Result<()> {
    let read = async |n, cursor: Option<&str>| client.queues(tag, mode, n, cursor).await;
    let page = gather(usize::MAX, read).await?;
    output.answer(&page, || listed(&page, "no such queues", rows))
}

fn rows(queues: &[punctual_client::Queue]) -> String {
    let heading =
        ["QUEUE", "MODE", "TAG", "STATE", "READY", "WAITING", "TAKEN", "FAILED", "OLDEST READY"];
    table(heading, &queues.iter().map(row).collect::<Vec<_>>())
}

fn scaled(scale: &Scale) -> String {
    record(vec![
        ("backlog", Some(scale.backlog.to_string())),
        ("workers", Some(scale.workers.to_string())),
        ("desired_workers", Some(scale.desired_workers.to_string())),
    ])
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
        or_empty(queue.oldest_ready_age.map(|age| brief(age.as_secs_f64()))),
    ]
}

fn shown(queue: &punctual_client::Queue) -> String {
    let mut fields = vec![
        ("name", Some(queue.name.clone())),
        ("mode", Some(queue.mode.name().to_owned())),
        ("state", Some(if queue.paused { "paused" } else { "open" }.to_owned())),
    ];
    for (name, value) in queue.settings.iter().filter(|(_, value)| !is_nothing(value)) {
        fields.push((name, Some(setting(name, value))));
    }
    let age = queue.oldest_ready_age.map(|age| brief(age.as_secs_f64()));
    fields.push(("oldest_ready_age", age));
    fields.push(("tasks", Some(counted(queue))));
    let bundles = Some(queue.counts.bundles).filter(|n| *n > 0);
    fields.push(("bundles", bundles.map(|n| n.to_string())));
    record(fields)
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

/// A setting as it would be given, lengths of time with their unit.
fn setting(name: &str, value: &Value) -> String {
    const SPANS: [&str; 9] = [
        "hold",
        "confirm_within",
        "max_runtime",
        "timeout",
        "abandon_after",
        "first",
        "per",
        "done",
        "failed",
    ];
    match value {
        Value::Number(n) if SPANS.contains(&name) || name == "cancelled" => seconds(n),
        Value::Object(members) => {
            let part = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                ("max", Value::Number(n)) => format!("max {}", seconds(n)),
                ("intervals", Value::Array(waits)) => {
                    let waits = waits.iter().map(|wait| setting("first", wait));
                    format!("intervals {}", waits.collect::<Vec<_>>().join(" "))
                }
                (name, value) => format!("{name} {}", setting(name, value)),
            };
            members.iter().map(part).collect::<Vec<_>>().join(", ")
        }
        value => bare(value),
    }
}

fn seconds(n: &Number) -> String {
    let millis = n.as_f64().map(|secs| Span::from_millis((secs * 1e3).round() as i64));
    millis.map_or_else(|| format!("{n}s"), length)
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
