//! The loop that sends spans to the collector.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Uri};
use punctual_core::trace::TaskSpan;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::encode::request;
use super::{TraceConfig, Tracer};
use crate::delivery::{DeliveryConfig, Messenger};

/// Most spans of one request.
const BATCH_MAX: usize = 512;
/// How long spans gather.
const GATHER: Duration = Duration::from_millis(500);
/// How long the collector has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long it is left alone after it did not.
const PAUSE: Duration = Duration::from_secs(5);
/// Where collectors take traces.
const PATH: &str = "/v1/traces";

/// Sends spans.
pub(crate) struct Exporter {
    spans: Receiver<TaskSpan>,
    tracer: Arc<Tracer>,
    messenger: Messenger,
    uri: Option<Uri>,
    service_name: String,
    is_away: bool,
}

impl Exporter {
    /// An exporter that is not running yet.
    pub(crate) fn new(
        config: TraceConfig,
        delivery: &DeliveryConfig,
        tracer: Arc<Tracer>,
        spans: Receiver<TaskSpan>,
    ) -> Self {
        let base = config.endpoint.trim_end_matches('/');
        let whole = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
        let uri = whole.parse().ok();
        let messenger = Messenger::new(delivery);
        let service_name = config.service_name;
        Self { spans, tracer, messenger, uri, service_name, is_away: false }
    }

    /// Sends what comes until told to stop, and then what is left.
    pub(crate) async fn run(mut self, stopping: impl Future<Output = ()>) {
        tokio::pin!(stopping);
        loop {
            let pause = if self.is_away { PAUSE } else { GATHER };
            let mut batch = Vec::new();
            tokio::select! {
                () = &mut stopping => break,
                _ = self.spans.recv_many(&mut batch, 1) => {}
            }
            tokio::select! {
                () = &mut stopping => {}
                () = sleep(pause) => {}
            }
            self.fill(&mut batch);
            self.send(batch).await;
        }
        loop {
            let mut batch = Vec::new();
            self.fill(&mut batch);
            if batch.is_empty() || self.is_away {
                return;
            }
            self.send(batch).await;
        }
    }

    fn fill(&mut self, batch: &mut Vec<TaskSpan>) {
        while batch.len() < BATCH_MAX
            && let Ok(span) = self.spans.try_recv()
        {
            batch.push(span);
        }
    }

    /// Sends spans. Those that do not arrive are gone.
    async fn send(&mut self, batch: Vec<TaskSpan>) {
        let count = batch.len() as u64;
        let sent = timeout(ANSWER_WITHIN, self.post(request(&self.service_name, batch))).await;
        match sent.unwrap_or_else(|_| Err(format!("no answer within {ANSWER_WITHIN:?}"))) {
            Ok(()) => {
                self.tracer.exported.fetch_add(count, Ordering::Relaxed);
                if std::mem::take(&mut self.is_away) {
                    info!("the collector takes traces again");
                }
            }
            Err(reason) => {
                self.tracer.dropped.fetch_add(count, Ordering::Relaxed);
                if !std::mem::replace(&mut self.is_away, true) {
                    warn!(reason, "the collector takes no traces; they are dropped meanwhile");
                }
            }
        }
    }

    async fn post(&self, body: Vec<u8>) -> Result<(), String> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone().ok_or("its address is no URL")?;
        let kind = HeaderValue::from_static("application/x-protobuf");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        let status = self.messenger.send(request).await.ok_or("it cannot be reached")?;
        if status.is_success() { Ok(()) } else { Err(format!("it answered with {status}")) }
    }
}
