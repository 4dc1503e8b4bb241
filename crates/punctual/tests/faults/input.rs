//! Input nobody should send: every request gets its documented error, and nothing changes.

use std::fs;
use std::io::Write;

use punctual_client::{Client, NewTask, Take};

use crate::process::Server;
use crate::raw::{self, Answer, send};
use crate::task::{all, take_one};

const TASKS: &str = "/v1/queues/q/tasks";
const MIB: u64 = 1 << 20;

fn server() -> (tempfile::TempDir, Server, Client) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let client = server.client();
    (dir, server, client)
}

/// A line of `/proc/PID/status`, in bytes.
pub(crate) fn memory(server: &Server, line: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let found = status.lines().find(|text| text.starts_with(line)).unwrap();
    let kib: u64 = found.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1_024
}

/// Streams a body of so many bytes and reads the answer, if the server still gives one when it has
/// closed its ears.
fn stream(server: &Server, bytes: u64, is_chunked: bool) -> Option<Answer> {
    const BLOCK: usize = 1 << 18;
    let mut stream = raw::connect(server.address());
    let length = if is_chunked {
        "Transfer-Encoding: chunked\r\n".to_owned()
    } else {
        format!("Content-Length: {bytes}\r\n")
    };
    stream.write_all(raw::head("POST", TASKS, &length).as_bytes()).unwrap();
    let block = [b' '; BLOCK];
    let frame = format!("{BLOCK:x}\r\n");
    for _ in 0..bytes / BLOCK as u64 {
        let written = if is_chunked {
            let parts = [frame.as_bytes(), &block, b"\r\n"].concat();
            stream.write_all(&parts)
        } else {
            stream.write_all(&block)
        };
        if written.is_err() {
            break;
        }
    }
    if is_chunked {
        let _ = stream.write_all(b"0\r\n\r\n");
    }
    std::panic::catch_unwind(|| Answer::read(stream)).ok()
}

#[tokio::test]
async fn a_huge_body_is_refused_and_memory_stays_flat() {
    let (_dir, server, client) = server();
    client.push("q", &NewTask::new("x").id("t")).await.unwrap();
    let server = tokio::task::spawn_blocking(move || {
        let before = memory(&server, "VmRSS");
        for is_chunked in [false, true] {
            let answer = stream(&server, 100 * MIB, is_chunked).expect("read to its end");
            assert_eq!((answer.status, answer.code().as_deref()), (413, Some("too_large")));
        }
        // So much that the server may lose patience with it.
        let answer = stream(&server, 2_048 * MIB, false);
        println!("2 GiB: {:?}", answer.as_ref().map(|answer| answer.status));
        assert!(answer.is_none_or(|answer| answer.status == 413));
        let (after, peak) = (memory(&server, "VmRSS"), memory(&server, "VmHWM"));
        println!("{} MiB before, {} after, {} at most", before / MIB, after / MIB, peak / MIB);
        assert!(after < before + 64 * MIB, "what was sent is forgotten");
        assert!(peak < before + 256 * MIB, "no more was kept than a body may have");
        server
    })
    .await
    .unwrap();
    assert_eq!(all(&client, "q").await.len(), 1);
    client.push("q", &NewTask::new("x")).await.unwrap();
    server.stop();
}

