//! What survives a stop and a start: everything that was answered.
//!
//! A store that keeps nothing has nothing to show here: its subject says so, and the check ends.

use punctual_core::http::{Reach, Verdict};
use punctual_core::notice::{Message, NoticeSettings};
use punctual_core::task::Event;
use punctual_core::{NewTask, QueueName, Span, State, TraceParent, Verb};

use super::checks;
use super::fixture::{DELAY, Fixture, KEEP, commit, delivered, id, ids, json, queue, task, token};
use crate::port::{Keyed, KeyedItem, Lost, Push, PushRefusal, Pushed, Receipt};

checks! {
    "restart":
    tasks_in_every_state_survive,
    the_order_survives,
    traces_survive,
    notices_survive,
    queues_survive,
    what_was_dropped_stays_dropped,
    holds_go_on_by_the_wall_clock,
    a_wall_clock_set_back_meanwhile_stretches_no_hold,
    reservations_survive,
    receipts_and_keys_survive,
    a_version_from_before_is_still_a_fence,
}

async fn tasks_in_every_state_survive(mut f: Fixture) {
    f.one_in_every_state().await;
    let mut before = Vec::new();
    for state in State::ALL {
        let name = state.name();
        before.push((f.get(name, name).await, f.stats(name).await));
    }
    if !f.restart().await {
        return;
    }
    for (stored, stats) in before {
        let name = stored.task.spec.id.as_str();
        assert_eq!(f.get(name, name).await.task, stored.task);
        assert_eq!(f.stats(name).await, stats, "{name}");
    }
    f.advance(DELAY).await;
    assert_eq!(ids(&f.take("waiting", 9).await), ["waiting"]);
    assert_eq!(ids(&f.take("ready", 9).await), ["ready"]);
}

async fn traces_survive(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceParent::parse(text);
    let callback = r#"{"queue":"next","task":{"id":"made"}}"#;
    let callback = serde_json::from_str(callback).ok();
    f.push("q", NewTask { trace, callback, ..task("a") }).await;
    f.restart().await;
    let taken = f.take_one("q").await;
    assert_eq!(taken.task.spec.trace, trace);
    f.settle(&taken, commit()).await;
    f.restart().await;
    let made = f.get("next", "made").await.task.spec.trace;
    assert_eq!(made.map(|made| made.trace_id()), trace.map(|trace| trace.trace_id()));
}

async fn the_order_survives(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for (text, priority, ms) in [("d", 0, 5), ("b", 0, 0), ("a", 9, 9), ("c", 0, 0), ("e", -1, 0)] {
        let delay = Some(Span::from_millis(ms));
        f.push("q", NewTask { priority: Some(priority), delay, ..task(text) }).await;
    }
    f.advance(Span::from_millis(2)).await;
    if !f.restart().await {
        return;
    }
    f.advance(Span::from_millis(7)).await;
    f.push("q", task("f")).await;
    assert_eq!(ids(&f.take("q", 9).await), ["a", "b", "c", "d", "f", "e"]);
}

async fn notices_survive(mut f: Fixture) {
    let message = r#"{"id":"n","url":"http://example.com/a","data":{"b":1},"notice_interval":[1,2],
        "callback_url":"http://example.com/done","enforce_repeat_notice":true,"notice_count":1,
        "headers":{"x":"y"},"timeout":7}"#;
    let message: Message = serde_json::from_str(message).expect("a message");
    let new = message.into_task(&NoticeSettings::default(), &Reach::public()).expect("it is right");
    f.push("notices", new).await;
    let held = f.take_one("notices").await;
    f.settle(&held, delivered(Verdict::Accepted { result: json("1") })).await;
    let before = f.get("notices", "n").await;
    assert_eq!((before.task.notice_count(), before.task.success_id()), (2, 2));
    assert_eq!(before.task.spec, held.task.spec);
    let made = f.get("notices", "called-back").await;
    assert!(made.task.spec.notice.is_some(), "in the same step");
    if !f.restart().await {
        return;
    }
    assert_eq!(f.get("notices", "n").await.task, before.task);
    assert_eq!(f.get("notices", "called-back").await.task, made.task);
}

async fn queues_survive(mut f: Fixture) {
    f.put_queue("q", |queue| {
        queue.settings.max = Some(4);
        queue.settings.tag = Some("blue".to_owned());
        queue.paused = true;
    })
    .await;
    f.put_queue("gone", |_| ()).await;
    f.store().delete_queue(&queue("gone")).await.expect("the store answers");
    let before = f.store().queues().await.expect("the store answers");
    assert_eq!(before.len(), 1 + QueueName::BUILT_IN.len());
    if f.restart().await {
        assert_eq!(f.store().queues().await.expect("the store answers"), before);
    }
}

