//! A store under test with a clock that stands still, and short ways to say what happens to it.

use std::sync::Arc;

use punctual_core::http::{Delivery, Exchange, Lapse, Method, Verdict};
use punctual_core::queue::Keep;
use punctual_core::task::{Acknowledgement, Context, Decision, Event, Grant, Settlement};
use punctual_core::{
    Fate, NewTask, Queue, QueueName, RawJson, Refusal, Seed, Settings, Span, Spec, State, TaskId,
    Timestamp, Token, WorkerName,
};

use super::Subject;
use crate::clock::ManualClock;
use crate::port::{
    Change, Classes, Lost, Push, PushRefusal, Pushed, PutQueue, PutRefusal, QueueStats, Revision,
    Store, Stored, Take, Taken, Taker,
};

/// How long finished tasks are kept in the queues of the checks.
pub(super) const KEEP: Span = Span::from_secs(3_600);
/// How long a task that shall be waiting is delayed.
pub(super) const DELAY: Span = Span::from_secs(600);

/// A store under test.
pub struct Fixture {
    subject: Box<dyn Subject>,
    /// The clock the store goes by.
    pub clock: ManualClock,
    seeds: u128,
}

pub(super) fn queue(name: &str) -> QueueName {
    QueueName::parse(name).expect("a name in a check is well formed")
}

pub(super) fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("an id in a check is well formed")
}

pub(super) fn worker(name: &str) -> WorkerName {
    WorkerName::parse(name).expect("a name in a check is well formed")
}

pub(super) fn json(text: &str) -> RawJson {
    RawJson::parse(text).expect("the JSON in a check is well formed")
}

/// A task to push, with only an id.
pub(super) fn task(text: &str) -> NewTask {
    NewTask { id: Some(id(text)), ..NewTask::default() }
}

/// The ids of tasks, for comparison.
pub(super) fn ids(tasks: &[Stored]) -> Vec<&str> {
    tasks.iter().map(|stored| stored.task.spec.id.as_str()).collect()
}

/// A request to take `n` tasks.
pub(super) fn taker(seed: Seed, n: usize) -> Taker {
    Taker { seed, worker: None, n, hold: None, confirm: false, capacity: None }
}

/// A decision that gives a ready task to a worker.
pub(super) fn assigned(stored: Stored, worker: WorkerName, token: Token, now: Timestamp) -> Change {
    let Stored { mut task, revision } = stored;
    task.status.state = State::Ready;
    let (hold, within) = (Span::from_secs(60), Span::from_secs(5));
    let worker = Some(worker);
    task.status.take(Grant {
        token,
        worker,
        now,
        hold,
        confirm_within: Some(within),
        max_runtime: None,
    });
    let decision = task.kept(Fate::Keep);
    Change { expected: revision, decision }
}

pub(super) fn token(stored: &Stored) -> Token {
    stored.task.status.hold.expect("a task that was taken is held").token
}

impl Fixture {
    pub(super) fn new(subject: Box<dyn Subject>, clock: ManualClock) -> Self {
        Self { subject, clock, seeds: 0 }
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        self.subject.store()
    }

    pub(super) async fn restart(&mut self) -> bool {
        self.subject.restart().await
    }

    pub(super) fn has_one_clock(&self) -> bool {
        self.subject.has_one_clock()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.store().now()
    }

    /// Lets time pass and the store notice.
    pub(super) async fn advance(&self, span: Span) {
        self.clock.advance(span);
        self.tick().await;
    }

    pub(super) async fn tick(&self) {
        self.store().tick().await.expect("the store looks at its clock");
    }

    /// A seed whose tokens nobody else gets.
    pub(super) fn seed(&mut self) -> Seed {
        self.seeds += 1;
        Seed::new(self.seeds << 64)
    }

    /// Creates or changes a queue. A new one keeps its finished tasks.
    pub(super) async fn put_queue(&self, name: &str, change: impl FnOnce(&mut Queue)) {
        let name = queue(name);
        let before = self.store().queue(&name).await.expect("the queue is read");
        let mut after = before.as_deref().cloned().unwrap_or_else(|| self.new_queue(&name));
        change(&mut after);
        let put = self.try_put(before, after).await;
        assert_eq!(put, Ok(()), "the queue is stored");
    }

