//! The tour of the README, by the command line: what people see and what programs read.

use serde_json::json;

use crate::process::{Server, complaint, punctual};

fn server() -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    Server::of(command)
}

#[test]
fn a_task_is_pushed_taken_and_committed() {
    let server = server();
    let payload = r#"{"to":"ada@example.org","n":12345678901234567890.10}"#;
    let said = server.say(&["push", "mail", payload, "--id", "welcome"]);
    assert_eq!(said, "pushed mail/welcome: ready\n");

    let taken = server.say(&["take", "mail", "--worker", "w1", "--json"]);
    assert!(taken.contains(payload), "the payload is kept to the letter: {taken}");
    let taken: serde_json::Value = serde_json::from_str(&taken).unwrap();
    let task = &taken["tasks"][0];
    assert_eq!(task["state"], "running");
    assert_eq!(task["worker"], "w1");
    let token = task["token"].as_str().unwrap();

    let commit = ["commit", "mail", "welcome", token, r#"{"sent":true}"#];
    assert_eq!(server.json(&commit)["result"], json!({"sent": true}));
    assert_eq!(server.say(&commit), "committed mail/welcome\n", "a repeat is harmless");

    assert_eq!(server.say(&["take", "mail"]), "nothing to take in mail\n");
    let line = complaint(&server.run(&["task", "get", "mail", "welcome"]), 1);
    assert!(line.ends_with("(not_found)"), "{line}");
}

#[test]
fn later_and_urgent_tasks_keep_their_order() {
    let server = server();
    let said = server.say(&["push", "mail", "1", "--delay", "1h30m", "--id", "later"]);
    assert_eq!(said, "pushed mail/later: waiting\n");
    server.say(&["push", "mail", "2", "--id", "plain", "--tag", "a", "--tag", "b"]);
    server.say(&["push", "mail", "-3", "--id", "urgent", "--priority", "10"]);

    let why = server.json(&["task", "why", "mail", "later"]);
    assert_eq!(why["reason"], "not_due");
    let listed = server.json(&["task", "list", "mail", "--state", "ready,waiting"]);
    let ids: Vec<_> = listed["items"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, ["urgent", "plain", "later"]);
    let table = server.say(&["task", "list", "mail", "--tag", "b"]);
    assert!(table.contains("plain") && !table.contains("urgent"), "{table}");

    let taken = server.say(&["take", "mail", "-n", "5"]);
    assert!(taken.find("urgent") < taken.find("plain"), "{taken}");
    assert!(!taken.contains("later"), "{taken}");
    assert!(server.say(&["task", "cancel", "mail", "later"]).contains("cancelled"));
}

#[test]
fn what_fails_waits_and_is_retried_by_hand() {
    let server = server();
    server.say(&["queue", "set", "mail", "max_attempts=2", "retry={\"first\":\"1h\"}"]);
    server.say(&["push", "mail", "1", "--id", "flaky"]);
    let fail = |more: &[&str]| {
        let taken = server.json(&["take", "mail"]);
        let token = taken["tasks"][0]["token"].as_str().unwrap();
        let mut args = vec!["task", "fail", "mail", "flaky", token, "--error", "mailbox full"];
        args.extend(more);
        server.say(&args)
    };
    assert!(fail(&[]).starts_with("fail flaky: waiting until "));
    let why = server.say(&["task", "why", "mail", "flaky"]);
    assert!(why.starts_with("attempt 1 failed (mailbox full)"), "{why}");
    assert!(why.ends_with("(retry_wait)\n"), "{why}");
    assert_eq!(server.say(&["task", "retry", "mail", "flaky"]), "retry flaky: ready\n");
    assert_eq!(fail(&[]), "fail flaky: failed\n");
    let record = server.say(&["task", "get", "mail", "flaky"]);
    assert!(record.contains("mailbox full") && record.contains("2/2"), "{record}");
    assert_eq!(server.say(&["task", "reset", "mail", "flaky"]), "reset flaky: ready\n");
    assert_eq!(fail(&["--permanent"]), "fail flaky: failed\n");
    assert_eq!(server.say(&["task", "clean", "mail", "flaky"]), "removed mail/flaky\n");
}

#[test]
fn a_holder_confirms_extends_and_hears_of_a_cancel() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "long"]);
    let taken = server.json(&["take", "mail", "--confirm", "--hold", "5m"]);
    assert_eq!(taken["tasks"][0]["state"], "assigned");
    let token = taken["tasks"][0]["token"].as_str().unwrap();
    let said = server.say(&["task", "confirm", "mail", "long", token]);
    assert_eq!(said, "confirm long: running\n");
    assert_eq!(server.say(&["task", "pause", "mail", "long"]), "pause long: pausing\n");
    let said = server.say(&["task", "extend", "mail", "long", token, "--progress", "0.5"]);
    assert!(said.ends_with("; you are asked to pause\n"), "{said}");
    assert_eq!(server.say(&["task", "release", "mail", "long", token]), "release long: paused\n");
    assert_eq!(server.say(&["task", "resume", "mail", "long"]), "resume long: ready\n");
    let line = complaint(&server.run(&["commit", "mail", "long", token]), 1);
    assert!(line.ends_with("(stale_token)"), "{line}");
}

