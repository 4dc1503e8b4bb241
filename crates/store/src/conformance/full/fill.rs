//! Puts a record of every kind into a store.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::{
    Fate, NewTask, Owner, OwnerKind, Queue, RawJson, Seed, Span, Spec, State, Timestamp, Token,
    Verb,
};

use super::super::fixture;
use super::super::owners::{changed, made};
use super::{owner, task};
use crate::migrate::{OwnerPages, TaskPages};
use crate::port::{
    AuditEntry, Change, Classes, Keyed, KeyedItem, OwnerChange, Push, PutQueue, Receipt,
    Remembered, Revision, Stored, Take, Taker, Transaction, Transfer,
};

/// The queue with a task in every state.
const STATES: &str = "every:state";
/// The queue whose tasks are pushed and taken as usual.
const USUAL: &str = "usual";

/// Fills an empty store: queues of every mode, tasks in every state, owners of every kind, and what a store
/// remembers besides. What is pushed and taken goes the usual way, all else is put as it is.
///
/// # Panics
/// If the store refuses any of it.
pub async fn fill(store: &dyn Transfer) {
    let now = store.now();
    queues(store, now).await;
    tasks_as_they_are(store, now).await;
    usual(store, now).await;
    for (owner, items) in owners(now) {
        put_owner(store, owner, items).await;
    }
    store.remember(memories(now)).await.expect("the store remembers");
    let entry = AuditEntry {
        at: now - Span::from_millis(1_009),
        who: "0123abcd".to_owned(),
        from: "192.0.2.1:5000".to_owned(),
        action: "queue.put".to_owned(),
        target: "every:state".to_owned(),
        status: 201,
    };
    let second = AuditEntry { action: "queue.delete".to_owned(), status: 404, ..entry.clone() };
    store.audit(&[entry, second]).await.expect("the store notes what was done");
}

async fn queues(store: &dyn Transfer, now: Timestamp) {
    let modes = [
        ("mode:pull", Mode::Pull),
        ("mode:dispatch", Mode::Dispatch),
        ("mode:http", Mode::Http),
        ("mode:vote", Mode::Vote),
        ("mode:pub", Mode::Pub),
        (STATES, Mode::Dispatch),
        (USUAL, Mode::Pull),
    ];
    for (name, mode) in modes {
        let mut queue = task::queue(name, mode, now);
        queue.paused = name != USUAL;
        let put = store.put_queue(PutQueue { queue, before: None }).await;
        assert_eq!(put.ok(), Some(Ok(())), "queue {name} is stored");
    }
}

async fn tasks_as_they_are(store: &dyn Transfer, now: Timestamp) {
    let queue = fixture::queue(STATES);
    let count = State::ALL.len() as u64;
    let first = store.reserve_births(&queue, count).await.expect("births are reserved");
    let stored = |(turn, state): (usize, State)| Stored {
        task: task::task(STATES, state, turn, now),
        revision: Revision { birth: first + turn as u64, change: 9 },
    };
    let tasks = State::ALL.into_iter().enumerate().map(stored).collect();
    store.admit(&queue, tasks).await.expect("tasks are put as they are");
}

/// Writes every queue, task and owner of a store anew, as it is.
///
/// # Panics
/// If the store refuses any of it.
pub async fn rewrite(store: &dyn Transfer) {
    for queue in store.queues().await.expect("queues are read") {
        let put = PutQueue { queue: Queue::clone(&queue), before: Some(queue.clone()) };
        assert_eq!(store.put_queue(put).await.ok(), Some(Ok(())), "the queue is stored");
        let mut pages = TaskPages::new(store, &queue.name);
        while let Some(page) = pages.next().await.expect("tasks are read") {
            for Stored { task, revision } in page {
                let decision = task.kept(Fate::Rewrite);
                write(store, Change { expected: revision, decision }).await;
            }
        }
    }
    for kind in OwnerKind::ALL {
        let mut pages = OwnerPages::new(store, kind);
        while let Some(page) = pages.next().await.expect("owners are read") {
            for stored in page {
                write(store, changed(&stored, stored.owner.clone())).await;
            }
        }
    }
}

