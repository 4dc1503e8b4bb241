//! An embedded store: its files, who may read them, the room they have, and the server that has it open.

use std::fs::{File, TryLockError};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use punctual_client::Client;
use punctual_store::StoreError;
use punctual_store::local::LocalStore;
use rustix::fs::{Access, access, statvfs};

use super::Check;
use crate::config::Config;

const MIB: u64 = 1 << 20;
/// Below that a server has hardly begun before the disk is full.
const ROOM_FAIL_BYTES: u64 = 64 * MIB;
const ROOM_WARN_BYTES: u64 = 1_024 * MIB;
/// How far in the future a file may seem to be written.
const CLOCK_OFF_MAX: Duration = Duration::from_secs(5);
const LISTEN: &str = "127.0.0.1:23334";

/// Looks at a store in a directory. Beside a server that has it open that server is asked, at the
/// address its configuration names, unless one was asked already.
pub(super) async fn examine(dir: &Path, config: Option<&Config>, is_asked: bool) -> Vec<Check> {
    if !dir.exists() {
        let advice = "name the store with --store or --config, or a server that runs with --url; \
            a server makes its store when it starts";
        let found = format!("there is no store in {}", dir.display());
        return vec![Check::fail("files", vec![found], advice)];
    }
    let mut checks = vec![permissions(dir), room(dir), order_of_time(dir)];
    match holder(dir) {
        None => checks.push(records(dir)),
        Some(pid) => {
            let found = format!("in use by the server with process id {pid}");
            checks.push(Check::ok(
                "files",
                format!("{found}; they are read through when it is stopped"),
            ));
            if !is_asked {
                checks.push(server(config).await);
            }
        }
    }
    checks
}

/// The process id of the server that has the store open, if one has.
fn holder(dir: &Path) -> Option<String> {
    let lock = dir.join("lock");
    let file = File::open(&lock).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let text = std::fs::read_to_string(lock).unwrap_or_default();
            Some(text.lines().next().unwrap_or("unknown").to_owned())
        }
        _ => None,
    }
}

/// Reads every page and every record.
fn records(dir: &Path) -> Check {
    match LocalStore::check(dir) {
        Ok(()) => Check::ok("files", "every page and every record can be read"),
        Err(error @ StoreError::Corrupt { .. }) => {
            let advice = "keep a copy of the directory, and go back to a backup";
            Check::fail("files", vec![error.to_string()], advice)
        }
        Err(error) => {
            let advice = "correct --store, or what it says";
            Check::fail("files", vec![error.to_string()], advice)
        }
    }
}

fn permissions(dir: &Path) -> Check {
    let shown = dir.display();
    if let Err(error) = access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let advice = format!("run it as the user that owns it, or: chown -R USER {shown}");
        let found = format!("{shown} cannot be read and written: {error}");
        return Check::fail("permissions", vec![found], advice);
    }
    let mode = dir.metadata().map(|dir| dir.permissions().mode() & 0o777).unwrap_or(0);
    if mode & 0o077 == 0 {
        return Check::ok("permissions", format!("{shown} is its owner's alone"));
    }
    let found = format!("others may look into {shown} (mode {mode:03o})");
    Check::warn("permissions", found, format!("payloads may be private: chmod 700 {shown}"))
}

fn room(dir: &Path) -> Check {
    let Ok(disk) = statvfs(dir) else {
        return Check::ok("disk", "how full it is cannot be told here");
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let found = format!("{} MiB free", free / MIB);
    let advice = "make room: on a full disk pushes are refused with 503 until there is some";
    match free {
        0..ROOM_FAIL_BYTES => Check::fail("disk", vec![found], advice),
        ROOM_FAIL_BYTES..ROOM_WARN_BYTES => Check::warn("disk", found, advice),
        _ => Check::ok("disk", found),
    }
}

/// A store that was written later than now has seen another clock.
fn order_of_time(dir: &Path) -> Check {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let written = files.filter_map(|file| file.metadata().ok()?.modified().ok()).max();
    let ahead = written.and_then(|at| at.duration_since(SystemTime::now()).ok());
    match ahead.filter(|ahead| *ahead > CLOCK_OFF_MAX) {
        None => Check::ok("time", "the store was last written before now"),
        Some(ahead) => Check::fail(
            "time",
            vec![format!("the store was last written {} s from now", ahead.as_secs())],
            "the machine's clock has gone back: set it before a server starts",
        ),
    }
}

/// Asks the server that uses the files. Whoever may read its settings may trust its certificate.
async fn server(config: Option<&Config>) -> Check {
    let listen = config.map_or(LISTEN, |config| &config.listen);
    let certificate = config.and_then(|config| std::fs::read(&config.tls.as_ref()?.cert).ok());
    let scheme = if certificate.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{listen}");
    let client = Client::new(url.as_str(), None).and_then(|client| match &certificate {
        Some(pem) => client.trusting_one(pem),
        None => Ok(client),
    });
    let asked = match client {
        Ok(client) => client.ready().await,
        Err(error) => Err(error),
    };
    match asked {
        Ok(ready) => Check::ok("server", format!("{url} is ready; {}", ready.durability)),
        Err(error) if error.status().is_some() => {
            Check::fail("server", vec![error.to_string()], "look at what its log says")
        }
        Err(error) => Check::warn(
            "server",
            error.to_string(),
            "name its address with --url, or its --config, so that it can be asked; or look at what its log says",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn a_store_that_others_can_read_is_worth_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let set =
            |mode| std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
        set(0o755);
        assert_eq!(permissions(dir.path()).verdict, Verdict::Warn);
        set(0o700);
        assert_eq!(permissions(dir.path()).verdict, Verdict::Ok);
    }

    #[test]
    fn a_store_from_the_future_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("punctual.db")).unwrap();
        assert_eq!(order_of_time(dir.path()).verdict, Verdict::Ok);
        file.set_modified(SystemTime::now() + Duration::from_secs(3_600)).unwrap();
        assert_eq!(order_of_time(dir.path()).verdict, Verdict::Fail);
    }

    #[test]
    fn a_store_in_use_names_its_server() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(dir.path()), None);
        std::fs::write(dir.path().join("lock"), "4711\nstore made\n").unwrap();
        assert_eq!(holder(dir.path()), None);
        let lock = File::open(dir.path().join("lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(holder(dir.path()).as_deref(), Some("4711"));
    }
}
