//! How notices go on and end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use punctual_core::http::Reach;
use punctual_core::notice::{Message, NoticeSettings};
use punctual_core::{QueueName, Seed, Span, Spec, TaskId, Timestamp};
use punctual_server::{DeliveryConfig, ServerConfig};
use punctual_store::{Classes, ManualClock, Push, Take, Taken, Taker};

use super::*;

#[tokio::test]
async fn five_notices_are_sent_at_their_intervals() {
    let stub = Stub::start(|_| Reply::text(200, "not yet")).await;
    let server = server().await;
    let sent = send(&server, json!({"id": "n", "url": stub.url("/"), "data": "a=1"})).await;
    assert_eq!(sent["notice_interval"], json!([600, 600, 600, 600]));
    assert_eq!((&sent["success_id"], &sent["max_notices"]), (&json!(0), &json!(5)));
    for number in 1..=4 {
        let notice = until(&server, "waiting", number).await;
        assert_eq!(notice["notice_interval"].as_array().unwrap().len(), 4 - number as usize);
        let time = format!("2026-11-15T06:{}0:00.000Z", number);
        assert_eq!(notice["notice_time"], time);
        server.advance(599).await;
        assert_eq!(until(&server, "waiting", number).await["notice_time"], time);
        assert_eq!(stub.count(), number as usize);
        server.advance(1).await;
    }
    let notice = until(&server, "exhausted", 5).await;
    assert_eq!((&notice["success_id"], &notice["notice_time"]), (&json!(0), &json!(null)));
    let history = notice["history"].as_array().unwrap();
    assert_eq!((history.len(), &history[4]["answer"]), (5, &json!("not yet")));
    assert_eq!(history[0]["status"], 200);
    let http = &history[0]["http"];
    assert_eq!((&http["method"], &http["answer"]), (&json!("POST"), &json!("not yet")));
    assert!(http["first_byte"].is_number() && http["connect"].is_number(), "{http}");
    assert!(history[0]["error"].as_str().unwrap().contains("does not contain"), "{notice}");
    // On request, one more.
    let again = server.post("/v1/notices/n/retry", json!({})).await.is(200);
    assert_eq!(again["state"], "waiting");
    until(&server, "exhausted", 6).await;
    assert_eq!(stub.seen(6).await.len(), 6);
    server.advance(86_400).await;
    assert_eq!(server.get("/v1/notices/n").await.is(200)["state"], "exhausted");
}

#[tokio::test]
async fn success_is_a_status_and_the_flag() {
    for (flag, status, body, succeeds) in [
        (None, 200, "it was a success, really", true),
        (None, 201, "success", true),
        (None, 200, "SUCCESS", false),
        (None, 500, "success", false),
        (Some("ok!"), 200, "ok!", true),
        (Some("ok!"), 200, "success", false),
        (Some(""), 204, "", true),
        (Some(""), 200, "anything", true),
        (Some(""), 302, "", false),
    ] {
        let stub = Stub::start(move |_| Reply::text(status, body)).await;
        let server = server().await;
        let message = json!({"id": "n", "url": stub.url("/"), "success_flag": flag,
            "notice_interval": []});
        send(&server, message).await;
        let end = if succeeds { "succeeded" } else { "exhausted" };
        let notice = until(&server, end, 1).await;
        assert_eq!(notice["success_id"], u32::from(succeeds), "{flag:?} {status} {body}");
    }
    // A flag far behind the part of the answer that is kept.
    let stub = Stub::start(|_| Reply::text(200, &("x".repeat(300_000) + "success"))).await;
    let server = server().await;
    send(&server, json!({"id": "n", "url": stub.url("/")})).await;
    let notice = until(&server, "succeeded", 1).await;
    assert_eq!(notice["history"][0]["answer"].as_str().unwrap().len(), 4_096);
}

#[tokio::test]
async fn no_answer_is_a_notice_without_success() {
    let stub = Stub::start(|seen| match seen.path.as_str() {
        "/hang" => Reply::Hang,
        _ => Reply::Close,
    })
    .await;
    for (path, error) in [("/hang", "no answer within 0.05 s"), ("/close", "no answer")] {
        let server = server().await;
        let message = json!({"id": "n", "url": stub.url(path), "timeout": 0.05,
            "notice_interval": []});
        send(&server, message).await;
        let notice = until(&server, "exhausted", 1).await;
        let history = &notice["history"][0];
        assert!(history["error"].as_str().unwrap().starts_with(error), "{notice}");
        assert_eq!((&history["status"], &history["answer"]), (&json!(null), &json!(null)));
    }
    let server = server().await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    send(&server, json!({"id": "n", "url": format!("http://{gone}/"), "notice_interval": []}))
        .await;
    until(&server, "exhausted", 1).await;
}

