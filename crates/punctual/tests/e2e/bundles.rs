//! Bundles over crashes of the real binary: every payload in exactly one successful delivery, in order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use punctual_client::{Client, Mode, Payload, QueueChanges, RawJson, Span};
use serde_json::json;

use crate::deliver::allowing;
use crate::process::{PATIENCE, Server};

fn texts(tasks: &[RawJson]) -> Vec<&str> {
    tasks.iter().map(RawJson::as_str).collect()
}

#[tokio::test]
async fn a_crash_between_get_and_complete_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    for n in 0..3 {
        client.push_bundle("q", "k/1", &Payload::new(&n).data("d"), None).await.unwrap();
    }
    let due = client.schedule_bundle("q", Span::ZERO).await.unwrap();
    assert_eq!(due.key.as_deref(), Some("k/1"));
    let half = Some(Span::from_millis(500));
    let got = client.get_bundle("q", "k/1", "r", half, Some(2)).await.unwrap();
    assert_eq!(texts(&got.tasks), ["0", "1"]);
    client.push_bundle("q", "k/1", &Payload::new(&3), None).await.unwrap();
    server.kill();

    let server = Server::start(dir.path());
    let client = server.client();
    // The lock ends by itself; then all of it is due again, in order.
    let due = client.schedule_bundle("q", Span::from_secs(30)).await.unwrap();
    assert_eq!(due.key.as_deref(), Some("k/1"));
    let got = client.get_bundle("q", "k/1", "s", Some(Span::from_secs(60)), None).await.unwrap();
    assert_eq!((texts(&got.tasks), got.data), (vec!["0", "1", "2", "3"], vec!["d".to_owned()]));
    let late = client.complete_bundle("q", "k/1", "r", Some(2)).await.unwrap_err();
    assert_eq!(late.code(), Some("wrong_state"));
    server.kill();

    // A lock that has not ended outlives the crash, and so does what is completed.
    let server = Server::start(dir.path());
    let client = server.client();
    assert_eq!(client.complete_bundle("q", "k/1", "s", Some(3)).await.unwrap(), 1);
    server.kill();
    let server = Server::start(dir.path());
    let bundle = server.client().bundle("q", "k/1").await.unwrap();
    assert_eq!(texts(&bundle.tasks), ["3"]);
    server.stop();
}

/// An array as it was delivered: `[key, number]`, again and again.
type Body = Vec<(u64, u64)>;

/// A target that notes the arrays it accepts, and refuses every fifth. The servers that call it may die
/// in the middle of a request.
fn target() -> (SocketAddr, Arc<Mutex<Vec<Body>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accepted: Arc<Mutex<Vec<Body>>> = Arc::default();
    let noted = accepted.clone();
    std::thread::spawn(move || {
        for (call, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let Some(body) = read(&stream) else { continue };
            let status = if call % 5 == 4 { "503 Busy" } else { "200 OK" };
            if status == "200 OK" {
                noted.lock().unwrap().push(body);
            }
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            // Whoever asked may be gone.
            let _ = stream.write_all(head.as_bytes());
        }
    });
    (address, accepted)
}

/// The array of a request, if all of it came.
fn read(stream: &TcpStream) -> Option<Body> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 0 && !line.trim().is_empty() {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Pushes `[key, number]` one after the other, each until it is acknowledged: a repeat under its
/// Idempotency-Key has no second effect.
async fn push(url: Arc<Mutex<String>>, key: u64, count: u64) {
    for number in 0..count {
        let once = format!("{key}-{number}");
        loop {
            let client = Client::new(url.lock().unwrap().as_str(), None).unwrap();
            let payload = Payload::new(&(key, number));
            let name = format!("k{key}");
            if client.push_bundle("hooks", &name, &payload, Some(&once)).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crashes_during_deliveries_lose_nothing_and_keep_the_order() {
    const KEYS: u64 = 4;
    const EACH: u64 = 100;
    let dir = tempfile::tempdir().unwrap();
    let (address, accepted) = target();
    let mut server = allowing(dir.path());
    let settings = QueueChanges::new()
        .mode(Mode::Http)
        .max_attempts(-1)
        .set("url", RawJson::of(&format!("http://{address}/")))
        .set("timeout", RawJson::of(&1))
        .set("retry", RawJson::of(&json!({"intervals": [0]})));
    server.client().put_queue("hooks", &settings).await.unwrap();

    let url = Arc::new(Mutex::new(server.url.clone()));
    let pushers: Vec<_> = (0..KEYS).map(|key| tokio::spawn(push(url.clone(), key, EACH))).collect();
    for _ in 0..4 {
        let before = accepted.lock().unwrap().len();
        let deadline = Instant::now() + PATIENCE;
        while accepted.lock().unwrap().len() < before + 5 {
            assert!(Instant::now() < deadline, "nothing is delivered");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.kill();
        server = allowing(dir.path());
        *url.lock().unwrap() = server.url.clone();
    }
    for pusher in pushers {
        pusher.await.unwrap();
    }
    let deadline = Instant::now() + PATIENCE;
    while server.client().queue("hooks").await.unwrap().counts.bundles > 0 {
        assert!(Instant::now() < deadline, "not all was delivered");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    // Per key no number is missing and none comes before an earlier one. What was accepted just before a
    // crash may come once more, and then first.
    for key in 0..KEYS {
        let mut next = 0;
        for body in accepted.lock().unwrap().iter().filter(|body| body[0].0 == key) {
            assert!(body[0].1 <= next, "{next} of key {key} was left out: {body:?}");
            for (place, (of, number)) in body.iter().enumerate() {
                assert_eq!((*of, *number), (key, body[0].1 + place as u64));
            }
            next = next.max(body[0].1 + body.len() as u64);
        }
        assert_eq!(next, EACH, "of key {key}");
    }
    server.stop();
}

#[tokio::test]
async fn bundles_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let push = ["bundle", "push", "digests", "ada", r#"{"n":1}"#, "--data", "x"];
    let pushed = server.say(&[&push[..], &["--ontime", "2099-01-01T00:00:00Z"]].concat());
    assert_eq!(pushed, "pushed into ada: 1 in it, due 2099-01-01T00:00:00.000Z\n");
    let pushed = server.json(&["bundle", "push", "digests", "ada", "-7", "--always"]);
    assert_eq!(pushed["size"], 2);
    let list = server.say(&["bundle", "list", "digests"]);
    assert!(list.contains("ada") && list.contains("waiting"), "{list}");
    let bundle = server.json(&["bundle", "get", "digests", "ada"]);
    assert_eq!((&bundle["tasks"], &bundle["data"]), (&json!([{"n": 1}, -7]), &json!(["x"])));
    assert!(server.say(&["bundle", "get", "digests", "ada"]).contains(r#"{"n":1}"#));
    server.say(&["bundle", "retry", "digests", "ada"]);
    let due = server.json(&["bundle", "get", "digests", "ada"])["ontime"].to_string();
    assert!(!due.contains("2099"), "due now: {due}");
    server.say(&["bundle", "delete", "digests", "ada"]);
    assert!(!server.run(&["bundle", "get", "digests", "ada"]).status.success());
    assert_eq!(server.json(&["bundle", "list", "digests"])["items"], json!([]));
    server.stop();
}
