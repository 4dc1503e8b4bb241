//! Taking: what is handed out, in which order, and what holds tasks back.

use std::collections::BTreeSet;

use punctual_core::limits::TAKE_BYTES_MAX;
use punctual_core::queue::{Mode, Order, Rate};
use punctual_core::task::{Event, Settlement};
use punctual_core::{NewTask, RawJson, Span, State};

use super::checks;
use super::fixture::{
    DELAY, Fixture, commit, fail_for_good, id, ids, queue, release, taker, task, token, worker,
};
use crate::port::{Classes, Take, Taken, Taker};

checks! {
    "take":
    a_take_needs_its_queue,
    a_taken_task_is_held,
    only_ready_tasks_are_handed_out,
    higher_priority_goes_first,
    then_the_one_that_was_ready_first,
    given_back_goes_to_the_end,
    random_order_hands_out_each_once,
    takers_are_served_in_their_order,
    a_take_may_serve_some_classes_only,
    a_take_hands_out_so_many_of_a_class,
    many_classes_keep_their_turn,
    the_shortest_way_to_a_hold_wins,
    no_hold_outlasts_the_longest_run,
    a_paused_queue_hands_out_nothing,
    held_tasks_count_for_concurrency,
    every_way_out_of_a_hold_frees_concurrency,
    a_rate_lets_a_burst_go_and_refills_evenly,
    a_rate_runs_on_the_steady_clock,
    a_new_rate_begins_with_a_burst,
    what_was_not_started_in_time_is_not_handed_out,
    a_take_ends_at_its_bytes,
    checkpoints_count_among_the_bytes_of_a_take,
}

async fn a_take_needs_its_queue(mut f: Fixture) {
    let takers = vec![taker(f.seed(), 1)];
    assert_eq!(f.try_take("q", takers.clone()).await, Taken::NoQueue);
    f.put_queue("q", |_| ()).await;
    let nothing =
        Taken::Tasks { per_taker: vec![Vec::new()], again_at: None, left_out: Vec::new() };
    assert_eq!(f.try_take("q", takers).await, nothing);
    let nobody = Taken::Tasks { per_taker: Vec::new(), again_at: None, left_out: Vec::new() };
    assert_eq!(f.try_take("q", Vec::new()).await, nobody);
}

async fn a_taken_task_is_held(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", task("a")).await;
    f.push("q", task("b")).await;
    let seed = f.seed();
    let taker = Taker { worker: Some(worker("w")), ..taker(seed, 5) };
    let (taken, again_at) = f.take_by("q", taker).await;
    assert_eq!(ids(&taken), ["a", "b"]);
    assert_eq!(again_at, None);
    for (index, stored) in taken.iter().enumerate() {
        let status = &stored.task.status;
        assert_eq!(token(stored), seed.token(index));
        assert_eq!((status.state, status.attempt), (State::Running, 1));
        assert_eq!((status.worker.clone(), status.taken_at), (Some(worker("w")), Some(f.now())));
        let read = f.get("q", stored.task.spec.id.as_str()).await;
        assert_eq!(read, *stored, "what was handed out is what is kept");
    }
    assert_eq!(f.count("q", State::Running).await, 2);
    assert!(f.take("q", 5).await.is_empty(), "nothing is handed out twice");
}

async fn only_ready_tasks_are_handed_out(mut f: Fixture) {
    f.one_in_every_state().await;
    for state in State::ALL {
        let before = f.get(state.name(), state.name()).await;
        let taken = f.take(state.name(), 10).await;
        if state == State::Ready {
            assert_eq!(ids(&taken), ["ready"]);
        } else {
            assert!(taken.is_empty(), "a take of a task that is {state}");
            assert_eq!(f.get(state.name(), state.name()).await, before);
        }
    }
    f.advance(DELAY).await;
    assert_eq!(ids(&f.take("waiting", 10).await), ["waiting"], "due at this very moment");
}

