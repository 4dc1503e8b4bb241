//! Workers: how many tasks of queues of mode dispatch each holds, which, and that no more are handed out
//! than it can hold or is capable of.

use punctual_core::queue::Mode;
use punctual_core::task::Event;
use punctual_core::{NewTask, Seed, Span, State, TaskId};

use super::checks;
use super::fixture::{
    Fixture, assigned, commit, fail_for_good, id, ids, queue, release, taker, task, token, worker,
};
use super::wake::{forget, hear};
use crate::port::{Classes, Stored, Take, Taken, Taker, Wake};

checks! {
    "workers":
    a_worker_holds_what_it_took,
    every_way_out_of_a_hold_is_noticed,
    a_decision_gives_and_moves_holdings,
    holdings_go_with_their_queue,
    only_queues_of_mode_dispatch_count,
    holdings_outlast_a_restart,
    nobody_gets_more_than_its_capacity,
    a_decision_gives_nobody_more_than_its_capacity,
    a_full_worker_is_not_held_back_by_the_rate,
    only_what_is_covered_is_handed_out,
    a_worker_hears_of_its_holdings,
    one_store_is_one_place,
}

/// A taker for a worker.
fn by(seed: Seed, name: &str, n: usize) -> Taker {
    Taker { worker: Some(worker(name)), ..taker(seed, n) }
}

impl Fixture {
    /// A queue of mode dispatch with tasks.
    async fn dispatch_queue(&self, name: &str, tasks: &[&str]) {
        self.put_queue(name, |queue| queue.settings.mode = Mode::Dispatch).await;
        for text in tasks {
            self.push(name, task(text)).await;
        }
    }

    async fn take_as(&mut self, queue_name: &str, name: &str, n: usize) -> Vec<Stored> {
        let taker = by(self.seed(), name, n);
        self.take_by(queue_name, taker).await.0
    }

    async fn load(&self, name: &str) -> usize {
        let loads = self.store().loads(&[worker("nobody"), worker(name)]).await;
        let loads = loads.expect("the workers are counted");
        assert_eq!((loads.len(), loads[0]), (2, 0), "one answer per worker");
        loads[1]
    }

    /// What a worker holds, `queue/id`, in order. Also checks that it is counted.
    async fn holdings(&self, name: &str) -> Vec<String> {
        let held = self.store().holdings(&worker(name)).await.expect("the holdings are read");
        assert_eq!(held.len(), self.load(name).await, "as many as are counted");
        let mut held: Vec<_> = held.iter().map(|(queue, id)| format!("{queue}/{id}")).collect();
        held.sort();
        held
    }
}

async fn a_worker_holds_what_it_took(mut f: Fixture) {
    f.dispatch_queue("d", &["a", "b", "c"]).await;
    f.dispatch_queue("e", &["a"]).await;
    assert!(f.holdings("w").await.is_empty());
    assert_eq!(f.take_as("d", "w", 2).await.len(), 2);
    assert_eq!(f.take_as("e", "w", 2).await.len(), 1);
    assert_eq!(f.take_as("d", "x:y@z-1", 2).await.len(), 1);
    assert_eq!(f.holdings("w").await, ["d/a", "d/b", "e/a"]);
    assert_eq!(f.holdings("x:y@z-1").await, ["d/c"]);
    assert!(f.store().loads(&[]).await.expect("nobody is asked for").is_empty());
}

