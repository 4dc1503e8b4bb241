//! Pushing: what is stored, and what is refused for its id or for the queue's `max`.

use std::sync::Arc;

use punctual_core::task::Event;
use punctual_core::{
    FlowId, NewTask, OwnerRef, Span, Spec, State, Status, StepName, Timestamp, TraceParent,
};

use super::checks;
use super::fixture::{DELAY, Fixture, KEEP, commit, fail_for_good, id, json, queue, task};
use crate::port::{Push, PushRefusal, Pushed};

checks! {
    "push":
    a_pushed_task_reads_as_it_was_pushed,
    a_task_with_a_due_time_waits,
    a_push_needs_its_queue,
    every_item_of_a_batch_answers_for_itself,
    an_id_is_free_or_not_from_every_state,
    a_task_pushed_again_is_another_task,
    an_id_belongs_to_its_queue,
    a_full_queue_refuses,
    an_end_makes_room_in_a_full_queue,
    a_reserved_id_is_refused_until_its_time,
    a_kept_task_with_a_reserved_id_is_not_replaced,
    a_run_or_step_is_not_replaced,
}

async fn a_pushed_task_reads_as_it_was_pushed(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let new = NewTask {
        payload: Some(json(r#"{"a": [1, 2.50, "ü"]}"#)),
        priority: Some(-7),
        hold: Some(Span::from_secs(5)),
        unique_for: Some(Span::from_secs(9)),
        expires: Some(f.now() + DELAY),
        tags: Some(vec!["red".to_owned()]),
        trace: Some(TraceParent::root(7)),
        ..task("a")
    };
    let spec = f.spec("q", new.clone());
    let revision = f.push("q", new).await;
    let stored = f.get("q", "a").await;
    assert_eq!(stored.task.spec, spec);
    assert_eq!(*stored.task.status, Status::new(f.now(), f.now()));
    assert_eq!(stored.revision, revision);
    assert_eq!(f.read("q", "b").await, None);
    assert_eq!(f.read("elsewhere", "a").await, None);
}

async fn a_task_with_a_due_time_waits(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", NewTask { delay: Some(DELAY), ..task("later") }).await;
    f.push("q", NewTask { due: Some(Timestamp::from_millis(0)), ..task("long-ago") }).await;
    assert_eq!(f.state("q", "later").await, Some(State::Waiting));
    assert_eq!(f.state("q", "long-ago").await, Some(State::Ready));
    let ready_at = f.get("q", "long-ago").await.task.status.ready_at;
    assert_eq!(ready_at, f.now(), "it became ready when it was pushed");
}

async fn a_push_needs_its_queue(f: Fixture) {
    let push = Push { queue: queue("q"), tasks: vec![f.spec("q", task("a"))], keyed: None };
    assert_eq!(f.store().push(push).await.expect("the store answers"), Pushed::NoQueue);
    assert_eq!(f.queue("q").await, None);
    assert_eq!(f.read("q", "a").await, None);
}

async fn every_item_of_a_batch_answers_for_itself(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", task("b")).await;
    let answers = f.try_push("q", ["a", "b", "c", "a"].map(task).into()).await;
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert_eq!(answers[1], Err(PushRefusal::Duplicate));
    assert_eq!(answers[3], Err(PushRefusal::Duplicate), "the same id twice in one batch");
    assert_eq!(f.count("q", State::Ready).await, 3);
    assert_eq!(f.try_push("q", Vec::new()).await, []);
}

async fn an_id_is_free_or_not_from_every_state(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        let before = f.get(name, name).await;
        let new = NewTask { payload: Some(json("\"new\"")), ..task(name) };
        let answer = f.try_push(name, vec![new]).await[0];
        let after = f.get(name, name).await;
        if state.is_finished() {
            assert!(answer.is_ok(), "a push over a task that is {state}");
            assert_ne!(after.revision, before.revision);
            assert_eq!(after.task.spec.payload, json("\"new\""));
            assert_eq!(*after.task.status, Status::new(f.now(), f.now()), "{state}");
            assert_eq!(f.count(name, state).await, 0);
        } else {
            assert_eq!(answer, Err(PushRefusal::Duplicate), "a push over a task that is {state}");
            assert_eq!(after, before);
        }
        let stats = f.stats(name).await.expect("the queue exists");
        assert_eq!(stats.live(), 1, "{state}");
    }
}

async fn a_task_pushed_again_is_another_task(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let first = f.bring("q", task("a"), State::Done).await;
    let reset = f.decide(&first, Event::Reset).await.expect("reset applies to any state");
    f.push("q", task("a")).await;
    let second = f.get("q", "a").await;
    assert_ne!(first.revision.birth, second.revision.birth);
    assert!(f.try_commit(first.revision, reset).await.is_err(), "the first one is gone");
    assert_eq!(f.get("q", "a").await, second);
}

async fn an_id_belongs_to_its_queue(mut f: Fixture) {
    f.put_queue("p", |_| ()).await;
    f.put_queue("q", |_| ()).await;
    f.push("p", task("a")).await;
    f.push("q", task("a")).await;
    let taken = f.take_one("p").await;
    f.settle(&taken, commit()).await;
    assert_eq!(f.state("p", "a").await, Some(State::Done));
    assert_eq!(f.state("q", "a").await, Some(State::Ready));
}

async fn a_full_queue_refuses(f: Fixture) {
    f.put_queue("q", |queue| queue.settings.max = Some(2)).await;
    let answers = f.try_push("q", ["a", "b", "c"].map(task).into()).await;
    assert!(answers[0].is_ok() && answers[1].is_ok(), "{answers:?}");
    assert_eq!(answers[2], Err(PushRefusal::Full));
    assert_eq!(f.read("q", "c").await, None, "nothing was stored");
    let answers = f.try_push("q", ["a", "c"].map(task).into()).await;
    let refusals = [Err(PushRefusal::Duplicate), Err(PushRefusal::Full)];
    assert_eq!(answers, refusals, "an id that is taken says so, full or not");
    f.put_queue("q", |queue| queue.settings.max = Some(3)).await;
    f.push("q", task("c")).await;
    f.put_queue("q", |queue| queue.settings.max = Some(1)).await;
    assert_eq!(f.count("q", State::Ready).await, 3, "a lower limit drops nothing");
}

async fn an_end_makes_room_in_a_full_queue(mut f: Fixture) {
    for state in State::ALL {
        let name = state.name();
        f.put_queue(name, |queue| queue.settings.max = Some(1)).await;
        f.bring(name, task(name), state).await;
        let answer = f.try_push(name, vec![task("next")]).await[0];
        assert_eq!(answer.is_ok(), state.is_finished(), "a push beside a task that is {state}");
    }
    f.put_queue("q", |queue| queue.settings.max = Some(1)).await;
    f.bring("q", task("a"), State::Failed).await;
    f.push("q", task("a")).await;
    f.store().remove(&queue("q"), &[id("a")]).await.expect("the task is removed");
    f.push("q", task("b")).await;
}

async fn a_reserved_id_is_refused_until_its_time(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let new = NewTask { unique_for: Some(Span::from_secs(10)), ..task("a") };
    f.push("q", new.clone()).await;
    let taken = f.take_one("q").await;
    f.settle(&taken, commit()).await;
    assert_eq!(f.read("q", "a").await, None, "a reserved id is no task");
    assert_eq!(f.stats("q").await, Some(crate::port::QueueStats::default()));
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
    let removed = f.store().remove(&queue("q"), &[id("a")]).await.expect("the store answers");
    assert_eq!(removed, [false], "there is no task to remove");
    f.advance(Span::from_millis(9_999)).await;
    f.store().sweep(100).await.expect("the store sweeps");
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
    f.advance(Span::from_millis(1)).await;
    f.push("q", task("a")).await;
    assert_eq!(f.state("q", "a").await, Some(State::Ready));
    f.store().sweep(100).await.expect("the store sweeps");
    assert_eq!(f.state("q", "a").await, Some(State::Ready), "the old reservation is not its own");
}

async fn a_kept_task_with_a_reserved_id_is_not_replaced(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let new = |text, span| NewTask { unique_for: Some(span), ..task(text) };
    f.bring("q", new("shorter", Span::from_secs(10)), State::Failed).await;
    f.bring("q", new("longer", Span::from_secs(2 * 3_600)), State::Failed).await;
    for text in ["shorter", "longer"] {
        assert_eq!(f.try_push("q", vec![task(text)]).await, [Err(PushRefusal::Duplicate)]);
    }
    f.advance(Span::from_secs(10)).await;
    f.push("q", task("shorter")).await;
    f.advance(KEEP).await;
    while f.store().sweep(1).await.expect("the store sweeps") {}
    assert_eq!(f.read("q", "longer").await, None, "it is no longer kept");
    assert_eq!(f.try_push("q", vec![task("longer")]).await, [Err(PushRefusal::Duplicate)]);
    f.advance(KEEP).await;
    f.push("q", task("longer")).await;
}

async fn a_run_or_step_is_not_replaced(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let owner = Some(OwnerRef::Flow {
        id: FlowId::parse("daily").expect("well formed"),
        step: StepName::parse("fetch").expect("well formed"),
    });
    let spec = Spec { owner, ..Spec::clone(&f.spec("q", task("a"))) };
    let push = Push { queue: queue("q"), tasks: vec![Arc::new(spec)], keyed: None };
    f.store().push(push).await.expect("the store answers");
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
    let taken = f.take_one("q").await;
    f.settle(&taken, fail_for_good()).await;
    let before = f.get("q", "a").await;
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Owned)]);
    assert_eq!(f.get("q", "a").await, before);
}
