//! `punctual failures`: failed tasks by what went wrong.

use std::cmp::Reverse;
use std::collections::HashMap;

use clap::Args;
use punctual_client::{Client, FailureGroup, Page};

use crate::output::{Output, cell, or_empty};
use crate::pages::listed;
use crate::remote::Remote;
use crate::table::table;
use crate::watch::Watch;

/// Show failed tasks by queue and error, those that failed last first
#[derive(Args)]
#[command(after_help = "\
ID is the task that failed last. What can be found by its error can be tried again by it.

Examples:
  punctual failures
  punctual failures --queue mail
  punctual failures --json | jq -r '.items[] | [.count, .queue, .error] | @tsv'
  punctual task bulk retry mail --state failed --error 'mailbox full'
  punctual task bulk retry mail --state failed --since 2h")]
pub(crate) struct Failures {
    /// Only those of this queue
    #[arg(long)]
    queue: Option<String>,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    remote: Remote,
}

impl Failures {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        let queue = self.queue.as_deref();
        self.watch.over(async || show(&client, &output, queue).await).await
    }
}

async fn show(client: &Client, output: &Output, queue: Option<&str>) -> anyhow::Result<()> {
    let mut groups = Groups::default();
    let mut cursor: Option<String> = None;
    loop {
        let page = client.failures(queue, cursor.as_deref()).await?;
        page.items.into_iter().for_each(|group| groups.add(group));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let page = Page { items: groups.newest_first(), next: None };
    output.answer(&page, || listed(&page, "nothing has failed", rows))
}

/// Groups of all pages, each once.
#[derive(Default)]
struct Groups(HashMap<(String, Option<String>), FailureGroup>);

impl Groups {
    fn add(&mut self, mut group: FailureGroup) {
        let key = (group.queue.clone(), group.error.clone());
        if let Some(known) = self.0.remove(&key) {
            let count = group.count + known.count;
            group = if known.last_at > group.last_at { known } else { group };
            group.count = count;
        }
        self.0.insert(key, group);
    }

    fn newest_first(self) -> Vec<FailureGroup> {
        let mut groups: Vec<_> = self.0.into_values().collect();
        groups.sort_by(|a, b| (Reverse(a.last_at), &a.queue).cmp(&(Reverse(b.last_at), &b.queue)));
        groups
    }
}

fn rows(groups: &[FailureGroup]) -> String {
    let row = |group: &FailureGroup| {
        [
            group.count.to_string(),
            group.queue.clone(),
            or_empty(group.last_at),
            group.id.clone(),
            cell(&or_empty(group.error.as_deref())),
        ]
    };
    let rows: Vec<_> = groups.iter().map(row).collect();
    table(["COUNT", "QUEUE", "LAST AT", "ID", "ERROR"], &rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(error: Option<&str>, count: u64, secs: i64, id: &str) -> FailureGroup {
        let at = punctual_client::Timestamp::from_millis(secs * 1_000);
        let group = json!({"queue": "q", "error": error, "count": count, "last_at": at, "id": id});
        serde_json::from_value(group).unwrap()
    }

    #[test]
    fn groups_of_several_pages_are_added_up() {
        let mut groups = Groups::default();
        for part in [
            group(Some("full"), 3, 9, "a"),
            group(None, 1, 20, "b"),
            group(Some("full"), 2, 30, "c"),
            group(Some("full"), 1, 5, "d"),
        ] {
            groups.add(part);
        }
        assert_eq!(
            groups.newest_first(),
            [group(Some("full"), 6, 30, "c"), group(None, 1, 20, "b")]
        );
    }
}