async fn every_way_out_of_a_hold_is_noticed(mut f: Fixture) {
    f.dispatch_queue("d", &["a"]).await;
    let ways = [commit(), fail_for_good(), release()];
    for settlement in ways {
        f.happen("d", "a", Event::Reset).await;
        let held = f.take_as("d", "w", 1).await;
        assert_eq!(f.holdings("w").await, ["d/a"]);
        f.settle(&held[0], settlement).await;
        assert!(f.holdings("w").await.is_empty());
    }
    f.take_as("d", "w", 1).await;
    f.happen("d", "a", Event::Cancel).await;
    assert_eq!(f.holdings("w").await, ["d/a"], "it is asked to cancel, and has it still");
    f.happen("d", "a", Event::HoldEnd).await;
    assert!(f.holdings("w").await.is_empty());
    f.happen("d", "a", Event::Reset).await;
    f.take_as("d", "w", 1).await;
    f.happen("d", "a", Event::Pause).await;
    assert_eq!(f.holdings("w").await, ["d/a"]);
    let removed = f.store().remove(&queue("d"), &[id("a")]).await.expect("the store answers");
    assert_eq!(removed, [true]);
    assert!(f.holdings("w").await.is_empty());
}

async fn a_decision_gives_and_moves_holdings(mut f: Fixture) {
    f.dispatch_queue("d", &["a", "b"]).await;
    let give = async |f: &mut Fixture, name: &str| {
        let (seed, stored) = (f.seed(), f.get("d", "a").await);
        let change = assigned(stored, worker(name), seed.token(0), f.now());
        f.try_commit(change.expected, change.decision).await.expect("nobody else changes it");
    };
    give(&mut f, "w").await;
    assert_eq!(f.state("d", "a").await, Some(State::Assigned));
    assert_eq!(f.holdings("w").await, ["d/a"]);
    give(&mut f, "x").await;
    assert!(f.holdings("w").await.is_empty(), "what another has, it has not");
    assert_eq!(f.holdings("x").await, ["d/a"]);
    let held = f.get("d", "a").await;
    f.happen("d", "a", Event::Confirm { token: token(&held) }).await;
    assert_eq!(f.holdings("x").await, ["d/a"]);
    let full = Taker { capacity: Some(1), ..by(f.seed(), "x", 1) };
    assert!(f.take_by("d", full).await.0.is_empty(), "what was assigned counts");
    f.settle(&held, commit()).await;
    assert!(f.holdings("x").await.is_empty());
}

async fn holdings_go_with_their_queue(mut f: Fixture) {
    f.dispatch_queue("d", &["a", "b"]).await;
    f.dispatch_queue("e", &["c"]).await;
    f.take_as("d", "w", 2).await;
    f.take_as("e", "w", 1).await;
    assert!(f.store().reset_queue(&queue("d")).await.expect("the store answers"));
    assert_eq!(f.holdings("w").await, ["e/c"]);
    f.push("d", task("a")).await;
    f.take_as("d", "w", 1).await;
    assert_eq!(f.holdings("w").await, ["d/a", "e/c"]);
    assert!(f.store().delete_queue(&queue("d")).await.expect("the store answers"));
    assert!(f.store().delete_queue(&queue("e")).await.expect("the store answers"));
    while f.store().sweep(100).await.expect("the store sweeps") {}
    assert!(f.holdings("w").await.is_empty());
    f.dispatch_queue("d", &["a"]).await;
    assert!(f.holdings("w").await.is_empty(), "a task pushed again is another");
    f.take_as("d", "w", 1).await;
    assert_eq!(f.holdings("w").await, ["d/a"]);
}

async fn only_queues_of_mode_dispatch_count(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    f.dispatch_queue("d", &["a"]).await;
    for text in ["a", "b", "c"] {
        f.push("q", task(text)).await;
    }
    let limited = Taker { capacity: Some(1), ..by(f.seed(), "w", 3) };
    assert_eq!(f.take_by("q", limited).await.0.len(), 3, "a pull queue knows no capacity");
    assert!(f.holdings("w").await.is_empty());
    let limited = Taker { capacity: Some(1), ..by(f.seed(), "w", 3) };
    assert_eq!(f.take_by("d", limited).await.0.len(), 1);
    assert_eq!(f.holdings("w").await, ["d/a"]);
}

