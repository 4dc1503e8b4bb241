//! Notices, to targets with real sockets.

mod encodings;
mod inbox;
mod input;
mod lives;
mod reading;

use serde_json::Value;

pub(crate) use super::delivery::{Reply, Seen, Stub, reaching, server};
pub(crate) use super::{TestServer, json};

/// Sends a notice.
pub(crate) async fn send(server: &TestServer, message: Value) -> Value {
    server.post("/v1/notices", message).await.is(202)
}

/// Waits until the notice `n` is in a state and has been sent so often.
pub(crate) async fn until(server: &TestServer, state: &str, count: u32) -> Value {
    let is_there = |read: &Value| read["state"] == state && read["notice_count"] == count;
    server.eventually("/v1/notices/n", is_there).await
}
