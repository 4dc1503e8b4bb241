//! Bundles that the server delivers: what its task makes of them, and they of it.

use punctual_core::bundle::Delivering;
use punctual_core::task::{Edit, Settlement};
use punctual_core::{Event, Patch, Refusal, State};

use crate::scene::{World, after, always, at, plain};

fn released() -> Settlement {
    Settlement::Release { delay: None, checkpoint: None }
}

#[test]
fn a_delivery_takes_what_it_carried() {
    let mut world = World::delivered();
    for _ in 0..3 {
        world.push(plain());
    }
    world.take(2);
    world.pass(1);
    world.answered(200).unwrap();
    assert_eq!((world.bundle().size, world.due()), (1, after(1)), "the rest is due at once");
    world.check();
    world.take(9);
    world.push(at(60));
    world.push(at(50));
    world.answered(200).unwrap();
    assert_eq!((world.bundle().size, world.due()), (2, after(50)), "each sets the time");
    world.check();
    world.pass(49);
    world.take(9);
    world.answered(200).unwrap();
    assert!(world.bundle.is_none());
    world.check();
}

#[test]
fn a_delivery_that_fails_waits_for_its_retry_or_the_next_push() {
    let mut world = World::delivered();
    world.push(plain());
    world.take(9);
    world.answered(500).unwrap();
    assert_eq!(world.due(), after(10));
    world.push(at(90));
    assert_eq!(world.due(), after(90), "also later than the retry");
    world.push(at(5));
    assert_eq!(world.due(), after(5));
    world.check();
    let mut world = World::delivered();
    world.push(plain());
    world.take(9);
    world.push(at(90));
    world.answered(500).unwrap();
    assert_eq!(world.due(), after(90), "pushed during the attempt");
    world.check();
}

#[test]
fn after_its_last_attempt_it_is_kept_and_the_next_push_revives_it() {
    let mut world = World::delivered();
    world.push(plain());
    for _ in 0..2 {
        world.take(9);
        world.answered(500).unwrap();
        world.pass(10);
    }
    assert_eq!((world.state(), world.bundle().error.as_deref()), ("failed", Some("500")));
    world.check();
    world.push(at(60));
    assert_eq!((world.state(), world.due(), world.bundle().size), ("waiting", after(60), 2));
    assert_eq!(world.task.as_ref().unwrap().status.attempt, 0);
    world.push(at(70));
    assert_eq!(world.due(), after(60), "revived, `once` counts again");
    world.check();
}

#[test]
fn a_push_during_the_last_attempt_revives_it_at_once() {
    let mut world = World::delivered();
    world.push(plain());
    world.take(9);
    world.answered(500).unwrap();
    world.pass(10);
    world.take(9);
    let old = world.task.as_ref().unwrap().spec.id.clone();
    world.push(at(60));
    world.answered(500).unwrap();
    assert_eq!((world.state(), world.due()), ("waiting", after(60)));
    let task = world.task.as_ref().unwrap();
    assert!(task.spec.id != old && task.status.attempt == 0);
    world.check();
}

#[test]
fn an_attempt_that_was_not_made_changes_nothing() {
    let mut world = World::delivered();
    world.push(plain());
    world.take(9);
    world.settle(released()).unwrap();
    assert_eq!((world.due(), world.bundle().overwrite), (after(0), false));
    world.push(at(60));
    assert_eq!(world.due(), after(0), "`once` still counts");
    world.take(9);
    world.push(at(60));
    world.settle(released()).unwrap();
    assert_eq!(world.due(), after(60), "pushed while it was taken");
    world.check();
}

#[test]
fn a_lost_attempt_is_made_again() {
    let mut world = World::delivered();
    world.push(plain());
    world.take(9);
    world.pass(30);
    world.happen(Event::HoldEnd).unwrap();
    assert_eq!(world.due(), after(30));
    world.check();
    world.take(9);
    world.answered(200).unwrap();
    world.check();
    assert_eq!(world.delivered, [1]);
}

#[test]
fn verbs_on_its_task_are_heard() {
    let mut world = World::delivered();
    world.push(at(60));
    let edit = Edit { due: Patch::Set(after(90)), ..Edit::default() };
    world.happen(Event::Edit(edit)).unwrap();
    assert_eq!(world.due(), after(90));
    world.happen(Event::Pause).unwrap();
    world.push(always(30));
    assert_eq!(world.task.as_ref().unwrap().status.state, State::Paused);
    world.happen(Event::Resume).unwrap();
    assert_eq!(world.due(), after(30));
    world.check();
    // A pause during an attempt.
    world.pass(30);
    world.take(9);
    world.happen(Event::Pause).unwrap();
    world.push(at(99));
    world.answered(500).unwrap();
    assert_eq!(
        (world.task.as_ref().unwrap().status.state, world.due()),
        (State::Paused, after(99))
    );
    world.happen(Event::Resume).unwrap();
    world.check();
    for (event, error) in [(Event::Cancel, "cancelled"), (Event::Clean, "removed")] {
        let mut world = World::delivered();
        world.push(plain());
        world.happen(event).unwrap();
        assert_eq!((world.state(), world.bundle().error.as_deref()), ("failed", Some(error)));
        world.push(at(5));
        world.check();
    }
}

#[test]
fn a_failed_delivery_is_retried_unless_another_took_its_place() {
    let mut world = World::delivered();
    world.push(plain());
    for _ in 0..2 {
        world.take(9);
        world.answered(500).unwrap();
        world.pass(10);
    }
    let failed = world.task.clone();
    world.happen(Event::Retry { force: false }).unwrap();
    assert_eq!((world.state(), world.due()), ("waiting", after(20)));
    world.check();
    world.task = failed.clone();
    world.bundle.as_mut().unwrap().task = None;
    let refused = world.happen(Event::Retry { force: false });
    assert!(matches!(refused, Err(Refusal::Owned { owner: "bundle", .. })), "{refused:?}");
    world.happen(Event::Clean).unwrap();
    assert_eq!(world.state(), "waiting", "another's end is not its own");
    assert_eq!(Delivering::of(failed.as_ref().map(|task| &*task.status)), Delivering::Not);
}
