//! Many tasks from a file: batches, several under way at a time, each repeated until it is answered.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::HumanCount;
use punctual_client::{Client, Error, ItemResult, NewTask};
use serde::Serialize;
use tokio::time::sleep;

use super::lines::{Batch, Lines};
use crate::output::{Output, advice};
use crate::progress;

/// The waits before a batch without an answer is sent again; then it is given up.
const AGAIN_AFTER_SECS: [u64; 8] = [1, 1, 2, 4, 8, 8, 8, 8];
/// Most refusals that are told one by one.
const ERRORS_MAX: usize = 1_000;

/// A file to push.
pub(super) struct Bulk {
    pub(super) client: Client,
    pub(super) queue: String,
    /// What the keys of the batches begin with; made up for this run if none is given.
    pub(super) key: Option<String>,
    pub(super) parallel: usize,
    /// What a payload becomes; none: lines are whole tasks.
    pub(super) model: Option<NewTask>,
}

/// What came of it.
#[derive(Default, Serialize)]
struct Outcome {
    pushed: u64,
    refused: u64,
    errors: Vec<Refusal>,
}

/// A line that was not pushed.
#[derive(Serialize)]
struct Refusal {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    code: String,
    detail: String,
}

/// The answer to a batch.
enum Sent {
    /// Each task has its own.
    Items(Vec<ItemResult>),
    /// It is more than the server takes in one request.
    TooLarge(String),
}

impl Bulk {
    pub(super) async fn run(self, file: &Path, output: &Output) -> anyhow::Result<()> {
        let mut lines = Lines::open(file, self.model.clone()).await?;
        let key = self.key.clone().map_or_else(made_up_key, Ok)?;
        let bar = progress::bytes(lines.bytes);
        let mut outcome = Outcome::default();
        let mut under_way = FuturesUnordered::new();
        let mut ended = false;
        loop {
            while !ended && under_way.len() < self.parallel {
                match lines.next().await? {
                    Some(batch) => under_way.push(self.send(batch, &key)),
                    None => ended = true,
                }
            }
            let Some((batch, sent)) = under_way.next().await else { break };
            let sent = sent.map_err(|error| self.given_up(&batch, &error, outcome.pushed))?;
            bar.inc(batch.bytes);
            bar.suspend(|| outcome.add(&batch, sent, output.is_json()));
            let rate = outcome.pushed as f64 / bar.elapsed().as_secs_f64().max(0.001);
            let (pushed, rate) = (HumanCount(outcome.pushed), HumanCount(rate as u64));
            bar.set_message(format!("{pushed} tasks, {rate}/s"));
        }
        bar.finish_and_clear();
        let (pushed, refused, queue) = (outcome.pushed, outcome.refused, &self.queue);
        output.answer(&outcome, || format!("pushed {pushed} tasks into {queue}"))?;
        ensure!(refused == 0, "{refused} lines were refused");
        Ok(())
    }

    /// Sends a batch until there is an answer.
    async fn send(&self, batch: Batch, key: &str) -> (Batch, Result<Sent, Error>) {
        let Some(first) = batch.lines.first() else { return (batch, Ok(Sent::Items(Vec::new()))) };
        // The same file has the same batches, so the line says which one it is.
        let key = format!("{key}:{first}");
        let mut waits = AGAIN_AFTER_SECS.into_iter();
        let sent = loop {
            match self.client.push_batch(&self.queue, &batch.tasks, Some(&key)).await {
                Ok(items) => break Ok(Sent::Items(items)),
                Err(error) if error.status() == Some(413) => {
                    break Ok(Sent::TooLarge(error.to_string()));
                }
                Err(error) => match waits.next().filter(|_| is_passing(&error)) {
                    Some(secs) => sleep(Duration::from_secs(secs)).await,
                    None => break Err(error),
                },
            }
        };
        (batch, sent)
    }

    fn given_up(&self, batch: &Batch, error: &Error, pushed: u64) -> anyhow::Error {
        let first = batch.lines.first().copied().unwrap_or_default();
        let then = match &self.key {
            Some(_) => "repeat the command to go on",
            None => "name an --idempotency-key to be able to go on",
        };
        anyhow!("line {first}: {error}{}; {pushed} tasks are pushed; {then}", advice(error))
    }
}

/// Whether the same request may well succeed in a moment.
fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Unreachable { .. } | Error::NoAnswer { .. })
        || error.status() == Some(503)
}

/// A key that no other run has.
fn made_up_key() -> anyhow::Result<String> {
    let number = getrandom::u64().context("no random numbers")?;
    Ok(format!("push-{number:016x}"))
}

impl Outcome {
    fn add(&mut self, batch: &Batch, sent: Sent, is_json: bool) {
        for (line, reason) in &batch.unread {
            self.refuse(is_json, *line, None, "bad_json".to_owned(), reason.clone());
        }
        match sent {
            Sent::Items(items) => {
                for (line, item) in batch.lines.iter().zip(items) {
                    if item.ok {
                        self.pushed += 1;
                        continue;
                    }
                    let code = item.code.unwrap_or_else(|| "invalid".to_owned());
                    let detail = item.detail.unwrap_or_else(|| "refused".to_owned());
                    self.refuse(is_json, *line, item.id, code, detail);
                }
            }
            Sent::TooLarge(reason) => {
                for line in &batch.lines {
                    self.refuse(is_json, *line, None, "too_large".to_owned(), reason.clone());
                }
            }
        }
    }

    /// Notes a refusal; people hear of it at once.
    fn refuse(
        &mut self,
        is_json: bool,
        line: u64,
        id: Option<String>,
        code: String,
        detail: String,
    ) {
        self.refused += 1;
        if self.errors.len() >= ERRORS_MAX {
            return;
        }
        if !is_json {
            // Nothing is left to do if even this cannot be written.
            let _ = writeln!(io::stderr(), "line {line}: {detail} ({code})");
        }
        self.errors.push(Refusal { line, id, code, detail });
    }
}
