//! Workers that stop, die or come late, and a server that stops under them: a task is never in two
//! hands, and never lost.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual_client::{
    Client, Commit, NewTask, Outcome, QueueChanges, RawJson, Span, State, Take, Taken,
};
use serde_json::json;

use crate::process::{PATIENCE, Server, punctual, within};
use crate::task::take_one;

/// A worker that is a process of its own: it takes a task, says so, waits for a word, commits.
struct Worker {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    fn take(server: &Server, queue: &str, hold: &str) -> Self {
        let script = r#"
            "$0" take "$1" --worker slow --hold "$2" --wait 30s --json
            read id token && "$0" commit "$1" "$id" "$token" '"slow"' 2>&1
            echo "ended with $?""#;
        let program = punctual();
        let mut command = within("sh", &["-c", script], &program);
        let mut process = command
            .args([queue, hold])
            .env("PUNCTUAL_URL", &server.url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self { process, stdin, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The task it says it has.
    fn taken(&mut self) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&self.line()).unwrap()["tasks"][0].clone()
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Lets it commit, and returns what it says and how that ended.
    fn commit(&mut self, id: &str, token: &str) -> (String, String) {
        writeln!(self.stdin, "{id} {token}").unwrap();
        (self.line(), self.line())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn server_with(queue: &str, settings: QueueChanges) -> (tempfile::TempDir, Server, Client) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    let keep = RawJson::of(&json!({"done": "1h", "failed": "1h", "cancelled": "1h"}));
    client.put_queue(queue, &settings.set("keep", keep)).await.unwrap();
    (dir, server, client)
}

fn result(of: &str) -> Commit {
    Commit { result: Some(RawJson::of(of)) }
}

#[tokio::test]
async fn a_worker_stopped_past_its_hold_comes_too_late() {
    let (_dir, server, client) = server_with("q", QueueChanges::new()).await;
    client.push("q", &NewTask::new("x").id("t")).await.unwrap();
    let mut slow = Worker::take(&server, "q", "500ms");
    let taken = slow.taken();
    assert_eq!(taken["state"], "running");
    slow.signal("STOP");
    let next = take_one(&client, "q", &Take::new().worker("next").wait(Span::from_secs(60))).await;
    assert_eq!((next.task.id.as_str(), next.task.attempt), ("t", 2));
    slow.signal("CONT");
    let (said, ended) = slow.commit("t", taken["token"].as_str().unwrap());
    assert!(said.ends_with("(stale_token)"), "{said}");
    assert_eq!(ended, "ended with 1");
    client.commit(next.held(), &result("next")).await.unwrap();
    let task = client.task("q", "t").await.unwrap();
    assert_eq!((task.state, task.result), (State::Done, Some(RawJson::of("next"))));
    assert_eq!(task.history[0].outcome, Outcome::Lost);
    server.stop();
}

/// The server sleeps past the end of a hold, with a waiting take at its door, and the late commit
/// there as well or on its way. The one or the other is heard, never both.
#[tokio::test]
async fn a_server_stopped_past_holds_never_has_two_holders() {
    let (_dir, server, client) = server_with("q", QueueChanges::new()).await;
    let mut wins = [0, 0];
    for round in 0..8 {
        let id = format!("t{round}");
        client.push("q", &NewTask::new("x").id(id.as_str())).await.unwrap();
        let take = Take::new().worker("first").hold(Span::from_millis(300));
        let first = take_one(&client, "q", &take).await;
        server.signal("STOP");
        let (committer, taker) = (server.client(), server.client());
        let on_its_way = Duration::from_millis(if round % 2 == 0 { 0 } else { 700 });
        let commit = async move {
            tokio::time::sleep(on_its_way).await;
            let committed = committer.commit(first.held(), &result("first")).await;
            (committed, first.token)
        };
        let take = async move {
            take_one(&taker, "q", &Take::new().worker("second").wait(Span::from_secs(60))).await
        };
        let (commit, take) = (tokio::spawn(commit), tokio::spawn(take));
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.signal("CONT");
        let winner = match commit.await.unwrap() {
            (Ok(_), _) => {
                take.abort();
                wins[0] += 1;
                "first"
            }
            (Err(error), token) => {
                assert_eq!(error.code(), Some("stale_token"));
                let second = take.await.unwrap();
                assert_ne!(token, second.token);
                client.commit(second.held(), &result("second")).await.unwrap();
                wins[1] += 1;
                "second"
            }
        };
        let task = client.task("q", &id).await.unwrap();
        assert_eq!((task.state, task.result), (State::Done, Some(RawJson::of(winner))));
        let nobody = client.take("q", &Take::new()).await.unwrap().tasks;
        assert_eq!(nobody, [], "what is done is not handed out");
    }
    println!("{} times the first holder was heard, {} times the second", wins[0], wins[1]);
    server.stop();
}

/// Every commit comes about when the hold ends, and somebody waits for the task.
#[tokio::test]
async fn a_commit_that_races_the_end_of_its_hold_wins_or_loses() {
    const TASKS: usize = 120;
    let settings = QueueChanges::new().max_attempts(-1);
    let (_dir, server, client) = server_with("q", settings).await;
    let tasks: Vec<_> = (0..TASKS).map(|n| NewTask::new(&n).id(format!("t{n}"))).collect();
    client.push_batch("q", &tasks, None).await.unwrap();
    let left = Arc::new(AtomicUsize::new(TASKS));
    let hands: Vec<_> =
        (0..6).map(|n| tokio::spawn(race(server.client(), Arc::clone(&left), n))).collect();
    let mut wins = Vec::new();
    let mut losses = 0;
    for hand in hands {
        let (won, lost) = hand.await.unwrap();
        wins.extend(won);
        losses += lost;
    }
    println!("{} commits came in time, {losses} too late", wins.len());
    assert_eq!(wins.len(), TASKS, "one winner per task");
    for (id, token) in wins {
        let task = client.task("q", &id).await.unwrap();
        assert_eq!((task.state, task.result), (State::Done, Some(RawJson::of(&token))));
    }
    assert_eq!(client.queue("q").await.unwrap().counts.total, 0);
    server.stop();
}

/// Takes tasks with short holds and commits them when these end, until none is left. Returns the
/// tasks and tokens it was heard with, and how often it was too late.
async fn race(client: Client, left: Arc<AtomicUsize>, hand: u64) -> (Vec<(String, String)>, u32) {
    const HOLD_MS: u64 = 60;
    let (mut won, mut lost) = (Vec::new(), 0);
    let mut late_ms = hand;
    let deadline = Instant::now() + PATIENCE;
    while left.load(Ordering::SeqCst) > 0 {
        assert!(Instant::now() < deadline, "tasks that nobody gets");
        let hold = Span::from_millis(HOLD_MS as i64);
        let take = Take::new().hold(hold).wait(Span::from_millis(300));
        let Some(taken) = client.take("q", &take).await.unwrap().tasks.pop() else { continue };
        // From a little before the end to a little after it, in turn.
        late_ms = (late_ms + 7) % 16;
        tokio::time::sleep(Duration::from_millis(HOLD_MS - 12 + late_ms)).await;
        match client.commit(taken.held(), &result(&taken.token)).await {
            Ok(_) => {
                left.fetch_sub(1, Ordering::SeqCst);
                won.push((taken.task.id, taken.token));
            }
            Err(error) => {
                assert_eq!(error.code(), Some("stale_token"), "{error}");
                lost += 1;
            }
        }
    }
    (won, lost)
}

#[tokio::test]
async fn a_task_that_kills_its_workers_fails_and_the_others_flow() {
    let settings = QueueChanges::new().max_attempts(3);
    let (_dir, server, client) = server_with("q", settings).await;
    client.push("q", &NewTask::new("poison").id("poison").priority(1)).await.unwrap();
    let tasks: Vec<_> = (0..10).map(|n| NewTask::new(&n).id(format!("t{n}"))).collect();
    client.push_batch("q", &tasks, None).await.unwrap();
    let mut deaths = 0;
    let mut done = 0;
    // The poison goes first whenever it is there; each time its worker dies with it.
    while deaths < 3 || done < 10 {
        let mut worker = Worker::take(&server, "q", "400ms");
        let taken = worker.taken();
        let (id, token) = (taken["id"].as_str().unwrap(), taken["token"].as_str().unwrap());
        if id == "poison" {
            worker.signal("KILL");
            deaths += 1;
            assert_eq!(taken["attempt"], deaths);
            assert!(deaths <= 3, "not more often than its limit");
        } else {
            let held = punctual_client::Held { queue: "q", id, token };
            client.commit(held, &Commit::default()).await.unwrap();
            done += 1;
        }
    }
    let waiting: Vec<Taken> =
        client.take("q", &Take::new().wait(Span::from_secs(2))).await.unwrap().tasks;
    assert_eq!(waiting, [], "nobody gets it any more");
    let poison = client.task("q", "poison").await.unwrap();
    assert_eq!((poison.state, poison.attempt), (State::Failed, 3));
    assert_eq!(poison.history.len(), 3);
    assert!(poison.history.iter().all(|attempt| attempt.outcome == Outcome::Lost));
    let counts = client.queue("q").await.unwrap().counts;
    assert_eq!((counts.failed, counts.done, counts.total), (1, 10, 0));
    server.stop();
}
