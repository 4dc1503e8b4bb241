//! Owners: bundles, plans and all others, and the steps that change them together with their tasks.
//!
//! What a record says is the business of `core`; a store only goes by its key and its two times.
//! The records here are therefore the plainest that have those.

mod items;
mod kinds;
mod queues;
mod read;
mod restart;
mod step;
mod wake;

use punctual_core::bundle::{BundleKey, BundleState};
use punctual_core::flow::{Counts, Flow, FlowState, FlowStep, OnFailure, StepState};
use punctual_core::plan::Order;
use punctual_core::vote::{Ballot, BallotState, Vote};
use punctual_core::worker::{SILENCE, Worker, WorkerState};
use punctual_core::{
    AccessToken, Bundle, FlowId, NewTask, Owner, OwnerKey, OwnerKind, OwnerRef, Plan, PlanId,
    RawJson, Right, Spec, StepName, Timestamp, Token, TokenLimits, TokenName, TokenUse,
};

use super::fixture::{Fixture, id, queue, worker};
use crate::port::{Changes, OwnerChange, Revision, StoredOwner, Written};

/// The checks of every file here.
pub(super) const CHECKS: [&[super::Check]; 7] = [
    step::CHECKS,
    items::CHECKS,
    read::CHECKS,
    wake::CHECKS,
    queues::CHECKS,
    restart::CHECKS,
    kinds::CHECKS,
];

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

/// The plainest owner of a kind that has a name in a queue. What lies under its own name is called like
/// the queue. Its alarm comes at a time, if it has one.
///
/// # Panics
/// If a name is not well formed.
pub fn owner_of(kind: OwnerKind, queue_name: &str, name: &str, at: Timestamp) -> Owner {
    let well_formed = "a name in a check is well formed";
    match kind {
        OwnerKind::Bundle => {
            a_bundle(Bundle { abandoned_at: Some(at), ..bundle(queue_name, name, at) })
        }
        OwnerKind::Plan => a_plan(plan(queue_name, name, at)),
        OwnerKind::Flow => Owner::Flow(Box::new(Flow {
            id: FlowId::parse(queue_name).expect(well_formed),
            on_failure: OnFailure::Stop,
            state: FlowState::Running,
            created_at: at,
            finished_at: None,
            counts: Counts { pending: 1, living: 2, done: 3, failed: 4, cancelled: 5 },
            round: 6,
            // One that is to be looked through at once.
            sweeps: 1,
            swept: 0,
            check: None,
        })),
        OwnerKind::Step => Owner::Step(Box::new(FlowStep {
            flow: FlowId::parse(queue_name).expect(well_formed),
            name: StepName::parse(name).expect(well_formed),
            position: 7,
            queue: queue("elsewhere"),
            before: Vec::new(),
            missing: 0,
            state: StepState::Pending,
            round: 1,
            made_at: Some(at),
            task: None,
            paused: false,
            result: Some(RawJson::null()),
            error: Some("\u{fc}".to_owned()),
        })),
        OwnerKind::Worker => Owner::Worker(Box::new(Worker {
            name: worker(queue_name),
            queues: vec![queue("elsewhere")],
            capabilities: vec!["gpu".to_owned()],
            capacity: 3,
            session: None,
            state: WorkerState::Active,
            joined_at: at,
            seen_at: at - SILENCE,
        })),
        OwnerKind::Vote => {
            let ballot = Ballot {
                worker: worker("w"),
                token: Token::NOBODY,
                hold: SILENCE,
                max_runtime: None,
                started: None,
                state: BallotState::Running { until: at },
            };
            let (queue, task) = (queue(queue_name), id(name));
            Owner::Vote(Box::new(Vote { queue, task, ballots: vec![ballot] }))
        }
        OwnerKind::Token => Owner::Token(Box::new(AccessToken {
            name: TokenName::parse(queue_name).expect(well_formed),
            hash: "00".repeat(32),
            rights: vec![Right::Read],
            queues: None,
            expires: Some(at),
            limits: TokenLimits::default(),
            created_at: at,
            used: TokenUse::default(),
        })),
    }
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
    pub(super) async fn write(&self, changes: Changes) -> Written {
        self.store().write_one(changes.into()).await.expect("the store answers")
    }

    /// Changes one owner.
    async fn change_owner(&self, change: OwnerChange) -> Written {
        self.write(change.into()).await
    }

    /// Changes one owner, and expects that it happens.
    pub(super) async fn must_change(&self, change: OwnerChange) -> Option<Revision> {
        match self.change_owner(change).await {
            Written::Records { mut owners, tasks } => {
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
    pub(super) async fn get_owner(&self, key: &OwnerKey) -> StoredOwner {
        self.owner(key).await.unwrap_or_else(|| panic!("{key} is gone"))
    }

    pub(super) async fn items(&self, key: &OwnerKey, from: usize, limit: usize) -> Vec<RawJson> {
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
