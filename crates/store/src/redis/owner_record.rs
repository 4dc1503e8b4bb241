//! An owner as it lies in Redis: how its record is written and read. `docs/redis.md` names every key.
//!
//! A plan's record is packed; beside that lies its message, JSON for people to read, under the names that
//! the seeds give it and its fields. If somebody spoils that, the plan still reads, as one that failed. A bundle's record is JSON without what lies beside it: its target, packed, and its data.
//! All others are packed, and JSON besides for people to read.

use std::collections::BTreeSet;

use punctual_core::bundle::{Bundle, BundleState};
use punctual_core::calendar::Rule;
use punctual_core::plan::{LastState, Order, Phase, Plan, PlanState};
use punctual_core::{Owner, OwnerKey, OwnerKind, PlanId, QueueName, Timestamp};
use serde::Serialize;
use serde_json::Value;
use tracing::error;

use super::answer::Part;
use super::call::Call;
use super::fields::{corrupt, seconds};
use crate::format::{is_older, marked, unpack_marked};
use crate::port::{Revision, StoreError, StoredOwner};

fn millis_text(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| time.as_millis().to_string())
}

fn seconds_text(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| seconds(time.as_millis()))
}

fn json<T: serde::Serialize>(record: &T) -> Vec<u8> {
    serde_json::to_vec(record).expect("records have string keys only")
}

/// What people see of a plan: what it was given, and where it stands.
#[derive(Serialize)]
struct Message<'a> {
    plan_id: &'a PlanId,
    station: &'a QueueName,
    #[serde(flatten)]
    order: &'a Order,
    #[serde(flatten)]
    rule: &'a Rule,
    state: PlanState,
    next_at: Option<Timestamp>,
    real_repet: u64,
    skipped: u64,
    exec_time: Option<Timestamp>,
    last_state: Option<LastState>,
    error: Option<&'a str>,
    created_at: Timestamp,
    finished_at: Option<Timestamp>,
}

fn message(plan: &Plan) -> Vec<u8> {
    json(&Message {
        plan_id: &plan.id,
        station: &plan.station,
        order: &plan.order,
        rule: &plan.rule,
        state: plan.state(),
        next_at: plan.next_at,
        real_repet: plan.real_repet,
        skipped: plan.skipped,
        exec_time: plan.exec_time,
        last_state: plan.last_state,
        error: plan.error.as_deref(),
        created_at: plan.created_at,
        finished_at: plan.finished_at,
    })
}

impl Call<'_> {
    /// Adds the identity of an owner.
    pub(super) fn owner_key(&mut self, key: &OwnerKey) -> &mut Self {
        self.arg(key.kind.name()).arg(key.queue.as_str()).arg(&*key.name)
    }

    /// Adds the record of an owner, and what people see of it elsewhere.
    pub(super) fn owner(&mut self, owner: &Owner) -> &mut Self {
        let (record, packed, timer) = match owner {
            Owner::Bundle(bundle) => {
                let record =
                    Bundle { data: BTreeSet::new(), target: None, ..Bundle::clone(bundle) };
                let target = bundle.target.as_ref().map(marked).unwrap_or_default();
                let waits = bundle.state != BundleState::Failed;
                (json(&record), target, waits.then_some(bundle.due_at))
            }
            Owner::Plan(plan) => (message(plan), marked(plan), plan.timed_at()),
            Owner::Flow(flow) => (json(flow), marked(flow), None),
            Owner::Step(step) => (json(step), marked(step), None),
            Owner::Worker(worker) => (json(worker), marked(worker), None),
            Owner::Vote(vote) => (json(vote), marked(vote), None),
            Owner::Token(token) => (json(token), marked(token), None),
        };
        self.arg(record).arg(packed).arg(seconds_text(timer));
        self.arg(millis_text(owner.due_at())).arg(millis_text(owner.alarm_at()));
        if let Owner::Bundle(bundle) = owner {
            self.signs(bundle);
        }
        self
    }

    /// Adds what the seeds show of a bundle besides its payloads.
    fn signs(&mut self, bundle: &Bundle) {
        let (lock, started_at) = match &bundle.state {
            BundleState::Locked(lock) => (Some(lock), None),
            BundleState::Started { at, .. } => (None, Some(*at)),
            BundleState::Waiting | BundleState::Failed => (None, None),
        };
        self.arg(lock.map_or("", |lock| &lock.random));
        self.arg(millis_text(lock.map(|lock| lock.until))).arg(seconds_text(started_at));
        self.arg(if bundle.overwrite { "1" } else { "" }).arg(bundle.data.len());
        for text in &bundle.data {
            self.arg(text);
        }
    }
}

/// An owner as scripts show it.
pub(super) struct Shown {
    /// Which.
    pub(super) key: OwnerKey,
    /// Its version.
    pub(super) revision: Revision,
    record: Vec<u8>,
    packed: Vec<u8>,
    data: Vec<Vec<u8>>,
}

