//! Committing decisions: the fence, each fate, and the tasks made in the same step.

use punctual_core::callback::{Callback, End};
use punctual_core::task::{Acknowledgement, Edit, Event, Extension, Fate, Settlement};
use punctual_core::{NewTask, Patch, Settings, Span, State, TaskId, Token};

use super::checks;
use super::fixture::{Fixture, commit, fail_for_good, id, ids, json, queue, release, task, token};
use crate::port::{Change, Lost, PushRefusal, Stored};

checks! {
    "commit":
    every_edge_is_carried_out,
    a_decision_about_an_older_version_is_lost_from_every_state,
    a_decision_that_changes_nothing_moves_no_version,
    a_decision_about_a_task_that_is_gone_is_lost,
    of_two_decisions_about_one_version_one_wins,
    an_edit_rewrites_what_was_pushed,
    an_end_that_is_not_kept_removes,
    an_end_that_is_not_kept_may_reserve,
    a_callback_is_made_in_the_same_step,
    a_callback_makes_its_queue,
    a_callback_is_never_refused_for_max,
    a_callback_whose_id_is_live_is_not_made_again,
    a_callback_may_replace_the_task_that_ended,
    a_lost_decision_makes_nothing,
    removing_works_from_every_state,
}

/// One event of each kind, with every settlement.
fn events(token: Token) -> Vec<Event> {
    let left = || Acknowledgement { checkpoint: Some(json("7")), ..Acknowledgement::default() };
    let retry = Settlement::Fail { error: None, retry_in: None, permanent: false };
    let later = Settlement::Release { delay: Some(Span::from_secs(5)), checkpoint: None };
    let settle = |settlement| Event::Settle { token, settlement };
    let report = Extension { progress: Some(0.5), ..Extension::default() };
    vec![
        Event::Confirm { token },
        Event::Extend { token, extension: report },
        settle(commit()),
        settle(retry),
        settle(fail_for_good()),
        settle(release()),
        settle(later),
        settle(Settlement::Cancelled(left())),
        settle(Settlement::Paused(left())),
        Event::Cancel,
        Event::Pause,
        Event::Resume,
        Event::Retry { force: false },
        Event::Retry { force: true },
        Event::Reset,
        Event::Edit(Edit { priority: Patch::Set(3), ..Edit::default() }),
        Event::HoldEnd,
        Event::Expire,
    ]
}

async fn every_edge_is_carried_out(mut f: Fixture) {
    for state in State::ALL {
        for n in 0..events(Token::NOBODY).len() {
            let name = format!("{state}-{n}");
            f.put_queue(&name, |_| ()).await;
            let before = f.bring(&name, task("a"), state).await;
            let token = before.task.status.hold.map_or(Token::NOBODY, |hold| hold.token);
            let event = events(token).remove(n);
            let Ok(decision) = f.decide(&before, event.clone()).await else {
                continue;
            };
            let revision = f.try_commit(before.revision, decision.clone()).await;
            let revision = revision.expect("nobody else changes the task");
            let after = f.get(&name, "a").await;
            let expected = Stored { task: decision.task, revision };
            assert_eq!(after, expected, "{event:?} of a task that was {state}");
            let stats = f.stats(&name).await.expect("the queue exists");
            let counted = State::ALL.map(|s| u64::from(s == after.task.status.state));
            assert_eq!(stats.counts, counted, "{event:?} of a task that was {state}");
        }
    }
}

async fn a_decision_about_an_older_version_is_lost_from_every_state(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        let old = f.get(name, name).await;
        // A reset applies everywhere, but leaves alone what is like new.
        let is_new = matches!(state, State::Waiting | State::Ready);
        let event = if is_new { Event::Pause } else { Event::Reset };
        let late = f.decide(&old, event).await.expect("the verb applies");
        let first = f.try_commit(old.revision, late.clone()).await;
        first.expect("nobody else changes the task");
        let new = f.get(name, name).await;
        assert_ne!(new.revision, old.revision, "{state}");
        assert_eq!(f.try_commit(old.revision, late).await, Err(Lost), "{state}");
        assert_eq!(f.get(name, name).await, new, "{state}");
    }
}

async fn a_decision_that_changes_nothing_moves_no_version(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let paused = f.bring("q", task("a"), State::Paused).await;
    let same = f.decide(&paused, Event::Pause).await.expect("a pause may be repeated");
    assert_eq!(same.fate, Fate::Same);
    assert_eq!(f.try_commit(paused.revision, same.clone()).await, Ok(paused.revision));
    assert_eq!(f.get("q", "a").await, paused);
    f.happen("q", "a", Event::Resume).await;
    assert_eq!(f.try_commit(paused.revision, same).await, Err(Lost), "it is fenced all the same");
}