/// One task after the other, so that it is certain which is taken.
async fn usual(store: &dyn Transfer, now: Timestamp) {
    let full =
        |name: &str| Spec { created_at: now, ..task::spec(USUAL, fixture::id(name), 0, now) };
    let plain = |name: &str| {
        let new = NewTask::default();
        Spec::new(fixture::queue(USUAL), new, fixture::id(name), now)
    };
    push(store, full("taken"), None).await;
    take(store, false).await;
    push(store, plain("taken-plain"), None).await;
    take(store, false).await;
    push(store, full("assigned"), None).await;
    take(store, true).await;
    let keyed = Keyed {
        key: 0xfeed << 96,
        request: 0xbeef << 96,
        status: 201,
        single: true,
        items: vec![KeyedItem { id: Some(fixture::id("pushed")), code: None }],
        positions: vec![0],
    };
    push(store, full("pushed"), Some(keyed)).await;
    push(store, plain("plain"), None).await;
}

async fn push(store: &dyn Transfer, spec: Spec, keyed: Option<Keyed>) {
    let push = Push { queue: spec.queue.clone(), tasks: vec![Arc::new(spec)], keyed };
    store.push(push).await.expect("the store answers");
}

async fn take(store: &dyn Transfer, confirm: bool) {
    let taker = Taker {
        seed: Seed::new(0x99 << 64),
        worker: Some(fixture::worker("taker:1")),
        n: 1,
        hold: confirm.then(|| Span::from_millis(21_021)),
        confirm,
        capacity: None,
    };
    let queue = fixture::queue(USUAL);
    let take = Take { queue, classes: Classes::all(), takers: vec![taker] };
    store.take(take).await.expect("the store answers");
}

/// One owner of every kind, bundles and steps in every state, each with as many items as its record says.
pub(super) fn owners(now: Timestamp) -> Vec<(Owner, Vec<RawJson>)> {
    let items = |n: usize| (0..n).map(|n| RawJson::of(&serde_json::json!({"item": n}))).collect();
    let mut owners: Vec<(Owner, Vec<RawJson>)> = Vec::new();
    for bundle in owner::bundles("mode:http", now) {
        owners.push((Owner::Bundle(Box::new(bundle)), items(3)));
    }
    owners.push((Owner::Plan(Box::new(owner::plan("mode:pull", now))), items(3)));
    owners.push((Owner::Flow(Box::new(owner::flow(now))), items(5)));
    for step in owner::steps(now) {
        owners.push((Owner::Step(Box::new(step)), items(0)));
    }
    owners.push((Owner::Worker(Box::new(owner::worker(now))), items(0)));
    owners.push((Owner::Vote(Box::new(owner::vote("mode:vote", now))), items(2)));
    owners.push((Owner::Token(Box::new(owner::token(now))), items(0)));
    owners
}

async fn put_owner(store: &dyn Transfer, owner: Owner, append: Vec<RawJson>) {
    write(store, OwnerChange { append, ..made(owner) }).await;
}

async fn write(store: &dyn Transfer, change: impl Into<Transaction>) {
    let written = store.write_one(change.into()).await.expect("the store answers");
    assert!(written.is_done(), "nobody else changes the record");
}

fn memories(now: Timestamp) -> Vec<Remembered> {
    let at = now - Span::from_millis(2_500);
    let receipt = Receipt {
        queue: fixture::queue(USUAL),
        id: fixture::id("committed"),
        token: Token::read("00000000000000770000000000000001"),
        verb: Verb::Commit,
    };
    vec![
        Remembered::Reserved {
            queue: fixture::queue(USUAL),
            id: fixture::id("reserved:id"),
            until: now + Span::from_secs(1_234),
        },
        Remembered::Receipt { at, fingerprint: receipt.fingerprint() },
        Remembered::Keyed {
            at,
            queue: Some(fixture::queue(USUAL)),
            key: 0xabc << 100,
            request: 0xdef << 100,
            status: 200,
            items: vec![
                KeyedItem { id: Some(fixture::id("a")), code: None },
                KeyedItem { id: None, code: Some("queue_full".to_owned()) },
            ],
        },
    ]
}