    pub(super) fn new_queue(&self, name: &QueueName) -> Queue {
        let keep = Keep { done: KEEP, failed: KEEP, cancelled: KEEP };
        let settings = Settings { keep, ..Settings::default() };
        Queue { name: name.clone(), settings, paused: false, created_at: self.now() }
    }

    pub(super) async fn try_put(
        &self,
        before: Option<Arc<Queue>>,
        queue: Queue,
    ) -> Result<(), PutRefusal> {
        self.store().put_queue(PutQueue { queue, before }).await.expect("the store answers")
    }

    pub(super) async fn queue(&self, name: &str) -> Option<Arc<Queue>> {
        self.store().queue(&queue(name)).await.expect("the queue is read")
    }

    pub(super) async fn stats(&self, name: &str) -> Option<QueueStats> {
        self.store().stats(&[queue(name)]).await.expect("the queue is counted")[0]
    }

    /// Tasks of a queue in one state, by its statistics.
    pub(super) async fn count(&self, name: &str, state: State) -> u64 {
        self.stats(name).await.expect("the queue exists").count(state)
    }

    pub(super) fn spec(&self, queue_name: &str, new: NewTask) -> Arc<Spec> {
        Arc::new(Spec::new(queue(queue_name), new, id("unnamed"), self.now()))
    }

    pub(super) async fn try_push(
        &self,
        queue_name: &str,
        tasks: Vec<NewTask>,
    ) -> Vec<Result<Revision, PushRefusal>> {
        let tasks = tasks.into_iter().map(|new| self.spec(queue_name, new)).collect();
        let push = Push { queue: queue(queue_name), tasks, keyed: None };
        match self.store().push(push).await.expect("the store answers") {
            Pushed::Answers(answers) => answers,
            other => panic!("the push into {queue_name} was answered with {other:?}"),
        }
    }

    pub(super) async fn push(&self, queue_name: &str, new: NewTask) -> Revision {
        self.try_push(queue_name, vec![new]).await[0].expect("the task is pushed")
    }

    pub(super) async fn read(&self, queue_name: &str, task_id: &str) -> Option<Stored> {
        let ids = [id(task_id)];
        let read = self.store().read(&queue(queue_name), &ids).await.expect("the task is read");
        read.into_iter().next().expect("one answer per id")
    }

    /// Reads a task that must be there.
    pub(super) async fn get(&self, queue_name: &str, task_id: &str) -> Stored {
        let read = self.read(queue_name, task_id).await;
        read.unwrap_or_else(|| panic!("{queue_name}/{task_id} is gone"))
    }

    pub(super) async fn state(&self, queue_name: &str, task_id: &str) -> Option<State> {
        let stored = self.read(queue_name, task_id).await?;
        Some(stored.task.status.state_at(self.now()))
    }

    pub(super) async fn try_take(&self, queue_name: &str, takers: Vec<Taker>) -> Taken {
        let take = Take { queue: queue(queue_name), classes: Classes::all(), takers };
        self.store().take(take).await.expect("the store answers")
    }

    /// What one taker gets, and when the rate limit lets more go.
    pub(super) async fn take_by(
        &self,
        queue_name: &str,
        taker: Taker,
    ) -> (Vec<Stored>, Option<Timestamp>) {
        match self.try_take(queue_name, vec![taker]).await {
            Taken::Tasks { mut per_taker, again_at, .. } if per_taker.len() == 1 => {
                (per_taker.remove(0), again_at)
            }
            other => panic!("the take from {queue_name} was answered with {other:?}"),
        }
    }

    pub(super) async fn take(&mut self, queue_name: &str, n: usize) -> Vec<Stored> {
        let taker = taker(self.seed(), n);
        self.take_by(queue_name, taker).await.0
    }

    /// Takes the only ready task.
    pub(super) async fn take_one(&mut self, queue_name: &str) -> Stored {
        let mut taken = self.take(queue_name, 2).await;
        assert_eq!(taken.len(), 1, "one task of {queue_name} is ready");
        taken.remove(0)
    }

