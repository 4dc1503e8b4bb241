//! Steps: their fences, what happens together, what they make and what is remembered of them.

use punctual_core::callback::End;
use punctual_core::task::Event;
use punctual_core::{Callback, Decision, NewTask, OwnerKey, RawJson, State, Verb};

use super::super::checks;
use super::super::fixture::{Fixture, commit, fail_for_good, id, queue, task, token};
use super::{
    a_bundle, a_plan, bundle, changed, delivery, key_of_bundle, made, numbers, plan, plan_id,
    removed,
};
use crate::port::{
    Change, Changes, Keyed, KeyedItem, OwnerChange, Push, PushRefusal, Pushed, Receipt, Stored,
    Written,
};

checks! {
    "owners":
    an_owner_reads_as_it_was_stored,
    every_change_is_another_version,
    an_owner_is_made_only_where_there_is_none,
    a_stale_version_changes_nothing,
    every_step_answers_for_itself,
    a_bundle_is_made_only_in_a_queue_that_exists,
    the_id_of_a_plan_is_unique_among_all,
    owners_and_tasks_change_together,
    a_step_happens_whole_or_not_at_all,
    tasks_are_made_as_by_a_decision,
    a_finished_task_of_an_owner_makes_room_for_the_next,
    deliveries_do_not_count_against_max,
    a_repeated_step_has_no_second_effect,
    a_lost_step_is_not_remembered,
}

async fn an_owner_reads_as_it_was_stored(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let mut some = bundle("q", "key with spaces, ünd: {}*", f.now());
    some.data.extend(["x".to_owned(), "y".to_owned()]);
    let (some, other) = (a_bundle(some), a_plan(plan("q", "p", f.now())));
    let keys = [some.key(), key_of_bundle("q", "none"), other.key(), some.key()];
    let owners = vec![made(some.clone()), made(other.clone())];
    let Written::Records { owners, tasks } =
        f.write(Changes { owners, ..Changes::default() }).await
    else {
        panic!("nothing is in its way");
    };
    assert_eq!((owners.len(), tasks.len()), (2, 0));
    let read = f.store().owners(&keys).await.expect("the store answers");
    let stored = |place: usize| read[place].as_ref().map(|stored| stored.owner.clone());
    assert_eq!([stored(0), stored(1), stored(2)], [Some(some.clone()), None, Some(other)]);
    assert_eq!(read[0], read[3]);
    assert_eq!([0, 2].map(|place: usize| read[place].as_ref().map(|s| s.revision)), owners[..]);
    assert_eq!(f.store().owners(&[]).await.expect("the store answers"), []);
}

async fn every_change_is_another_version(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let first = f.make_bundle("q", "k", vec![]).await;
    let revision = f.must_change(changed(&first, first.owner.clone())).await;
    let second = f.get_owner(&first.owner.key()).await;
    assert_eq!(revision, Some(second.revision));
    assert_eq!(second.revision.birth, first.revision.birth);
    assert_ne!(second.revision.change, first.revision.change, "even if nothing differs");
    assert_eq!(f.must_change(removed(&second)).await, None);
    assert_eq!(f.owner(&first.owner.key()).await, None);
    let again = f.make_bundle("q", "k", vec![]).await;
    assert_ne!(again.revision.birth, first.revision.birth, "another one of that name");
    // A bundle and a plan of one name have nothing to do with each other.
    let namesake = f.make_owner(a_plan(plan("q", "k", f.now())), vec![]).await;
    f.must_change(removed(&namesake)).await;
    assert_eq!(f.get_owner(&again.owner.key()).await, again);
}

async fn an_owner_is_made_only_where_there_is_none(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let before = f.make_bundle("q", "k", numbers(0..2)).await;
    let mut other = bundle("q", "k", f.now());
    other.size = 7;
    let change = OwnerChange { append: numbers(2..3), ..made(a_bundle(other)) };
    assert_eq!(f.change_owner(change).await, Written::Lost);
    let key = before.owner.key();
    assert_eq!(f.get_owner(&key).await, before);
    assert_eq!(f.items(&key, 0, 9).await, numbers(0..2));
    // What is not there, and shall not be, is as it shall be.
    let nothing = a_bundle(bundle("q", "none", f.now()));
    let change = OwnerChange { after: None, ..made(nothing) };
    assert_eq!(f.must_change(change).await, None);
}

