//! One attempt: a request, its redirects if they are asked for, and the answer, all in its time.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use punctual_core::http::{Answer, Delivery, Exchange, Lapse, Outgoing, Verdict};
use punctual_core::limits::ANSWER_BYTES_MAX;
use punctual_core::{Timestamp, TraceParent};
use rustix::io::Errno;
use tokio::time::Instant;

use super::answer;
use super::connect::{Birth, Connector, Network, Unconnected, Why};
use super::sign::{MessageId, signature};
use crate::metrics::Delivered;

/// A pool of connections to one host.
pub(super) type Client = legacy::Client<Connector, Full<Bytes>>;

/// Redirects that are followed, if any are.
const REDIRECTS_MAX: u8 = 5;
/// How long a connection nobody uses is kept. Many servers close theirs after 5 s; a request sent
/// just then would be lost.
const IDLE_MAX: Duration = Duration::from_secs(4);
/// Largest head of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// What a target may send on HTTP/2 before it was read: per answer, and in all.
const H2_WINDOW_BYTES: (u32, u32) = (128 << 10, 1 << 20);

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
/// Headers that a request has, if nobody asks for more.
const HEADERS_USUAL: usize = 8;

/// How a target took an attempt, whatever it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// It answered.
    Up {
        /// How long it took.
        after: Duration,
    },
    /// It was not reached, or did not answer in time.
    Down,
    /// This machine could not even try.
    Ours,
}

/// An attempt that was made.
#[derive(Debug)]
pub(super) struct Attempted {
    pub(super) delivery: Delivery,
    pub(super) health: Health,
}

impl Attempted {
    /// How it ended, to be counted.
    pub(super) fn outcome(&self) -> Delivered {
        match (&self.delivery.verdict, self.health) {
            (Verdict::Accepted { .. }, _) => Delivered::Accepted,
            (Verdict::Failed { .. }, Health::Up { .. }) => Delivered::Refused,
            (Verdict::Failed { .. }, Health::Down) => Delivered::Unreached,
            (Verdict::Failed { .. }, Health::Ours) => Delivered::Untried,
        }
    }
}

/// A client with no connections yet, which keeps at most so many that nobody uses.
pub(super) fn client(network: &Arc<Network>, idle_max: usize) -> Client {
    legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(idle_max)
        .http1_max_buf_size(HEAD_BYTES_MAX)
        .http2_max_header_list_size(HEAD_BYTES_MAX as u32)
        .http2_initial_stream_window_size(H2_WINDOW_BYTES.0)
        .http2_initial_connection_window_size(H2_WINDOW_BYTES.1)
        .build(Connector(network.clone()))
}

/// Sends a request and reads what comes back. `now` is the time the receiver is told.
pub(super) async fn send(
    client: &Client,
    outgoing: Box<Outgoing>,
    id: MessageId,
    trace: Option<TraceParent>,
    now: Timestamp,
) -> Attempted {
    let timeout = Duration::from_millis(outgoing.timeout.as_millis().unsigned_abs());
    let mut attempt = Attempt::new(client, outgoing, id, trace, now);
    let ended = tokio::time::timeout(timeout, attempt.run()).await;
    attempt.conclude(ended.unwrap_or(Err(Failure::TimedOut)))
}

/// Why an attempt did not come to an answer.
enum Failure {
    TimedOut,
    Client(legacy::Error),
    Body(hyper::Error),
    Refused(String),
}

/// An attempt under way.
struct Attempt<'a> {
    client: &'a Client,
    outgoing: Box<Outgoing>,
    id: MessageId,
    /// The span the attempt is, if its task belongs to a trace.
    trace: Option<TraceParent>,
    now: Timestamp,
    start: Instant,
    body: Bytes,
    birth: Birth,
    first_byte: Option<Lapse>,
    redirects: u8,
    answer: Answer,
    answer_bytes: usize,
}

