//! Notices by the real binary: again after a crash, and from the command line.

use punctual_client::{NewNotice, NoticeState};
use serde_json::json;

use crate::deliver::allowing;
use crate::process::{PATIENCE, Server, complaint, punctual};
use crate::target::{answer, target};

#[tokio::test]
async fn a_notice_under_way_at_a_crash_is_sent_again() {
    let dir = tempfile::tempdir().unwrap();
    let (address, requests) = target();
    let server = allowing(dir.path());
    let client = server.client();
    // Even the last notice there is.
    let notice = NewNotice::new(format!("http://{address}/")).id("n").json("a").intervals([]);
    client.send_notice(&notice.success_flag("ok")).await.unwrap();
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    server.kill();
    drop(stream);

    let server = allowing(dir.path());
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    answer(stream, "200 OK");
    let client = server.client();
    let deadline = std::time::Instant::now() + PATIENCE;
    let notice = loop {
        let notice = client.notice("n").await.unwrap();
        if notice.state == NoticeState::Succeeded {
            break notice;
        }
        assert!(std::time::Instant::now() < deadline, "{notice:?}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert_eq!((notice.notice_count, notice.success_id), (1, 1));
    server.stop();
}

#[test]
fn notices_are_sent_shown_cancelled_and_sent_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let (address, requests) = target();
    let server = allowing(dir.path());
    let url = format!("http://{address}/");
    let said = server.say(&[
        "notice",
        "send",
        &url,
        "--id",
        "n",
        "--type",
        "json",
        "--data",
        r#"{"a": 1}"#,
        "--interval",
        "1h",
        "--header",
        "X-A: b",
    ]);
    assert_eq!(said, format!("sending notice n to {url}\n"));
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, json!({"a": 1}));
    answer(stream, "500 Oops");
    let deadline = std::time::Instant::now() + PATIENCE;
    while server.json(&["notice", "get", "n"])["notice_count"] != 1 {
        assert!(std::time::Instant::now() < deadline, "it was sent once");
    }
    let table = server.say(&["notice", "list", "--state", "waiting"]);
    assert!(table.contains("1 of 2") && table.contains("status 500"), "{table}");
    assert_eq!(server.say(&["notice", "retry", "n"]), "sending notice n once more\n");
    let (_, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(server.say(&["notice", "cancel", "n"]), "cancelled notice n\n");
    drop(stream);
    let record = server.say(&["notice", "get", "n"]);
    assert!(record.contains("cancelled") && record.contains("status 500"), "{record}");
    let line = complaint(&server.run(&["notice", "retry", "n"]), 1);
    assert!(line.contains("a notice that is cancelled"), "{line}");
    let line = complaint(&server.run(&["notice", "send", "ftp://x/"]), 1);
    assert!(line.contains("url: "), "{line}");
}

#[test]
fn defaults_come_from_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("punctual.toml");
    std::fs::write(&file, "[notices]\nsuccess_flag = 'ok'\nnotice_interval = ['1m']\n").unwrap();
    let serve = |more: &[&str]| {
        let mut command = punctual();
        command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--config"]);
        command.arg(&file).args(more).env("PUNCTUAL_NOTICES_CONTENT_TYPE", "json");
        command
    };
    let server = Server::of(serve(&["--notices-max-notices", "3"]));
    let notice = server.json(&["notice", "send", "http://192.0.2.1/"]);
    let read = |field: &str| notice[field].clone();
    assert_eq!((read("success_flag"), read("content_type")), (json!("ok"), json!("json")));
    assert_eq!((read("notice_interval"), read("max_notices")), (json!([60, 60]), json!(3)));
    server.stop();
    let refused = serve(&["--notices-list", "a", "--notices-backup", "b"]).output().unwrap();
    assert!(complaint(&refused, 1).contains("only a Redis store has lists"));
    let refused = serve(&["--notices-max-notices", "0"]).output().unwrap();
    let line = complaint(&refused, 1);
    assert!(line.starts_with("error: notices.max_notices: "), "{line}");
}
