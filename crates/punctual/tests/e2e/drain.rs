//! SIGTERM under load: what is under way finishes, what was acknowledged stays. A second one ends
//! it at once.

use std::collections::HashSet;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual_client::{Client, Commit, NewTask, Span, State, Take};

use crate::process::{PATIENCE, Server};

/// Waits until a condition holds.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Pushes until the server does not answer any more; returns what was acknowledged.
async fn push_until_gone(client: Client, pusher: usize, pushed: Arc<AtomicUsize>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for n in 0.. {
        let id = format!("{pusher}-{n}");
        if client.push("load", &NewTask::new(&n).id(id.as_str())).await.is_err() {
            break;
        }
        acknowledged.push(id);
        pushed.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

/// What a worker knows of its commits.
#[derive(Default)]
struct Commits {
    /// The server said that they are done.
    acknowledged: HashSet<String>,
    /// No answer came: they may be done.
    unanswered: HashSet<String>,
}

/// Takes and commits until the server does not answer any more.
async fn work_until_gone(client: Client) -> Commits {
    let mut commits = Commits::default();
    let take = Take::new().n(10).wait(Span::from_secs(30));
    while let Ok(answer) = client.take("load", &take).await {
        for taken in answer.tasks {
            let committed = client.commit(taken.held(), &Commit::default()).await;
            let known = match committed {
                Ok(_) => &mut commits.acknowledged,
                Err(_) => &mut commits.unanswered,
            };
            known.insert(taken.task.id);
        }
    }
    commits
}

#[tokio::test]
async fn a_drain_under_load_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let pushed = Arc::new(AtomicUsize::new(0));
    let pushers: Vec<_> = (0..8)
        .map(|n| tokio::spawn(push_until_gone(server.client(), n, Arc::clone(&pushed))))
        .collect();
    let workers: Vec<_> = (0..2).map(|_| tokio::spawn(work_until_gone(server.client()))).collect();
    // Nothing is ever pushed there: only the drain can end this wait early.
    server.client().push("idle", &NewTask::new("x").delay(Span::from_secs(3_600))).await.unwrap();
    let idle = server.client();
    let idle = tokio::spawn(async move {
        let take = Take::new().wait(Span::from_secs(60));
        idle.take("idle", &take).await
    });
    until("the load does not start", || pushed.load(Ordering::Relaxed) >= 200).await;

    server.signal("TERM");
    let (status, rest) = tokio::task::spawn_blocking(|| server.wait()).await.unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(rest, "");
    assert_eq!(idle.await.unwrap().unwrap().tasks, [], "a waiting take is answered");

    let mut acknowledged = Vec::new();
    for pusher in pushers {
        acknowledged.extend(pusher.await.unwrap());
    }
    let mut commits = Commits::default();
    for worker in workers {
        let known = worker.await.unwrap();
        commits.acknowledged.extend(known.acknowledged);
        commits.unanswered.extend(known.unanswered);
    }
    let server = Server::start(dir.path());
    let client = server.client();
    for id in acknowledged {
        match client.task("load", &id).await {
            Ok(task) => {
                assert!(!commits.acknowledged.contains(&id), "{id} was committed and came back");
                assert!(
                    matches!(task.state, State::Ready | State::Running),
                    "{id}: {}",
                    task.state
                );
            }
            Err(error) => {
                assert_eq!(error.code(), Some("not_found"), "{error}");
                let done = commits.acknowledged.contains(&id) || commits.unanswered.contains(&id);
                assert!(done, "{id} was acknowledged, never committed, and is gone");
            }
        }
    }
    server.stop();
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    for signals in [["TERM", "TERM"], ["INT", "TERM"]] {
        let server = Server::start(tempfile::tempdir().unwrap().path());
        // A request that never ends keeps the drain waiting.
        let mut request = TcpStream::connect(server.address()).unwrap();
        let head =
            "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{";
        request.write_all(head.as_bytes()).unwrap();
        server.client().push("q", &NewTask::new("x")).await.unwrap();

        server.signal(signals[0]);
        let address = server.address().to_owned();
        until("it still listens", || TcpStream::connect(&address).is_err()).await;
        server.signal(signals[1]);
        let start = Instant::now();
        let (status, _) = tokio::task::spawn_blocking(|| server.wait()).await.unwrap();
        assert_eq!(status.code(), Some(1));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        drop(request);
    }
}