async fn a_decision_about_a_task_that_is_gone_is_lost(mut f: Fixture) {
    for way in ["remove", "reset", "delete"] {
        f.put_queue("q", |_| ()).await;
        let held = f.bring("q", task("a"), State::Running).await;
        let event = Event::Settle { token: token(&held), settlement: commit() };
        let decision = f.decide(&held, event).await.expect("the holder may commit");
        let name = queue("q");
        match way {
            "remove" => f.store().remove(&name, &[id("a")]).await.map(drop),
            "reset" => f.store().reset_queue(&name).await.map(drop),
            _ => f.store().delete_queue(&name).await.map(drop),
        }
        .expect("the store answers");
        assert_eq!(f.try_commit(held.revision, decision.clone()).await, Err(Lost), "{way}");
        f.put_queue("q", |_| ()).await;
        f.push("q", task("a")).await;
        assert_eq!(f.try_commit(held.revision, decision).await, Err(Lost), "{way}, push again");
        assert_eq!(f.state("q", "a").await, Some(State::Ready));
        f.store().delete_queue(&name).await.expect("the store answers");
    }
}

async fn of_two_decisions_about_one_version_one_wins(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", task("a")).await;
    f.push("q", task("b")).await;
    let taken = f.take("q", 2).await;
    let mut changes = Vec::new();
    for (stored, settlement) in
        [(&taken[0], commit()), (&taken[0], fail_for_good()), (&taken[1], fail_for_good())]
    {
        let event = Event::Settle { token: token(stored), settlement };
        let decision = f.decide(stored, event).await.expect("the holder may settle");
        changes.push(Change { expected: stored.revision, decision }.into());
    }
    let answers = f.store().write(changes).await.into_iter();
    let is_done = answers.map(|answer| answer.expect("the store answers").is_done());
    assert_eq!(is_done.collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(f.state("q", "a").await, Some(State::Done));
    assert_eq!(f.state("q", "b").await, Some(State::Failed));
    assert!(f.store().write(Vec::new()).await.is_empty());
}

async fn an_edit_rewrites_what_was_pushed(mut f: Fixture) {
    for state in [State::Waiting, State::Ready, State::Paused] {
        let name = state.name();
        f.put_queue(name, |_| ()).await;
        f.bring(name, task("a"), state).await;
        let edit = Edit {
            payload: Some(json("[2]")),
            priority: Patch::Set(9),
            tags: Patch::Set(vec!["new".to_owned()]),
            ..Edit::default()
        };
        f.happen(name, "a", Event::Edit(edit)).await;
        let after = f.get(name, "a").await.task;
        assert_eq!(after.status.state, state);
        assert_eq!((after.spec.payload.as_str(), after.spec.priority), ("[2]", 9));
        assert_eq!(after.spec.tags, ["new"]);
    }
    f.push("ready", NewTask { priority: Some(5), ..task("b") }).await;
    let edit = Edit { priority: Patch::Set(4), ..Edit::default() };
    f.happen("ready", "a", Event::Edit(edit)).await;
    assert_eq!(ids(&f.take("ready", 2).await), ["b", "a"], "the order follows the edit");
    let edit = Edit { due: Patch::Reset, ..Edit::default() };
    f.happen("waiting", "a", Event::Edit(edit)).await;
    assert_eq!(ids(&f.take("waiting", 2).await), ["a"], "due now");
}

async fn an_end_that_is_not_kept_removes(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.settle(&held, commit()).await;
    assert_eq!(f.read("q", "a").await, None);
    assert_eq!(f.stats("q").await.map(|stats| stats.counts), Some([0; 10]));
    f.push("q", task("a")).await;
}

async fn an_end_that_is_not_kept_may_reserve(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let new = NewTask { unique_for: Some(Span::from_secs(9)), ..task("a") };
    let held = f.bring("q", new, State::Running).await;
    f.settle(&held, commit()).await;
    assert_eq!(f.read("q", "a").await, None);
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
}

/// A task that makes another in the queue `after` when it ends.
fn calling_back(text: &str, id: Option<TaskId>) -> NewTask {
    let made = NewTask { id, payload: Some(json("\"mine\"")), ..NewTask::default() };
    let callback = Callback {
        on: vec![End::Done],
        http: None,
        queue: Some(queue("after")),
        task: Some(Box::new(made)),
    };
    NewTask { callback: Some(Box::new(callback)), ..task(text) }
}

async fn a_callback_is_made_in_the_same_step(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("after", |_| ()).await;
    let held = f.bring("q", calling_back("a", None), State::Running).await;
    f.settle(&held, Settlement::Commit { result: Some(json("42")) }).await;
    let made = f.get("after", "called-back").await.task;
    assert_eq!(made.status.state, State::Ready);
    let payload = r#"{"task":{"queue":"q","id":"a","state":"done","result":42,"error":null},"payload":"mine"}"#;
    assert_eq!(made.spec.payload.as_str(), payload);
    let held = f.bring("q", calling_back("b", None), State::Running).await;
    f.settle(&held, fail_for_good()).await;
    assert_eq!(f.count("after", State::Ready).await, 1, "it answers to another end");
}

async fn a_callback_makes_its_queue(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", calling_back("a", None), State::Running).await;
    assert_eq!(f.queue("after").await, None);
    f.settle(&held, commit()).await;
    let made = f.queue("after").await.expect("it was made with the task");
    assert_eq!(made.settings, Settings::initial(&made.name));
    assert!(!made.paused);
    assert_eq!(ids(&f.take("after", 1).await), ["called-back"]);
}

async fn a_callback_is_never_refused_for_max(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.put_queue("after", |queue| queue.settings.max = Some(1)).await;
    f.push("after", task("b")).await;
    let held = f.bring("q", calling_back("a", None), State::Running).await;
    f.settle(&held, commit()).await;
    assert_eq!(f.count("after", State::Ready).await, 2);
    assert_eq!(f.try_push("after", vec![task("c")]).await, [Err(PushRefusal::Full)]);
}

async fn a_callback_whose_id_is_live_is_not_made_again(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        let mut new = calling_back(name, Some(id(name)));
        if let Some(callback) = &mut new.callback {
            callback.queue = Some(queue(name));
        }
        let before = f.get(name, name).await;
        let held = f.bring("q", new, State::Running).await;
        f.settle(&held, commit()).await;
        assert_eq!(f.state("q", name).await, Some(State::Done), "the end itself stands");
        let after = f.get(name, name).await;
        if state.is_finished() {
            assert_ne!(after.revision.birth, before.revision.birth, "{state}");
            assert_eq!(after.task.status.state, State::Ready, "it replaces one that is {state}");
        } else {
            assert_eq!(after, before, "{state}");
        }
    }
}

