//! Finding owners: lists, the station of a plan, what is due first, whose alarm has come.

use punctual_core::bundle::BundleState;
use punctual_core::plan::Phase;
use punctual_core::{OwnerKind, RawJson, Span};

use super::super::checks;
use super::super::fixture::{Fixture, id, queue};
use super::{a_bundle, a_plan, bundle, changed, names, plan, plan_id, removed};
use crate::port::{OwnerListing, OwnerPage, StoreError, StoredOwner};

checks! {
    "owners":
    a_list_goes_by_queue_and_name,
    a_list_may_be_of_one_queue,
    a_list_may_be_of_a_prefix,
    a_page_of_large_owners_is_short,
    what_stays_is_listed_once_while_others_change,
    a_cursor_that_was_not_given_out_is_refused,
    a_plan_is_found_by_its_id,
    plans_that_wait_are_listed_by_their_time,
    the_first_due_is_told_before_it_is_due,
    the_first_due_changes_with_its_owners,
    only_what_waits_for_workers_is_due,
    alarms_come_by_their_time,
    an_alarm_stays_until_its_owner_changes,
}

fn listing(kind: OwnerKind) -> OwnerListing {
    OwnerListing { kind, queue: None, prefix: String::new(), cursor: None, limit: 100 }
}

async fn page(f: &Fixture, listing: OwnerListing) -> OwnerPage {
    f.store().list_owners(listing).await.expect("the store answers")
}

/// All pages of each small size; they must be the same owners.
async fn all(f: &Fixture, listing: OwnerListing) -> Vec<StoredOwner> {
    let whole = page(f, listing.clone()).await;
    assert_eq!(whole.next, None, "the checks make fewer than {}", listing.limit);
    for limit in 1..4 {
        let mut items = Vec::new();
        let mut cursor = None;
        loop {
            let page = page(f, OwnerListing { limit, cursor, ..listing.clone() }).await;
            assert!(page.items.len() <= limit, "a page of at most {limit}");
            items.extend(page.items);
            assert!(items.len() < 1_000, "a list comes to an end");
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, whole.items, "pages of {limit}");
    }
    whole.items
}

async fn a_list_goes_by_queue_and_name(f: Fixture) {
    assert_eq!(all(&f, listing(OwnerKind::Bundle)).await, []);
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    for (queue_name, key) in
        [("q", "b"), ("p", "z"), ("q", "a"), ("q", "a b"), ("q", "B"), ("p", "ä")]
    {
        f.make_bundle(queue_name, key, vec![]).await;
    }
    f.make_owner(a_plan(plan("q", "plan-2", f.now())), vec![]).await;
    f.make_owner(a_plan(plan("r", "plan-1", f.now())), vec![]).await;
    let bundles = all(&f, listing(OwnerKind::Bundle)).await;
    assert_eq!(names(&bundles), ["z", "ä", "B", "a", "a b", "b"]);
    for stored in &bundles {
        assert_eq!(f.get_owner(&stored.owner.key()).await, *stored);
    }
    assert_eq!(names(&all(&f, listing(OwnerKind::Plan)).await), ["plan-2", "plan-1"]);
}

async fn a_list_may_be_of_one_queue(f: Fixture) {
    for name in ["p", "q", "q2"] {
        f.put_queue(name, |_| ()).await;
        f.make_bundle(name, "a", vec![]).await;
        f.make_bundle(name, name, vec![]).await;
    }
    let of = |name| OwnerListing { queue: Some(queue(name)), ..listing(OwnerKind::Bundle) };
    assert_eq!(names(&all(&f, of("q")).await), ["a", "q"]);
    assert_eq!(names(&all(&f, of("q2")).await), ["a", "q2"]);
    assert_eq!(all(&f, of("none")).await, []);
    let plans = OwnerListing { kind: OwnerKind::Plan, ..of("q") };
    assert_eq!(all(&f, plans).await, []);
}

async fn a_list_may_be_of_a_prefix(f: Fixture) {
    f.put_queue("p", |_| ()).await;
    f.put_queue("q", |_| ()).await;
    for key in ["a", "a*", "a*b", "a%", "ab", "abc", "b", "é", "éé", "[x]", "\\"] {
        f.make_bundle("q", key, vec![]).await;
    }
    f.make_bundle("p", "abd", vec![]).await;
    let cases: [(&str, &[&str]); 9] = [
        ("a*", &["a*", "a*b"]),
        ("ab", &["abd", "ab", "abc"]),
        ("abc", &["abc"]),
        ("abcd", &[]),
        ("a%", &["a%"]),
        ("é", &["é", "éé"]),
        ("[", &["[x]"]),
        ("\\", &["\\"]),
        ("?", &[]),
    ];
    for (prefix, expected) in cases {
        let prefix = prefix.to_owned();
        let asked = OwnerListing { prefix: prefix.clone(), ..listing(OwnerKind::Bundle) };
        assert_eq!(names(&all(&f, asked).await), *expected, "{prefix:?}");
    }
    let prefix = "ab".to_owned();
    let asked = OwnerListing { prefix, queue: Some(queue("q")), ..listing(OwnerKind::Bundle) };
    assert_eq!(names(&all(&f, asked).await), ["ab", "abc"]);
}

