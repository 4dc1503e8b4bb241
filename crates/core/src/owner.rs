//! Owners: what spans several tasks and outlives each of them. A bundle owns the task that delivers
//! it; a plan owns its runs, a flow its steps, a vote the answers to a task.
//!
//! An owner is one record, a list of items beside it (a bundle's payloads, a plan's results) and at
//! most two times: when it is due in its queue, and when the server must look after it. Its record
//! and the tasks it owns change in one atomic step, so an owner lies where its queue's tasks lie. What
//! is of no one queue, a flow with its steps, a worker or an access token, lies where a queue of its own name would.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::access::AccessToken;
use crate::bundle::{Bundle, BundleKey};
use crate::error::Refusal;
use crate::flow::{Flow, FlowStep};
use crate::json::RawJson;
use crate::name::{FlowId, PlanId, QueueName, StepName, TaskId, TokenName, WorkerName};
use crate::plan::{Ended, Plan};
use crate::queue::Settings;
use crate::task::{Decision, Event, Fate, Spec, Task};
use crate::time::Timestamp;
use crate::vote::Vote;
use crate::worker::Worker;

/// The kinds of owners.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumCount,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum OwnerKind {
    /// A bundle.
    Bundle,
    /// A plan.
    Plan,
    /// A flow.
    Flow,
    /// A step of a flow.
    Step,
    /// A worker that registered.
    Worker,
    /// A vote on a task.
    Vote,
    /// An access token.
    Token,
}

impl OwnerKind {
    /// Every kind.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("one of each");

    /// The word for it, in messages and stores.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is made only in a queue that exists, and goes when that queue is reset or deleted.
    pub fn goes_with_queue(self) -> bool {
        matches!(self, Self::Bundle | Self::Vote)
    }
}

/// The identity of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnerKey {
    /// What it is.
    pub kind: OwnerKind,
    /// The queue its tasks are in; for a flow, its steps, a worker and a token, their own name.
    pub queue: QueueName,
    /// Its name: a bundle's key, unique in its queue; a plan's id, unique among all plans; the id of
    /// a flow, the name of a step, a worker or a token; the id of the task that is voted on.
    pub name: Arc<str>,
}

impl OwnerKey {
    /// The identity of a bundle.
    pub fn bundle(queue: &QueueName, key: &BundleKey) -> Self {
        Self { kind: OwnerKind::Bundle, queue: queue.clone(), name: key.as_str().into() }
    }

    /// The identity of a plan.
    pub fn plan(station: &QueueName, id: &PlanId) -> Self {
        Self { kind: OwnerKind::Plan, queue: station.clone(), name: id.as_str().into() }
    }

    /// The identity of a flow.
    pub fn flow(id: &FlowId) -> Self {
        Self { kind: OwnerKind::Flow, queue: own_place(id.as_str()), name: id.as_str().into() }
    }

    /// The identity of a step of a flow.
    pub fn step(flow: &FlowId, name: &StepName) -> Self {
        Self { kind: OwnerKind::Step, queue: own_place(flow.as_str()), name: name.as_str().into() }
    }

    /// The identity of a worker.
    pub fn worker(name: &WorkerName) -> Self {
        Self {
            kind: OwnerKind::Worker,
            queue: own_place(name.as_str()),
            name: name.as_str().into(),
        }
    }

    /// The name of the worker, if it is one.
    pub fn worker_name(&self) -> Option<WorkerName> {
        WorkerName::parse(&self.name).ok().filter(|_| self.kind == OwnerKind::Worker)
    }

    /// The identity of an access token.
    pub fn token(name: &TokenName) -> Self {
        Self { kind: OwnerKind::Token, queue: own_place(name.as_str()), name: name.shared() }
    }

    /// The identity of the vote on a task.
    pub fn vote(queue: &QueueName, task: &TaskId) -> Self {
        Self { kind: OwnerKind::Vote, queue: queue.clone(), name: task.as_str().into() }
    }
}

/// Where an owner lies that is of no one queue.
fn own_place(name: &str) -> QueueName {
    QueueName::parse(name).expect("what names a flow, worker or token could name a queue")
}

/// The record of an owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Owner {
    /// A bundle.
    Bundle(Box<Bundle>),
    /// A plan.
    Plan(Box<Plan>),
    /// A flow.
    Flow(Box<Flow>),
    /// A step of a flow.
    Step(Box<FlowStep>),
    /// A worker that registered.
    Worker(Box<Worker>),
    /// A vote on a task.
    Vote(Box<Vote>),
    /// An access token.
    Token(Box<AccessToken>),
}

impl Owner {
    /// Its identity.
    pub fn key(&self) -> OwnerKey {
        match self {
            Self::Bundle(bundle) => OwnerKey::bundle(&bundle.queue, &bundle.key),
            Self::Plan(plan) => OwnerKey::plan(&plan.station, &plan.id),
            Self::Flow(flow) => OwnerKey::flow(&flow.id),
            Self::Step(step) => OwnerKey::step(&step.flow, &step.name),
            Self::Worker(worker) => OwnerKey::worker(&worker.name),
            Self::Vote(vote) => OwnerKey::vote(&vote.queue, &vote.task),
            Self::Token(token) => OwnerKey::token(&token.name),
        }
    }

