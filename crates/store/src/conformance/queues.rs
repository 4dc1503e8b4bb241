//! Queues: settings, the fence on changing them, what they hold, and dropping it all.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::{NewTask, QueueName, Settings, Span, State};

use super::checks;
use super::fixture::{DELAY, Fixture, ids, queue, task};
use crate::port::{PushRefusal, PutRefusal, QueueStats};

checks! {
    "queues":
    the_built_in_queues_are_there,
    a_queue_reads_as_it_was_put,
    a_queue_that_changed_meanwhile_is_not_overwritten,
    a_mode_stays_while_there_are_tasks_in_any_state,
    a_reserved_id_does_not_keep_the_mode,
    queues_are_listed_by_name,
    what_a_queue_holds_is_counted,
    resetting_drops_tasks_in_every_state,
    resetting_frees_reserved_ids,
    resetting_leaves_other_queues_alone,
    a_deleted_queue_is_gone_with_its_tasks,
}

async fn the_built_in_queues_are_there(f: Fixture) {
    for name in QueueName::BUILT_IN {
        let built_in = f.queue(name).await.unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(built_in.name, queue(name));
        assert_eq!(built_in.settings, Settings::initial(&queue(name)));
        assert!(!built_in.paused);
        assert_eq!(f.stats(name).await, Some(QueueStats::default()));
    }
}

async fn a_queue_reads_as_it_was_put(f: Fixture) {
    assert_eq!(f.queue("q").await, None);
    assert_eq!(f.stats("q").await, None);
    let mut wanted = f.new_queue(&queue("q"));
    wanted.settings.tag = Some("blue".to_owned());
    wanted.settings.max = Some(5);
    assert_eq!(f.try_put(None, wanted.clone()).await, Ok(()));
    assert_eq!(f.queue("q").await.as_deref(), Some(&wanted));
    assert_eq!(f.stats("q").await, Some(QueueStats::default()));
    let before = f.queue("q").await;
    wanted.paused = true;
    wanted.settings.tag = None;
    assert_eq!(f.try_put(before, wanted.clone()).await, Ok(()));
    assert_eq!(f.queue("q").await.as_deref(), Some(&wanted));
}

async fn a_queue_that_changed_meanwhile_is_not_overwritten(f: Fixture) {
    let first = f.new_queue(&queue("q"));
    let mut second = first.clone();
    second.settings.hold = Span::from_secs(7);
    let before = Some(Arc::new(first.clone()));
    assert_eq!(f.try_put(before.clone(), second.clone()).await, Err(PutRefusal::Lost), "missing");
    assert_eq!(f.try_put(None, first.clone()).await, Ok(()));
    assert_eq!(f.try_put(None, second.clone()).await, Err(PutRefusal::Lost), "there already");
    assert_eq!(f.try_put(before.clone(), second.clone()).await, Ok(()));
    assert_eq!(f.try_put(before, first).await, Err(PutRefusal::Lost), "changed meanwhile");
    assert_eq!(f.queue("q").await.as_deref(), Some(&second));
}

async fn a_mode_stays_while_there_are_tasks_in_any_state(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let before = f.queue(state.name()).await.expect("the queue exists");
        let mut after = (*before).clone();
        after.settings.mode = Mode::Http;
        let put = f.try_put(Some(before.clone()), after.clone()).await;
        assert_eq!(put, Err(PutRefusal::HoldsTasks), "{state}");
        assert_eq!(f.queue(state.name()).await, Some(before.clone()));
        f.store().reset_queue(&before.name).await.expect("the store answers");
        assert_eq!(f.try_put(Some(before), after).await, Ok(()), "once it is empty");
    }
}

async fn a_reserved_id_does_not_keep_the_mode(mut f: Fixture) {
    reserved(&mut f).await;
    f.put_queue("q", |queue| queue.settings.mode = Mode::Http).await;
    f.put_queue("q", |queue| queue.settings.mode = Mode::Pull).await;
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
}

async fn queues_are_listed_by_name(f: Fixture) {
    for name in ["b", "a", "zz", "Z"] {
        f.put_queue(name, |_| ()).await;
    }
    let all = f.store().queues().await.expect("the store answers");
    let names: Vec<_> = all.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["Z", "a", "b", "bundles", "callbacks", "notices", "zz"]);
    let stats = f.store().stats(&[queue("zz"), queue("no"), queue("a")]).await;
    let known: Vec<_> = stats.expect("the store answers").iter().map(Option::is_some).collect();
    assert_eq!(known, [true, false, true]);
}

