//! The last things that were done, in memory and, where there is one, in a file beside the store.
//!
//! The file has one JSON object per line, the newest last. It is appended to, and written anew when it has
//! twice as many lines as are kept. It is no part of what the store promises: what cannot be written is
//! said in the log, and the store goes on.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

/// The name of the file in a store's directory.
pub(crate) const FILE: &str = "audit.jsonl";
const LINES_MAX: usize = 2 * AUDIT_ENTRIES_MAX;

/// An entry and its number.
#[derive(Clone, Serialize, Deserialize)]
struct Numbered {
    n: u64,
    #[serde(flatten)]
    entry: AuditEntry,
}

#[derive(Default)]
struct Kept {
    entries: VecDeque<Numbered>,
    /// Lines in the file.
    lines: usize,
}

/// The last things that were done.
#[derive(Default)]
pub(crate) struct Trail {
    path: Option<PathBuf>,
    kept: Mutex<Kept>,
}

impl Trail {
    /// The trail that a file tells of. Lines that cannot be read are passed over.
    pub(crate) fn in_dir(dir: &Path) -> Self {
        let path = dir.join(FILE);
        let text = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().count();
        let read = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let mut kept = Kept { entries: read.collect(), lines };
        kept.trim();
        Self { path: Some(path), kept: Mutex::new(kept) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry.
    pub(crate) fn add(&self, entry: &AuditEntry) {
        let mut kept = self.kept();
        let n = kept.entries.back().map_or(1, |last| last.n + 1);
        kept.entries.push_back(Numbered { n, entry: entry.clone() });
        kept.trim();
        let written = self.path.as_deref().map_or(Ok(()), |path| kept.write(path));
        if let Err(error) = written {
            warn!(%error, "what was done could not be noted in {FILE}");
        }
    }

    /// Reads a page of entries before a place.
    pub(crate) fn page(&self, cursor: Option<&str>, limit: usize) -> Result<AuditPage, StoreError> {
        let before = match cursor {
            Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
            None => u64::MAX,
        };
        let kept = self.kept();
        let mut older = kept.entries.iter().rev().skip_while(|entry| entry.n >= before).peekable();
        let page: Vec<&Numbered> = older.by_ref().take(limit).collect();
        let next = older.peek().and(page.last()).map(|last| last.n.to_string());
        Ok(AuditPage { items: page.into_iter().map(|entry| entry.entry.clone()).collect(), next })
    }
}

impl Kept {
    fn trim(&mut self) {
        let over = self.entries.len().saturating_sub(AUDIT_ENTRIES_MAX);
        self.entries.drain(..over);
    }

    /// Writes the last entry at the end of the file, or all there are over it.
    fn write(&mut self, path: &Path) -> io::Result<()> {
        let line = |entry: &Numbered| {
            let mut line = serde_json::to_vec(entry).expect("an entry is plain text and numbers");
            line.push(b'\n');
            line
        };
        if self.lines < LINES_MAX {
            let last: Vec<u8> = self.entries.back().map(line).unwrap_or_default();
            OpenOptions::new().create(true).append(true).open(path)?.write_all(&last)?;
            self.lines += 1;
            return Ok(());
        }
        let new = path.with_extension("new");
        let all: Vec<u8> = self.entries.iter().flat_map(line).collect();
        File::create(&new)?.write_all(&all)?;
        fs::rename(&new, path)?;
        self.lines = self.entries.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use punctual_core::Timestamp;

    use super::*;

    fn entry(n: usize) -> AuditEntry {
        AuditEntry {
            at: Timestamp::from_millis(n as i64),
            who: "open".to_owned(),
            from: "127.0.0.1:1".to_owned(),
            action: "queue.pause".to_owned(),
            target: n.to_string(),
            status: 200,
        }
    }

    fn targets(trail: &Trail, cursor: Option<&str>, limit: usize) -> (Vec<String>, Option<String>) {
        let page = trail.page(cursor, limit).unwrap();
        (page.items.into_iter().map(|entry| entry.target).collect(), page.next)
    }

    #[test]
    fn the_file_stays_bounded_and_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let trail = Trail::in_dir(dir.path());
        let count = LINES_MAX + 5;
        (0..count).for_each(|n| trail.add(&entry(n)));
        let path = dir.path().join(FILE);
        let lines = || fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines() <= LINES_MAX && lines() >= AUDIT_ENTRIES_MAX, "{}", lines());
        // A line that was cut off by a crash is passed over, and so is what is no entry.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"n\":7,\n\xff\n")
            .unwrap();
        for trail in [trail, Trail::in_dir(dir.path())] {
            let (first, next) = targets(&trail, None, 2);
            assert_eq!(first, [(count - 1).to_string(), (count - 2).to_string()]);
            let (second, _) = targets(&trail, next.as_deref(), 1);
            assert_eq!(second, [(count - 3).to_string()]);
            let (all, next) = targets(&trail, None, count);
            assert_eq!((all.len(), next), (AUDIT_ENTRIES_MAX, None));
        }
    }

    #[test]
    fn where_nothing_can_be_written_it_is_kept_in_memory() {
        let trail = Trail::in_dir(Path::new("/none/at/all"));
        trail.add(&entry(1));
        assert_eq!(targets(&trail, None, 9), (vec!["1".to_owned()], None));
        assert!(trail.page(Some("x"), 1).is_err());
    }
}
