//! Whatever ends in whatever order: a flow stands where a plain reading of the rules puts it.

use proptest::prelude::*;
use punctual_core::RawJson;
use punctual_core::flow::{FlowState, FlowVerb, StepEnd, StepState};

use crate::scene::{World, name};

/// The rules, applied to everything after every event.
struct Oracle {
    after: Vec<Vec<usize>>,
    goes_on: bool,
    flow: FlowState,
    steps: Vec<StepState>,
}

impl Oracle {
    fn new(after: Vec<Vec<usize>>, goes_on: bool) -> Self {
        let steps = vec![StepState::Pending; after.len()];
        let mut oracle = Self { after, goes_on, flow: FlowState::Running, steps };
        oracle.settle();
        oracle
    }

    fn living(&self) -> Vec<usize> {
        self.in_state(StepState::Living)
    }

    fn in_state(&self, state: StepState) -> Vec<usize> {
        (0..self.steps.len()).filter(|step| self.steps[*step] == state).collect()
    }

    fn settle(&mut self) {
        let has_failed = self.steps.contains(&StepState::Failed);
        if self.flow == FlowState::Running && (self.goes_on || !has_failed) {
            for step in self.in_state(StepState::Pending) {
                if self.after[step].iter().all(|it| self.steps[*it] == StepState::Done) {
                    self.steps[step] = StepState::Living;
                }
            }
        }
        if !self.living().is_empty() {
            return;
        }
        self.flow = match self.flow {
            _ if self.steps.iter().all(|step| *step == StepState::Done) => FlowState::Done,
            FlowState::Cancelling => FlowState::Cancelled,
            FlowState::Running => FlowState::Failed,
            state => state,
        };
    }

