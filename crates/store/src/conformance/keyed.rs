//! Keyed requests: a push that is repeated under its `Idempotency-Key` has no second effect.

use punctual_core::limits::KEYED_REQUEST_MS;
use punctual_core::{NewTask, Span, State};

use super::checks;
use super::fixture::{Fixture, id, queue, task};
use crate::port::{Keyed, KeyedItem, Push, Pushed};

checks! {
    "keyed":
    a_repeat_is_answered_as_the_first,
    another_request_under_the_key_is_told,
    keys_do_not_know_of_each_other,
    a_batch_is_remembered_with_its_refusals,
    a_refused_single_push_is_not_remembered,
    a_push_without_its_queue_is_not_remembered,
    a_key_outlives_what_happens_to_its_queue,
    a_key_is_remembered_for_a_day,
}

fn items(texts: &[&str]) -> Vec<KeyedItem> {
    texts.iter().map(|text| KeyedItem { id: Some(id(text)), code: None }).collect()
}

fn single(key: u128, text: &str) -> Keyed {
    let (items, positions) = (items(&[text]), vec![0]);
    Keyed { key, request: 1, status: 201, single: true, items, positions }
}

async fn push(f: &Fixture, tasks: Vec<NewTask>, keyed: Keyed) -> Pushed {
    let tasks = tasks.into_iter().map(|new| f.spec("q", new)).collect();
    let push = Push { queue: queue("q"), tasks, keyed: Some(keyed) };
    f.store().push(push).await.expect("the store answers")
}

fn is_pushed(pushed: &Pushed) -> bool {
    matches!(pushed, Pushed::Answers(answers) if answers.iter().all(Result::is_ok))
}

async fn a_repeat_is_answered_as_the_first(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
    let replayed = Pushed::Replayed { status: 201, items: items(&["a"]) };
    assert_eq!(push(&f, vec![task("a")], single(7, "a")).await, replayed);
    assert_eq!(f.count("q", State::Ready).await, 1);
    let taken = f.take_one("q").await;
    f.settle(&taken, super::fixture::commit()).await;
    assert_eq!(push(&f, vec![task("a")], single(7, "a")).await, replayed, "it ended long ago");
    assert_eq!(f.read("q", "a").await, None);
    // An id that was generated is another one in the repeat; the first counts.
    assert_eq!(push(&f, vec![task("b")], single(7, "b")).await, replayed);
    assert_eq!(f.read("q", "b").await, None);
}

async fn another_request_under_the_key_is_told(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
    let other = Keyed { request: 2, ..single(7, "b") };
    assert_eq!(push(&f, vec![task("b")], other).await, Pushed::KeyReused);
    assert_eq!(f.read("q", "b").await, None);
}

async fn keys_do_not_know_of_each_other(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
    assert!(is_pushed(&push(&f, vec![task("b")], single(8, "b")).await));
    assert_eq!(f.count("q", State::Ready).await, 2);
}

async fn a_batch_is_remembered_with_its_refusals(f: Fixture) {
    f.put_queue("q", |queue| queue.settings.max = Some(2)).await;
    f.push("q", task("b")).await;
    // The second item was refused before it came to the store.
    let mut answers = items(&["a", "x", "b", "c"]);
    answers[1].code = Some("invalid".to_owned());
    let keyed = Keyed {
        key: 7,
        request: 1,
        status: 200,
        single: false,
        items: answers.clone(),
        positions: vec![0, 2, 3],
    };
    let tasks: Vec<_> = ["a", "b", "c"].map(task).into();
    let Pushed::Answers(first) = push(&f, tasks.clone(), keyed.clone()).await else {
        panic!("the key is new");
    };
    assert_eq!(first.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false]);
    answers[2].code = Some("duplicate".to_owned());
    answers[3].code = Some("queue_full".to_owned());
    let replayed = Pushed::Replayed { status: 200, items: answers };
    assert_eq!(push(&f, tasks.clone(), keyed.clone()).await, replayed);
    // All of them refused: that is an answer, too.
    let again = Keyed { key: 8, ..keyed };
    assert!(matches!(push(&f, tasks.clone(), again.clone()).await, Pushed::Answers(_)));
    assert!(matches!(push(&f, tasks, again).await, Pushed::Replayed { .. }));
    let none = Keyed {
        key: 9,
        request: 1,
        status: 200,
        single: false,
        items: items(&["x"]),
        positions: vec![],
    };
    assert_eq!(push(&f, vec![], none.clone()).await, Pushed::Answers(vec![]));
    assert_eq!(
        push(&f, vec![], none).await,
        Pushed::Replayed { status: 200, items: items(&["x"]) }
    );
}

async fn a_refused_single_push_is_not_remembered(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", task("a")).await;
    let refused = push(&f, vec![task("a")], single(7, "a")).await;
    assert!(matches!(&refused, Pushed::Answers(answers) if answers[0].is_err()), "{refused:?}");
    f.store().remove(&queue("q"), &[id("a")]).await.expect("the store answers");
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
}

async fn a_push_without_its_queue_is_not_remembered(f: Fixture) {
    assert_eq!(push(&f, vec![task("a")], single(7, "a")).await, Pushed::NoQueue);
    f.put_queue("q", |_| ()).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
}

async fn a_key_outlives_what_happens_to_its_queue(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
    f.store().delete_queue(&queue("q")).await.expect("the store answers");
    f.put_queue("q", |_| ()).await;
    let repeated = push(&f, vec![task("a")], single(7, "a")).await;
    assert!(matches!(repeated, Pushed::Replayed { .. }), "{repeated:?}");
    assert_eq!(f.read("q", "a").await, None);
}

async fn a_key_is_remembered_for_a_day(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    assert!(is_pushed(&push(&f, vec![task("a")], single(7, "a")).await));
    f.advance(Span::from_millis(KEYED_REQUEST_MS - 1)).await;
    f.store().sweep(100).await.expect("the store sweeps");
    let repeated = push(&f, vec![task("b")], single(7, "b")).await;
    assert!(matches!(repeated, Pushed::Replayed { .. }), "{repeated:?}");
    f.advance(Span::from_millis(1)).await;
    assert!(is_pushed(&push(&f, vec![task("b")], single(7, "b")).await));
}
