//! A disk that does not sync, or takes its time: system calls are made to fail with `strace`.
//!
//! When a sync has failed, nobody knows what is on the disk. A second one may succeed although the
//! kernel has thrown away what the first could not write. So the server must not try again: it says
//! that the effect is unknown, and ends. What was acknowledged before is there when it starts again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use punctual_client::{Commit, Effect, Error, Extend, NewTask, QueueChanges, Span, Take};

use crate::process::{Server, serve, within};
use crate::task::{all, push_until_refused};

const SYNCS: &str = "fsync,fdatasync";

/// A server whose syncs are traced into a file and tampered with, on all of its files or on one.
fn traced(dir: &Path, tamper: &str, file: Option<&str>) -> Command {
    let version = Command::new("strace").arg("--version").output();
    assert!(version.is_ok(), "strace is missing; install it, for instance with apt-get");
    let store = dir.join("store");
    let trace = dir.join("trace");
    let (calls, inject) = (format!("trace={SYNCS}"), format!("inject={SYNCS}:{tamper}"));
    let path = file.map(|file| store.join(file).to_str().unwrap().to_owned());
    // With -D the server stays our own child, and strace is somebody else's.
    let mut args = vec!["-D", "-f", "-qq", "-o", trace.to_str().unwrap(), "-e", &calls];
    args.extend(["-e", &inject]);
    args.extend(path.iter().flat_map(|path| ["-P", path.as_str()]));
    within("strace", &args, &serve(&store))
}

/// The syncs that were traced, in their order.
fn syncs(dir: &Path) -> Vec<String> {
    let trace = fs::read_to_string(dir.join("trace")).unwrap();
    trace.lines().filter(|line| line.contains("sync(")).map(str::to_owned).collect()
}

/// Waits for the end of a server that must complain about its disk.
fn ends_with_complaint(server: Server, dir: &Path) {
    let (status, _) = server.wait();
    assert_eq!(status.code(), Some(1));
    let log = fs::read_to_string(dir.join("log")).unwrap();
    assert!(log.contains("error: the store has stopped: a sync failed: disk I/O error"), "{log}");
}

fn with_log(dir: &Path, mut command: Command) -> Command {
    command.stderr(fs::File::create(dir.join("log")).unwrap());
    command
}

#[tokio::test]
async fn a_failed_sync_stops_the_server_and_is_not_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::of(with_log(dir.path(), traced(dir.path(), "error=EIO:when=80", None)));
    let pushers: Vec<_> = (0..8)
        .map(|n| tokio::spawn(push_until_refused(server.client(), "q", format!("p{n}"), 100)))
        .collect();
    let mut acknowledged = Vec::new();
    let mut in_doubt = 0;
    for pusher in pushers {
        let (ids, error) = pusher.await.unwrap();
        acknowledged.extend(ids);
        match error {
            Error::Refused(problem) => {
                assert_eq!((problem.status, problem.code.as_str()), (503, "unavailable"));
                assert_eq!(problem.retry_after_secs, Some(1));
                in_doubt += usize::from(problem.effect == Some(Effect::Unknown));
            }
            Error::Unreachable { .. } | Error::NoAnswer { .. } => {}
            error => panic!("{error}"),
        }
    }
    assert!(in_doubt > 0, "whoever waited for that sync was told that nobody knows");
    tokio::task::spawn_blocking({
        let dir = dir.path().to_owned();
        move || ends_with_complaint(server, &dir)
    })
    .await
    .unwrap();
    let syncs = syncs(dir.path());
    let failed = syncs.iter().position(|line| line.contains("INJECTED")).unwrap();
    assert_eq!(syncs[failed + 1..], [] as [String; 0], "no sync after the one that failed");

    let server = Server::start(&dir.path().join("store"));
    let found = all(&server.client(), "q").await;
    assert!(acknowledged.len() > 10, "the load ran: {}", acknowledged.len());
    for id in &acknowledged {
        assert!(found.contains_key(id), "{id} was acknowledged");
    }
    assert!(found.len() <= acknowledged.len() + in_doubt, "more than was asked for");
    server.stop();
}

