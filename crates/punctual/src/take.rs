//! `punctual take`: tasks out of a queue, as a worker takes them.

use clap::Args;
use punctual_client::{Span, TakeAnswer};

use crate::output::{cell, or_empty};
use crate::remote::Remote;
use crate::table::table;
use crate::values;

/// Take tasks from a queue and hold them
#[derive(Args)]
#[command(after_help = "\
A taken task is yours until its hold ends: settle it with `punctual commit`, or with
`punctual task fail` or `punctual task release`, naming the token shown here.

Examples:
  punctual take mail
  punctual take mail -n 10 --wait 30s --worker w1 --hold 5m
  punctual take mail --json | jq -r '.tasks[0].token'")]
pub(crate) struct Take {
    /// The queue
    queue: String,
    /// How many tasks at most
    #[arg(short, default_value_t = 1)]
    n: usize,
    /// How long to wait for the first task, at most 60s
    #[arg(long, value_parser = values::span)]
    wait: Option<Span>,
    /// The name of who takes
    #[arg(long)]
    worker: Option<String>,
    /// How long to hold the tasks, instead of the task's or queue's time
    #[arg(long, value_parser = values::span)]
    hold: Option<Span>,
    /// Take them as assigned; they run once confirmed with `punctual task confirm`
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Take {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let mut take = punctual_client::Take::new().n(self.n);
        if let Some(wait) = self.wait {
            take = take.wait(wait);
        }
        if let Some(worker) = self.worker {
            take = take.worker(worker);
        }
        if let Some(hold) = self.hold {
            take = take.hold(hold);
        }
        if self.confirm {
            take = take.confirm();
        }
        let (client, output) = self.remote.open()?;
        let answer = client.take(&self.queue, &take).await?;
        output.answer(&answer, || shown(&self.queue, &answer))
    }
}

fn shown(queue: &str, answer: &TakeAnswer) -> String {
    if answer.tasks.is_empty() {
        return format!("nothing to take in {queue}");
    }
    let rows: Vec<_> = answer
        .tasks
        .iter()
        .map(|taken| {
            let task = &taken.task;
            [
                task.id.clone(),
                taken.token.clone(),
                task.attempt.to_string(),
                or_empty(task.hold_until),
                cell(task.payload.as_str()),
            ]
        })
        .collect();
    table(["ID", "TASK TOKEN", "ATTEMPT", "HELD UNTIL", "PAYLOAD"], &rows)
}
