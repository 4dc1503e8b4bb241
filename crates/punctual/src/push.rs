//! `punctual push`: one task into a queue.

use std::io::Read;

use anyhow::Context;
use clap::Args;
use punctual_client::{NewTask, RawJson, RetryPolicy, Span, Timestamp};

use crate::output::Usage;
use crate::remote::Remote;
use crate::values;

/// Push a task into a queue
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual push mail '{\"to\":\"ada@example.org\"}'
  punctual push mail '\"later\"' --delay 90s --id reminder-1
  punctual push mail '\"at dawn\"' --due 2027-01-01T06:00:00Z --priority 10
  jq -n '{to: \"ada\"}' | punctual push mail -")]
pub(crate) struct Push {
    /// The queue; made with the default settings if it does not exist
    queue: String,
    /// The payload, any JSON; `-` reads it from standard input; left out: null
    #[arg(allow_negative_numbers = true)]
    payload: Option<String>,
    /// The task's id, unique among the queue's live tasks; generated if left out
    #[arg(long)]
    id: Option<String>,
    /// How long until it is due: 90s, 10m, 1h30m, 7d
    #[arg(long, value_parser = values::span, conflicts_with = "due")]
    delay: Option<Span>,
    /// When it is due: 2027-01-01T06:00:00Z, or Unix seconds
    #[arg(long, value_parser = values::time)]
    due: Option<Timestamp>,
    /// From -100 to 100; higher goes first
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// How long a worker holds it, instead of the queue's time
    #[arg(long, value_parser = values::span)]
    hold: Option<Span>,
    /// Takes before it is failed; -1 for no limit
    #[arg(long, allow_negative_numbers = true)]
    max_attempts: Option<i32>,
    /// The waits between attempts, as JSON
    #[arg(long, value_parser = values::retry)]
    retry: Option<RetryPolicy>,
    /// How long its id stays reserved after its end
    #[arg(long, value_parser = values::span)]
    unique_for: Option<Span>,
    /// Failed if not first started by then
    #[arg(long, value_parser = values::time)]
    expires: Option<Timestamp>,
    /// A label; give it again for more
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Makes a repeat of this push harmless
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

impl Push {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let payload = read_payload(self.payload.as_deref())?;
        let mut task = NewTask::raw(payload);
        task = apply(task, self.id, NewTask::id);
        task = apply(task, self.delay, NewTask::delay);
        task = apply(task, self.due, NewTask::due);
        task = apply(task, self.priority, NewTask::priority);
        task = apply(task, self.hold, NewTask::hold);
        task = apply(task, self.max_attempts, NewTask::max_attempts);
        task = apply(task, self.retry, NewTask::retry);
        task = apply(task, self.unique_for, NewTask::unique_for);
        task = apply(task, self.expires, NewTask::expires);
        task = self.tags.into_iter().fold(task, NewTask::tag);

        let (client, output) = self.remote.open()?;
        let queue = self.queue;
        let Some(key) = self.idempotency_key else {
            let task = client.push(&queue, &task).await?;
            return output.answer(&task, || format!("pushed {queue}/{}: {}", task.id, task.state));
        };
        let pushed = client.push_once(&queue, &key, &task).await?;
        let verb = if pushed.replayed { "already pushed" } else { "pushed" };
        output.answer(&pushed.after, || {
            let state = pushed.after.task().map_or("gone since", |task| task.state.name());
            format!("{verb} {queue}/{}: {state}", pushed.after.id())
        })
    }
}

fn apply<T>(task: NewTask, value: Option<T>, set: fn(NewTask, T) -> NewTask) -> NewTask {
    match value {
        Some(value) => set(task, value),
        None => task,
    }
}

/// A payload as the command line gives it; `-` is standard input.
pub(crate) fn read_payload(argument: Option<&str>) -> anyhow::Result<RawJson> {
    let text = match argument {
        None => return Ok(RawJson::null()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read the payload from standard input")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    values::json(&text).map_err(|reason| Usage(format!("payload: {reason}")).into())
}