async fn higher_priority_goes_first(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let ranks = [("zero", None), ("low", Some(-100)), ("high", Some(100)), ("one", Some(1))];
    for (text, priority) in ranks {
        f.push("q", NewTask { priority, ..task(text) }).await;
    }
    f.push("q", NewTask { priority: Some(100), delay: Some(DELAY), ..task("later") }).await;
    assert_eq!(ids(&f.take("q", 10).await), ["high", "one", "zero", "low"]);
}

async fn then_the_one_that_was_ready_first(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let delayed = |text, ms| NewTask { delay: Some(Span::from_millis(ms)), ..task(text) };
    f.push("q", delayed("third", 20)).await;
    f.push("q", delayed("second", 10)).await;
    f.push("q", task("first")).await;
    f.advance(Span::from_millis(20)).await;
    f.push("q", task("fifth")).await;
    f.push("q", task("sixth")).await;
    f.push("q", NewTask { due: Some(f.now()), ..task("seventh") }).await;
    assert_eq!(ids(&f.take("q", 2).await), ["first", "second"]);
    assert_eq!(ids(&f.take("q", 9).await), ["third", "fifth", "sixth", "seventh"]);
}

async fn given_back_goes_to_the_end(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.push("q", task("a")).await;
    let taken = f.take_one("q").await;
    f.advance(Span::from_millis(1)).await;
    f.push("q", task("b")).await;
    f.advance(Span::from_millis(1)).await;
    f.settle(&taken, release()).await;
    assert_eq!(ids(&f.take("q", 9).await), ["b", "a"]);
}

async fn random_order_hands_out_each_once(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.order = Order::Random).await;
    for n in 0..20 {
        let priority = Some(n % 2);
        f.push("q", NewTask { priority, ..task(&format!("t{n}")) }).await;
    }
    let mut seen = BTreeSet::new();
    for turn in 0..20 {
        let taken = f.take("q", 1).await;
        let spec = &taken[0].task.spec;
        assert_eq!(spec.priority, if turn < 10 { 1 } else { 0 }, "priority goes before chance");
        assert!(seen.insert(spec.id.clone()), "{} was handed out twice", spec.id);
    }
    assert!(f.take("q", 1).await.is_empty());
}

async fn takers_are_served_in_their_order(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for text in ["a", "b", "c", "d"] {
        f.push("q", task(text)).await;
    }
    let seeds = [f.seed(), f.seed(), f.seed(), f.seed()];
    let wanted = [2, 0, 1, 9];
    let takers = seeds.iter().zip(wanted).map(|(seed, n)| taker(*seed, n)).collect();
    let Taken::Tasks { per_taker, .. } = f.try_take("q", takers).await else {
        panic!("the queue exists");
    };
    let got: Vec<_> = per_taker.iter().map(|got| ids(got)).collect();
    assert_eq!(got, [vec!["a", "b"], vec![], vec!["c"], vec!["d"]]);
    assert_eq!(token(&per_taker[0][1]), seeds[0].token(1));
    assert_eq!(token(&per_taker[2][0]), seeds[2].token(0));
    assert_eq!(token(&per_taker[3][0]), seeds[3].token(0));
}

async fn a_take_may_serve_some_classes_only(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let needing = |text, requires: &[&str]| NewTask {
        requires: Some(requires.iter().map(|name| (*name).to_owned()).collect()),
        ..task(text)
    };
    f.push("q", needing("scarce", &["gpu", "arm"])).await;
    f.push("q", needing("gpu", &["gpu"])).await;
    f.push("q", task("plain")).await;
    f.push("q", needing("gpu2", &["gpu"])).await;
    for (class, expected) in [("disk", vec![]), ("", vec!["plain"]), ("gpu", vec!["gpu", "gpu2"])] {
        let named = vec![(class.into(), 9)];
        let classes = Classes { named, others: 0, covered_by: None };
        let take = Take { queue: queue("q"), classes, takers: vec![taker(f.seed(), 9)] };
        let taken = f.store().take(take).await.expect("the store answers");
        let Taken::Tasks { per_taker, .. } = taken else { panic!("the queue exists") };
        assert_eq!(ids(&per_taker[0]), expected, "{class:?}");
    }
    assert_eq!(ids(&f.take("q", 9).await), ["scarce"], "all of them");
}