async fn holdings_outlast_a_restart(mut f: Fixture) {
    f.dispatch_queue("d", &["a", "b", "c"]).await;
    f.take_as("d", "w", 2).await;
    f.take_as("d", "x", 1).await;
    f.happen("d", "b", Event::Cancel).await;
    if !f.restart().await {
        return;
    }
    assert_eq!(f.holdings("w").await, ["d/a", "d/b"]);
    assert_eq!(f.holdings("x").await, ["d/c"]);
    let held = f.get("d", "a").await;
    f.settle(&held, commit()).await;
    assert_eq!(f.holdings("w").await, ["d/b"]);
}

async fn nobody_gets_more_than_its_capacity(mut f: Fixture) {
    let some: Vec<String> = (0..9).map(|n| format!("t{n}")).collect();
    let some: Vec<&str> = some.iter().map(String::as_str).collect();
    f.dispatch_queue("d", &some).await;
    f.dispatch_queue("e", &["a", "b"]).await;
    let up_to = |seed, name, capacity| Taker { capacity: Some(capacity), ..by(seed, name, 5) };
    let takers = vec![
        up_to(f.seed(), "w", 2),
        up_to(f.seed(), "w", 3),
        up_to(f.seed(), "x", 0),
        Taker { capacity: Some(1), ..taker(f.seed(), 2) },
    ];
    let Taken::Tasks { per_taker, .. } = f.try_take("d", takers).await else {
        panic!("the queue exists");
    };
    let counts: Vec<usize> = per_taker.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1, 0, 2], "one worker counts once, nobody has no capacity");
    assert_eq!(f.load("w").await, 3);
    let seed = f.seed();
    assert!(f.take_by("e", up_to(seed, "w", 3)).await.0.is_empty(), "it counts over all queues");
    let seed = f.seed();
    assert_eq!(ids(&f.take_by("e", up_to(seed, "w", 4)).await.0), ["a"]);
    let seed = f.seed();
    assert!(f.take_by("e", up_to(seed, "w", 1)).await.0.is_empty(), "it has more than it may");
    f.settle(&per_taker[0][0], commit()).await;
    let seed = f.seed();
    assert_eq!(ids(&f.take_by("e", up_to(seed, "w", 4)).await.0), ["b"]);
}

async fn a_decision_gives_nobody_more_than_its_capacity(mut f: Fixture) {
    f.dispatch_queue("d", &["a", "b"]).await;
    f.dispatch_queue("e", &["c", "d"]).await;
    let give = async |f: &mut Fixture, place: (&str, &str), capacity: usize| {
        let (token, stored) = (f.seed().token(0), f.get(place.0, place.1).await);
        let event = Event::Assign { worker: worker("w"), token, capacity };
        let decision = f.decide(&stored, event).await.expect("it is ready");
        f.try_commit(stored.revision, decision).await.is_ok()
    };
    assert!(!give(&mut f, ("d", "a"), 0).await);
    assert!(give(&mut f, ("d", "a"), 1).await);
    assert!(!give(&mut f, ("d", "b"), 1).await, "it is full");
    assert!(!give(&mut f, ("e", "c"), 1).await, "it counts over all queues");
    assert_eq!(f.state("e", "c").await, Some(State::Ready), "nothing happened");
    assert!(give(&mut f, ("e", "c"), 2).await);
    let full = Taker { capacity: Some(2), ..by(f.seed(), "w", 1) };
    assert!(f.take_by("d", full).await.0.is_empty(), "a take counts it");
    let held = f.get("d", "a").await;
    f.settle(&held, release()).await;
    assert!(give(&mut f, ("e", "d"), 2).await);
    assert_eq!(f.holdings("w").await, ["e/c", "e/d"]);
}

async fn a_full_worker_is_not_held_back_by_the_rate(mut f: Fixture) {
    let rate = punctual_core::queue::Rate { limit: 2, per: Span::from_secs(10) };
    f.dispatch_queue("d", &["a", "b", "c"]).await;
    f.put_queue("d", |queue| queue.settings.rate = Some(rate)).await;
    let full = Taker { capacity: Some(1), ..by(f.seed(), "w", 3) };
    let (taken, again_at) = f.take_by("d", full).await;
    assert_eq!((taken.len(), again_at), (1, None));
    let more = Taker { capacity: Some(3), ..by(f.seed(), "w", 3) };
    let (taken, again_at) = f.take_by("d", more).await;
    assert_eq!(taken.len(), 1);
    assert!(again_at.is_some(), "there is one more it could hold");
}