    /// What `core` decides about a task that was read.
    pub(super) async fn decide(&self, stored: &Stored, event: Event) -> Result<Decision, Refusal> {
        let name = &stored.task.spec.queue;
        let queue = self.store().queue(name).await.expect("the queue is read");
        let queue = queue.expect("the queue of the task exists");
        let context = Context {
            now: self.now(),
            queue: &queue.settings,
            roll: 0.5,
            callback_id: &id("called-back"),
        };
        stored.task.decide(event, &context)
    }

    pub(super) async fn try_commit(
        &self,
        expected: Revision,
        decision: Decision,
    ) -> Result<Revision, Lost> {
        let change = Change { expected, decision };
        self.store().write_one(change.into()).await.expect("the store answers").task()
    }

    /// Lets something happen to a task: read, decide, commit.
    pub(super) async fn happen(&self, queue_name: &str, task_id: &str, event: Event) {
        let stored = self.get(queue_name, task_id).await;
        let decision = self.decide(&stored, event).await.expect("the verb applies");
        self.try_commit(stored.revision, decision).await.expect("nobody else changes the task");
    }

    pub(super) async fn settle(&self, stored: &Stored, settlement: Settlement) {
        let spec = &stored.task.spec;
        let event = Event::Settle { token: token(stored), settlement };
        self.happen(spec.queue.as_str(), spec.id.as_str(), event).await;
    }

    /// Pushes a task and brings it into a state. Nothing else may be ready in its queue.
    pub(super) async fn bring(&mut self, queue_name: &str, new: NewTask, state: State) -> Stored {
        let task_id = new.id.clone().expect("a task that is brought into a state has an id");
        let task_id = task_id.as_str();
        let delay = (state == State::Waiting).then_some(DELAY);
        self.push(queue_name, NewTask { delay: delay.or(new.delay), ..new }).await;
        match state {
            State::Waiting | State::Ready => {}
            State::Paused => self.happen(queue_name, task_id, Event::Pause).await,
            State::Assigned => {
                let taker = Taker { confirm: true, ..taker(self.seed(), 1) };
                assert_eq!(self.take_by(queue_name, taker).await.0.len(), 1);
            }
            _ => {
                let held = self.take_one(queue_name).await;
                assert_eq!(held.task.spec.id.as_str(), task_id);
                self.bring_held(&held, state).await;
            }
        }
        let stored = self.get(queue_name, task_id).await;
        assert_eq!(stored.task.status.state, state, "{task_id} was to be {state}");
        stored
    }

    async fn bring_held(&self, held: &Stored, state: State) {
        let (queue_name, task_id) = (held.task.spec.queue.as_str(), held.task.spec.id.as_str());
        match state {
            State::Pausing => self.happen(queue_name, task_id, Event::Pause).await,
            State::Cancelling => self.happen(queue_name, task_id, Event::Cancel).await,
            State::Done => self.settle(held, Settlement::Commit { result: None }).await,
            State::Failed => self.settle(held, fail_for_good()).await,
            State::Cancelled => {
                self.happen(queue_name, task_id, Event::Cancel).await;
                self.settle(held, Settlement::Cancelled(Acknowledgement::default())).await;
            }
            _ => {}
        }
    }

    /// A queue of the name of each state, with one task in that state, named like it.
    pub(super) async fn one_in_every_state(&mut self) {
        for state in State::ALL {
            self.put_queue(state.name(), |_| ()).await;
            self.bring(state.name(), task(state.name()), state).await;
        }
    }
}

pub(super) fn commit() -> Settlement {
    Settlement::Commit { result: None }
}

/// An attempt to deliver.
pub(super) fn delivered(verdict: Verdict) -> Settlement {
    let exchange = Exchange {
        method: Method::Post,
        url: "http://example.com/".to_owned(),
        address: None,
        redirects: 0,
        sent_bytes: 1,
        dns: None,
        connect: None,
        tls: None,
        first_byte: None,
        total: Lapse::default(),
        answer_bytes: 0,
        answer: None,
    };
    Settlement::Delivered(Box::new(Delivery { exchange, status: Some(200), verdict, sent: None }))
}

pub(super) fn fail_for_good() -> Settlement {
    Settlement::Fail { error: None, retry_in: None, permanent: true }
}

pub(super) fn release() -> Settlement {
    Settlement::Release { delay: None, checkpoint: None }
}