async fn a_take_hands_out_so_many_of_a_class(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for n in 0..4 {
        for class in ["a", "b", "c"] {
            let requires = Some(vec![class.to_owned()]);
            let priority = Some(i32::from(n == 3));
            let text = format!("{class}{n}");
            f.push("q", NewTask { requires, priority, ..task(&text) }).await;
        }
    }
    let rounds = [
        ([("a", 0), ("b", 1)], 2, vec!["b3", "c3", "c0"], vec!["a", "b", "c"]),
        ([("a", 3), ("c", 0)], 1, vec!["a3", "a0", "b0", "a1"], vec!["a", "b", "c"]),
        ([("a", 9), ("nobody", 0)], 0, vec!["a2"], vec![]),
        ([("b", 0), ("c", 0)], 9, vec![], vec!["b", "c"]),
        ([("b", 2), ("c", 1)], 0, vec!["b1", "c1", "b2"], vec!["c"]),
    ];
    for (named, others, expected, more) in rounds {
        let named = named.map(|(class, room)| (class.into(), room)).into();
        // What a class has room for is shared by the takers.
        let takers = vec![taker(f.seed(), 2), taker(f.seed(), 9)];
        let classes = Classes { named, others, covered_by: None };
        let take = Take { queue: queue("q"), classes, takers };
        let taken = f.store().take(take).await.expect("the store answers");
        let Taken::Tasks { per_taker, mut left_out, .. } = taken else {
            panic!("the queue exists");
        };
        left_out.sort_unstable();
        assert_eq!(left_out.iter().map(|class| &**class).collect::<Vec<_>>(), more);
        assert_eq!(ids(&per_taker.concat()), expected);
        assert_eq!(per_taker[0].len(), expected.len().min(2));
    }
    assert_eq!(ids(&f.take("q", 9).await), ["c2"]);
}

/// However many classes there are, and in whatever order they come back, tasks go in their turn.
async fn many_classes_keep_their_turn(mut f: Fixture) {
    const CLASSES: usize = 300;
    f.put_queue("q", |_| ()).await;
    let of_class = |n: usize, text: String| {
        let requires = Some(vec![format!("c{}", n % CLASSES)]);
        NewTask { requires, id: Some(id(&text)), ..NewTask::default() }
    };
    let mut expected: Vec<String> = Vec::new();
    for round in 0..4 {
        // Each time the classes come in another order, and all at one moment.
        let texts =
            (0..CLASSES).map(|n| (n * (2 * round + 1) + 7 * round, format!("t{round}-{n}")));
        let tasks: Vec<_> = texts.map(|(n, text)| of_class(n, text)).collect();
        expected.extend(tasks.iter().filter_map(|new| Some(new.id.as_ref()?.to_string())));
        f.try_push("q", tasks).await;
        f.push("q", NewTask { delay: Some(DELAY), ..of_class(round, format!("late-{round}")) })
            .await;
        f.advance(Span::from_millis(5)).await;
        let taken = f.take("q", 111).await;
        assert_eq!(ids(&taken), expected.drain(..taken.len()).collect::<Vec<_>>());
        // What is given back stands at the end.
        f.settle(&taken[round], release()).await;
        expected.push(taken[round].task.spec.id.to_string());
    }
    f.advance(DELAY).await;
    expected.extend((0..4).map(|round| format!("late-{round}")));
    while !expected.is_empty() {
        let taken = f.take("q", 97).await;
        assert!(!taken.is_empty(), "{} are left", expected.len());
        assert_eq!(ids(&taken), expected.drain(..taken.len()).collect::<Vec<_>>());
    }
    assert!(f.take("q", 1).await.is_empty());
}

