//! Workers that are killed or stopped, and a server that is. FAULTS rows 10 to 14.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::process::Server;
use crate::{ask, given, join, make_queue, refused, say, until};

/// A worker that is a process of its own: it joins, confirms what it is given, says so, and commits
/// it when it hears a word.
struct Worker {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    fn start(server: &Server, name: &str) -> Self {
        let script = r#"
            W=$0/v1/workers/$1; T=$0/v1/queues/q/tasks
            curl -s -X PUT $W -d '{"queues":["q"]}' >/dev/null
            while task=$(curl -s $W/poll -d '{"wait":30}' | jq -ce '.assignments[0]'); do :; 
                id=$(echo "$task" | jq -r .id); token=$(echo "$task" | jq -r .token)
                curl -s $T/$id/confirm -d '{"token":"'$token'"}' >/dev/null
                echo "$task"
                read word
                curl -s $T/$id/commit -d '{"token":"'$token'","result":"'$1'"}' | jq -rc '.state // .code'
            done"#;
        let mut process = Command::new("sh")
            .args(["-c", script, &server.url, name])
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

    /// The task it has confirmed.
    fn task(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Lets it commit, and returns what it is answered.
    fn commit(&mut self) -> String {
        writeln!(self.stdin, "go").unwrap();
        self.line()
    }

    fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server with a queue, over a directory.
fn start(mode: &str, hold: &str) -> (tempfile::TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    make_queue(&server, mode, hold);
    (dir, server)
}

fn push(server: &Server, id: &str) {
    ask(server, "POST", "/v1/queues/q/tasks", &json!({"id": id}));
}

#[test]
fn what_a_killed_worker_had_is_done_by_another() {
    let (_dir, server) = start("dispatch", "2s");
    let mut first = Worker::start(&server, "first");
    push(&server, "t");
    assert_eq!(first.task()["worker"], "first");
    first.signal("KILL");
    let mut second = Worker::start(&server, "second");
    let again = second.task();
    assert_eq!((&again["id"], &again["attempt"]), (&json!("t"), &json!(2)));
    assert_eq!(second.commit(), "done");
    let task = until(&server, "t", "done");
    assert_eq!((&task["result"], &task["worker"]), (&json!("second"), &json!("second")));
    assert_eq!(task["history"][0]["outcome"], "lost");
    server.stop();
}

#[test]
fn a_worker_stopped_past_its_hold_comes_too_late() {
    let (_dir, server) = start("dispatch", "2s");
    let mut slow = Worker::start(&server, "slow");
    push(&server, "t");
    slow.task();
    slow.signal("STOP");
    let mut next = Worker::start(&server, "next");
    next.task();
    slow.signal("CONT");
    assert_eq!(slow.commit(), "stale_token");
    assert_eq!(next.commit(), "done");
    let task = until(&server, "t", "done");
    assert_eq!((&task["result"], &task["attempt"]), (&json!("next"), &json!(2)));
    server.stop();
}

#[test]
fn a_task_that_kills_every_worker_ends_failed_and_others_flow() {
    let (_dir, server) = start("dispatch", "1s");
    let task = json!({"id": "poison", "max_attempts": 2, "priority": 1});
    ask(&server, "POST", "/v1/queues/q/tasks", &task);
    for attempt in 1..=2 {
        let mut worker = Worker::start(&server, &format!("victim{attempt}"));
        assert_eq!(worker.task()["attempt"], attempt);
        worker.signal("KILL");
    }
    let mut worker = Worker::start(&server, "w");
    until(&server, "poison", "failed");
    push(&server, "fine");
    assert_eq!(worker.task()["id"], "fine");
    assert_eq!(worker.commit(), "done");
    server.stop();
}

/// What was assigned or confirmed when the server died is its worker's as before.
#[test]
fn a_killed_server_knows_its_workers_and_what_they_hold() {
    let (dir, server) = start("dispatch", "1m");
    join(&server, "w", 3);
    for id in ["a", "b", "c"] {
        push(&server, id);
    }
    let running = given(&server, "w");
    say(&server, &running, "confirm", &json!({}));
    server.kill();
    let server = Server::start(dir.path());
    let worker = ask(&server, "GET", "/v1/workers/w", &json!({}));
    assert_eq!((&worker["state"], &worker["load"]), (&json!("active"), &json!(3)));
    say(&server, &running, "extend", &json!({}));
    assert_eq!(say(&server, &running, "commit", &json!({"result": 1}))["state"], "done");
    for _ in 0..2 {
        let task = given(&server, "w");
        assert_eq!(task["attempt"], 1);
        say(&server, &task, "confirm", &json!({}));
        say(&server, &task, "commit", &json!({}));
    }
    push(&server, "d");
    assert_eq!(given(&server, "w")["id"], "d");
    server.stop();
}

#[test]
fn a_vote_outlives_a_killed_server() {
    let (dir, server) = start("vote", "1m");
    join(&server, "a", 1);
    join(&server, "b", 1);
    push(&server, "t");
    let (a, b) = (given(&server, "a"), given(&server, "b"));
    say(&server, &a, "confirm", &json!({}));
    say(&server, &a, "commit", &json!({"result": {"x": 1.50}}));
    server.kill();
    let server = Server::start(dir.path());
    let again = given(&server, "b");
    assert_eq!(again["token"], b["token"]);
    say(&server, &a, "commit", &json!({"result": "again"}));
    say(&server, &b, "confirm", &json!({}));
    let done = say(&server, &b, "commit", &json!({"result": 2}));
    assert_eq!(
        (&done["state"], &done["result"]),
        (&json!("done"), &json!({"a": {"x": 1.5}, "b": 2}))
    );
    let stranger = json!({"token": "0".repeat(32)});
    assert_eq!(refused(&server, "/v1/queues/q/tasks/t/commit", &stranger), "stale_token");
    server.stop();
}
