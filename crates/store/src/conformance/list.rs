//! Listing: the order in each state, and pages that fit together.

use punctual_core::queue::Rate;
use punctual_core::task::Event;
use punctual_core::{NewTask, Span, State};

use super::checks;
use super::fixture::{Fixture, commit, ids, queue, release, task};
use crate::port::{Listing, Page, Sort, StoreError, Stored};

checks! {
    "list":
    each_state_lists_its_own,
    finished_tasks_are_listed_by_their_end,
    states_come_in_the_order_asked,
    ready_tasks_come_in_the_order_of_their_hand_out,
    a_list_of_ready_tasks_knows_no_limits,
    waiting_tasks_come_by_their_due_time,
    finished_tasks_come_by_their_end,
    other_tasks_come_in_push_order,
    pages_fit_together,
    what_stays_is_listed_once_while_others_change,
    a_cursor_that_was_not_given_out_is_refused,
}

pub(super) async fn page(
    f: &Fixture,
    states: &[State],
    limit: usize,
    cursor: Option<String>,
) -> Page {
    let listing = Listing { queue: queue("q"), states: states.to_vec(), cursor, limit, sort: None };
    f.store().list(listing).await.expect("the store answers")
}

/// All pages of a size, one after the other.
pub(super) async fn all(f: &Fixture, states: &[State], limit: usize) -> Vec<Stored> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let page = page(f, states, limit, cursor).await;
        assert!(page.items.len() <= limit, "a page of at most {limit}");
        items.extend(page.items);
        assert!(items.len() < 1_000, "a list comes to an end");
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

async fn finished_tasks_are_listed_by_their_end(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let ends = [State::Done, State::Failed, State::Cancelled, State::Done, State::Cancelled];
    for (id, state) in ["a", "b", "c", "d", "e"].into_iter().zip(ends) {
        f.bring("q", task(id), state).await;
        // Two end at the same moment.
        if id != "b" {
            f.advance(Span::from_millis(1)).await;
        }
    }
    f.push("q", task("live")).await;
    let finished = [State::Cancelled, State::Done, State::Failed];
    for (states, sort, expected) in [
        (&finished[..], Sort::Oldest, &["a", "b", "c", "d", "e"][..]),
        (&finished[..], Sort::Newest, &["e", "d", "c", "b", "a"][..]),
        (&finished[..2], Sort::Newest, &["e", "d", "c", "a"][..]),
        (&finished[1..2], Sort::Newest, &["d", "a"][..]),
    ] {
        for limit in 1..=6 {
            let (mut listed, mut cursor) = (Vec::new(), None);
            loop {
                let (queue, states) = (queue("q"), states.to_vec());
                let listing = Listing { queue, states, cursor, limit, sort: Some(sort) };
                let page = f.store().list(listing).await.expect("the store answers");
                assert!(page.items.len() <= limit && listed.len() < 10);
                listed.extend(page.items);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(ids(&listed), expected, "{sort:?}, {limit} at a time");
        }
    }
}

async fn each_state_lists_its_own(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(all(&f, &State::ALL, 5).await.is_empty());
    for state in State::ALL.into_iter().filter(|state| *state != State::Ready) {
        f.bring("q", task(state.name()), state).await;
    }
    f.push("q", task("ready")).await;
    for state in State::ALL {
        let listed = all(&f, &[state], 5).await;
        assert_eq!(ids(&listed), [state.name()]);
        assert_eq!(listed[0], f.get("q", state.name()).await, "{state}");
    }
    assert!(page(&f, &[], 5, None).await.items.is_empty());
    let elsewhere =
        Listing { queue: queue("p"), states: vec![], cursor: None, limit: 5, sort: None };
    let nothing = Page { items: Vec::new(), next: None };
    assert_eq!(f.store().list(elsewhere).await.expect("the store answers"), nothing);
}

async fn states_come_in_the_order_asked(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("done"), State::Done).await;
    f.bring("q", task("running"), State::Running).await;
    f.push("q", task("ready")).await;
    let asked = [State::Ready, State::Done, State::Failed, State::Running];
    for limit in 1..5 {
        assert_eq!(ids(&all(&f, &asked, limit).await), ["ready", "done", "running"]);
    }
    let asked = [State::Running, State::Ready];
    assert_eq!(ids(&all(&f, &asked, 1).await), ["running", "ready"]);
}

