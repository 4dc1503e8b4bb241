//! What happens, as a client hears it.

mod owners;
mod stream;
mod tasks;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

pub(crate) use super::{PATIENCE, TestServer, json};

/// One who listens.
pub(crate) struct Ear {
    body: Incoming,
    text: String,
    /// The last id that was sent.
    pub(crate) last_id: String,
}

/// An event as it was sent.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Ear {
    /// Begins to listen; `query` with its question mark.
    pub(crate) async fn open(server: &TestServer, query: &str) -> Self {
        Self::open_with(server, query, &[]).await
    }

    /// Goes on after an event.
    pub(crate) async fn resume(server: &TestServer, query: &str, last: &str) -> Self {
        Self::open_with(server, query, &[("last-event-id", last)]).await
    }

    async fn open_with(server: &TestServer, query: &str, headers: &[(&str, &str)]) -> Self {
        let response = server.open(&format!("/v1/events{query}"), headers).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { body: response.into_body(), text: String::new(), last_id: String::new() }
    }

    /// The next event; none: the stream has ended.
    pub(crate) async fn next_or_end(&mut self) -> Option<Heard> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(heard) = self.hear(&block) {
                    return Some(heard);
                }
                continue;
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let frame = frame.expect("something is heard")?.unwrap();
            let data: Bytes = frame.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    fn hear(&mut self, block: &str) -> Option<Heard> {
        let field = |name: &str| {
            let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned());
            block.lines().find_map(value)
        };
        self.last_id = field("id").unwrap_or_else(|| self.last_id.clone());
        let (kind, data) = (field("event")?, field("data")?);
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data["type"], kind);
        assert!(data["at"].is_string(), "{data}");
        Some(Heard { id: self.last_id.clone(), kind, data })
    }

    /// The next event.
    pub(crate) async fn next(&mut self) -> Heard {
        self.next_or_end().await.expect("the stream goes on")
    }

    /// The next event, which must be of this kind; what it says.
    pub(crate) async fn hears(&mut self, kind: &str) -> Value {
        let heard = self.next().await;
        assert_eq!(heard.kind, kind, "{}", heard.data);
        heard.data
    }
}
