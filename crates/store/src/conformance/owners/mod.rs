//! Owners: bundles and plans, and the steps that change them together with their tasks.
//!
//! What a record says is the business of `core`; a store only goes by its key and its two times.
//! The records here are therefore the plainest that have those.

mod items;
mod queues;
mod read;
mod restart;
mod step;
mod wake;

use punctual_core::bundle::{BundleKey, BundleState};
use punctual_core::plan::Order;
use punctual_core::{
    Bundle, NewTask, Owner, OwnerKey, OwnerRef, Plan, PlanId, RawJson, Spec, Timestamp,
};

use super::fixture::{Fixture, queue};
use crate::port::{OwnerChange, Revision, Step, Stepped, StoredOwner};

/// The checks of every file here.
pub(super) const CHECKS: [&[(&str, super::Check)]; 6] =
    [step::CHECKS, items::CHECKS, read::CHECKS, wake::CHECKS, queues::CHECKS, restart::CHECKS];

pub(super) fn bundle_key(text: &str) -> BundleKey {
    BundleKey::parse(text).expect("a key in a check is well formed")
}

/// A bundle that workers take from, due at a time.
pub(crate) fn bundle(queue_name: &str, key: &str, due_at: Timestamp) -> Bundle {
    Bundle {
        queue: queue(queue_name),
        key: bundle_key(key),
        created_at: due_at,
        state: BundleState::Waiting,
        size: 0,
        due_at,
        latest: None,
        first_at: Some(due_at),
        overwrite: false,
        later: None,
        data: Default::default(),
        abandoned_at: None,
        task: None,
        target: None,
        alone: false,
        error: None,
    }
}

pub(super) fn plan_id(text: &str) -> PlanId {
    PlanId::parse(text).expect("an id in a check is well formed")
}

/// A plan that is due at a time.
pub(crate) fn plan(station: &str, id: &str, next_at: Timestamp) -> Plan {
    let rule = r#"{"plan_type":"month","plan_value":3,"plan_time":"09:30","plan_repet":-1}"#;
    let rule = serde_json::from_str(rule).expect("the rule in a check is well formed");
    let mut plan = Plan::new(plan_id(id), queue(station), Order::default(), rule, next_at);
    plan.next_at = Some(next_at);
    plan
}

pub(crate) fn a_bundle(bundle: Bundle) -> Owner {
    Owner::Bundle(Box::new(bundle))
}

pub(crate) fn a_plan(plan: Plan) -> Owner {
    Owner::Plan(Box::new(plan))
}

fn key_of_bundle(queue_name: &str, key: &str) -> OwnerKey {
    OwnerKey::bundle(&queue(queue_name), &bundle_key(key))
}

/// A task that delivers a bundle.
fn delivery(f: &Fixture, queue_name: &str, new: NewTask, key: &str) -> Spec {
    let spec = Spec::clone(&f.spec(queue_name, new));
    Spec { owner: Some(OwnerRef::Bundle(bundle_key(key))), ..spec }
}

/// A change that makes an owner.
pub(crate) fn made(owner: Owner) -> OwnerChange {
    let key = owner.key();
    OwnerChange { key, expected: None, after: Some(owner), drop_first: 0, append: Vec::new() }
}

/// A change of an owner that was read.
pub(crate) fn changed(before: &StoredOwner, after: Owner) -> OwnerChange {
    OwnerChange { expected: Some(before.revision), ..made(after) }
}

/// A change after which an owner is gone.
pub(crate) fn removed(before: &StoredOwner) -> OwnerChange {
    OwnerChange { after: None, ..changed(before, before.owner.clone()) }
}

/// The names of owners, for comparison.
fn names(owners: &[StoredOwner]) -> Vec<String> {
    owners.iter().map(|stored| stored.owner.key().name.to_string()).collect()
}

/// Numbers as items.
fn numbers(range: std::ops::Range<usize>) -> Vec<RawJson> {
    range.map(|n| RawJson::of(&n)).collect()
}

impl Fixture {
    pub(super) async fn step(&self, step: Step) -> Stepped {
        self.store().step(vec![step]).await.expect("the store answers").remove(0)
    }

    /// Changes one owner.
    async fn change_owner(&self, change: OwnerChange) -> Stepped {
        self.step(Step { owners: vec![change], ..Step::default() }).await
    }

    /// Changes one owner, and expects that it happens.
    async fn must_change(&self, change: OwnerChange) -> Option<Revision> {
        match self.change_owner(change).await {
            Stepped::Done { mut owners, tasks } => {
                assert_eq!((owners.len(), tasks.len()), (1, 0), "one answer per change");
                owners.remove(0)
            }
            other => panic!("the step was answered with {other:?}"),
        }
    }

    /// Makes an owner with items.
    async fn make_owner(&self, owner: Owner, append: Vec<RawJson>) -> StoredOwner {
        let key = owner.key();
        self.must_change(OwnerChange { append, ..made(owner) }).await;
        self.get_owner(&key).await
    }

    /// Makes a bundle that is due now, with items.
    async fn make_bundle(&self, queue_name: &str, key: &str, items: Vec<RawJson>) -> StoredOwner {
        self.make_owner(a_bundle(bundle(queue_name, key, self.now())), items).await
    }

    async fn owner(&self, key: &OwnerKey) -> Option<StoredOwner> {
        let keys = [key.clone()];
        let mut read = self.store().owners(&keys).await.expect("the owner is read");
        assert_eq!(read.len(), 1, "one answer per key");
        read.remove(0)
    }

    /// Reads an owner that must be there.
    async fn get_owner(&self, key: &OwnerKey) -> StoredOwner {
        self.owner(key).await.unwrap_or_else(|| panic!("{key} is gone"))
    }

    async fn items(&self, key: &OwnerKey, from: usize, limit: usize) -> Vec<RawJson> {
        self.store().items(key, from, limit).await.expect("the items are read")
    }

    async fn first_due(&self, queue_name: &str) -> Option<String> {
        let first = self.store().first_due(&queue(queue_name)).await.expect("the store answers");
        first.map(|stored| stored.owner.key().name.to_string())
    }

    async fn alarms(&self, limit: usize) -> Vec<String> {
        names(&self.store().alarms(limit).await.expect("the store answers"))
    }
}
