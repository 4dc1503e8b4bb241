//! Answers that nobody reads: a peer that leaves one lie for too long loses its connection, and what it was
//! sent is let go of. Over HTTP/2 a peer can keep its connection lively and take nothing of an answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::access::Line;

/// How long an answer may lie unread.
const UNREAD_MAX: Duration = Duration::from_secs(60);
/// Answers up to this size are not watched: they are handed over at once.
const SMALL_BYTES_MAX: u64 = 16 << 10;
/// The most that is handed over at a time.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// When the last piece was handed over, if the next is there and nobody has asked for it yet.
#[derive(Default)]
struct Progress(Mutex<Option<Instant>>);

impl Progress {
    fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn since(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body whose reader is watched.
struct Watched {
    body: Body,
    /// The part of the last frame that is not handed over yet.
    rest: Bytes,
    progress: Arc<Progress>,
    watch: AbortHandle,
}

/// The same answer, whose connection is cut if nobody reads it.
pub(super) fn watched(response: Response, line: &Arc<Line>) -> Response {
    let bytes = response.body().size_hint().exact();
    if bytes.is_some_and(|bytes| bytes <= SMALL_BYTES_MAX) {
        return response;
    }
    response.map(|body| {
        let progress = Arc::new(Progress::default());
        progress.set(Some(Instant::now()));
        let watch = tokio::spawn(watch(progress.clone(), line.clone())).abort_handle();
        Body::new(Watched { body, rest: Bytes::new(), progress, watch })
    })
}

/// Cuts a connection when its answer lies unread for too long.
async fn watch(progress: Arc<Progress>, line: Arc<Line>) {
    loop {
        let since = progress.since();
        tokio::time::sleep_until(since.unwrap_or_else(Instant::now) + UNREAD_MAX).await;
        if progress.since().is_some_and(|since| since.elapsed() >= UNREAD_MAX) {
            return line.cut();
        }
    }
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Whoever asks reads, and waits for us from now on.
        self.progress.set(None);
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return Poll::Ready(other),
            }
        }
        let piece = self.rest.len().min(PIECE_BYTES_MAX);
        let piece = self.rest.split_to(piece);
        self.progress.set(Some(Instant::now()));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use futures_util::FutureExt;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_reads_is_cut() {
        let line = Arc::<Line>::default();
        let text = vec![b'x'; 200_000];
        let mut body = watched(text.clone().into_response(), &line).into_body();
        assert_eq!(body.size_hint().exact(), Some(200_000));
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), PIECE_BYTES_MAX);
        tokio::time::sleep(UNREAD_MAX / 2).await;
        body.frame().await.unwrap().unwrap();
        tokio::time::sleep(UNREAD_MAX - Duration::from_secs(1)).await;
        assert!(line.is_cut().now_or_never().is_none(), "it is read, slowly");
        tokio::time::timeout(Duration::from_secs(2), line.is_cut()).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_waits_for_more_to_be_said_is_not_cut() {
        let line = Arc::<Line>::default();
        let endless = futures_util::stream::pending::<Result<Bytes, axum::Error>>();
        let mut body = watched(Body::from_stream(endless).into_response(), &line).into_body();
        let hour = Duration::from_secs(3_600);
        assert!(tokio::time::timeout(hour, body.frame()).await.is_err());
        assert!(line.is_cut().now_or_never().is_none());
    }

    #[tokio::test]
    async fn what_is_read_is_whole() {
        let text: Vec<u8> = (0..300_000).map(|n| n as u8).collect();
        let body = watched(text.clone().into_response(), &Arc::default()).into_body();
        assert_eq!(body.collect().await.unwrap().to_bytes(), text);
    }
}
