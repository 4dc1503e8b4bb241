//! Many tasks at a time from the command line: pushed from a file, changed by a condition.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::process::{Server, punctual};

fn server() -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    Server::of(command)
}

fn ready(server: &Server, queue: &str) -> serde_json::Value {
    server.json(&["queue", "get", queue])["counts"]["ready"].clone()
}

#[test]
fn a_file_of_payloads_is_pushed_once_however_often_it_is_tried() {
    let server = server();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("payloads.jsonl");
    let lines: String = (0..2_500).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let file = file.to_str().unwrap();

    let push = ["push", "mail", "--file", file, "--tag", "import", "--idempotency-key", "i-1"];
    assert_eq!(server.say(&push), "pushed 2500 tasks into mail\n");
    assert_eq!(server.json(&push), json!({"pushed": 2_500, "refused": 0, "errors": []}));
    assert_eq!(ready(&server, "mail"), 2_500, "under its key it has no second effect");
    server.say(&["push", "mail", "--file", file, "--parallel", "1"]);
    assert_eq!(ready(&server, "mail"), 5_000, "another run is another run");
    let tagged = server.json(&["task", "bulk", "cancel", "mail", "--tag", "import"]);
    assert_eq!(tagged, json!({"matched": 2_500, "changed": 2_500}));
    assert_eq!(ready(&server, "mail"), 2_500);
}

#[test]
fn lines_that_are_refused_are_named_and_the_others_pushed() {
    let server = server();
    let mut command = punctual();
    command.args(["push", "mail", "--file", "-", "--tasks", "--url", &server.url]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let tasks =
        "{\"id\":\"a\",\"priority\":7}\n\n{\"id\":\"b\",\"nonsense\":1}\nno json\n{\"id\":\"a\"}\n";
    child.stdin.take().unwrap().write_all(tasks.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "pushed 1 tasks into mail\n");
    let told = String::from_utf8(output.stderr).unwrap();
    let line =
        |n: usize| told.lines().find(|line| line.starts_with(&format!("line {n}: "))).unwrap();
    assert!(line(3).contains("nonsense") && line(3).ends_with("(invalid)"), "{told}");
    assert!(line(4).ends_with("(bad_json)"), "{told}");
    assert!(line(5).ends_with("(duplicate)"), "{told}");
    assert!(told.ends_with("error: 3 lines were refused\n"), "{told}");
    assert_eq!(server.json(&["task", "get", "mail", "a"])["priority"], 7);
}

#[test]
fn a_condition_is_needed_to_change_many_tasks() {
    let server = server();
    for id in ["a", "b"] {
        server.say(&["push", "mail", "1", "--id", id]);
    }
    assert_eq!(server.run(&["task", "bulk", "clean", "mail"]).status.code(), Some(2));
    let counted = server.say(&["task", "bulk", "clean", "mail", "--all", "--dry-run"]);
    assert_eq!(counted, "2 tasks of mail match; none was changed\n");
    let cleaned = server.say(&["task", "bulk", "clean", "mail", "--all"]);
    assert_eq!(cleaned, "2 of 2 matching tasks of mail were changed\n");
}

#[test]
fn an_untaken_task_is_edited_and_a_holder_stops_as_asked() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "a"]);
    let edited = server.json(&["task", "edit", "mail", "a", "priority=5", "tags=[\"x\"]"]);
    assert_eq!((&edited["priority"], &edited["tags"]), (&json!(5), &json!(["x"])));
    for (ask, stop, state) in [("pause", "paused", "paused"), ("cancel", "cancelled", "cancelled")]
    {
        let taken = server.json(&["take", "mail"]);
        let token = taken["tasks"][0]["token"].as_str().unwrap();
        server.say(&["task", ask, "mail", "a"]);
        let said = server.say(&["task", stop, "mail", "a", token, "--checkpoint", "17"]);
        assert_eq!(said, format!("{stop} a: {state}\n"));
        if ask == "pause" {
            let resumed = server.json(&["task", "resume", "mail", "a"]);
            assert_eq!(resumed["checkpoint"], 17);
        }
    }
}

#[test]
fn a_worker_of_bundles_needs_nothing_but_the_command_line() {
    let server = server();
    for n in ["1", "2"] {
        server.say(&["bundle", "push", "digests", "ada", n, "--data", "vip"]);
    }
    assert_eq!(server.say(&["bundle", "schedule", "digests"]), "ada\n");
    let got = server.json(&["bundle", "take", "digests", "ada", "lock-1", "--number", "1"]);
    assert_eq!((&got["tasks"], &got["data"]), (&json!([1]), &json!(["vip"])));
    let data = ["bundle", "data", "digests", "ada", "--add", "x", "--remove", "vip"];
    assert_eq!(server.say(&data), "data of ada: x\n");
    let said = server.say(&["bundle", "complete", "digests", "ada", "lock-1"]);
    assert_eq!(said, "completed ada: 1 left\n");
    server.say(&["bundle", "take", "digests", "ada", "lock-2"]);
    let said = server.say(&["bundle", "release", "digests", "ada", "lock-2"]);
    assert!(said.starts_with("released ada: 1 in it, due "), "{said}");
}

#[test]
fn health_is_an_exit_code() {
    let server = server();
    assert!(server.say(&["health"]).starts_with("ready; store "));
    assert_eq!(server.json(&["health", "--live"]), json!({"live": true}));
    assert_eq!(server.json(&["queue", "scale", "notices"])["backlog"], 0);
    let url = server.url.clone();
    server.stop();
    let output = punctual().args(["health", "--url", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}
