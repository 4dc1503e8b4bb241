//! When a bundle is due.

use punctual_core::Span;
use punctual_core::bundle::{BundlePush, Overwrite};

use crate::scene::{World, after, always, at, key, plain, start};

fn wait(push: BundlePush, secs: i64) -> BundlePush {
    BundlePush { max_wait: Some(Span::from_secs(secs)), ..push }
}

#[test]
fn the_first_push_says_when_and_others_only_with_always() {
    for mut world in [World::worked(), World::delivered()] {
        world.push(at(60));
        assert_eq!(world.due(), after(60));
        for (push, due) in
            [(plain(), 60), (at(10), 60), (at(90), 60), (always(90), 90), (always(10), 10)]
        {
            world.push(push);
            assert_eq!(world.due(), after(due));
            world.check();
        }
        world.push(BundlePush { overwrite: Overwrite::Always, ..plain() });
        assert_eq!(world.due(), start(), "now");
        assert_eq!(world.bundle().size, 7);
    }
}

#[test]
fn a_time_long_past_is_due_at_once() {
    let mut world = World::delivered();
    world.push(BundlePush { ontime: Some(Default::default()), ..plain() });
    world.take(9);
    world.answered(200).unwrap();
    assert!(world.bundle.is_none());
    world.check();
}

#[test]
fn nothing_waits_longer_than_max_wait_after_the_first() {
    for (pushes, due) in [
        (vec![wait(at(60), 20)], 20),
        (vec![wait(at(10), 20)], 10),
        (vec![wait(always(60), 20), wait(always(90), 20)], 20),
        (vec![wait(always(60), 20), always(90)], 20),
        (vec![at(60), wait(at(60), 20)], 20),
        (vec![at(60), wait(at(60), 80)], 60),
        (vec![wait(at(60), 40), wait(at(60), 20), wait(at(60), 30)], 20),
        (vec![wait(plain(), 0)], 0),
    ] {
        for mut world in [World::worked(), World::delivered()] {
            for push in pushes.clone() {
                world.push(push);
                world.check();
            }
            assert_eq!(world.due(), after(due), "{pushes:?}");
        }
    }
    // It counts from the first payload, not from the last.
    let mut world = World::delivered();
    world.push(wait(always(60), 100));
    for _ in 0..9 {
        world.pass(10);
        let later = world.now + Span::from_secs(60);
        world.push(wait(BundlePush { ontime: Some(later), ..always(0) }, 100));
    }
    assert_eq!(world.due(), after(100));
}

#[test]
fn max_wait_leaves_retries_their_time() {
    let mut world = World::delivered();
    world.push(wait(plain(), 5));
    world.take(9);
    world.pass(6);
    world.answered(500).unwrap();
    assert_eq!(world.due(), after(16), "its retry");
    // From now on it counts anew.
    world.push(wait(always(500), 30));
    assert_eq!(world.due(), after(36));
    world.pass(10);
    world.push(wait(always(600), 30));
    assert_eq!(world.due(), after(36));
    world.check();
}

#[test]
fn too_much_is_refused() {
    let world = World::worked();
    let large = punctual_core::RawJson::of(&"x".repeat(1 << 20));
    assert!(BundlePush { payload: large, ..plain() }.check().is_err());
    for data in [vec!["x".repeat(300_000)], (0..10_001).map(|n| n.to_string()).collect()] {
        let push = BundlePush { data, ..plain() };
        assert!(push.apply(&world.queue, &key(), None, None, start()).is_err());
    }
    let data = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut world = World::worked();
    world.push(BundlePush { data: data(&["b", "a"]), ..plain() });
    world.push(BundlePush { data: data(&["a", "c"]), ..plain() });
    assert_eq!(world.bundle().data.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}
