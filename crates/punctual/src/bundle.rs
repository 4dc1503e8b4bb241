//! `punctual bundle`: payloads that fall due together.

use clap::{Args, Subcommand};
use punctual_client::{Bundle, Client, Page, Payload, RawJson, Span, Timestamp};

use crate::output::{Output, bare, cell, or_empty, record, table};
use crate::remote::Remote;
use crate::values;

const PAGE: usize = 1_000;

/// Collect payloads under a key, and have them dealt with together
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual bundle push digests ada '{\"news\":1}' --ontime 2027-01-01T18:00:00Z
  punctual bundle list digests --state failed
  punctual bundle get digests ada
  punctual bundle retry digests ada")]
pub(crate) struct BundleCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    /// Push a payload into a bundle
    #[command(after_help = "\
Examples:
  punctual bundle push digests ada '{\"news\":1}' --ontime 2027-01-01T18:00:00Z
  punctual bundle push digests ada '\"more\"' --always --ontime 1798826400 --max-wait 1h")]
    Push {
        /// The queue; made with the default settings if it does not exist
        queue: String,
        /// The bundle's key, any text
        key: String,
        /// The payload, any JSON
        #[arg(value_parser = values::json, allow_negative_numbers = true)]
        payload: RawJson,
        /// When it is due: 2027-01-01T06:00:00Z, or Unix seconds; now if left out
        #[arg(long, value_parser = values::time)]
        ontime: Option<Timestamp>,
        /// Move the due time of a bundle that exists
        #[arg(long)]
        always: bool,
        /// Due no later than that long after the first payload
        #[arg(long, value_parser = values::span)]
        max_wait: Option<Span>,
        /// A string to keep with the bundle; give it again for more
        #[arg(long, value_name = "TEXT")]
        data: Vec<String>,
        /// Makes a repeat of this push harmless
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// List the bundles of a queue
    #[command(after_help = "Example:\n  punctual bundle list digests --state failed")]
    List {
        /// The queue
        queue: String,
        /// Only in this state: waiting, started, locked, delivering, failed
        #[arg(long)]
        state: Option<String>,
    },
    /// Show a bundle and its payloads
    #[command(after_help = "Example:\n  punctual bundle get digests ada --json | jq .tasks")]
    Get {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
    },
    /// Have a bundle dealt with now that failed, or waits after an attempt
    #[command(after_help = "Example:\n  punctual bundle retry digests ada")]
    Retry {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
    },
    /// Remove a bundle and all that is in it
    #[command(after_help = "Example:\n  punctual bundle delete digests ada")]
    Delete {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
    },
}

impl BundleCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::Push { queue, key, payload, ontime, always, max_wait, data, idempotency_key } => {
                let mut payload = data.into_iter().fold(Payload::raw(payload), Payload::data);
                payload = ontime.into_iter().fold(payload, Payload::ontime);
                payload = max_wait.into_iter().fold(payload, Payload::max_wait);
                payload = if always { payload.always() } else { payload };
                let idempotency_key = idempotency_key.as_deref();
                let pushed = client.push_bundle(&queue, &key, &payload, idempotency_key).await?;
                output.answer(&pushed, || {
                    let due =
                        pushed.ontime.map_or("gone since".to_owned(), |at| format!("due {at}"));
                    format!("pushed into {key}: {} in it, {due}", pushed.size)
                })
            }
            Verb::List { queue, state } => list(&client, &output, &queue, state.as_deref()).await,
            Verb::Get { queue, key } => {
                let bundle = client.bundle(&queue, &key).await?;
                output.answer(&bundle, || shown(&bundle))
            }
            Verb::Retry { queue, key } => {
                let bundle = client.retry_bundle(&queue, &key).await?;
                output.answer(&bundle, || format!("retried {key}: {}", bundle.state))
            }
            Verb::Delete { queue, key } => {
                client.delete_bundle(&queue, &key).await?;
                output.done(|| format!("deleted {key}"))
            }
        }
    }
}

async fn list(
    client: &Client,
    output: &Output,
    queue: &str,
    state: Option<&str>,
) -> anyhow::Result<()> {
    let mut bundles = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = client.bundles(queue, state, PAGE, cursor.as_deref()).await?;
        bundles.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let page = Page { items: bundles, next: None };
    output.answer(&page, || {
        let rows: Vec<_> = page.items.iter().map(row).collect();
        table(["KEY", "STATE", "SIZE", "DUE", "URL", "ATTEMPT", "ERROR"], &rows)
    })
}

fn row(bundle: &Bundle) -> [String; 7] {
    [
        cell(&bundle.key),
        bundle.state.clone(),
        bundle.size.to_string(),
        bundle.ontime.to_string(),
        or_empty(bundle.url.as_deref().map(cell)),
        if bundle.attempt == 0 { String::new() } else { bundle.attempt.to_string() },
        or_empty(bundle.error.as_deref().map(cell)),
    ]
}

fn shown(bundle: &Bundle) -> String {
    let mut fields = vec![
        ("key", Some(bundle.key.clone())),
        ("state", Some(bundle.state.clone())),
        ("size", Some(bundle.size.to_string())),
        ("ontime", Some(bundle.ontime.to_string())),
        ("created_at", Some(bundle.created_at.to_string())),
        ("locked_until", bundle.locked_until.map(|at| at.to_string())),
        ("url", bundle.url.clone()),
        ("task", bundle.task.clone()),
        ("attempt", Some(bundle.attempt.to_string()).filter(|_| bundle.task.is_some())),
        ("error", bundle.error.clone()),
        ("data", Some(bundle.data.join(", ")).filter(|data| !data.is_empty())),
    ];
    fields.extend(bundle.tasks.iter().map(|task| ("payload", Some(cell(&bare(task))))));
    record(fields)
}
