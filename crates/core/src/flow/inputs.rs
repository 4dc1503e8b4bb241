//! The task a step becomes: what it was given, and the results of the steps before it.

use serde::{Deserialize, Serialize};

use super::{Flow, FlowStep};
use crate::json::{Members, RawJson};
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::name::StepName;
use crate::owner::OwnerRef;
use crate::task::{NewTask, Spec};
use crate::time::Timestamp;
use crate::trace::TraceParent;

/// What a step was given: kept as an item beside its flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepOrder {
    /// Its task.
    pub task: NewTask,
    /// The steps it waits for.
    pub after: Vec<StepName>,
    /// The span its flow was made in, if that belongs to a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceParent>,
}

impl StepOrder {
    /// The order that an item holds.
    pub fn read(item: &RawJson) -> Result<Self, serde_json::Error> {
        serde_json::from_str(item.as_str())
    }

    /// The steps that one waits for, by the item that holds its order.
    pub fn after(item: &RawJson) -> Result<Vec<StepName>, serde_json::Error> {
        #[derive(Deserialize)]
        struct After {
            after: Vec<StepName>,
        }
        serde_json::from_str(item.as_str()).map(|After { after }| after)
    }

    /// Whether results take so much room that they cannot be inputs of one task.
    pub fn is_too_much(results_bytes: usize) -> bool {
        results_bytes > PAYLOAD_BYTES_MAX
    }

    /// The task of a step; `results` are those of the steps it waits for, in their order. None: its payload
    /// would be too large.
    pub(super) fn spec(
        self,
        flow: &Flow,
        step: &FlowStep,
        results: &[RawJson],
        now: Timestamp,
    ) -> Option<Spec> {
        let Self { mut task, after, trace } = self;
        task.trace = trace;
        if !after.is_empty() {
            let payload = with_inputs(task.payload.take().unwrap_or_default(), &after, results);
            if payload.len() > PAYLOAD_BYTES_MAX {
                return None;
            }
            task.payload = Some(payload);
        }
        // The flow keeps the ids of its steps apart, and must be able to use them again when they are
        // tried again.
        task.unique_for = None;
        let owner = Some(OwnerRef::Flow { id: flow.id.clone(), step: step.name.clone() });
        Some(Spec { owner, ..Spec::new(step.queue.clone(), task, step.task_id(), now) })
    }
}

/// A payload with the results of the steps before it. No value is written other than it came.
fn with_inputs(payload: RawJson, after: &[StepName], results: &[RawJson]) -> RawJson {
    let named = after.iter().map(|name| name.as_str().to_owned()).zip(results.iter().cloned());
    let inputs = ("inputs".to_owned(), object(named));
    let is_object = payload.as_str().trim_start().starts_with('{');
    match serde_json::from_str::<Members>(payload.as_str()) {
        Ok(Members(members)) if is_object => {
            object(members.into_iter().filter(|(name, _)| name != "inputs").chain([inputs]))
        }
        _ => object([("payload".to_owned(), payload), inputs]),
    }
}

fn object(members: impl IntoIterator<Item = (String, RawJson)>) -> RawJson {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(RawJson::of(&name).as_str());
        text.push(':');
        text.push_str(value.as_str());
    }
    text.push('}');
    RawJson::stored(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(payload: &str) -> String {
        let json = |text: &str| RawJson::parse(text).unwrap();
        let after = ["a", "b.c"].map(|name| StepName::parse(name).unwrap());
        let results = [json("1e400"), json(r#"{"x": 12345678901234567890.10}"#)];
        with_inputs(json(payload), &after, &results).as_str().to_owned()
    }

    #[test]
    fn inputs_are_added_to_an_object_and_stand_beside_all_else() {
        const INPUTS: &str = r#""inputs":{"a":1e400,"b.c":{"x": 12345678901234567890.10}}"#;
        for (payload, expected) in [
            ("{}", format!("{{{INPUTS}}}")),
            (" {\n} ", format!("{{{INPUTS}}}")),
            (r#"{"n":1.50,"\u0061":[1, 2]}"#, format!(r#"{{"n":1.50,"a":[1, 2],{INPUTS}}}"#)),
            (r#"{"inputs":"mine","z":0}"#, format!(r#"{{"z":0,{INPUTS}}}"#)),
            ("null", format!(r#"{{"payload":null,{INPUTS}}}"#)),
            ("[{}]", format!(r#"{{"payload":[{{}}],{INPUTS}}}"#)),
            (r#""{}""#, format!(r#"{{"payload":"{{}}",{INPUTS}}}"#)),
        ] {
            assert_eq!(given(payload), expected, "{payload}");
        }
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let json = r#"{"payload":{"n":1e400},"delay":1.5,"due":null,"hold":60,"max_attempts":-1,
            "retry":{"intervals":[1,2]},"expires":"2026-11-15T06:00:00Z","tags":["t"],
            "http":{"url":"http://example.com/","headers":{"x":"y"}},
            "callback":{"on":["done"],"queue":"q","task":{"payload":[1]}}}"#;
        let task: NewTask = serde_json::from_str(json).unwrap();
        let after = vec![StepName::parse("a").unwrap()];
        for trace in [None, Some(TraceParent::root(7))] {
            let order = StepOrder { task: task.clone(), after: after.clone(), trace };
            assert_eq!(StepOrder::read(&RawJson::of(&order)).unwrap(), order);
        }
    }
}