async fn a_stale_version_changes_nothing(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let old = f.make_bundle("q", "k", numbers(0..3)).await;
    let key = old.owner.key();
    f.must_change(changed(&old, old.owner.clone())).await;
    let now = f.get_owner(&key).await;
    let late = OwnerChange { drop_first: 2, ..changed(&old, old.owner.clone()) };
    assert_eq!(f.change_owner(late.clone()).await, Written::Lost);
    assert_eq!(f.change_owner(removed(&old)).await, Written::Lost);
    assert_eq!(f.get_owner(&key).await, now);
    assert_eq!(f.items(&key, 0, 9).await, numbers(0..3));
    f.must_change(removed(&now)).await;
    assert_eq!(f.change_owner(late.clone()).await, Written::Lost, "it is gone");
    assert_eq!(f.change_owner(removed(&now)).await, Written::Lost);
    f.make_bundle("q", "k", vec![]).await;
    assert_eq!(f.change_owner(late).await, Written::Lost, "another one has its name");
    assert_eq!(f.change_owner(removed(&now)).await, Written::Lost);
}

async fn every_step_answers_for_itself(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let step = |key| {
        let owners = vec![made(a_bundle(bundle("q", key, f.now())))];
        Changes { owners, ..Changes::default() }
    };
    let steps = [step("a"), step("a"), step("b"), Changes::default()];
    let answers = f.store().write(steps.map(Into::into).into()).await.into_iter();
    let done: Vec<_> = answers.map(|answer| answer.expect("the store answers").is_done()).collect();
    assert_eq!(done, [true, false, true, true]);
    assert!(f.store().write(vec![]).await.is_empty());
}

async fn a_bundle_is_made_only_in_a_queue_that_exists(f: Fixture) {
    let change = made(a_bundle(bundle("none", "k", f.now())));
    assert_eq!(f.change_owner(change).await, Written::Lost);
    assert_eq!(f.queue("none").await, None);
    f.make_owner(a_plan(plan("none", "p", f.now())), vec![]).await;
    assert_eq!(f.queue("none").await, None, "a plan may wait for its station");
}

async fn the_id_of_a_plan_is_unique_among_all(f: Fixture) {
    let first = f.make_owner(a_plan(plan("here", "p", f.now())), vec![]).await;
    let elsewhere = made(a_plan(plan("there", "p", f.now())));
    assert_eq!(f.change_owner(elsewhere.clone()).await, Written::Lost);
    assert_eq!(f.owner(&elsewhere.key).await, None);
    f.must_change(removed(&first)).await;
    f.must_change(elsewhere).await;
    let station = f.store().station(&plan_id("p")).await.expect("the store answers");
    assert_eq!(station, Some(queue("there")));
}

/// The commit of a task that is held.
async fn settled(f: &Fixture, held: &Stored) -> Change {
    let event = Event::Settle { token: token(held), settlement: commit() };
    let decision: Decision = f.decide(held, event).await.expect("the holder may commit");
    Change { expected: held.revision, decision }
}

async fn owners_and_tasks_change_together(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let callback =
        Callback { on: vec![End::Done], http: None, queue: Some(queue("after")), task: None };
    let new = NewTask { callback: Some(Box::new(callback)), ..task("t") };
    let held = f.bring("q", new, State::Running).await;
    let before = f.make_bundle("q", "k", numbers(0..3)).await;
    let step = Changes {
        owners: vec![
            OwnerChange {
                drop_first: 2,
                append: numbers(3..4),
                ..changed(&before, before.owner.clone())
            },
            made(a_plan(plan("q", "p", f.now()))),
        ],
        tasks: vec![settled(&f, &held).await],
        births: vec![delivery(&f, "q", task("next"), "k")],
        keyed: None,
    };
    let Written::Records { owners, tasks } = f.write(step).await else {
        panic!("nothing is in its way");
    };
    assert_eq!(tasks, [f.get("q", "t").await.revision]);
    let after = f.get_owner(&before.owner.key()).await;
    let made = f.get_owner(&OwnerKey::plan(&queue("q"), &plan_id("p"))).await;
    assert_eq!(owners, [Some(after.revision), Some(made.revision)]);
    assert_eq!(f.items(&before.owner.key(), 0, 9).await, numbers(2..4));
    assert_eq!(f.state("q", "t").await, Some(State::Done));
    assert_eq!(f.state("q", "next").await, Some(State::Ready));
    assert_eq!(f.count("after", State::Ready).await, 1, "its callback");
    let receipt =
        Receipt { queue: queue("q"), id: id("t"), token: token(&held), verb: Verb::Commit };
    assert_eq!(f.store().settled(&[receipt]).await.expect("the store answers"), [true]);
}

