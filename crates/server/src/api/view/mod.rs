//! How things read: straight from the records into the answer, without a copy in between.

mod batch;
mod queue;
mod task;

pub(crate) use self::batch::{ExtendView, ItemView, Page, Results};
pub(crate) use self::queue::QueueView;
pub(crate) use self::task::{AnswerView, GoneView, TaskView, verb_answer};