async fn what_a_queue_holds_is_counted(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for (n, state) in State::ALL.into_iter().enumerate() {
        let others = State::ALL[..n].iter().filter(|state| **state != State::Ready);
        let counted = f.stats("q").await.expect("the queue exists");
        for other in others {
            assert_eq!(counted.count(*other), 1, "{other}");
        }
        if state != State::Ready {
            f.bring("q", task(state.name()), state).await;
        }
    }
    assert_eq!(f.stats("q").await.and_then(|stats| stats.oldest_ready_at), None);
    let first = f.now();
    f.push("q", task("ready")).await;
    f.advance(Span::from_secs(1)).await;
    f.push("q", NewTask { priority: Some(9), ..task("later") }).await;
    let stats = f.stats("q").await.expect("the queue exists");
    assert_eq!(stats.counts, [1, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!((stats.live(), stats.held()), (8, 4));
    assert_eq!(stats.oldest_ready_at, Some(first));
    f.advance(DELAY).await;
    assert_eq!(f.count("q", State::Ready).await, 3, "what was waiting is due");
    assert_eq!(f.count("q", State::Waiting).await, 0);
    assert_eq!(ids(&f.take("q", 2).await), ["later", "ready"]);
    let oldest = f.stats("q").await.and_then(|stats| stats.oldest_ready_at);
    assert_eq!(oldest, Some(first + DELAY), "the one that was waiting");
}

async fn resetting_drops_tasks_in_every_state(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        let before = f.queue(name).await;
        assert!(f.store().reset_queue(&queue(name)).await.expect("the store answers"));
        assert_eq!(f.read(name, name).await, None, "{state}");
        assert_eq!(f.stats(name).await, Some(QueueStats::default()), "{state}");
        assert_eq!(f.queue(name).await, before, "its settings stay");
        f.push(name, task(name)).await;
        assert_eq!(ids(&f.take(name, 9).await), [name], "{state}");
    }
    assert!(!f.store().reset_queue(&queue("missing")).await.expect("the store answers"));
    f.advance(Span::from_secs(3_600 * 24)).await;
    let expired = f.store().expired(99).await.expect("the store answers");
    assert_eq!(expired.len(), State::ALL.len(), "only what was taken since");
    while f.store().sweep(1).await.expect("the store sweeps") {}
    for state in State::ALL {
        assert_eq!(f.count(state.name(), State::Running).await, 1, "{state}");
    }
}

/// A queue without tasks, in which the id `a` is reserved.
async fn reserved(f: &mut Fixture) {
    f.put_queue("q", |queue| queue.settings.keep.done = Span::ZERO).await;
    let new = NewTask { unique_for: Some(DELAY), ..task("a") };
    f.push("q", new).await;
    let held = f.take_one("q").await;
    f.settle(&held, super::fixture::commit()).await;
}

async fn resetting_frees_reserved_ids(mut f: Fixture) {
    reserved(&mut f).await;
    assert_eq!(f.try_push("q", vec![task("a")]).await, [Err(PushRefusal::Duplicate)]);
    f.store().reset_queue(&queue("q")).await.expect("the store answers");
    f.push("q", task("a")).await;
}

async fn resetting_leaves_other_queues_alone(f: Fixture) {
    for name in ["p", "q"] {
        f.put_queue(name, |_| ()).await;
        f.push(name, task("a")).await;
    }
    f.store().reset_queue(&queue("p")).await.expect("the store answers");
    assert_eq!(f.count("q", State::Ready).await, 1);
    f.store().delete_queue(&queue("p")).await.expect("the store answers");
    assert_eq!(f.count("q", State::Ready).await, 1);
}

async fn a_deleted_queue_is_gone_with_its_tasks(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let name = state.name();
        f.put_queue(name, |queue| queue.settings.max = Some(77)).await;
        assert!(f.store().delete_queue(&queue(name)).await.expect("the store answers"));
        assert!(!f.store().delete_queue(&queue(name)).await.expect("the store answers"));
        assert_eq!(f.queue(name).await, None, "{state}");
        assert_eq!(f.stats(name).await, None, "{state}");
        assert_eq!(f.read(name, name).await, None, "{state}");
        f.put_queue(name, |_| ()).await;
        assert_eq!(f.stats(name).await, Some(QueueStats::default()), "{state}");
        assert_eq!(f.queue(name).await.and_then(|queue| queue.settings.max), None);
        assert!(f.take(name, 9).await.is_empty(), "{state}");
    }
    while f.store().sweep(1).await.expect("the store sweeps") {}
    let all = f.store().queues().await.expect("the store answers");
    assert_eq!(all.len(), State::ALL.len() + QueueName::BUILT_IN.len());
}
