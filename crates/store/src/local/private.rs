//! Files that only their owner may read: what is in payloads and settings is nobody else's business.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// The mode of files: their owner reads and writes them.
const OWNER_ONLY: u32 = 0o600;
/// Rights of everybody else.
const OTHERS: u32 = 0o077;

/// Makes a file that is not there yet. A link that leads elsewhere is not followed.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)
}

/// Makes a file if need be, and takes it from others if they could read it.
pub(super) fn ensure(path: &Path) -> io::Result<()> {
    match create(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            restrict(path);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Takes a file from others if they could read it. Somebody else's file stays as it is.
pub(super) fn restrict(path: &Path) {
    let Ok(file) = std::fs::metadata(path) else { return };
    if file.permissions().mode() & OTHERS != 0 {
        let _ = std::fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY));
    }
}
