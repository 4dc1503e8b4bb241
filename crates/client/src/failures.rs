//! Failed tasks, grouped by error.

use punctual_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::tasks::Page;
use crate::transport::{Call, Client, query};

/// Failed tasks of one queue with the same error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureGroup {
    /// The queue.
    pub queue: String,
    /// The beginning of the error; none: there is none.
    pub error: Option<String>,
    /// How many there are on the page.
    pub count: u64,
    /// When the last of them failed.
    pub last_at: Option<Timestamp>,
    /// The id of that one.
    pub id: String,
}

impl Client {
    /// Reads a page of failures: of all queues, or of one. Groups that were on one page may be on the
    /// next, too, with other tasks.
    pub async fn failures(
        &self,
        queue: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<Page<FailureGroup>, Error> {
        let query =
            query(&[("queue", queue.map(str::to_owned)), ("cursor", cursor.map(str::to_owned))]);
        self.send(Call::get(format!("/v1/failures{query}"))).await
    }
}
