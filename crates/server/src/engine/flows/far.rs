//! Steps whose tasks lie in another place than their flow, as in a Redis Cluster: no one step of the store
//! can change both.
//!
//! Such a task ends by itself and is kept; then the flow is brought into line with what is to be read
//! of it, which may be done any number of times and by anybody. A server that dies in between leaves a
//! step that lives and a task that has ended: such flows are watched, and compared with their tasks from
//! time to time.

use std::time::Duration;

use punctual_core::flow::{FlowState, StepEnd, StepState};
use punctual_core::{
    Announcements, Decision, Fate, Flow, FlowId, FlowStep, Owner, OwnerChange, OwnerKey, QueueName,
    Span, Spec, State, StepName, Task, Timestamp,
};
use punctual_store::{Change, StoreError, Stored};

use super::super::loops::{Backoff, complain};
use super::super::transact::Verdict;
use super::super::write::Draft;
use super::super::{Engine, Failure};
use super::ROUNDS_MAX;
use super::scene::{Scene, name_of};

/// How long the end of such a task can be read at least.
const KEPT: Span = Span::from_millis(24 * 3_600_000);
/// How long it may take until a task that was made elsewhere is there.
pub(super) const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// A step whose task lies elsewhere and has changed.
#[derive(Debug, Clone)]
pub(in crate::engine) struct FarStep {
    /// Its flow.
    pub(in crate::engine) flow: FlowId,
    /// Its name.
    pub(in crate::engine) name: StepName,
    /// Its task.
    pub(in crate::engine) task: (QueueName, punctual_core::TaskId),
    /// Whether its task was to be gone with its end.
    pub(in crate::engine) is_passing: bool,
    /// Whether its task was removed, so that nothing of it can be read.
    pub(in crate::engine) is_gone: bool,
}

impl Engine {
    /// Whether the tasks of a queue lie elsewhere than a flow.
    pub(in crate::engine) fn is_far(&self, flow: &OwnerKey, queue: &QueueName) -> bool {
        !self.store.shares_place(&flow.queue, queue)
    }

    /// Whether a flow may miss the end of one of these tasks of it, because that lies elsewhere.
    pub(super) fn may_be_missed(&self, flow: &Flow, tasks: &[Spec]) -> bool {
        let flow = OwnerKey::flow(&flow.id);
        tasks.iter().any(|spec| self.is_far(&flow, &spec.queue))
    }

    /// Compares a flow with its tasks.
    pub(super) async fn check_flow_tasks(&self, id: &FlowId) -> Result<bool, StoreError> {
        self.find_lost_steps(id).await?;
        let keys = [OwnerKey::flow(id)];
        let checked = self.transact(&keys, |records, now| {
            let is_due = |(flow, _): &(&Flow, _)| flow.check_at().is_some_and(|at| at <= now);
            // If it is not due, it has gone on meanwhile.
            let Some((flow, revision)) = records.flow(id)?.filter(is_due) else {
                return Ok(Verdict::Answer(()));
            };
            let owner = Owner::Flow(Box::new(flow.clone().checked(now)));
            let change = OwnerChange::put(owner, Some(revision));
            Ok(Verdict::Write(change.into(), Announcements::default(), ()))
        });
        match checked.await {
            Err(Failure::Store(failure)) => Err(failure),
            checked => Ok(checked.is_ok()),
        }
    }

