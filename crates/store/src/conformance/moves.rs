//! Lists of tasks that move within their state between two pages: each is listed where it stood when the
//! list began.

use std::sync::Arc;

use punctual_core::queue::Order;
use punctual_core::task::{Edit, Event};
use punctual_core::{NewTask, Patch, Span, State};

use super::checks;
use super::fixture::{Fixture, id, ids, queue, release, task};
use super::list::{all, page};

checks! {
    "moves":
    a_new_priority_moves_nothing_in_a_list_that_has_begun,
    a_new_time_moves_nothing_in_a_list_that_has_begun,
    a_ready_task_that_goes_to_the_end_is_listed_once,
    a_reset_that_moves_a_ready_task_is_no_second_listing,
    the_place_before_the_first_of_several_edits_counts,
    each_list_shows_the_order_it_began_with,
    priorities_come_and_go_between_pages,
    what_waits_past_its_old_time_is_listed_once,
    what_moves_in_one_state_leaves_the_others_alone,
    what_leaves_its_state_after_a_move_is_not_listed_there,
    what_comes_back_after_a_move_is_not_listed_twice,
    a_queue_in_random_order_lists_in_the_same_way,
    another_task_under_an_id_that_moved_stands_for_itself,
    a_queue_that_was_reset_has_no_moves,
    a_stop_between_two_pages_forgets_no_later_move,
    many_moves_between_two_pages_are_all_known,
    lists_are_whole_while_others_edit,
}

const READY: &[State] = &[State::Ready];
const WAITING: &[State] = &[State::Waiting];

fn to_priority(priority: i32) -> Event {
    Event::Edit(Edit { priority: Patch::Set(priority), ..Edit::default() })
}

/// Lets a task be due so many seconds from now.
async fn postpone(f: &Fixture, text: &str, secs: i64) {
    let due = Patch::Set(f.now() + Span::from_secs(secs));
    f.happen("q", text, Event::Edit(Edit { due, ..Edit::default() })).await;
}

async fn prioritize(f: &Fixture, text: &str, priority: i32) {
    f.happen("q", text, to_priority(priority)).await;
}

/// Tasks with a priority and a delay in seconds, in a queue of their own.
async fn push_all<const N: usize>(f: &Fixture, tasks: [(&str, i32, i64); N]) {
    f.put_queue("q", |_| ()).await;
    for (text, priority, secs) in tasks {
        let delay = Some(Span::from_secs(secs));
        f.push("q", NewTask { priority: Some(priority), delay, ..task(text) }).await;
    }
}

async fn push_ready<const N: usize>(f: &Fixture, texts: [&str; N]) {
    push_all(f, texts.map(|text| (text, 0, 0))).await;
}

/// The rest of a list, two to a page.
async fn rest(f: &Fixture, states: &[State], mut cursor: Option<String>) -> Vec<String> {
    let mut seen = Vec::new();
    while cursor.is_some() {
        let next = page(f, states, 2, cursor).await;
        seen.extend(ids(&next.items).into_iter().map(str::to_owned));
        cursor = next.next;
    }
    seen
}

async fn a_new_priority_moves_nothing_in_a_list_that_has_begun(f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d", "e", "f"]).await;
    let first = page(&f, READY, 2, None).await;
    assert_eq!(ids(&first.items), ["a", "b"]);
    // One that was listed comes again by its new place, one that was not would be passed over.
    prioritize(&f, "a", -1).await;
    prioritize(&f, "e", 1).await;
    prioritize(&f, "d", -1).await;
    assert_eq!(rest(&f, READY, first.next).await, ["c", "d", "e", "f"]);
    assert_eq!(ids(&all(&f, READY, 2).await), ["e", "b", "c", "f", "a", "d"]);
}

async fn a_new_time_moves_nothing_in_a_list_that_has_begun(f: Fixture) {
    push_all(&f, [("a", 0, 10), ("b", 0, 20), ("c", 0, 30), ("d", 0, 40), ("e", 0, 50)]).await;
    let first = page(&f, WAITING, 2, None).await;
    assert_eq!(ids(&first.items), ["a", "b"]);
    postpone(&f, "b", 45).await;
    postpone(&f, "d", 5).await;
    postpone(&f, "c", 60).await;
    // A priority is no place where time alone decides.
    prioritize(&f, "e", 9).await;
    assert_eq!(rest(&f, WAITING, first.next).await, ["c", "d", "e"]);
    assert_eq!(ids(&all(&f, WAITING, 2).await), ["d", "a", "b", "e", "c"]);
}

async fn a_ready_task_that_goes_to_the_end_is_listed_once(f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d"]).await;
    f.advance(Span::from_secs(1)).await;
    let first = page(&f, READY, 2, None).await;
    postpone(&f, "a", 0).await;
    postpone(&f, "c", 0).await;
    assert_eq!(rest(&f, READY, first.next).await, ["c", "d"]);
    assert_eq!(ids(&all(&f, READY, 2).await), ["b", "d", "a", "c"]);
}

