//! Messages that lie beside the store become notices.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use punctual_core::http::Reach;
use punctual_core::{Spec, Timestamp};
use punctual_server::{DeliveryConfig, Server, ServerConfig};
use punctual_store::{Inbox, InboxLists, ManualClock, Push, Pushed, Received, Store, StoreError};

use super::*;

/// An inbox in memory.
struct Lists {
    store: Arc<dyn Store>,
    names: InboxLists,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    list: VecDeque<Vec<u8>>,
    backup: VecDeque<Vec<u8>>,
    rejected: Vec<(String, String)>,
    /// Calls that fail before one works again.
    troubles: usize,
    has_left: bool,
}

impl Lists {
    fn new(store: Arc<dyn Store>, messages: &[String]) -> Arc<Self> {
        let names = InboxLists { list: "in".to_owned(), backup: "back".to_owned() };
        let list = messages.iter().map(|text| text.clone().into_bytes()).collect();
        let inner = Mutex::new(Inner { list, troubles: 1, ..Inner::default() });
        Arc::new(Self { store, names, inner })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    fn remove(&self, message: &[u8]) -> bool {
        let mut inner = self.inner();
        let place = inner.backup.iter().position(|other| other == message);
        place.is_some_and(|place| inner.backup.remove(place).is_some())
    }
}

#[async_trait]
impl Inbox for Lists {
    fn lists(&self) -> &InboxLists {
        &self.names
    }

    async fn next(&self, n: usize) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let mut inner = self.inner();
        while let Some(left) = inner.backup.pop_back() {
            inner.list.push_front(left);
        }
        let count = n.min(inner.list.len());
        let taken: Vec<_> = inner.list.drain(..count).collect();
        inner.backup.extend(taken.clone());
        Ok(Some(taken))
    }

    async fn receive(&self, message: &[u8], notice: &Spec) -> Result<Received, StoreError> {
        if self.inner().troubles > 0 {
            self.inner().troubles -= 1;
            return Err(StoreError::unavailable("gone for a moment"));
        }
        if !self.remove(message) {
            return Ok(Received::Gone);
        }
        let push = Push {
            queue: notice.queue.clone(),
            tasks: vec![Arc::new(notice.clone())],
            keyed: None,
        };
        assert!(matches!(self.store.push(push).await?, Pushed::Answers(_)));
        Ok(Received::Done)
    }

    async fn reject(&self, message: &[u8], reason: &str) -> Result<Received, StoreError> {
        assert!(self.remove(message));
        let message = String::from_utf8_lossy(message).into_owned();
        self.inner().rejected.push((message, reason.to_owned()));
        Ok(Received::Done)
    }

    async fn leave(&self) -> Result<(), StoreError> {
        self.inner().has_left = true;
        Ok(())
    }
}

#[tokio::test]
async fn messages_become_notices_and_what_cannot_is_rejected() {
    let stub = Stub::start(|_| Reply::text(200, "success")).await;
    let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
    let store = crate::store(&clock);
    let url = stub.url("/hook");
    let lists = Lists::new(
        store.clone(),
        &[
            json!({"id": "n", "url": url, "data": "a=1"}).to_string(),
            "{broken".to_owned(),
            json!({"url": "nowhere"}).to_string(),
            json!({"url": url, "colour": 1}).to_string(),
            json!({"id": "began", "url": url, "data": "a=1", "notice_count": 2,
                "notice_interval": [600, 600], "notice_time": 1_794_722_400 + 60, "success_id": 0,
                "notice_data": {"a": ["2"]}})
            .to_string(),
        ],
    );
    let delivery = DeliveryConfig { reach: Reach::everywhere(), ..DeliveryConfig::default() };
    let config = ServerConfig { delivery, ..ServerConfig::default() };
    let server = Server::new(store.clone(), config).with_inbox(lists.clone());
    let mut server = TestServer::running(server, store, clock).await;

    until(&server, "succeeded", 1).await;
    assert_eq!(stub.seen(1).await[0].body, b"a=1");
    let began = server.eventually("/v1/notices/began", |read| read["state"] == "waiting").await;
    assert_eq!((&began["notice_count"], &began["max_notices"]), (&json!(2), &json!(5)));
    assert_eq!(began["notice_interval"], json!([600, 600]));
    assert_eq!(began["notice_time"], "2026-11-15T06:01:00.000Z");
    server.advance(60).await;
    let began = server.eventually("/v1/notices/began", |read| read["state"] == "succeeded").await;
    assert_eq!((&began["notice_count"], &began["success_id"]), (&json!(3), &json!(3)));
    assert_eq!(stub.seen(2).await[1].body, b"a=2");

    let rejected = lists.inner().rejected.clone();
    let reasons = ["it is no message: ", "url: ", "it is no message: unknown field `colour`"];
    assert_eq!(rejected.len(), reasons.len());
    for ((message, reason), expected) in rejected.iter().zip(reasons) {
        assert!(reason.starts_with(expected), "{message}: {reason}");
    }
    assert!(lists.inner().backup.is_empty() && lists.inner().list.is_empty());
    server.stop();
    server.stopped().await.unwrap();
    assert!(lists.inner().has_left, "so that another node goes on at once");
}