    /// Brings flows into line with tasks that have changed. That has happened, whatever comes of this.
    pub(in crate::engine) async fn reconcile_all(&self, steps: Vec<FarStep>) {
        let mut flows: Vec<&FlowId> = steps.iter().map(|step| &step.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        for flow in flows {
            let of_flow = steps.iter().filter(|step| step.flow == *flow);
            let of_flow: Vec<FarStep> = of_flow.cloned().collect();
            let mut backoff = Backoff::default();
            let mut tries = 0;
            while let Err(failure) = self.reconcile(flow, &of_flow).await {
                complain("steps of a flow", &failure);
                tries += 1;
                if tries == ROUNDS_MAX {
                    break;
                }
                backoff.wait().await;
            }
        }
    }

    /// Brings a flow into line with some of its tasks. Nobody else here changes it meanwhile.
    async fn reconcile(&self, id: &FlowId, steps: &[FarStep]) -> Result<(), StoreError> {
        for _ in 0..ROUNDS_MAX {
            let Some((flow, revision)) = self.find_flow(id).await? else { break };
            let mut scenes = [Scene::new(flow, revision)];
            let names = steps.iter().map(|step| step.name.clone()).collect();
            self.know_more(&mut scenes[0], names).await?;
            let (mut is_changed, mut over) = (false, Vec::new());
            for FarStep { name, task: (queue, task), is_passing, is_gone, .. } in steps {
                let read = self.store.read(queue, std::slice::from_ref(task)).await?.pop();
                match read.flatten() {
                    Some(stored) => {
                        is_changed |= scenes[0].agree(name, &stored);
                        over.extend(is_passing.then_some(stored).and_then(removal));
                    }
                    None if *is_gone => is_changed |= scenes[0].lose(name),
                    None => {}
                }
            }
            if is_changed {
                let now = self.now();
                self.advance(&mut scenes, now).await?;
                let [scene] = scenes;
                let (together, step) = scene.into_step(now);
                if !self.write(step, together.news).await? {
                    continue;
                }
            }
            // A task that has changed meanwhile is to stay.
            for written in self.writer.write(over.into_iter().map(Draft::quiet).collect()).await {
                written?;
            }
            return Ok(());
        }
        Ok(())
    }
}

impl Scene {
    /// Brings a step into line with its task. True: it has changed.
    pub(super) fn agree(&mut self, name: &StepName, stored: &Stored) -> bool {
        let Task { spec, status } = &stored.task;
        let flow = self.advance.flow();
        let is_its =
            |step: &&FlowStep| step.made_at == Some(spec.created_at) && name_of(spec) == Some(name);
        let Some(step) = self.advance.step(name).filter(is_its) else { return false };
        let state = flow.state_of(step);
        let goes_on =
            matches!(flow.state, FlowState::Running | FlowState::Paused | FlowState::Failed);
        let error = || status.error.clone();
        let end = match status.state {
            State::Done => StepEnd::Done(status.result.clone().unwrap_or_default()),
            State::Failed => StepEnd::Failed(error().unwrap_or_else(|| "failed".to_owned())),
            State::Cancelled => StepEnd::Cancelled(error()),
            _ if state == StepState::Failed && goes_on => {
                self.advance.revive(name);
                return true;
            }
            _ => return false,
        };
        match (state, status.state) {
            (StepState::Living, _) => {}
            (StepState::Failed, State::Done) if goes_on => self.advance.revive(name),
            _ => return false,
        }
        self.advance.end(name, end);
        true
    }

    /// The task of a step is gone. True: the step has changed.
    pub(super) fn lose(&mut self, name: &StepName) -> bool {
        let flow = self.advance.flow();
        let is_living = |step: &FlowStep| flow.state_of(step) == StepState::Living;
        if !self.advance.step(name).is_some_and(is_living) {
            return false;
        }
        self.advance.end(name, StepEnd::removed());
        true
    }
}

/// The removal of a task that has ended and whose flow knows.
fn removal(stored: Stored) -> Option<Change> {
    let Stored { task, revision } = stored;
    let decision = task.kept(Fate::Remove);
    decision.task.status.state.is_finished().then_some(Change { expected: revision, decision })
}

/// Keeps a task that has ended until its flow knows. True: it was to be gone.
pub(super) fn keep(decision: &mut Decision, now: Timestamp) -> bool {
    let is_passing = matches!(decision.fate, Fate::Remove | Fate::Reserve(_))
        && decision.task.status.state.is_finished();
    if is_passing {
        decision.fate = Fate::Keep;
        decision.task.status.keep_until = Some(now + KEPT);
    }
    is_passing
}
