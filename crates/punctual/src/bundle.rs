//! `punctual bundle`: payloads that fall due together.

use clap::{Args, Subcommand};
use punctual_client::{Bundle, GotBundle, Payload, RawJson, Scheduled, Span, Timestamp};
use serde_json::json;

use crate::output::{bare, cell, or_empty, visible};
use crate::pages::{gather, listed};
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::when;
use crate::values;
use crate::watch::Watch;

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
    #[command(
        visible_alias = "ls",
        after_help = "Example:\n  punctual bundle list digests --state failed"
    )]
    List {
        /// The queue
        queue: String,
        /// Only in this state: waiting, started, locked, delivering, failed
        #[arg(long)]
        state: Option<String>,
        /// Most bundles to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a bundle and its payloads
    #[command(after_help = "Example:\n  punctual bundle get digests ada --json | jq .tasks")]
    Get {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
    },
    /// Ask for a bundle that is due, as a worker does
    #[command(after_help = "Example:\n  punctual bundle schedule digests --wait 30s")]
    Schedule {
        /// The queue
        queue: String,
        /// How long to wait for one, at most 60s
        #[arg(long, value_parser = values::span, default_value = "0")]
        wait: Span,
    },
    /// Lock a bundle and get its payloads, as a worker does
    #[command(after_help = "\
The lock is a value of your own; who names it again gets the same payloads, and more time.

Example:\n  punctual bundle take digests ada my-lock-7 --number 100 --timeout 1m")]
    Take {
        #[command(flatten)]
        bundle: Locked,
        /// Most payloads [default: all]
        #[arg(long, value_name = "N")]
        number: Option<u64>,
        /// How long the lock holds
        #[arg(long, value_parser = values::span)]
        timeout: Option<Span>,
    },
    /// Say that the payloads of a locked bundle are done
    #[command(after_help = "Example:\n  punctual bundle complete digests ada my-lock-7")]
    Complete {
        #[command(flatten)]
        bundle: Locked,
        /// Only so many, from the first on [default: all that were taken]
        #[arg(long, value_name = "N")]
        number: Option<u64>,
    },
    /// Give a locked bundle back
    #[command(after_help = "\
Example:\n  punctual bundle release digests ada my-lock-7 --ontime 2027-01-01T18:00:00Z")]
    Release {
        #[command(flatten)]
        bundle: Locked,
        /// When it is due again [default: when the lock would have ended]
        #[arg(long, value_parser = values::time)]
        ontime: Option<Timestamp>,
    },
    /// Change the strings kept with a bundle
    #[command(after_help = "Example:\n  punctual bundle data digests ada --add vip --remove trial")]
    Data {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
        /// A string to keep; give it again for more
        #[arg(long, value_name = "TEXT")]
        add: Vec<String>,
        /// A string to keep no longer; give it again for more
        #[arg(long, value_name = "TEXT")]
        remove: Vec<String>,
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
    #[command(visible_alias = "rm", after_help = "Example:\n  punctual bundle delete digests ada")]
    Delete {
        /// The queue
        queue: String,
        /// The bundle's key
        key: String,
    },
}

/// A bundle, as its holder names it.
#[derive(Args)]
struct Locked {
    /// The queue
    queue: String,
    /// The bundle's key
    key: String,
    /// The value it is locked under
    lock: String,
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
            Verb::List { queue, state, limit, watch } => {
                let (none, state) = (format!("no such bundles in {queue}"), state.as_deref());
                let show = async || {
                    let read =
                        async |n, at: Option<&str>| client.bundles(&queue, state, n, at).await;
                    let page = gather(limit, read).await?;
                    output.answer(&page, || listed(&page, &none, rows))
                };
                watch.over(show).await
            }
            Verb::Get { queue, key } => {
                let bundle = client.bundle(&queue, &key).await?;
                output.answer(&bundle, || shown(&bundle))
            }
            Verb::Schedule { queue, wait } => {
                let scheduled = client.schedule_bundle(&queue, wait).await?;
                output.answer(&scheduled, || told(&queue, &scheduled))
            }
            Verb::Take { bundle: Locked { queue, key, lock }, number, timeout } => {
                let got = client.get_bundle(&queue, &key, &lock, timeout, number).await?;
                output.answer(&got, || taken(&got))
            }
            Verb::Complete { bundle: Locked { queue, key, lock }, number } => {
                let left = client.complete_bundle(&queue, &key, &lock, number).await?;
                output.answer(&json!({ "left": left }), || format!("completed {key}: {left} left"))
            }
            Verb::Release { bundle: Locked { queue, key, lock }, ontime } => {
                let released = client.release_bundle(&queue, &key, &lock, ontime).await?;
                output.answer(&released, || {
                    let due = released.ontime.map(|at| format!(", due {at}"));
                    format!("released {key}: {} in it{}", released.size, or_empty(due))
                })
            }
            Verb::Data { queue, key, add, remove } => {
                let bundle = client.change_bundle_data(&queue, &key, &add, &remove).await?;
                output.answer(&bundle, || {
                    format!("data of {key}: {}", visible(&bundle.data.join(", ")))
                })
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

fn told(queue: &str, scheduled: &Scheduled) -> String {
    match (&scheduled.key, scheduled.next_in) {
        (Some(key), _) => visible(key).into_owned(),
        (None, Some(next)) => {
            format!("nothing is due in {queue}; the next is in {:.1} s", next.as_secs_f64())
        }
        (None, None) => format!("nothing is due in {queue}"),
    }
}

fn taken(got: &GotBundle) -> String {
    let mut fields = vec![
        ("locked_until", Some(got.locked_until.to_string())),
        ("data", Some(got.data.join(", ")).filter(|data| !data.is_empty())),
    ];
    fields.extend(got.tasks.iter().map(|task| ("payload", Some(cell(task.as_str())))));
    record(fields)
}

fn rows(bundles: &[Bundle]) -> String {
    let rows: Vec<_> = bundles.iter().map(row).collect();
    table(["KEY", "STATE", "SIZE", "DUE", "URL", "ATTEMPT", "ERROR"], &rows)
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
        ("ontime", Some(when(bundle.ontime))),
        ("created_at", Some(when(bundle.created_at))),
        ("locked_until", bundle.locked_until.map(when)),
        ("url", bundle.url.clone()),
        ("task", bundle.task.clone()),
        ("attempt", Some(bundle.attempt.to_string()).filter(|_| bundle.task.is_some())),
        ("error", bundle.error.clone()),
        ("data", Some(bundle.data.join(", ")).filter(|data| !data.is_empty())),
    ];
    fields.extend(bundle.tasks.iter().map(|task| ("payload", Some(cell(&bare(task))))));
    record(fields)
}
