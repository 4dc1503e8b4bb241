//! A store and the model, and every step carried out on both.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;
use punctual_core::queue::Mode;
use punctual_core::task::{Context, Event};
use punctual_core::{
    OwnerKey, OwnerRef, PlanId, Queue, QueueName, Seed, Settings, Spec, State, Task, TaskId,
    Timestamp, Token,
};

use super::check::as_it_reads;
use super::owners::OwnerReading;
use super::steps::{DISPATCHED, IDS, Occurrence, Pushable, QUEUES, Served, Step, WORKERS, Wish};
use crate::clock::ManualClock;
use crate::conformance::Subject;
use crate::conformance::fixture::{assigned, id, json, queue, worker};
use crate::model::ModelStore;
use crate::port::{
    Change, Keyed, KeyedItem, Push, Pushed, PutQueue, Store, StoreError, Stored, Take, Taken, Taker,
};

/// The outcome of a step: the two agree, or what tells them apart.
pub(super) type Outcome = Result<(), TestCaseError>;

/// A store and the model.
pub(super) struct Pair {
    pub(super) model: Arc<ModelStore>,
    subject: Box<dyn Subject>,
    clock: ManualClock,
    pub(super) steps: u128,
    /// Every token that was handed out, in order, and the task it was for.
    pub(super) tokens: Vec<(Token, QueueName, TaskId)>,
    /// Every id that a task was ever given, by queue.
    pub(super) names: BTreeSet<(QueueName, TaskId)>,
    /// Tasks as the model and the store read at the ends of earlier steps.
    readings: Vec<(Stored, Stored)>,
    /// Owners as they read when they were last to be changed.
    pub(super) owners: HashMap<OwnerKey, OwnerReading>,
}

/// A store that cannot answer is a difference, too.
pub(super) fn answered<T>(answer: Result<T, StoreError>) -> Result<T, TestCaseError> {
    answer.map_err(|error| TestCaseError::fail(error.to_string()))
}

impl Pair {
    pub(super) fn new(subject: Box<dyn Subject>, clock: ManualClock) -> Self {
        let model = Arc::new(ModelStore::new(Arc::new(clock.clone())));
        Self {
            model,
            subject,
            clock,
            steps: 0,
            tokens: Vec::new(),
            names: BTreeSet::new(),
            readings: Vec::new(),
            owners: HashMap::new(),
        }
    }

    pub(super) fn subject(&self) -> Arc<dyn Store> {
        self.subject.store()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.model.now()
    }

    /// Carries out a sequence, and compares after every step.
    pub(super) async fn run(mut self, sequence: &[Step]) -> Outcome {
        // Every sequence begins with queues to push to; the second comes and goes.
        for name in [QUEUES[0], DISPATCHED[0], DISPATCHED[1]] {
            self.put_queue(name, Settings::default(), false).await?;
        }
        for step in sequence {
            self.steps += 1;
            let before = self.finished().await?;
            self.step(step).await?;
            self.compare().await?;
            self.finished_stay(step, &before).await?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Push { queue, tasks, key } => self.push(QUEUES[*queue], tasks, *key).await,
            Step::Take { queue, served, takers } => {
                self.take(QUEUES[*queue], *served, takers).await
            }
            Step::Happen { task, occurrences } => self.happen(*task, occurrences).await,
            Step::Assign { task, worker } => self.assign(*task, WORKERS[*worker]).await,
            Step::Late { reading, occurrence } => self.late(*reading, occurrence).await,
            Step::Owners(step) => self.step_owners(step).await,
            Step::Remove { queue, ids } => self.remove(QUEUES[*queue], ids).await,
            Step::PutQueue { queue, settings, paused } => {
                self.put_queue(QUEUES[*queue], Settings::clone(settings), *paused).await
            }
            Step::ResetQueue { queue: place } => {
                let name = queue(QUEUES[*place]);
                let model = answered(self.model.reset_queue(&name).await)?;
                prop_assert_eq!(answered(self.subject().reset_queue(&name).await)?, model);
                Ok(())
            }
            Step::DeleteQueue { queue: place } => {
                let name = queue(QUEUES[*place]);
                let model = answered(self.model.delete_queue(&name).await)?;
                prop_assert_eq!(answered(self.subject().delete_queue(&name).await)?, model);
                Ok(())
            }
            Step::Advance { ms } => {
                self.clock.advance(punctual_core::Span::from_millis(*ms));
                self.tick().await
            }
            Step::SetWall { ms } => {
                let span = punctual_core::Span::from_millis(*ms);
                if self.subject.has_one_clock() {
                    self.clock.advance(span);
                } else {
                    self.clock.set_wall(self.now() + span);
                }
                self.tick().await
            }
            Step::Expire => self.expire().await,
            Step::Sweep { limit } => self.sweep(*limit).await,
            Step::Restart => {
                let (moves, has_one_clock) = (self.subject.moves(), self.subject.has_one_clock());
                if self.subject.restart().await && (moves || !has_one_clock) {
                    self.model.restart();
                }
                if moves {
                    self.readings.clear();
                    self.owners.clear();
                }
                Ok(())
            }
        }
    }

