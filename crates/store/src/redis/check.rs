//! Looks for records and indexes that disagree, and mends them from what the records say.
//!
//! Scripts keep the two in step; only hands from outside, or a Redis that lost part of its data, can
//! part them. A task that is held but whose hold was lost is found by itself, see `lua/look.lua`.

use punctual_core::QueueName;

use super::node::Node;
use super::scripts::{CHECK, CHECK_OWNERS, LANES};
use crate::port::StoreError;

impl Node {
    /// Checks every queue and every owner. One line for each thing that is wrong.
    pub(super) async fn check(&self, is_mending: bool) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for queue in self.queues().await? {
            findings.extend(self.check_queue(&queue.name, is_mending).await?);
        }
        for shard in 0..self.keys.shards() {
            findings.extend(self.check_owners(shard, is_mending).await?);
        }
        Ok(findings)
    }

    /// Checks the bundles and plans of a shard.
    async fn check_owners(
        &self,
        shard: usize,
        is_mending: bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut indexes = self.check_owners_step(shard, is_mending, "indexes").await?;
        indexes.sort_unstable();
        // SCAN may name a key twice.
        indexes.dedup();
        let shared = ["bundles", "plans", "timer", "plan:time:set", "plan:ids", "alarm"];
        let mut findings = Vec::new();
        for step in indexes.iter().map(String::as_str).chain(shared).chain(["bundle", "plan"]) {
            findings.extend(self.check_owners_step(shard, is_mending, step).await?);
        }
        Ok(findings)
    }

    async fn check_owners_step(
        &self,
        shard: usize,
        is_mending: bool,
        step: &str,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        let mut position = "0".to_owned();
        while !position.is_empty() {
            let mut call = self.call(&CHECK_OWNERS, shard).await;
            call.arg(u8::from(is_mending)).arg(step).arg(&position);
            let [next, lines] = call.send().await?.body.parts()?;
            for line in lines.list()? {
                found.push(line.text()?);
            }
            position = next.text()?;
        }
        Ok(found)
    }

    /// Checks one queue.
    pub(super) async fn check_queue(
        &self,
        queue: &QueueName,
        is_mending: bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for index in self.indexes(queue).await? {
            self.check_step(queue, is_mending, &index, &mut findings).await?;
        }
        for step in ["records", "counts"] {
            self.check_step(queue, is_mending, step, &mut findings).await?;
        }
        Ok(findings)
    }

    /// The names of a queue's indexes, without the prefix.
    async fn indexes(&self, queue: &QueueName) -> Result<Vec<String>, StoreError> {
        let mut call = self.call(&LANES, self.keys.shard_of(queue)).await;
        call.arg(queue.as_str());
        let mut names = Vec::new();
        for part in call.send().await?.body.list()? {
            names.push(part.text()?);
        }
        Ok(names)
    }

    async fn check_step(
        &self,
        queue: &QueueName,
        is_mending: bool,
        step: &str,
        findings: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let mut position = "0".to_owned();
        while !position.is_empty() {
            let mut call = self.call(&CHECK, self.keys.shard_of(queue)).await;
            call.arg(queue.as_str()).arg(u8::from(is_mending)).arg(step).arg(&position);
            let [next, found] = call.send().await?.body.parts()?;
            for line in found.list()? {
                findings.push(line.text()?);
            }
            position = next.text()?;
        }
        Ok(())
    }
}
