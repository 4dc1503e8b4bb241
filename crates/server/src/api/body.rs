//! Request bodies: read whole within their limits, then JSON whatever their type says. What of a body
//! nobody wanted is read as well, or its sender could neither hear why nor go on.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::FromRequest;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, Request};
use bytes::{Bytes, BytesMut};
use futures_util::future::poll_immediate;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use punctual_core::RawJson;
use punctual_core::limits::{
    BODY_BYTES_IN_FLIGHT_MAX, BODY_BYTES_MAX, BODY_MEMORY_PARTS, PAYLOAD_BYTES_MAX,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::json;
use super::rights;
use super::{App, Problem};
use crate::access::{Access, Bearer};
use crate::code::Code;

/// The least that must come of a body in a time: 1 KiB a second.
const PACE_TIME: Duration = Duration::from_secs(30);
const PACE_BYTES_MIN: usize = 30 << 10;
/// Bytes in flight that are kept for settling tasks.
const RESERVED_FOR_SETTLING: usize = 16 << 20;
/// How long the rest of a refused body is read, and how long its sender may pause meanwhile.
const DISCARD_MAX: Duration = Duration::from_secs(10);
const DISCARD_PAUSE_MAX: Duration = Duration::from_secs(1);
/// What is set aside for a body before it has come.
const RESERVED_BYTES_MAX: usize = 1 << 20;

/// The bytes of all requests being worked on, and how many they may be.
#[derive(Debug)]
pub(crate) struct InFlight {
    bytes: AtomicUsize,
    bytes_max: usize,
    /// Held while a request is refused and its share is given back.
    refusing: Mutex<()>,
}

impl InFlight {
    /// None so far, in a server that may use so many bytes of memory.
    pub(crate) fn new(memory_bytes: Option<u64>) -> Self {
        let share = memory_bytes.map_or(usize::MAX, |bytes| (bytes / BODY_MEMORY_PARTS) as usize);
        let bytes_max = share.clamp(PAYLOAD_BYTES_MAX, BODY_BYTES_IN_FLIGHT_MAX);
        Self { bytes: AtomicUsize::new(0), bytes_max, refusing: Mutex::default() }
    }

    /// Most bytes of all requests together.
    pub(super) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Most bytes of all requests together, as far as a request may add to them: the last of them are kept
    /// for settling tasks, where there are more than the largest body needs.
    fn bytes_max_for(&self, settles: bool) -> usize {
        if settles {
            return self.bytes_max;
        }
        self.bytes_max.saturating_sub(RESERVED_FOR_SETTLING).max(self.body_bytes_max())
    }

    /// Adds bytes, if all together stay within a limit.
    fn add(&self, bytes: usize, bytes_max: usize) -> bool {
        let more = |all: usize| all.checked_add(bytes).filter(|all| *all <= bytes_max);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// The largest body that can be worked on.
    fn body_bytes_max(&self) -> usize {
        self.bytes_max.min(BODY_BYTES_MAX)
    }
}

/// The share of one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    in_flight: Arc<InFlight>,
    /// The token of the request, which has a limit of its own.
    bearer: Option<Arc<Bearer>>,
    /// Whether it is for settling tasks.
    settles: bool,
    bytes: usize,
}

impl Share {
    /// Adds bytes to the share, if all shares together stay within the limit, and those of the token within
    /// its own. A share that is refused more is given back whole, one at a time, so that of many that are too
    /// much together some get through.
    fn grow(&mut self, bytes: usize) -> Result<(), Code> {
        if let Some(bearer) = &self.bearer
            && !bearer.meter.grow_bytes(bytes as u64, bearer.limits.bytes_in_flight)
        {
            return Err(Code::Limited);
        }
        let bytes_max = self.in_flight.bytes_max_for(self.settles);
        if !self.in_flight.add(bytes, bytes_max) {
            let in_flight = self.in_flight.clone();
            let _alone = in_flight.refusing.lock().unwrap_or_else(PoisonError::into_inner);
            if !in_flight.add(bytes, bytes_max) {
                if let Some(bearer) = &self.bearer {
                    bearer.meter.shrink_bytes(bytes as u64);
                }
                self.give_back();
                return Err(Code::Unavailable);
            }
        }
        self.bytes += bytes;
        Ok(())
    }

    fn give_back(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.in_flight.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(bearer) = &self.bearer {
            bearer.meter.shrink_bytes(bytes as u64);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// A request's body, counted as in flight as long as it is kept.
#[derive(Debug)]
pub(crate) struct JsonBody {
    bytes: Bytes,
    share: Share,
}

impl JsonBody {
    /// The body as it came.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Lets go of the text, where all that was in it is at hand in another form: that still counts.
    pub(crate) fn into_share(self) -> Share {
        self.share
    }

    /// The body as a JSON text that is an object; `{}` if there is none.
    pub(crate) fn object(&self) -> Result<&str, Problem> {
        json::object(&self.bytes)
    }

    /// The body as any JSON value; `{}` if there is none.
    pub(crate) fn any(&self) -> Result<RawJson, Problem> {
        json::any(&self.bytes)
    }

    /// The body as a value, without the members that can only be read.
    pub(crate) fn read_back<T: DeserializeOwned>(&self, read_only: &[&str]) -> Result<T, Problem> {
        json::read_back(self.object()?, read_only)
    }

    /// The body as a value.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Problem> {
        json::read(self.object()?)
    }
}

impl FromRequest<Arc<App>> for JsonBody {
    type Rejection = Problem;

    async fn from_request(
        request: axum::extract::Request,
        app: &Arc<App>,
    ) -> Result<Self, Problem> {
        check_encoding(request.headers())?;
        let access = request.extensions().get::<Access>();
        let bearer = access.and_then(|access| access.bearer().cloned());
        let settles = rights::settles(request.method(), request.uri().path());
        let share = Share { in_flight: app.in_flight.clone(), bearer, settles, bytes: 0 };
        let declared = request
            .headers()
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok().and_then(|text| text.parse::<usize>().ok()));
        let bytes_max = share.in_flight.body_bytes_max();
        if declared.is_some_and(|bytes| bytes > bytes_max) {
            return Err(too_large(bytes_max));
        }
        collect(request.into_body(), share, declared.unwrap_or(0)).await
    }
}

/// Refuses a body that is compressed, or encoded in another way.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    for coding in headers.get_all(CONTENT_ENCODING) {
        let coding = coding.to_str().unwrap_or("?").trim();
        if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
            let coding = json::shortened(coding.to_owned());
            let detail = format!(
                "Content-Encoding: {coding} is not read; send the body as it is, without it"
            );
            return Err(Problem::new(Code::Unsupported, detail));
        }
    }
    Ok(())
}

