//! Steps on owners in a random sequence, and what is compared of owners after every step.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::{option, prop_assert, prop_assert_eq};
use punctual_core::{
    Owner, OwnerKey, OwnerKind, OwnerRef, QueueName, RawJson, Span, Spec, Timestamp,
};

use super::pair::{Outcome, Pair, answered};
use super::steps::{Occurrence, Pushable, QUEUES, a_queue, occurrence, pushable};
use crate::conformance::fixture::{id, queue};
use crate::conformance::owners::{bundle_key, changed, made, owner_of, plan_id, removed};
use crate::port::{
    Change, Changes, Keyed, KeyedItem, OwnerChange, OwnerListing, Store, StoredOwner, Written,
};

/// The owners each queue of a sequence may have. It wants the same plans as all others; what lies under
/// its own name is called like the queue.
const OWNERS: [(OwnerKind, &str); 12] = [
    (OwnerKind::Bundle, "k"),
    (OwnerKind::Bundle, "k/2"),
    (OwnerKind::Bundle, "ä"),
    (OwnerKind::Plan, "p"),
    (OwnerKind::Plan, "pp"),
    (OwnerKind::Vote, "k"),
    (OwnerKind::Vote, "x"),
    (OwnerKind::Flow, ""),
    (OwnerKind::Step, "k"),
    (OwnerKind::Step, "s"),
    (OwnerKind::Worker, ""),
    (OwnerKind::Token, ""),
];

/// A step on owners and tasks of one queue.
#[derive(Debug, Clone)]
pub(super) struct OwnerStep {
    queue: usize,
    wishes: Vec<Wish>,
    /// Something that happens to one of the queue's tasks.
    occurrence: Option<(usize, Occurrence)>,
    spawn: Vec<Pushable>,
    key: Option<u8>,
}

/// What is to become of an owner.
#[derive(Debug, Clone)]
struct Wish {
    /// Its place in [`OWNERS`].
    place: usize,
    /// Whether it goes.
    goes: bool,
    /// Whether its version is one from an earlier step.
    is_late: bool,
    /// From now until its due time.
    due_in_ms: i64,
    /// From now until its alarm.
    alarm_in_ms: Option<i64>,
    /// Whether it is delivered and not taken by workers.
    is_delivered: bool,
    drop_first: usize,
    append: usize,
}

impl Wish {
    fn key(&self, name: &QueueName) -> OwnerKey {
        key_at(self.place, name)
    }

    /// The record it shall have, at a time.
    fn owner(&self, name: &QueueName, now: Timestamp) -> Owner {
        let after = |ms| now + Span::from_millis(ms);
        let (kind, text) = OWNERS[self.place];
        let mut owner = owner_of(kind, name.as_str(), text, after(self.due_in_ms));
        let alarm_at = self.alarm_in_ms.map(after);
        match &mut owner {
            Owner::Bundle(bundle) => {
                bundle.abandoned_at = alarm_at;
                bundle.task = self.is_delivered.then(|| id("delivery"));
            }
            Owner::Plan(plan) => plan.next_at = alarm_at,
            Owner::Flow(flow) => {
                flow.created_at = alarm_at.unwrap_or(flow.created_at);
                flow.sweeps = u32::from(alarm_at.is_some());
            }
            _ => {}
        }
        owner
    }
}

/// The owner of a queue that has a place in [`OWNERS`].
fn key_at(place: usize, name: &QueueName) -> OwnerKey {
    let (kind, text) = OWNERS[place];
    owner_of(kind, name.as_str(), text, Timestamp::EPOCH).key()
}

pub(super) fn owner_step() -> impl Strategy<Value = OwnerStep> {
    (
        a_queue(),
        vec(wish(), 1..3),
        option::weighted(0.3, (any::<usize>(), occurrence())),
        prop_oneof![7 => Just(Vec::new()), 3 => vec(pushable(), 1..3)],
        option::weighted(0.2, 0..3u8),
    )
        .prop_map(|(queue, mut wishes, occurrence, spawn, key)| {
            // A step changes an owner at most once.
            wishes.sort_by_key(|wish| wish.place);
            wishes.dedup_by_key(|wish| wish.place);
            OwnerStep { queue, wishes, occurrence, spawn, key }
        })
}

