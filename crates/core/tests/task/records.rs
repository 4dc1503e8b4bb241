//! Records are stored as they are: every field reads back from its packed form.

use punctual_core::callback::{Callback, End};
use punctual_core::task::{Event, Extension};
use punctual_core::{
    FlowId, NewTask, OwnerRef, QueueName, RetryPolicy, Span, Spec, State, StepName, Task,
};

use crate::scene::*;

fn packed_and_back(task: &Task) -> Task {
    let spec = postcard::to_stdvec(&*task.spec).unwrap();
    let status = postcard::to_stdvec(&task.status).unwrap();
    let spec: Spec = postcard::from_bytes(&spec).unwrap();
    let status = postcard::from_bytes(&status).unwrap();
    Task { spec: spec.into(), status }
}

#[test]
fn a_task_reads_back_in_every_state() {
    for state in State::ALL {
        let task = in_state(state);
        assert_eq!(packed_and_back(&task), task, "{state}");
    }
}

#[test]
fn every_field_reads_back() {
    let made = NewTask {
        payload: Some(json("null")),
        retry: Some(RetryPolicy::default()),
        due: Some(after(5)),
        ..NewTask::default()
    };
    let callback = Callback {
        on: vec![End::Failed],
        http: None,
        queue: Some(QueueName::parse("after").unwrap()),
        task: Some(Box::new(made)),
    };
    let mut task = pushed(NewTask {
        id: Some(id("x")),
        payload: Some(json(r#"{"a": [1.50, "ü"]}"#)),
        priority: Some(-3),
        hold: Some(Span::from_millis(1)),
        max_attempts: Some(punctual_core::retry::MaxAttempts::UNLIMITED),
        retry: Some(RetryPolicy::Intervals(vec![Span::from_secs(1), Span::ZERO])),
        unique_for: Some(Span::MAX),
        expires: Some(punctual_core::Timestamp::MAX),
        requires: Some(vec!["gpu".to_owned()]),
        callback: Some(Box::new(callback)),
        tags: Some(vec!["a".to_owned(), "b".to_owned()]),
        ..NewTask::default()
    });
    task.spec = Spec {
        owner: Some(OwnerRef::Flow {
            id: FlowId::parse("f").unwrap(),
            step: StepName::parse("s").unwrap(),
        }),
        ..(*task.spec).clone()
    }
    .into();
    let extension = Extension {
        progress: Some(0.5),
        message: Some("here".to_owned()),
        checkpoint: Some(json("[1]")),
        ..Extension::default()
    };
    let task = take(&task, token(1), start());
    let task = happen(&task, Event::Extend { token: token(1), extension }, start());
    assert_eq!(packed_and_back(&task), task);
    let task = happen(&task, fail_for_good(token(1)), start());
    assert_eq!(packed_and_back(&task), task);
}
