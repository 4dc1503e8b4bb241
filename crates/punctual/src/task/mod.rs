//! `punctual task`: look at tasks, control them, report on those one holds.

mod change;
mod many;
mod show;

use clap::{Args, Subcommand};
use punctual_client::{Extend, Held, RawJson, Span};

use self::change::{Change, stands};
use self::many::{Bulk, List};
use self::show::shown;
use crate::output::visible;
use crate::remote::Remote;
use crate::values;
use crate::watch::Watch;

/// Look at tasks and control them
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual task list mail --state failed
  punctual task why mail welcome-ada
  punctual task retry mail welcome-ada
  punctual task bulk retry mail --state failed
  punctual task fail mail welcome-ada TASK_TOKEN --error 'mailbox full'")]
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
    #[arg(value_name = "TASK_TOKEN")]
    token: String,
}

impl Holding {
    fn held(&self) -> Held<'_> {
        Held { queue: &self.queue, id: &self.id, token: &self.token }
    }
}

#[derive(Subcommand)]
enum Verb {
    #[command(visible_alias = "ls")]
    List(List),
    /// Show a task
    #[command(
        after_help = "Examples:\n  punctual task get mail welcome-ada --json | jq .payload\n  \
punctual task get sums sum-1 --wait 30s"
    )]
    Get {
        #[command(flatten)]
        task: Named,
        /// Wait for its end, at most 60s, and show it as it is then
        #[arg(long, value_name = "TIME", value_parser = values::span, conflicts_with = "watch")]
        wait: Option<Span>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Say why a task is not running now
    #[command(after_help = "Example:\n  punctual task why mail welcome-ada")]
    Why(Named),
    #[command(flatten)]
    Change(Change),
    /// Hold a task for longer, report on it, and hear whether to stop
    #[command(after_help = "\
Example:\n  punctual task extend mail welcome-ada TASK_TOKEN --hold 5m --progress 0.5")]
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
    /// Remove a task, whatever its state
    #[command(
        visible_alias = "rm",
        after_help = "Example:\n  punctual task clean mail welcome-ada"
    )]
    Clean(Named),
    Bulk(Bulk),
}

impl Task {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::List(list) => list.run(&client, &output).await,
            Verb::Bulk(bulk) => bulk.run(&client, &output).await,
            Verb::Get { task: Named { queue, id }, wait: Some(wait), .. } => {
                let after = client.wait_for_end(&queue, &id, wait).await?;
                output.answer(&after, || match after.task() {
                    Some(task) => shown(task),
                    None => stands("ended", &after),
                })
            }
            Verb::Get { task: Named { queue, id }, wait: None, watch } => {
                let show = async || {
                    let task = client.task(&queue, &id).await?;
                    output.answer(&task, || shown(&task))
                };
                watch.over(show).await
            }
            Verb::Why(Named { queue, id }) => {
                let why = client.why(&queue, &id).await?;
                output.answer(&why, || format!("{} ({})", visible(&why.text), why.reason))
            }
            Verb::Clean(Named { queue, id }) => {
                client.clean(&queue, &id).await?;
                output.done(|| format!("removed {queue}/{id}"))
            }
            Verb::Extend { task, hold, progress, message, checkpoint } => {
                let extend = Extend { hold, progress, message, checkpoint };
                let extended = client.extend(task.held(), &extend).await?;
                output.answer(&extended, || heard(&extended))
            }
            Verb::Change(change) => {
                let (after, what) = change.apply(&client).await?;
                output.answer(&after, || stands(what, &after))
            }
        }
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
