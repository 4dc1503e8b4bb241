//! `punctual work`: a worker whose handler is any command.

use std::io::Write;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use punctual_client::{Fail, Job, RawJson, Runtime, Span};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::output::{brief, cell, visible};
use crate::remote::Remote;
use crate::values;

/// How long a command has between being asked to end and being killed.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Most bytes of a command's output that are read; the rest of a longer one is thrown away.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
const ERROR_BYTES_MAX: usize = 4 << 10;

/// Carry out the tasks of a queue by running a command for each
///
/// The command gets the payload on its standard input, and PUNCTUAL_QUEUE, PUNCTUAL_TASK_ID and
/// PUNCTUAL_ATTEMPT in its environment, but not the access token. If it ends with 0 the task is done, with its standard output
/// as the result (JSON, or else as text); otherwise it failed, with the end of its standard error as
/// the reason, and is tried again by the queue's policy. Its standard error is shown here, too, between lines that
/// say which task began and how it ended. While it runs its hold is extended. A cancelled task's command is ended, with all it has started.
///
/// Ctrl-C or SIGTERM: nothing more is taken and running commands finish; a second one ends
/// them and gives their tasks back.
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual work mail -- ./send-mail.sh
  punctual work images --concurrency 4 --timeout 10m -- convert - -resize 800x out.png
  punctual work render --capability gpu --name gpu-1 -- python3 render.py")]
pub(crate) struct Work {
    /// The queue
    queue: String,
    /// The command, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// How many to run at once
    #[arg(long, short = 'c', value_name = "N", default_value_t = 1)]
    concurrency: usize,
    /// The worker's name; made of the process's number if left out
    #[arg(long)]
    name: Option<String>,
    /// What it is capable of, for a queue of mode dispatch; may be given again
    #[arg(long = "capability", value_name = "CAPABILITY")]
    capabilities: Vec<String>,
    /// How long a command may run before it is ended, and its task failed
    #[arg(long, value_parser = values::span)]
    timeout: Option<Span>,
    #[command(flatten)]
    remote: Remote,
}

impl Work {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, _) = self.remote.open()?;
        let name = self.name.unwrap_or_else(|| format!("work-{}", std::process::id()));
        let timeout =
            self.timeout.map(|span| Duration::from_millis(span.as_millis().unsigned_abs()));
        let command = std::sync::Arc::new(self.command);
        let handler = move |job: Job| {
            let command = command.clone();
            async move {
                let name = format!("{}/{}", job.task.queue, job.task.id);
                let begun = Instant::now();
                say(&format!("{name} started, attempt {}", job.task.attempt));
                let outcome = carry_out(&job, &command, timeout).await;
                let took = brief(begun.elapsed().as_secs_f64());
                match &outcome {
                    Ok(_) => say(&format!("{name} done in {took}")),
                    Err(fail) => {
                        let error = fail.error.as_deref().unwrap_or_default();
                        let last = error.lines().next_back().unwrap_or_default();
                        say(&format!("{name} failed in {took}: {}", cell(last)));
                    }
                }
                outcome
            }
        };
        let mut asked = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        let (stop, stopped) = oneshot::channel();
        let (hurry, hurried) = oneshot::channel();
        tokio::spawn(async move {
            for (ask, means) in [
                (stop, "stopping: commands under way finish; asked again, they are ended"),
                (hurry, "stopping now: commands are ended, their tasks given back"),
            ] {
                tokio::select! {
                    _ = asked.recv() => {}
                    _ = interrupted.recv() => {}
                }
                say(means);
                let _ = ask.send(());
            }
        });
        say(&format!(
            "{name} works on {} at {}, {} at a time",
            self.queue,
            client.url(),
            self.concurrency
        ));
        let runtime = Runtime::new(client, name)
            .capabilities(self.capabilities)
            .grace(Duration::MAX)
            .hurry(said(hurried))
            .handle(self.queue, self.concurrency, handler);
        runtime.run_until(said(stopped)).await?;
        say("stopped");
        Ok(())
    }
}