impl Shown {
    /// Takes an answer apart; none: there is no such owner.
    pub(super) fn read(part: Part) -> Result<Option<Self>, StoreError> {
        if part.is_nothing() {
            return Ok(None);
        }
        let [kind, queue, name, birth, change, record, packed, data] = part.parts()?;
        let name_of_kind = kind.text()?;
        let kind = OwnerKind::ALL.into_iter().find(|kind| kind.name() == name_of_kind);
        let kind = kind.ok_or_else(|| corrupt(name_of_kind, "not a kind of owner"))?;
        let bytes = |part: Part| if part.is_nothing() { Ok(Vec::new()) } else { part.bytes() };
        let data: Result<_, _> = data.list()?.into_iter().map(Part::bytes).collect();
        let change = u32::try_from(change.count()?).unwrap_or(u32::MAX);
        Ok(Some(Self {
            key: OwnerKey { kind, queue: queue.name()?, name: name.text()?.into() },
            revision: Revision { birth: birth.int()?.unsigned_abs(), change },
            record: bytes(record)?,
            packed: bytes(packed)?,
            data: data?,
        }))
    }

    /// About how large it is.
    pub(super) fn bytes(&self) -> usize {
        let data = self.data.iter().map(Vec::len).sum::<usize>();
        self.record.len().max(self.packed.len()) + data
    }

    /// Reads the record.
    pub(super) fn stored(self) -> Result<StoredOwner, StoreError> {
        let revision = self.revision;
        let owner = match self.key.kind {
            OwnerKind::Bundle => Owner::Bundle(Box::new(self.bundle()?)),
            OwnerKind::Plan => Owner::Plan(Box::new(self.plan()?)),
            OwnerKind::Flow => Owner::Flow(Box::new(self.unpacked()?)),
            OwnerKind::Step => Owner::Step(Box::new(self.unpacked()?)),
            OwnerKind::Worker => Owner::Worker(Box::new(self.unpacked()?)),
            OwnerKind::Vote => Owner::Vote(Box::new(self.unpacked()?)),
            OwnerKind::Token => Owner::Token(Box::new(self.unpacked()?)),
        };
        Ok(StoredOwner { owner, revision })
    }

    fn unpacked<T: serde::de::DeserializeOwned>(self) -> Result<T, StoreError> {
        unpack_marked(&self.packed).map_err(|error| corrupt(self.key.to_string(), error))
    }

    fn bundle(self) -> Result<Bundle, StoreError> {
        let place = || self.key.to_string();
        let bundle: Bundle =
            serde_json::from_slice(&self.record).map_err(|error| corrupt(place(), error))?;
        if OwnerKey::bundle(&bundle.queue, &bundle.key) != self.key {
            return Err(corrupt(place(), "its record is that of another"));
        }
        let target = match self.packed.is_empty() {
            true => None,
            false => Some(unpack_marked(&self.packed).map_err(|error| corrupt(place(), error))?),
        };
        let data: Result<_, _> = self.data.into_iter().map(String::from_utf8).collect();
        let data = data.map_err(|error| corrupt(self.key.to_string(), error))?;
        Ok(Bundle { data, target, ..bundle })
    }

    /// Whether the message of a plan of an older format says all that this version would, but for fields that
    /// it did not know.
    fn is_older_message(&self, plan: &Plan) -> bool {
        let read = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
        let (Some(older), Some(newer)) = (read(&self.record), read(&message(plan))) else {
            return false;
        };
        is_older(&self.packed) && says_the_same(&older, &newer)
    }

    fn plan(self) -> Result<Plan, StoreError> {
        let place = || self.key.to_string();
        let plan: Plan = unpack_marked(&self.packed).map_err(|error| corrupt(place(), error))?;
        if OwnerKey::plan(&plan.station, &plan.id) != self.key {
            return Err(corrupt(place(), "its record is that of another"));
        }
        if message(&plan) == self.record || self.is_older_message(&plan) {
            return Ok(plan);
        }
        let reason = serde_json::from_slice::<serde::de::IgnoredAny>(&self.record)
            .map_or_else(|error| error.to_string(), |_| "it was written over".to_owned());
        error!(plan = %self.key.name, reason, "the message of a plan cannot be read; it will not run");
        let error = Some(format!("the stored plan cannot be read: {reason}"));
        Ok(Plan { phase: Phase::Error, next_at: None, error, ..plan })
    }
}

/// Whether a value of an older message says what a newer one does: fields that are null may be missing in
/// its objects.
fn says_the_same(older: &Value, newer: &Value) -> bool {
    match (older, newer) {
        (Value::Object(older), Value::Object(newer)) => {
            let is_same = |(name, value): (&String, &Value)| {
                older.get(name).map_or(value.is_null(), |older| says_the_same(older, value))
            };
            older.keys().all(|name| newer.contains_key(name)) && newer.iter().all(is_same)
        }
        (older, newer) => older == newer,
    }
}
