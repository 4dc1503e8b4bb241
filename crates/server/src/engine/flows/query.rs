//! How flows read: the whole and each step, with the state its task is in now.

use std::collections::{BTreeMap, HashMap, HashSet};

use punctual_core::flow::{Counts, FlowState, StepOrder, StepState, waiting_text};
use punctual_core::limits::{PAGE_BYTES_MAX, PAGE_EXAMINED_MAX};
use punctual_core::why::{Reason, Why};
use punctual_core::{
    Flow, FlowId, FlowStep, Owner, OwnerKey, OwnerKind, QueueName, State, StepName, TaskId,
};
use punctual_store::{OwnerListing, StoreError, StoredOwner};

use super::super::{Engine, Failure};
use super::advance::unreadable;
use super::flow_of;
use crate::access::Scope;
use crate::engine::records::STEPS_CHUNK;

/// Tasks read at a time for nothing but their state.
const TASKS_CHUNK: usize = 64;

/// Which flows to list.
#[derive(Debug, Default)]
pub(crate) struct FlowFilter {
    /// Only those in these states; all if there are none.
    pub(crate) states: Vec<FlowState>,
    /// Only those that name no other queues than these.
    pub(crate) scope: Scope,
}

/// A flow as it reads.
pub(crate) struct FlowReading {
    /// The flow; its counts are those of its steps as they read.
    pub(crate) flow: Flow,
    /// Its steps, in the order given.
    pub(crate) steps: Vec<FlowStepReading>,
}

impl FlowReading {
    /// The queues of its steps.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &QueueName> {
        self.steps.iter().map(|reading| &reading.step.queue)
    }
}

/// A step as it reads.
pub(crate) struct FlowStepReading {
    /// The step.
    pub(crate) step: FlowStep,
    /// The steps it waits for.
    pub(crate) after: Vec<StepName>,
    /// Those of them that are not done, while it waits.
    pub(crate) waiting_for: Vec<StepName>,
    /// Its state, and that of its task while it lives.
    pub(crate) state: &'static str,
    /// Whether there is a result that would make the answer too large.
    pub(crate) left_out: bool,
}

impl Engine {
    /// Reads a flow with all its steps.
    pub(crate) async fn flow(&self, id: &FlowId) -> Result<FlowReading, Failure> {
        let key = OwnerKey::flow(id);
        // One that nobody changes here meanwhile, so that its steps are as it says.
        let _lock = self.owner_locks.lock([&key]).await;
        let (mut flow, revision) = self.known_flow(id).await?;
        let (mut steps, mut left_out) = self.read_steps(&key).await?;
        let (again, after) = self.known_flow(id).await?;
        if after != revision {
            // Another server has changed it; twice in that time is not worth another try.
            flow = again;
            (steps, left_out) = self.read_steps(&key).await?;
        }
        let readings = flow.read(&steps);
        let states = self.living_states(&steps).await?;
        flow.counts = Counts::default();
        let steps = steps.into_iter().zip(readings).map(|((step, after), reading)| {
            *flow.counts.of(reading.state) += 1;
            let state = match reading.state {
                StepState::Pending => "pending",
                StepState::Living => states.get(&step.name).copied().unwrap_or(State::Ready).name(),
                StepState::Done => "done",
                StepState::Failed => "failed",
                StepState::Cancelled => "cancelled",
            };
            let left_out = left_out.contains(&step.name);
            FlowStepReading { step, after, waiting_for: reading.waiting_for, state, left_out }
        });
        let steps = steps.collect();
        Ok(FlowReading { flow, steps })
    }

    /// All steps of a flow in their order, and what each waits for. Also those whose results are left out,
    /// because all together are more than an answer holds.
    async fn read_steps(
        &self,
        key: &OwnerKey,
    ) -> Result<(Vec<(FlowStep, Vec<StepName>)>, HashSet<StepName>), StoreError> {
        let (mut cursor, mut bytes, mut steps) = (None, 0, Vec::new());
        let mut left_out = HashSet::new();
        loop {
            let page = self.steps_page(key, cursor, STEPS_CHUNK).await?;
            for stored in page.items {
                let Owner::Step(mut step) = stored.owner else { continue };
                bytes += step.result.as_ref().map_or(0, |result| result.len());
                if bytes > PAGE_BYTES_MAX && step.result.take().is_some() {
                    left_out.insert(step.name.clone());
                }
                steps.push(*step);
            }
            if page.next.is_none() {
                break;
            }
            cursor = page.next;
        }
        steps.sort_unstable_by_key(|step| step.position);
        let mut afters = Vec::with_capacity(steps.len());
        while afters.len() < steps.len() {
            let items = self.store.items(key, afters.len(), steps.len() - afters.len()).await?;
            if items.is_empty() {
                return Err(unreadable(key, "an order of a step is missing"));
            }
            for item in &items {
                let after = StepOrder::after(item);
                afters.push(after.map_err(|error| unreadable(key, &error.to_string()))?);
            }
        }
        Ok((steps.into_iter().zip(afters).collect(), left_out))
    }

