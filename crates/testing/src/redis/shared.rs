//! Servers that many tests share, because starting a Cluster takes longer than most tests.
//!
//! `cargo nextest` runs each test in a process of its own, so the servers must outlive the process that
//! starts them. The first test that needs a kind of server starts it under a file lock and notes its URL;
//! later tests of the same run read the URL. The servers end with the run: with the process of nextest, or
//! with the test binary itself under `cargo test`. Each test uses a key prefix of its own, and removes its
//! keys at the end: some tests look through all keys of a server.

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Cluster, Group, Life, Server};
use crate::PATIENCE;

thread_local! {
    /// The servers and the prefixes that the test of this thread has used.
    static USED: RefCell<(Vec<String>, Vec<String>)> = RefCell::default();
}

/// A kind of server that tests share.
#[derive(Debug, Clone, Copy)]
pub enum Shared {
    /// One Redis.
    Single,
    /// A primary with a replica and Sentinels.
    Sentinel,
    /// A Cluster of three primaries.
    Cluster,
}

impl Shared {
    /// The URL of the shared server, which is started if this run has none yet.
    pub fn url(self) -> String {
        let (run, process) = run();
        let dir = std::env::temp_dir().join(format!("punctual-{run}-{self:?}"));
        fs::create_dir_all(&dir).unwrap();
        let lock = File::create(dir.join("lock")).unwrap();
        lock.lock().unwrap();
        let note = dir.join("url");
        let text = fs::read_to_string(&note).unwrap_or_else(|_| {
            let text = self.start(&Life::OfProcess { process, dir });
            fs::write(note, &text).unwrap();
            text
        });
        let (url, servers) = text.split_once('\n').expect("a note has several lines");
        USED.with_borrow_mut(|(used, _)| used.extend(servers.lines().map(ToOwned::to_owned)));
        url.to_owned()
    }

    /// Starts it. The first line is its URL, the others are those of the servers that keep data.
    fn start(self, life: &Life) -> String {
        match self {
            Self::Single => {
                let url = Server::living(life, &super::LOGGED).url();
                format!("{url}\n{url}")
            }
            // Nothing fails in these two, and a busy machine must not look like a failure.
            Self::Sentinel => {
                let group = Group::living(life, PATIENCE);
                format!("{}\n{}", group.url(), group.primary.url())
            }
            Self::Cluster => {
                let cluster = Cluster::living(life, PATIENCE);
                let servers: Vec<_> = cluster.servers.iter().map(Server::url).collect();
                format!("{}\n{}", cluster.url(), servers.join("\n"))
            }
        }
    }
}

/// A name for this run of tests, and the process that lives exactly as long.
fn run() -> (String, u32) {
    match std::env::var("NEXTEST_RUN_ID") {
        Ok(id) => (id, parent_id()),
        Err(_) => (std::process::id().to_string(), std::process::id()),
    }
}

/// A key prefix that no other test has.
pub fn new_prefix() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let prefix = format!("test{}-{number}", std::process::id());
    USED.with_borrow_mut(|(_, prefixes)| prefixes.push(prefix.clone()));
    prefix
}

/// Removes all that the test of this thread has left in shared servers.
pub fn remove_keys() {
    let (servers, prefixes) = USED.take();
    for url in servers {
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        for prefix in &prefixes {
            let all = format!("{prefix}:*");
            let keys: Vec<String> = redis::cmd("KEYS").arg(all).query(&mut connection).unwrap();
            if keys.is_empty() {
                continue;
            }
            // One command for each: in a Cluster they lie in many slots.
            let mut remove = redis::pipe();
            for key in keys {
                remove.cmd("UNLINK").arg(key).ignore();
            }
            remove.query::<()>(&mut connection).unwrap();
        }
    }
}

/// A directory for a server with such a life.
pub(super) fn directory(life: &Life) -> PathBuf {
    let temporary = match life {
        Life::OfValue => tempfile::tempdir(),
        Life::OfProcess { dir, .. } => tempfile::tempdir_in(dir),
    };
    temporary.unwrap().keep()
}