fn wish() -> impl Strategy<Value = Wish> {
    let times = || select(vec![-5_000, 0, 1, 1_000, 1_000, 10_000, 86_400_000]);
    (
        0..OWNERS.len(),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
        times(),
        option::of(times()),
        prop::bool::weighted(0.2),
        prop_oneof![2 => Just(0usize), 2 => 1..5usize],
        0..4usize,
    )
        .prop_map(
            |(place, goes, is_late, due_in_ms, alarm_in_ms, is_delivered, drop_first, append)| {
                Wish {
                    place,
                    goes,
                    is_late,
                    due_in_ms,
                    alarm_in_ms,
                    is_delivered,
                    drop_first,
                    append,
                }
            },
        )
}

/// Every owner there may be.
fn all_keys() -> Vec<OwnerKey> {
    let of_queue = |name| {
        let name = queue(name);
        (0..OWNERS.len()).map(move |place| key_at(place, &name))
    };
    QUEUES.into_iter().flat_map(of_queue).collect()
}

/// What a step came to, without versions.
fn plainly(stepped: Written) -> Result<(Vec<bool>, usize), Written> {
    match stepped {
        Written::Records { owners, tasks } => {
            Ok((owners.iter().map(Option::is_some).collect(), tasks.len()))
        }
        other => Err(other),
    }
}

fn plain(stored: Vec<StoredOwner>) -> Vec<Owner> {
    stored.into_iter().map(|stored| stored.owner).collect()
}

/// A page or all pages of a list.
async fn listed(
    store: &dyn Store,
    listing: &OwnerListing,
) -> Result<Vec<Owner>, proptest::test_runner::TestCaseError> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page = answered(store.list_owners(OwnerListing { cursor, ..listing.clone() }).await)?;
        all.extend(plain(page.items));
        prop_assert!(all.len() < 1_000, "a list comes to an end");
        cursor = page.next;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

impl Pair {
    /// Carries out a step on both, each with its own versions.
    pub(super) async fn step_owners(&mut self, wanted: &OwnerStep) -> Outcome {
        let name = queue(QUEUES[wanted.queue]);
        let (mut for_model, mut for_subject) = (Changes::default(), Changes::default());
        for wish in &wanted.wishes {
            let (model, subject) = self.change_of(wish, &name).await?;
            for_model.owners.push(model);
            for_subject.owners.push(subject);
        }
        if let Some((place, occurrence)) = &wanted.occurrence {
            let (model, subject) = self.decisions(&name, *place, occurrence).await?;
            for_model.tasks.extend(model);
            for_subject.tasks.extend(subject);
        }
        let now = self.now();
        let spawn = |pushable: &Pushable| {
            let spec = Spec::new(name.clone(), pushable.at(now), id("unnamed"), now);
            let owner = pushable.owned.then(|| OwnerRef::Bundle(bundle_key(OWNERS[0].1)));
            Spec { owner, ..spec }
        };
        let spawn: Vec<Spec> = wanted.spawn.iter().map(spawn).collect();
        let of_decisions = for_model.tasks.iter().flat_map(|change| &change.decision.spawn);
        let made = spawn.iter().chain(of_decisions);
        let made: Vec<_> = made.map(|spec| (spec.queue.clone(), spec.id.clone())).collect();
        self.names.extend(made);
        for step in [&mut for_model, &mut for_subject] {
            step.births.clone_from(&spawn);
            step.keyed = wanted.key.map(|key| keyed(wanted.queue, key, wanted.wishes.len()));
        }
        let model = answered(self.model.write_one(for_model.into()).await)?;
        let subject = answered(self.subject().write_one(for_subject.into()).await)?;
        prop_assert_eq!(plainly(subject), plainly(model), "what the step came to");
        Ok(())
    }

    /// The change of an owner, for the model and for the store.
    async fn change_of(
        &mut self,
        wish: &Wish,
        name: &QueueName,
    ) -> Result<(OwnerChange, OwnerChange), proptest::test_runner::TestCaseError> {
        let key = wish.key(name);
        let keys = [key.clone()];
        let model = answered(self.model.owners(&keys).await)?.remove(0);
        let subject = answered(self.subject().owners(&keys).await)?.remove(0);
        let late = self.owners.insert(key, (model.clone(), subject.clone()));
        let (model, subject) = late.filter(|_| wish.is_late).unwrap_or((model, subject));
        let owner = wish.owner(name, self.now());
        let change = |before: Option<StoredOwner>| {
            let change = match before {
                Some(before) if wish.goes => removed(&before),
                Some(before) => changed(&before, owner.clone()),
                None => made(owner.clone()),
            };
            let append = (0..wish.append).map(|n| RawJson::of(&(self.steps, n))).collect();
            OwnerChange { drop_first: wish.drop_first, append, ..change }
        };
        Ok((change(model), change(subject)))
    }

