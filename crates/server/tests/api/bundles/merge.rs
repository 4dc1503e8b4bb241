//! `/v3/queue/{merge_key}/{method}/{service}`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::super::delivery::{Reply, Stub, server};
use super::super::json;

fn bodies(seen: &[super::super::delivery::Seen]) -> Vec<Value> {
    seen.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
}

#[tokio::test]
async fn the_same_three_parts_are_one_request() {
    let stub = Stub::ok().await;
    let server = server().await;
    let service = URL_SAFE.encode(stub.url("/digest"));
    let at = |seconds| server.at(seconds).replace(':', "%3A");
    let post = async |key: &str, method: &str, query: &str, body: Value| {
        server.post(&format!("/v3/queue/{key}/{method}/{service}{query}"), body).await.is(202)
    };
    let first = post("k", "POST", &format!("?ontime={}", at(60)), json!({"n": 1})).await;
    assert_eq!((&first["size"], &first["ontime"]), (&json!(1), &json!(server.at(60))));
    let key = first["key"].as_str().unwrap();
    // `once` is the default: the time stays.
    let second = post("k", "post", &format!("?ontime={}", at(10)), json!({"n": 2})).await;
    assert_eq!(second, json!({"key": key, "size": 2, "ontime": server.at(60)}));
    let third = post("k", "POST", &format!("?update=always&ontime={}", at(20)), json!(3)).await;
    assert_eq!((&third["size"], &third["ontime"]), (&json!(3), &json!(server.at(20))));
    // Another method or key is another bundle.
    let other = post("k", "PUT", &format!("?ontime={}", at(20)), json!({"n": 4})).await;
    assert_eq!(other["size"], 1);
    post("l", "GET", &format!("?ontime={}", at(20)), json!([])).await;
    let encoded = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
    let read = server.get(&format!("/v1/queues/bundles/bundles/{encoded}")).await.is(200);
    assert_eq!((&read["size"], &read["url"]), (&json!(3), &json!(stub.url("/digest"))));
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 3);
    // One that waits for its time is delivered at once on request.
    let early = post("early", "POST", &format!("?ontime={}", at(900)), json!(0)).await;
    let key = early["key"].as_str().unwrap();
    let encoded = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
    let path = format!("/v1/queues/bundles/bundles/{encoded}");
    server.post(&format!("{path}/retry"), json!({})).await.is(200);
    assert_eq!(bodies(&stub.seen(1).await), [json!([0])]);
    server.eventually("/v1/queues/bundles", |queue| queue["counts"]["bundles"] == 3).await;
    server.post(&format!("{path}/retry"), json!({})).await.problem(404, "not_found");
    server.advance(20).await;
    let mut seen = stub.seen(4).await.split_off(1);
    seen.sort_by_key(|seen| seen.method.clone());
    let methods: Vec<_> = seen.iter().map(|seen| seen.method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST", "PUT"]);
    assert_eq!(bodies(&seen), [json!([[]]), json!([{"n": 1}, {"n": 2}, 3]), json!([{"n": 4}])]);
    assert_eq!(seen[0].path, "/digest");
}

#[tokio::test]
async fn two_spellings_of_a_service_are_one_bundle() {
    let stub = Stub::ok().await;
    let server = server().await;
    // Standard base64 of this has a plus, a slash and padding.
    let url = stub.url("/~~~???>>>x");
    let standard = STANDARD.encode(&url);
    assert!(standard.contains('/') && standard.contains('+'), "{standard}");
    let escaped = standard.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D");
    let later = server.at(60).replace(':', "%3A");
    let spellings = [
        STANDARD.encode(&url),
        STANDARD_NO_PAD.encode(&url),
        URL_SAFE.encode(&url),
        URL_SAFE_NO_PAD.encode(&url),
        escaped,
    ];
    for (index, service) in spellings.iter().enumerate() {
        let path = format!("/v3/queue/k/POST/{service}?ontime={later}");
        assert_eq!(server.post(&path, json!({})).await.is(202)["size"], index + 1, "{service}");
    }
    server.delete(&format!("/v3/queue/k/POST/{}", spellings[1])).await.is(204);
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 0);
    server.delete(&format!("/v3/queue/k/POST/{}", spellings[1])).await.is(204);
}

#[tokio::test]
async fn under_a_key_that_begins_with_a_dash_nothing_merges() {
    let stub = Stub::start(|seen| Reply::status(if seen.body == b"1" { 500 } else { 200 })).await;
    let server = server().await;
    let path = format!("/v3/queue/-x/POST/{}", URL_SAFE.encode(stub.url("/")));
    let mut keys = std::collections::BTreeSet::new();
    for payload in [json!(1), json!({"a": 2}), json!([3])] {
        let pushed = server.post(&path, payload).await.is(202);
        assert_eq!(pushed["size"], 1);
        keys.insert(pushed["key"].as_str().unwrap().to_owned());
    }
    assert_eq!(keys.len(), 3);
    let mut seen = bodies(&stub.seen(3).await);
    seen.sort_by_key(Value::to_string);
    assert_eq!(seen, [json!(1), json!([3]), json!({"a": 2})], "each as it was pushed");
    // Each with its own outcome: one waits for its retry, and all that wait are removed at once.
    let counts = |counts: &Value| counts["counts"]["bundles"] == 1;
    server.eventually("/v1/queues/bundles", counts).await;
    let later = server.at(60).replace(':', "%3A");
    server.post(&format!("{path}?ontime={later}"), json!(4)).await.is(202);
    let neighbour = format!("/v3/queue/-x2/POST/{}", URL_SAFE.encode(stub.url("/")));
    server.post(&format!("{neighbour}?ontime={later}"), json!(5)).await.is(202);
    server.delete(&path).await.is(204);
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 1);
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["total"], 1);
}

#[tokio::test]
async fn the_examples_of_the_design_work_as_printed() {
    let server = server().await;
    let service = "aHR0cDovLzEyNy4wLjAuMToyMzMzMy92My9ub3RpZmllci9jcm9zcy9kaWdlc3Q=";
    let path = format!("/v3/queue/cross123_789/POST/{service}");
    let body = r#"{
        "to": {"identity_id": 789},
        "cross_id": 123,
        "updated_at": "2013-04-24 00:00:00"
    }"#;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let query = "?update=always&ontime=1366614150";
    let pushed = server.raw("POST", &format!("{path}{query}"), &form, body).await.is(202);
    assert_eq!(
        (&pushed["size"], &pushed["ontime"]),
        (&json!(1), &json!("2013-04-22T07:02:30.000Z"))
    );
    // Long past, it is due at once: nobody listens there, so it waits for its retry.
    let attempted = |page: &Value| page["items"][0]["attempt"] == 1;
    let page = server.eventually("/v1/queues/bundles/bundles", attempted).await;
    let url = "http://127.0.0.1:23333/v3/notifier/cross/digest";
    assert_eq!(page["items"][0]["url"], url);
    server.raw("DELETE", &path, &[], "").await.is(204);
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 0);
}

#[tokio::test]
async fn a_repeated_push_is_answered_as_the_first() {
    let server = server().await;
    for merge_key in ["k", "-k"] {
        let service = URL_SAFE.encode("http://127.0.0.1:9/");
        let path = format!("/v3/queue/{merge_key}/POST/{service}?ontime=99999999999");
        let push = || server.raw("POST", &path, &[("idempotency-key", "1")], "{}");
        let first = push().await.is(202);
        let again = push().await;
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(again.is(202), first);
    }
    assert_eq!(server.get("/v1/queues/bundles").await.is(200)["counts"]["bundles"], 2);
}