async fn the_shortest_way_to_a_hold_wins(mut f: Fixture) {
    let secs = Span::from_secs;
    let change = |queue: &mut punctual_core::Queue| {
        queue.settings.hold = secs(1);
        queue.settings.confirm_within = secs(9);
    };
    f.put_queue("q", change).await;
    for (taker_hold, task_hold, expected) in
        [(None, None, 1), (None, Some(2), 2), (Some(3), None, 3), (Some(3), Some(2), 3)]
    {
        for confirm in [false, true] {
            f.push("q", NewTask { hold: task_hold.map(secs), ..task("a") }).await;
            let asked = Taker { hold: taker_hold.map(secs), confirm, ..taker(f.seed(), 1) };
            let taken = f.take_by("q", asked).await.0.remove(0);
            let hold = taken.task.status.hold.expect("it is held");
            assert_eq!(hold.length, secs(expected));
            let within = if confirm { secs(9) } else { hold.length };
            assert_eq!(hold.until, f.now() + within);
            let state = if confirm { State::Assigned } else { State::Running };
            assert_eq!(taken.task.status.state, state);
            f.store().remove(&queue("q"), &[id("a")]).await.expect("the task is removed");
        }
    }
}

async fn no_hold_outlasts_the_longest_run(mut f: Fixture) {
    let secs = Span::from_secs;
    for (mode, queue_max, task_max, expected) in [
        (Mode::Pull, Some(20), None, 20),
        (Mode::Pull, Some(20), Some(10), 10),
        (Mode::Pull, Some(20), Some(25), 25),
        (Mode::Pull, None, Some(10), 10),
        (Mode::Pull, Some(100), None, 30),
        (Mode::Http, Some(20), Some(10), 30),
    ] {
        let change = |queue: &mut punctual_core::Queue| {
            queue.settings.mode = mode;
            queue.settings.max_runtime = queue_max.map(secs);
            queue.settings.confirm_within = secs(50);
        };
        f.put_queue("q", change).await;
        for confirm in [false, true] {
            f.push("q", NewTask { max_runtime: task_max.map(secs), ..task("a") }).await;
            let asked = Taker { confirm, ..taker(f.seed(), 1) };
            let taken = f.take_by("q", asked).await.0.remove(0);
            let hold = taken.task.status.hold.expect("it is held");
            let within = if confirm { secs(50) } else { secs(expected) };
            assert_eq!((hold.length, hold.until), (secs(30), f.now() + within));
            assert_eq!(f.get("q", "a").await, taken, "what was handed out is what is kept");
            f.store().remove(&queue("q"), &[id("a")]).await.expect("the task is removed");
        }
    }
}

async fn a_paused_queue_hands_out_nothing(mut f: Fixture) {
    f.put_queue("q", |queue| queue.paused = true).await;
    f.push("q", task("a")).await;
    assert!(f.take("q", 1).await.is_empty());
    assert_eq!(f.count("q", State::Ready).await, 1);
    f.put_queue("q", |queue| queue.paused = false).await;
    assert_eq!(ids(&f.take("q", 1).await), ["a"]);
}

