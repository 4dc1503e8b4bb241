//! Many tasks at once: listed, or changed in bulk, by the same conditions.

use anyhow::ensure;
use clap::Args;
use punctual_client::{BulkAnswer, BulkVerb, Client, Filter, State, Task, Timestamp};

use super::show::attempts;
use crate::output::{Output, Usage, cell, or_empty};
use crate::pages::{gather, listed};
use crate::table::table;
use crate::values;
use crate::watch::Watch;

/// Which tasks of a queue; every condition narrows.
#[derive(Args)]
struct Which {
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
    /// Only those that finished, or last failed, since then: a time, or how long ago, like 2h
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    since: Option<Timestamp>,
    /// Only those that this worker holds, or held when they ended
    #[arg(long)]
    worker: Option<String>,
}

impl Which {
    fn is_all(&self) -> bool {
        let texts = [&self.tag, &self.id, &self.error, &self.contains, &self.worker];
        self.state.is_empty() && self.since.is_none() && texts.iter().all(|text| text.is_none())
    }

    fn filter(self) -> (String, Filter) {
        let mut filter = Filter::new().states(self.state);
        filter = self.tag.into_iter().fold(filter, Filter::tag);
        filter = self.id.into_iter().fold(filter, Filter::id_prefix);
        filter = self.error.into_iter().fold(filter, Filter::error);
        filter = self.contains.into_iter().fold(filter, Filter::payload_contains);
        filter = self.since.into_iter().fold(filter, Filter::since);
        filter = self.worker.into_iter().fold(filter, Filter::worker);
        (self.queue, filter)
    }
}

/// List a queue's tasks; those that are ready in hand-out order
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual task list mail
  punctual task list mail --state failed,waiting --tag urgent
  punctual task list mail --state failed --since 2h --newest
  punctual task list mail --contains ada@example.org --json | jq -r '.items[].id'")]
pub(super) struct List {
    #[command(flatten)]
    which: Which,
    /// List finished tasks by when they ended, the last first
    #[arg(long)]
    newest: bool,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    watch: Watch,
}

impl List {
    pub(super) async fn run(self, client: &Client, output: &Output) -> anyhow::Result<()> {
        let (queue, mut filter) = self.which.filter();
        if self.newest {
            filter = filter.newest_first();
        }
        let show = async || {
            let read = async |n, at: Option<&str>| client.tasks(&queue, &filter, n, at).await;
            let page = gather(self.limit, read).await?;
            output.answer(&page, || listed(&page, &format!("no such tasks in {queue}"), rows))
        };
        self.watch.over(show).await
    }
}

fn rows(tasks: &[Task]) -> String {
    let row = |task: &Task| {
        [
            task.id.clone(),
            task.state.to_string(),
            attempts(task),
            task.due_at.to_string(),
            or_empty(task.worker.as_deref()),
            cell(&or_empty(task.error.as_deref())),
            cell(task.payload.as_str()),
        ]
    };
    let rows: Vec<_> = tasks.iter().map(row).collect();
    table(["ID", "STATE", "ATTEMPT", "DUE", "WORKER", "ERROR", "PAYLOAD"], &rows)
}

/// Apply a verb to all tasks that match
///
/// Without any condition it needs --all.
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual task bulk retry mail --state failed --error 'mailbox full'
  punctual task bulk retry mail --state failed,waiting --since 2027-01-01T06:00:00Z
  punctual task bulk cancel mail --tag campaign-7 --dry-run
  punctual task bulk clean mail --all")]
pub(super) struct Bulk {
    /// cancel, pause, resume, retry, reset or clean
    #[arg(value_parser = values::word::<BulkVerb>)]
    verb: BulkVerb,
    #[command(flatten)]
    which: Which,
    /// All tasks of the queue
    #[arg(long)]
    all: bool,
    /// Only count, change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Bulk {
    pub(super) async fn run(self, client: &Client, output: &Output) -> anyhow::Result<()> {
        let named = self.all || !self.which.is_all();
        ensure!(named, Usage("name a condition, for instance --state failed, or --all".to_owned()));
        let (queue, filter) = self.which.filter();
        let (mut matched, mut changed) = (0, 0);
        let mut cursor: Option<String> = None;
        loop {
            let call = client.bulk(&queue, self.verb, &filter, self.dry_run, cursor.as_deref());
            let BulkAnswer { matched: more, changed: turned, next, .. } = call.await?;
            (matched, changed, cursor) = (matched + more, changed + turned, next);
            if cursor.is_none() {
                break;
            }
        }
        let answer = serde_json::json!({"matched": matched, "changed": changed});
        output.answer(&answer, || match self.dry_run {
            true => format!("{matched} tasks of {queue} match; none was changed"),
            false => format!("{changed} of {matched} matching tasks of {queue} were changed"),
        })
    }
}
