//! Looking through all steps of a flow, a page at a time: to carry out what its state asks of them, to
//! find those whose task is gone, and to remove what is no longer kept.
//!
//! Each page is one step of the store, fenced on the flow's version. Whoever stops half way leaves a flow
//! whose alarm rings, and whoever begins again finds what is done already as it should be.

use std::collections::BTreeMap;

use punctual_core::flow::{FlowState, Heard, StepEnd, StepState};
use punctual_core::{
    Announcements, Event, Flow, FlowId, FlowStep, OwnerKey, OwnerKind, QueueName, State, StepName,
    Timestamp, announce,
};
use punctual_store::{Change, Changes, OwnerListing, OwnerPage, Revision, StoreError, Stored};

use super::super::Engine;
use super::super::loops::complain;
use super::super::write::Draft;
use super::far::{FarStep, ON_ITS_WAY, keep};
use super::scene::{Scene, changed, name_of, removed};
use super::{ROUNDS_MAX, flow_of};

/// Steps looked at together.
const PAGE: usize = 200;

/// What to look for.
#[derive(Debug, Clone, Copy)]
enum Look<'a> {
    /// What the flow's state asks of its steps.
    Sweep,
    /// Steps whose task is gone, in one queue or anywhere.
    Lost(Option<&'a QueueName>),
}

impl Engine {
    /// Looks after a flow whose alarm rang. True: something was done.
    pub(in crate::engine) async fn look_after_flow(
        &self,
        flow: &Flow,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if flow.gone_at().is_some_and(|at| at <= now) {
            return self.remove_flow(&flow.id).await;
        }
        if flow.is_to_be_swept() {
            return self.sweep_flow(&flow.id).await;
        }
        self.check_flow_tasks(&flow.id).await
    }

    /// Finds steps whose task is gone, or has ended elsewhere without a word.
    pub(super) async fn find_lost_steps(&self, id: &FlowId) -> Result<bool, StoreError> {
        self.look_through(id, Look::Lost(None)).await
    }

    /// Carries out what a flow's state asks of its steps, as long as that is to be done. True: something
    /// was done.
    pub(super) async fn sweep_flow(&self, id: &FlowId) -> Result<bool, StoreError> {
        self.look_through(id, Look::Sweep).await
    }

    /// After a queue lost all its tasks, or perhaps did before this server started: steps whose task was
    /// among them have failed.
    pub(in crate::engine) async fn tell_flows(
        &self,
        queue: Option<&QueueName>,
    ) -> Result<(), StoreError> {
        let mut listing = OwnerListing {
            kind: OwnerKind::Flow,
            queue: None,
            prefix: String::new(),
            cursor: None,
            limit: 1_000,
        };
        loop {
            let page = self.store.list_owners(listing.clone()).await?;
            for (flow, _) in page.items.into_iter().filter_map(flow_of) {
                if flow.counts.living > 0 {
                    self.look_through(&flow.id, Look::Lost(queue)).await?;
                }
            }
            if page.next.is_none() {
                return Ok(());
            }
            listing.cursor = page.next;
        }
    }

    async fn look_through(&self, id: &FlowId, look: Look<'_>) -> Result<bool, StoreError> {
        let key = OwnerKey::flow(id);
        let (mut cursor, mut sweeps, mut is_done, mut losses) = (None, None, false, 0);
        loop {
            let _lock = self.owner_locks.lock([&key]).await;
            let Some((flow, revision)) = self.find_flow(id).await? else { return Ok(is_done) };
            if matches!(look, Look::Sweep) {
                if !flow.is_to_be_swept() {
                    return Ok(is_done);
                }
                if sweeps.replace(flow.sweeps) != Some(flow.sweeps) {
                    // What is asked of the steps has changed, also of those looked at already.
                    cursor = None;
                }
            }
            let page = self.steps_page(&key, cursor.clone(), PAGE).await?;
            let next = page.next.clone();
            match self.look_at_page(flow, revision, page, look).await? {
                Looked::Done { is_all } => {
                    is_done = true;
                    losses = 0;
                    if !is_all {
                        continue;
                    }
                }
                Looked::Nothing => {}
                Looked::Again => {
                    is_done = true;
                    continue;
                }
                Looked::Lost if losses == ROUNDS_MAX => return Ok(is_done),
                Looked::Lost => {
                    losses += 1;
                    continue;
                }
            }
            if next.is_none() {
                return Ok(is_done);
            }
            cursor = next;
        }
    }