async fn only_what_is_covered_is_handed_out(mut f: Fixture) {
    f.dispatch_queue("d", &[]).await;
    let asks: [(&str, &[&str]); 5] = [
        ("both", &["gpu", "big"]),
        ("big", &["big"]),
        ("odd", &["a:b%c"]),
        ("gpu", &["gpu"]),
        ("none", &[]),
    ];
    for (text, requires) in asks {
        let requires = requires.iter().map(|text| (*text).to_owned()).collect();
        f.push("d", NewTask { requires: Some(requires), ..task(text) }).await;
    }
    let take = async |f: &mut Fixture, classes: Classes| -> Vec<TaskId> {
        let takers = vec![by(f.seed(), "w", 9)];
        let take = Take { queue: queue("d"), classes, takers };
        let Taken::Tasks { mut per_taker, .. } = f.store().take(take).await.expect("an answer")
        else {
            panic!("the queue exists");
        };
        per_taker.remove(0).into_iter().map(|stored| stored.task.spec.id.clone()).collect()
    };
    assert_eq!(take(&mut f, Classes::covered_by([""; 0])).await, [id("none")]);
    assert_eq!(take(&mut f, Classes::covered_by(["gp", "bi", "gpu big"])).await, []);
    let unnamed = Classes { others: 0, ..Classes::covered_by(["gpu"]) };
    assert_eq!(take(&mut f, unnamed).await, []);
    assert_eq!(take(&mut f, Classes::covered_by(["gpu"])).await, [id("gpu")]);
    assert_eq!(take(&mut f, Classes::covered_by(["a:b%c"])).await, [id("odd")]);
    let named = vec![("big".into(), 9), ("big\ngpu".into(), 0)];
    let some = Classes { named, ..Classes::covered_by(["gpu", "more", "big"]) };
    assert_eq!(take(&mut f, some).await, [id("big")]);
    assert_eq!(take(&mut f, Classes::covered_by(["gpu", "more", "big"])).await, [id("both")]);
}

async fn a_worker_hears_of_its_holdings(mut f: Fixture) {
    let mut wakes = f.store().wakeups();
    let is_called = |wake: &Wake| *wake == Wake::Worker { worker: worker("w") };
    f.dispatch_queue("d", &["a", "b"]).await;
    f.take_as("d", "w", 1).await;
    hear(&mut wakes, is_called).await;
    let held = f.get("d", "a").await;
    forget(&mut wakes);
    f.happen("d", "a", Event::Pause).await;
    hear(&mut wakes, is_called).await;
    forget(&mut wakes);
    f.happen("d", "a", Event::Cancel).await;
    hear(&mut wakes, is_called).await;
    forget(&mut wakes);
    f.settle(&held, release()).await;
    hear(&mut wakes, is_called).await;
    forget(&mut wakes);
    let (seed, stored) = (f.seed(), f.get("d", "b").await);
    let change = assigned(stored, worker("w"), seed.token(0), f.now());
    f.try_commit(change.expected, change.decision).await.expect("nobody else changes it");
    hear(&mut wakes, is_called).await;
    forget(&mut wakes);
    f.store().remove(&queue("d"), &[id("b")]).await.expect("the task is removed");
    hear(&mut wakes, is_called).await;
    f.push("d", task("c")).await;
    f.take_as("d", "w", 9).await;
    hear(&mut wakes, is_called).await;
    forget(&mut wakes);
    f.store().reset_queue(&queue("d")).await.expect("the queue is reset");
    hear(&mut wakes, is_called).await;
}

async fn one_store_is_one_place(f: Fixture) {
    assert!(f.store().shares_place(&queue("d"), &queue("d")), "a queue lies where it lies");
}
