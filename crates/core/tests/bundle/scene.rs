//! A world with one bundle, its payloads and the task that delivers it: what a store would keep.

use punctual_core::bundle::{
    Bundle, BundleKey, BundlePush, BundleRefusal, Delivering, Get, Overwrite, Pushed, Sent,
};
use punctual_core::http::{Delivery, Exchange, Lapse, Method, Verdict};
use punctual_core::owner::{Around, matters};
use punctual_core::queue::Mode;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::{Context, Edit, Grant, Settlement};
use punctual_core::{
    Event, Fate, Owner, OwnerDecision, Patch, Queue, QueueName, RawJson, Refusal, RetryPolicy,
    Seed, Settings, Span, Spec, State, Task, TaskId, Timestamp,
};

/// The time at which every story begins.
pub(crate) fn start() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

pub(crate) fn after(secs: i64) -> Timestamp {
    start() + Span::from_secs(secs)
}

pub(crate) fn key() -> BundleKey {
    BundleKey::parse("k").unwrap()
}

pub(crate) struct World {
    pub(crate) queue: Queue,
    pub(crate) now: Timestamp,
    pub(crate) bundle: Option<Box<Bundle>>,
    /// The payloads of the bundle.
    pub(crate) items: Vec<u64>,
    pub(crate) task: Option<Task>,
    /// What the attempt under way carries.
    pub(crate) carried: Option<Sent>,
    /// Payloads ever pushed.
    pub(crate) pushed: u64,
    /// Payloads delivered or completed, in that order.
    pub(crate) delivered: Vec<u64>,
    pub(crate) made: u64,
}

/// A push with nothing said.
pub(crate) fn plain() -> BundlePush {
    BundlePush::default()
}

pub(crate) fn at(secs: i64) -> BundlePush {
    BundlePush { ontime: Some(after(secs)), ..plain() }
}

pub(crate) fn always(secs: i64) -> BundlePush {
    BundlePush { overwrite: Overwrite::Always, ..at(secs) }
}

impl World {
    fn new(mode: Mode) -> Self {
        let settings = Settings {
            mode,
            url: Some("http://example.com/".to_owned()),
            retry: RetryPolicy::Intervals(vec![Span::from_secs(10), Span::from_secs(20)]),
            max_attempts: MaxAttempts::new(2).unwrap(),
            ..Settings::default()
        };
        let name = QueueName::parse("q").unwrap();
        let queue = Queue { name, settings, paused: false, created_at: start() };
        Self {
            queue,
            now: start(),
            bundle: None,
            items: Vec::new(),
            task: None,
            carried: None,
            pushed: 0,
            delivered: Vec::new(),
            made: 0,
        }
    }

    /// Workers take its bundle.
    pub(crate) fn worked() -> Self {
        Self::new(Mode::Pull)
    }

    /// The server delivers its bundle.
    pub(crate) fn delivered() -> Self {
        Self::new(Mode::Http)
    }

    pub(crate) fn pass(&mut self, secs: i64) {
        self.now = self.now + Span::from_secs(secs);
    }

    pub(crate) fn bundle(&self) -> &Bundle {
        self.bundle.as_ref().expect("there is a bundle")
    }

    pub(crate) fn due(&self) -> Timestamp {
        self.bundle().due_at
    }

