//! How the steps of a flow read, and what those that wait are waiting for.

use std::collections::HashMap;

use super::{Counts, Flow, FlowState, FlowStep, OnFailure, StepState};
use crate::name::StepName;

/// A step as it reads.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReading {
    /// Where it stands.
    pub state: StepState,
    /// The steps it waits for that are not done.
    pub waiting_for: Vec<StepName>,
}

impl Flow {
    /// How many of its steps read as what, as far as the flow alone can say: while others go on, what
    /// waits behind a failed step is counted as pending.
    pub fn counts_read(&self) -> Counts {
        let mut counts = self.counts;
        let is_over = self.state == FlowState::Failed && self.on_failure == OnFailure::Continue;
        if is_over || matches!(self.state, FlowState::Cancelling | FlowState::Cancelled) {
            counts.cancelled += std::mem::take(&mut counts.pending);
        }
        counts
    }

    /// How its steps read, in the order given: each with the steps it waits for, all of them there.
    pub fn read(&self, steps: &[(FlowStep, Vec<StepName>)]) -> Vec<StepReading> {
        let places: HashMap<&StepName, usize> =
            steps.iter().enumerate().map(|(place, (step, _))| (&step.name, place)).collect();
        let mut states: Vec<StepState> =
            steps.iter().map(|(step, _)| self.state_of(step)).collect();
        if matches!(self.state, FlowState::Cancelling | FlowState::Cancelled) {
            let pending = states.iter_mut().filter(|state| **state == StepState::Pending);
            pending.for_each(|state| *state = StepState::Cancelled);
        } else if self.on_failure == OnFailure::Continue {
            doom(&mut states, steps, &places);
        }
        let reading = |(place, (_, after)): (usize, &(FlowStep, Vec<StepName>))| {
            let state = states[place];
            let is_open = |name: &&StepName| {
                places.get(name).is_none_or(|place| states[*place] != StepState::Done)
            };
            let waits = state == StepState::Pending;
            let waiting_for =
                if waits { after.iter().filter(is_open).cloned().collect() } else { Vec::new() };
            StepReading { state, waiting_for }
        };
        steps.iter().enumerate().map(reading).collect()
    }
}

/// Marks what waits for a step that failed as cancelled, and what waits for that.
fn doom(
    states: &mut [StepState],
    steps: &[(FlowStep, Vec<StepName>)],
    places: &HashMap<&StepName, usize>,
) {
    let is_failed = |state: &StepState| matches!(state, StepState::Failed | StepState::Cancelled);
    let failed = states.iter().enumerate().filter(|(_, state)| is_failed(state));
    let mut open: Vec<usize> = failed.map(|(place, _)| place).collect();
    while let Some(place) = open.pop() {
        for name in &steps[place].0.before {
            let Some(&after) = places.get(name) else { continue };
            if states[after] == StepState::Pending {
                states[after] = StepState::Cancelled;
                open.push(after);
            }
        }
    }
}

/// What a person is told about a step that waits for others.
pub fn waiting_text(steps: &[StepName]) -> String {
    /// So many are named.
    const NAMED: usize = 10;
    let names: Vec<&str> = steps.iter().take(NAMED).map(StepName::as_str).collect();
    match (names.as_slice(), steps.len().saturating_sub(NAMED)) {
        ([name], 0) => format!("waiting for step {name}"),
        ([names @ .., last], 0) => format!("waiting for steps {} and {last}", names.join(", ")),
        (names, more) => format!("waiting for steps {} and {more} more", names.join(", ")),
    }
}
