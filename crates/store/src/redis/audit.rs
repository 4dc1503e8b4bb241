//! What was done, by all servers: one stream, in the first shard.

use super::keys::Keys;
use super::node::Node;
use super::scripts::{AUDIT, AUDITED};
use crate::port::{AUDIT_ENTRIES_MAX, AuditEntry, AuditPage, StoreError};

impl Node {
    pub(super) async fn audit(&self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        let mut call = self.call(&AUDIT, Keys::FIRST_SHARD).await;
        call.arg(AUDIT_ENTRIES_MAX);
        for entry in entries {
            call.arg(format!("{}\0{}", entry.who, entry.action));
            call.arg(serde_json::to_string(entry).expect("an entry is plain text and numbers"));
        }
        call.send().await.map(drop)
    }

    /// What somebody else wrote there is passed over.
    pub(super) async fn audited(
        &self,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<AuditPage, StoreError> {
        if cursor.is_some_and(|cursor| !is_id(cursor)) {
            return Err(StoreError::BadCursor);
        }
        let mut call = self.call(&AUDITED, Keys::FIRST_SHARD).await;
        call.arg(cursor.unwrap_or_default()).arg(limit + 1);
        let mut parts = call.send().await?.body.list()?.into_iter();
        let mut noted = Vec::new();
        while let (Some(id), Some(json)) = (parts.next(), parts.next()) {
            noted.push((id.text()?, json.text()?));
        }
        let has_more = noted.len() > limit;
        noted.truncate(limit);
        let next = noted.last().filter(|_| has_more).map(|(id, _)| id.clone());
        let items = noted.iter().filter_map(|(_, json)| serde_json::from_str(json).ok());
        Ok(AuditPage { items: items.collect(), next })
    }
}

/// Whether a text is the id of an entry: two numbers.
fn is_id(text: &str) -> bool {
    let is_number = |part: &str| part.parse::<u64>().is_ok();
    text.split_once('-').is_some_and(|(time, count)| is_number(time) && is_number(count))
}