/// Says what the worker does. The task is what counts: it goes on if nobody hears it.
fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(what));
}

async fn said(what: oneshot::Receiver<()>) {
    let _ = what.await;
}

/// A command under way. Dropped, it is killed with all it has started.
struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Running {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended already.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends it, and all it has started.
    async fn end(&mut self) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(LAST_WORDS, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn carry_out(
    job: &Job,
    command: &[String],
    timeout: Option<Duration>,
) -> Result<RawJson, Fail> {
    let failed = |error: String| Fail { error: Some(error), ..Fail::default() };
    let mut running = start(job, command).map_err(|error| failed(format!("{error:#}")))?;
    let (stdin, stdout, stderr) =
        (running.child.stdin.take(), running.child.stdout.take(), running.child.stderr.take());
    let payload = job.task.payload.as_str().to_owned();
    // A command need not read its input; what it does not read is not missed.
    tokio::spawn(async move {
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(payload.as_bytes()).await;
        }
    });
    let output = tokio::spawn(read(stdout, OUTPUT_BYTES_MAX, std::io::sink()));
    let errors = tokio::spawn(read(stderr, ERROR_BYTES_MAX, std::io::stderr()));
    let status = tokio::select! {
        status = running.child.wait() => status.map_err(|error| failed(error.to_string()))?,
        reason = job.stopped() => {
            running.end().await;
            return Err(failed(format!("the command was ended: {reason:?}").to_lowercase()));
        }
        () = sleep(timeout) => {
            running.end().await;
            return Err(failed("the command ran longer than its time-out".to_owned()));
        }
    };
    // What it has started and left behind is not waited for.
    running.signal(Signal::KILL);
    let (output, errors) = (output.await.unwrap_or_default(), errors.await.unwrap_or_default());
    match status.success() {
        true => Ok(result(&output)),
        false => Err(failed(complaint(status, &errors))),
    }
}

fn start(job: &Job, command: &[String]) -> anyhow::Result<Running> {
    let (program, args) = command.split_first().context("name a command")?;
    let mut started = Command::new(program);
    started
        .args(args)
        // It may be anybody's program, and needs no access to the server.
        .env_remove("PUNCTUAL_TOKEN")
        .env("PUNCTUAL_QUEUE", &job.task.queue)
        .env("PUNCTUAL_TASK_ID", &job.task.id)
        .env("PUNCTUAL_ATTEMPT", job.task.attempt.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = started.spawn().with_context(|| format!("{program} cannot be started"))?;
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    Ok(Running { child, group })
}

/// Reads to the end, lets it be seen elsewhere, and keeps the last so many bytes.
async fn read(
    from: Option<impl AsyncReadExt + Unpin>,
    bytes_max: usize,
    mut elsewhere: impl std::io::Write,
) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut piece = vec![0; 64 << 10];
    let Some(mut from) = from else { return kept };
    while let Ok(n @ 1..) = from.read(&mut piece).await {
        kept.extend_from_slice(&piece[..n]);
        // The task is what counts: it goes on if nobody sees it.
        let _ = elsewhere.write_all(&piece[..n]);
        if kept.len() > bytes_max * 2 {
            kept.drain(..kept.len() - bytes_max);
        }
    }
    kept.drain(..kept.len().saturating_sub(bytes_max));
    kept
}

/// What a command printed: JSON if it is, else text; nothing is null.
fn result(output: &[u8]) -> RawJson {
    let text = String::from_utf8_lossy(output);
    match text.trim() {
        "" => RawJson::null(),
        text => RawJson::parse(text).unwrap_or_else(|_| RawJson::of(text)),
    }
}

fn complaint(status: ExitStatus, errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    match text.trim() {
        "" => status.to_string(),
        text => text.to_owned(),
    }
}

async fn sleep(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}
