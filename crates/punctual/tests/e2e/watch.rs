//! Looking at a server and driving it: `top` and `bench`.

use crate::process::{Server, complaint, punctual};

fn server() -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    Server::of(command)
}

#[test]
fn one_frame_shows_queues_failures_and_plans() {
    let server = server();
    server.say(&["push", "mail", "1", "--id", "a"]);
    server.say(&["push", "mail", "1", "--delay", "1h"]);
    let taken = server.json(&["take", "mail"]);
    let token = taken["tasks"][0]["token"].as_str().unwrap();
    server.say(&["task", "fail", "mail", "a", token, "--permanent", "--error", "mailbox full"]);
    server.say(&["plan", "add", "reports", "--every", "1h", "--id", "hourly"]);

    let frame = server.say(&["top", "--once"]);
    assert!(frame.lines().any(|line| line.contains("mail/a  mailbox full")), "{frame}");
    assert!(frame.lines().any(|line| line.contains("hourly  reports")), "{frame}");
    assert!(!frame.contains('\x1b'), "plain text: {frame}");
    assert_eq!(server.say(&["top", "--filter", "mail"]).matches("notices").count(), 0);

    let frame = server.json(&["top", "--filter", "mail"]);
    assert_eq!(frame["queues"].as_array().unwrap().len(), 1);
    assert_eq!(frame["queues"][0]["counts"]["waiting"], 1);
    assert_eq!(frame["failures"][0]["error"], "mailbox full");
    let output =
        punctual().args(["top", "--once", "--url", "http://127.0.0.1:1"]).output().unwrap();
    assert!(complaint(&output, 1).contains("cannot reach"));
}

#[test]
fn a_bench_measures_and_leaves_nothing_behind() {
    let server = server();
    let bench =
        ["bench", "--tasks", "250", "--connections", "3", "--batch", "20", "--payload", "50"];
    let report = server.json(&bench);
    assert_eq!((&report["tasks"], &report["push"]["requests"]), (&250.into(), &13.into()));
    for part in ["push", "take", "commit", "end_to_end"] {
        assert!(report[part]["per_second"].as_f64().unwrap() > 0.0, "{report}");
        assert!(report[part]["p99_ms"].as_f64() >= report[part]["p50_ms"].as_f64(), "{report}");
    }
    let queues = server.json(&["queue", "list"]);
    assert_eq!(queues["items"].as_array().unwrap().len(), 3, "only those that always exist");
    assert_eq!(server.run(&["bench", "--batch", "0"]).status.code(), Some(2));
}
