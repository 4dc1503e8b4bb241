//! A disk whose power fails: an ext4 file system in a file, shut down without another byte written.
//!
//! What the server wrote and did not sync is lost with it, as kill -9 never shows: the page cache
//! outlives a process. It takes root and loop devices, so this is no part of `cargo xtask test`; run it
//! with `cargo xtask crash --power`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::process::Server;

const SIZE: &str = "1G";
/// `FS_IOC_SHUTDOWN` with `FS_SHUTDOWN_FLAGS_NOLOGFLUSH`: not even the file system's journal is written.
const SHUT_DOWN: &str = "\
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))";

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

    fn mount(&self) {
        run(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(self.path()));
    }

    /// The power fails: nothing more gets to the disk, and the server ends. Before, it stands still: a
    /// sync that the shutdown comes in between may be told to have succeeded, and has not.
    pub(crate) fn fail_under(&self, server: Server) {
        server.signal("STOP");
        while !stands_still(server.pid()) {
            std::thread::sleep(Duration::from_millis(1));
        }
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

/// Whether all threads of a process are stopped: none of them is inside a system call any more.
fn stands_still(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.into_iter().all(|thread| {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("stat")).unwrap_or_default();
        stat.contains(") T ")
    })
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
