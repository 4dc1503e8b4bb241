//! What has failed, why, and since when; and tasks that are made when others end.

use crate::process::{Server, complaint};

/// Takes the next task of a queue and fails it for good.
fn fail(server: &Server, queue: &str, error: &str) -> String {
    let taken = server.json(&["take", queue]);
    let task = &taken["tasks"][0];
    let (id, token) = (task["id"].as_str().unwrap(), task["token"].as_str().unwrap());
    server.say(&["task", "fail", queue, id, token, "--permanent", "--error", error]);
    id.to_owned()
}

#[test]
fn failures_are_told_by_error_and_tried_again_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    assert_eq!(server.say(&["failures"]).trim_end(), "nothing has failed");
    for id in ["a", "b", "c"] {
        server.say(&["push", "mail", "1", "--id", id]);
        fail(&server, "mail", if id == "b" { "no such user" } else { "mailbox full" });
    }
    server.say(&["push", "other", "1", "--id", "d"]);
    fail(&server, "other", "boom");

    let all = server.json(&["failures"]);
    let groups: Vec<_> = all["items"].as_array().unwrap().iter().collect();
    assert_eq!(groups.len(), 3, "{all}");
    assert_eq!((&groups[0]["queue"], &groups[0]["error"]), (&"other".into(), &"boom".into()));
    let mail = server.json(&["failures", "--queue", "mail"]);
    assert_eq!(mail["items"][0]["error"], "mailbox full");
    assert_eq!((&mail["items"][0]["count"], &mail["items"][0]["id"]), (&2.into(), &"c".into()));
    let table = server.say(&["failures", "--queue", "mail"]);
    assert!(table.starts_with("COUNT  QUEUE"), "{table}");
    assert!(table.contains("no such user"), "{table}");
    assert!(complaint(&server.run(&["failures", "--queue", "a b"]), 1).contains("queue"));

    let since = |time: &str| {
        let list = ["task", "list", "mail", "--state", "failed", "--since", time];
        server.json(&list)["items"].as_array().unwrap().len()
    };
    assert_eq!((since("1h"), since("2126-01-01T00:00:00Z")), (3, 0));
    let last = mail["items"][0]["last_at"].as_str().unwrap();
    assert_eq!(since(last), 1, "what failed at that time or later");
    let bulk = ["task", "bulk", "retry", "mail", "--since", last];
    assert_eq!(server.json(&bulk)["changed"], 1, "a time is a condition, too");
    let left = server.json(&["failures", "--queue", "mail"]);
    assert_eq!(left["items"][0]["error"], "no such user", "{left}");
    let wrong = server.run(&["task", "list", "mail", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
    server.stop();
}

#[test]
fn a_push_may_say_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let callback = r#"{"on":["failed"],"queue":"alerts","task":{"priority":9}}"#;
    server.say(&["push", "mail", r#"{"to":"ada"}"#, "--id", "a", "--callback", callback]);
    fail(&server, "mail", "mailbox full");
    let alerts = server.json(&["task", "list", "alerts"]);
    let alert = &alerts["items"][0];
    assert_eq!(alert["priority"], 9);
    assert_eq!(alert["payload"]["task"]["error"], "mailbox full");
    assert_eq!(
        alert["payload"]["payload"]["to"], "ada",
        "its task names none, so it is the first's"
    );
    for bad in [r#"{"on":["failed"],"que":"alerts"}"#, "alerts"] {
        let refused = server.run(&["push", "mail", "1", "--callback", bad]);
        assert_eq!(refused.status.code(), Some(2), "{bad}");
    }
    server.stop();
}