async fn what_was_dropped_stays_dropped(mut f: Fixture) {
    for name in ["reset", "deleted", "removed"] {
        f.put_queue(name, |_| ()).await;
        f.push(name, task("a")).await;
        f.push(name, task("b")).await;
    }
    f.store().reset_queue(&queue("reset")).await.expect("the store answers");
    f.store().delete_queue(&queue("deleted")).await.expect("the store answers");
    f.store().remove(&queue("removed"), &[id("a")]).await.expect("the store answers");
    f.push("reset", task("b")).await;
    let since = f.get("reset", "b").await.task;
    if !f.restart().await {
        return;
    }
    assert_eq!(f.read("reset", "a").await, None);
    assert_eq!(f.get("reset", "b").await.task, since);
    assert_eq!(f.read("removed", "a").await, None);
    assert_eq!(f.queue("deleted").await, None);
    while f.store().sweep(1).await.expect("the store sweeps") {}
    f.put_queue("deleted", |_| ()).await;
    assert_eq!(f.read("deleted", "a").await, None);
    for name in ["reset", "removed"] {
        assert_eq!(ids(&f.take(name, 9).await), ["b"]);
    }
}

async fn holds_go_on_by_the_wall_clock(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.advance(Span::from_secs(10)).await;
    // The steady clock of another process knows nothing of this one; the wall clock went on.
    f.clock.set_wall(f.now() + Span::from_secs(5));
    if !f.restart().await {
        return;
    }
    f.advance(Span::from_millis(14_999)).await;
    let expired = f.store().expired(9).await.expect("the store answers");
    assert!(expired.is_empty());
    f.advance(Span::from_millis(1)).await;
    let expired = f.store().expired(9).await.expect("the store answers");
    assert_eq!(ids(&expired), ["a"]);
    let event = Event::Settle { token: token(&held), settlement: commit() };
    f.happen("q", "a", event).await;
    assert_eq!(f.state("q", "a").await, Some(State::Done), "the token is still good");
}

async fn a_wall_clock_set_back_meanwhile_stretches_no_hold(mut f: Fixture) {
    if f.has_one_clock() {
        return;
    }
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Running).await;
    f.clock.set_wall(f.now() - Span::from_secs(3_600));
    if !f.restart().await {
        return;
    }
    f.advance(Span::from_secs(30)).await;
    assert_eq!(ids(&f.store().expired(9).await.expect("the store answers")), ["a"]);
}

async fn reservations_survive(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let unique_for = Some(Span::from_secs(2 * 3_600));
    f.push("q", NewTask { unique_for, ..task("a") }).await;
    let held = f.take_one("q").await;
    f.settle(&held, commit()).await;
    f.bring("q", NewTask { unique_for, ..task("kept") }, State::Failed).await;
    f.advance(KEEP).await;
    while f.store().sweep(1).await.expect("the store sweeps") {}
    if !f.restart().await {
        return;
    }
    for text in ["a", "kept"] {
        assert_eq!(f.read("q", text).await, None);
        assert_eq!(f.try_push("q", vec![task(text)]).await, [Err(PushRefusal::Duplicate)]);
    }
    f.advance(KEEP).await;
    assert!(f.try_push("q", vec![task("a"), task("kept")]).await.iter().all(Result::is_ok));
}

async fn receipts_and_keys_survive(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let items = vec![KeyedItem { id: Some(id("a")), code: None }];
    let keyed = Keyed {
        key: 7,
        request: 1,
        status: 201,
        single: true,
        items: items.clone(),
        positions: vec![0],
    };
    let tasks = vec![f.spec("q", task("a"))];
    let push = Push { queue: queue("q"), tasks, keyed: Some(keyed) };
    f.store().push(push.clone()).await.expect("the store answers");
    let held = f.take_one("q").await;
    f.settle(&held, commit()).await;
    if !f.restart().await {
        return;
    }
    let receipt =
        Receipt { queue: queue("q"), id: id("a"), token: token(&held), verb: Verb::Commit };
    assert_eq!(f.store().settled(&[receipt]).await.expect("the store answers"), [true]);
    let again = f.store().push(push).await.expect("the store answers");
    assert_eq!(again, Pushed::Replayed { status: 201, items });
}

async fn a_version_from_before_is_still_a_fence(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Running).await;
    let event = Event::Settle { token: token(&held), settlement: commit() };
    let decision = f.decide(&held, event).await.expect("the holder may commit");
    f.store().remove(&queue("q"), &[id("a")]).await.expect("the store answers");
    if !f.restart().await {
        return;
    }
    f.push("q", task("a")).await;
    assert_eq!(f.try_commit(held.revision, decision).await, Err(Lost));
    assert_eq!(f.state("q", "a").await, Some(State::Ready));
}
