//! Waiting for replicas: one request for all writes that wait at the time.
//!
//! `WAIT` holds up its connection until the replicas have answered, so there is never more than one of a
//! shard under way. A write that comes meanwhile is covered by the next.

use std::time::Instant;

use tokio::sync::Mutex;

use super::connection::Connection;
use super::trouble::describe;

/// The last time replicas of a shard were waited for.
#[derive(Default)]
pub(super) struct Replicas {
    last: Mutex<Option<Waited>>,
}

struct Waited {
    since: Instant,
    reached: Result<u32, String>,
}

impl Replicas {
    /// Waits until so many replicas have what was written before `written`; the error says why they do
    /// not.
    pub(super) async fn wait(
        &self,
        wanted: u32,
        written: Instant,
        connection: &mut Connection,
        key: &str,
    ) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if last.as_ref().is_none_or(|waited| waited.since < written) {
            let since = Instant::now();
            let reached = connection.wait(wanted, key).await;
            *last = Some(Waited { since, reached: reached.map_err(|trouble| describe(&trouble)) });
        }
        match last.as_ref().map(|waited| &waited.reached) {
            Some(Ok(reached)) if *reached >= wanted => Ok(()),
            Some(Ok(reached)) => Err(format!("Redis: {reached} of {wanted} replicas have it")),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err("Redis: its replicas were not asked".to_owned()),
        }
    }
}
