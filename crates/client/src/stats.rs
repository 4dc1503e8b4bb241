//! Statistics of the last hour.

use punctual_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::transport::{Call, Client, query};

/// The counts of each step of the last hour, the oldest first; the last step is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stats {
    /// The length of a step, in seconds.
    pub step: u64,
    /// When the first began.
    pub from: Timestamp,
    /// Tasks that came in.
    pub pushed: Vec<u64>,
    /// Tasks that were handed out.
    pub taken: Vec<u64>,
    /// Tasks that ended well.
    pub done: Vec<u64>,
    /// Tasks that ended badly.
    pub failed: Vec<u64>,
}

/// How much happened in a queue in each minute of the last hour, the oldest first. The last minute ends
/// with the ten seconds that are under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue.
    pub queue: String,
    /// The length of a step, in seconds.
    pub step: u64,
    /// Tasks that came in.
    pub pushed: Vec<u64>,
    /// Tasks that ended well.
    pub done: Vec<u64>,
    /// Tasks that ended badly.
    pub failed: Vec<u64>,
}

impl Client {
    /// Reads the counts of all queues or of one.
    pub async fn stats(&self, queue: Option<&str>) -> Result<Stats, Error> {
        let query = query(&[("queue", queue.map(str::to_owned))]);
        self.send(Call::get(format!("/v1/stats{query}"))).await
    }

    /// Reads the counts of each queue with activity.
    pub async fn queue_stats(&self) -> Result<Vec<QueueStats>, Error> {
        #[derive(Deserialize)]
        struct All {
            items: Vec<QueueStats>,
        }
        let all: All = self.send(Call::get("/v1/stats/queues".to_owned())).await?;
        Ok(all.items)
    }
}
