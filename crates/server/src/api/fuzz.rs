//! Random bodies for every route that takes one: an error of the table, never a fault.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use proptest::prelude::*;
use punctual_core::Timestamp;
use punctual_store::ManualClock;
use punctual_store::model::ModelStore;

use super::{Api, App};
use crate::ServerConfig;
use crate::engine::Engine;
use crate::presence::Presence;

/// Paths are below the queue `q`, but for those that begin with a slash.
const BODIES: [(&str, &str, &str); 14] = [
    ("POST", "tasks", r#"{"id":"a","payload":{"x":[1,"\u00e9"]},"delay":"1h30m","tags":["t"]}"#),
    (
        "POST",
        "tasks",
        r#"{"tasks":[{"id":"b","due":1763189428.5,"retry":{"first":1}},{"id":"c"}]}"#,
    ),
    ("POST", "tasks", r#"{"callback":{"on":["done"],"queue":"r","task":{"payload":null}}}"#),
    ("PUT", "", r#"{"hold":"5s","rate":{"limit":3,"per":1},"keep":{"done":1},"secret":["s"]}"#),
    ("POST", "take", r#"{"worker":"w","n":3,"hold":1,"commit":[{"id":"a","token":"00"}]}"#),
    ("POST", "tasks/a/commit", r#"{"token":"0123456789abcdef0123456789abcdef","result":[]}"#),
    ("POST", "tasks/a/extend", r#"{"token":"x","progress":0.5,"message":"m","checkpoint":1}"#),
    ("POST", "fail", r#"{"tasks":[{"id":"a","token":"x","error":"e","retry_in":5}]}"#),
    (
        "POST",
        "tasks/bulk",
        r#"{"verb":"retry","filter":{"state":["failed"],"q":"x"},"dry_run":true}"#,
    ),
    (
        "PATCH",
        "tasks/a",
        r#"{"payload":1,"due":null,"priority":-5,"expires":"2026-11-15T00:00:00Z"}"#,
    ),
    ("POST", "tasks/a/retry", r#"{"force":false}"#),
    (
        "POST",
        "/v1/notices",
        r#"{"url":"http://192.0.2.1/","data":{"a":[1,null],"b":{"c":"x"}},"notice_interval":[1,"2s"]}"#,
    ),
    (
        "POST",
        "/v1/notices",
        r#"{"url":"http://192.0.2.1/","content_type":"json","data":"{\"a\":1}","http_method":"get"}"#,
    ),
    (
        "POST",
        "/v1/notices",
        r#"{"url":"http://192.0.2.1/","content_type":"xml","data":"<?xml version='1.0'?><a b='&lt;'>&#65;</a>"}"#,
    ),
];

/// One way to spoil a body.
#[derive(Debug, Clone)]
enum Spoil {
    Cut(usize),
    Drop(usize),
    Put(usize, u8),
    Insert(usize, String),
    Repeat(usize, usize),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let pieces = prop_oneof![
        "[\\[\\]{},:\"\\\\]{1,4}",
        "-?[0-9]{1,25}(\\.[0-9]{1,5})?([eE][-+]?[0-9]{1,4})?",
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("NaN".to_owned()),
        Just("\\ud800".to_owned()),
        Just("\\u0000".to_owned()),
        Just("[".repeat(300)),
        ".{1,8}",
    ];
    prop_oneof![
        any::<usize>().prop_map(Spoil::Cut),
        any::<usize>().prop_map(Spoil::Drop),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Spoil::Put(at, byte)),
        (any::<usize>(), pieces).prop_map(|(at, piece)| Spoil::Insert(at, piece)),
        (any::<usize>(), 1..40_usize).prop_map(|(at, length)| Spoil::Repeat(at, length)),
    ]
}

fn spoiled(body: &str, spoils: &[Spoil]) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    for spoil in spoils {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        match spoil {
            Spoil::Cut(at) => bytes.truncate(at % length),
            Spoil::Drop(at) => {
                bytes.remove(at % length);
            }
            Spoil::Put(at, byte) => bytes[at % length] = *byte,
            Spoil::Insert(at, piece) => {
                let at = at % length;
                bytes.splice(at..at, piece.bytes());
            }
            Spoil::Repeat(at, count) => {
                let at = at % length;
                let piece = bytes[at..(at + count).min(length)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// Sends a body to a fresh server and checks that its answer is a known one.
async fn answered(method: &str, path: &str, body: Vec<u8>) -> Result<(), TestCaseError> {
    let clock = ManualClock::new(Timestamp::from_millis(1_763_189_428_000));
    let store = Arc::new(ModelStore::new(Arc::new(clock)));
    let config = ServerConfig::default();
    let (engine, _returned) = Engine::new(store.clone(), &config, Arc::default());
    let presence = Arc::new(Presence::new(store, None, None));
    let api = Api::new(Arc::new(App::new(engine, presence, &config)));
    let send = |method: &str, path: &str, body: Vec<u8>| {
        let below = format!("/v1/queues/q/{path}");
        let path = if path.starts_with('/') { path } else { below.trim_end_matches('/') };
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        request.body(Body::from(body)).unwrap()
    };
    let first = send("POST", "tasks", br#"{"id":"a"}"#.to_vec());
    prop_assert_eq!(api.clone().answer(first).await.status(), 201);
    let answer = api.answer(send(method, path, body)).await;
    let status = answer.status().as_u16();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    let known = [200, 201, 202, 400, 404, 409, 413, 422];
    prop_assert!(known.contains(&status), "{} {:?}", status, text);
    Ok(())
}

fn run(method: &str, path: &str, body: Vec<u8>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(answered(method, path, body))
}

#[test]
fn the_bodies_that_are_spoiled_are_good() {
    for (method, path, body) in BODIES {
        run(method, path, body.as_bytes().to_vec()).unwrap();
    }
}

proptest! {
    #[test]
    fn spoiled_bodies_get_an_error_of_the_table(
        which in 0..BODIES.len(), spoils in proptest::collection::vec(spoil(), 1..6),
    ) {
        let (method, path, body) = BODIES[which];
        run(method, path, spoiled(body, &spoils))?;
    }

    #[test]
    fn random_bytes_get_an_error_of_the_table(
        which in 0..BODIES.len(), body in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let (method, path, _) = BODIES[which];
        run(method, path, body)?;
    }
}
