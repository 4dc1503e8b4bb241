//! Wake-ups about owners.

use punctual_core::Span;

use super::super::checks;
use super::super::fixture::{Fixture, queue, task};
use super::super::wake::{forget, hear, ready};
use super::{a_bundle, a_plan, bundle, changed, delivery, made, plan};
use crate::port::{Changes, OwnerChange, Wake};

checks! {
    "owners":
    a_bundle_that_is_to_be_due_wakes,
    a_task_made_by_a_step_wakes,
    an_alarm_wakes_when_its_time_comes,
    a_past_alarm_wakes_at_once,
    alarms_wake_after_a_restart,
}

fn bundles(name: &str) -> impl Fn(&Wake) -> bool {
    let name = queue(name);
    move |wake| matches!(wake, Wake::Bundles { queue } if *queue == name)
}

async fn a_bundle_that_is_to_be_due_wakes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    f.put_queue("p", |_| ()).await;
    f.make_bundle("p", "k", vec![]).await;
    let stored = f.make_bundle("q", "k", vec![]).await;
    hear(&mut wakes, bundles("q")).await;
    forget(&mut wakes);
    let later = bundle("q", "k", f.now() + Span::from_secs(9));
    let append = super::numbers(0..1);
    f.must_change(OwnerChange { append, ..changed(&stored, a_bundle(later)) }).await;
    hear(&mut wakes, bundles("q")).await;
}

async fn a_task_made_by_a_step_wakes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.put_queue("q", |_| ()).await;
    let owners = vec![made(a_bundle(bundle("q", "k", f.now())))];
    let spawn = vec![delivery(&f, "q", task("t"), "k")];
    f.write(Changes { owners, births: spawn, ..Changes::default() }).await;
    hear(&mut wakes, ready("q")).await;
}

async fn an_alarm_wakes_when_its_time_comes(f: Fixture) {
    let mut wakes = f.store().wakeups();
    for secs in [10, 20] {
        let id = format!("p{secs}");
        f.make_owner(a_plan(plan("q", &id, f.now() + Span::from_secs(secs))), vec![]).await;
    }
    assert!(!std::iter::from_fn(|| wakes.try_recv().ok()).any(|wake| wake == Wake::Alarms));
    for _ in 0..2 {
        f.advance(Span::from_secs(10)).await;
        hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
        let rung = f.store().alarms(9).await.expect("the store answers");
        assert_eq!(rung.len(), 1);
        f.must_change(super::removed(&rung[0])).await;
        forget(&mut wakes);
    }
}

async fn a_past_alarm_wakes_at_once(f: Fixture) {
    let mut wakes = f.store().wakeups();
    f.make_owner(a_plan(plan("q", "p", f.now() - Span::from_secs(10))), vec![]).await;
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
}

async fn alarms_wake_after_a_restart(mut f: Fixture) {
    f.make_owner(a_plan(plan("q", "past", f.now())), vec![]).await;
    f.make_owner(a_plan(plan("q", "to-come", f.now() + Span::from_secs(10))), vec![]).await;
    if !f.restart().await {
        return;
    }
    let mut wakes = f.store().wakeups();
    f.tick().await;
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
    let rung = f.store().alarms(9).await.expect("the store answers");
    assert_eq!(super::names(&rung), ["past"]);
    f.must_change(super::removed(&rung[0])).await;
    forget(&mut wakes);
    f.advance(Span::from_secs(10)).await;
    hear(&mut wakes, |wake| *wake == Wake::Alarms).await;
    assert_eq!(f.alarms(9).await, ["to-come"]);
}
