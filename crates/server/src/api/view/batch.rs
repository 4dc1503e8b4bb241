//! How pages and the answers of batches read.

use punctual_core::{State, Task, TaskId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::schema::Time;
use crate::engine::Failure;

/// A page of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// The cursor of the next page; null: this was the last.
    #[schema(required = true)]
    pub(crate) next: Option<String>,
}

/// The answers of a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct Results<'a> {
    /// One per item, in the order of the request.
    pub(crate) results: Vec<ItemView<'a>>,
}

/// The answer to one item of a batch.
#[derive(Serialize, ToSchema)]
#[schema(as = Result)]
pub(crate) struct ItemView<'a> {
    /// The task's id, if the item has one.
    #[schema(value_type = Option<String>, required = true)]
    id: Option<&'a TaskId>,
    /// Whether it was carried out.
    ok: bool,
    /// Why it was not, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    code: Option<&'a str>,
    /// Why it was not, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<String>,
    /// Of an extend: when the hold ends now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Time>, nullable = false)]
    hold_until: Option<Timestamp>,
    /// Of an extend: whether the holder is asked to stop for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cancel: Option<bool>,
    /// Of an extend: whether the holder is asked to set the task aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pause: Option<bool>,
}

impl<'a> ItemView<'a> {
    /// An item that was carried out.
    pub(crate) fn ok(id: Option<&'a TaskId>) -> Self {
        Self { id, ok: true, code: None, detail: None, hold_until: None, cancel: None, pause: None }
    }

    /// An extend that was carried out.
    pub(crate) fn extended(id: Option<&'a TaskId>, task: &Task) -> Self {
        let ExtendView { hold_until, cancel, pause } = ExtendView::new(task);
        Self { hold_until, cancel: Some(cancel), pause: Some(pause), ..Self::ok(id) }
    }

    /// An item that was refused.
    pub(crate) fn refused(id: Option<&'a TaskId>, failure: &Failure) -> Self {
        let (code, detail) = (Some(failure.code().name()), Some(failure.to_string()));
        Self { ok: false, code, detail, ..Self::ok(id) }
    }

    /// An item as it was answered before.
    pub(crate) fn replayed(id: Option<&'a TaskId>, code: Option<&'a str>) -> Self {
        Self { ok: code.is_none(), code, ..Self::ok(id) }
    }
}

/// What a holder hears when it extends.
#[derive(Serialize, ToSchema)]
#[schema(as = Extended)]
pub(crate) struct ExtendView {
    /// When the hold ends now.
    #[schema(value_type = Option<Time>, required = true)]
    hold_until: Option<Timestamp>,
    /// Whether the holder is asked to stop for good, and to say `cancelled`.
    cancel: bool,
    /// Whether the holder is asked to set the task aside, and to say `paused`.
    pause: bool,
}

impl ExtendView {
    /// What the holder of a task hears.
    pub(crate) fn new(task: &Task) -> Self {
        let state = task.status.state;
        Self {
            hold_until: task.status.hold.map(|hold| hold.until),
            cancel: state == State::Cancelling,
            pause: state == State::Pausing,
        }
    }
}
