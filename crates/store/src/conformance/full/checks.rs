//! Nothing of a record is lost, whatever happens to it. What a restart keeps, a move to another store keeps too:
//! checks with a restart in their name are run over that as well.

use std::sync::Arc;

use punctual_core::queue::Mode;
use punctual_core::task::{Edit, Extension, Settlement};
use punctual_core::{
    Event, Fate, NewTask, Patch, RetryPolicy, Span, Spec, State, Status, Task, Timestamp,
};

use super::super::checks;
use super::super::fixture::{Fixture, commit, id, json, queue, token};
use super::super::owners::{changed, made};
use super::{fill, spec, status, task};
use crate::port::{Change, OwnerChange, Push, Stored};

checks! {
    "full":
    a_task_keeps_its_trace_over_a_retry,
    a_task_keeps_every_field_over_fails_retries_and_a_restart,
    an_edited_task_keeps_every_other_field_over_a_restart,
    a_status_keeps_every_field_in_every_state_over_a_restart,
    a_queue_keeps_every_setting_over_a_restart,
    an_owner_keeps_every_field_over_changes_and_a_restart,
}

impl Fixture {
    async fn push_spec(&self, spec: Spec) {
        let push = Push { queue: spec.queue.clone(), tasks: vec![Arc::new(spec)], keyed: None };
        self.store().push(push).await.expect("the task is pushed");
    }

    /// Lets something happen to the task, and sees that it is stored as it was decided.
    async fn happen_whole(&self, event: Event) -> Task {
        let stored = self.get("q", "a").await;
        let decision = self.decide(&stored, event).await.expect("the verb applies");
        let decided = decision.task.clone();
        self.try_commit(stored.revision, decision).await.expect("nobody else changes the task");
        let read = self.get("q", "a").await.task;
        assert_eq!(read, decided);
        read
    }

    /// Takes the task, and sees that what is handed out is what is stored.
    async fn take_whole(&mut self, spec: &Spec) -> Stored {
        let taken = self.take_one("q").await;
        assert_eq!(*taken.task.spec, *spec);
        assert_eq!(self.get("q", "a").await, taken);
        taken
    }
}

fn fail(taken: &Stored) -> Event {
    let settlement = Settlement::Fail {
        error: Some("not \u{fc}sual".to_owned()),
        retry_in: Some(Span::from_secs(3)),
        permanent: false,
    };
    Event::Settle { token: token(taken), settlement }
}

/// A task as it is pushed now, with every field.
fn pushed(turn: usize, now: Timestamp) -> Spec {
    Spec { created_at: now, ..spec("q", id("a"), turn, now) }
}

async fn a_task_keeps_its_trace_over_a_retry(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    let trace = pushed(0, f.now()).trace;
    assert!(trace.is_some());
    f.push("q", NewTask { trace, ..super::super::fixture::task("a") }).await;
    let taken = f.take_one("q").await;
    f.happen_whole(fail(&taken)).await;
    assert_eq!(f.get("q", "a").await.task.spec.trace, trace);
}