async fn a_step_happens_whole_or_not_at_all(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("t"), State::Running).await;
    let other = f.bring("q", task("other"), State::Running).await;
    let (a, b) = (f.make_bundle("q", "a", numbers(0..2)).await, f.make_bundle("q", "b", vec![]));
    let b = b.await;
    let whole = Changes {
        owners: vec![
            OwnerChange { drop_first: 1, ..changed(&a, a.owner.clone()) },
            removed(&b),
            made(a_bundle(bundle("q", "c", f.now()))),
        ],
        tasks: vec![settled(&f, &held).await, settled(&f, &other).await],
        births: vec![delivery(&f, "q", task("made"), "a")],
        keyed: None,
    };
    // Each of its fences in turn is broken, the others hold.
    for broken in 0..5 {
        let mut step = whole.clone();
        match broken {
            0 | 1 => step.owners[broken].expected.as_mut().expect("a change").change += 1,
            2 => step.owners[2].expected = Some(a.revision),
            _ => step.tasks[broken - 3].expected.change += 1,
        }
        assert_eq!(f.write(step).await, Written::Lost, "fence {broken}");
        assert_eq!(f.get_owner(&a.owner.key()).await, a, "fence {broken}");
        assert_eq!(f.get_owner(&b.owner.key()).await, b, "fence {broken}");
        assert_eq!(f.items(&a.owner.key(), 0, 9).await, numbers(0..2), "fence {broken}");
        assert_eq!(f.owner(&key_of_bundle("q", "c")).await, None, "fence {broken}");
        assert_eq!(f.get("q", "t").await, held, "fence {broken}");
        assert_eq!(f.get("q", "other").await, other, "fence {broken}");
        assert_eq!(f.read("q", "made").await, None, "fence {broken}");
    }
    f.store().remove(&queue("q"), &[id("other")]).await.expect("the store answers");
    assert_eq!(f.write(whole.clone()).await, Written::Lost, "a task is gone");
    f.push("q", task("other")).await;
    assert_eq!(f.write(whole.clone()).await, Written::Lost, "it is another task");
    let whole = Changes { tasks: vec![settled(&f, &held).await], ..whole };
    assert!(matches!(f.write(whole).await, Written::Records { .. }));
    assert_eq!(f.state("q", "t").await, Some(State::Done));
    assert_eq!(f.owner(&b.owner.key()).await, None);
}

async fn tasks_are_made_as_by_a_decision(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.max = Some(1)).await;
    f.bring("q", task("live"), State::Running).await;
    let spawn = |new: &[NewTask]| Changes {
        births: new.iter().map(|new| delivery(&f, "q", new.clone(), "k")).collect(),
        ..Changes::default()
    };
    let late = NewTask { priority: Some(7), ..task("live") };
    let answer = f.write(spawn(&[task("a"), late, task("b"), task("b")])).await;
    assert_eq!(answer, Written::Records { owners: vec![], tasks: vec![] });
    assert_eq!(f.count("q", State::Ready).await, 2, "none is refused for max, none made twice");
    assert_eq!(f.get("q", "live").await.task.spec.priority, 0, "it is the same task still");
    let elsewhere = vec![delivery(&f, "new", task("c"), "k")];
    f.write(Changes { births: elsewhere, ..Changes::default() }).await;
    assert_eq!(f.state("new", "c").await, Some(State::Ready), "its queue was made for it");
    assert_eq!(super::super::fixture::ids(&f.take("q", 9).await), ["a", "b"]);
}

