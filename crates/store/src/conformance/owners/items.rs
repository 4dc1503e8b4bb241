//! The items of an owner: a list beside its record that grows at its end and shrinks at its front.

use punctual_core::RawJson;
use punctual_core::limits::TAKE_BYTES_MAX;

use super::super::checks;
use super::super::fixture::Fixture;
use super::{changed, key_of_bundle, numbers, removed};
use crate::port::{OwnerChange, StoredOwner};

checks! {
    "items":
    items_come_in_the_order_they_were_added,
    the_first_go_first,
    items_belong_to_their_owner,
    items_go_with_their_owner,
    a_read_is_bounded_by_its_bytes,
    many_items_stay_in_order,
}

/// Changes the items of an owner.
async fn change(f: &Fixture, owner: &StoredOwner, drop_first: usize, append: Vec<RawJson>) {
    let before = f.get_owner(&owner.owner.key()).await;
    let change = changed(&before, before.owner.clone());
    f.must_change(OwnerChange { drop_first, append, ..change }).await;
}

async fn items_come_in_the_order_they_were_added(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let owner = f.make_bundle("q", "k", numbers(0..3)).await;
    let key = owner.owner.key();
    change(&f, &owner, 0, numbers(3..4)).await;
    change(&f, &owner, 0, vec![]).await;
    change(&f, &owner, 0, numbers(4..7)).await;
    assert_eq!(f.items(&key, 0, 100).await, numbers(0..7));
    assert_eq!(f.items(&key, 0, usize::MAX).await, numbers(0..7));
    assert_eq!(f.items(&key, 2, 3).await, numbers(2..5));
    assert_eq!(f.items(&key, 6, 3).await, numbers(6..7));
    for (from, limit) in [(7, 3), (usize::MAX, 1), (0, 0)] {
        assert_eq!(f.items(&key, from, limit).await, [], "from {from}, at most {limit}");
    }
    assert_eq!(f.items(&key_of_bundle("q", "none"), 0, 9).await, []);
    assert_eq!(f.items(&key_of_bundle("none", "k"), 0, 9).await, []);
}

async fn the_first_go_first(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let owner = f.make_bundle("q", "k", numbers(0..5)).await;
    let key = owner.owner.key();
    change(&f, &owner, 2, vec![]).await;
    assert_eq!(f.items(&key, 0, 9).await, numbers(2..5));
    change(&f, &owner, 1, numbers(5..7)).await;
    assert_eq!(f.items(&key, 0, 9).await, numbers(3..7));
    assert_eq!(f.items(&key, 1, 2).await, numbers(4..6));
    // More than there are: all of them, but none of those that come with it.
    change(&f, &owner, 100, numbers(7..9)).await;
    assert_eq!(f.items(&key, 0, 9).await, numbers(7..9));
    change(&f, &owner, 2, vec![]).await;
    assert_eq!(f.items(&key, 0, 9).await, []);
    change(&f, &owner, 1, numbers(9..10)).await;
    assert_eq!(f.items(&key, 0, 9).await, numbers(9..10));
}

async fn items_belong_to_their_owner(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    let a = f.make_bundle("q", "a", numbers(0..2)).await;
    let b = f.make_bundle("q", "b", numbers(10..12)).await;
    let c = f.make_bundle("p", "a", numbers(20..22)).await;
    let plan = f.make_owner(super::a_plan(super::plan("q", "a", f.now())), numbers(30..31)).await;
    change(&f, &a, 0, numbers(2..3)).await;
    change(&f, &b, 1, numbers(12..13)).await;
    assert_eq!(f.items(&a.owner.key(), 0, 9).await, numbers(0..3));
    assert_eq!(f.items(&b.owner.key(), 0, 9).await, numbers(11..13));
    assert_eq!(f.items(&c.owner.key(), 0, 9).await, numbers(20..22));
    assert_eq!(f.items(&plan.owner.key(), 0, 9).await, numbers(30..31));
}

async fn items_go_with_their_owner(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let owner = f.make_bundle("q", "k", numbers(0..5)).await;
    let key = owner.owner.key();
    f.must_change(removed(&owner)).await;
    assert_eq!(f.items(&key, 0, 9).await, []);
    f.make_bundle("q", "k", numbers(7..8)).await;
    assert_eq!(f.items(&key, 0, 9).await, numbers(7..8));
    while f.store().sweep(2).await.expect("the store sweeps") {}
    assert_eq!(f.items(&key, 0, 9).await, numbers(7..8), "those that went are swept, no others");
}

async fn a_read_is_bounded_by_its_bytes(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let text = |bytes: usize| RawJson::of(&"x".repeat(bytes - 2));
    let quarter = text(TAKE_BYTES_MAX / 4);
    let owner = f.make_bundle("q", "k", vec![quarter.clone(); 3]).await;
    change(&f, &owner, 0, vec![quarter.clone(), text(9), quarter]).await;
    let key = owner.owner.key();
    assert_eq!(f.items(&key, 0, 9).await.len(), 4, "exactly 16 MiB");
    assert_eq!(f.items(&key, 1, 9).await.len(), 4, "one more would be a little more");
    assert_eq!(f.items(&key, 2, 9).await.len(), 4, "all that are left");
    let large = text(TAKE_BYTES_MAX + 1);
    change(&f, &owner, 9, vec![large.clone(), text(9)]).await;
    assert_eq!(f.items(&key, 0, 9).await, [large], "at least one");
    assert_eq!(f.items(&key, 1, 9).await, [text(9)]);
}

async fn many_items_stay_in_order(mut f: Fixture) {
    const MANY: usize = 5_000;
    const BATCH: usize = 500;
    f.put_queue("q", |_| ()).await;
    let owner = f.make_bundle("q", "k", vec![]).await;
    let key = owner.owner.key();
    for from in (0..MANY).step_by(BATCH) {
        change(&f, &owner, 0, numbers(from..from + BATCH)).await;
        // Others come in between.
        f.make_bundle("q", &format!("other-{from}"), numbers(0..3)).await;
    }
    assert_eq!(f.items(&key, 0, usize::MAX).await, numbers(0..MANY));
    assert_eq!(f.items(&key, 2_345, 10).await, numbers(2_345..2_355));
    change(&f, &owner, 1_234, numbers(MANY..MANY + 1)).await;
    f.restart().await;
    assert_eq!(f.items(&key, 0, usize::MAX).await, numbers(1_234..MANY + 1));
    f.must_change(removed(&f.get_owner(&key).await)).await;
    assert_eq!(f.items(&key, 0, 1).await, []);
    while f.store().sweep(1_000).await.expect("the store sweeps") {}
    let other = key_of_bundle("q", "other-500");
    assert_eq!(f.items(&other, 0, 9).await, numbers(0..3));
}
