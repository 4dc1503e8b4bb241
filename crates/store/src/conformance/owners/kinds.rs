//! What holds for owners of every kind alike.

use punctual_core::{NewTask, Owner, OwnerKey, OwnerKind, OwnerRef, Span, Spec, State};

use super::super::checks;
use super::super::fixture::{Fixture, id, queue};
use super::{changed, made, names, numbers, owner_of, removed};
use crate::port::{Changes, OwnerChange, OwnerListing, OwnerPage, StoredOwner, Written};

checks! {
    "kinds":
    every_kind_is_made_changed_and_removed,
    every_kind_has_items,
    every_kind_is_listed,
    every_kind_has_its_alarm,
    every_kind_outlasts_a_restart,
    what_goes_with_a_queue_goes_and_nothing_else,
    kinds_of_one_name_are_apart,
    ten_thousand_steps_come_and_go_at_once,
}

/// Steps of a large flow, and how many of them become tasks at once.
const STEPS: usize = 10_000;
const FIRST: usize = 300;

impl Fixture {
    /// Makes an owner of a kind, with items.
    async fn make(&self, kind: OwnerKind, name: &str, items: usize) -> StoredOwner {
        let owner = owner_of(kind, "q", name, self.now() + Span::from_secs(9));
        self.make_owner(owner, numbers(0..items)).await
    }

    async fn list(&self, listing: OwnerListing) -> OwnerPage {
        self.store().list_owners(listing).await.expect("the store answers")
    }
}

fn all(kind: OwnerKind) -> OwnerListing {
    OwnerListing { kind, queue: None, prefix: String::new(), cursor: None, limit: 100 }
}

/// Whether it is the only one in its place.
fn is_alone(kind: OwnerKind) -> bool {
    matches!(kind, OwnerKind::Flow | OwnerKind::Worker | OwnerKind::Token)
}

async fn every_kind_is_made_changed_and_removed(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for kind in OwnerKind::ALL {
        let first = f.make(kind, "a", 0).await;
        let key = first.owner.key();
        assert_eq!(key.kind, kind);
        assert_eq!(
            f.change_owner(made(first.owner.clone())).await,
            Written::Lost,
            "{key} is there"
        );
        let after = owner_of(kind, "q", "a", f.now() + Span::from_secs(90));
        f.must_change(changed(&first, after.clone())).await;
        let second = f.get_owner(&key).await;
        assert_eq!((&second.owner, second.revision.birth), (&after, first.revision.birth));
        assert_eq!(f.change_owner(removed(&first)).await, Written::Lost, "{key} has changed");
        f.must_change(removed(&second)).await;
        assert_eq!(f.owner(&key).await, None);
        assert_eq!(f.list(all(kind)).await.items, []);
    }
    assert_eq!(f.queue("elsewhere").await, None, "owners make no queues");
}

async fn every_kind_has_items(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for kind in OwnerKind::ALL {
        let owner = f.make(kind, "a", 5).await;
        let key = owner.owner.key();
        let change = changed(&owner, owner.owner.clone());
        f.must_change(OwnerChange { drop_first: 2, append: numbers(5..7), ..change }).await;
        assert_eq!(f.items(&key, 0, 9).await, numbers(2..7), "{key}");
        assert_eq!(f.items(&key, 1, 2).await, numbers(3..5), "{key}");
        f.must_change(removed(&f.get_owner(&key).await)).await;
        assert_eq!(f.items(&key, 0, 9).await, [], "{key}");
        f.make(kind, "a", 1).await;
        assert_eq!(f.items(&key, 0, 9).await, numbers(0..1), "{key}");
    }
}

