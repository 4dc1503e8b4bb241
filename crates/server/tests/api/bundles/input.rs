//! Bad input names its field and changes nothing.

use super::super::delivery::server;
use super::super::{TestServer, json};
use super::path;

#[tokio::test]
async fn bad_merges_name_their_field() {
    let server = server().await;
    let good = "aHR0cDovL2V4YW1wbGUuY29tLw";
    let long = "x".repeat(2_049);
    for (path, status, code, field) in [
        ("/POST/aHR0cDovL3gv", 422, "invalid", "merge_key"),
        ("k/POST/!!!!", 422, "invalid", "service"),
        ("k/POST/aHR0c", 422, "invalid", "service"),
        ("k/POST/bm90IGEgdXJs", 422, "invalid", "service"),
        ("k/POST/ZnRwOi8veC8", 422, "invalid", "service"),
        ("k/POST/aHR0cDovL3U6cEB4Lw", 422, "invalid", "service"),
        ("k/POST/aHR0cDovL3gvDQo", 422, "invalid", "service"),
        ("k/POST/__79", 422, "invalid", "service"),
        ("k/HEAD/aHR0cDovL2V4YW1wbGUuY29tLw", 422, "invalid", "method"),
        ("k/EAT/aHR0cDovL2V4YW1wbGUuY29tLw", 422, "invalid", "method"),
        ("%FF/POST/aHR0cDovL2V4YW1wbGUuY29tLw", 422, "invalid", "merge_key"),
        (&format!("{long}/POST/{good}"), 413, "too_large", "key"),
        (&format!("k/POST/{good}?ontime=soon"), 422, "invalid", "ontime"),
        (&format!("k/POST/{good}?ontime=-1"), 422, "invalid", "ontime"),
        (&format!("k/POST/{good}?ontime=NaN"), 422, "invalid", "ontime"),
        (&format!("k/POST/{good}?ontime=9999999999999"), 422, "invalid", "ontime"),
        (&format!("k/POST/{good}?update=never"), 422, "invalid", "update"),
        (&format!("k/POST/{good}?max_wait=long"), 422, "invalid", "max_wait"),
        (&format!("k/POST/{good}?max_wait=-5"), 422, "invalid", "max_wait"),
        (&format!("k/POST/{good}?colour=red"), 422, "invalid", "colour"),
        (&format!("k/POST/{good}?ontime=1&ontime=2"), 422, "invalid", "ontime"),
    ] {
        let answer = server.post(&format!("/v3/queue/{path}"), json!({})).await;
        let detail = answer.problem(status, code);
        assert!(detail.contains(field), "{path}: {detail}");
    }
    let good = format!("/v3/queue/k/POST/{good}");
    for (body, status, code) in [
        ("{", 400, "bad_json"),
        ("no", 400, "bad_json"),
        ("{}{}", 400, "bad_json"),
        (&"[".repeat(200), 400, "bad_json"),
        (&format!("\"{}\"", "x".repeat(1 << 20)), 413, "too_large"),
    ] {
        server.raw("POST", &good, &[], body.to_owned()).await.problem(status, code);
    }
    server.raw("POST", &good, &[], vec![b'"', 0xff, b'"']).await.problem(400, "bad_json");
    server.get(&good).await.problem(405, "method_not_allowed");
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 0);
}

#[tokio::test]
async fn bad_pushes_and_verbs_name_their_field() {
    let server = TestServer::start().await;
    let long = json!(["x".repeat(300_000)]);
    for (body, status, code, field) in [
        (json!({}), 422, "invalid", "task"),
        (json!({"task": 1, "colour": 1}), 422, "invalid", "colour"),
        (json!({"task": 1, "ontime": "soon"}), 422, "invalid", "ontime"),
        (json!({"task": 1, "ontime": -1}), 422, "invalid", "ontime"),
        (json!({"task": 1, "overwrite": "never"}), 422, "invalid", "overwrite"),
        (json!({"task": 1, "max_wait": "x"}), 422, "invalid", "max_wait"),
        (json!({"task": 1, "data": "x"}), 422, "invalid", "data"),
        (json!({"task": 1, "data": [1]}), 422, "invalid", "data"),
        (json!({"task": 1, "data": long}), 413, "too_large", "data"),
        (json!({"task": "x".repeat(1 << 20)}), 413, "too_large", "task"),
    ] {
        let detail = server.bundle("k", "push", body).await.problem(status, code);
        assert!(detail.contains(field), "{detail}");
    }
    let key = "k".repeat(2_049);
    server.bundle(&key, "push", json!({"task": 1})).await.problem(413, "too_large");
    server
        .raw("POST", "/v1/queues/q/bundles/%FF/push", &[], r#"{"task":1}"#)
        .await
        .problem(422, "invalid");
    assert_eq!(server.get("/v1/queues/q/bundles").await.json["items"], json!([]));
    server.fill("k", &[json!(1)], json!({})).await;
    for (verb, body, field) in [
        ("get", json!({}), "random"),
        ("get", json!({"random": ""}), "random"),
        ("get", json!({"random": "r", "number": 0}), "number"),
        ("get", json!({"random": "r", "number": -1}), "number"),
        ("get", json!({"random": "r", "timeout": 0}), "timeout"),
        ("complete", json!({}), "random"),
        ("release", json!({"random": "r", "ontime": "x"}), "ontime"),
        ("data", json!({"add": [1]}), "add"),
        ("retry", json!({"force": true}), "force"),
    ] {
        let detail = server.bundle("k", verb, body).await.problem(422, "invalid");
        assert!(detail.contains(field), "{verb}: {detail}");
    }
    let huge = json!({"random": "r".repeat(256)});
    server.bundle("k", "get", huge).await.problem(413, "too_large");
    assert_eq!(server.get(&path("k")).await.is(200)["size"], 1);
}

#[tokio::test]
async fn queues_are_made_by_pushes_only() {
    let server = TestServer::start().await;
    for verb in ["get", "complete", "release", "data", "retry"] {
        let body = if verb.len() < 6 { json!({}) } else { json!({"random": "r"}) };
        let body = if verb == "get" { json!({"random": "r"}) } else { body };
        server.bundle("k", verb, body).await.problem(404, "not_found");
    }
    server.get(&path("k")).await.problem(404, "not_found");
    server.delete(&path("k")).await.problem(404, "not_found");
    server.fill("k", &[json!(1)], json!({})).await;
    assert_eq!(server.get("/v1/queues/q").await.is(200)["mode"], "pull");
}
