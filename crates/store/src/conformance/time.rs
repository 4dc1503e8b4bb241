//! Time: what falls due, which holds have ended, what was not started in time, what is swept.

use punctual_core::task::{Event, Extension};
use punctual_core::{NewTask, Span, State};

use super::checks;
use super::fixture::{DELAY, Fixture, KEEP, id, ids, queue, taker, task, token};
use crate::port::{PushRefusal, Stored, Taker};

checks! {
    "time":
    what_is_waiting_reads_as_ready_once_due,
    a_hold_ends_in_every_state_that_has_one,
    a_hold_ends_at_its_time,
    a_hold_does_not_hear_of_the_wall_clock,
    an_extension_moves_the_end_of_a_hold,
    a_confirmation_moves_the_end_of_a_hold,
    a_change_that_is_no_extension_leaves_the_hold,
    what_is_not_started_in_time_expires,
    what_expired_stays_until_a_commit_changes_it,
    as_many_as_asked_are_answered,
    what_is_kept_is_swept_after_its_time,
    a_sweep_touches_nothing_that_lives,
    a_sweep_says_whether_there_is_more,
}

async fn expired(f: &Fixture) -> Vec<Stored> {
    let mut expired = f.store().expired(100).await.expect("the store answers");
    expired.sort_by_key(|stored| stored.task.spec.id.clone());
    expired
}

async fn sweep(f: &Fixture) {
    while f.store().sweep(1).await.expect("the store sweeps") {}
}

async fn what_is_waiting_reads_as_ready_once_due(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let revision = f.bring("q", task("a"), State::Waiting).await.revision;
    f.advance(Span::from_millis(DELAY.as_millis() - 1)).await;
    assert_eq!(f.state("q", "a").await, Some(State::Waiting));
    assert!(f.take("q", 1).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(f.state("q", "a").await, Some(State::Ready));
    assert_eq!(f.get("q", "a").await.revision, revision, "nobody wrote it again");
    assert_eq!(f.take("q", 1).await.len(), 1);
}

async fn a_hold_ends_in_every_state_that_has_one(mut f: Fixture) {
    f.one_in_every_state().await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_secs(30)).await;
    let ended = expired(&f).await;
    assert_eq!(ids(&ended), ["assigned", "cancelling", "pausing", "running"]);
    for stored in ended {
        let name = stored.task.spec.id.as_str();
        assert_eq!(stored, f.get(name, name).await);
        f.happen(name, name, Event::HoldEnd).await;
    }
    assert!(expired(&f).await.is_empty());
    let after = ["assigned", "cancelling", "pausing", "running"];
    let states = [State::Ready, State::Cancelled, State::Paused, State::Ready];
    for (name, state) in after.into_iter().zip(states) {
        assert_eq!(f.state(name, name).await, Some(state), "{name}");
    }
}

async fn a_hold_ends_at_its_time(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.confirm_within = Span::from_secs(5)).await;
    f.push("q", task("assigned")).await;
    let asked = Taker { confirm: true, ..taker(f.seed(), 1) };
    f.take_by("q", asked).await;
    f.push("q", NewTask { hold: Some(Span::from_secs(7)), ..task("running") }).await;
    f.take_one("q").await;
    f.advance(Span::from_millis(4_999)).await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(ids(&expired(&f).await), ["assigned"]);
    f.advance(Span::from_millis(1_999)).await;
    assert_eq!(ids(&expired(&f).await), ["assigned"]);
    f.advance(Span::from_millis(1)).await;
    assert_eq!(ids(&expired(&f).await), ["assigned", "running"]);
}

async fn a_hold_does_not_hear_of_the_wall_clock(mut f: Fixture) {
    if f.has_one_clock() {
        return;
    }
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Running).await;
    let began = f.now();
    f.clock.set_wall(began + Span::from_secs(86_400));
    f.tick().await;
    assert!(expired(&f).await.is_empty(), "a day ahead on the wall");
    f.clock.set_wall(began - Span::from_secs(3_600));
    f.advance(Span::from_millis(29_999)).await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(ids(&expired(&f).await), ["a"], "an hour back on the wall");
}

async fn an_extension_moves_the_end_of_a_hold(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Running).await;
    f.advance(Span::from_secs(20)).await;
    let extend = |hold: Option<i64>| Event::Extend {
        token: token(&held),
        extension: Extension { hold: hold.map(Span::from_secs), ..Extension::default() },
    };
    f.happen("q", "a", extend(None)).await;
    f.advance(Span::from_secs(29)).await;
    assert!(expired(&f).await.is_empty());
    f.clock.set_wall(f.now() + Span::from_secs(86_400));
    f.happen("q", "a", extend(Some(5))).await;
    f.advance(Span::from_millis(4_999)).await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(ids(&expired(&f).await), ["a"], "five seconds from the last word");
    f.happen("q", "a", extend(Some(5))).await;
    assert!(expired(&f).await.is_empty(), "heard of before anybody gave it up");
}