#[tokio::test]
async fn what_is_no_json_is_refused() {
    let (_dir, server, client) = server();
    let deep = |open: &str, close: &str| {
        format!("{{\"payload\":{}{}}}", open.repeat(100_000), close.repeat(100_000))
    };
    let bodies: [(&str, Vec<u8>); 12] = [
        ("nested lists", deep("[", "]").into()),
        ("nested objects", deep("{\"a\":", "1}").into()),
        ("lists that do not end", "[".repeat(1 << 20).into()),
        ("bad UTF-8", b"{\"payload\":\"\xff\xfe\"}".to_vec()),
        ("cut UTF-8", b"{\"payload\":\"\xe4\xb8\"}".to_vec()),
        ("NaN", b"{\"delay\":NaN}".to_vec()),
        ("Infinity", b"{\"delay\":Infinity}".to_vec()),
        ("hexadecimal", b"{\"priority\":0x10}".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("cut", b"{\"payload\":".to_vec()),
        ("a control character", b"{\"id\":\"a\nb\"}".to_vec()),
        ("NUL", b"{\"payload\":1}\0".to_vec()),
    ];
    for (what, body) in bodies {
        let answer = send(server.address(), "POST", TASKS, &body);
        let said = (answer.status, answer.code());
        assert_eq!(said, (400, Some("bad_json".to_owned())), "{what}: {}", answer.body);
        assert!(answer.head.contains("content-type: application/problem+json"), "{what}");
    }
    let error = client.queue("q").await.unwrap_err();
    assert_eq!(error.code(), Some("not_found"), "not even the queue was made");
    server.stop();
}

#[tokio::test]
async fn absurd_times_and_numbers_are_refused() {
    let (_dir, server, client) = server();
    let huge = "9".repeat(10_000);
    let values = [
        ("due", "9223372036854775807"),
        ("due", "-1"),
        ("due", "1e300"),
        ("due", "1e400"),
        ("due", "\"2026-02-30T00:00:00Z\""),
        ("due", "\"2026-13-01T00:00:00Z\""),
        ("due", "\"10000-01-01T00:00:00Z\""),
        ("due", "\"+275760-09-13T00:00:00Z\""),
        ("due", "\"NaN\""),
        ("due", "\"inf\""),
        ("due", "\"tomorrow\""),
        ("due", "true"),
        ("due", &huge),
        ("expires", "-1"),
        ("expires", "\"2026-02-30T00:00:00Z\""),
        ("delay", "-1"),
        ("delay", "-0.5"),
        ("delay", "\"-5s\""),
        ("delay", "9223372036854775807"),
        ("delay", "\"9999999999999999999d\""),
        ("delay", "1e308"),
        ("delay", "\"NaN\""),
        ("delay", &huge),
        ("hold", "0"),
        ("hold", "-1"),
        ("hold", "1e30"),
        ("unique_for", "-1"),
        ("priority", "101"),
        ("priority", "-101"),
        ("priority", "1.5"),
        ("priority", "9223372036854775808"),
        ("priority", "1e400"),
        ("priority", &huge),
        ("max_attempts", "0"),
        ("max_attempts", "-2"),
        ("max_attempts", "2147483648"),
        ("retry", "{\"intervals\":[-1]}"),
        ("retry", "{\"first\":\"5s\",\"factor\":-2}"),
        ("retry", "{\"first\":\"5s\",\"factor\":1e400}"),
        ("retry", "{\"first\":\"5s\",\"jitter\":2}"),
        ("nonsense", "1"),
    ];
    for (field, value) in values {
        let body = format!("{{\"{field}\":{value}}}");
        let answer = send(server.address(), "POST", TASKS, body.as_bytes());
        let said = (answer.status, answer.code());
        let shown = &body[..body.len().min(100)];
        assert_eq!(said, (422, Some("invalid".to_owned())), "{shown}: {}", answer.body);
        assert!(answer.body.contains(field), "it names the field: {}", answer.body);
    }
    let error = client.queue("q").await.unwrap_err();
    assert_eq!(error.code(), Some("not_found"), "not even the queue was made");

    // The last day there is, and a number no machine can hold, kept to the letter.
    let body = r#"{"id":"far","due":"9999-12-31T23:59:59.999Z","payload":1e400}"#;
    let answer = send(server.address(), "POST", TASKS, body.as_bytes());
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert!(answer.body.contains(r#""payload":1e400"#), "{}", answer.body);
    assert_eq!(client.take("q", &Take::new()).await.unwrap().tasks, []);
    server.stop();
}

#[tokio::test]
async fn absurd_requests_of_holders_change_nothing() {
    let (_dir, server, client) = server();
    client.push("q", &NewTask::new("x").id("t")).await.unwrap();
    let taken = take_one(&client, "q", &Take::new()).await;
    let before = client.task("q", "t").await.unwrap();
    let long = "x".repeat(5_000);
    let large = "x".repeat(1 << 20);
    let requests: [(u16, &str, String); 11] = [
        (422, "extend", r#""progress":1.5"#.to_owned()),
        (422, "extend", r#""progress":-0.1"#.to_owned()),
        (422, "extend", r#""hold":0"#.to_owned()),
        (422, "extend", r#""hold":"100000d""#.to_owned()),
        (413, "extend", format!(r#""message":"{long}""#)),
        (413, "extend", format!(r#""checkpoint":"{large}""#)),
        (413, "commit", format!(r#""result":"{large}""#)),
        (413, "fail", format!(r#""error":"{long}""#)),
        (422, "fail", r#""retry_in":-1"#.to_owned()),
        (422, "release", r#""delay":1e300"#.to_owned()),
        (422, "commit", r#""nonsense":1"#.to_owned()),
    ];
    for (status, verb, field) in requests {
        let path = format!("{TASKS}/t/{verb}");
        let body = format!(r#"{{"token":"{}",{field}}}"#, taken.token);
        let answer = send(server.address(), "POST", &path, body.as_bytes());
        let shown = &field[..field.len().min(60)];
        assert_eq!(answer.status, status, "{verb} {shown}: {}", answer.body);
    }
    for (n, status) in [("0", 422), ("1001", 422), ("-1", 422), ("1e9", 422), ("\"2\"", 422)] {
        let body = format!("{{\"n\":{n}}}");
        let answer = send(server.address(), "POST", "/v1/queues/q/take", body.as_bytes());
        assert_eq!(answer.status, status, "n {n}: {}", answer.body);
    }
    assert_eq!(client.task("q", "t").await.unwrap(), before);
    server.stop();
}