impl<'a> Attempt<'a> {
    fn new(
        client: &'a Client,
        outgoing: Box<Outgoing>,
        id: MessageId,
        trace: Option<TraceParent>,
        now: Timestamp,
    ) -> Self {
        let body = outgoing.content.clone().map(Bytes::from_owner).unwrap_or_default();
        Self {
            client,
            outgoing,
            id,
            trace,
            now,
            start: Instant::now(),
            body,
            birth: Birth::default(),
            first_byte: None,
            redirects: 0,
            answer: Answer::default(),
            answer_bytes: 0,
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let response = loop {
            let request = self.request().map_err(Failure::Refused)?;
            let response = self.client.request(request).await.map_err(Failure::Client)?;
            self.first_byte = Some(self.start.elapsed().into());
            self.birth = response.extensions().get().map(Birth::told).unwrap_or_default();
            if !self.follows(&response)? {
                break response;
            }
        };
        let needle = self.outgoing.success.needle().map(str::to_owned);
        let (answer, bytes) = (&mut self.answer, &mut self.answer_bytes);
        answer::read(response, needle.as_deref(), self.now, answer, bytes)
            .await
            .map_err(Failure::Body)
    }

    /// Turns to where an answer redirects, if it does and redirects are followed.
    fn follows(&mut self, response: &Response<Incoming>) -> Result<bool, Failure> {
        let status = response.status().as_u16();
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        let location = response.headers().get(LOCATION).filter(|_| is_redirect);
        let Some(location) = location.filter(|_| self.outgoing.follow_redirects) else {
            return Ok(false);
        };
        self.answer.status = status;
        if self.redirects == REDIRECTS_MAX {
            return Err(Failure::Refused(format!("it redirects more than {REDIRECTS_MAX} times")));
        }
        // Not all of them are ASCII, though they should be.
        let location = String::from_utf8_lossy(location.as_bytes());
        self.outgoing.redirect(status, &location).map_err(Failure::Refused)?;
        self.redirects += 1;
        self.answer.status = 0;
        self.first_byte = None;
        if self.outgoing.content.is_none() {
            self.body = Bytes::new();
        }
        Ok(true)
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, String> {
        let out = &self.outgoing;
        let uri: Uri =
            out.url.as_str().parse().map_err(|_| "its URL cannot be called".to_owned())?;
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.uri_mut() = uri;
        *request.method_mut() = Method::from_bytes(out.method.name().as_bytes())
            .map_err(|_| "its method cannot be used".to_owned())?;
        let has_body = matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH);
        let headers = request.headers_mut();
        headers.reserve(HEADERS_USUAL);
        let mut set = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        };
        set(USER_AGENT, concat!("punctual/", env!("CARGO_PKG_VERSION")).to_owned());
        let trace = self.trace.map(|trace| trace.to_string());
        set(TRACEPARENT, trace.unwrap_or_else(|| self.id.traceparent()));
        for (name, value) in out.all_headers() {
            if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                set(name, value.to_owned());
            }
        }
        if let Some(content_type) = &out.content_type {
            set(CONTENT_TYPE, content_type.clone());
        }
        // Without its length, many a receiver takes a body that is empty for one that is missing.
        if self.body.is_empty() && has_body {
            set(CONTENT_LENGTH, "0".to_owned());
        }
        let (id, timestamp_secs) = (self.id.header(), self.now.as_millis() / 1_000);
        if let Some(value) = signature(&out.secrets, &id, timestamp_secs, &self.body) {
            set(WEBHOOK_SIGNATURE, value);
        }
        set(WEBHOOK_ID, id);
        set(WEBHOOK_TIMESTAMP, timestamp_secs.to_string());
        Ok(request)
    }

    /// What the attempt came to.
    fn conclude(mut self, ended: Result<(), Failure>) -> Attempted {
        let (verdict, health) = match ended {
            Ok(()) => (self.answer.judge(&self.outgoing.success), self.up()),
            Err(failure) => self.explain(failure),
        };
        // What a redirect led to says nothing about the host that was asked.
        let health = match health {
            Health::Down if self.redirects > 0 => self.up(),
            health => health,
        };
        let text = &self.answer.body[..self.answer.body.len().min(ANSWER_BYTES_MAX)];
        let exchange = Exchange {
            method: self.outgoing.method,
            url: self.outgoing.url.as_str().to_owned(),
            address: self.birth.address,
            redirects: self.redirects,
            sent_bytes: u32::try_from(self.body.len()).unwrap_or(u32::MAX),
            dns: self.birth.dns,
            connect: self.birth.connect,
            tls: self.birth.tls,
            first_byte: self.first_byte,
            total: self.start.elapsed().into(),
            answer_bytes: u32::try_from(self.answer_bytes).unwrap_or(u32::MAX),
            answer: self.first_byte.map(|_| String::from_utf8_lossy(text).into_owned()),
        };
        let status = Some(self.answer.status).filter(|status| *status != 0);
        Attempted { delivery: Delivery { exchange, status, verdict, sent: None }, health }
    }

    fn up(&self) -> Health {
        Health::Up { after: self.start.elapsed() }
    }

    fn explain(&mut self, failure: Failure) -> (Verdict, Health) {
        match failure {
            Failure::TimedOut => {
                let seconds = self.outgoing.timeout.as_secs_f64();
                let what = if self.first_byte.is_some() { "no whole answer" } else { "no answer" };
                (Verdict::failed(format!("{what} within {seconds} s")), Health::Down)
            }
            Failure::Refused(reason) => (Verdict::failed(reason), self.up()),
            Failure::Body(error) => {
                let error = format!("the answer broke off: {}", innermost(&error));
                (Verdict::failed(error), self.up())
            }
            Failure::Client(error) => self.explain_client(&error),
        }
    }

    fn explain_client(&mut self, error: &legacy::Error) -> (Verdict, Health) {
        let unconnected = error.source().and_then(|source| source.downcast_ref::<Unconnected>());
        let Some(Unconnected { why, birth }) = unconnected else {
            let error = format!("no answer: {}", innermost(error));
            return (Verdict::failed(error), Health::Down);
        };
        self.birth = birth.clone();
        match why {
            Why::Private(_) | Why::Own(_) => {
                (Verdict::hopeless("private_target", why.to_string()), self.up())
            }
            Why::Connect(error) if is_ours(error) => {
                (Verdict::failed(why.to_string()), Health::Ours)
            }
            _ => (Verdict::failed(why.to_string()), Health::Down),
        }
    }
}

/// Whether connecting failed for want of something on this machine.
fn is_ours(error: &io::Error) -> bool {
    /// No file descriptors in the process, or on the machine; no buffers; no memory; no free port.
    const OURS: [Errno; 5] =
        [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    Errno::from_io_error(error).is_some_and(|code| OURS.contains(&code))
}

/// The first cause of an error: what it says is what happened.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use punctual_core::http::TargetUrl;

    use super::*;

    proptest! {
        /// What is checked is what is called: both ways of reading a URL must agree.
        #[test]
        fn every_url_that_is_taken_can_be_called(
            host in "[a-zA-Z0-9.%é\\[\\]:@-]{1,12}", rest in "([/?#\\\\].{0,30})?",
        ) {
            let Ok(url) = TargetUrl::parse("url", &format!("http://{host}{rest}")) else {
                return Ok(());
            };
            let uri: Uri = url.as_str().parse().unwrap();
            prop_assert_eq!(uri.host(), Some(url.host()));
            prop_assert_eq!(uri.port_u16().unwrap_or(80), url.port());
        }
    }
}
