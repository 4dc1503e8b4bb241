//! `punctual push`: a task into a queue, or many from a file.

mod bulk;
mod lines;

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use punctual_client::{
    Callback, HttpTarget, NewTask, RawJson, RetryPolicy, Span, State, Timestamp,
};

use self::bulk::Bulk;
use crate::output::{Usage, visible};
use crate::remote::Remote;
use crate::values;

/// Push a task into a queue, or many from a file
///
/// A file has one JSON payload per line, pushed with the flags given here; with --tasks each line is a
/// whole task ({"payload":…,"id":…,"priority":…}). Up to 1,000 go in one request, and several
/// requests are under way at a time; a request that gets no answer is repeated, safely. What the server
/// refuses is listed with its line, and the exit code is then 1.
///
/// With --idempotency-key a run that was interrupted can be started again the same way, within 24 hours:
/// what is there already is not pushed twice.
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual push mail '{\"to\":\"ada@example.org\"}'
  punctual push mail '\"later\"' --delay 90s --id reminder-1
  punctual push mail '\"at dawn\"' --due 2027-01-01T06:00:00Z --priority 10
  punctual push mail '\"x\"' --callback '{\"on\":[\"failed\"],\"queue\":\"alerts\"}'
  jq -n '{to: \"ada\"}' | punctual push mail -
  punctual push sums '[1,2]' --wait 30s --json | jq .result
  punctual push mail --file payloads.jsonl --tag campaign-7
  punctual push mail --file tasks.jsonl --tasks --idempotency-key import-7
  jq -c '.[]' people.json | punctual push mail --file -")]
pub(crate) struct Push {
    /// The queue; made with the default settings if it does not exist
    queue: String,
    /// The payload, any JSON; `-` reads it from standard input; left out: null
    #[arg(allow_negative_numbers = true, conflicts_with = "file")]
    payload: Option<String>,
    #[command(flatten)]
    task: TaskFlags,
    /// Push every line of this file; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "id")]
    file: Option<PathBuf>,
    /// The file has whole tasks, not payloads
    #[arg(
        long,
        requires = "file",
        conflicts_with_all = [
            "delay", "due", "priority", "hold", "max_attempts", "max_runtime", "retry", "unique_for", "expires",
            "requires", "http", "callback", "tags",
        ]
    )]
    tasks: bool,
    /// With --file: requests under way at a time; 1 keeps the order of the lines
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u8).range(1..=64),
    )]
    parallel: u8,
    /// Wait for the task's end, at most 60s, and show it as it is then
    #[arg(long, value_name = "TIME", value_parser = values::span, conflicts_with = "file")]
    wait: Option<Span>,
    /// Makes a repeat of this push harmless
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

/// What a task is like, besides its payload.
#[derive(Args)]
struct TaskFlags {
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
    /// The longest one attempt may hold it, however often it is extended
    #[arg(long, value_parser = values::span)]
    max_runtime: Option<Span>,
    /// The waits between attempts, as JSON
    #[arg(long, value_parser = values::retry)]
    retry: Option<RetryPolicy>,
    /// How long its id stays reserved after its end
    #[arg(long, value_parser = values::span)]
    unique_for: Option<Span>,
    /// Failed if not first started by then
    #[arg(long, value_parser = values::time)]
    expires: Option<Timestamp>,
    /// A capability its worker must have, in a dispatch queue; give it again for more
    #[arg(long = "requires", value_name = "CAPABILITY")]
    requires: Vec<String>,
    /// Where it is delivered, in an http queue, as JSON: '{"url":"https://…"}'
    #[arg(long, value_name = "JSON", value_parser = values::http)]
    http: Option<HttpTarget>,
    /// A task to make when it ends, as JSON: into a queue, '{"on":["failed"],"queue":"alerts"}', or a call,
    /// '{"http":{"url":"https://…"}}'
    #[arg(long, value_name = "JSON", value_parser = values::callback)]
    callback: Option<Callback>,
    /// A label; give it again for more
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

impl TaskFlags {
    fn task(self, payload: RawJson) -> NewTask {
        let mut task = NewTask::raw(payload);
        task = self.id.into_iter().fold(task, NewTask::id);
        task = self.delay.into_iter().fold(task, NewTask::delay);
        task = self.due.into_iter().fold(task, NewTask::due);
        task = self.priority.into_iter().fold(task, NewTask::priority);
        task = self.hold.into_iter().fold(task, NewTask::hold);
        task = self.max_attempts.into_iter().fold(task, NewTask::max_attempts);
        task = self.max_runtime.into_iter().fold(task, NewTask::max_runtime);
        task = self.retry.into_iter().fold(task, NewTask::retry);
        task = self.unique_for.into_iter().fold(task, NewTask::unique_for);
        task = self.expires.into_iter().fold(task, NewTask::expires);
        task = self.requires.into_iter().fold(task, NewTask::requires);
        task = self.http.into_iter().fold(task, NewTask::http);
        task = self.callback.into_iter().fold(task, NewTask::callback);
        self.tags.into_iter().fold(task, NewTask::tag)
    }
}

impl Push {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        if let Some(file) = self.file {
            // Every payload becomes a task like this one.
            let model = (!self.tasks).then(|| self.task.task(RawJson::null()));
            let (client, output) = self.remote.open()?;
            let (queue, key, parallel) = (self.queue, self.idempotency_key, self.parallel.into());
            return Bulk { client, queue, key, parallel, model }.run(&file, &output).await;
        }
        let payload = read_payload(self.payload.as_deref())?;
        let task = self.task.task(payload);
        let (client, output) = self.remote.open()?;
        let (queue, key) = (self.queue, self.idempotency_key);
        let pushed = match (self.wait, &key) {
            (Some(wait), key) => client.push_and_wait(&queue, &task, wait, key.as_deref()).await?,
            (None, Some(key)) => client.push_once(&queue, key, &task).await?,
            (None, None) => {
                let task = client.push(&queue, &task).await?;
                return output
                    .answer(&task, || format!("pushed {queue}/{}: {}", task.id, task.state));
            }
        };
        let verb = if pushed.replayed { "already pushed" } else { "pushed" };
        output.answer(&pushed.after, || {
            let state = pushed.after.state().map_or("gone since", State::name);
            let task = pushed.after.task();
            let result = task.and_then(|task| task.result.as_ref()).map(RawJson::as_str);
            let error = task.and_then(|task| task.error.as_deref());
            let told = result.or(error).map(|text| format!(", {}", visible(text)));
            format!("{verb} {queue}/{}: {state}{}", pushed.after.id(), told.unwrap_or_default())
        })
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