async fn a_page_of_large_owners_is_short(f: Fixture) {
    let message = RawJson::of(&"x".repeat(1 << 20));
    for id in b'a'..=b'j' {
        let mut plan = plan("q", &char::from(id).to_string(), f.now());
        plan.order.message = message.clone();
        f.make_owner(a_plan(plan), vec![]).await;
    }
    let (mut names_read, mut cursor) = (Vec::new(), None);
    loop {
        let page = page(&f, OwnerListing { cursor, ..listing(OwnerKind::Plan) }).await;
        assert!((1..=8).contains(&page.items.len()), "{} MiB on a page", page.items.len());
        names_read.extend(names(&page.items));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(names_read.concat(), "abcdefghij");
}

async fn what_stays_is_listed_once_while_others_change(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for key in ["b", "c", "d", "e", "f"] {
        f.make_bundle("q", key, vec![]).await;
    }
    let asked = OwnerListing { limit: 2, ..listing(OwnerKind::Bundle) };
    let first = page(&f, asked.clone()).await;
    assert_eq!(names(&first.items), ["b", "c"]);
    // What the page ended with goes, something comes before it, something changes after it.
    f.must_change(removed(&first.items[1])).await;
    f.make_bundle("q", "a", vec![]).await;
    let e = f.get_owner(&super::key_of_bundle("q", "e")).await;
    f.must_change(changed(&e, e.owner.clone())).await;
    let second = page(&f, OwnerListing { cursor: first.next, ..asked.clone() }).await;
    assert_eq!(names(&second.items), ["d", "e"], "neither lost nor listed twice");
    let last = page(&f, OwnerListing { cursor: second.next, ..asked }).await;
    assert_eq!((names(&last.items), last.next), (vec!["f".to_owned()], None));
}

async fn a_cursor_that_was_not_given_out_is_refused(f: Fixture) {
    for cursor in ["", "x", "🙂", "not a cursor", "-", "{}"] {
        let cursor = Some(cursor.to_owned());
        let asked = OwnerListing { cursor: cursor.clone(), ..listing(OwnerKind::Plan) };
        let answer = f.store().list_owners(asked).await;
        assert!(matches!(answer, Err(StoreError::BadCursor)), "{cursor:?}: {answer:?}");
    }
}

async fn a_plan_is_found_by_its_id(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let stored = f.make_owner(a_plan(plan("q", "p", f.now())), vec![]).await;
    f.make_bundle("q", "not-a-plan", vec![]).await;
    let station = async |text| f.store().station(&plan_id(text)).await.expect("the store answers");
    assert_eq!(station("p").await, Some(queue("q")));
    assert_eq!(station("not-a-plan").await, None);
    f.must_change(changed(&stored, stored.owner.clone())).await;
    assert_eq!(station("p").await, Some(queue("q")));
    f.must_change(removed(&f.get_owner(&stored.owner.key()).await)).await;
    assert_eq!(station("p").await, None);
}

/// The plans that wait, read in pages of a size.
async fn timed(f: &Fixture, limit: usize) -> Vec<StoredOwner> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = f.store().timed_plans(cursor, limit).await.expect("the store answers");
        assert!(page.items.len() <= limit, "a page of at most {limit}");
        items.extend(page.items);
        assert!(items.len() < 1_000, "a list comes to an end");
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

async fn plans_that_wait_are_listed_by_their_time(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert_eq!(timed(&f, 9).await, []);
    let at = |seconds| f.now() + Span::from_secs(seconds);
    let mut plans = Vec::new();
    for (station, id, seconds) in
        [("q", "late", 90), ("a", "soon", 1), ("q-b", "x", 7), ("q", "y", 7), ("q:", "z", 7)]
    {
        plans.push(f.make_owner(a_plan(plan(station, id, at(seconds))), vec![]).await);
    }
    let mut paused = plan("q", "paused", at(2));
    paused.phase = Phase::Paused;
    f.make_owner(a_plan(paused), vec![]).await;
    f.make_bundle("q", "none of them", vec![]).await;
    let whole = timed(&f, 100).await;
    let mut same = names(&whole[1..4]);
    same.sort_unstable();
    assert_eq!(
        (names(&whole[..1]), same),
        (vec!["soon".to_owned()], ["x", "y", "z"].map(str::to_owned).to_vec())
    );
    assert_eq!(names(&whole[4..]), ["late"]);
    for limit in 1..6 {
        assert_eq!(timed(&f, limit).await, whole, "pages of {limit}");
    }
    // A page goes on from where it was, also if what stood there is gone.
    let first = f.store().timed_plans(None, 2).await.expect("the store answers");
    f.must_change(removed(&first.items[1])).await;
    let rest = f.store().timed_plans(first.next, 9).await.expect("the store answers");
    assert_eq!(rest.items, whole[2..]);
    f.must_change(changed(&plans[0], a_plan(plan("q", "late", at(0))))).await;
    assert_eq!(names(&timed(&f, 1).await[..2]), ["late", "soon"]);
    for cursor in ["", "x", "1", "é"] {
        let refused = f.store().timed_plans(Some(cursor.to_owned()), 1).await;
        assert!(matches!(refused, Err(StoreError::BadCursor)), "{cursor}: {refused:?}");
    }
}

async fn the_first_due_is_told_before_it_is_due(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    assert_eq!(f.first_due("q").await, None);
    assert_eq!(f.first_due("none").await, None);
    for (key, secs) in [("c", 20), ("b", 30), ("d", 20), ("a", 40)] {
        let due_at = f.now() + Span::from_secs(secs);
        f.make_owner(a_bundle(bundle("q", key, due_at)), vec![]).await;
    }
    f.make_bundle("p", "elsewhere", vec![]).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("c"), "by time, then by name");
    let first = f.store().first_due(&queue("q")).await.expect("the store answers");
    assert_eq!(first, f.owner(&super::key_of_bundle("q", "c")).await);
    f.advance(Span::from_secs(100)).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("c"));
    f.make_owner(a_bundle(bundle("q", "old", f.now() - Span::from_secs(1_000))), vec![]).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("old"));
}