async fn a_reset_that_moves_a_ready_task_is_no_second_listing(mut f: Fixture) {
    push_ready(&f, ["a", "b", "c"]).await;
    for held in f.take("q", 3).await {
        f.settle(&held, release()).await;
    }
    let first = page(&f, READY, 1, None).await;
    f.advance(Span::from_secs(1)).await;
    for text in ["a", "b"] {
        f.happen("q", text, Event::Reset).await;
    }
    assert_eq!(rest(&f, READY, first.next).await, ["b", "c"]);
    assert_eq!(ids(&all(&f, READY, 2).await), ["c", "a", "b"]);
}

async fn the_place_before_the_first_of_several_edits_counts(f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d", "e"]).await;
    prioritize(&f, "d", 0).await;
    prioritize(&f, "e", -1).await;
    let first = page(&f, READY, 2, None).await;
    for priority in [5, -5, 0, 3] {
        prioritize(&f, "a", priority).await;
        prioritize(&f, "d", -priority).await;
    }
    let second = page(&f, READY, 1, first.next).await;
    assert_eq!(ids(&second.items), ["c"]);
    for priority in [7, -7] {
        prioritize(&f, "d", priority).await;
        prioritize(&f, "e", -priority).await;
    }
    assert_eq!(rest(&f, READY, second.next).await, ["d", "e"]);
}

async fn each_list_shows_the_order_it_began_with(f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d"]).await;
    let older = page(&f, READY, 1, None).await;
    prioritize(&f, "c", 4).await;
    let newer = page(&f, READY, 1, None).await;
    assert_eq!((ids(&older.items), ids(&newer.items)), (vec!["a"], vec!["c"]));
    prioritize(&f, "c", -4).await;
    prioritize(&f, "b", -5).await;
    let newest = page(&f, READY, 1, None).await;
    assert_eq!(rest(&f, READY, newest.next).await, ["d", "c", "b"]);
    assert_eq!(rest(&f, READY, newer.next).await, ["a", "b", "d"]);
    assert_eq!(rest(&f, READY, older.next).await, ["b", "c", "d"]);
}

async fn priorities_come_and_go_between_pages(f: Fixture) {
    push_all(&f, [("a", 9, 0), ("b", 5, 0), ("c", 5, 0), ("d", 0, 0), ("e", -3, 0)]).await;
    let first = page(&f, READY, 2, None).await;
    assert_eq!(ids(&first.items), ["a", "b"]);
    // Nobody is left where the page ended, nor where others stood; some are where nobody was.
    for (text, priority) in [("a", -3), ("b", 7), ("c", 8), ("d", 100), ("e", -100)] {
        prioritize(&f, text, priority).await;
    }
    assert_eq!(rest(&f, READY, first.next).await, ["c", "d", "e"]);
    assert_eq!(ids(&all(&f, READY, 1).await), ["d", "c", "b", "a", "e"]);
}

async fn what_waits_past_its_old_time_is_listed_once(f: Fixture) {
    push_all(&f, [("a", 0, 10), ("b", 0, 20), ("c", 0, 30), ("d", 0, 90)]).await;
    let first = page(&f, WAITING, 1, None).await;
    postpone(&f, "b", 60).await;
    postpone(&f, "c", 5).await;
    f.advance(Span::from_secs(40)).await;
    assert_eq!(rest(&f, WAITING, first.next).await, ["b", "d"], "c is ready by now");
    assert_eq!(ids(&all(&f, READY, 2).await), ["c", "a"]);
}

async fn what_moves_in_one_state_leaves_the_others_alone(mut f: Fixture) {
    push_all(&f, [("x", 9, 0), ("a", 0, 0), ("b", 0, 0), ("w", 0, 10), ("v", 0, 20)]).await;
    assert_eq!(ids(&f.take("q", 1).await), ["x"]);
    let asked = [State::Waiting, State::Running, State::Ready];
    let first = page(&f, &asked, 1, None).await;
    assert_eq!(ids(&first.items), ["w"]);
    // Later states of the list move as well, and what is held goes by its birth.
    prioritize(&f, "b", 3).await;
    postpone(&f, "w", 30).await;
    postpone(&f, "v", 5).await;
    assert_eq!(rest(&f, &asked, first.next).await, ["v", "x", "a", "b"]);
    assert_eq!(ids(&all(&f, &asked, 2).await), ["v", "w", "x", "b", "a"]);
}

async fn what_leaves_its_state_after_a_move_is_not_listed_there(mut f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d", "e", "g"]).await;
    let first = page(&f, READY, 1, None).await;
    for text in ["b", "c", "d", "e"] {
        prioritize(&f, text, 5).await;
    }
    assert_eq!(ids(&f.take("q", 1).await), ["b"]);
    f.happen("q", "c", Event::Cancel).await;
    postpone(&f, "d", 60).await;
    f.store().remove(&queue("q"), &[id("e")]).await.expect("it is removed");
    assert_eq!(rest(&f, READY, first.next).await, ["g"]);
    let others = [State::Running, State::Cancelled, State::Waiting];
    assert_eq!(ids(&all(&f, &others, 1).await), ["b", "c", "d"]);
}

