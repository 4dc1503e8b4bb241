//! What a request may say about a flow.

use punctual_core::flow::{FlowState, NewFlow, StepState};
use punctual_core::{FlowId, Invalid, OwnerRef, Refusal};

use crate::scene::{name, now};

fn refused(json: &str) -> Invalid {
    let new: NewFlow = serde_json::from_str(json).unwrap();
    match new.check() {
        Err(Refusal::Invalid(invalid)) => invalid,
        other => panic!("{json}: {other:?}"),
    }
}

#[test]
fn a_flow_is_made_of_its_steps() {
    let json = r#"{"steps":[{"name":"c","queue":"q","after":["a","b"],"payload":3},
        {"name":"a","queue":"q","payload":{"n": 1.50}},{"name":"b","queue":"r","tags":["t"]}]}"#;
    let new: NewFlow = serde_json::from_str(json).unwrap();
    let checked = new.check().unwrap();
    let queues: Vec<_> = checked.queues().into_iter().map(|queue| queue.as_str()).collect();
    assert_eq!(queues, ["q", "r"]);
    let made = checked.make(FlowId::parse("f").unwrap(), now());
    assert_eq!(made.flow.state, FlowState::Running);
    assert_eq!((made.flow.counts.pending, made.flow.counts.living), (1, 2));
    assert_eq!(made.orders.len(), 3);
    let [c, a, b] = &made.steps[..] else { panic!() };
    assert_eq!((c.missing, c.state, c.position), (2, StepState::Pending, 0));
    assert_eq!((a.missing, a.state, &a.before), (0, StepState::Living, &vec![name("c")]));
    assert_eq!((b.state, b.queue.as_str(), b.position), (StepState::Living, "r", 2));
    let [first, second] = &made.spawn[..] else { panic!() };
    assert_eq!((first.id.as_str(), first.payload.as_str()), ("f~a", r#"{"n": 1.50}"#));
    assert_eq!((second.id.as_str(), second.payload.as_str()), ("f~b", "null"));
    assert_eq!(second.tags, ["t"]);
    let owner = OwnerRef::Flow { id: made.flow.id.clone(), step: name("b") };
    assert_eq!(second.owner, Some(owner));
}

#[test]
fn what_is_wrong_is_named() {
    let flow = |steps: &str| format!(r#"{{"steps":[{steps}]}}"#);
    let step =
        |name: &str, after: &str| format!(r#"{{"name":"{name}","queue":"q","after":[{after}]}}"#);
    let join = |steps: &[String]| flow(&steps.join(","));
    for (json, field) in [
        ("{}".to_owned(), "steps"),
        (flow(r#"{"queue":"q"}"#), "steps[0].name"),
        (flow(r#"{"name":"a"}"#), "steps[0].queue"),
        (flow(r#"{"name":"a","queue":"q","due":1,"delay":1}"#), "steps[0].delay"),
        (join(&[step("a", ""), step("a", "")]), "steps[1].name"),
        (join(&[step("a", r#""b""#)]), "steps[0].after"),
        (join(&[step("a", r#""a""#)]), "steps[0].after"),
        (join(&[step("a", ""), step("b", r#""a","a""#)]), "steps[1].after"),
        (join(&[step("x", r#""a""#), step("a", r#""b""#), step("b", r#""a""#)]), "steps[1].after"),
    ] {
        let invalid = refused(&json);
        // Of a cycle any step may be named.
        let is_named = invalid.field == field
            || (invalid.rule.contains("itself") && invalid.field.ends_with(".after"));
        assert!(is_named, "{json}: {invalid}");
    }
    let cycle = refused(&join(&[
        step("x", r#""a""#),
        step("a", r#""c""#),
        step("b", r#""a""#),
        step("c", r#""b""#),
    ]));
    assert!(["a", "b", "c"].iter().any(|name| cycle.rule.contains(&format!("step {name} "))));
}

#[test]
fn long_chains_and_wide_fans_are_checked_in_no_time() {
    let steps: Vec<String> = (0..10_000)
        .map(|n| {
            let after = if n == 0 { String::new() } else { format!(r#""s{}""#, n - 1) };
            format!(r#"{{"name":"s{n}","queue":"q","after":[{after}]}}"#)
        })
        .collect();
    let new: NewFlow =
        serde_json::from_str(&format!(r#"{{"steps":[{}]}}"#, steps.join(","))).unwrap();
    assert_eq!(new.check().unwrap().make(FlowId::parse("f").unwrap(), now()).spawn.len(), 1);
    let names: Vec<String> = (0..400).map(|n| format!(r#""s{n}""#)).collect();
    let mut steps: Vec<String> =
        names.iter().map(|name| format!(r#"{{"name":{name},"queue":"q"}}"#)).collect();
    for n in 0..251 {
        let after = names.join(",");
        steps.push(format!(r#"{{"name":"t{n}","queue":"q","after":[{after}]}}"#));
    }
    assert_eq!(refused(&format!(r#"{{"steps":[{}]}}"#, steps.join(","))).field, "steps");
}
