//! `punctual bench`: what a server manages, through a queue of its own.
//!
//! Three rounds: tasks are pushed in batches over several connections, they are taken and committed the
//! same way, and then single tasks go from a producer to a worker that waits, one after the other.

mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;
use indicatif::ProgressBar;
use punctual_client::{Client, Commit, Error, NewTask, QueueChanges, RawJson, Span, Take};
use serde::Serialize;
use tokio::task::JoinSet;

use self::figures::{Figures, Times};
use crate::output::Output;
use crate::progress;
use crate::remote::Remote;
use crate::table::table;

/// Single tasks that go all the way, at most.
const SINGLE_MAX: u64 = 1_000;
/// How long a worker waits for a task that was pushed already.
const WAIT: Span = Span::from_secs(10);

/// Drive a server, and print its throughput and latency
///
/// It makes a queue of its own, and deletes it at the end. What it does goes to the disk or to Redis
/// like anything else, and other users of the server will notice.
#[derive(Args)]
#[command(after_help = "\
push, take and commit are requests of --batch tasks each over --connections at once; end to end is the
time from before a push to after its commit, of single tasks one after the other.

Examples:
  punctual bench
  punctual bench --tasks 1000000 --connections 16 --batch 1000
  punctual bench --batch 1 --payload 10000
  punctual bench --json | jq .push.per_second")]
pub(crate) struct Bench {
    /// How many tasks
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    tasks: u64,
    /// How many connections at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,
    /// How many tasks in a request
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    batch: u16,
    /// How many bytes a payload has
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_048_576))]
    payload: u32,
    #[command(flatten)]
    remote: Remote,
}

/// What came of it.
#[derive(Serialize)]
struct Report {
    tasks: u64,
    connections: u16,
    batch: u16,
    payload: u32,
    push: Figures,
    take: Figures,
    commit: Figures,
    end_to_end: Figures,
}

impl Bench {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let Self { tasks, connections, batch, payload, remote } = self;
        let (client, output) = remote.open()?;
        let random = getrandom::u64().context("no random numbers")?;
        let queue = format!("bench-{random:016x}");
        client.put_queue(&queue, &QueueChanges::new().hold(Span::from_secs(600))).await?;
        let ground = Ground {
            client: client.clone(),
            queue: queue.as_str().into(),
            payload: RawJson::of(&"x".repeat(payload as usize - 2)),
            batch: batch.into(),
            connections: connections.into(),
        };
        let outcome = tokio::select! {
            outcome = ground.measure(tasks) => outcome,
            _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
        };
        let deleted = client.delete_queue(&queue).await;
        let (push, take, commit, end_to_end) = outcome?;
        deleted.with_context(|| format!("the queue {queue} is left over"))?;
        let report = Report { tasks, connections, batch, payload, push, take, commit, end_to_end };
        shown(&output, &report)
    }
}

fn shown(output: &Output, report: &Report) -> anyhow::Result<()> {
    output.answer(report, || {
        let rows = [
            report.push.row("push"),
            report.take.row("take"),
            report.commit.row("commit"),
            report.end_to_end.row("end to end"),
        ];
        table(["", "TASKS/S", "REQUESTS", "P50 MS", "P90 MS", "P99 MS", "MAX MS"], &rows)
    })
}

/// What all rounds need.
#[derive(Clone)]
struct Ground {
    client: Client,
    queue: Arc<str>,
    payload: RawJson,
    batch: usize,
    connections: usize,
}

impl Ground {
    async fn measure(&self, tasks: u64) -> anyhow::Result<(Figures, Figures, Figures, Figures)> {
        let bar = progress::count(tasks);
        bar.set_message("push");
        let (push, elapsed) = self.push_all(tasks, &bar).await?;
        let push = push.figures(tasks, elapsed);
        bar.reset();
        bar.set_message("work");
        let (take, commit, elapsed) = self.work_all(tasks, &bar).await?;
        let (take, commit) = (take.figures(tasks, elapsed), commit.figures(tasks, elapsed));
        let single = tasks.min(SINGLE_MAX);
        bar.reset();
        bar.set_length(single);
        bar.set_message("single");
        let start = Instant::now();
        let times = self.single(single, &bar).await?;
        bar.finish_and_clear();
        Ok((push, take, commit, times.figures(single, start.elapsed())))
    }

