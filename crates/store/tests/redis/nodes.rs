//! Several nodes over one Redis: what one does, the others hear of, and no two get the same task.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::queue::{Keep, Mode};
use punctual_core::task::{Context, Settlement};
use punctual_core::{
    Event, NewTask, OwnerKind, Queue, QueueName, RawJson, Seed, Settings, Span, Spec, State,
    TaskId, WorkerName,
};
use punctual_store::conformance::owner_of;
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{
    Change, Classes, Lost, Push, Pushed, PutQueue, Revision, Store, StoreError, Stored, Take,
    Taken, Taker, Wake,
};
use punctual_testing::PATIENCE;
use punctual_testing::redis::Server;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) fn name(text: &str) -> QueueName {
    QueueName::parse(text).unwrap()
}

pub(crate) fn id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

pub(crate) fn task(text: &str) -> NewTask {
    NewTask { id: Some(id(text)), payload: Some(RawJson::of(text)), ..NewTask::default() }
}

pub(crate) fn random_seed() -> Seed {
    let bits =
        (u128::from(getrandom::u64().unwrap()) << 64) | u128::from(getrandom::u64().unwrap());
    Seed::new(bits)
}

/// One node, and short ways to say what it does.
pub(crate) struct Node(pub(crate) Arc<RedisStore>);

impl Node {
    pub(crate) async fn open(url: String) -> Self {
        Self(RedisStore::open(RedisOptions::new(url)).await.unwrap())
    }

    pub(crate) async fn put(&self, queue: &str, change: impl FnOnce(&mut Queue)) {
        let name = name(queue);
        let before = self.0.queue(&name).await.unwrap();
        let mut queue = before.as_deref().cloned().unwrap_or_else(|| Queue {
            settings: Settings::initial(&name),
            name,
            paused: false,
            created_at: self.0.now(),
        });
        change(&mut queue);
        self.0.put_queue(PutQueue { queue, before }).await.unwrap().unwrap();
    }

    pub(crate) fn spec(&self, queue: &str, new: NewTask) -> Arc<Spec> {
        Arc::new(Spec::new(name(queue), new, id("unnamed"), self.0.now()))
    }