    /// What happens to a task of a queue, decided for the model and for the store.
    async fn decisions(
        &self,
        name: &QueueName,
        place: usize,
        occurrence: &Occurrence,
    ) -> Result<(Option<Change>, Option<Change>), proptest::test_runner::TestCaseError> {
        let mut all = Vec::new();
        for (_, id) in self.names.iter().filter(|(queue, _)| queue == name) {
            all.extend(self.both(name, id).await?);
        }
        if all.is_empty() {
            return Ok((None, None));
        }
        let (model, subject) = all.swap_remove(place % all.len());
        let settings = self.settings(name).await?;
        let decision = |stored| self.decision(stored, occurrence, &settings);
        Ok((decision(&model), decision(&subject)))
    }

    /// Compares all that can be observed of owners.
    pub(super) async fn compare_owners(&self) -> Outcome {
        let (model, subject) = (&self.model, self.subject());
        let keys = all_keys();
        let read = answered(model.owners(&keys).await)?;
        let other = answered(subject.owners(&keys).await)?;
        let plain = |read: &[Option<StoredOwner>]| -> Vec<_> {
            read.iter().map(|stored| stored.as_ref().map(|s| s.owner.clone())).collect()
        };
        prop_assert_eq!(plain(&other), plain(&read), "owners as they read");
        for (key, _) in keys.iter().zip(&read).filter(|(_, stored)| stored.is_some()) {
            for (from, limit) in [(0, usize::MAX), (1, 2)] {
                let items = answered(model.items(key, from, limit).await)?;
                let other = answered(subject.items(key, from, limit).await)?;
                prop_assert_eq!(other, items, "items of {}", key);
            }
        }
        for kind in OwnerKind::ALL {
            let whole = OwnerListing {
                kind,
                queue: None,
                prefix: if self.steps.is_multiple_of(2) { String::new() } else { "k".to_owned() },
                cursor: None,
                limit: usize::MAX,
            };
            let paged = OwnerListing { limit: 2, ..whole.clone() };
            let expected = listed(model.as_ref(), &whole).await?;
            prop_assert_eq!(listed(subject.as_ref(), &paged).await?, expected, "{:?}", kind);
        }
        self.compare_times().await
    }

    async fn compare_times(&self) -> Outcome {
        let (model, subject) = (&self.model, self.subject());
        for name in QUEUES.map(queue) {
            let first = answered(model.first_due(&name).await)?.map(|stored| stored.owner);
            let other = answered(subject.first_due(&name).await)?.map(|stored| stored.owner);
            prop_assert_eq!(other, first, "what is due first in {}", name);
        }
        for plan in ["p", "pp"].map(plan_id) {
            let station = answered(model.station(&plan).await)?;
            prop_assert_eq!(answered(subject.station(&plan).await)?, station);
        }
        let mut rung = plain(answered(model.alarms(usize::MAX).await)?);
        let mut other = plain(answered(subject.alarms(usize::MAX).await)?);
        prop_assert!(other.is_sorted_by_key(Owner::alarm_at), "the earliest alarm first");
        rung.sort_by_key(Owner::key);
        other.sort_by_key(Owner::key);
        prop_assert_eq!(other, rung, "alarms");
        Ok(())
    }
}

/// A key is one of its path, and so of its queue; these are told from those of pushes.
fn keyed(queue: usize, key: u8, request: usize) -> Keyed {
    let items = vec![KeyedItem { id: None, code: None }];
    Keyed {
        key: ((queue as u128) << 8) | u128::from(key) | (1 << 16),
        request: request as u128,
        status: 201,
        single: true,
        items,
        positions: Vec::new(),
    }
}

/// An owner as the model and the store read it.
pub(super) type OwnerReading = (Option<StoredOwner>, Option<StoredOwner>);
