//! Where deliveries may not go: refused when stored, refused when connecting, never tried again.

use super::*;

/// Addresses of this machine and its neighbours, in every spelling.
const PRIVATE: [&str; 30] = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://localhost/",
    "http://LocalHost.:99/",
    "http://a.localhost/",
];

#[tokio::test]
async fn private_addresses_are_refused_when_stored() {
    let server = reaching(Reach::public()).await;
    put_queue(&server, json!({"url": "https://example.com/"})).await;
    let own = format!("http://{}/", server.address);
    for url in PRIVATE.into_iter().chain([own.as_str()]) {
        for (field, task) in [
            ("http.url", json!({"http": {"url": url}})),
            ("callback.http.url", json!({"callback": {"http": {"url": url}}})),
            (
                "callback.task.http.url",
                json!({"callback": {"queue": "q", "task": {"http": {"url": url}}}}),
            ),
        ] {
            let detail = server.post("/v1/queues/q/tasks", task).await.problem(422, "invalid");
            assert!(detail.starts_with(field) && detail.contains("private"), "{url}: {detail}");
        }
        let detail = server.put("/v1/queues/q", json!({"url": url})).await.problem(422, "invalid");
        assert!(detail.starts_with("url: "), "{url}: {detail}");
        let detail =
            server.put("/v1/queues/new", json!({"url": url})).await.problem(422, "invalid");
        assert!(detail.starts_with("url: "), "{url}: {detail}");
    }
    let batch = json!({"tasks": [{"http": {"url": "http://10.1/"}}, {"delay": "1h"}]});
    let results = server.post("/v1/queues/q/tasks", batch).await.is(200);
    assert_eq!(results["results"][0]["code"], "invalid");
    assert_eq!(results["results"][1]["ok"], true);
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 1);
}

#[tokio::test]
async fn what_breaks_a_request_is_refused_when_stored() {
    let server = delivering(json!({"url": "https://example.com/"})).await;
    for (http, field) in [
        (json!({"url": "http://a.example/\r\nx: y"}), "http.url"),
        (json!({"url": "http://a.example/\u{0}"}), "http.url"),
        (json!({"url": "http://a.ex\tample/"}), "http.url"),
        (json!({"url": "http://u:p@a.example/"}), "http.url"),
        (json!({"url": "http://u@a.example/"}), "http.url"),
        (json!({"url": "ftp://a.example/"}), "http.url"),
        (json!({"url": "//a.example/"}), "http.url"),
        (json!({"url": ""}), "http.url"),
        (json!({"headers": {"a": "b\r\nc: d"}}), "http.headers"),
        (json!({"headers": {"a": "b\nc"}}), "http.headers"),
        (json!({"headers": {"a": "\u{0}"}}), "http.headers"),
        (json!({"headers": {"a\r\nb": "c"}}), "http.headers"),
        (json!({"headers": {"Host": "b.example"}}), "http.headers"),
        (json!({"headers": {"content-length": "0"}}), "http.headers"),
        (json!({"headers": {"Transfer-Encoding": "chunked"}}), "http.headers"),
        (json!({"headers": {"connection": "close"}}), "http.headers"),
        (json!({"headers": {"Webhook-Id": "1"}}), "http.headers"),
        (json!({"content_type": "a/b\r\nc: d"}), "http.content_type"),
        (json!({"method": "GE T"}), "http.method"),
        (json!({"method": "CONNECT"}), "http.method"),
        (json!({"timeout": 0}), "http.timeout"),
        (json!({"success": {"status": "200 OK"}}), "http.success.status"),
        (json!({"colour": "red"}), "http.colour"),
    ] {
        let body = json!({"http": http});
        let detail = server.post("/v1/queues/q/tasks", body).await.problem(422, "invalid");
        assert!(detail.starts_with(field), "{http}: {detail}");
    }
    let long = format!("http://a.example/{}", "x".repeat(8 << 10));
    let body = json!({"http": {"url": long}});
    server.post("/v1/queues/q/tasks", body).await.problem(413, "too_large");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
}

#[tokio::test]
async fn names_are_judged_by_the_address_they_lead_to() {
    // No connection is used again, so every name is looked up every time.
    let closing = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec();
    let stub = Stub::start(move |_| Reply::Raw(closing.clone())).await;
    let resolver = Names::new(&[
        ("good.example", &[&["127.0.0.1"]]),
        ("inside.example", &[&["127.0.0.2"]]),
        ("mixed.example", &[&["127.0.0.1", "10.0.0.1"]]),
        ("mapped.example", &[&["::ffff:10.0.0.1"]]),
        ("metadata.example", &[&["169.254.169.254"]]),
        ("nat64.example", &[&["64:ff9b::a00:1"]]),
        ("rebinding.example", &[&["127.0.0.1"], &["127.0.0.2"]]),
        ("nowhere.example", &[&[]]),
    ]);
    let reach = Reach::with(vec!["127.0.0.1".parse().unwrap()]);
    let server = with(DeliveryConfig { reach, resolver, ..DeliveryConfig::default() }).await;
    put_queue(&server, json!({})).await;
    let push = async |name: &str, id: &str| {
        let url = format!("http://{name}.example:{}/", stub.address.port());
        server
            .push(json!({"id": id, "http": {"url": url, "headers": {"connection-x": "1"}}}))
            .await;
    };
    push("good", "good").await;
    server.until("good", "done").await;
    for name in ["inside", "mixed", "mapped", "metadata", "nat64"] {
        push(name, name).await;
        let task = server.until(name, "failed").await;
        assert_eq!(
            (&task["error"], &task["attempt"]),
            (&json!("private_target"), &json!(1)),
            "{name}"
        );
        let told = task["history"][0]["error"].as_str().unwrap();
        assert!(told.starts_with("private_target: ") && told.contains("is private"), "{told}");
    }
    for (name, error) in [("nowhere", "it has no address"), ("unknown", "no such name")] {
        push(name, name).await;
        let task = server.until(name, "waiting").await;
        assert_eq!(task["error"], format!("the name cannot be looked up: {error}"));
        assert!(task["history"][0]["http"]["dns"].is_number());
    }
    // A name that leads elsewhere the second time is judged the second time.
    push("rebinding", "first").await;
    server.until("first", "done").await;
    push("rebinding", "second").await;
    assert_eq!(server.until("second", "failed").await["error"], "private_target");
    assert_eq!(stub.count(), 2);
}

#[tokio::test]
async fn the_server_is_no_target_of_its_own() {
    let resolver = Names::new(&[("me.example", &[&["127.0.0.1"]])]);
    let delivery = DeliveryConfig { resolver, ..DeliveryConfig::default() };
    let server = with(delivery).await;
    put_queue(&server, json!({})).await;
    let url = format!("http://me.example:{}/v1/queues/q/reset", server.address.port());
    server.push(json!({"id": "t", "http": {"url": url}})).await;
    assert_eq!(server.until("t", "failed").await["error"], "private_target");
}
