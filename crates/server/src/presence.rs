//! That this server is there: told to those it shares a store with, again and again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::Timestamp;
use punctual_store::{NodeCard, Store};
use tracing::debug;

use crate::engine::random;

/// How often it is told.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What others know this server by.
pub(crate) struct Presence {
    store: Arc<dyn Store>,
    id: String,
    address: String,
    started_at: Timestamp,
}

impl Presence {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        address: Option<SocketAddr>,
        id: Option<String>,
    ) -> Self {
        Self {
            id: id.unwrap_or_else(|| format!("{:016x}", random::bits() as u64)),
            address: address.map_or_else(String::new, |address| address.to_string()),
            started_at: store.now(),
            store,
        }
    }

    /// Its card as of now.
    pub(crate) fn card(&self) -> NodeCard {
        NodeCard {
            id: self.id.clone(),
            address: self.address.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            seen_at: self.store.now(),
        }
    }

    /// All servers of the store by when they started; this one also while the others cannot be asked.
    pub(crate) async fn nodes(&self) -> Vec<NodeCard> {
        let mut nodes = self.store.nodes().await.unwrap_or_default();
        nodes.retain(|card| card.id != self.id);
        nodes.push(self.card());
        nodes.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        nodes
    }

    /// Tells of it until `closing` resolves, and then that it has ended.
    pub(crate) async fn run(self: Arc<Self>, closing: impl Future<Output = ()>) {
        if self.store.is_exclusive() {
            return;
        }
        let telling = async {
            loop {
                // A store that is away is told when it is back.
                if let Err(error) = self.store.attend(&self.card()).await {
                    debug!(%error, "others were not told of this server");
                }
                tokio::time::sleep(TELL_EVERY).await;
            }
        };
        tokio::select! {
            () = telling => {}
            () = closing => {}
        }
        if let Err(error) = self.store.leave(&self.id).await {
            debug!(%error, "others were not told that this server ends");
        }
    }
}
