//! A task's span in the words of OpenTelemetry: those for messages, and a few of our own.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use punctual_core::Timestamp;
use punctual_core::task::{Attempt, Outcome};
use punctual_core::trace::TaskSpan;

/// A request that tells a collector of spans.
pub(super) fn request(service_name: &str, spans: Vec<TaskSpan>) -> Vec<u8> {
    let attributes = vec![
        text("service.name", service_name),
        text("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let scope = InstrumentationScope { name: "punctual".to_owned(), ..Default::default() };
    let spans = spans.into_iter().map(span).collect();
    let spans = ScopeSpans { scope: Some(scope), spans, ..Default::default() };
    let resource_spans = vec![ResourceSpans {
        resource: Some(Resource { attributes, ..Default::default() }),
        scope_spans: vec![spans],
        ..Default::default()
    }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

fn span(told: TaskSpan) -> Span {
    let mut attributes = vec![
        text("messaging.system", "punctual"),
        text("messaging.destination.name", told.queue.as_str()),
        text("messaging.message.id", &told.id),
    ];
    let (verb, kind) = match &told.attempt {
        None => ("push", SpanKind::Producer),
        Some(attempt) if attempt.http.is_some() => ("deliver", SpanKind::Client),
        Some(_) => ("attempt", SpanKind::Consumer),
    };
    attributes.push(text("messaging.operation.name", verb));
    if let Some(attempt) = &told.attempt {
        add(&mut attributes, attempt);
    }
    Span {
        trace_id: told.at.trace_id().to_vec(),
        span_id: told.at.span_id().map(|id| id.to_vec()).unwrap_or_default(),
        parent_span_id: told.parent.map(|id| id.to_vec()).unwrap_or_default(),
        name: format!("{verb} {}", told.queue),
        kind: kind.into(),
        start_time_unix_nano: nanos(told.began_at),
        end_time_unix_nano: nanos(told.ended_at),
        attributes,
        status: told.attempt.as_deref().map(status),
        ..Default::default()
    }
}

fn add(attributes: &mut Vec<KeyValue>, attempt: &Attempt) {
    attributes.push(text("punctual.outcome", outcome(attempt.outcome)));
    if let Some(worker) = &attempt.worker {
        attributes.push(text("punctual.worker", worker.as_str()));
    }
    if let Some(code) = attempt.status {
        attributes.push(attribute("http.response.status_code", Value::IntValue(code.into())));
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Failed => "failed",
        Outcome::Released => "released",
        Outcome::Unconfirmed => "unconfirmed",
        Outcome::Lost => "lost",
        Outcome::Cancelled => "cancelled",
        Outcome::Paused => "paused",
        Outcome::Freed => "freed",
    }
}

fn status(attempt: &Attempt) -> Status {
    let is_bad = matches!(attempt.outcome, Outcome::Failed | Outcome::Lost | Outcome::Unconfirmed);
    let code = if is_bad { StatusCode::Error } else { StatusCode::Unset };
    let message = attempt.error.clone().filter(|_| is_bad).unwrap_or_default();
    Status { code: code.into(), message }
}

fn nanos(time: Timestamp) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(0).saturating_mul(1_000_000)
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..Default::default() }
}
