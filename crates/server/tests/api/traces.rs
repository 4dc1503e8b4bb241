//! Traces: from the push through attempts to the callback, as a collector hears of them.

use std::collections::HashMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use punctual_core::http::Reach;
use punctual_server::{DeliveryConfig, ServerConfig, TraceConfig};

use super::delivery::{Reply, Seen, Stub};
use super::{TestServer, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async fn traced(endpoint: String) -> TestServer {
    let delivery = DeliveryConfig { reach: Reach::everywhere(), ..DeliveryConfig::default() };
    let traces = Some(TraceConfig { endpoint, service_name: "shop".to_owned() });
    TestServer::with(ServerConfig { delivery, traces, ..ServerConfig::default() }).await
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The spans of some requests, by name.
fn spans(seen: &[Seen]) -> HashMap<String, Span> {
    let mut spans = HashMap::new();
    for request in seen {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/traces"));
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
        let told = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
        for resource in told.resource_spans {
            let name = &resource.resource.as_ref().unwrap().attributes[0];
            assert_eq!(name.key, "service.name");
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                spans.insert(span.name.clone(), span);
            }
        }
    }
    spans
}

/// Waits until the collector has heard of so many kinds of spans.
async fn heard(collector: &Stub, count: usize) -> HashMap<String, Span> {
    let mut requests = 1;
    loop {
        let spans = spans(&collector.seen(requests).await);
        if spans.len() >= count {
            return spans;
        }
        requests += 1;
    }
}

fn text<'a>(span: &'a Span, key: &str) -> &'a str {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|it| it.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{key}: {other:?}"),
    }
}

#[tokio::test]
async fn a_task_is_followed_from_its_push_to_its_callback() {
    let collector = Stub::start(|_| Reply::status(200)).await;
    let target = Stub::start(|_| Reply::status(200)).await;
    let server = traced(collector.url("")).await;
    let task = json!({"id": "t", "payload": {"password": "hidden"},
        "callback": {"http": {"url": target.url("/done?key=hidden")}}});
    let headers = [("traceparent", PARENT)];
    let pushed = server.raw("POST", "/v1/queues/q/tasks", &headers, task.to_string()).await.is(201);
    assert_eq!(pushed["traceparent"], PARENT);
    let taken = server.take(json!({"worker": "w"})).await;
    assert_eq!(taken["traceparent"], PARENT);
    server.verb("t", "commit", json!({"token": taken["token"]})).await.is(200);
    let called = &target.seen(1).await[0];
    let spans = heard(&collector, 4).await;
    for span in spans.values() {
        assert_eq!(hex(&span.trace_id), TRACE, "{span:?}");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        assert!(!format!("{span:?}").contains("hidden"));
    }
    let [push, attempt, back, call] =
        ["push q", "attempt q", "push callbacks", "deliver callbacks"].map(|name| &spans[name]);
    assert_eq!(hex(&push.parent_span_id), "b7ad6b7169203331");
    assert_eq!(attempt.parent_span_id, push.span_id);
    assert_eq!(back.parent_span_id, attempt.span_id);
    assert_eq!(call.parent_span_id, back.span_id);
    let sent = &called.headers["traceparent"];
    assert_eq!(*sent, format!("00-{TRACE}-{}-01", hex(&call.span_id)));
    assert_eq!(text(attempt, "punctual.worker"), "w");
    assert_eq!(text(attempt, "punctual.outcome"), "done");
    assert_eq!(text(attempt, "messaging.message.id"), "t");
}