async fn collect(
    mut body: axum::body::Body,
    mut share: Share,
    declared: usize,
) -> Result<JsonBody, Problem> {
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    let mut pace = None;
    loop {
        // What is there already needs no clock.
        let frame = match poll_immediate(body.frame()).await {
            Some(frame) => frame,
            None => {
                let pace = pace.get_or_insert_with(|| Pace::begin(share.bytes));
                pace.frame(&mut body, share.bytes).await?
            }
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| {
            Problem::new(Code::BadJson, format!("the body did not come whole: {error}"))
        })?;
        let Ok(chunk) = frame.into_data() else { continue };
        let bytes_max = share.in_flight.body_bytes_max();
        if share.bytes + chunk.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        if let Err(code) = share.grow(chunk.len()) {
            let detail = match code {
                Code::Limited => "bytes_in_flight: the token's requests are too many bytes at once",
                _ => "the server works on too many bytes of requests; send it again later",
            };
            return Err(Problem::new(code, detail));
        }
        // Most bodies come in one piece, which is used as it is.
        if first.is_empty() {
            first = chunk;
            continue;
        }
        if whole.is_empty() {
            whole.reserve(declared.min(RESERVED_BYTES_MAX).max(first.len() + chunk.len()));
            whole.extend_from_slice(&first);
        }
        whole.extend_from_slice(&chunk);
    }
    let bytes = if whole.is_empty() { first } else { whole.freeze() };
    Ok(JsonBody { bytes, share })
}

/// How fast a body comes.
struct Pace {
    until: Instant,
    /// The bytes that had come when this time began.
    bytes: usize,
}

impl Pace {
    fn begin(bytes: usize) -> Self {
        Self { until: Instant::now() + PACE_TIME, bytes }
    }

    /// Waits for the next piece of a body of which so many bytes have come. One that comes too slowly is cut:
    /// it would hold what is kept for it as long as its sender likes.
    async fn frame(
        &mut self,
        body: &mut axum::body::Body,
        bytes: usize,
    ) -> Result<Option<Result<Frame<Bytes>, axum::Error>>, Problem> {
        loop {
            if let Ok(frame) = timeout_at(self.until, body.frame()).await {
                return Ok(frame);
            }
            if bytes - self.bytes < PACE_BYTES_MIN {
                let detail = "send the body faster: at least 1 KiB/s over 30 seconds";
                return Err(Problem::new(Code::Timeout, detail));
            }
            *self = Self::begin(bytes);
        }
    }
}

fn too_large(bytes_max: usize) -> Problem {
    let mib = bytes_max >> 20;
    Problem::new(Code::TooLarge, format!("body: at most {mib} MiB; send it in smaller batches"))
}

/// A body on loan to whoever reads it. Dropped before its end, it goes back to its lender.
pub(super) struct Lent<B: Body + Unpin> {
    body: Option<B>,
    back: Option<oneshot::Sender<B>>,
    /// Whether its sender waits until somebody wants it.
    is_held_back: bool,
}

/// Where a lent body comes back to, if it was not read to its end.
pub(super) struct Unread<B>(oneshot::Receiver<B>);