#[tokio::test]
async fn a_success_queues_a_callback_with_notices_of_its_own() {
    let calls = AtomicUsize::new(0);
    let stub = Stub::start(move |seen| match seen.path.as_str() {
        "/hook" => Reply::text(200, "success"),
        _ if calls.fetch_add(1, Ordering::SeqCst) == 0 => Reply::status(500),
        _ => Reply::text(200, "success"),
    })
    .await;
    let server = server().await;
    send(
        &server,
        json!({"id": "n", "url": stub.url("/hook"), "data": "a=1",
        "callbak_url": stub.url("/done?b=2")}),
    )
    .await;
    until(&server, "succeeded", 1).await;
    let seen = stub.seen(2).await;
    assert_eq!((&*seen[1].method, &*seen[1].path), ("GET", "/done?b=2"));
    assert!(seen[1].body.is_empty());
    let callback = |state: &str, count: u32| {
        let state = state.to_owned();
        move |page: &Value| {
            let items = page["items"].as_array().unwrap();
            items
                .iter()
                .any(|it| it["id"] != "n" && it["state"] == *state && it["notice_count"] == count)
        }
    };
    let page = server.eventually("/v1/notices?state=waiting", callback("waiting", 1)).await;
    assert_eq!(page["items"][0]["notice_interval"], json!([600, 600, 600]));
    assert_eq!(page["items"][0]["callback_url"], json!(null));
    server.advance(600).await;
    server.eventually("/v1/notices?state=succeeded", callback("succeeded", 2)).await;
    assert_eq!(stub.count(), 3);
}

#[tokio::test]
async fn enforced_repeats_send_all_and_call_back_for_each_success() {
    let sent = AtomicUsize::new(0);
    let stub = Stub::start(move |seen| match seen.path.as_str() {
        "/hook" if sent.fetch_add(1, Ordering::SeqCst) % 2 == 1 => Reply::text(200, "success"),
        "/hook" => Reply::status(500),
        _ => Reply::text(200, "success"),
    })
    .await;
    let server = server().await;
    send(
        &server,
        json!({"id": "n", "url": stub.url("/hook"), "notice_interval": [10, 10, 10, 10],
        "enforce_repeate_notice": true, "callback_url": stub.url("/done")}),
    )
    .await;
    for (number, first) in [(1, 0), (2, 2), (3, 2), (4, 2)] {
        let notice = until(&server, "waiting", number).await;
        assert_eq!(notice["success_id"], first);
        server.advance(10).await;
    }
    let notice = until(&server, "succeeded", 5).await;
    assert_eq!((&notice["success_id"], &notice["notice_interval"]), (&json!(2), &json!([])));
    let seen = stub.seen(7).await;
    assert_eq!(seen.iter().filter(|seen| seen.path == "/done").count(), 2);
}

#[tokio::test]
async fn a_notice_is_cancelled_at_once_and_reads_so_for_a_day() {
    let stub = Stub::start(|_| Reply::Gate).await;
    let server = server().await;
    let callback = stub.url("/done");
    send(&server, json!({"id": "n", "url": stub.url("/"), "callback_url": callback})).await;
    stub.seen(1).await;
    assert_eq!(server.get("/v1/notices/n").await.is(200)["state"], "delivering");
    server.delete("/v1/notices/n").await.is(204);
    assert_eq!(server.get("/v1/notices/n").await.is(200)["state"], "cancelled");
    server.delete("/v1/notices/n").await.is(204);
    stub.open();
    let waiting = json!({"id": "later", "url": stub.url("/later")});
    send(&server, waiting).await;
    stub.seen(2).await;
    server.advance(86_399).await;
    let notice = server.get("/v1/notices/n").await.is(200);
    assert_eq!((&notice["state"], &notice["notice_count"]), (&json!("cancelled"), &json!(0)));
    server.advance(2).await;
    server.eventually("/v1/notices/n", |read| read["code"] == "not_found").await;
    assert!(stub.seen(2).await.iter().all(|seen| seen.path != "/done"), "nothing follows it");
}

#[tokio::test]
async fn what_was_under_way_when_a_server_ended_is_sent_again_by_the_next() {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
    let store = crate::store(&clock);
    let message = json!({"id": "n", "url": stub.url("/"), "notice_interval": []}).to_string();
    let message: Message = serde_json::from_str(&message).unwrap();
    let new = message.into_task(&NoticeSettings::default(), &Reach::everywhere()).unwrap();
    let (queue, id) = (QueueName::notices(), TaskId::parse("n").unwrap());
    let notice = Arc::new(Spec::new(queue.clone(), new, id, store.now()));
    let push = Push { queue: queue.clone(), tasks: vec![notice], keyed: None };
    store.push(push).await.unwrap();
    let seed = Seed::new(7);
    let hold = Some(Span::from_secs(3_600));
    let taker = Taker { seed, worker: None, n: 1, hold, confirm: false, capacity: None };
    let take = Take { queue, classes: Classes::all(), takers: vec![taker] };
    assert!(matches!(store.take(take).await.unwrap(), Taken::Tasks { .. }));

    let delivery = DeliveryConfig { reach: Reach::everywhere(), ..DeliveryConfig::default() };
    let config = ServerConfig { delivery, ..ServerConfig::default() };
    let is_exclusive = store.is_exclusive();
    let server = TestServer::over(store, clock, config).await;
    if !is_exclusive {
        // Another server may be at it, until the hold ends.
        server.advance(3_600).await;
    }
    let notice = until(&server, "succeeded", 1).await;
    assert_eq!((&notice["success_id"], stub.count()), (&json!(1), 1));
}

#[tokio::test]
async fn a_target_may_ask_for_a_longer_wait() {
    let busy = || Reply::Answer(503, vec![("retry-after", "7200".to_owned())], Vec::new());
    let stub = Stub::start(move |_| busy()).await;
    let server = server().await;
    send(&server, json!({"id": "n", "url": stub.url("/")})).await;
    assert_eq!(until(&server, "waiting", 1).await["notice_time"], "2026-11-15T08:00:00.000Z");
}
