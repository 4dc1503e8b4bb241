//! What a request says about a flow, the rules for it, and the records it becomes.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::{Counts, Flow, FlowState, FlowStep, OnFailure, StepOrder, StepState};
use crate::callback::{Callback, within};
use crate::error::{Invalid, Refusal};
use crate::http::{HttpTarget, Reach};
use crate::json::RawJson;
use crate::limits::{FLOW_EDGES_MAX, FLOW_STEPS_MAX};
use crate::name::{FlowId, QueueName, StepName, TaskId};
use crate::object::{objects_only, or_default};
use crate::retry::{MaxAttempts, RetryPolicy};
use crate::task::{NewTask, SettingsOf, Spec};
use crate::time::{Span, Timestamp};
use crate::trace::TraceParent;

/// A flow as a request gives it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct NewFlow {
    /// Its id; generated if left out.
    pub id: Option<FlowId>,
    /// Its steps.
    pub steps: Vec<NewStep>,
    /// What a failed step does to the others.
    #[serde(deserialize_with = "or_default")]
    pub on_failure: OnFailure,
}

/// A step as a request gives it: a name, what it waits for, and its task.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct NewStep {
    /// Its name; required.
    pub name: Option<StepName>,
    /// The queue of its task; required.
    pub queue: Option<QueueName>,
    /// The steps it waits for.
    #[serde(deserialize_with = "or_default")]
    pub after: Vec<StepName>,
    /// See [`NewTask::payload`].
    pub payload: RawJson,
    /// See [`NewTask::due`].
    pub due: Option<Timestamp>,
    /// See [`NewTask::delay`]: from the moment it becomes a task.
    pub delay: Option<Span>,
    /// See [`NewTask::priority`].
    pub priority: Option<i32>,
    /// See [`NewTask::hold`].
    pub hold: Option<Span>,
    /// See [`NewTask::max_attempts`].
    pub max_attempts: Option<MaxAttempts>,
    /// See [`NewTask::max_runtime`].
    pub max_runtime: Option<Span>,
    /// See [`NewTask::retry`].
    pub retry: Option<RetryPolicy>,
    /// See [`NewTask::unique_for`].
    pub unique_for: Option<Span>,
    /// See [`NewTask::expires`].
    pub expires: Option<Timestamp>,
    /// See [`NewTask::requires`].
    pub requires: Option<Vec<String>>,
    /// See [`NewTask::http`].
    pub http: Option<Box<HttpTarget>>,
    /// See [`NewTask::callback`].
    pub callback: Option<Box<Callback>>,
    /// See [`NewTask::tags`].
    pub tags: Option<Vec<String>>,
}

objects_only! { NewFlow, NewStep }

/// A flow that was checked, and what it is made of.
#[derive(Debug, Clone)]
pub struct MadeFlow {
    /// The flow.
    pub flow: Flow,
    /// Its steps, in the order given.
    pub steps: Vec<FlowStep>,
    /// What they were given: the items beside the flow.
    pub orders: Vec<RawJson>,
    /// The tasks of those that wait for nothing.
    pub spawn: Vec<Spec>,
}

impl MadeFlow {
    /// Gives the task at a place among those that are made another id, because another task keeps the
    /// first.
    pub fn rename(&mut self, place: usize, id: TaskId) {
        let Some(spec) = self.spawn.get_mut(place) else { return };
        let step = self.steps.iter_mut().find(|step| step.first_id() == spec.id);
        if let Some(step) = step.filter(|step| step.queue == spec.queue) {
            step.set_task_id(id.clone());
            spec.id = id;
        }
    }
}

/// A flow whose every field and name is right.
#[derive(Debug, Clone)]
pub struct CheckedFlow {
    on_failure: OnFailure,
    steps: Vec<CheckedStep>,
}

#[derive(Debug, Clone)]
struct CheckedStep {
    name: StepName,
    queue: QueueName,
    order: StepOrder,
}

impl NewFlow {
    /// The queues it names, those of callbacks among them.
    pub fn queues(&self) -> Vec<QueueName> {
        let callbacks = |step: &NewStep| {
            let callback = step.callback.clone();
            NewTask { callback, ..NewTask::default() }.makes_tasks_in()
        };
        let queues = self.steps.iter().filter_map(|step| step.queue.clone());
        queues.chain(self.steps.iter().flat_map(callbacks)).collect()
    }

    /// Checks all that can be judged without its queues.
    pub fn check(self) -> Result<CheckedFlow, Refusal> {
        if !(1..=FLOW_STEPS_MAX).contains(&self.steps.len()) {
            let rule = format!("1 to {FLOW_STEPS_MAX} of them");
            return Err(Invalid::new("steps", rule).into());
        }
        let edges: usize = self.steps.iter().map(|step| step.after.len()).sum();
        if edges > FLOW_EDGES_MAX {
            let rule = format!("at most {FLOW_EDGES_MAX} names in all after together");
            return Err(Invalid::new("steps", rule).into());
        }
        let steps = self.steps.into_iter().enumerate();
        let steps = steps
            .map(|(place, step)| step.check().map_err(|refusal| at(place, refusal)))
            .collect::<Result<Vec<_>, _>>()?;
        check_graph(&steps)?;
        Ok(CheckedFlow { on_failure: self.on_failure, steps })
    }
}