async fn ready_tasks_come_in_the_order_of_their_hand_out(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for (n, (priority, delay_ms)) in
        [(0, 0), (5, 9), (0, 3), (-1, 0), (5, 1), (0, 0), (5, 1)].into_iter().enumerate()
    {
        let delay = Some(Span::from_millis(delay_ms));
        let priority = Some(priority);
        f.push("q", NewTask { priority, delay, ..task(&format!("t{n}")) }).await;
    }
    f.advance(Span::from_millis(5)).await;
    f.push("q", task("last")).await;
    for limit in [1, 2, 3, 100] {
        let listed = all(&f, &[State::Ready], limit).await;
        assert_eq!(ids(&listed), ["t4", "t6", "t0", "t5", "t2", "last", "t3"]);
    }
    assert_eq!(ids(&all(&f, &[State::Waiting], 2).await), ["t1"]);
    assert_eq!(ids(&f.take("q", 9).await), ["t4", "t6", "t0", "t5", "t2", "last", "t3"]);
}

async fn a_list_of_ready_tasks_knows_no_limits(mut f: Fixture) {
    f.put_queue("q", |queue| {
        queue.settings.concurrency = Some(1);
        queue.settings.rate = Some(Rate { limit: 1, per: Span::from_secs(60) });
    })
    .await;
    f.try_push("q", ["a", "b", "c"].map(task).into()).await;
    assert_eq!(f.take("q", 9).await.len(), 1);
    assert_eq!(ids(&all(&f, &[State::Ready], 9).await), ["b", "c"]);
    f.put_queue("q", |queue| queue.paused = true).await;
    assert_eq!(ids(&all(&f, &[State::Ready], 9).await), ["b", "c"]);
}

async fn waiting_tasks_come_by_their_due_time(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for (text, secs, priority) in [("c", 3, 9), ("a", 1, 0), ("b", 2, 0), ("a2", 1, 5)] {
        let delay = Some(Span::from_secs(secs));
        f.push("q", NewTask { delay, priority: Some(priority), ..task(text) }).await;
    }
    for limit in [1, 2, 100] {
        assert_eq!(ids(&all(&f, &[State::Waiting], limit).await), ["a", "a2", "b", "c"]);
    }
}

async fn finished_tasks_come_by_their_end(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.try_push("q", ["a", "b", "c", "d"].map(task).into()).await;
    let taken = f.take("q", 4).await;
    for turn in [2, 0] {
        f.settle(&taken[turn], commit()).await;
        f.advance(Span::from_millis(1)).await;
    }
    f.settle(&taken[3], commit()).await;
    f.settle(&taken[1], commit()).await;
    for limit in [1, 3, 100] {
        assert_eq!(ids(&all(&f, &[State::Done], limit).await), ["c", "a", "b", "d"]);
    }
}

async fn other_tasks_come_in_push_order(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.try_push("q", ["c", "a", "b"].map(task).into()).await;
    f.take("q", 3).await;
    assert_eq!(ids(&all(&f, &[State::Running], 2).await), ["c", "a", "b"]);
    for text in ["b", "c", "a"] {
        f.happen("q", text, Event::Reset).await;
        f.happen("q", text, Event::Pause).await;
    }
    assert_eq!(ids(&all(&f, &[State::Paused], 1).await), ["c", "a", "b"]);
}

async fn pages_fit_together(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for n in 0..11 {
        f.push("q", NewTask { priority: Some(n % 3), ..task(&format!("t{n}")) }).await;
    }
    f.take("q", 4).await;
    let asked = [State::Running, State::Ready];
    let whole = all(&f, &asked, 100).await;
    assert_eq!(whole.len(), 11);
    for limit in 1..13 {
        assert_eq!(all(&f, &asked, limit).await, whole, "pages of {limit}");
    }
}

async fn what_stays_is_listed_once_while_others_change(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.try_push("q", ["a", "b", "c", "d", "e"].map(task).into()).await;
    let first = page(&f, &[State::Ready], 2, None).await;
    assert_eq!(ids(&first.items), ["a", "b"]);
    // What was listed leaves, comes back and moves behind; a new one comes in.
    let taken = f.take("q", 3).await;
    f.advance(Span::from_millis(1)).await;
    f.settle(&taken[0], release()).await;
    f.store().remove(&queue("q"), &[super::fixture::id("b")]).await.expect("it is removed");
    f.push("q", NewTask { priority: Some(9), ..task("first") }).await;
    let second = page(&f, &[State::Ready], 2, first.next).await;
    assert_eq!(ids(&second.items), ["d", "e"], "neither lost nor listed twice");
}

async fn a_cursor_that_was_not_given_out_is_refused(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for cursor in ["", "x", "🙂", "not a cursor", "-", "1.0.0.1", "ready.0.0.1"] {
        let listing = Listing {
            queue: queue("q"),
            states: vec![State::Ready],
            cursor: Some(cursor.to_owned()),
            limit: 5,
            sort: None,
        };
        let answer = f.store().list(listing).await;
        assert!(matches!(answer, Err(StoreError::BadCursor)), "{cursor:?}: {answer:?}");
    }
}
