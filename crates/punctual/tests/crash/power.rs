//! A disk whose power fails: an ext4 file system in a file, shut down without another byte written.
//!
//! What the server wrote and did not sync is lost with it, as kill -9 never shows: the page cache
//! outlives a process. It takes root and loop devices, so this is no part of `cargo xtask test`; run it
//! with `cargo xtask crash --power`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::Server;

const SIZE: &str = "1G";
/// `FS_IOC_SHUTDOWN` with `FS_SHUTDOWN_FLAGS_NOLOGFLUSH`: not even the file system's journal is written.
const SHUT_DOWN: &str = "\
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))";

/// Whether this run is about it.
pub(crate) fn may_fail() -> bool {
    std::env::var_os("PUNCTUAL_CRASH_POWER").is_some()
}

/// A disk of a server's own.
pub(crate) struct Disk {
    dir: TempDir,
}

impl Disk {
    pub(crate) fn new() -> Self {
        let disk = Self { dir: tempfile::tempdir().unwrap() };
        run(Command::new("truncate").args(["-s", SIZE]).arg(disk.image()));
        run(Command::new("mkfs.ext4").arg("-q").arg(disk.image()));
        std::fs::create_dir(disk.path()).unwrap();
        disk.mount();
        disk
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    /// Where its files are.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("disk")
    }

    /// With `dioread_lock` a sync waits until the file system's journal has what it wrote. Without, one
    /// that the shutdown comes in between may succeed although its data is not found again: Linux 6.18
    /// says nothing of extents that could not be marked as written, which no real power cut leads to.
    fn mount(&self) {
        run(Command::new("mount")
            .args(["-o", "loop,dioread_lock"])
            .arg(self.image())
            .arg(self.path()));
    }

    /// The power fails: nothing more gets to the disk, and the server ends.
    pub(crate) fn fail_under(&self, server: Server) {
        run(Command::new("python3").args(["-c", SHUT_DOWN]).arg(self.path()));
        server.kill();
        unmount(&self.path());
        self.mount();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        unmount(&self.path());
    }
}

fn unmount(path: &Path) {
    run(Command::new("umount").arg(path));
}

fn run(command: &mut Command) {
    let status = command.status();
    let succeeded = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    assert!(
        succeeded,
        "{command:?}: {status:?}; it takes root, loop devices, e2fsprogs and python3"
    );
}
