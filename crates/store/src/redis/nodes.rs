//! The servers that share the store: each says now and then that it is there.

use punctual_core::Timestamp;
use redis::cmd;

use super::keys::Keys;
use super::node::Node;
use super::scripts::{ATTEND, NODES};
use crate::port::{NodeCard, StoreError};

impl Node {
    pub(super) async fn attend(&self, card: &NodeCard) -> Result<(), StoreError> {
        let json = serde_json::to_string(card).expect("a card is plain text");
        self.say(&card.id, &json).await
    }

    pub(super) async fn leave(&self, id: &str) -> Result<(), StoreError> {
        self.say(id, "").await
    }

    async fn say(&self, id: &str, json: &str) -> Result<(), StoreError> {
        let mut call = self.call(&ATTEND, Keys::FIRST_SHARD).await;
        call.arg(id).arg(json);
        call.send().await.map(drop)
    }

    /// What somebody else wrote there is passed over.
    pub(super) async fn nodes(&self) -> Result<Vec<NodeCard>, StoreError> {
        let answer = self.call(&NODES, Keys::FIRST_SHARD).await.send().await?;
        let cards = answer.body.list()?.into_iter().filter_map(|part| card(&part.text().ok()?));
        Ok(cards.collect())
    }

    /// What Redis says that its data takes; of a Cluster, all its servers together.
    pub(super) async fn bytes(&self) -> Result<Option<u64>, StoreError> {
        let deadline = tokio::time::Instant::now();
        let connected = self.link.connection(deadline).await;
        let (mut connection, _) = connected.map_err(StoreError::unavailable)?;
        let mut info = cmd("INFO");
        info.arg("memory");
        let Ok(servers) = connection.send_to_all(&info).await else { return Ok(None) };
        let told: Option<Vec<u64>> = servers.into_iter().map(used_memory).collect();
        Ok(told.map(|bytes| bytes.into_iter().sum()))
    }
}

/// A card, with the time by Redis's clock.
fn card(text: &str) -> Option<NodeCard> {
    let (seen_ms, json) = text.split_once(' ')?;
    let seen_at = Timestamp::from_millis(seen_ms.parse().ok()?);
    serde_json::from_str(json).ok().map(|card| NodeCard { seen_at, ..card })
}

fn used_memory(info: redis::Value) -> Option<u64> {
    let text: String = redis::from_redis_value(info).ok()?;
    text.lines().find_map(|line| line.strip_prefix("used_memory:"))?.trim().parse().ok()
}