async fn the_first_due_changes_with_its_owners(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let a = f.make_bundle("q", "a", vec![]).await;
    let soon = f.now() + Span::from_secs(1);
    let b = f.make_owner(a_bundle(bundle("q", "b", soon)), vec![]).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("a"));
    let later = bundle("q", "a", f.now() + Span::from_secs(2));
    f.must_change(changed(&a, a_bundle(later))).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("b"));
    f.must_change(removed(&b)).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("a"));
    f.must_change(removed(&f.get_owner(&a.owner.key()).await)).await;
    assert_eq!(f.first_due("q").await, None);
}

async fn only_what_waits_for_workers_is_due(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let mut delivered = bundle("q", "delivered", f.now());
    delivered.task = Some(id("t"));
    let delivered = f.make_owner(a_bundle(delivered), vec![]).await;
    let mut failed = bundle("q", "failed", f.now());
    failed.state = BundleState::Failed;
    f.make_owner(a_bundle(failed), vec![]).await;
    f.make_owner(a_plan(plan("q", "p", f.now())), vec![]).await;
    assert_eq!(f.first_due("q").await, None);
    let waits = bundle("q", "delivered", f.now());
    f.must_change(changed(&delivered, a_bundle(waits))).await;
    assert_eq!(f.first_due("q").await.as_deref(), Some("delivered"));
}

async fn alarms_come_by_their_time(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(f.alarms(9).await.is_empty());
    for (plan_id, station, secs) in [("c", "q", 30), ("a", "r", 20), ("b", "q", 10)] {
        f.make_owner(a_plan(plan(station, plan_id, f.now() + Span::from_secs(secs))), vec![]).await;
    }
    let mut abandoned = bundle("q", "bundle", f.now());
    abandoned.abandoned_at = Some(f.now() + Span::from_secs(15));
    f.make_owner(a_bundle(abandoned), vec![]).await;
    f.make_bundle("q", "without", vec![]).await;
    f.advance(Span::from_millis(9_999)).await;
    assert!(f.alarms(9).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(f.alarms(9).await, ["b"]);
    f.advance(Span::from_secs(10)).await;
    assert_eq!(f.alarms(9).await, ["b", "bundle", "a"]);
    assert_eq!(f.alarms(2).await, ["b", "bundle"]);
    assert!(f.alarms(0).await.is_empty());
    f.make_owner(a_plan(plan("q", "past", f.now() - Span::from_secs(99))), vec![]).await;
    assert_eq!(f.alarms(2).await, ["past", "b"]);
    let rung = f.store().alarms(1).await.expect("the store answers");
    assert_eq!(rung[0], f.get_owner(&rung[0].owner.key()).await);
}

async fn an_alarm_stays_until_its_owner_changes(f: Fixture) {
    let stored = f.make_owner(a_plan(plan("q", "p", f.now())), vec![]).await;
    for _ in 0..2 {
        assert_eq!(f.alarms(9).await, ["p"]);
    }
    let later = plan("q", "p", f.now() + Span::from_secs(10));
    f.must_change(changed(&stored, a_plan(later.clone()))).await;
    assert!(f.alarms(9).await.is_empty());
    f.advance(Span::from_secs(10)).await;
    assert_eq!(f.alarms(9).await, ["p"]);
    let stored = f.get_owner(&stored.owner.key()).await;
    let mut paused = later;
    paused.phase = Phase::Paused;
    f.must_change(changed(&stored, a_plan(paused.clone()))).await;
    assert!(f.alarms(9).await.is_empty());
    f.advance(Span::from_secs(10)).await;
    assert!(f.alarms(9).await.is_empty());
    paused.phase = Phase::Scheduled;
    let stored = f.get_owner(&stored.owner.key()).await;
    f.must_change(changed(&stored, a_plan(paused))).await;
    assert_eq!(f.alarms(9).await, ["p"]);
    f.must_change(removed(&f.get_owner(&stored.owner.key()).await)).await;
    assert!(f.alarms(9).await.is_empty());
}