async fn a_callback_may_replace_the_task_that_ended(mut f: Fixture) {
    let hour = Span::from_secs(3_600);
    f.put_queue("after", |queue| queue.settings.keep.done = hour).await;
    let held = f.bring("after", calling_back("a", Some(id("a"))), State::Running).await;
    f.settle(&held, commit()).await;
    let made = f.get("after", "a").await;
    assert_eq!(made.task.status.state, State::Ready);
    assert_ne!(made.revision.birth, held.revision.birth);
    assert_eq!(f.count("after", State::Done).await, 0, "nothing is left of the one before");
    f.restart().await;
    assert_eq!(ids(&f.take("after", 9).await), ["a"]);
}

async fn a_lost_decision_makes_nothing(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", calling_back("a", None), State::Running).await;
    let event = Event::Settle { token: token(&held), settlement: commit() };
    let decision = f.decide(&held, event).await.expect("the holder may commit");
    assert_eq!(decision.spawn.len(), 1);
    f.happen("q", "a", Event::Retry { force: true }).await;
    assert_eq!(f.try_commit(held.revision, decision).await, Err(Lost));
    assert_eq!(f.queue("after").await, None);
    assert_eq!(f.state("q", "a").await, Some(State::Ready));
}

async fn removing_works_from_every_state(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        let asked = [id("other"), id(name), id(name)];
        let removed = f.store().remove(&queue(name), &asked).await.expect("the store answers");
        assert_eq!(removed, [false, true, false], "{state}");
        assert_eq!(f.read(name, name).await, None, "{state}");
        assert_eq!(f.stats(name).await.map(|stats| stats.counts), Some([0; 10]), "{state}");
        f.push(name, task(name)).await;
        assert_eq!(ids(&f.take(name, 2).await), [name], "{state}");
    }
    let removed = f.store().remove(&queue("missing"), &[id("a")]).await;
    assert_eq!(removed.expect("the store answers"), [false]);
}