    /// The states of the tasks of steps that live.
    async fn living_states(
        &self,
        steps: &[(FlowStep, Vec<StepName>)],
    ) -> Result<HashMap<StepName, State>, StoreError> {
        let mut queues: BTreeMap<&QueueName, Vec<(&StepName, TaskId)>> = BTreeMap::new();
        for (step, _) in steps.iter().filter(|(step, _)| step.state == StepState::Living) {
            queues.entry(&step.queue).or_default().push((&step.name, step.task_id()));
        }
        let mut states = HashMap::new();
        for (queue, named) in queues {
            for named in named.chunks(TASKS_CHUNK) {
                let ids: Vec<TaskId> = named.iter().map(|(_, id)| id.clone()).collect();
                let read = self.store.read(queue, &ids).await?;
                let now = self.now();
                for ((name, _), stored) in named.iter().zip(read) {
                    let state = stored.map(|stored| stored.task.status.state_at(now));
                    states.extend(state.map(|state| ((*name).clone(), state)));
                }
            }
        }
        Ok(states)
    }

    /// Lists flows by id, and says where the next page begins.
    pub(crate) async fn list_flows(
        &self,
        filter: &FlowFilter,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Flow>, Option<String>), Failure> {
        let mut listing = OwnerListing {
            kind: OwnerKind::Flow,
            queue: None,
            prefix: String::new(),
            cursor,
            limit,
        };
        let now = self.now();
        let wanted = |flow: &Flow| {
            let is_kept = flow.gone_at().is_none_or(|at| at > now);
            is_kept && (filter.states.is_empty() || filter.states.contains(&flow.state))
        };
        let (mut flows, mut examined) = (Vec::new(), 0);
        loop {
            listing.limit = limit - flows.len();
            let page = self.store.list_owners(listing.clone()).await?;
            examined += listing.limit;
            let found = page.items.into_iter().filter_map(flow_of).map(|(flow, _)| flow);
            for flow in found.filter(wanted) {
                if self.is_within(&flow.id, &filter.scope).await? {
                    flows.push(flow);
                }
            }
            let is_full = flows.len() >= limit || examined >= PAGE_EXAMINED_MAX;
            if page.next.is_none() || is_full {
                return Ok((flows, page.next));
            }
            listing.cursor = page.next;
        }
    }

    /// Whether all steps of a flow are in these queues.
    async fn is_within(&self, id: &FlowId, scope: &Scope) -> Result<bool, StoreError> {
        let (key, mut cursor) = (OwnerKey::flow(id), None);
        while !scope.is_all() {
            let page = self.steps_page(&key, cursor, STEPS_CHUNK).await?;
            let is_within = |stored: &StoredOwner| match &stored.owner {
                Owner::Step(step) => scope.covers(&step.queue),
                _ => true,
            };
            if !page.items.iter().all(is_within) {
                return Ok(false);
            }
            if page.next.is_none() {
                break;
            }
            cursor = page.next;
        }
        Ok(true)
    }

    /// Explains why a step is no task yet whose task somebody asks for. None: there is no such step.
    pub(in crate::engine) async fn why_no_task(
        &self,
        queue: &QueueName,
        id: &TaskId,
    ) -> Result<Option<Why>, Failure> {
        for (at, _) in id.as_str().match_indices('~') {
            let (flow, name) = (&id.as_str()[..at], &id.as_str()[at + 1..]);
            let (Ok(flow), Ok(name)) = (FlowId::parse(flow), StepName::parse(name)) else {
                continue;
            };
            let stored = self.owner(&OwnerKey::step(&flow, &name)).await?;
            if !stored
                .is_some_and(|it| matches!(it.owner, Owner::Step(step) if step.queue == *queue))
            {
                continue;
            }
            let reading = match self.flow(&flow).await {
                Err(Failure::NoFlow(_)) => continue,
                reading => reading?,
            };
            let step = reading.steps.into_iter().find(|step| step.step.name == name);
            return Ok(step
                .filter(|step| step.state == "pending")
                .map(|step| why(&reading.flow, step)));
        }
        Ok(None)
    }
}

/// Why a step of a flow is not a task yet.
fn why(flow: &Flow, step: FlowStepReading) -> Why {
    let (reason, text) = if !step.waiting_for.is_empty() {
        (Reason::WaitingForSteps, waiting_text(&step.waiting_for))
    } else if flow.state == FlowState::Paused {
        (Reason::FlowPaused, format!("its flow {} is paused; resume it", flow.id))
    } else {
        (Reason::FlowStopped, format!("another step of its flow {} failed; retry that", flow.id))
    };
    let mut why = Why::of_step(reason, text);
    why.waiting_for = step.waiting_for;
    why
}
