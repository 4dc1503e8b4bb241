//! One server per directory.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::port::StoreError;

/// A lock on a store's directory, let go when dropped or when the process ends, however it ends.
pub(super) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Makes the directory if need be and locks it.
    pub(super) fn acquire(dir: &Path) -> Result<Self, StoreError> {
        let open = |what: &str, error: std::io::Error| {
            StoreError::Open(format!("{}: {what}: {error}", dir.display()))
        };
        std::fs::create_dir_all(dir).map_err(|error| open("cannot make the directory", error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join("lock"))
            .map_err(|error| open("cannot write there", error))?;
        if file.try_lock().is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(StoreError::Open(format!(
                "{}: in use by the server with process id {}; stop it or choose another --store",
                dir.display(),
                holder.trim()
            )));
        }
        let note = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())
        };
        note(&mut file).map_err(|error| open("cannot write there", error))?;
        Ok(Self { _file: file })
    }
}