async fn held_tasks_count_for_concurrency(mut f: Fixture) {
    for state in State::ALL {
        let name = state.name();
        f.put_queue(name, |queue| queue.settings.concurrency = Some(1)).await;
        f.bring(name, task(name), state).await;
        f.push(name, NewTask { priority: Some(1), ..task("other") }).await;
        let taken = f.take(name, 2).await;
        assert_eq!(taken.len(), usize::from(!state.is_held()), "beside a task that is {state}");
    }
    f.put_queue("q", |queue| queue.settings.concurrency = Some(3)).await;
    f.try_push("q", ["a", "b", "c", "d"].map(task).into()).await;
    assert_eq!(f.take("q", 2).await.len(), 2);
    let takers = vec![taker(f.seed(), 2), taker(f.seed(), 2)];
    let Taken::Tasks { per_taker, again_at, .. } = f.try_take("q", takers).await else {
        panic!("the queue exists");
    };
    assert_eq!(per_taker.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(again_at, None, "it was not the rate");
    f.put_queue("q", |queue| queue.settings.concurrency = Some(2)).await;
    assert_eq!(f.count("q", State::Running).await, 3, "a lower limit takes nothing away");
    f.put_queue("q", |queue| queue.settings.concurrency = None).await;
    assert_eq!(f.take("q", 2).await.len(), 1);
}

async fn every_way_out_of_a_hold_frees_concurrency(mut f: Fixture) {
    let retry = |retry_in| Settlement::Fail { error: None, retry_in, permanent: false };
    let later = Settlement::Release { delay: Some(DELAY), checkpoint: None };
    let settlements = [commit(), release(), later, fail_for_good(), retry(Some(DELAY))];
    let events = [Event::Retry { force: true }, Event::Reset, Event::HoldEnd];
    f.put_queue("q", |queue| queue.settings.concurrency = Some(1)).await;
    f.push("q", NewTask { priority: Some(-1), ..task("next") }).await;
    for way in 0..settlements.len() + events.len() + 1 {
        f.push("q", task("first")).await;
        let held = f.take("q", 2).await;
        assert_eq!(ids(&held), ["first"]);
        match (settlements.get(way), way.checked_sub(settlements.len())) {
            (Some(settlement), _) => f.settle(&held[0], settlement.clone()).await,
            (None, Some(event)) if event < events.len() => {
                f.happen("q", "first", events[event].clone()).await;
            }
            _ => {
                f.store().remove(&queue("q"), &[id("first")]).await.expect("it is removed");
            }
        }
        let freed = f.take("q", 2).await;
        assert_eq!(freed.len(), 1, "way {way} out of a hold");
        f.settle(&freed[0], release()).await;
        f.store().remove(&queue("q"), &[id("first")]).await.expect("the store answers");
    }
}

fn rate(limit: u32, per_ms: i64) -> Option<Rate> {
    Some(Rate { limit, per: Span::from_millis(per_ms) })
}

async fn a_rate_lets_a_burst_go_and_refills_evenly(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.rate = rate(3, 1_000)).await;
    for n in 0..12 {
        f.push("q", task(&format!("t{n}"))).await;
    }
    assert_eq!(f.stats("q").await.expect("the queue exists").rate_at, None);
    let three = taker(f.seed(), 3);
    let (taken, again_at) = f.take_by("q", three).await;
    assert_eq!((taken.len(), again_at), (3, None), "the burst was enough");
    // A third of a second is 333.3 ms; what goes at 334 ms did not go at 333.
    let at = f.now() + Span::from_millis(334);
    assert_eq!(f.stats("q").await.expect("the queue exists").rate_at, Some(at));
    let many = taker(f.seed(), 9);
    assert_eq!(f.take_by("q", many).await, (Vec::new(), Some(at)));
    f.advance(Span::from_millis(333)).await;
    assert!(f.take("q", 9).await.is_empty());
    f.advance(Span::from_millis(1)).await;
    assert_eq!(f.take("q", 9).await.len(), 1);
    // Nothing is lost by rounding: after 1,000 ms in all, three have been refilled.
    f.advance(Span::from_millis(666)).await;
    assert_eq!(f.take("q", 9).await.len(), 2);
    f.advance(Span::from_secs(3_600)).await;
    let many = taker(f.seed(), 9);
    let (taken, again_at) = f.take_by("q", many).await;
    assert_eq!(taken.len(), 3, "no more than a burst is saved up");
    assert_eq!(again_at, Some(f.now() + Span::from_millis(334)));
}