#[tokio::test]
async fn steps_and_runs_and_tasks_without_a_trace_have_one_all_the_same() {
    let collector = Stub::start(|_| Reply::status(200)).await;
    let server = traced(collector.url("/v1/traces")).await;
    let steps =
        json!([{"name": "a", "queue": "one"}, {"name": "b", "queue": "two", "after": ["a"]}]);
    let flow = json!({"id": "f", "steps": steps}).to_string();
    server.raw("POST", "/v1/flows", &[("traceparent", PARENT)], flow).await.is(201);
    for queue in ["one", "two"] {
        let taken = server.post(&format!("/v1/queues/{queue}/take"), json!({})).await.is(200);
        let task = &taken["tasks"][0];
        assert_eq!(task["traceparent"], PARENT, "{task}");
        let (id, body) = (task["id"].as_str().unwrap(), json!({"token": task["token"]}));
        server.post(&format!("/v1/queues/{queue}/tasks/{id}/commit"), body).await.is(200);
    }
    let plan = json!({"plan_id": "p", "station": "three", "plan_type": "none"});
    server.post("/v1/plans", plan).await.is(201);
    server.post("/v1/queues/four/tasks", json!({})).await.is(201);
    let spans = heard(&collector, 6).await;
    assert_eq!(hex(&spans["attempt two"].trace_id), TRACE);
    assert!(spans["push four"].parent_span_id.is_empty());
    assert!(spans["push three"].parent_span_id.is_empty());
    assert_ne!(spans["push three"].trace_id, spans["push four"].trace_id);
}

#[tokio::test]
async fn a_failed_attempt_says_so_and_what_is_not_wanted_is_not_told() {
    let collector = Stub::start(|_| Reply::status(200)).await;
    let server = traced(collector.url("")).await;
    let unwanted = PARENT.replace("-01", "-00");
    let headers = [("traceparent", unwanted.as_str())];
    server.raw("POST", "/v1/queues/silent/tasks", &headers, "{}").await.is(201);
    let headers = [("traceparent", "nonsense")];
    let pushed = server.raw("POST", "/v1/queues/q/tasks", &headers, r#"{"id":"t"}"#).await.is(201);
    assert!(pushed["traceparent"].as_str().unwrap().starts_with("00-"));
    let taken = server.take(json!({})).await;
    let failed = json!({"token": taken["token"], "error": "out of ink"});
    server.verb("t", "fail", failed).await.is(200);
    let spans = heard(&collector, 2).await;
    let status = spans["attempt q"].status.as_ref().unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "out of ink"));
    assert!(!spans.contains_key("push silent"));
}

#[tokio::test]
async fn a_collector_that_is_away_costs_nobody_anything() {
    let server = traced("http://127.0.0.1:1".to_owned()).await;
    for _ in 0..20 {
        server.push(json!({})).await;
    }
    let lost = "punctual_trace_spans_total{outcome=\"dropped\"}";
    let is_told = |metrics: &serde_json::Value| {
        let text = metrics.as_str().unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(lost));
        line.is_some_and(|line| line.ends_with(" 20"))
    };
    server.eventually("/metrics", is_told).await;
    server.push(json!({})).await;
}

#[tokio::test]
async fn without_a_collector_the_trace_is_kept_and_carried_on() {
    let target = Stub::start(|_| Reply::status(200)).await;
    let delivery = DeliveryConfig { reach: Reach::everywhere(), ..DeliveryConfig::default() };
    let server = TestServer::with(ServerConfig { delivery, ..ServerConfig::default() }).await;
    let pushed = server.push(json!({"id": "plain"})).await;
    assert!(pushed.get("traceparent").is_none());
    server.put("/v1/queues/out", json!({"mode": "http", "url": target.url("/")})).await.is(201);
    let headers = [("traceparent", PARENT)];
    server.raw("POST", "/v1/queues/out/tasks", &headers, "{}").await.is(201);
    let seen = &target.seen(1).await[0];
    assert!(seen.headers["traceparent"].starts_with(&format!("00-{TRACE}-")));
    let notice = json!({"url": target.url("/notice")}).to_string();
    server.raw("POST", "/v1/notices", &headers, notice).await.is(202);
    let seen = &target.seen(2).await[1];
    assert!(seen.headers["traceparent"].starts_with(&format!("00-{TRACE}-")));
}
