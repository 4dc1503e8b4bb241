//! What arrives at the target, byte by byte.

use super::*;

/// Sends a notice with these fields and says what the target saw.
async fn arrived(fields: Value) -> (Value, Seen, String) {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let server = server().await;
    let mut message = json!({"id": "n", "url": stub.url("/hook")});
    message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    send(&server, message).await;
    let notice = until(&server, "succeeded", 1).await;
    (notice, stub.seen(1).await.remove(0), stub.address.to_string())
}

#[tokio::test]
async fn every_encoding_arrives_as_the_contract_says() {
    let form = Some("application/x-www-form-urlencoded");
    let (as_json, as_xml) = (Some("application/json"), Some("application/xml"));
    for (fields, method, path, content_type, body) in [
        (json!({}), "POST", "/hook", form, ""),
        (json!({"data": "a=1&b=2"}), "POST", "/hook", form, "a=1&b=2"),
        (json!({"data": {"b": "x y", "a": 1}}), "POST", "/hook", form, "a=1&b=x+y"),
        (json!({"data": "a=1&b=2", "http_method": "get"}), "GET", "/hook?a=1&b=2", None, ""),
        (json!({"data": {"a": "ü&"}, "http_method": "get"}), "GET", "/hook?a=%C3%BC%26", None, ""),
        (json!({"http_method": "GET"}), "GET", "/hook", None, ""),
        (
            json!({"content_type": "json", "data": {"a": [1, "é"]}}),
            "POST",
            "/hook",
            as_json,
            r#"{"a":[1,"é"]}"#,
        ),
        (
            json!({"content_type": "json", "data": "{\"a\": 1}"}),
            "POST",
            "/hook",
            as_json,
            r#"{"a": 1}"#,
        ),
        (
            json!({"content_type": "json", "data": {"a": 1, "b": [2, 3]}, "http_method": "get"}),
            "GET",
            "/hook?a=1&b=2&b=3",
            None,
            "",
        ),
        (
            json!({"content_type": "xml", "data": "<a b='1'>é</a>"}),
            "POST",
            "/hook",
            as_xml,
            "<a b='1'>é</a>",
        ),
        (
            json!({"content_type": "xml", "data": {"a": {"b": "<"}}}),
            "POST",
            "/hook",
            as_xml,
            "<a><b>&lt;</b></a>",
        ),
    ] {
        let (_, seen, host) = arrived(fields.clone()).await;
        let length = (method == "POST").then(|| body.len().to_string());
        assert_eq!(seen.headers.get("content-length"), length.as_ref(), "{fields}");
        assert_eq!((&*seen.method, &*seen.path), (method, path), "{fields}");
        assert_eq!(String::from_utf8(seen.body).unwrap(), body, "{fields}");
        assert_eq!(seen.headers.get("content-type").map(|it| &**it), content_type, "{fields}");
        assert_eq!(seen.headers["host"], host);
        assert!(
            seen.headers.contains_key("webhook-id") && seen.headers.contains_key("traceparent")
        );
    }
}

#[tokio::test]
async fn a_query_is_added_to_that_of_the_url() {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let server = server().await;
    let url = stub.url("/a?x=1#part");
    let message = json!({"id": "n", "url": url, "http_method": "get", "data": "y=2 3"});
    send(&server, message).await;
    until(&server, "succeeded", 1).await;
    assert_eq!(stub.seen(1).await[0].path, "/a?x=1&y=2%203");
}

#[tokio::test]
async fn headers_are_sent_and_secret_ones_hidden() {
    let headers = json!({"Authorization": "Bearer s", "X-Own": "1", "Content-Type": "text/x"});
    let (notice, seen, _) = arrived(json!({"headers": headers, "data": "a=1"})).await;
    assert_eq!(&seen.headers["authorization"], "Bearer s");
    assert_eq!((&*seen.headers["x-own"], &*seen.headers["content-type"]), ("1", "text/x"));
    let shown = json!({"authorization": "***", "x-own": "1", "content-type": "text/x"});
    assert_eq!(notice["headers"], shown);
}