#[test]
fn a_push_under_a_key_happens_once() {
    let server = server();
    let push = ["push", "mail", "17", "--idempotency-key", "order-17"];
    let first = server.say(&push);
    assert!(first.starts_with("pushed mail/"), "{first}");
    let again = server.say(&push);
    assert_eq!(again, format!("already {first}"));
    assert_eq!(server.json(&["queue", "get", "mail"])["counts"]["ready"], 1);

    let id = first.trim_start_matches("pushed mail/").trim_end_matches(": ready\n");
    server.say(&["task", "clean", "mail", id]);
    assert_eq!(server.say(&push), format!("already pushed mail/{id}: gone since\n"));
}

#[test]
fn queues_are_set_paused_emptied_and_deleted() {
    let server = server();
    let set = ["queue", "set", "mail", "hold=60s", "tag=letters", "max=2"];
    let queue = server.json(&set);
    assert_eq!((&queue["hold"], &queue["max"]), (&json!(60), &json!(2)));
    assert_eq!(server.json(&["queue", "set", "mail", "max="])["max"], json!(null));
    server.say(&["push", "mail"]);
    assert_eq!(server.say(&["queue", "pause", "mail"]), "paused mail\n");
    assert_eq!(server.say(&["take", "mail"]), "nothing to take in mail\n");
    let table = server.say(&["queue", "list", "--tag", "letters"]);
    assert!(table.contains("mail") && table.contains("paused"), "{table}");
    assert!(server.say(&["queue", "get", "mail"]).contains("letters"));
    assert_eq!(server.say(&["queue", "resume", "mail"]), "resumed mail\n");
    assert_eq!(server.say(&["queue", "reset", "mail"]), "reset mail: it is empty\n");
    assert_eq!(server.json(&["queue", "get", "mail"])["counts"]["total"], 0);
    assert_eq!(server.say(&["queue", "delete", "mail"]), "deleted mail\n");
    let line = complaint(&server.run(&["queue", "get", "mail"]), 1);
    assert!(line.ends_with("(not_found)"), "{line}");
}

#[test]
fn what_goes_wrong_is_said_in_one_line_with_its_exit_code() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "a"]);
    let line = complaint(&server.run(&["push", "mail", "1", "--id", "a"]), 1);
    assert!(line.starts_with("error: ") && line.ends_with("(duplicate)"), "{line}");
    let line = complaint(&server.run(&["push", "mail", "hello"]), 2);
    assert!(line.contains("payload: not JSON"), "{line}");
    let line = complaint(&server.run(&["queue", "set", "mail", "hold=0"]), 1);
    assert!(line.contains("hold") && line.ends_with("(invalid)"), "{line}");
    for usage in
        [&["push", "mail", "1", "--delay", "x"][..], &["task", "get", "mail"], &["nonsense"]]
    {
        assert_eq!(server.run(usage).status.code(), Some(2), "{usage:?}");
    }
    let url = server.url.clone();
    server.stop();
    let output = punctual().args(["queue", "list", "--url", &url]).output().unwrap();
    let line = complaint(&output, 1);
    assert!(line.starts_with(&format!("error: cannot reach {url}: ")), "{line}");
    assert!(line.contains("`punctual serve`") && line.contains("PUNCTUAL_URL"), "{line}");
    let output = punctual().args(["queue", "list", "--url", "127.0.0.1:1"]).output().unwrap();
    assert!(complaint(&output, 1).ends_with("; correct --url or PUNCTUAL_URL"));
}