    pub(crate) fn state(&self) -> &'static str {
        self.bundle().state_name(self.now)
    }

    fn next_id(&mut self) -> TaskId {
        self.made += 1;
        TaskId::parse(&format!("t{}", self.made)).unwrap()
    }

    fn spawn(&mut self, spec: Spec) {
        self.task = Some(Task::new(spec, self.now));
    }

    /// Pushes one payload, and does what the engine would do with its task.
    pub(crate) fn push(&mut self, push: BundlePush) {
        let is_http = self.queue.settings.mode == Mode::Http;
        let status = self.task.as_ref().map(|task| &*task.status);
        let delivering = is_http.then(|| Delivering::of(status));
        let before = self.bundle.take();
        let Pushed { mut bundle, drop_first, deliver_at } =
            push.apply(&self.queue, &key(), before, delivering, self.now).unwrap();
        match (delivering, deliver_at) {
            (Some(Delivering::Not), at) => {
                assert!(at.is_some());
                let id = self.next_id();
                let spec = bundle.deliver_by(id, self.now);
                self.spawn(spec);
            }
            (Some(_), Some(at)) => {
                let edit = Edit { due: Patch::Set(at), ..Edit::default() };
                let task = self.task.as_ref().unwrap();
                let decision = task.decide(Event::Edit(edit), &self.context(&task.spec.id));
                self.task = Some(decision.unwrap().task);
            }
            _ => {}
        }
        self.items.drain(..drop_first as usize);
        self.pushed += 1;
        self.items.push(self.pushed);
        self.bundle = Some(bundle);
    }

    fn context<'a>(&'a self, id: &'a TaskId) -> Context<'a> {
        Context { now: self.now, queue: &self.queue.settings, roll: 0.5, callback_id: id }
    }

    /// The task that delivers is taken, and carries so many payloads at most.
    pub(crate) fn take(&mut self, number_max: u64) {
        let task = self.task.as_mut().unwrap();
        assert_eq!(task.status.state_at(self.now), State::Ready, "it is due");
        task.status.state = State::Ready;
        let (token, hold) = (Seed::new(7).token(0), Span::from_secs(30));
        let grant = Grant {
            token,
            worker: None,
            now: self.now,
            hold,
            confirm_within: None,
            max_runtime: None,
        };
        task.status.take(grant);
        let had = self.items.len() as u64;
        self.carried = Some(Sent { number: had.min(number_max), had });
    }

    /// The attempt under way ends with an answer.
    pub(crate) fn answered(&mut self, status: u16) -> Result<(), Refusal> {
        let verdict = match status {
            200 => Verdict::Accepted { result: RawJson::null() },
            _ => Verdict::failed(status.to_string()),
        };
        let exchange = Exchange {
            method: Method::Post,
            url: String::new(),
            address: None,
            redirects: 0,
            sent_bytes: 0,
            dns: None,
            connect: None,
            tls: None,
            first_byte: None,
            total: Lapse::default(),
            answer_bytes: 0,
            answer: None,
        };
        let sent = self.carried.take();
        let delivery = Delivery { exchange, status: Some(status), verdict, sent };
        self.settle(Settlement::Delivered(Box::new(delivery)))
    }

    pub(crate) fn settle(&mut self, settlement: Settlement) -> Result<(), Refusal> {
        self.happen(Event::Settle { token: Seed::new(7).token(0), settlement })
    }

    /// Lets something happen to the task, and to the bundle with it.
    pub(crate) fn happen(&mut self, event: Event) -> Result<(), Refusal> {
        let before = self.task.clone().expect("there is a task");
        let next_id = self.next_id();
        let mut decision = before.decide(event.clone(), &self.context(&next_id))?;
        let around = Around { now: self.now, queue: &self.queue.settings, next_id: &next_id };
        let owner = self.bundle.clone().map(Owner::Bundle).filter(|_| matters(&before, &decision));
        let after = match owner {
            Some(owner) => owner.after(&event, &mut decision, &around)?,
            None => None,
        };
        let is_gone = matches!(decision.fate, Fate::Remove | Fate::Reserve(_));
        self.task = (!is_gone).then_some(decision.task);
        if let Some(after) = after {
            self.become_of(after);
        }
        Ok(())
    }

    fn become_of(&mut self, decision: OwnerDecision) {
        let OwnerDecision { owner, drop_first, append, spawn } = decision;
        assert!(append.is_empty());
        self.bundle = match owner {
            Some(Owner::Bundle(bundle)) => Some(bundle),
            Some(_) => panic!("a bundle stays a bundle"),
            None => None,
        };
        let gone = if self.bundle.is_none() { self.items.len() } else { drop_first as usize };
        self.delivered.extend(self.items.drain(..gone));
        for spec in spawn {
            self.spawn(spec);
        }
    }

    fn lapse(&mut self) -> bool {
        let Some(bundle) = self.bundle.take() else { return false };
        self.bundle = bundle.lapsed(&self.queue.settings, self.now);
        self.bundle.is_some()
    }

    /// Asks for a due bundle. True: this one is.
    pub(crate) fn schedule(&mut self) -> bool {
        let due = self.bundle.clone().map(Owner::Bundle).and_then(|owner| owner.due_at());
        let is_due = due.is_some_and(|at| at <= self.now);
        if is_due && self.lapse() {
            self.bundle.as_mut().unwrap().start(&self.queue.settings, self.now);
        }
        is_due
    }

    pub(crate) fn get(
        &mut self,
        random: &str,
        number: Option<u64>,
    ) -> Result<Vec<u64>, BundleRefusal> {
        assert!(self.lapse());
        let get = Get { number, timeout: Span::from_secs(30), random: random.to_owned() };
        let bundle = self.bundle.as_mut().unwrap();
        let got = bundle.get(&get, self.items.len() as u64, self.now)?;
        Ok(self.items[..got as usize].to_vec())
    }

    pub(crate) fn complete(
        &mut self,
        random: &str,
        number: Option<u64>,
    ) -> Result<u64, BundleRefusal> {
        assert!(self.lapse());
        let bundle = self.bundle.clone().unwrap();
        let (number, left) = bundle.complete(number, random, self.now)?;
        self.bundle = left;
        self.delivered.extend(self.items.drain(..number as usize));
        Ok(self.items.len() as u64)
    }

    pub(crate) fn release(
        &mut self,
        random: &str,
        ontime: Option<Timestamp>,
    ) -> Result<(), BundleRefusal> {
        assert!(self.lapse());
        let now = self.now;
        self.bundle.as_mut().unwrap().release(random, ontime, now)
    }

    /// What must hold whatever happened.
    pub(crate) fn check(&self) {
        let all: Vec<u64> = self.delivered.iter().chain(&self.items).copied().collect();
        assert_eq!(all, (1..=self.pushed).collect::<Vec<_>>(), "delivered and waiting, in order");
        assert_eq!(self.bundle.as_ref().map_or(0, |bundle| bundle.size), self.items.len() as u64);
        let Some(bundle) = &self.bundle else {
            assert!(self.task.as_ref().is_none_or(|task| task.status.state.is_finished()));
            return;
        };
        if self.queue.settings.mode == Mode::Http && bundle.state_name(self.now) != "failed" {
            let task = self.task.as_ref().expect("a task delivers it");
            assert_eq!(bundle.task.as_ref(), Some(&task.spec.id));
            assert!(!task.status.state.is_finished());
            if !task.status.state.is_held() {
                assert_eq!(task.due_at(), bundle.due_at);
                assert_eq!(bundle.later, None);
            }
        }
    }
}