async fn a_rate_runs_on_the_steady_clock(mut f: Fixture) {
    if f.has_one_clock() {
        return;
    }
    f.put_queue("q", |queue| queue.settings.rate = rate(1, 1_000)).await;
    f.push("q", task("a")).await;
    f.push("q", task("b")).await;
    assert_eq!(f.take("q", 2).await.len(), 1);
    f.clock.set_wall(f.now() + Span::from_secs(60));
    f.tick().await;
    assert!(f.take("q", 2).await.is_empty(), "setting the wall clock refills nothing");
    f.advance(Span::from_secs(1)).await;
    assert_eq!(ids(&f.take("q", 2).await), ["b"]);
    let one = taker(f.seed(), 1);
    assert_eq!(f.take_by("q", one).await.1, None, "nothing was kept back");
}

async fn a_new_rate_begins_with_a_burst(mut f: Fixture) {
    f.put_queue("q", |queue| queue.settings.rate = rate(1, 60_000)).await;
    for text in ["a", "b", "c", "d", "e"] {
        f.push("q", task(text)).await;
    }
    assert_eq!(f.take("q", 9).await.len(), 1);
    f.put_queue("q", |queue| queue.settings.hold = Span::from_secs(7)).await;
    assert_eq!(f.take("q", 9).await.len(), 0, "another setting is no new rate");
    f.put_queue("q", |queue| queue.settings.rate = rate(2, 60_000)).await;
    assert_eq!(f.take("q", 9).await.len(), 2);
    f.put_queue("q", |queue| queue.settings.rate = None).await;
    assert_eq!(f.take("q", 9).await.len(), 2);
}

async fn what_was_not_started_in_time_is_not_handed_out(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let expires = Some(f.now() + Span::from_secs(10));
    f.push("q", NewTask { expires, priority: Some(1), ..task("started") }).await;
    let started = f.take_one("q").await;
    f.push("q", NewTask { expires, ..task("in-time") }).await;
    f.push("q", NewTask { expires, ..task("late") }).await;
    f.advance(Span::from_millis(9_999)).await;
    assert_eq!(ids(&f.take("q", 1).await), ["in-time"]);
    f.advance(Span::from_millis(1)).await;
    assert!(f.take("q", 9).await.is_empty());
    let retry_in = Some(Span::ZERO);
    f.settle(&started, Settlement::Fail { error: None, retry_in, permanent: false }).await;
    let again = f.take("q", 9).await;
    assert_eq!(ids(&again), ["started"], "once started, it has no expiry");
}

async fn a_take_ends_at_its_bytes(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let payload_of = |bytes: usize| Some(RawJson::of(&"x".repeat(bytes - 2)));
    let sizes = [TAKE_BYTES_MAX + 1, TAKE_BYTES_MAX - 10, 10, 1_000, 10];
    for (n, bytes) in sizes.into_iter().enumerate() {
        f.push("q", NewTask { payload: payload_of(bytes), ..task(&format!("t{n}")) }).await;
    }
    let takers = vec![taker(f.seed(), 9), taker(f.seed(), 9), taker(f.seed(), 9)];
    let Taken::Tasks { per_taker, again_at, .. } = f.try_take("q", takers).await else {
        panic!("the queue exists");
    };
    let got: Vec<_> = per_taker.iter().map(|got| ids(got)).collect();
    assert_eq!(got, [vec!["t0"], vec!["t1", "t2"], vec!["t3", "t4"]]);
    assert_eq!(again_at, None);
}

async fn checkpoints_count_among_the_bytes_of_a_take(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for n in 0..3 {
        f.push("q", task(&format!("t{n}"))).await;
    }
    for stored in f.take("q", 9).await {
        let checkpoint = Some(RawJson::of(&"x".repeat(TAKE_BYTES_MAX * 2 / 5)));
        f.settle(&stored, Settlement::Release { delay: None, checkpoint }).await;
    }
    assert_eq!(ids(&f.take("q", 9).await), ["t0", "t1"]);
    assert_eq!(ids(&f.take("q", 9).await), ["t2"]);
}
