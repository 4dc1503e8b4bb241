//! What happens to bundles and plans when something happens to their queue.

use punctual_core::queue::Mode;
use punctual_core::{OwnerKind, Queue};

use super::super::checks;
use super::super::fixture::{Fixture, queue};
use super::{a_plan, key_of_bundle, numbers, plan, removed};
use crate::port::{OwnerListing, PutRefusal, StoredOwner};

checks! {
    "owners":
    bundles_are_counted,
    a_reset_drops_bundles_and_leaves_plans,
    a_deleted_queue_takes_its_bundles_along,
    a_queue_with_bundles_keeps_its_mode,
}

async fn bundles(f: &Fixture, name: &str) -> u64 {
    f.stats(name).await.expect("the queue exists").bundles
}

async fn listed(f: &Fixture, kind: OwnerKind) -> Vec<StoredOwner> {
    let listing =
        OwnerListing { kind, queue: None, prefix: String::new(), cursor: None, limit: 100 };
    f.store().list_owners(listing).await.expect("the store answers").items
}

async fn bundles_are_counted(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    assert_eq!(bundles(&f, "q").await, 0);
    f.make_bundle("p", "a", numbers(0..2)).await;
    let a = f.make_bundle("q", "a", numbers(0..2)).await;
    f.make_bundle("q", "b", vec![]).await;
    f.make_owner(a_plan(plan("q", "p", f.now())), vec![]).await;
    assert_eq!((bundles(&f, "q").await, bundles(&f, "p").await), (2, 1));
    f.must_change(removed(&a)).await;
    assert_eq!(bundles(&f, "q").await, 1);
    f.restart().await;
    assert_eq!((bundles(&f, "q").await, bundles(&f, "p").await), (1, 1));
}

async fn a_reset_drops_bundles_and_leaves_plans(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    let old = f.make_bundle("q", "k", numbers(0..3)).await;
    let other = f.make_bundle("p", "k", numbers(5..6)).await;
    let kept = f.make_owner(a_plan(plan("q", "p", f.now())), numbers(0..1)).await;
    assert_eq!(f.store().reset_queue(&queue("q")).await.ok(), Some(true));
    assert_eq!(f.owner(&old.owner.key()).await, None);
    assert_eq!(f.items(&old.owner.key(), 0, 9).await, []);
    assert_eq!((f.first_due("q").await, bundles(&f, "q").await), (None, 0));
    assert_eq!(listed(&f, OwnerKind::Bundle).await, [other]);
    assert_eq!(f.change_owner(removed(&old)).await, crate::port::Written::Lost);
    f.make_bundle("q", "k", numbers(7..8)).await;
    while f.store().sweep(2).await.expect("the store sweeps") {}
    assert_eq!(f.items(&old.owner.key(), 0, 9).await, numbers(7..8));
    assert_eq!(bundles(&f, "q").await, 1);
    assert_eq!(listed(&f, OwnerKind::Plan).await, std::slice::from_ref(&kept));
    assert_eq!(f.items(&kept.owner.key(), 0, 9).await, numbers(0..1));
    assert_eq!(f.alarms(9).await, ["p"]);
}

async fn a_deleted_queue_takes_its_bundles_along(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.make_bundle("q", "k", numbers(0..3)).await;
    f.make_bundle("q", "l", numbers(0..3)).await;
    let kept = f.make_owner(a_plan(plan("q", "p", f.now())), numbers(0..1)).await;
    assert_eq!(f.store().delete_queue(&queue("q")).await.ok(), Some(true));
    assert_eq!(f.owner(&key_of_bundle("q", "k")).await, None);
    assert_eq!(f.first_due("q").await, None);
    assert_eq!(listed(&f, OwnerKind::Bundle).await, []);
    f.restart().await;
    assert_eq!(listed(&f, OwnerKind::Bundle).await, []);
    f.put_queue("q", |_| ()).await;
    assert_eq!(bundles(&f, "q").await, 0);
    f.make_bundle("q", "k", vec![]).await;
    while f.store().sweep(1).await.expect("the store sweeps") {}
    assert_eq!(f.items(&key_of_bundle("q", "k"), 0, 9).await, []);
    assert_eq!(bundles(&f, "q").await, 1);
    assert_eq!(f.get_owner(&kept.owner.key()).await, kept);
    assert_eq!(f.items(&kept.owner.key(), 0, 9).await, numbers(0..1));
}

async fn a_queue_with_bundles_keeps_its_mode(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let stored = f.make_bundle("q", "k", vec![]).await;
    f.make_owner(a_plan(plan("q", "p", f.now())), vec![]).await;
    let before = f.queue("q").await.expect("the queue exists");
    let mut other = Queue::clone(&before);
    other.settings.mode = Mode::Http;
    let put = f.try_put(Some(before.clone()), other.clone()).await;
    assert_eq!(put, Err(PutRefusal::HoldsTasks));
    f.must_change(removed(&stored)).await;
    assert_eq!(f.try_put(Some(before), other).await, Ok(()), "plans do not matter");
}
