//! `punctual flow`: steps that wait for each other.

use clap::{Args, Subcommand};
use punctual_client::{Flow, FlowState};

use crate::output::{Output, bare, cell, or_empty};
use crate::pages::{gather, listed};
use crate::push::read_payload;
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::when;
use crate::values;
use crate::watch::Watch;

/// Have steps done one after the other, and side by side
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual flow add '{\"id\":\"daily\",\"steps\":[{\"name\":\"fetch\",\"queue\":\"work\"},{\"name\":\"mail\",\"queue\":\"work\",\"after\":[\"fetch\"]}]}'
  punctual flow add - < flow.json
  punctual flow get daily
  punctual flow list --state failed
  punctual flow retry daily")]
pub(crate) struct FlowCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    /// Make a flow
    #[command(after_help = "Example:\n  punctual flow add - < flow.json")]
    Add {
        /// The flow as JSON; `-` reads it from standard input
        flow: String,
    },
    /// List flows
    #[command(
        visible_alias = "ls",
        after_help = "Example:\n  punctual flow list --state running,failed"
    )]
    List {
        /// Only in these states, separated by commas
        #[arg(long, value_delimiter = ',', value_parser = values::flow_state)]
        state: Vec<FlowState>,
        /// Most flows to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a flow and its steps
    #[command(after_help = "Example:\n  punctual flow get daily --json | jq '.steps[].state'")]
    Get {
        /// The flow's id
        id: String,
        #[command(flatten)]
        watch: Watch,
    },
    /// Stop a flow for good; steps under way are asked to stop
    #[command(after_help = "Example:\n  punctual flow cancel daily")]
    Cancel {
        /// The flow's id
        id: String,
    },
    /// Start no more steps until it is resumed
    #[command(after_help = "Example:\n  punctual flow pause daily")]
    Pause {
        /// The flow's id
        id: String,
    },
    /// Let a flow go on that was paused
    #[command(after_help = "Example:\n  punctual flow resume daily")]
    Resume {
        /// The flow's id
        id: String,
    },
    /// Try failed steps again; done ones stay
    #[command(after_help = "Example:\n  punctual flow retry daily")]
    Retry {
        /// The flow's id
        id: String,
    },
}

impl FlowCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::Add { flow } => {
                let flow = client.make_flow_from(&read_payload(Some(&flow))?).await?;
                output.answer(&flow, || flow.id.clone())
            }
            Verb::List { state, limit, watch } => {
                let show = async || {
                    let read = async |n, at: Option<&str>| client.flows(&state, n, at).await;
                    let page = gather(limit, read).await?;
                    output.answer(&page, || listed(&page, "no flows", rows))
                };
                watch.over(show).await
            }
            Verb::Get { id, watch } => {
                watch.over(async || answer(&output, &client.flow(&id).await?)).await
            }
            Verb::Cancel { id } => answer(&output, &client.cancel_flow(&id).await?),
            Verb::Pause { id } => answer(&output, &client.pause_flow(&id).await?),
            Verb::Resume { id } => answer(&output, &client.resume_flow(&id).await?),
            Verb::Retry { id } => answer(&output, &client.retry_flow(&id).await?),
        }
    }
}

fn answer(output: &Output, flow: &Flow) -> anyhow::Result<()> {
    output.answer(flow, || shown(flow))
}

fn rows(flows: &[Flow]) -> String {
    let rows = flows.iter().map(|flow| {
        let finished = or_empty(flow.finished_at);
        [flow.id.clone(), bare(&flow.state), flow.created_at.to_string(), finished]
    });
    table(["ID", "STATE", "CREATED", "FINISHED"], &rows.collect::<Vec<_>>())
}

fn shown(flow: &Flow) -> String {
    let head = record(vec![
        ("id", Some(flow.id.clone())),
        ("state", Some(bare(&flow.state))),
        ("created", Some(when(flow.created_at))),
        ("finished", flow.finished_at.map(when)),
    ]);
    let rows = flow.steps.iter().map(|step| {
        [
            step.name.clone(),
            step.state.clone(),
            step.queue.clone(),
            step.after.join(" "),
            cell(&or_empty(step.result.as_ref().map(|result| result.as_str()))),
            cell(&or_empty(step.error.as_ref())),
        ]
    });
    let rows: Vec<_> = rows.collect();
    format!("{head}\n\n{}", table(["STEP", "STATE", "QUEUE", "AFTER", "RESULT", "ERROR"], &rows))
}