    /// When it is due in its queue, for whoever asks for the first that is: bundles for workers.
    pub fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::Bundle(bundle) => bundle.scheduled_at(),
            _ => None,
        }
    }

    /// When the server must look after it.
    pub fn alarm_at(&self) -> Option<Timestamp> {
        match self {
            Self::Bundle(bundle) => bundle.abandoned_at,
            Self::Plan(plan) => plan.alarm_at(),
            Self::Flow(flow) => flow.alarm_at(),
            Self::Step(_) => None,
            Self::Worker(worker) => Some(worker.alarm_at()),
            // Its task's hold ends when the last of its ballots does.
            Self::Vote(_) => None,
            // It is no good after its time, and stays to be seen.
            Self::Token(_) => None,
        }
    }

    /// Decides what an event that happened to one of its tasks makes of it. What was decided about
    /// the task may be adjusted. None: it stays as it is.
    pub fn after(
        self,
        event: &Event,
        decision: &mut Decision,
        around: &Around<'_>,
    ) -> Result<Option<OwnerDecision>, Refusal> {
        match self {
            Self::Bundle(bundle) => bundle.after(event, decision, around),
            Self::Plan(plan) => Ok(plan.after(event, decision, around.now).map(Into::into)),
            Self::Flow(_) | Self::Step(_) | Self::Worker(_) | Self::Vote(_) | Self::Token(_) => {
                Ok(None)
            }
        }
    }
}

/// What surrounds a decision about an owner.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The time of the event.
    pub now: Timestamp,
    /// The settings of its queue.
    pub queue: &'a Settings,
    /// The id of the task it makes, if it makes one that needs an id.
    pub next_id: &'a TaskId,
}

/// What becomes of an owner, and what else must happen in the same atomic step.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerDecision {
    /// The record as it shall be; none: the owner goes, and its items with it.
    pub owner: Option<Owner>,
    /// How many items go, from the first on.
    pub drop_first: u64,
    /// Items that are added at the end.
    pub append: Vec<RawJson>,
    /// Tasks to make.
    pub spawn: Vec<Spec>,
}

impl OwnerDecision {
    /// The record changes, and nothing else.
    pub fn keep(owner: Owner) -> Self {
        Self { owner: Some(owner), drop_first: 0, append: Vec::new(), spawn: Vec::new() }
    }

    /// The owner goes.
    pub fn remove() -> Self {
        Self { owner: None, drop_first: 0, append: Vec::new(), spawn: Vec::new() }
    }
}

impl From<Ended> for OwnerDecision {
    fn from(ended: Ended) -> Self {
        let Ended { plan, results, drop_results } = ended;
        Self {
            owner: Some(Owner::Plan(Box::new(plan))),
            drop_first: drop_results as u64,
            append: results,
            spawn: Vec::new(),
        }
    }
}

/// Whether a decision about a task matters to its owner: a sign of life from its holder does not.
pub fn matters(before: &Task, decision: &Decision) -> bool {
    let after = &decision.task;
    match decision.fate {
        Fate::Same => false,
        Fate::Keep => {
            after.status.state != before.status.state || after.due_at() != before.due_at()
        }
        Fate::Rewrite | Fate::Reserve(_) | Fate::Remove => true,
    }
}

/// What a task is a part of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum OwnerRef {
    /// A run of a plan.
    Plan {
        /// The plan.
        id: PlanId,
        /// What reads as the task's `plan`.
        reads: RawJson,
    },
    /// A step of a flow.
    Flow {
        /// The flow.
        id: FlowId,
        /// The step.
        step: StepName,
    },
    /// The delivery of a bundle of the same queue.
    Bundle(BundleKey),
}

impl OwnerRef {
    /// The word for it in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Plan { .. } => "plan",
            Self::Flow { .. } => "flow",
            Self::Bundle(_) => "bundle",
        }
    }

    /// The owner of a task in a queue.
    pub fn key(&self, queue: &QueueName) -> OwnerKey {
        match self {
            Self::Plan { id, .. } => OwnerKey::plan(queue, id),
            Self::Bundle(key) => OwnerKey::bundle(queue, key),
            Self::Flow { id, .. } => OwnerKey::flow(id),
        }
    }
}

impl fmt::Display for OwnerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.name();
        match self.kind {
            OwnerKind::Flow | OwnerKind::Worker | OwnerKind::Token => {
                write!(f, "{kind} {:?}", self.name)
            }
            OwnerKind::Step => write!(f, "{kind} {:?} of flow {}", self.name, self.queue),
            OwnerKind::Bundle | OwnerKind::Plan | OwnerKind::Vote => {
                write!(f, "{kind} {:?} of queue {}", self.name, self.queue)
            }
        }
    }
}
