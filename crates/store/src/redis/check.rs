//! Looks for records and indexes that disagree, and mends them from what the records say.
//!
//! Scripts keep the two in step; only hands from outside, or a Redis that lost part of its data, can
//! part them. A task that is held but whose hold was lost is found by itself, see `lua/look.lua`.

use punctual_core::QueueName;

use super::node::Node;
use super::scripts::{CHECK, LANES};
use crate::port::StoreError;

impl Node {
    /// Checks every queue. One line for each thing that is wrong.
    pub(super) async fn check(&self, is_mending: bool) -> Result<Vec<String>, StoreError> {
        let mut findings = Vec::new();
        for queue in self.queues().await? {
            findings.extend(self.check_queue(&queue.name, is_mending).await?);
        }
        Ok(findings)
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
