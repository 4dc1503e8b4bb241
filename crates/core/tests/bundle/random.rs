//! Whatever happens in whatever order: a payload is delivered or waits, once, in push order.

use proptest::prelude::*;
use punctual_core::bundle::{BundlePush, Overwrite};
use punctual_core::task::Settlement;
use punctual_core::{Event, Span, State};

use crate::scene::{World, plain};

#[derive(Debug, Clone)]
enum Step {
    Pass(i64),
    Push { in_secs: i64, always: bool, max_wait: Option<i64> },
    Schedule,
    Get { who: u8, number: Option<u64> },
    Complete { who: u8, number: Option<u64> },
    Release { who: u8, in_secs: Option<i64> },
    Take { number: u64 },
    Answer { ok: bool },
    GiveBack,
    HoldEnd,
    Pause,
    Resume,
    Retry,
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop::option::of(0..40_i64);
    prop_oneof![
        3 => (0..40_i64).prop_map(Step::Pass),
        5 => (0..60_i64, any::<bool>(), wait.clone())
            .prop_map(|(in_secs, always, max_wait)| Step::Push { in_secs, always, max_wait }),
        2 => Just(Step::Schedule),
        2 => (0..2_u8, prop::option::of(1..4_u64)).prop_map(|(who, number)| Step::Get { who, number }),
        2 => (0..2_u8, prop::option::of(0..4_u64))
            .prop_map(|(who, number)| Step::Complete { who, number }),
        1 => (0..2_u8, wait).prop_map(|(who, in_secs)| Step::Release { who, in_secs }),
        3 => (1..4_u64).prop_map(|number| Step::Take { number }),
        3 => any::<bool>().prop_map(|ok| Step::Answer { ok }),
        1 => Just(Step::GiveBack),
        1 => Just(Step::HoldEnd),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
        1 => Just(Step::Retry),
    ]
}

/// Whether anything is held by the executor.
fn is_held(world: &World) -> bool {
    world.task.as_ref().is_some_and(|task| task.status.state.is_held())
}

fn apply(world: &mut World, step: Step, is_http: bool) {
    let who = |who: u8| ["r", "s"][usize::from(who)];
    match step {
        Step::Pass(secs) => world.pass(secs),
        Step::Push { in_secs, always, max_wait } => {
            let overwrite = if always { Overwrite::Always } else { Overwrite::Once };
            let ontime = Some(world.now + Span::from_secs(in_secs));
            let max_wait = max_wait.map(Span::from_secs);
            let is_first = world.bundle.is_none();
            world.push(BundlePush { ontime, overwrite, max_wait, ..plain() });
            if let Some(max_wait) = max_wait.filter(|_| is_first) {
                assert!(world.due() <= world.now + max_wait);
            }
        }
        Step::Schedule if !is_http => {
            world.schedule();
        }
        Step::Get { who: n, number } if !is_http && world.bundle.is_some() => {
            let _ = world.get(who(n), number);
        }
        Step::Complete { who: n, number } if !is_http && world.bundle.is_some() => {
            let _ = world.complete(who(n), number);
        }
        Step::Release { who: n, in_secs } if !is_http && world.bundle.is_some() => {
            let ontime = in_secs.map(|secs| world.now + Span::from_secs(secs));
            let _ = world.release(who(n), ontime);
        }
        Step::Take { number } if is_http => {
            let now = world.now;
            let ready = world.task.as_ref().map(|task| task.status.state_at(now));
            if ready == Some(State::Ready) {
                world.take(number);
            }
        }
        Step::Answer { ok } if is_held(world) => {
            world.answered(if ok { 200 } else { 500 }).unwrap();
        }
        Step::GiveBack if is_held(world) => {
            world.settle(Settlement::Release { delay: None, checkpoint: None }).unwrap();
        }
        Step::HoldEnd if is_held(world) => world.happen(Event::HoldEnd).unwrap(),
        Step::Pause | Step::Resume | Step::Retry if world.task.is_some() => {
            let event = match step {
                Step::Pause => Event::Pause,
                Step::Resume => Event::Resume,
                _ => Event::Retry { force: false },
            };
            // What does not apply is refused, and changes nothing.
            let _ = world.happen(event);
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn payloads_are_delivered_or_wait_in_push_order(
        is_http in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut world = if is_http { World::delivered() } else { World::worked() };
        for step in steps {
            apply(&mut world, step, is_http);
            world.check();
        }
    }
}