async fn a_finished_task_of_an_owner_makes_room_for_the_next(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let step = |f: &Fixture, payload: &str| {
        let payload = Some(RawJson::stored(payload));
        let spawn = vec![delivery(f, "q", NewTask { payload, ..task("t") }, "k")];
        Changes { births: spawn, ..Changes::default() }
    };
    f.write(step(&f, "1")).await;
    let taken = f.take("q", 1).await;
    f.settle(&taken[0], fail_for_good()).await;
    assert_eq!(f.try_push("q", vec![task("t")]).await, [Err(PushRefusal::Owned)]);
    f.write(step(&f, "2")).await;
    let next = f.get("q", "t").await;
    assert_eq!((next.task.status.state, next.task.spec.payload.as_str()), (State::Ready, "2"));
}

async fn deliveries_do_not_count_against_max(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.max = Some(2)).await;
    let spawn = ["d1", "d2", "d3"].map(|text| delivery(&f, "q", task(text), "k")).into();
    f.write(Changes { births: spawn, ..Changes::default() }).await;
    let answers = f.try_push("q", ["a", "b", "c"].map(task).into()).await;
    let refusals: Vec<_> = answers.into_iter().map(Result::err).collect();
    assert_eq!(refusals, [None, None, Some(PushRefusal::Full)]);
    // They do not in any state they come through, nor when they have gone.
    let taken = f.take("q", 9).await;
    assert_eq!(f.try_push("q", vec![task("c")]).await, [Err(PushRefusal::Full)]);
    f.settle(&taken[0], commit()).await;
    f.store().remove(&queue("q"), &[id("d2")]).await.expect("the store answers");
    assert_eq!(f.try_push("q", vec![task("c")]).await, [Err(PushRefusal::Full)]);
    f.store().remove(&queue("q"), &[id("a")]).await.expect("the store answers");
    assert!(f.try_push("q", vec![task("c")]).await[0].is_ok());
    f.restart().await;
    assert_eq!(f.try_push("q", vec![task("e")]).await, [Err(PushRefusal::Full)]);
    f.settle(&taken[2], commit()).await;
    assert_eq!(f.try_push("q", vec![task("e")]).await, [Err(PushRefusal::Full)]);
    f.store().remove(&queue("q"), &[id("b")]).await.expect("the store answers");
    assert!(f.try_push("q", vec![task("e")]).await[0].is_ok());
}

fn keyed(request: u128) -> Keyed {
    let items = vec![
        KeyedItem { id: Some(id("x")), code: None },
        KeyedItem { id: None, code: Some("invalid".to_owned()) },
    ];
    Keyed { key: 7, request, status: 201, single: true, items, positions: vec![] }
}

async fn a_repeated_step_has_no_second_effect(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let before = f.make_bundle("q", "k", vec![]).await;
    let push = |request| {
        let change =
            OwnerChange { append: numbers(0..1), ..changed(&before, before.owner.clone()) };
        let spawn = vec![delivery(&f, "q", task("t"), "k")];
        Changes {
            owners: vec![change],
            births: spawn,
            keyed: Some(keyed(request)),
            ..Changes::default()
        }
    };
    assert!(matches!(f.write(push(1)).await, Written::Records { .. }));
    let replayed = Written::Replayed { status: 201, items: keyed(1).items };
    assert_eq!(f.write(push(1)).await, replayed, "although its fence is stale by now");
    assert_eq!(f.write(push(2)).await, Written::KeyReused);
    f.store().remove(&queue("q"), &[id("t")]).await.expect("the store answers");
    assert_eq!(f.write(push(1)).await, replayed);
    assert_eq!(f.read("q", "t").await, None);
    assert_eq!(f.items(&before.owner.key(), 0, 9).await.len(), 1);
    // A push under that key is another request under the same.
    let tasks = vec![f.spec("q", task("a"))];
    let push = Push { queue: queue("q"), tasks, keyed: Some(keyed(3)) };
    assert_eq!(f.store().push(push).await.expect("the store answers"), Pushed::KeyReused);
}

async fn a_lost_step_is_not_remembered(f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let before = f.make_bundle("q", "k", vec![]).await;
    let mut step =
        Changes { owners: vec![removed(&before)], keyed: Some(keyed(1)), ..Changes::default() };
    step.owners[0].expected.as_mut().expect("a change").change += 1;
    assert_eq!(f.write(step.clone()).await, Written::Lost);
    step.owners[0].expected = Some(before.revision);
    assert!(matches!(f.write(step).await, Written::Records { .. }));
}
