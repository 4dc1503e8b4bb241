//! Traces: the spans of tasks, sent to a collector as OTLP over HTTP.
//!
//! ```text
//!   events.announce ─▶ Tracer::record ─▶ bounded queue ─▶ Exporter ─▶ POST …/v1/traces
//! ```
//!
//! Nobody who records waits: what does not fit is dropped and counted. A collector that is away costs the
//! spans of that time, and a line in the log when it goes and when it comes back.
//!
//! - `encode`: a span in the words of OpenTelemetry. `exporter`: the loop that sends them.

mod encode;
mod exporter;

use std::sync::atomic::{AtomicU64, Ordering};

use punctual_core::TraceParent;
use punctual_core::trace::TaskSpan;
use tokio::sync::mpsc::{Receiver, Sender, channel};

pub(crate) use self::exporter::Exporter;
use crate::engine::random;

/// Spans that wait to be sent.
const SPANS_MAX: usize = 8_192;

/// Where traces go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceConfig {
    /// The collector's URL, `http://host:4318`; `/v1/traces` is added if it is not there.
    pub endpoint: String,
    /// The name of this service in traces.
    pub service_name: String,
}

/// Takes spans, if traces are wanted.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    spans: Option<Sender<TaskSpan>>,
    /// Spans that arrived.
    pub(crate) exported: AtomicU64,
    /// Spans that were lost.
    pub(crate) dropped: AtomicU64,
}

impl Tracer {
    /// A tracer, and what it takes.
    pub(crate) fn new() -> (Self, Receiver<TaskSpan>) {
        let (spans, receiver) = channel(SPANS_MAX);
        (Self { spans: Some(spans), ..Self::default() }, receiver)
    }

    /// Whether traces are wanted.
    pub(crate) fn is_on(&self) -> bool {
        self.spans.is_some()
    }

    /// A trace for a task that came without one, if traces are wanted.
    pub(crate) fn begin(&self) -> Option<TraceParent> {
        self.is_on().then(|| TraceParent::root(random::bits()))
    }

    /// Takes spans that are over.
    pub(crate) fn record(&self, spans: &[TaskSpan]) {
        let Some(sender) = &self.spans else { return };
        for span in spans {
            if sender.try_send(span.clone()).is_err() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
