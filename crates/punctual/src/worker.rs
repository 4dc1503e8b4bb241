//! `punctual worker`: who registered to be given tasks.

use clap::{Args, Subcommand};
use punctual_client::Worker;

use crate::output::bare;
use crate::pages::{gather, listed};
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::when;
use crate::watch::Watch;

/// Look at the workers that registered, and send them home
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual worker list --queue render
  punctual worker get gpu-1
  punctual worker drain gpu-1
  punctual worker remove gpu-1")]
pub(crate) struct WorkerCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    /// List workers, by name
    #[command(visible_alias = "ls", after_help = "Example:\n  punctual worker list --queue render")]
    List {
        /// Only those that serve this queue
        #[arg(long)]
        queue: Option<String>,
        /// Most workers to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a worker
    #[command(after_help = "Example:\n  punctual worker get gpu-1 --json | jq .load")]
    Get {
        /// The worker's name
        name: String,
    },
    /// Give a worker nothing more; it finishes what it has
    #[command(after_help = "Example:\n  punctual worker drain gpu-1")]
    Drain {
        /// The worker's name
        name: String,
    },
    /// Take a worker out; what it held is ready for others at once
    #[command(visible_alias = "rm", after_help = "Example:\n  punctual worker remove gpu-1")]
    Remove {
        /// The worker's name
        name: String,
    },
}

impl WorkerCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::List { queue, limit, watch } => {
                let queue = queue.as_deref();
                let show = async || {
                    let read = async |n, at: Option<&str>| client.workers(queue, n, at).await;
                    let page = gather(limit, read).await?;
                    output.answer(&page, || listed(&page, "no workers", rows))
                };
                watch.over(show).await
            }
            Verb::Get { name } => {
                let worker = client.worker(&name).await?;
                output.answer(&worker, || shown(&worker))
            }
            Verb::Drain { name } => {
                let worker = client.drain_worker(&name).await?;
                output.answer(&worker, || {
                    format!("{name} gets nothing more; it has {} tasks to finish", worker.load)
                })
            }
            Verb::Remove { name } => {
                client.leave(&name).await?;
                output.done(|| format!("removed {name}"))
            }
        }
    }
}

fn rows(workers: &[Worker]) -> String {
    let rows = workers.iter().map(|worker| {
        [
            worker.name.clone(),
            bare(&worker.state),
            format!("{}/{}", worker.load, worker.capacity),
            worker.queues.join(" "),
            worker.capabilities.join(" "),
            worker.last_heartbeat.to_string(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table(["NAME", "STATE", "LOAD", "QUEUES", "CAPABILITIES", "HEARD OF"], &rows)
}

fn shown(worker: &Worker) -> String {
    let list = |texts: &[String]| Some(texts.join(" ")).filter(|text| !text.is_empty());
    record(vec![
        ("name", Some(worker.name.clone())),
        ("state", Some(bare(&worker.state))),
        ("queues", list(&worker.queues)),
        ("capabilities", list(&worker.capabilities)),
        ("load", Some(format!("{} of {}", worker.load, worker.capacity))),
        ("joined", Some(when(worker.joined_at))),
        ("heard of", Some(when(worker.last_heartbeat))),
    ])
}
