//! Futures that are not left half way.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that, dropped before it is ready, goes on in a task of its own. Hardly any is dropped, so
/// hardly any needs one.
pub(super) struct ToItsEnd<F: Future<Output: Send> + Send + 'static> {
    /// What is left to do; nothing if it is done or has panicked.
    rest: Option<Pin<Box<F>>>,
}

impl<F: Future<Output: Send> + Send + 'static> ToItsEnd<F> {
    pub(super) fn new(future: F) -> Self {
        Self { rest: Some(Box::pin(future)) }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for ToItsEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let mut rest = self.rest.take().expect("not polled again after it was ready");
        let polled = rest.as_mut().poll(context);
        if polled.is_pending() {
            self.rest = Some(rest);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<F> {
    fn drop(&mut self) {
        // Without a runtime the server is at its end, and so is everything that was begun.
        if let Some(rest) = self.rest.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::poll_immediate;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_was_begun_and_dropped_is_done_all_the_same() {
        let ((go, gone), (done, is_done)) = (oneshot::channel::<()>(), oneshot::channel());
        let mut begun = ToItsEnd::new(async move {
            gone.await.unwrap();
            done.send(7).unwrap();
        });
        assert_eq!(poll_immediate(&mut begun).await, None);
        drop(begun);
        go.send(()).unwrap();
        assert_eq!(is_done.await, Ok(7));
    }

    #[tokio::test]
    async fn what_is_done_is_answered() {
        assert_eq!(ToItsEnd::new(async { 7 }).await, 7);
    }
}
