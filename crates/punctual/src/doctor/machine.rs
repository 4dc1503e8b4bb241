//! What is around the store: the configuration's file, the clock, the limits of the process.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Resource, getrlimit};

use super::Check;

/// Fewer open files than that are soon used up: every connection is one.
const FILES_MIN: u64 = 4_096;

/// A configuration that was read without complaint.
pub(super) fn configuration(path: &Path) -> Check {
    let found = format!("{} is right", path.display());
    let advice = format!("if it holds tokens or passwords: chmod o= {}", path.display());
    private("configuration", path, found, advice)
}

/// A file with a password that was read.
pub(super) fn password(path: &Path) -> Check {
    let found = format!("{} can be read", path.display());
    private("password", path, found, format!("chmod o= {}", path.display()))
}

/// A file that is there, and who else can read it.
fn private(check: &'static str, path: &Path, found: String, advice: String) -> Check {
    let mode = path.metadata().map(|file| file.permissions().mode() & 0o777).unwrap_or(0);
    if mode & 0o007 == 0 {
        return Check::ok(check, found);
    }
    let found = format!("{found}; everybody on this machine may read it (mode {mode:03o})");
    Check::warn(check, found, advice)
}

/// Whether the machine's clock is set by somebody.
pub(super) fn clock() -> Check {
    match synchronised().as_deref() {
        Some("yes") => Check::ok("clock", "it is synchronised"),
        Some(_) => Check::warn(
            "clock",
            "it is not synchronised",
            "tasks fall due by it: run chrony or systemd-timesyncd",
        ),
        None => Check::ok("clock", "whether it is synchronised cannot be told here"),
    }
}

/// What the system says about it, if it says anything.
fn synchronised() -> Option<String> {
    if Path::new("/run/systemd/timesync/synchronized").exists() {
        return Some("yes".to_owned());
    }
    let mut command = Command::new("timedatectl");
    command.args(["show", "-p", "NTPSynchronized", "--value"]).stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let said = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Some(said).filter(|said| !said.is_empty())
}

/// How many files a server started like this may open.
pub(super) fn open_files() -> Check {
    // A server takes all it may have, which is the upper limit.
    let Some(most) = getrlimit(Resource::Nofile).maximum else {
        return Check::ok("open files", "as many as the system has");
    };
    let found = format!("{most} at most, each connection is one");
    if most >= FILES_MIN {
        return Check::ok("open files", found);
    }
    Check::warn("open files", found, "raise it: LimitNOFILE= of the unit, or ulimit -Hn")
}
