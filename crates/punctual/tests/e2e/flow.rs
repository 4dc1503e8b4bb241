//! `punctual flow`, `worker` and `events`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::process::{Server, complaint, punctual};

const FLOW: &str = r#"{"id":"daily","steps":[{"name":"fetch","queue":"work"},
    {"name":"mail","queue":"work","after":["fetch"]}]}"#;

fn server() -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    Server::of(command)
}

#[test]
fn a_flow_is_made_shown_paused_and_cancelled() {
    let server = server();
    assert_eq!(server.say(&["flow", "add", FLOW]), "daily\n");
    let shown = server.say(&["flow", "get", "daily"]);
    assert!(shown.contains("fetch  ready    work\nmail   pending  work   fetch"), "{shown}");
    assert_eq!(server.json(&["flow", "pause", "daily"])["state"], "paused");
    assert_eq!(server.json(&["flow", "resume", "daily"])["state"], "running");
    assert_eq!(server.json(&["flow", "cancel", "daily"])["state"], "cancelled");
    let listed = server.json(&["flow", "list", "--state", "cancelled,failed"]);
    assert_eq!(listed["items"][0]["id"], "daily");
    assert_eq!(server.json(&["flow", "retry", "daily"])["state"], "running");
    assert_eq!(server.say(&["flow", "list", "--state", "done"]), "no flows\n");
    let reason = complaint(&server.run(&["flow", "add", FLOW]), 1);
    assert!(reason.ends_with("(duplicate)"), "{reason}");
    let reason = complaint(&server.run(&["flow", "get", "none"]), 1);
    assert!(reason.ends_with("(not_found)"), "{reason}");
}

#[tokio::test]
async fn workers_are_listed_drained_and_removed() {
    let server = server();
    let client = server.client();
    let join = punctual_client::Join::new(["render"]).capabilities(["gpu"]).capacity(4);
    client.join("gpu-1", &join).await.unwrap();
    let listed = server.say(&["worker", "list", "--queue", "render"]);
    assert!(listed.contains("gpu-1  active   0/4"), "{listed}");
    assert_eq!(server.say(&["worker", "list", "--queue", "other"]), "no workers\n");
    assert_eq!(server.json(&["worker", "get", "gpu-1"])["load"], 0);
    assert_eq!(server.json(&["worker", "drain", "gpu-1"])["state"], "draining");
    assert_eq!(server.say(&["worker", "remove", "gpu-1"]), "removed gpu-1\n");
    let reason = complaint(&server.run(&["worker", "get", "gpu-1"]), 1);
    assert!(reason.ends_with("(not_found)"), "{reason}");
}

#[test]
fn events_are_printed_as_they_come() {
    let server = server();
    let mut command = punctual();
    command.args(["events", "--type", "task.*", "--queue", "mail", "--count", "2", "--json"]);
    command.env("PUNCTUAL_URL", &server.url).stdout(Stdio::piped());
    let mut listening = command.spawn().unwrap();
    let mut lines = BufReader::new(listening.stdout.take().unwrap()).lines();
    // It hears what comes after it has begun, so something comes until it does.
    let (heard, hears) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        let first = lines.next().unwrap().unwrap();
        heard.send(()).unwrap();
        (first, lines.next().unwrap().unwrap())
    });
    let pause = std::time::Duration::from_millis(100);
    while hears.recv_timeout(pause).is_err() {
        server.say(&["push", "mail", "1"]);
        server.say(&["push", "other", "1"]);
    }
    server.say(&["push", "mail", "1"]);
    let (first, second) = reading.join().unwrap();
    for line in [first, second] {
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&event["type"], &event["data"]["queue"]),
            (&json!("task.pushed"), &json!("mail"))
        );
    }
    assert!(listening.wait().unwrap().success());
}
