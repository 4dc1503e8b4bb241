//! One server per directory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::port::StoreError;

/// What the lock file says besides the process id, one line each.
const MADE: &str = "store made";
const IN_USE: &str = "log in use";

/// What there is to be missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    /// No store was made here.
    Nothing,
    /// There is a store, whose last server ended well.
    Made,
    /// There is a store in use, so part of it lies in its log.
    InUse,
}

/// A lock on a store's directory, let go when dropped or when the process ends, however it ends.
pub(super) struct DirectoryLock {
    file: File,
    dir: PathBuf,
    note: Note,
}

impl DirectoryLock {
    /// Makes the directory if need be and locks it.
    pub(super) fn acquire(dir: &Path) -> Result<Self, StoreError> {
        // What is in payloads is nobody else's business.
        let mut made = DirBuilder::new();
        made.recursive(true).mode(0o700).create(dir).map_err(|error| cannot_write(dir, &error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join("lock"))
            .map_err(|error| cannot_write(dir, &error))?;
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        if file.try_lock().is_err() {
            return Err(StoreError::Open(format!(
                "{}: in use by the server with process id {}; stop it or choose another --store",
                dir.display(),
                text.lines().next().unwrap_or("unknown")
            )));
        }
        let says = |line| text.lines().any(|other| other == line);
        let note = match (says(MADE), says(IN_USE)) {
            (false, _) => Note::Nothing,
            (true, false) => Note::Made,
            (true, true) => Note::InUse,
        };
        let mut lock = Self { file, dir: dir.to_owned(), note };
        lock.write(note)?;
        Ok(lock)
    }

    /// Whether a store was made here.
    pub(super) fn is_made(&self) -> bool {
        self.note >= Note::Made
    }

    /// Refuses to begin anew where a store has been, or without what its log held.
    pub(super) fn check_files(&self, store: &Path, log: &Path) -> Result<(), StoreError> {
        let is_empty = store.metadata().is_ok_and(|file| file.len() == 0);
        if self.note >= Note::Made && (is_empty || !store.exists()) {
            return Err(StoreError::Open(format!(
                "{}: missing, though there was a store here; put it back, or choose another --store",
                store.display()
            )));
        }
        if self.note == Note::InUse && !log.exists() {
            return Err(StoreError::Open(format!(
                "{}: missing, though the last server did not end well and it held tasks; put it \
                 back, or remove {} to go on without them",
                log.display(),
                self.dir.join("lock").display()
            )));
        }
        Ok(())
    }

    /// Notes what there is to be missed from now on, so that it is on disk before anything else is.
    pub(super) fn write(&mut self, note: Note) -> Result<(), StoreError> {
        let mut text = format!("{}\n", std::process::id());
        for (line, least) in [(MADE, Note::Made), (IN_USE, Note::InUse)] {
            if note >= least {
                text += line;
                text.push('\n');
            }
        }
        // Not emptied first: a crash in between must not lose the note, nor a full disk.
        let mut write = || {
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())?;
            self.file.set_len(text.len() as u64)?;
            self.file.sync_data()
        };
        write().map_err(|error| cannot_write(&self.dir, &error))?;
        self.note = note;
        Ok(())
    }
}

fn cannot_write(dir: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Open(format!("{}: cannot write there: {error}", dir.display()))
}
