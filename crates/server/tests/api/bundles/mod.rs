//! Bundles: payloads that fall due together, taken by workers or delivered by the server.

mod deliver;
mod input;
mod merge;
mod race;
mod schedule;
mod work;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::TestServer;
use super::server::Answer;

/// The path of a bundle of the queue `q`.
pub(crate) fn path(key: &str) -> String {
    format!("/v1/queues/q/bundles/{}", utf8_percent_encode(key, NON_ALPHANUMERIC))
}

impl TestServer {
    /// Says something about a bundle of the queue `q`.
    pub(crate) async fn bundle(&self, key: &str, verb: &str, body: Value) -> Answer {
        self.post(&format!("{}/{verb}", path(key)), body).await
    }

    /// Pushes payloads into a bundle of the queue `q`, with these fields besides.
    pub(crate) async fn fill(&self, key: &str, payloads: &[Value], fields: Value) {
        for payload in payloads {
            let mut body = fields.clone();
            body["task"] = payload.clone();
            self.bundle(key, "push", body).await.is(200);
        }
    }

    /// A time so many seconds from now.
    pub(crate) fn at(&self, seconds: i64) -> String {
        use punctual_store::Clock;
        (self.clock.now().wall + punctual_core::Span::from_secs(seconds)).to_string()
    }
}