async fn what_comes_back_after_a_move_is_not_listed_twice(mut f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d"]).await;
    let first = page(&f, READY, 2, None).await;
    prioritize(&f, "a", 5).await;
    prioritize(&f, "c", 5).await;
    let taken = f.take("q", 2).await;
    assert_eq!(ids(&taken), ["a", "c"]);
    f.advance(Span::from_secs(1)).await;
    for held in &taken {
        f.settle(held, release()).await;
    }
    prioritize(&f, "a", -5).await;
    assert_eq!(rest(&f, READY, first.next).await, ["c", "d"]);
}

async fn a_queue_in_random_order_lists_in_the_same_way(mut f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d", "e"]).await;
    f.put_queue("q", |queue| queue.settings.order = Order::Random).await;
    let first = page(&f, READY, 2, None).await;
    assert_eq!(ids(&first.items), ["a", "b"]);
    prioritize(&f, "d", 5).await;
    prioritize(&f, "a", -5).await;
    let second = page(&f, READY, 1, first.next).await;
    assert_eq!(ids(&second.items), ["c"]);
    f.put_queue("q", |queue| queue.settings.order = Order::Fifo).await;
    prioritize(&f, "e", 5).await;
    assert_eq!(rest(&f, READY, second.next).await, ["d", "e"]);
    assert_eq!(ids(&f.take("q", 5).await), ["d", "e", "b", "c", "a"]);
}

async fn another_task_under_an_id_that_moved_stands_for_itself(f: Fixture) {
    push_ready(&f, ["a", "b", "c"]).await;
    let first = page(&f, READY, 1, None).await;
    prioritize(&f, "b", 5).await;
    f.store().remove(&queue("q"), &[id("b")]).await.expect("it is removed");
    f.push("q", task("b")).await;
    assert_eq!(rest(&f, READY, first.next).await, ["c", "b"]);
}

async fn a_queue_that_was_reset_has_no_moves(f: Fixture) {
    push_ready(&f, ["a", "b", "c"]).await;
    let first = page(&f, READY, 1, None).await;
    prioritize(&f, "b", 5).await;
    f.store().reset_queue(&queue("q")).await.expect("it is reset");
    push_ready(&f, ["c", "b", "a"]).await;
    assert_eq!(rest(&f, READY, first.next.clone()).await, ["c", "b", "a"]);
    f.store().delete_queue(&queue("q")).await.expect("it is deleted");
    assert_eq!(rest(&f, READY, first.next).await, Vec::<String>::new());
}

async fn a_stop_between_two_pages_forgets_no_later_move(mut f: Fixture) {
    push_ready(&f, ["a", "b", "c", "d"]).await;
    prioritize(&f, "d", -1).await;
    let first = page(&f, READY, 2, None).await;
    f.restart().await;
    prioritize(&f, "a", -9).await;
    prioritize(&f, "d", 9).await;
    assert_eq!(rest(&f, READY, first.next).await, ["c", "d"]);
}

async fn many_moves_between_two_pages_are_all_known(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let texts: Vec<String> = (0..60).map(|n| format!("t{n:02}")).collect();
    f.try_push("q", texts.iter().map(|text| task(text)).collect()).await;
    let first = page(&f, READY, 7, None).await;
    let mut seen: Vec<String> = ids(&first.items).into_iter().map(str::to_owned).collect();
    let mut cursor = first.next;
    let mut turn = 0;
    while cursor.is_some() {
        for (place, text) in texts.iter().enumerate() {
            prioritize(&f, text, (place as i32 * 7 + turn) % 11 - 5).await;
        }
        turn += 1;
        let next = page(&f, READY, 7, cursor).await;
        seen.extend(ids(&next.items).into_iter().map(str::to_owned));
        cursor = next.next;
    }
    assert_eq!(seen, texts);
}

async fn lists_are_whole_while_others_edit(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let texts: Vec<String> = (0..40).map(|n| format!("t{n:02}")).collect();
    f.try_push("q", texts.iter().map(|text| task(text)).collect()).await;
    let f = Arc::new(f);
    let (edited, editors) = (texts.clone(), Arc::clone(&f));
    let editor = tokio::spawn(async move {
        for n in 0_usize.. {
            let text = &edited[n * 7 % edited.len()];
            prioritize(&editors, text, (n % 13) as i32 - 6).await;
            tokio::task::yield_now().await;
        }
    });
    for limit in [1, 3, 7, 10, 39] {
        let listed = all(&f, READY, limit).await;
        let mut seen = ids(&listed);
        seen.sort_unstable();
        assert_eq!(seen, texts, "pages of {limit}");
    }
    assert!(!editor.is_finished(), "somebody edits all the while");
    editor.abort();
}