#[tokio::test]
async fn a_failed_sync_of_a_checkpoint_stops_the_server() {
    let dir = tempfile::tempdir().unwrap();
    // The file itself is only synced when the log is moved into it.
    Server::start(&dir.path().join("store")).stop();
    let command = traced(dir.path(), "error=EIO:when=1", Some("punctual.db"));
    let server = Server::of(with_log(dir.path(), command));
    let (acknowledged, error) =
        push_until_refused(server.client(), "q", "big".to_owned(), 1_000_000).await;
    assert_eq!((error.status(), error.effect()), (Some(503), Effect::Unknown), "{error}");
    let dir = tokio::task::spawn_blocking(move || {
        ends_with_complaint(server, dir.path());
        dir
    })
    .await
    .unwrap();
    assert_eq!(syncs(dir.path()).len(), 1);

    let server = Server::start(&dir.path().join("store"));
    let found = all(&server.client(), "q").await;
    assert!(acknowledged.iter().all(|id| found.contains_key(id)));
    server.stop();
}

/// After a failed sync parts of the log may be in the kernel's cache only. What is answered after the next start
/// must not stand behind them.
#[tokio::test]
async fn the_log_of_an_unclean_stop_is_moved_into_the_file_before_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let log_bytes = || fs::metadata(store.join("punctual.db-wal")).unwrap().len();
    let server = Server::start(&store);
    let client = server.client();
    for n in 0..20 {
        client.push("q", &NewTask::new(&n).id(format!("t{n}"))).await.unwrap();
    }
    server.kill();
    assert!(log_bytes() > 0, "the log holds what was pushed");

    let command = traced(dir.path(), "error=EIO:when=1", Some("punctual.db"));
    assert!(Server::try_of(with_log(dir.path(), command)).is_err());
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.contains("the log of an unclean stop cannot be moved into the file"), "{log}");
    assert!(log_bytes() > 0, "nothing was cut off");

    let server = Server::of(traced(dir.path(), "delay_enter=1", Some("punctual.db")));
    assert!(!syncs(dir.path()).is_empty(), "the file was synced");
    assert_eq!(log_bytes(), 0);
    assert_eq!(all(&server.client(), "q").await.len(), 20);
    server.kill();
}

#[tokio::test]
async fn slow_syncs_lose_no_hold() {
    const PUSHERS: usize = 16;
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let server = Server::start(&store);
    let client = server.client();
    client.put_queue("q", &QueueChanges::new().hold(Span::from_secs(5))).await.unwrap();
    let tasks: Vec<_> = (0..10).map(|n| NewTask::new(&n).id(format!("held-{n}"))).collect();
    client.push_batch("q", &tasks, None).await.unwrap();
    client.put_queue("other", &QueueChanges::new()).await.unwrap();
    server.stop();

    let server = Server::of(traced(dir.path(), "delay_enter=500000", None));
    let client = server.client();
    let started = syncs(dir.path()).len();
    let taken = client.take("q", &Take::new().n(10)).await.unwrap().tasks;
    assert_eq!(taken.len(), 10);
    let end = Instant::now() + Duration::from_secs(7);
    let pushers: Vec<_> = (0..PUSHERS)
        .map(|pusher| {
            let client = server.client();
            tokio::spawn(async move {
                let mut pushed = 0;
                while Instant::now() < end {
                    let id = format!("{pusher}-{pushed}");
                    client.push("other", &NewTask::new("x").id(id)).await.unwrap();
                    pushed += 1;
                }
                pushed
            })
        })
        .collect();
    // The holds are prolonged past their first end, each time after a wait for the disk.
    while Instant::now() < end {
        let items: Vec<_> =
            taken.iter().map(|taken| taken.held().with(Extend::default())).collect();
        let extended = client.extend_batch("q", &items).await.unwrap();
        assert!(extended.iter().all(|item| item.ok), "{extended:?}");
    }
    let mut pushed = 0;
    for pusher in pushers {
        pushed += pusher.await.unwrap();
    }
    let items: Vec<_> = taken.iter().map(|taken| taken.held().with(Commit::default())).collect();
    let committed = client.commit_batch("q", &items).await.unwrap();
    assert!(committed.iter().all(|item| item.ok), "the first holds went on: {committed:?}");
    let synced = syncs(dir.path()).len() - started;
    println!("{pushed} pushes in {synced} syncs of half a second");
    assert!(synced < pushed, "requests that wait share a sync");
    server.stop();
}
