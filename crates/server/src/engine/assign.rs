//! Assignments that somebody asks for, and who there is to be given tasks.

use punctual_core::queue::Mode;
use punctual_core::why::Staff;
use punctual_core::worker::WorkerState;
use punctual_core::{Event, Queue, QueueName, State, Task, TaskId, Worker, WorkerName};
use punctual_store::StoreError;
use tokio::sync::MutexGuard;

use super::apply::{Ask, Outcome};
use super::{Engine, Failure, random};

impl Engine {
    /// Waits until nobody else of this node assigns tasks.
    pub(crate) async fn assign_alone(&self) -> MutexGuard<'_, ()> {
        self.assigning.lock().await
    }

    /// Assigns a ready task to a worker, also one of a paused queue.
    pub(crate) async fn assign(
        &self,
        queue: &QueueName,
        id: &TaskId,
        name: &WorkerName,
    ) -> Result<Outcome, Failure> {
        let record = self.queue(queue).await?;
        record.check_assign()?;
        let task = self.task(queue, id).await?;
        let (worker, _) =
            self.find_worker(name).await?.ok_or_else(|| Failure::NoWorker(name.clone()))?;
        check_worker(&worker, queue, &task)?;
        let _alone = self.assign_alone().await;
        let capacity = worker.capacity as usize;
        let is_full = async || -> Result<bool, StoreError> {
            let load = self.store.loads(std::slice::from_ref(name)).await?;
            Ok(load.first().is_some_and(|load| *load >= capacity))
        };
        if is_full().await? {
            return Err(full(name, capacity));
        }
        let event =
            Event::Assign { worker: name.clone(), token: random::seed().token(0), capacity };
        match self.happen_to_one(queue, Ask { id: id.clone(), event }).await {
            // Another server has filled the last place meanwhile.
            Err(Failure::Contended) if is_full().await? => Err(full(name, capacity)),
            outcome => {
                self.roster.ring(name);
                outcome
            }
        }
    }

    /// Who there is to be given a task.
    pub(super) async fn staff(&self, queue: &Queue, task: &Task) -> Result<Staff, StoreError> {
        if !matches!(queue.settings.mode, Mode::Dispatch | Mode::Vote) {
            return Ok(Staff::default());
        }
        if !self.store.is_exclusive() {
            self.find_workers().await?;
        }
        let serving = self.roster.serving(&queue.name);
        let requires = &task.spec.requires;
        let has = |capabilities: &[String], it| capabilities.binary_search(it).is_ok();
        let missing = requires
            .iter()
            .filter(|it| !serving.iter().any(|worker| has(&worker.capabilities, it)));
        let missing = missing.cloned().collect();
        let mut staff = Staff { serving: serving.len() as u64, missing, ..Staff::default() };
        let capable: Vec<_> = serving
            .into_iter()
            .filter(|worker| requires.iter().all(|it| has(&worker.capabilities, it)))
            .collect();
        let names: Vec<WorkerName> = capable.iter().map(|worker| worker.name.clone()).collect();
        let loads = self.store.loads(&names).await?;
        let free = capable.iter().zip(loads).filter(|(worker, load)| *load < worker.capacity);
        staff.free = free.count() as u64;
        staff.capable = capable.len() as u64;
        Ok(staff)
    }

    /// Who has yet to answer to a task that is voted on.
    pub(super) async fn awaited_on(
        &self,
        queue: &Queue,
        task: &Task,
    ) -> Result<Vec<String>, StoreError> {
        if queue.settings.mode != Mode::Vote || task.status.state != State::Running {
            return Ok(Vec::new());
        }
        self.awaited(&queue.name, &task.spec.id).await
    }
}

/// Refuses a worker that would not be given the task by itself.
fn check_worker(worker: &Worker, queue: &QueueName, task: &Task) -> Result<(), Failure> {
    let name = &worker.name;
    match worker.state {
        WorkerState::Lost => return Err(Failure::NoWorker(name.clone())),
        WorkerState::Draining => {
            let text = format!("worker {name} is draining and is given no more tasks");
            return Err(Failure::WrongState(text));
        }
        WorkerState::Active => {}
    }
    if !worker.serves(queue) {
        let text = format!("worker {name} does not serve queue {queue}; let it join with it");
        return Err(Failure::WrongState(text));
    }
    let lacks: Vec<&str> = worker.lacks(&task.spec.requires).map(String::as_str).collect();
    if lacks.is_empty() {
        return Ok(());
    }
    let text =
        format!("worker {name} is not capable of {}, which the task requires", lacks.join(", "));
    Err(Failure::WrongState(text))
}

fn full(name: &WorkerName, capacity: usize) -> Failure {
    let text = format!("worker {name} holds {capacity} tasks, as many as it can");
    Failure::WrongState(text)
}
