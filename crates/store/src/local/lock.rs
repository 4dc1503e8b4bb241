//! One server per directory.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::port::StoreError;

/// What the lock file says besides the process id once there is a store to be missed.
const MADE: &str = "store made";

/// A lock on a store's directory, let go when dropped or when the process ends, however it ends.
pub(super) struct DirectoryLock {
    file: File,
    dir: PathBuf,
    had_store: bool,
}

impl DirectoryLock {
    /// Makes the directory if need be and locks it.
    pub(super) fn acquire(dir: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(dir).map_err(|error| cannot_write(dir, &error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join("lock"))
            .map_err(|error| cannot_write(dir, &error))?;
        let mut note = String::new();
        let _ = file.read_to_string(&mut note);
        if file.try_lock().is_err() {
            return Err(StoreError::Open(format!(
                "{}: in use by the server with process id {}; stop it or choose another --store",
                dir.display(),
                note.lines().next().unwrap_or("unknown")
            )));
        }
        let had_store = note.lines().any(|line| line == MADE);
        let mut lock = Self { file, dir: dir.to_owned(), had_store };
        lock.write(had_store)?;
        Ok(lock)
    }

    /// Refuses to begin anew where a store has been.
    pub(super) fn check_file(&self, path: &Path) -> Result<(), StoreError> {
        if self.had_store && !path.exists() {
            return Err(StoreError::Open(format!(
                "{}: missing, though there was a store here; put it back, or choose another --store",
                path.display()
            )));
        }
        Ok(())
    }

    /// Notes that there is a store now.
    pub(super) fn note_made(&mut self) -> Result<(), StoreError> {
        if self.had_store { Ok(()) } else { self.write(true) }
    }

    fn write(&mut self, has_store: bool) -> Result<(), StoreError> {
        let made = if has_store { MADE } else { "" };
        let note = format!("{}\n{made}\n", std::process::id());
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(note.as_bytes())
        };
        write().map_err(|error| cannot_write(&self.dir, &error))
    }
}

fn cannot_write(dir: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Open(format!("{}: cannot write there: {error}", dir.display()))
}