    pub(crate) async fn push(&self, queue: &str, new: NewTask) -> Revision {
        let push = Push { queue: name(queue), tasks: vec![self.spec(queue, new)], keyed: None };
        match self.0.push(push).await.unwrap() {
            Pushed::Answers(answers) => answers[0].unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn take(&self, queue: &str, n: usize, hold_ms: i64) -> Vec<Stored> {
        let hold = Some(Span::from_millis(hold_ms));
        let seed = random_seed();
        let taker = Taker { seed, worker: None, n, hold, confirm: false, capacity: None };
        self.take_by(queue, taker).await
    }

    /// Takes for a worker that can hold so many tasks.
    pub(crate) async fn take_as(
        &self,
        queue: &str,
        worker: &WorkerName,
        n: usize,
        capacity: Option<usize>,
    ) -> Vec<Stored> {
        let (seed, worker) = (random_seed(), Some(worker.clone()));
        let taker = Taker { seed, worker, n, hold: None, confirm: false, capacity };
        self.take_by(queue, taker).await
    }

    async fn take_by(&self, queue: &str, taker: Taker) -> Vec<Stored> {
        let take = Take { queue: name(queue), classes: Classes::all(), takers: vec![taker] };
        match self.0.take(take).await.unwrap() {
            Taken::Tasks { mut per_taker, .. } => per_taker.remove(0),
            Taken::NoQueue => panic!("there is no queue {queue}"),
        }
    }

    pub(crate) async fn change(&self, stored: &Stored, event: Event) -> Change {
        self.try_change(stored, event).await.unwrap()
    }

    async fn try_change(&self, stored: &Stored, event: Event) -> Result<Change, StoreError> {
        let queue = self.0.queue(&stored.task.spec.queue).await?.unwrap();
        let callback_id = id("called-back");
        let (now, queue) = (self.0.now(), &queue.settings);
        let context = Context { now, queue, roll: 0.5, callback_id: &callback_id };
        let decision = stored.task.decide(event, &context).unwrap();
        Ok(Change { expected: stored.revision, decision })
    }

    pub(crate) async fn commit(&self, stored: &Stored) -> Result<Revision, Lost> {
        self.try_commit(stored).await.unwrap()
    }

    pub(crate) async fn try_commit(
        &self,
        stored: &Stored,
    ) -> Result<Result<Revision, Lost>, StoreError> {
        let token = stored.task.status.hold.unwrap().token;
        let settlement = Settlement::Commit { result: None };
        let change = self.try_change(stored, Event::Settle { token, settlement }).await?;
        Ok(self.0.write_one(change.into()).await?.task())
    }

    pub(crate) async fn state(&self, queue: &str, task: &str) -> Option<State> {
        let read = self.0.read(&name(queue), &[id(task)]).await.unwrap().remove(0);
        read.map(|stored| stored.task.status.state_at(self.0.now()))
    }

    /// Tasks of a queue that have not ended.
    pub(crate) async fn live(&self, queue: &str) -> u64 {
        self.0.stats(&[name(queue)]).await.unwrap()[0].unwrap().live()
    }
}

pub(crate) async fn hear(wakes: &mut UnboundedReceiver<Wake>, wanted: impl Fn(&Wake) -> bool) {
    let heard = tokio::time::timeout(PATIENCE, async {
        while let Some(wake) = wakes.recv().await {
            if wanted(&wake) {
                return;
            }
        }
        panic!("the stream ended");
    });
    heard.await.expect("the wake-up comes");
}

pub(crate) fn ready(queue: &str) -> impl Fn(&Wake) -> bool {
    let name = name(queue);
    move |wake| matches!(wake, Wake::Ready { queue, .. } if *queue == name)
}

/// Two nodes with a queue `q`.
async fn pair() -> (Server, Node, Node) {
    let server = Server::start();
    let (a, b) = (Node::open(server.url()).await, Node::open(server.url()).await);
    a.put("q", |_| ()).await;
    (server, a, b)
}

/// Whatever one node does to a worker's tasks, every node hears of, the one that did it included.
#[tokio::test]
async fn nodes_hear_of_what_workers_hold() {
    let (server, a, b) = pair().await;
    let mut wakes = [a.0.wakeups(), b.0.wakeups()];
    let worker = WorkerName::parse("w").unwrap();
    let is_called = |wake: &Wake| *wake == Wake::Worker { worker: worker.clone() };
    a.put("d", |queue| queue.settings.mode = Mode::Dispatch).await;
    a.push("d", task("t")).await;
    let given = a.take_as("d", &worker, 1, Some(1)).await.remove(0);
    for wakes in &mut wakes {
        hear(wakes, is_called).await;
    }
    assert_eq!(b.0.holdings(&worker).await.unwrap(), [(name("d"), id("t"))]);
    let cancelled = b.change(&given, Event::Cancel).await;
    b.0.write_one(cancelled.into()).await.unwrap().task().unwrap();
    for wakes in &mut wakes {
        hear(wakes, is_called).await;
    }
    // Whoever may have missed something looks after all workers there are.
    let owner = owner_of(OwnerKind::Worker, "w", "", a.0.now());
    a.change_owner(crate::owners::change(None, owner.key(), Some(owner))).await;
    for wakes in &mut wakes {
        while wakes.try_recv().is_ok() {}
    }
    server.command::<i64>("PUBLISH punctual:action:push look");
    for wakes in &mut wakes {
        hear(wakes, is_called).await;
    }
}

/// A vote that one node opens is heard of by the others, where its voters may wait; what becomes of it then, by
/// nobody.
#[tokio::test]
async fn nodes_hear_of_votes_that_are_opened() {
    let (_server, a, b) = pair().await;
    let mut wakes = b.0.wakeups();
    let queue = "of:all";
    a.put(queue, |queue| queue.settings.mode = Mode::Vote).await;
    let heard = Wake::Vote { queue: name(queue), task: id("t:1") };
    let owner = owner_of(OwnerKind::Vote, queue, "t:1", a.0.now());
    let opened = crate::owners::change(None, owner.key(), Some(owner.clone()));
    a.change_owner(opened).await;
    hear(&mut wakes, |wake| *wake == heard).await;
    let stored = b.owner(&owner.key()).await.unwrap();
    a.change_owner(crate::owners::change(Some(&stored), owner.key(), Some(owner))).await;
    a.put("q", |queue| queue.paused = true).await;
    a.put("q", |queue| queue.paused = false).await;
    a.push("q", task("after")).await;
    let is_last = async {
        while let Some(wake) = wakes.recv().await {
            assert_ne!(wake, heard);
            if ready("q")(&wake) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, is_last).await.expect("what is said later is heard");
}

/// Two nodes hand out tasks of one worker's queues at once; it never gets more than it can hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capacity_holds_for_all_nodes_together() {
    let (_server, a, b) = pair().await;
    let worker = WorkerName::parse("w").unwrap();
    for queue in ["d", "e"] {
        a.put(queue, |queue| queue.settings.mode = Mode::Dispatch).await;
        for n in 0..40 {
            a.push(queue, task(&format!("t{n}"))).await;
        }
    }
    let mut given = 0;
    while given < 80 {
        let (one, other) =
            tokio::join!(a.take_as("d", &worker, 5, Some(7)), b.take_as("e", &worker, 5, Some(7)),);
        let load = a.0.loads(std::slice::from_ref(&worker)).await.unwrap()[0];
        assert!(load <= 7 && load == one.len() + other.len(), "{load}");
        given += load;
        for stored in one.iter().chain(&other) {
            a.commit(stored).await.unwrap();
        }
    }
    assert_eq!(a.0.loads(&[worker]).await.unwrap(), [0]);
    assert_eq!(a.0.check(false).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_push_on_one_node_wakes_takers_on_another() {
    let (_server, a, b) = pair().await;
    let mut wakes = b.0.wakeups();
    for text in ["first", "second"] {
        // Whoever waits has asked before, and found nothing.
        assert!(b.take("q", 1, 60_000).await.is_empty());
        a.push("q", task(text)).await;
        hear(&mut wakes, ready("q")).await;
        assert_eq!(b.take("q", 1, 60_000).await[0].task.spec.id, id(text));
    }
}

#[tokio::test]
async fn a_due_time_set_on_one_node_wakes_another() {
    let (_server, a, b) = pair().await;
    let mut wakes = b.0.wakeups();
    assert!(b.take("q", 1, 60_000).await.is_empty());
    a.push("q", NewTask { delay: Some(Span::from_secs(3_600)), ..task("later") }).await;
    a.push("q", NewTask { delay: Some(Span::from_millis(300)), ..task("soon") }).await;
    let due = b.0.read(&name("q"), &[id("soon")]).await.unwrap()[0].clone().unwrap();
    hear(&mut wakes, ready("q")).await;
    assert!(b.0.now() >= due.task.status.ready_at, "not before it is due");
    assert_eq!(b.take("q", 9, 60_000).await[0].task.spec.id, id("soon"));
}

#[tokio::test]
async fn the_end_of_a_hold_is_heard_on_every_node() {
    let (_server, a, b) = pair().await;
    let (mut wakes_a, mut wakes_b) = (a.0.wakeups(), b.0.wakeups());
    a.push("q", task("t")).await;
    let held = a.take("q", 1, 300).await;
    hear(&mut wakes_a, |wake| *wake == Wake::Expired).await;
    hear(&mut wakes_b, |wake| *wake == Wake::Expired).await;
    assert!(b.0.now() >= held[0].task.status.hold.unwrap().until);
    let late = b.0.expired(10).await.unwrap();
    assert_eq!(late.len(), 1);
    let change = b.change(&late[0], Event::HoldEnd).await;
    b.0.write_one(change.into()).await.unwrap().task().unwrap();
    assert_eq!(a.state("q", "t").await, Some(State::Ready));
    assert_eq!(a.commit(&held[0]).await, Err(Lost), "the token of the first holder is stale");
}

#[tokio::test]
async fn what_is_not_dealt_with_is_announced_again() {
    let (_server, a, b) = pair().await;
    let mut wakes = b.0.wakeups();
    a.push("q", task("t")).await;
    a.take("q", 1, 100).await;
    // The node that heard of it first may be gone before it did anything.
    for _ in 0..3 {
        hear(&mut wakes, |wake| *wake == Wake::Expired).await;
    }
}

#[tokio::test]
async fn settings_of_a_queue_hold_on_every_node_at_once() {
    let (_server, a, b) = pair().await;
    a.push("q", task("t")).await;
    assert!(b.0.queue(&name("q")).await.unwrap().is_some());
    a.put("q", |queue| queue.paused = true).await;
    assert!(b.take("q", 1, 60_000).await.is_empty(), "a take hears of it from Redis itself");
    a.put("q", |queue| {
        queue.paused = false;
        let hour = Span::from_secs(3_600);
        queue.settings.keep = Keep { done: hour, failed: hour, cancelled: hour };
    })
    .await;
    // The answer to this take came after the word that the queue has changed.
    let held = b.take("q", 1, 60_000).await;
    b.commit(&held[0]).await.unwrap();
    assert_eq!(a.state("q", "t").await, Some(State::Done), "kept, as the new settings say");
    assert!(a.0.delete_queue(&name("q")).await.unwrap());
    let gone = async {
        while b.0.queue(&name("q")).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the other node hears of it");
}

#[tokio::test]
async fn limits_hold_over_all_nodes() {
    let (_server, a, b) = pair().await;
    a.put("q", |queue| {
        queue.settings.concurrency = Some(3);
        queue.settings.max = Some(5);
    })
    .await;
    for n in 0..5 {
        [&a, &b][n % 2].push("q", task(&format!("t{n}"))).await;
    }
    let push = Push { queue: name("q"), tasks: vec![b.spec("q", task("t5"))], keyed: None };
    let Pushed::Answers(answers) = b.0.push(push).await.unwrap() else { panic!("q exists") };
    assert!(answers[0].is_err(), "the queue is full on every node");
    let (on_a, on_b) = (a.take("q", 2, 60_000).await, b.take("q", 2, 60_000).await);
    assert_eq!((on_a.len(), on_b.len()), (2, 1));
    let mut wakes = b.0.wakeups();
    assert!(b.take("q", 1, 60_000).await.is_empty());
    a.commit(&on_a[0]).await.unwrap();
    hear(&mut wakes, ready("q")).await;
    assert_eq!(b.take("q", 9, 60_000).await.len(), 1);
}

#[tokio::test]
async fn a_foreign_message_makes_nodes_look_again() {
    let (server, a, b) = pair().await;
    a.push("q", task("t")).await;
    let mut wakes = b.0.wakeups();
    let heard: i64 = server.command("PUBLISH punctual:action:push anything");
    assert_eq!(heard, 2, "both nodes listen");
    hear(&mut wakes, ready("q")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_takers_get_the_same_task() {
    const TASKS: usize = 1_000;
    let (_server, a, b) = pair().await;
    for n in 0..TASKS {
        [&a, &b][n % 2].push("q", task(&format!("t{n}"))).await;
    }
    let mut takers = tokio::task::JoinSet::new();
    for n in 0..6 {
        let node = Node([&a, &b][n % 2].0.clone());
        takers.spawn(async move {
            let mut got = Vec::new();
            loop {
                let taken = node.take("q", 1 + n * 3, 600_000).await;
                if taken.is_empty() {
                    return got;
                }
                for stored in &taken {
                    node.commit(stored).await.unwrap();
                }
                got.extend(taken);
            }
        });
    }
    let (mut ids, mut tokens) = (BTreeSet::new(), BTreeSet::new());
    while let Some(got) = takers.join_next().await {
        for stored in got.unwrap() {
            assert!(ids.insert(stored.task.spec.id.clone()), "{} twice", stored.task.spec.id);
            assert!(tokens.insert(stored.task.status.hold.unwrap().token.to_string()));
        }
    }
    assert_eq!(ids.len(), TASKS);
    assert_eq!(a.live("q").await, 0);
}

/// A commit and the end of the hold race for every task, on different nodes: exactly one wins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_races_the_end_of_a_hold() {
    let (_server, a, b) = pair().await;
    a.put("q", |queue| queue.settings.keep.done = Span::from_secs(3_600)).await;
    let (mut committed, mut lost) = (0, 0);
    for round in 0..200 {
        let text = format!("t{round}");
        a.push("q", task(&text)).await;
        let held = a.take("q", 1, 60_000).await.remove(0);
        let (a, b, text) = (Node(a.0.clone()), Node(b.0.clone()), text.as_str());
        let holder = async { a.commit(&held).await.is_ok() };
        let sweeper = async {
            let change = b.change(&held, Event::HoldEnd).await;
            b.0.write_one(change.into()).await.unwrap().is_done()
        };
        let (has_committed, has_ended) = tokio::join!(holder, sweeper);
        assert!(has_committed ^ has_ended, "exactly one of them wins");
        let state = b.state("q", text).await;
        assert_eq!(state == Some(State::Done), has_committed, "{state:?}");
        committed += u32::from(has_committed);
        lost += u32::from(has_ended);
        a.0.remove(&name("q"), &[id(text)]).await.unwrap();
    }
    assert_eq!(committed + lost, 200);
}

#[tokio::test]
async fn an_idle_node_asks_nothing() {
    let (server, _a, _b) = pair().await;
    let calls = || {
        let info = server.info("commandstats");
        let line =
            info.lines().find(|line| line.starts_with("cmdstat_evalsha:")).unwrap().to_owned();
        line.split(['=', ',']).nth(1).unwrap().parse::<u64>().unwrap()
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = calls();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(calls(), before, "nothing is due, so nobody looks");
}
