//! The lines of a file of tasks, in batches of a size the server likes.

use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Context;
use punctual_client::{NewTask, RawJson};
use tokio::fs::File;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

/// Most tasks in a request.
const BATCH_TASKS_MAX: usize = 1_000;
/// Most bytes of lines in a request, unless one line alone has more.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// How much of the file is read at a time.
const READ_BYTES: usize = 256 << 10;

/// A file that is read line by line.
pub(super) struct Lines {
    file: Box<dyn AsyncBufRead + Unpin>,
    /// The size of the file, where it has one.
    pub(super) bytes: Option<u64>,
    number: u64,
    /// A line that did not fit into the last batch.
    held_back: Option<Line>,
    /// What a payload becomes; none: lines are whole tasks.
    model: Option<NewTask>,
}

/// A line with something on it.
struct Line {
    number: u64,
    text: Vec<u8>,
}

/// Tasks for one request, each with the number of its line.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) lines: Vec<u64>,
    pub(super) tasks: Vec<RawJson>,
    /// Lines that hold no JSON, and why.
    pub(super) unread: Vec<(u64, String)>,
    /// How much of the file it was.
    pub(super) bytes: u64,
}

impl Lines {
    pub(super) async fn open(path: &Path, model: Option<NewTask>) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            let stdin = File::from_std(std::io::stdin().as_fd().try_clone_to_owned()?.into());
            return Ok(Self::new(Box::new(BufReader::new(stdin)), None, model));
        }
        let file = File::open(path).await;
        let file = file.with_context(|| format!("--file: cannot open {}", path.display()))?;
        let bytes = file.metadata().await.ok().filter(|data| data.is_file()).map(|data| data.len());
        Ok(Self::new(Box::new(BufReader::with_capacity(READ_BYTES, file)), bytes, model))
    }

    fn new(
        file: Box<dyn AsyncBufRead + Unpin>,
        bytes: Option<u64>,
        model: Option<NewTask>,
    ) -> Self {
        Self { file, bytes, number: 0, held_back: None, model }
    }

    /// The next batch; none: the file has ended.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Batch>> {
        let mut batch = Batch::default();
        let mut full = 0;
        while batch.tasks.len() < BATCH_TASKS_MAX {
            let Some(line) = self.next_line().await? else { break };
            full += line.text.len();
            if full > BATCH_BYTES_MAX && !batch.tasks.is_empty() {
                self.held_back = Some(line);
                break;
            }
            batch.bytes += line.text.len() as u64;
            match self.read(&line.text) {
                Ok(Some(task)) => {
                    batch.lines.push(line.number);
                    batch.tasks.push(task);
                }
                Ok(None) => {}
                Err(reason) => batch.unread.push((line.number, reason)),
            }
        }
        Ok(Some(batch).filter(|batch| !batch.tasks.is_empty() || !batch.unread.is_empty()))
    }

    async fn next_line(&mut self) -> anyhow::Result<Option<Line>> {
        if let Some(line) = self.held_back.take() {
            return Ok(Some(line));
        }
        let mut text = Vec::new();
        let read = self.file.read_until(b'\n', &mut text).await;
        read.with_context(|| format!("--file: cannot read line {}", self.number + 1))?;
        self.number += 1;
        Ok(Some(Line { number: self.number, text }).filter(|line| !line.text.is_empty()))
    }

    /// The task on a line; an empty line has none.
    fn read(&self, line: &[u8]) -> Result<Option<RawJson>, String> {
        let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let json = RawJson::parse(text).map_err(|error| format!("not JSON: {error}"))?;
        Ok(Some(match &self.model {
            Some(model) => RawJson::of(&model.clone().payload(json)),
            None => json,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, model: Option<NewTask>) -> Lines {
        Lines::new(Box::new(std::io::Cursor::new(text.to_owned().into_bytes())), None, model)
    }

    #[tokio::test]
    async fn payloads_become_tasks_and_keep_their_lines() {
        let model = NewTask::default().priority(3);
        let mut lines = lines("{\"n\": 1e400}\n\n  \nnonsense\n2", Some(model));
        let batch = lines.next().await.unwrap().unwrap();
        assert_eq!(batch.lines, [1, 5]);
        let tasks: Vec<_> = batch.tasks.iter().map(RawJson::as_str).collect();
        assert_eq!(
            tasks,
            [r#"{"payload":{"n": 1e400},"priority":3}"#, r#"{"payload":2,"priority":3}"#]
        );
        assert_eq!(batch.unread.len(), 1);
        assert_eq!(batch.unread[0].0, 4);
        assert!(lines.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn batches_are_bounded_in_number_and_size() {
        let mut many = lines(&"1\n".repeat(1_001), None);
        assert_eq!(many.next().await.unwrap().unwrap().tasks.len(), 1_000);
        assert_eq!(many.next().await.unwrap().unwrap().lines, [1_001]);
        let large = format!("\"{}\"\n", "x".repeat(BATCH_BYTES_MAX - 10));
        let mut large = lines(&large.repeat(2), None);
        for line in [1, 2] {
            assert_eq!(large.next().await.unwrap().unwrap().lines, [line]);
        }
        assert!(large.next().await.unwrap().is_none());
    }
}