async fn a_confirmation_moves_the_end_of_a_hold(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let held = f.bring("q", task("a"), State::Assigned).await;
    f.advance(Span::from_secs(9)).await;
    f.happen("q", "a", Event::Confirm { token: token(&held) }).await;
    f.advance(Span::from_millis(29_999)).await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(ids(&expired(&f).await), ["a"]);
}

async fn a_change_that_is_no_extension_leaves_the_hold(mut f: Fixture) {
    if f.has_one_clock() {
        return;
    }
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Running).await;
    f.clock.set_wall(f.now() + Span::from_secs(86_400));
    f.tick().await;
    f.happen("q", "a", Event::Pause).await;
    f.happen("q", "a", Event::Resume).await;
    f.happen("q", "a", Event::Cancel).await;
    assert!(expired(&f).await.is_empty(), "asking the holder to stop is no end of its hold");
    f.advance(Span::from_secs(30)).await;
    assert_eq!(ids(&expired(&f).await), ["a"]);
}

async fn what_is_not_started_in_time_expires(mut f: Fixture) {
    let expires = Some(f.now() + Span::from_secs(10));
    for state in State::ALL {
        f.put_queue(state.name(), |_| ()).await;
        f.bring(state.name(), NewTask { expires, ..task(state.name()) }, state).await;
    }
    f.advance(Span::from_millis(9_999)).await;
    assert!(expired(&f).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    let late = expired(&f).await;
    // The hold of the one that is assigned, 10 s, has ended at the same time.
    assert_eq!(ids(&late), ["assigned", "paused", "ready", "waiting"]);
    for stored in &late[1..] {
        let name = stored.task.spec.id.as_str();
        f.happen(name, name, Event::Expire).await;
        assert_eq!(f.state(name, name).await, Some(State::Failed));
    }
    assert_eq!(ids(&expired(&f).await), ["assigned"]);
    f.push("ready", NewTask { expires, ..task("too-late") }).await;
    assert_eq!(ids(&expired(&f).await), ["assigned", "too-late"]);
}

async fn what_expired_stays_until_a_commit_changes_it(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.bring("q", task("a"), State::Running).await;
    f.advance(Span::from_secs(30)).await;
    for _ in 0..3 {
        assert_eq!(ids(&expired(&f).await), ["a"]);
    }
    f.advance(DELAY).await;
    assert_eq!(ids(&expired(&f).await), ["a"]);
    f.store().remove(&queue("q"), &[id("a")]).await.expect("the store answers");
    assert!(expired(&f).await.is_empty());
}

async fn as_many_as_asked_are_answered(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.try_push("q", ["a", "b", "c"].map(task).into()).await;
    f.take("q", 3).await;
    f.advance(Span::from_secs(30)).await;
    for (limit, count) in [(0, 0), (2, 2), (3, 3), (9, 3)] {
        let some = f.store().expired(limit).await.expect("the store answers");
        assert_eq!(some.len(), count);
    }
}

async fn what_is_kept_is_swept_after_its_time(mut f: Fixture) {
    f.one_in_every_state().await;
    f.advance(Span::from_millis(KEEP.as_millis() - 1)).await;
    sweep(&f).await;
    for state in State::ALL.into_iter().filter(|state| state.is_finished()) {
        assert_eq!(f.state(state.name(), state.name()).await, Some(state));
    }
    f.advance(Span::from_millis(1)).await;
    sweep(&f).await;
    for state in State::ALL.into_iter().filter(|state| state.is_finished()) {
        assert_eq!(f.read(state.name(), state.name()).await, None, "{state}");
        assert_eq!(f.count(state.name(), state).await, 0);
        f.push(state.name(), task(state.name())).await;
    }
}

async fn a_sweep_touches_nothing_that_lives(mut f: Fixture) {
    f.one_in_every_state().await;
    f.advance(KEEP).await;
    let mut before = Vec::new();
    for state in State::ALL.into_iter().filter(|state| !state.is_finished()) {
        before.push(f.get(state.name(), state.name()).await);
    }
    sweep(&f).await;
    for stored in before {
        let name = stored.task.spec.id.as_str();
        assert_eq!(f.get(name, name).await, stored);
    }
}

async fn a_sweep_says_whether_there_is_more(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.cancelled = Span::ZERO).await;
    assert!(!f.store().sweep(5).await.expect("the store sweeps"), "an empty store has no more");
    for text in ["a", "b", "c"] {
        f.bring("q", NewTask { unique_for: Some(DELAY), ..task(text) }, State::Done).await;
    }
    f.push("q", NewTask { unique_for: Some(DELAY), ..task("d") }).await;
    f.happen("q", "d", Event::Cancel).await;
    assert_eq!(f.try_push("q", vec![task("d")]).await, [Err(PushRefusal::Duplicate)]);
    f.advance(KEEP).await;
    let mut calls = 1;
    while f.store().sweep(1).await.expect("the store sweeps") {
        calls += 1;
        assert!(calls < 100, "a sweep comes to an end");
    }
    assert_eq!(f.stats("q").await.map(|stats| stats.counts), Some([0; 10]));
    f.try_push("q", ["a", "b", "c", "d"].map(task).into()).await;
    assert_eq!(f.count("q", State::Ready).await, 4);
}
