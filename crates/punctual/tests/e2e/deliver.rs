//! Deliveries by the real binary: to a private address only if allowed, and again after a crash.

use std::path::Path;

use punctual_client::{Callback, HttpTarget, Mode, NewTask, QueueChanges, RawJson, Span, State};
use serde_json::json;

use crate::process::{PATIENCE, Server, punctual};
use crate::target::{answer, target};

pub(crate) fn allowing(store: &Path) -> Server {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--allow-private-targets", "--store"]);
    command.arg(store);
    Server::of(command)
}

#[tokio::test]
async fn a_delivery_under_way_at_a_crash_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (address, requests) = target();
    let server = allowing(dir.path());
    let client = server.client();
    let settings = QueueChanges::new()
        .mode(Mode::Http)
        .set("url", RawJson::of(&format!("http://{address}/")))
        .set("timeout", RawJson::of(&1))
        .set("keep", RawJson::of(&json!({"done": "1h"})));
    client.put_queue("hooks", &settings).await.unwrap();
    client.push("hooks", &NewTask::new("a").id("a")).await.unwrap();
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    server.signal("KILL");
    server.wait();
    drop(stream);

    let server = allowing(dir.path());
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, "a");
    answer(stream, "200 OK");
    let client = server.client();
    let deadline = std::time::Instant::now() + PATIENCE;
    let task = loop {
        let task = client.task("hooks", "a").await.unwrap();
        if task.state == State::Done {
            break task;
        }
        assert!(std::time::Instant::now() < deadline, "{task:?}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert_eq!((task.attempt, task.history.len()), (2, 2));
    assert_eq!(task.history[1].status, Some(200));
    server.stop();
}

/// FAULTS row 52: a run or step whose last attempt was under way has failed, and its plan or flow goes on.
#[tokio::test]
async fn a_last_attempt_under_way_at_a_crash_fails_its_plan_and_flow() {
    let dir = tempfile::tempdir().unwrap();
    let (address, requests) = target();
    let server = allowing(dir.path());
    let client = server.client();
    let settings = QueueChanges::new()
        .mode(Mode::Http)
        .set("url", RawJson::of(&format!("http://{address}/")))
        .set("max_attempts", RawJson::of(&1));
    client.put_queue("hooks", &settings).await.unwrap();
    let flow = json!({"id": "f", "steps": [{"name": "s", "queue": "hooks"}]});
    client.make_flow_from(&RawJson::of(&flow)).await.unwrap();
    let add = ["plan", "add", "hooks", "1", "--id", "p", "--type", "none"];
    server.say(&[&add[..], &["--on-error", "stop"]].concat());
    let under_way: Vec<_> = (0..2).map(|_| requests.recv_timeout(PATIENCE).unwrap().1).collect();
    server.signal("KILL");
    server.wait();
    drop(under_way);

    let server = allowing(dir.path());
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let flow = server.json(&["flow", "get", "f"]);
        let plan = server.json(&["plan", "get", "p"]);
        if flow["state"] == "failed" && plan["state"] == "error" {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{flow} {plan}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    server.stop();
}

#[tokio::test]
async fn a_callback_calls_a_url() {
    let dir = tempfile::tempdir().unwrap();
    let (address, requests) = target();
    let server = allowing(dir.path());
    let client = server.client();
    let callback = Callback::http(HttpTarget::new(format!("http://{address}/done")));
    let task = NewTask::new(&json!({"n": 1})).id("a").callback(callback);
    client.push("jobs", &task).await.unwrap();
    let taken = client.take("jobs", &Default::default()).await.unwrap().tasks.remove(0);
    client.commit(taken.held(), &Default::default()).await.unwrap();
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    answer(stream, "204 No Content");
    let expected = json!({"queue": "jobs", "id": "a", "state": "done", "result": null,
        "error": null});
    assert_eq!((&request["task"], &request["payload"]), (&expected, &json!({"n": 1})));
    server.stop();
}

#[tokio::test]
async fn private_targets_are_refused_unless_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    client.put_queue("hooks", &QueueChanges::new().mode(Mode::Http)).await.unwrap();
    let to = |url: &str| NewTask::new("a").delay(Span::from_secs(60)).http(HttpTarget::new(url));
    for url in ["http://127.0.0.1:9/", "http://localhost/", "http://10.0.0.1/"] {
        let error = client.push("hooks", &to(url)).await.unwrap_err();
        assert_eq!(error.code(), Some("invalid"), "{url}");
    }
    client.push("hooks", &to("https://example.com/")).await.unwrap();
    server.stop();

    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    command.arg("--allow-private-targets=10.0.0.0/8");
    let server = Server::of(command);
    let client = server.client();
    client.put_queue("hooks", &QueueChanges::new().mode(Mode::Http)).await.unwrap();
    client.push("hooks", &to("http://10.0.0.1/")).await.unwrap();
    assert!(client.push("hooks", &to("http://127.0.0.1/")).await.is_err());
    server.stop();
}