    pub(super) async fn steps_page(
        &self,
        flow: &OwnerKey,
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OwnerPage, StoreError> {
        let (kind, queue, prefix) = (OwnerKind::Step, Some(flow.queue.clone()), String::new());
        self.store.list_owners(OwnerListing { kind, queue, prefix, cursor, limit }).await
    }

    async fn look_at_page(
        &self,
        flow: Flow,
        revision: Revision,
        page: OwnerPage,
        look: Look<'_>,
    ) -> Result<Looked, StoreError> {
        let now = self.now();
        let (before, is_last) = (flow.clone(), page.next.is_none());
        let mut scene = Scene::new(flow, revision);
        let mut living = Vec::new();
        for stored in page.items {
            if let punctual_core::Owner::Step(step) = &stored.owner
                && concerns(&before, step, look)
            {
                living.push((step.queue.clone(), step.name.clone()));
            }
            scene.know(stored);
        }
        let far = self.look_at_tasks(&mut scene, living, look, now).await?;
        if !far.is_empty() {
            // These happen by themselves; then the flow is another, and the page is looked at again.
            self.commit_far(far).await?;
            return Ok(Looked::Again);
        }
        let mut scenes = [scene];
        let mut is_all = true;
        match look {
            Look::Lost(_) if scenes[0].advance.flow().counts == before.counts => {
                return Ok(Looked::Nothing);
            }
            Look::Lost(_) => self.advance(&mut scenes, now).await?,
            Look::Sweep => {
                self.follow(&mut scenes).await?;
                let [scene] = &mut scenes;
                scene.advance.find_ready();
                is_all = !self.start_steps(scene, now).await?;
                if is_all && is_last {
                    scene.advance.swept(before.sweeps);
                }
            }
        }
        let [scene] = scenes;
        let (together, step) = scene.into_step(now);
        if !self.write(step, together.news).await? {
            return Ok(Looked::Lost);
        }
        Ok(Looked::Done { is_all })
    }

    /// Looks at the tasks of steps that live. Answers what is to happen to those that lie elsewhere.
    async fn look_at_tasks(
        &self,
        scene: &mut Scene,
        living: Vec<(QueueName, StepName)>,
        look: Look<'_>,
        now: Timestamp,
    ) -> Result<Vec<(FarStep, Draft)>, StoreError> {
        let mut far = Vec::new();
        let flow = OwnerKey::flow(&scene.advance.flow().id);
        let mut queues: BTreeMap<QueueName, Vec<StepName>> = BTreeMap::new();
        for (queue, name) in living {
            queues.entry(queue).or_default().push(name);
        }
        for (queue, names) in queues {
            let steps = names.iter().filter_map(|name| scene.advance.step(name));
            let ids: Vec<_> = steps.map(FlowStep::task_id).collect();
            let is_far = self.is_far(&flow, &queue);
            let mut tasks = self.store.read(&queue, &ids).await?;
            if is_far && matches!(look, Look::Lost(None)) && tasks.contains(&None) {
                tokio::time::sleep(ON_ITS_WAY).await;
                tasks = self.store.read(&queue, &ids).await?;
            }
            let record = self.store.queue(&queue).await?;
            for (name, task) in names.iter().zip(tasks) {
                let task = task.filter(|stored| name_of(&stored.task.spec) == Some(name));
                match (task, &record) {
                    (Some(stored), _) if is_far && stored.task.status.state.is_finished() => {
                        scene.agree(name, &stored);
                    }
                    (Some(stored), Some(record)) if matches!(look, Look::Sweep) => {
                        far.extend(self.ask_of_task(scene, name, stored, record, is_far, now));
                    }
                    (Some(_), _) => {}
                    // It may be on its way.
                    (None, _) if is_far && matches!(look, Look::Sweep) => {}
                    (None, _) => scene.advance.end(name, StepEnd::removed()),
                }
            }
        }
        Ok(far)
    }

    /// Lets something happen to tasks that lie elsewhere, and brings their flow into line.
    async fn commit_far(&self, far: Vec<(FarStep, Draft)>) -> Result<(), StoreError> {
        let (steps, drafts): (Vec<FarStep>, Vec<Draft>) = far.into_iter().unzip();
        let mut done = Vec::new();
        for (step, written) in steps.into_iter().zip(self.writer.write(drafts).await) {
            done.extend(written?.is_done().then_some(step));
        }
        self.reconcile_all(done).await;
        Ok(())
    }

    /// Does to the task of a step what its flow's state asks for. Answers that instead if the task lies
    /// elsewhere.
    fn ask_of_task(
        &self,
        scene: &mut Scene,
        name: &StepName,
        stored: Stored,
        queue: &punctual_core::Queue,
        is_far: bool,
        now: Timestamp,
    ) -> Option<(FarStep, Draft)> {
        let state = stored.task.status.state_at(now);
        let event = match scene.advance.flow().state {
            FlowState::Paused => match state {
                State::Waiting | State::Ready | State::Assigned => {
                    scene.advance.set_paused(name, true);
                    Event::Pause
                }
                // Whether it was paused with the flow just now cannot be told.
                State::Paused if is_far => {
                    scene.advance.set_paused(name, true);
                    return None;
                }
                _ => return None,
            },
            FlowState::Running => {
                scene.advance.set_paused(name, false);
                if state != State::Paused {
                    return None;
                }
                Event::Resume
            }
            _ => Event::Cancel,
        };
        // What does not apply to the task as it stands is not done to it.
        let mut decision = self.decide(queue, &stored.task, event.clone(), now).ok()?;
        if !punctual_core::owner::matters(&stored.task, &decision) {
            return None;
        }
        let step = scene.advance.step(name)?;
        if is_far {
            let is_passing = keep(&mut decision, now);
            let (flow, name) = (step.flow.clone(), step.name.clone());
            let task = (step.queue.clone(), step.task_id());
            let step = FarStep { flow, name, task, is_passing, is_gone: false };
            let mut news = Announcements::default();
            announce::task::after(&stored.task, &event, &decision, now, &mut news);
            let change = Change { expected: stored.revision, decision };
            return Some((step, Draft::told(change, news)));
        }
        if let Ok(Heard::Ended(end)) = scene.advance.flow().hear(step, &event, &decision) {
            scene.advance.end(name, end);
        }
        scene.change(Change { expected: stored.revision, decision });
        None
    }

    /// Removes a flow that is no longer kept, a page of its steps at a time. True: it is gone.
    async fn remove_flow(&self, id: &FlowId) -> Result<bool, StoreError> {
        let key = OwnerKey::flow(id);
        for _ in 0..ROUNDS_MAX {
            let _lock = self.owner_locks.lock([&key]).await;
            let Some((flow, revision)) = self.find_flow(id).await? else { return Ok(true) };
            if flow.gone_at().is_none_or(|at| at > self.now()) {
                return Ok(true);
            }
            let page = self.steps_page(&key, None, PAGE).await?;
            let steps = page.items.iter().map(|step| removed(step.owner.key(), step.revision));
            let mut owners: Vec<_> = steps.collect();
            let is_last = page.next.is_none();
            owners.push(if is_last {
                removed(key.clone(), revision)
            } else {
                changed(punctual_core::Owner::Flow(Box::new(flow)), Some(revision))
            });
            let changes = Changes { owners, ..Changes::default() };
            let is_done = self.write(changes, Announcements::default()).await?;
            if is_last && is_done {
                return Ok(true);
            }
        }
        // Its alarm still rings.
        Ok(true)
    }

    /// Looks through a flow after a verb has changed what is asked of its steps. The verb has taken effect:
    /// what cannot be done now is done when the flow's alarm is heard.
    pub(super) async fn sweep_after_verb(&self, id: &FlowId) {
        if let Err(failure) = self.sweep_flow(id).await {
            complain("steps of a flow", &failure);
        }
    }
}

/// What came of a page.
enum Looked {
    /// It is written; not all of it if too much was to be started at once.
    Done {
        /// Whether that was all of the page.
        is_all: bool,
    },
    /// There was nothing to do.
    Nothing,
    /// Tasks have changed that lie elsewhere.
    Again,
    /// The flow has changed meanwhile.
    Lost,
}

/// Whether the task of a step has to be looked at.
fn concerns(flow: &Flow, step: &FlowStep, look: Look<'_>) -> bool {
    if flow.state_of(step) != StepState::Living {
        return false;
    }
    match (look, flow.state) {
        (Look::Lost(queue), _) => queue.is_none_or(|queue| step.queue == *queue),
        (Look::Sweep, FlowState::Running) => step.paused,
        (Look::Sweep, FlowState::Paused) => !step.paused,
        (Look::Sweep, FlowState::Cancelling) => true,
        (Look::Sweep, FlowState::Done | FlowState::Failed | FlowState::Cancelled) => false,
    }
}