async fn a_task_keeps_every_field_over_fails_retries_and_a_restart(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for turn in 0..3 {
        let spec = pushed(turn, f.now());
        f.push_spec(spec.clone()).await;
        let taken = f.take_whole(&spec).await;
        let extension = Extension {
            hold: Some(Span::from_secs(77)),
            progress: Some(0.375),
            message: Some("on my way: ".repeat(10)),
            checkpoint: Some(json(r#"{"so":"far"}"#)),
        };
        f.happen_whole(Event::Extend { token: token(&taken), extension }).await;
        f.happen_whole(fail(&taken)).await;
        f.advance(Span::from_secs(3)).await;
        let taken = f.take_whole(&spec).await;
        f.happen_whole(fail(&taken)).await;
        f.happen_whole(Event::Pause).await;
        f.restart().await;
        assert_eq!(*f.get("q", "a").await.task.spec, spec);
        f.happen_whole(Event::Resume).await;
        f.happen_whole(Event::Retry { force: false }).await;
        let taken = f.take_whole(&spec).await;
        let done = f.happen_whole(Event::Settle { token: token(&taken), settlement: commit() });
        let done = done.await;
        f.restart().await;
        assert_eq!(f.get("q", "a").await.task, done);
        assert_eq!(*done.spec, spec);
        f.store().remove(&queue("q"), &[id("a")]).await.expect("the task is removed");
    }
}

async fn an_edited_task_keeps_every_other_field_over_a_restart(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    // The data of a notice must fit its form, whatever is edited.
    let spec = Spec { notice: None, ..pushed(1, f.now()) };
    f.push_spec(spec.clone()).await;
    let expires = f.now() + Span::from_secs(500);
    let edit = Edit {
        payload: Some(json("[1,2]")),
        due: Patch::Set(f.now() + Span::from_secs(5)),
        priority: Patch::Set(-3),
        tags: Patch::Set(vec!["edited".to_owned()]),
        retry: Patch::Set(RetryPolicy::Intervals(vec![Span::from_secs(1)])),
        expires: Patch::Set(expires),
        if_match: None,
    };
    let edited = f.happen_whole(Event::Edit(edit)).await;
    let expected = Spec {
        payload: json("[1,2]"),
        due_at: f.now() + Span::from_secs(5),
        priority: -3,
        tags: vec!["edited".to_owned()],
        retry: Some(RetryPolicy::Intervals(vec![Span::from_secs(1)])),
        expires: Some(expires),
        ..spec
    };
    assert_eq!(*edited.spec, expected);
    f.restart().await;
    assert_eq!(f.get("q", "a").await.task, edited);
    f.advance(Span::from_secs(5)).await;
    f.take_whole(&expected).await;
}

async fn a_status_keeps_every_field_in_every_state_over_a_restart(mut f: Fixture) {
    f.put_queue("q", |_| ()).await;
    for fate in [Fate::Keep, Fate::Rewrite] {
        for state in State::ALL {
            f.push_spec(pushed(2, f.now())).await;
            let Stored { task, revision } = f.get("q", "a").await;
            let full = Task { status: status(state, f.now()).into(), ..task.clone() };
            put(&f, Change { expected: revision, decision: full.clone().kept(fate) }).await;
            f.restart().await;
            let stored = f.get("q", "a").await;
            assert_eq!(stored.task, full, "{state}");
            // What is no longer there leaves nothing behind.
            let plain = Status::new(task.spec.due_at, f.now());
            let plain = Task { status: plain.into(), ..task };
            let decision = plain.clone().kept(Fate::Keep);
            put(&f, Change { expected: stored.revision, decision }).await;
            assert_eq!(f.get("q", "a").await.task, plain, "{state}");
            f.store().remove(&queue("q"), &[id("a")]).await.expect("the task is removed");
        }
    }
}

async fn put(f: &Fixture, change: Change) {
    let Change { expected, decision } = change;
    f.try_commit(expected, decision).await.expect("nobody else changes the task");
}

async fn a_queue_keeps_every_setting_over_a_restart(mut f: Fixture) {
    for mode in [Mode::Pull, Mode::Dispatch, Mode::Http, Mode::Vote, Mode::Pub] {
        let full = task::queue(mode.name(), mode, f.now());
        assert_eq!(f.try_put(None, full.clone()).await, Ok(()));
        assert_eq!(f.queue(mode.name()).await.as_deref(), Some(&full));
        f.restart().await;
        let before = f.queue(mode.name()).await;
        assert_eq!(before.as_deref(), Some(&full));
        let mut changed = full.clone();
        changed.paused = false;
        changed.settings.tag = Some("another".to_owned());
        assert_eq!(f.try_put(before, changed.clone()).await, Ok(()));
        f.restart().await;
        assert_eq!(f.queue(mode.name()).await.as_deref(), Some(&changed));
    }
}

async fn an_owner_keeps_every_field_over_changes_and_a_restart(mut f: Fixture) {
    for name in ["mode:http", "mode:pull", "mode:vote"] {
        f.put_queue(name, |_| ()).await;
    }
    let owners = fill::owners(f.now());
    for (owner, append) in &owners {
        f.must_change(OwnerChange { append: append.clone(), ..made(owner.clone()) }).await;
    }
    for _ in 0..2 {
        for (owner, items) in &owners {
            let read = f.get_owner(&owner.key()).await;
            assert_eq!(read.owner, *owner);
            assert_eq!(f.items(&owner.key(), 0, 9).await, *items);
            f.must_change(changed(&read, owner.clone())).await;
        }
        f.restart().await;
    }
}