async fn every_kind_is_listed(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for kind in OwnerKind::ALL {
        for name in ["ab", "b", "aa"] {
            if !is_alone(kind) || name == "b" {
                f.make(kind, name, 0).await;
            }
        }
        let expected: &[&str] = if is_alone(kind) { &["q"] } else { &["aa", "ab", "b"] };
        let whole = f.list(all(kind)).await;
        assert_eq!(
            (names(&whole.items), whole.next),
            (expected.iter().map(ToString::to_string).collect(), None)
        );
        let of = |name| OwnerListing { queue: Some(queue(name)), ..all(kind) };
        assert_eq!(names(&f.list(of("q")).await.items), expected);
        assert_eq!(f.list(of("p")).await.items, []);
        let begins = OwnerListing { prefix: "a".to_owned(), ..all(kind) };
        let expected: &[&str] = if is_alone(kind) { &[] } else { &["aa", "ab"] };
        assert_eq!(names(&f.list(begins).await.items), expected);
    }
    let two = OwnerListing { limit: 2, ..all(OwnerKind::Step) };
    let first = f.list(two.clone()).await;
    assert_eq!(names(&first.items), ["aa", "ab"]);
    let last = f.list(OwnerListing { cursor: first.next, ..two }).await;
    assert_eq!((names(&last.items), last.next), (vec!["b".to_owned()], None));
    for name in ["v", "w"] {
        f.make_owner(owner_of(OwnerKind::Worker, name, name, f.now()), vec![]).await;
    }
    assert_eq!(names(&f.list(all(OwnerKind::Worker)).await.items), ["q", "v", "w"]);
}

async fn every_kind_has_its_alarm(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for kind in OwnerKind::ALL {
        let owner = f.make(kind, "a", 0).await;
        assert!(f.alarms(9).await.is_empty(), "{kind:?}");
        f.advance(Span::from_secs(9)).await;
        let rung = f.store().alarms(9).await.expect("the store answers");
        match owner.owner.alarm_at() {
            Some(at) => assert_eq!((at, &rung[..]), (f.now(), std::slice::from_ref(&owner))),
            None => {
                assert!(
                    matches!(kind, OwnerKind::Step | OwnerKind::Vote | OwnerKind::Token),
                    "{kind:?}"
                );
                assert_eq!(rung, []);
            }
        }
        f.must_change(removed(&owner)).await;
        assert!(f.alarms(9).await.is_empty(), "{kind:?}");
    }
}

async fn every_kind_outlasts_a_restart(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let mut before = Vec::new();
    for kind in OwnerKind::ALL {
        before.push(f.make(kind, "a", 2).await);
    }
    if !f.restart().await {
        return;
    }
    for stored in before {
        let key = stored.owner.key();
        let after = f.get_owner(&key).await;
        assert_eq!(after.owner, stored.owner);
        assert_eq!(f.items(&key, 0, 9).await, numbers(0..2));
        f.must_change(removed(&after)).await;
    }
    f.restart().await;
    for kind in OwnerKind::ALL {
        assert_eq!(f.list(all(kind)).await.items, []);
    }
}

async fn what_goes_with_a_queue_goes_and_nothing_else(mut f: Fixture) {
    for kind in OwnerKind::ALL {
        let change = made(owner_of(kind, "q", "a", f.now()));
        if kind.goes_with_queue() {
            assert_eq!(f.change_owner(change).await, Written::Lost, "{kind:?} without its queue");
        }
    }
    for is_deleted in [false, true] {
        f.put_queue("q", |_| ()).await;
        let mut before = Vec::new();
        for kind in OwnerKind::ALL {
            before.push(f.make(kind, "a", 2).await);
        }
        let name = queue("q");
        let dropped = match is_deleted {
            true => f.store().delete_queue(&name).await,
            false => f.store().reset_queue(&name).await,
        };
        assert_eq!(dropped.ok(), Some(true));
        f.restart().await;
        for stored in &before {
            let key = stored.owner.key();
            let is_kept = !key.kind.goes_with_queue();
            assert_eq!(f.owner(&key).await.is_some(), is_kept, "{key}");
            assert_eq!(f.items(&key, 0, 9).await.len(), if is_kept { 2 } else { 0 }, "{key}");
            assert_eq!(f.list(all(key.kind)).await.items.len(), usize::from(is_kept), "{key}");
        }
        f.put_queue("q", |_| ()).await;
        // One of the same name before and after the old one is swept.
        let again = f.make(OwnerKind::Vote, "a", 1).await;
        while f.store().sweep(1).await.expect("the store sweeps") {}
        assert_eq!(f.get_owner(&again.owner.key()).await, again);
        assert_eq!(f.items(&again.owner.key(), 0, 9).await, numbers(0..1));
        f.advance(Span::from_secs(9)).await;
        let mut rung = f.alarms(9).await;
        rung.sort();
        assert_eq!(rung, ["a", "q", "q"], "of the plan, the flow and the worker; a vote has none");
        for stored in before.iter().filter(|stored| !stored.owner.key().kind.goes_with_queue()) {
            f.must_change(removed(stored)).await;
        }
        f.must_change(removed(&again)).await;
    }
}