    /// Pushes so many tasks, over all connections.
    async fn push_all(&self, tasks: u64, bar: &ProgressBar) -> anyhow::Result<(Times, Duration)> {
        let left = Arc::new(AtomicI64::new(i64::try_from(tasks)?));
        let start = Instant::now();
        let mut connections = JoinSet::new();
        for _ in 0..self.connections {
            let (ground, left, bar) = (self.clone(), Arc::clone(&left), bar.clone());
            connections.spawn(async move { ground.push_some(&left, &bar).await });
        }
        let mut times = Times::default();
        while let Some(ended) = connections.join_next().await {
            times = times.join(ended??);
        }
        Ok((times, start.elapsed()))
    }

    async fn push_some(&self, left: &AtomicI64, bar: &ProgressBar) -> anyhow::Result<Times> {
        let mut times = Times::default();
        let all = vec![NewTask::raw(self.payload.clone()); self.batch];
        loop {
            let before = left.fetch_sub(self.batch as i64, Ordering::Relaxed);
            let count = usize::try_from(before).unwrap_or(0).min(self.batch);
            if count == 0 {
                return Ok(times);
            }
            let start = Instant::now();
            let pushed = self.client.push_batch(&self.queue, &all[..count], None).await?;
            times.add(start.elapsed());
            let refused = pushed.into_iter().find(|item| !item.ok);
            if let Some(refused) = refused {
                bail!("a push was refused: {}", refused.code.unwrap_or_default());
            }
            bar.inc(count as u64);
        }
    }

    /// Takes and commits so many tasks, over all connections.
    async fn work_all(
        &self,
        tasks: u64,
        bar: &ProgressBar,
    ) -> anyhow::Result<(Times, Times, Duration)> {
        let start = Instant::now();
        let mut connections = JoinSet::new();
        for _ in 0..self.connections {
            let (ground, bar) = (self.clone(), bar.clone());
            connections.spawn(async move { ground.work(&bar).await });
        }
        let (mut taking, mut committing, mut done) = (Times::default(), Times::default(), 0);
        while let Some(ended) = connections.join_next().await {
            let (takes, commits, count) = ended??;
            (taking, committing, done) =
                (taking.join(takes), committing.join(commits), done + count);
        }
        ensure!(done == tasks, "{done} of {tasks} tasks were there to be taken");
        Ok((taking, committing, start.elapsed()))
    }

    /// Works until there is nothing left.
    async fn work(&self, bar: &ProgressBar) -> Result<(Times, Times, u64), Error> {
        let (mut taking, mut committing, mut done) = (Times::default(), Times::default(), 0);
        let take = Take::new().n(self.batch);
        loop {
            let start = Instant::now();
            let taken = self.client.take(&self.queue, &take).await?.tasks;
            if taken.is_empty() {
                return Ok((taking, committing, done));
            }
            taking.add(start.elapsed());
            let commits: Vec<_> =
                taken.iter().map(|taken| taken.held().with(Commit::default())).collect();
            let start = Instant::now();
            self.client.commit_batch(&self.queue, &commits).await?;
            committing.add(start.elapsed());
            done += taken.len() as u64;
            bar.inc(taken.len() as u64);
        }
    }

    /// Single tasks, one after the other, to a worker that waits for them.
    async fn single(&self, tasks: u64, bar: &ProgressBar) -> anyhow::Result<Times> {
        let mut times = Times::default();
        let task = NewTask::raw(self.payload.clone());
        let take = Take::new().wait(WAIT);
        for _ in 0..tasks {
            let start = Instant::now();
            let worker = async {
                let taken = self.client.take(&self.queue, &take).await?.tasks;
                for taken in &taken {
                    self.client.commit(taken.held(), &Commit::default()).await?;
                }
                Ok::<_, Error>(taken.len())
            };
            let (pushed, worked) = tokio::join!(self.client.push(&self.queue, &task), worker);
            pushed?;
            ensure!(worked? == 1, "a task that was pushed did not come back");
            times.add(start.elapsed());
            bar.inc(1);
        }
        Ok(times)
    }
}