    async fn tick(&self) -> Outcome {
        answered(self.model.tick().await)?;
        answered(self.subject().tick().await)
    }

    async fn put_queue(&self, name: &str, mut settings: Settings, paused: bool) -> Outcome {
        if DISPATCHED.contains(&name) {
            settings.mode = Mode::Dispatch;
        }
        let name = queue(name);
        let before = answered(self.model.queue(&name).await)?;
        prop_assert_eq!(&answered(self.subject().queue(&name).await)?, &before);
        let created_at = before.as_ref().map_or(self.now(), |queue| queue.created_at);
        let put = PutQueue { queue: Queue { name, settings, paused, created_at }, before };
        let model = answered(self.model.put_queue(put.clone()).await)?;
        prop_assert_eq!(answered(self.subject().put_queue(put).await)?, model);
        Ok(())
    }

    async fn push(&mut self, name: &str, tasks: &[Pushable], key: Option<u8>) -> Outcome {
        let name = queue(name);
        let now = self.now();
        let specs = tasks.iter().map(|pushable| {
            let owner = pushable.owned.then(|| OwnerRef::Plan {
                id: PlanId::parse("daily").expect("well formed"),
                reads: json("{}"),
            });
            let spec = Spec::new(name.clone(), pushable.at(now), id("unnamed"), now);
            Arc::new(Spec { owner, ..spec })
        });
        let specs: Vec<_> = specs.collect();
        self.names.extend(specs.iter().map(|spec| (name.clone(), spec.id.clone())));
        let place = QUEUES.iter().position(|queue| *queue == name.as_str()).unwrap_or(0) as u128;
        let keyed = key.map(|key| {
            let item = |spec: &Arc<Spec>| KeyedItem { id: Some(spec.id.clone()), code: None };
            Keyed {
                // A key is one of its path, and so of its queue.
                key: (place << 8) | u128::from(key),
                request: tasks.len() as u128,
                status: if tasks.len() == 1 { 201 } else { 200 },
                single: tasks.len() == 1,
                items: specs.iter().map(item).collect(),
                positions: (0..specs.len()).collect(),
            }
        });
        let push = Push { queue: name, tasks: specs, keyed };
        let model = answered(self.model.push(push.clone()).await)?;
        let subject = answered(self.subject().push(push).await)?;
        match (model, subject) {
            (Pushed::Answers(model), Pushed::Answers(subject)) => {
                let plain = |answers: Vec<Result<_, _>>| -> Vec<_> {
                    answers.into_iter().map(Result::err).collect()
                };
                prop_assert_eq!(plain(subject), plain(model));
            }
            (model, subject) => prop_assert_eq!(subject, model),
        }
        Ok(())
    }

