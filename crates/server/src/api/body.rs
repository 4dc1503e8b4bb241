//! Request bodies: read whole within their limits, then JSON whatever their type says. What of a body
//! nobody wanted is read as well, or its sender could neither hear why nor go on.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::FromRequest;
use axum::http::Request;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use bytes::{Bytes, BytesMut};
use futures_util::future::poll_immediate;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use punctual_core::RawJson;
use punctual_core::limits::{BODY_BYTES_IN_FLIGHT_MAX, BODY_BYTES_MAX};
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::json;
use super::{App, Problem};
use crate::code::Code;

/// How long a client may pause in the middle of a body.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How long the rest of a refused body is read, and how long its sender may pause meanwhile.
const DISCARD_MAX: Duration = Duration::from_secs(10);
const DISCARD_PAUSE_MAX: Duration = Duration::from_secs(1);
/// What is set aside for a body before it has come.
const RESERVED_BYTES_MAX: usize = 1 << 20;

/// The bytes of all requests being worked on.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    bytes: AtomicUsize,
}

/// The share of one request.
#[derive(Debug)]
struct Share {
    in_flight: Arc<InFlight>,
    bytes: usize,
}

impl Share {
    /// Adds bytes to the share, if all shares together stay within the limit.
    fn grow(&mut self, bytes: usize) -> bool {
        let before = self.in_flight.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        before + bytes <= BODY_BYTES_IN_FLIGHT_MAX
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.in_flight.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A request's body, counted as in flight as long as it is kept.
#[derive(Debug)]
pub(crate) struct JsonBody {
    bytes: Bytes,
    _share: Share,
}

impl JsonBody {
    /// The body as it came.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The body as a JSON text that is an object; `{}` if there is none.
    pub(crate) fn object(&self) -> Result<&str, Problem> {
        json::object(&self.bytes)
    }

    /// The body as any JSON value; `{}` if there is none.
    pub(crate) fn any(&self) -> Result<RawJson, Problem> {
        json::any(&self.bytes)
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
        let share = Share { in_flight: app.in_flight.clone(), bytes: 0 };
        let declared = request
            .headers()
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok().and_then(|text| text.parse::<usize>().ok()));
        if declared.is_some_and(|bytes| bytes > BODY_BYTES_MAX) {
            return Err(too_large());
        }
        collect(request.into_body(), share, declared.unwrap_or(0)).await
    }
}

async fn collect(
    mut body: axum::body::Body,
    mut share: Share,
    declared: usize,
) -> Result<JsonBody, Problem> {
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    loop {
        // What is there already needs no clock.
        let frame = match poll_immediate(body.frame()).await {
            Some(frame) => Ok(frame),
            None => timeout(PAUSE_MAX, body.frame()).await,
        };
        let Ok(frame) = frame else {
            return Err(Problem::new(Code::Timeout, "send the body without long pauses"));
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| {
            Problem::new(Code::BadJson, format!("the body did not come whole: {error}"))
        })?;
        let Ok(chunk) = frame.into_data() else { continue };
        if share.bytes + chunk.len() > BODY_BYTES_MAX {
            return Err(too_large());
        }
        if !share.grow(chunk.len()) {
            let detail = "the server works on too many bytes of requests; send it again later";
            return Err(Problem::new(Code::Unavailable, detail));
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
    Ok(JsonBody { bytes, _share: share })
}

fn too_large() -> Problem {
    Problem::new(Code::TooLarge, "body: at most 64 MiB; send it in smaller batches")
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
        let in_flight = Arc::new(InFlight::default());
        let share = || Share { in_flight: in_flight.clone(), bytes: 0 };
        let body = || axum::body::Body::from("{}");
        let mut others = share();
        assert!(others.grow(BODY_BYTES_IN_FLIGHT_MAX - 1));
        let refused = collect(body(), share(), 2).await.unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        drop(others);
        let body = collect(body(), share(), 2).await.unwrap();
        assert_eq!(in_flight.bytes.load(Ordering::Relaxed), 2);
        drop(body);
        assert_eq!(in_flight.bytes.load(Ordering::Relaxed), 0);
    }
}