async fn kinds_of_one_name_are_apart(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let owners: Vec<Owner> =
        OwnerKind::ALL.map(|kind| owner_of(kind, "q", "q", f.now())).into_iter().collect();
    let keys: Vec<OwnerKey> = owners.iter().map(Owner::key).collect();
    let changes = owners.iter().enumerate().map(|(place, owner)| OwnerChange {
        append: numbers(place..place + 1),
        ..made(owner.clone())
    });
    f.write(Changes { owners: changes.collect(), ..Changes::default() }).await;
    let read = f.store().owners(&keys).await.expect("the store answers");
    let read: Vec<Owner> = read.into_iter().flatten().map(|stored| stored.owner).collect();
    assert_eq!(read, owners);
    for (place, key) in keys.iter().enumerate() {
        assert_eq!(f.items(key, 0, 9).await, numbers(place..place + 1), "{key}");
    }
}

async fn ten_thousand_steps_come_and_go_at_once(mut f: Fixture) {
    f.put_queue("f", |_| ()).await;
    let now = f.now();
    let step = |n: usize| owner_of(OwnerKind::Step, "f", &format!("s{n:05}"), now);
    let flow = owner_of(OwnerKind::Flow, "f", "f", f.now());
    let owners: Vec<OwnerChange> =
        std::iter::once(flow).chain((0..STEPS).map(step)).map(made).collect();
    let spawn = |n: usize| {
        let owner = OwnerRef::Bundle(super::bundle_key("k"));
        let spec = Spec::clone(&f.spec("f", NewTask::default()));
        Spec { id: id(&format!("t{n}")), owner: Some(owner), ..spec }
    };
    let whole = Changes { owners, births: (0..FIRST).map(spawn).collect(), ..Changes::default() };
    let mut broken = whole.clone();
    broken.owners[STEPS].expected = Some(crate::port::Revision { birth: 1, change: 1 });
    assert_eq!(f.write(broken).await, Written::Lost);
    assert_eq!(f.list(all(OwnerKind::Step)).await.items, [], "whole or not at all");
    assert_eq!(f.count("f", State::Ready).await, 0);
    let Written::Records { owners: revisions, .. } = f.write(whole.clone()).await else {
        panic!("nothing is in its way");
    };
    assert_eq!(revisions.iter().flatten().count(), STEPS + 1);
    assert_eq!(f.count("f", State::Ready).await, FIRST as u64);
    f.restart().await;
    let page = f.list(OwnerListing { limit: STEPS, ..all(OwnerKind::Step) }).await;
    assert!(page.items.len() > 1_000 && page.items[77].owner == step(77));
    let gone = whole.owners.into_iter().zip(revisions);
    let gone = gone.map(|(change, expected)| OwnerChange { expected, after: None, ..change });
    let answer = f.write(Changes { owners: gone.collect(), ..Changes::default() }).await;
    assert!(matches!(answer, Written::Records { .. }));
    assert_eq!(f.list(all(OwnerKind::Step)).await.items, []);
    assert_eq!(f.list(all(OwnerKind::Flow)).await.items, []);
}