    async fn take(&mut self, name: &str, served: Served, wishes: &[Wish]) -> Outcome {
        let takers = wishes.iter().enumerate().map(|(place, wish)| Taker {
            seed: Seed::new((self.steps << 64) + ((place as u128) << 32)),
            worker: wish.worker.map(|place| worker(WORKERS[place])),
            n: wish.n,
            hold: wish.hold,
            confirm: wish.confirm,
            capacity: wish.capacity,
        });
        let classes = served.classes();
        let take = Take { queue: queue(name), classes, takers: takers.collect() };
        let model = answered(self.model.take(take.clone()).await)?;
        let subject = answered(self.subject().take(take).await)?;
        let (model, model_again_at, model_left_out) = tasks_of(model);
        let (subject, again_at, left_out) = tasks_of(subject);
        prop_assert_eq!(&subject, &model, "what was handed out");
        prop_assert_eq!(again_at, model_again_at, "when the rate lets the next go");
        prop_assert_eq!(left_out, model_left_out, "what there was no room for");
        for task in subject.into_iter().flatten().flatten() {
            self.handed_out(&task)?;
        }
        Ok(())
    }

    /// What `core` decides about a task that was read.
    pub(super) fn decision(
        &self,
        stored: &Stored,
        occurrence: &Occurrence,
        settings: &Settings,
    ) -> Option<Change> {
        let former: Vec<_> = self.tokens.iter().map(|(token, ..)| *token).collect();
        let holders = stored.task.status.hold.map(|hold| hold.token);
        self.change(stored, occurrence.event(holders, &former), settings)
    }

    fn change(&self, stored: &Stored, event: Event, settings: &Settings) -> Option<Change> {
        let callback_id = id(&format!("made-{}", self.steps));
        let context =
            Context { now: self.now(), queue: settings, roll: 0.5, callback_id: &callback_id };
        let decision = stored.task.decide(event, &context).ok()?;
        Some(Change { expected: stored.revision, decision })
    }

    pub(super) async fn settings(&self, name: &QueueName) -> Result<Settings, TestCaseError> {
        let queue = answered(self.model.queue(name).await)?;
        Ok(queue.map_or_else(Settings::default, |queue| queue.settings.clone()))
    }

    /// Commits the same decisions on both, each with its own versions.
    async fn commit(&mut self, model: Vec<Change>, subject: Vec<Change>) -> Outcome {
        for change in &model {
            let made = change.decision.spawn.iter();
            self.names.extend(made.map(|spec| (spec.queue.clone(), spec.id.clone())));
        }
        let model = committed(&*self.model, model).await?;
        let subject = committed(&*self.subject(), subject).await?;
        prop_assert_eq!(subject, model, "which commits took effect");
        Ok(())
    }

    /// One of the tasks there are, as both read it.
    async fn one_of_all(&self, place: usize) -> Result<Option<(Stored, Stored)>, TestCaseError> {
        let mut all = Vec::new();
        for (name, id) in &self.names {
            all.extend(self.both(name, id).await?);
        }
        let count = all.len().max(1);
        Ok(all.into_iter().nth(place % count))
    }

    /// Gives a ready task to a worker by a decision, not by a take.
    async fn assign(&mut self, place: usize, name: &str) -> Outcome {
        let Some((model, subject)) = self.one_of_all(place).await? else { return Ok(()) };
        if model.task.status.state_at(self.now()) != State::Ready {
            return Ok(());
        }
        let token = Seed::new(self.steps << 64).token(0);
        let now = self.now();
        let changes = |stored: Stored| vec![assigned(stored, worker(name), token, now)];
        let (for_model, for_subject) = (changes(model), changes(subject));
        self.handed_out(&for_model[0].decision.task)?;
        self.commit(for_model, for_subject).await
    }

    async fn happen(&mut self, place: usize, occurrences: &[Occurrence]) -> Outcome {
        let Some((model, subject)) = self.one_of_all(place).await? else { return Ok(()) };
        let settings = self.settings(&model.task.spec.queue).await?;
        let changes = |stored: &Stored| -> Vec<Change> {
            occurrences.iter().filter_map(|o| self.decision(stored, o, &settings)).collect()
        };
        let (for_model, for_subject) = (changes(&model), changes(&subject));
        self.readings.push((model, subject));
        self.commit(for_model, for_subject).await
    }

