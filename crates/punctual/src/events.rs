//! `punctual events`: what happens at the server, as it happens.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use punctual_client::{Error, Event, EventFilter};
use serde_json::Value;

use crate::output::{bare, visible};
use crate::remote::Remote;

const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Show what happens at the server, as it happens
///
/// A connection that breaks is opened again where it ended. Ends with Ctrl-C, or after so many
/// events.
#[derive(Args)]
#[command(
    name = "events",
    after_help = "\
Examples:
  punctual events
  punctual events --queue mail --type 'task.*'
  punctual events --type plan.error --json | jq .data.error"
)]
pub(crate) struct EventsCommand {
    /// Only those of this queue
    #[arg(long)]
    queue: Option<String>,
    /// Only those of this type: an exact name, or for instance 'task.*'
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// End after so many
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    #[command(flatten)]
    remote: Remote,
}

impl EventsCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        let mut filter = EventFilter::new();
        if let Some(queue) = self.queue {
            filter = filter.queue(queue);
        }
        if let Some(kind) = self.kind {
            filter = filter.kind(kind);
        }
        let mut left = self.count.unwrap_or(usize::MAX);
        let mut last_id = String::new();
        while left > 0 {
            let from =
                if last_id.is_empty() { filter.clone() } else { filter.clone().after(&last_id) };
            let mut events = match client.events(&from).await {
                Ok(events) => events,
                // Once it has heard something, it waits for a server that comes back.
                Err(Error::Unreachable { .. } | Error::NoAnswer { .. }) if !last_id.is_empty() => {
                    tokio::time::sleep(AGAIN_AFTER).await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            while left > 0
                && let Ok(Some(event)) = events.next().await
            {
                output.answer(&event, || visible(&line(&event)).into_owned())?;
                io::stdout().flush()?;
                left -= 1;
            }
            events.last_id().clone_into(&mut last_id);
            if left > 0 {
                tokio::time::sleep(AGAIN_AFTER).await;
            }
        }
        Ok(())
    }
}

/// An event in one line: when, what, and what else it says.
fn line(event: &Event) -> String {
    let Ok(Value::Object(mut data)) = serde_json::from_str(event.data.as_str()) else {
        return format!("{} {}", event.kind, event.data.as_str());
    };
    data.remove("type");
    let at = data.remove("at").map(|at| bare(&at)).unwrap_or_default();
    let rest = data.iter().map(|(name, value)| format!("{name}={}", bare(value)));
    format!("{at} {:<16} {}", event.kind, rest.collect::<Vec<_>>().join(" "))
}