    /// What steps read as: those that can never start are cancelled.
    fn read(&self) -> Vec<StepState> {
        let mut states = self.steps.clone();
        let is_over = matches!(self.flow, FlowState::Cancelling | FlowState::Cancelled);
        loop {
            let before = states.clone();
            for (state, after) in states.iter_mut().zip(&self.after) {
                let is_cut =
                    |it: &usize| matches!(before[*it], StepState::Failed | StepState::Cancelled);
                let is_doomed = is_over || (self.goes_on && after.iter().any(is_cut));
                if *state == StepState::Pending && is_doomed {
                    *state = StepState::Cancelled;
                }
            }
            if before == states {
                return states;
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Act {
    /// Some of those that live end: which, and how.
    End(Vec<(usize, u8)>),
    Revive(usize),
    Verb(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => prop::collection::vec((any::<usize>(), 0..10_u8), 1..4).prop_map(Act::End),
        1 => any::<usize>().prop_map(Act::Revive),
        2 => (0..8_u8).prop_map(Act::Verb),
    ]
}

/// What each step waits for: any of those before it.
fn graph() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let edges = prop::collection::vec(prop::collection::btree_set(any::<usize>(), 0..4), 1..14);
    edges.prop_map(|edges| {
        let below = |(step, edges): (usize, std::collections::BTreeSet<usize>)| {
            let mut after: Vec<usize> =
                edges.into_iter().filter(|_| step > 0).map(|edge| edge % step.max(1)).collect();
            after.sort_unstable();
            after.dedup();
            after
        };
        edges.into_iter().enumerate().map(below).collect()
    })
}

fn called(step: usize) -> String {
    // Names do not sort as the steps depend on each other.
    format!("s{:02}", (step * 7) % 100)
}

fn request(after: &[Vec<usize>], goes_on: bool) -> String {
    let step = |(step, after): (usize, &Vec<usize>)| {
        let after: Vec<String> = after.iter().map(|it| called(*it)).collect();
        serde_json::json!({"name": called(step), "queue": "q", "after": after, "payload": step})
    };
    let steps: Vec<_> = after.iter().enumerate().map(step).collect();
    let on_failure = if goes_on { "continue" } else { "stop" };
    serde_json::json!({"steps": steps, "on_failure": on_failure}).to_string()
}

fn check(world: &World, oracle: &Oracle) {
    let mut counts = punctual_core::flow::Counts::default();
    for state in &oracle.steps {
        *counts.of(*state) += 1;
    }
    assert_eq!((world.flow.state, world.flow.counts), (oracle.flow, counts));
    assert_eq!(world.flow.finished_at.is_some(), oracle.flow.is_finished());
    let read = world.read();
    let read: Vec<StepState> =
        (0..oracle.steps.len()).map(|step| read[&name(&called(step))]).collect();
    assert_eq!(read, oracle.read());
    for spec in &world.spawned {
        let payload: serde_json::Value = serde_json::from_str(spec.payload.as_str()).unwrap();
        let Some(inputs) = payload.get("inputs") else { continue };
        let step = payload["payload"].as_u64().unwrap() as usize;
        let expected: serde_json::Map<_, _> =
            oracle.after[step].iter().map(|it| (called(*it), (*it).into())).collect();
        assert_eq!(inputs.as_object().unwrap(), &expected);
    }
}

fn end(world: &mut World, oracle: &mut Oracle, picks: &[(usize, u8)]) {
    let mut ends = Vec::new();
    for (pick, how) in picks {
        let living = oracle.living();
        let Some(&step) = living.get(pick % living.len().max(1)) else { break };
        let (end, state) = match how {
            0 => (StepEnd::Failed("no".to_owned()), StepState::Failed),
            1 if oracle.flow == FlowState::Cancelling => {
                (StepEnd::Cancelled(None), StepState::Cancelled)
            }
            1 => (StepEnd::Cancelled(None), StepState::Failed),
            _ => (StepEnd::Done(RawJson::of(&step)), StepState::Done),
        };
        oracle.steps[step] = state;
        ends.push((name(&called(step)), end));
    }
    oracle.settle();
    // Sometimes not all that could start is started with the end.
    world.end(ends, picks[0].0 % 3 + usize::from(picks.len() > 1));
    world.sweep(|_| true);
}

fn revive(world: &mut World, oracle: &mut Oracle, pick: usize) {
    let failed = oracle.in_state(StepState::Failed);
    let goes_on = matches!(oracle.flow, FlowState::Running | FlowState::Paused | FlowState::Failed);
    let Some(&step) = failed.get(pick % failed.len().max(1)).filter(|_| goes_on) else { return };
    world.revive(&name(&called(step)));
    world.sweep(|_| true);
    oracle.steps[step] = StepState::Living;
    if oracle.flow == FlowState::Failed {
        oracle.flow = FlowState::Running;
    }
    oracle.settle();
}

fn verb(world: &mut World, oracle: &mut Oracle, which: u8) {
    use FlowState as S;
    let (verb, after) = match (which, oracle.flow) {
        (0, state) => (
            FlowVerb::Cancel,
            match state {
                S::Running | S::Paused => Some(S::Cancelling),
                S::Cancelling | S::Cancelled => Some(state),
                _ => None,
            },
        ),
        (1 | 2, state) => (
            FlowVerb::Pause,
            match state {
                S::Running | S::Paused => Some(S::Paused),
                _ => None,
            },
        ),
        (3..=5, state) => (
            FlowVerb::Resume,
            match state {
                S::Running | S::Paused => Some(S::Running),
                _ => None,
            },
        ),
        (_, state) => (
            FlowVerb::Retry,
            match state {
                S::Failed | S::Cancelled => Some(S::Running),
                _ => None,
            },
        ),
    };
    assert_eq!(world.verb(verb), after.is_some());
    // Those whose name ends so are being worked on, and hear of a cancel only later.
    let is_idle = |step: usize| !called(step).ends_with(['1', '4', '7']);
    world.sweep(|it| !it.as_str().ends_with(['1', '4', '7']));
    let Some(after) = after.filter(|after| *after != oracle.flow) else { return };
    oracle.flow = after;
    for step in 0..oracle.steps.len() {
        let state = &mut oracle.steps[step];
        match (verb, *state) {
            (FlowVerb::Cancel, StepState::Living) if is_idle(step) => *state = StepState::Cancelled,
            (FlowVerb::Retry, StepState::Failed | StepState::Cancelled) => {
                *state = StepState::Pending;
            }
            _ => {}
        }
    }
    oracle.settle();
}

proptest! {
    #[test]
    fn a_flow_stands_where_the_rules_put_it(
        after in graph(),
        goes_on in any::<bool>(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut world = World::new(&request(&after, goes_on));
        let mut oracle = Oracle::new(after, goes_on);
        check(&world, &oracle);
        for act in acts {
            match act {
                Act::End(picks) => end(&mut world, &mut oracle, &picks),
                Act::Revive(pick) => revive(&mut world, &mut oracle, pick),
                Act::Verb(which) => verb(&mut world, &mut oracle, which),
            }
            check(&world, &oracle);
        }
    }

    #[test]
    fn a_flow_without_failures_is_done(after in graph(), picks in any::<usize>()) {
        let mut world = World::new(&request(&after, false));
        let mut oracle = Oracle::new(after, false);
        let mut steps = 0;
        while oracle.flow == FlowState::Running {
            end(&mut world, &mut oracle, &[(picks.wrapping_add(steps), 9)]);
            check(&world, &oracle);
            steps += 1;
        }
        prop_assert_eq!(oracle.flow, FlowState::Done);
        prop_assert_eq!(steps, oracle.steps.len());
        prop_assert_eq!(world.spawned.len(), steps);
    }
}