    async fn late(&mut self, reading: usize, occurrence: &Occurrence) -> Outcome {
        let Some((model, subject)) = self.readings.get(reading % self.readings.len().max(1)) else {
            return Ok(());
        };
        let settings = self.settings(&model.task.spec.queue).await?;
        let for_model = self.decision(model, occurrence, &settings).into_iter().collect();
        let for_subject = self.decision(subject, occurrence, &settings).into_iter().collect();
        self.commit(for_model, for_subject).await
    }

    /// One task as both read it.
    pub(super) async fn both(
        &self,
        name: &QueueName,
        id: &TaskId,
    ) -> Result<Option<(Stored, Stored)>, TestCaseError> {
        let ids = [id.clone()];
        let model = answered(self.model.read(name, &ids).await)?.remove(0);
        let subject = answered(self.subject().read(name, &ids).await)?.remove(0);
        let now = self.now();
        let task = |stored: &Option<Stored>| stored.as_ref().map(|stored| as_it_reads(stored, now));
        prop_assert_eq!(task(&subject), task(&model), "{}/{} as it reads", name, id);
        Ok(model.zip(subject))
    }

    async fn remove(&mut self, name: &str, ids: &[usize]) -> Outcome {
        let name = queue(name);
        let ids: Vec<_> = ids.iter().map(|place| id(IDS[*place])).collect();
        let model = answered(self.model.remove(&name, &ids).await)?;
        prop_assert_eq!(answered(self.subject().remove(&name, &ids).await)?, model);
        Ok(())
    }

    async fn expire(&mut self) -> Outcome {
        // What was not confirmed in time may turn out not to have been started in time either.
        while self.expire_once().await? {}
        let left = answered(self.subject().expired(usize::MAX).await)?;
        prop_assert_eq!(left.len(), 0, "every one was decided about");
        Ok(())
    }

    /// Decides once about each task whose time is over; false if there was none.
    async fn expire_once(&mut self) -> Result<bool, TestCaseError> {
        let expired = answered(self.model.expired(usize::MAX).await)?;
        let is_any = !expired.is_empty();
        for stored in expired {
            let (name, id) = (stored.task.spec.queue.clone(), stored.task.spec.id.clone());
            let Some((model, subject)) = self.both(&name, &id).await? else {
                continue;
            };
            let settings = self.settings(&name).await?;
            let held = stored.task.status.state.is_held();
            let event = if held { Event::HoldEnd } else { Event::Expire };
            let for_model = self.change(&model, event.clone(), &settings).into_iter().collect();
            let for_subject = self.change(&subject, event, &settings).into_iter().collect();
            self.commit(for_model, for_subject).await?;
        }
        Ok(is_any)
    }

    async fn sweep(&self, limit: usize) -> Outcome {
        // How much one call removes is the store's choice; what is left in the end is not.
        while answered(self.model.sweep(limit).await)? {}
        while answered(self.subject().sweep(limit).await)? {}
        Ok(())
    }
}

/// What was handed out, for comparison: the tasks each taker got, without their versions; none if
/// there is no such queue.
type Handed = (Option<Vec<Vec<Task>>>, Option<Timestamp>, BTreeSet<Arc<str>>);

fn tasks_of(taken: Taken) -> Handed {
    let Taken::Tasks { per_taker, again_at, left_out } = taken else {
        return (None, None, BTreeSet::new());
    };
    let plain = |got: Vec<Stored>| got.into_iter().map(|stored| stored.task).collect();
    (Some(per_taker.into_iter().map(plain).collect()), again_at, left_out.into_iter().collect())
}

/// Carries out decisions, and says which took effect.
async fn committed(store: &dyn Store, changes: Vec<Change>) -> Result<Vec<bool>, TestCaseError> {
    let answers = store.write(changes.into_iter().map(Into::into).collect()).await;
    answers.into_iter().map(|answer| Ok(answered(answer)?.is_done())).collect()
}
