//! Edit: what may be changed while nobody has the task.

use punctual_core::task::{Edit, Event};
use punctual_core::{Fate, NewTask, Patch, Refusal, RetryPolicy, Span, State, Task};

use crate::scene::*;

fn edit(task: &Task, edit: Edit) -> Task {
    let decision = decide(task, Event::Edit(edit), after(1)).expect("an edit applies");
    assert_eq!(decision.fate, Fate::Rewrite, "the spec is stored anew");
    decision.task
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    for state in [State::Waiting, State::Ready, State::Paused] {
        let before = in_state(state);
        assert_eq!(edit(&before, Edit::default()), before, "{state}");
        let retry = RetryPolicy::Intervals(vec![Span::from_secs(1)]);
        let after_it = edit(
            &before,
            Edit {
                payload: Some(json("[9]")),
                due: Patch::Keep,
                priority: Patch::Set(-100),
                tags: Patch::Set(vec!["a".to_owned()]),
                retry: Patch::Set(retry.clone()),
                expires: Patch::Set(after(99)),
                if_match: None,
            },
        );
        let spec = &after_it.spec;
        assert_eq!((spec.payload.as_str(), spec.priority), ("[9]", -100));
        assert_eq!((&spec.tags, &spec.retry), (&vec!["a".to_owned()], &Some(retry)));
        assert_eq!(spec.expires, Some(after(99)));
        assert_eq!(after_it.status, before.status, "{state}");
        let back = edit(
            &after_it,
            Edit {
                priority: Patch::Reset,
                tags: Patch::Reset,
                retry: Patch::Reset,
                expires: Patch::Reset,
                ..Edit::default()
            },
        );
        assert_eq!((back.spec.priority, back.spec.tags.len()), (0, 0));
        assert_eq!((&back.spec.retry, back.spec.expires), (&None, None));
    }
}

#[test]
fn a_new_due_time_moves_the_task() {
    let due = |time| Edit { due: time, ..Edit::default() };
    let waiting = pushed(NewTask { delay: Some(Span::from_secs(60)), ..NewTask::default() });
    for task in [waiting, ready(), in_state(State::Waiting)] {
        let later = edit(&task, due(Patch::Set(after(30))));
        assert_eq!((later.status.state, later.status.ready_at), (State::Waiting, after(30)));
        assert_eq!(later.due_at(), after(30));
        let now = edit(&task, due(Patch::Reset));
        assert_eq!((now.status.state, now.status.ready_at), (State::Ready, after(1)));
        let past = edit(&task, due(Patch::Set(start())));
        assert_eq!((past.status.state, past.status.ready_at), (State::Ready, after(1)));
        assert_eq!(past.due_at(), start());
    }
    let paused = edit(&in_state(State::Paused), due(Patch::Set(after(30))));
    assert_eq!(paused.status.state, State::Paused, "it stays set aside");
    let resumed = happen(&paused, Event::Resume, after(2));
    assert_eq!((resumed.status.state, resumed.status.ready_at), (State::Waiting, after(30)));
}

#[test]
fn what_somebody_has_or_had_is_not_edited() {
    let untaken = [State::Waiting, State::Ready, State::Paused];
    for state in State::ALL.into_iter().filter(|state| !untaken.contains(state)) {
        let refusal = decide(&in_state(state), Event::Edit(Edit::default()), start()).unwrap_err();
        assert!(matches!(refusal, Refusal::WrongState { .. }), "{state}");
    }
}

#[test]
fn a_bad_edit_names_its_field() {
    for (edit, field) in [
        (Edit { priority: Patch::Set(101), ..Edit::default() }, "priority"),
        (Edit { priority: Patch::Set(i32::MIN), ..Edit::default() }, "priority"),
        (Edit { tags: Patch::Set(vec!["x".to_owned(); 33]), ..Edit::default() }, "tags"),
        (Edit { tags: Patch::Set(vec!["x".repeat(129)]), ..Edit::default() }, "tags"),
        (Edit { tags: Patch::Set(vec![String::new()]), ..Edit::default() }, "tags"),
        (
            Edit {
                payload: Some(json(&format!("\"{}\"", "x".repeat(1 << 20)))),
                ..Edit::default()
            },
            "payload",
        ),
    ] {
        let refusal = decide(&ready(), Event::Edit(edit), start()).unwrap_err();
        assert!(refusal.to_string().starts_with(field), "{refusal}");
    }
}
