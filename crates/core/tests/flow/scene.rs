//! A flow without a store: its records in maps, and tasks that are nothing but what was spawned.

use std::collections::BTreeMap;

use punctual_core::flow::{Advance, FlowVerb, NewFlow, StepEnd, StepOrder, StepState};
use punctual_core::{Flow, FlowId, FlowStep, Spec, StepName, Timestamp};

pub(crate) fn name(text: &str) -> StepName {
    StepName::parse(text).unwrap()
}

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-15T06:00:00Z").unwrap()
}

pub(crate) struct World {
    pub(crate) flow: Flow,
    pub(crate) steps: BTreeMap<StepName, FlowStep>,
    orders: Vec<StepOrder>,
    /// All tasks that were ever made.
    pub(crate) spawned: Vec<Spec>,
}

impl World {
    pub(crate) fn new(json: &str) -> Self {
        let new: NewFlow = serde_json::from_str(json).unwrap();
        let made = new.check().unwrap().make(FlowId::parse("f").unwrap(), now());
        Self {
            flow: made.flow,
            steps: made.steps.into_iter().map(|step| (step.name.clone(), step)).collect(),
            orders: made.orders.iter().map(|item| StepOrder::read(item).unwrap()).collect(),
            spawned: made.spawn,
        }
    }

    /// Steps end together. At most `starts` are started with them.
    pub(crate) fn end(&mut self, ends: Vec<(StepName, StepEnd)>, starts: usize) {
        let mut advance = self.knowing(ends.iter().map(|(name, _)| name));
        for (name, end) in ends {
            advance.end(&name, end);
        }
        for name in advance.unknown() {
            advance.know(self.steps[&name].clone());
        }
        advance.follow();
        if self.start(&mut advance, starts) {
            advance.leave_rest();
        }
        self.write(advance);
    }

    pub(crate) fn revive(&mut self, name: &StepName) {
        let mut advance = self.knowing([name]);
        advance.revive(name);
        self.write(advance);
    }

    pub(crate) fn verb(&mut self, verb: FlowVerb) -> bool {
        match self.flow.clone().carry_out(verb, now()) {
            Ok(flow) => self.flow = flow,
            Err(_) => return false,
        }
        true
    }

    /// Looks through all steps, one after the other; tasks for which `ends` says so are cancelled at once.
    pub(crate) fn sweep(&mut self, ends: impl Fn(&StepName) -> bool) {
        let names: Vec<StepName> = self.steps.keys().cloned().collect();
        for (place, name) in names.iter().enumerate() {
            if !self.flow.is_to_be_swept() {
                return;
            }
            let mut advance = self.knowing([name]);
            let state = self.flow.state_of(&self.steps[name]);
            let is_cancelling = self.flow.state == punctual_core::flow::FlowState::Cancelling;
            if is_cancelling && state == StepState::Living && ends(name) {
                advance.end(name, StepEnd::Cancelled(None));
            }
            advance.find_ready();
            assert!(!self.start(&mut advance, 1));
            if place + 1 == names.len() {
                advance.swept(self.flow.sweeps);
            }
            self.write(advance);
        }
    }

    fn knowing<'a>(&self, names: impl IntoIterator<Item = &'a StepName>) -> Advance {
        let mut advance = Advance::new(self.flow.clone());
        names.into_iter().for_each(|name| advance.know(self.steps[name].clone()));
        advance
    }

    fn start(&mut self, advance: &mut Advance, starts: usize) -> bool {
        let (ready, is_more) = advance.ready(starts);
        for name in ready {
            let order = self.orders[self.steps[&name].position as usize].clone();
            for input in &order.after {
                advance.know(self.steps[input].clone());
            }
            let result = |name| advance.step(name).unwrap().result.clone().unwrap();
            let results: Vec<_> = order.after.iter().map(result).collect();
            self.spawned.extend(advance.start(&name, order, Some(&results), now()));
        }
        is_more
    }

    fn write(&mut self, advance: Advance) {
        let (flow, steps) = advance.finish(now());
        self.flow = flow;
        self.steps.extend(steps.into_iter().map(|step| (step.name.clone(), step)));
    }

    /// How its steps read, by name.
    pub(crate) fn read(&self) -> BTreeMap<StepName, StepState> {
        let after = |step: &FlowStep| self.orders[step.position as usize].after.clone();
        let steps: Vec<_> = self.steps.values().map(|step| (step.clone(), after(step))).collect();
        let readings = self.flow.read(&steps);
        steps.iter().zip(readings).map(|((step, _), it)| (step.name.clone(), it.state)).collect()
    }
}
