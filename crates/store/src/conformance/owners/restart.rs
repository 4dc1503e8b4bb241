//! What of owners survives a stop and a start: everything that was answered.

use punctual_core::{OwnerKind, Span};

use super::super::checks;
use super::super::fixture::{Fixture, queue};
use super::{a_bundle, a_plan, bundle, changed, names, numbers, plan, plan_id, removed};
use crate::port::{OwnerChange, OwnerListing, Written};

checks! {
    "owners":
    owners_survive,
    what_went_stays_gone,
    a_version_from_before_is_still_a_fence,
}

async fn owners_survive(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let due_at = f.now() + Span::from_secs(9);
    let b = f.make_owner(a_bundle(bundle("q", "b", due_at)), numbers(0..4)).await;
    f.make_owner(a_bundle(bundle("q", "a", due_at)), numbers(0..1)).await;
    let change = changed(&b, b.owner.clone());
    f.must_change(OwnerChange { drop_first: 2, append: numbers(4..6), ..change }).await;
    let b = f.get_owner(&b.owner.key()).await;
    let p = f.make_owner(a_plan(plan("none", "p", due_at)), numbers(7..8)).await;
    f.restart().await;
    assert_eq!(f.get_owner(&b.owner.key()).await, b);
    assert_eq!(f.get_owner(&p.owner.key()).await, p);
    assert_eq!(f.items(&b.owner.key(), 0, 9).await, numbers(2..6));
    assert_eq!(f.items(&p.owner.key(), 0, 9).await, numbers(7..8));
    let change = changed(&b, b.owner.clone());
    f.must_change(OwnerChange { drop_first: 1, append: numbers(6..7), ..change }).await;
    assert_eq!(f.items(&b.owner.key(), 0, 9).await, numbers(3..7));
    assert_eq!(f.first_due("q").await.as_deref(), Some("a"));
    let listing = OwnerListing {
        kind: OwnerKind::Bundle,
        queue: Some(queue("q")),
        prefix: String::new(),
        cursor: None,
        limit: 9,
    };
    let page = f.store().list_owners(listing).await.expect("the store answers");
    assert_eq!(names(&page.items), ["a", "b"]);
    let station = f.store().station(&plan_id("p")).await.expect("the store answers");
    assert_eq!(station, Some(queue("none")));
    assert!(f.alarms(9).await.is_empty());
    f.advance(Span::from_secs(9)).await;
    assert_eq!(f.alarms(9).await, ["p"]);
}

async fn what_went_stays_gone(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let gone = f.make_bundle("q", "gone", numbers(0..9)).await;
    let stays = f.make_bundle("q", "stays", numbers(0..2)).await;
    f.must_change(removed(&gone)).await;
    f.restart().await;
    assert_eq!(f.owner(&gone.owner.key()).await, None);
    assert_eq!(f.items(&gone.owner.key(), 0, 9).await, []);
    f.make_bundle("q", "gone", numbers(20..21)).await;
    while f.store().sweep(1).await.expect("the store sweeps") {}
    f.restart().await;
    assert_eq!(f.items(&gone.owner.key(), 0, 9).await, numbers(20..21));
    assert_eq!(f.items(&stays.owner.key(), 0, 9).await, numbers(0..2));
}

async fn a_version_from_before_is_still_a_fence(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let old = f.make_bundle("q", "k", vec![]).await;
    f.must_change(removed(&old)).await;
    while f.store().sweep(9).await.expect("the store sweeps") {}
    f.restart().await;
    f.make_bundle("q", "k", vec![]).await;
    assert_eq!(f.change_owner(changed(&old, old.owner.clone())).await, Written::Lost);
}