impl<B: Body + Unpin> Lent<B> {
    /// A request whose body is lent.
    pub(super) fn lend(request: Request<B>) -> (Request<Self>, Unread<B>) {
        let is_held_back = request.headers().contains_key(EXPECT);
        let (back, unread) = oneshot::channel();
        let lend = |body| Self { body: Some(body), back: Some(back), is_held_back };
        (request.map(lend), Unread(unread))
    }
}

impl<B: Body + Unpin> Body for Lent<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.is_held_back = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B: Body + Unpin> Drop for Lent<B> {
    fn drop(&mut self) {
        let is_coming = !self.is_held_back && !self.is_end_stream();
        let body = self.body.take().filter(|_| is_coming);
        if let (Some(body), Some(back)) = (body, self.back.take()) {
            // With its lender gone, so is the connection.
            let _ = back.send(body);
        }
    }
}

impl<B: Body + Unpin> Unread<B> {
    /// Reads what is left of the body and forgets it, for a while: a connection is closed under a
    /// sender whose body was not read to its end, and it may not get to read the answer.
    pub(super) async fn discard(mut self) {
        let Ok(mut body) = self.0.try_recv() else { return };
        let rest =
            async { while let Ok(Some(Ok(_))) = timeout(DISCARD_PAUSE_MAX, body.frame()).await {} };
        let _ = timeout(DISCARD_MAX, rest).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_bytes_are_worked_on_than_may_be() {
        let in_flight = Arc::new(InFlight::new(None));
        let share =
            || Share { in_flight: in_flight.clone(), bearer: None, settles: true, bytes: 0 };
        let body = || axum::body::Body::from("{}");
        let mut others = share();
        assert_eq!(others.grow(BODY_BYTES_IN_FLIGHT_MAX - 1), Ok(()));
        let refused = collect(body(), share(), 2).await.unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        let mut smaller = share();
        assert_eq!(smaller.grow(2), Err(Code::Unavailable));
        assert_eq!(smaller.grow(1), Ok(()), "what was refused is not counted");
        assert_eq!(smaller.grow(1), Err(Code::Unavailable));
        assert_eq!(smaller.bytes, 0, "who is refused gives back all it had");
        drop((others, smaller));
        let body = collect(body(), share(), 2).await.unwrap();
        assert_eq!(in_flight.bytes.load(Ordering::Relaxed), 2);
        drop(body);
        assert_eq!(in_flight.bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn the_last_bytes_are_kept_for_settling() {
        let in_flight = Arc::new(InFlight::new(None));
        let share =
            |settles| Share { in_flight: in_flight.clone(), bearer: None, settles, bytes: 0 };
        let open = BODY_BYTES_IN_FLIGHT_MAX - RESERVED_FOR_SETTLING;
        let mut others = share(false);
        assert_eq!(others.grow(open), Ok(()));
        assert_eq!(share(false).grow(1), Err(Code::Unavailable));
        assert_eq!(share(true).grow(RESERVED_FOR_SETTLING), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_too_slowly_is_cut() {
        let in_flight = Arc::new(InFlight::new(None));
        let sent = async |piece: usize, every: Duration, pieces: usize| {
            let share =
                Share { in_flight: in_flight.clone(), bearer: None, settles: false, bytes: 0 };
            let stream = futures_util::stream::unfold(0, move |sent| async move {
                tokio::time::sleep(every).await;
                (sent < pieces).then(|| (Ok::<_, axum::Error>(vec![b' '; piece]), sent + 1))
            });
            collect(axum::body::Body::from_stream(stream), share, 0).await
        };
        let second = Duration::from_secs(1);
        for (piece, every, pieces) in [(1, second, 60), (1_000, second, 60), (1, 20 * second, 9)] {
            let cut = sent(piece, every, pieces).await.unwrap_err();
            assert_eq!(cut.code, Code::Timeout, "{piece} bytes every {every:?}");
        }
        for (piece, every, pieces) in
            [(1, second, 20), (1_100, second, 90), (40_000, 20 * second, 9)]
        {
            assert_eq!(sent(piece, every, pieces).await.unwrap().bytes().len(), piece * pieces);
        }
        assert_eq!(in_flight.bytes.load(Ordering::Relaxed), 0, "what was cut counts no more");
    }

    #[tokio::test]
    async fn with_little_memory_bodies_are_smaller() {
        for (memory, in_flight_max, body_max) in
            [(256, 32, 32), (1_024, 128, 64), (8_192, 256, 64), (1, 1, 1)]
        {
            let in_flight = Arc::new(InFlight::new(Some(memory << 20)));
            assert_eq!(in_flight.bytes_max, in_flight_max << 20, "{memory} MiB");
            assert_eq!(in_flight.body_bytes_max(), body_max << 20, "{memory} MiB");
            let body = axum::body::Body::from(vec![b' '; (body_max << 20) + 1]);
            let share =
                Share { in_flight: in_flight.clone(), bearer: None, settles: true, bytes: 0 };
            assert_eq!(collect(body, share, 0).await.unwrap_err().code, Code::TooLarge);
        }
    }
}