impl NewStep {
    fn check(self) -> Result<CheckedStep, Refusal> {
        let Some(name) = self.name else {
            return Err(Invalid::new("name", "name the step").into());
        };
        let Some(queue) = self.queue else {
            return Err(Invalid::new("queue", "name the queue of its task").into());
        };
        name.check_new()?;
        queue.check_new()?;
        let task = NewTask {
            id: None,
            payload: Some(self.payload),
            due: self.due,
            delay: self.delay,
            priority: self.priority,
            hold: self.hold,
            max_attempts: self.max_attempts,
            max_runtime: self.max_runtime,
            retry: self.retry,
            unique_for: self.unique_for,
            expires: self.expires,
            requires: self.requires,
            http: self.http,
            callback: self.callback,
            tags: self.tags,
            notice: None,
            trace: None,
        };
        task.check()?;
        Ok(CheckedStep { name, queue, order: StepOrder { task, after: self.after, trace: None } })
    }
}

/// The same refusal about a field of a step.
fn at(place: usize, refusal: Refusal) -> Refusal {
    within(&format!("steps[{place}]"), refusal)
}

fn wrong(place: usize, field: &'static str, rule: String) -> Refusal {
    at(place, Invalid::new(field, rule).into())
}

/// Checks that names are unique, that those in `after` are there, and that no step waits for itself.
fn check_graph(steps: &[CheckedStep]) -> Result<(), Refusal> {
    let mut places: HashMap<&StepName, usize> = HashMap::with_capacity(steps.len());
    for (place, step) in steps.iter().enumerate() {
        if let Some(first) = places.insert(&step.name, place) {
            let rule = format!("steps[{first}] is called {} already", step.name);
            return Err(wrong(place, "name", rule));
        }
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (place, step) in steps.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for name in &step.order.after {
            let Some(&other) = places.get(name) else {
                return Err(wrong(place, "after", format!("there is no step {name}")));
            };
            if !seen.insert(name) {
                return Err(wrong(place, "after", format!("{name} is there twice")));
            }
            before[other].push(place);
        }
    }
    match find_cycle(steps, &places, &before) {
        Some(place) => {
            let rule = format!("step {} would wait for itself", steps[place].name);
            Err(wrong(place, "after", rule))
        }
        None => Ok(()),
    }
}

/// A step that waits for itself, by way of others or not. Every step and every edge is met once.
fn find_cycle(
    steps: &[CheckedStep],
    places: &HashMap<&StepName, usize>,
    before: &[Vec<usize>],
) -> Option<usize> {
    let mut missing: Vec<usize> = steps.iter().map(|step| step.order.after.len()).collect();
    let mut free: Vec<usize> = (0..steps.len()).filter(|place| missing[*place] == 0).collect();
    while let Some(place) = free.pop() {
        for &after in &before[place] {
            missing[after] -= 1;
            if missing[after] == 0 {
                free.push(after);
            }
        }
    }
    // What is left waits for something that is left: going back far enough leads into a cycle.
    let mut place = missing.iter().position(|missing| *missing > 0)?;
    for _ in 0..steps.len() {
        let mut names = steps[place].order.after.iter().map(|name| places[name]);
        place = names.find(|other| missing[*other] > 0)?;
    }
    Some(place)
}

impl CheckedFlow {
    /// The queues of its steps, each once.
    pub fn queues(&self) -> BTreeSet<&QueueName> {
        self.steps.iter().map(|step| &step.queue).collect()
    }

    /// The queues its callbacks push into.
    pub fn callback_queues(&self) -> BTreeSet<&QueueName> {
        self.steps.iter().flat_map(|step| step.order.task.callback_queues()).collect()
    }

    /// Checks what the queues ask for.
    pub fn check_queues(&self, settings_of: SettingsOf<'_>) -> Result<(), Refusal> {
        let check = |step: &CheckedStep| step.order.task.check_queues(&step.queue, settings_of);
        self.check_each(check)
    }

    /// Refuses addresses that deliveries may not go to.
    pub fn check_reach(&self, reach: &Reach) -> Result<(), Refusal> {
        self.check_each(|step| step.order.task.check_reach(reach))
    }

    fn check_each(
        &self,
        check: impl Fn(&CheckedStep) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut steps = self.steps.iter().enumerate();
        steps.try_for_each(|(place, step)| check(step).map_err(|refusal| at(place, refusal)))
    }

    /// The same, its tasks pushed in a span.
    #[must_use]
    pub fn traced(mut self, trace: Option<TraceParent>) -> Self {
        self.steps.iter_mut().for_each(|step| step.order.trace = trace);
        self
    }

    /// The records of the flow.
    pub fn make(self, id: FlowId, now: Timestamp) -> MadeFlow {
        let mut before: HashMap<StepName, Vec<StepName>> = HashMap::new();
        for step in &self.steps {
            for name in &step.order.after {
                before.entry(name.clone()).or_default().push(step.name.clone());
            }
        }
        let living = self.steps.iter().filter(|step| step.order.after.is_empty()).count() as u32;
        let pending = self.steps.len() as u32 - living;
        let flow = Flow {
            id,
            on_failure: self.on_failure,
            state: FlowState::Running,
            created_at: now,
            finished_at: None,
            counts: Counts { pending, living, ..Counts::default() },
            round: 0,
            sweeps: 0,
            swept: 0,
            check: None,
        };
        let (mut steps, mut orders, mut spawn) = (Vec::new(), Vec::new(), Vec::new());
        for (place, CheckedStep { name, queue, order }) in self.steps.into_iter().enumerate() {
            let is_free = order.after.is_empty();
            let step = FlowStep {
                flow: flow.id.clone(),
                before: before.remove(&name).unwrap_or_default(),
                name,
                position: place as u32,
                queue,
                missing: order.after.len() as u32,
                state: if is_free { StepState::Living } else { StepState::Pending },
                round: 0,
                made_at: is_free.then_some(now),
                task: None,
                paused: false,
                result: None,
                error: None,
            };
            orders.push(RawJson::of(&order));
            if is_free {
                spawn.extend(order.spec(&flow, &step, &[], now));
            }
            steps.push(step);
        }
        MadeFlow { flow, steps, orders, spawn }
    }
}
