//! Bundles in the hands of workers.

use punctual_core::Span;
use punctual_core::bundle::BundleRefusal;
use punctual_core::queue::Abandoned;

use crate::scene::{World, after, always, at, plain};

fn abandoning(abandoned: Abandoned) -> World {
    let mut world = World::worked();
    world.queue.settings.abandon_after = Some(Span::from_secs(60));
    world.queue.settings.abandoned = abandoned;
    world
}

#[test]
fn a_due_bundle_is_told_once_in_a_while() {
    let mut world = World::worked();
    world.push(at(10));
    assert!(!world.schedule());
    world.pass(10);
    assert!(world.schedule() && world.state() == "started");
    assert!(!world.schedule());
    // What is pushed now does not let others hear of it at once, but may put it off.
    world.push(plain());
    world.push(always(11));
    assert_eq!(world.due(), after(40));
    world.push(always(50));
    assert_eq!(world.due(), after(50));
    world.pass(40);
    assert!(world.schedule());
}

#[test]
fn what_nobody_gets_is_abandoned() {
    let mut world = abandoning(Abandoned::Fail);
    world.push(plain());
    assert!(world.schedule());
    world.pass(60);
    assert!(world.get("r", None).is_err_and(|refusal| refusal == BundleRefusal::Failed));
    assert_eq!((world.state(), world.bundle().error.as_deref()), ("failed", Some("abandoned")));
    assert!(!world.schedule());
    // The next push brings it back whole, and so does a retry.
    world.push(at(70));
    assert_eq!((world.state(), world.due(), world.bundle().size), ("waiting", after(70), 2));
    assert_eq!(world.bundle().error, None);
    world.pass(10);
    assert!(world.schedule());
    world.pass(60);
    assert!(world.get("r", None).is_err());
    let now = world.now;
    world.bundle.as_mut().unwrap().retry(now).unwrap();
    assert_eq!((world.state(), world.due()), ("waiting", now));
    world.check();
}

#[test]
fn what_was_got_is_not_abandoned() {
    let mut world = abandoning(Abandoned::Drop);
    world.push(plain());
    assert!(world.schedule());
    world.pass(59);
    world.get("r", None).unwrap();
    world.pass(300);
    assert_eq!(world.get("s", None).unwrap(), [1]);
}

#[test]
fn what_is_abandoned_may_be_dropped_and_a_push_begins_anew() {
    let mut world = abandoning(Abandoned::Drop);
    world.push(plain());
    assert!(world.schedule());
    world.pass(60);
    world.push(at(100));
    assert_eq!((world.bundle().size, &world.items), (1, &vec![2]));
    assert_eq!((world.state(), world.due()), ("waiting", after(100)));
}

#[test]
fn one_has_it_at_a_time() {
    let mut world = World::worked();
    world.push(at(500));
    world.push(at(500));
    assert_eq!(world.get("r", Some(1)).unwrap(), [1], "also before it is due");
    assert_eq!((world.state(), world.due()), ("locked", after(30)));
    assert_eq!(world.get("s", None), Err(BundleRefusal::Locked(after(30))));
    assert_eq!(world.complete("s", None), Err(BundleRefusal::Locked(after(30))));
    assert_eq!(world.release("s", None), Err(BundleRefusal::Locked(after(30))));
    world.pass(20);
    assert_eq!(world.get("r", None).unwrap(), [1], "the same again");
    assert_eq!(world.due(), after(50));
    world.pass(30);
    assert_eq!(world.complete("r", None), Err(BundleRefusal::NotLocked("waiting")));
    assert_eq!(world.get("s", None).unwrap(), [1, 2]);
    assert_eq!(world.release("r", Some(after(60))), Err(BundleRefusal::Locked(after(80))));
    assert_eq!(world.complete("s", None), Ok(0));
    world.check();
}

#[test]
fn what_is_left_is_due_now_and_what_came_later_at_its_time() {
    for (got, done, pushed, due, left) in [
        (3, 3, None, None, 0),
        (3, 2, None, Some(5), 1),
        (2, 2, None, Some(5), 1),
        (3, 0, None, Some(5), 3),
        (3, 3, Some(90), Some(90), 1),
        (3, 2, Some(90), Some(5), 2),
        (2, 2, Some(90), Some(5), 2),
    ] {
        let mut world = World::worked();
        for _ in 0..3 {
            world.push(at(500));
        }
        world.get("r", Some(got)).unwrap();
        world.pass(5);
        if let Some(secs) = pushed {
            world.push(at(secs));
            assert_eq!(world.bundle().next_due_at(), after(secs));
            assert_eq!(world.due(), after(secs.max(30)), "not while it is locked");
        }
        assert_eq!(world.complete("r", Some(done)), Ok(left));
        assert_eq!(world.bundle.as_ref().map(|bundle| bundle.due_at), due.map(after));
        if left > 0 {
            // From now on `once` counts again.
            world.push(at(7));
            assert_eq!(Some(world.due()), due.map(after));
        }
        world.check();
    }
    let mut world = World::worked();
    world.push(plain());
    world.get("r", None).unwrap();
    assert!(matches!(world.complete("r", Some(2)), Err(BundleRefusal::Invalid(_))));
}

#[test]
fn a_release_says_when() {
    let mut world = World::worked();
    world.push(plain());
    world.get("r", None).unwrap();
    world.release("r", Some(after(7))).unwrap();
    assert_eq!((world.state(), world.due()), ("waiting", after(7)));
    world.push(at(90));
    assert_eq!(world.due(), after(90), "every push sets the time until it completes");
    world.push(at(8));
    assert_eq!(world.due(), after(8));
    world.get("r", None).unwrap();
    world.release("r", None).unwrap();
    assert_eq!(world.due(), after(30), "when the lock would have ended");
    world.get("r", None).unwrap();
    world.push(at(100));
    world.release("r", None).unwrap();
    assert_eq!(world.due(), after(100), "when what came meanwhile is");
    // A lock that ended by itself is released as well, and then nobody's.
    world.get("r", None).unwrap();
    world.pass(30);
    world.release("r", Some(after(50))).unwrap();
    assert_eq!(world.due(), after(50));
    // Once another has completed it, it is not for the first to move any more.
    world.get("s", None).unwrap();
    world.push(at(70));
    world.complete("s", None).unwrap();
    world.release("r", Some(after(999))).unwrap();
    assert_eq!(world.due(), after(70));
    world.check();
}

#[test]
fn a_retry_applies_to_what_waits() {
    let mut world = World::worked();
    world.push(at(60));
    let now = world.now;
    world.bundle.as_mut().unwrap().retry(now).unwrap();
    assert_eq!(world.due(), now, "also to what waits for its time");
    world.get("r", None).unwrap();
    assert_eq!(world.bundle.as_mut().unwrap().retry(now), Err(BundleRefusal::Locked(after(30))));
    world.release("r", None).unwrap();
    world.bundle.as_mut().unwrap().retry(now).unwrap();
    assert_eq!(world.due(), now);
}
