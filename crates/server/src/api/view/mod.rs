//! How things read: straight from the records into the answer, without a copy in between.

mod batch;
mod bundle;
mod callback;
mod flow;
mod http;
mod notice;
mod plan;
mod queue;
mod task;
mod worker;

use punctual_core::Timestamp;

pub(crate) use self::batch::{ExtendView, ItemView, Page, Results};
pub(crate) use self::bundle::BundleView;
pub(crate) use self::callback::CallbackView;
pub(crate) use self::flow::{FlowSummaryView, FlowView, GoneFlowView};
pub(crate) use self::http::HttpView;
pub(crate) use self::notice::NoticeView;
pub(crate) use self::plan::{GonePlanView, PlanView};
pub(crate) use self::queue::{QueueView, ScaleView, TotalsView};
pub(crate) use self::task::{AnswerView, GoneView, PayloadShown, TaskView, verb_answer};
pub(crate) use self::worker::{OrdersView, WorkerView};

/// The circumstances under which something is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewing<'a> {
    /// When.
    pub(crate) now: Timestamp,
    /// Headers whose values are hidden, besides those that always are.
    pub(crate) secret_headers: &'a [String],
}
