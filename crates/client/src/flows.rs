//! Flows: steps that become tasks when the steps before them are done.

use punctual_core::flow::{FlowState, OnFailure};
use punctual_core::{RawJson, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::task::NewTask;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

const FLOWS: &str = "/v1/flows";

/// A flow to make.
///
/// ```
/// use punctual_client::{NewFlow, NewTask, Step};
///
/// let flow = NewFlow::new([
///     Step::new("fetch", "downloads", NewTask::new("https://example.org/data")),
///     Step::new("resize", "images", NewTask::default()).after(["fetch"]),
///     Step::new("mail", "mail", NewTask::default()).after(["resize"]),
/// ]);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewFlow {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<OnFailure>,
}

impl NewFlow {
    /// A flow of these steps, in any order.
    pub fn new(steps: impl Into<Vec<Step>>) -> Self {
        Self { steps: steps.into(), ..Self::default() }
    }

    /// Its id; generated if none is given.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the effect of a failed step on the other steps.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = Some(on_failure);
        self
    }
}

/// A step of a flow to make.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    name: String,
    queue: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    #[serde(flatten)]
    task: NewTask,
}

impl Step {
    /// A step that becomes this task of a queue. The task's id follows from the flow's and the
    /// step's name.
    pub fn new(name: impl Into<String>, queue: impl Into<String>, task: NewTask) -> Self {
        Self { name: name.into(), queue: queue.into(), after: Vec::new(), task }
    }

    /// The steps that must be done first. Their results are its `inputs`.
    #[must_use]
    pub fn after<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.after = names.into_iter().map(Into::into).collect();
        self
    }
}

/// A flow as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flow {
    /// Its id.
    pub id: String,
    /// The state.
    pub state: FlowState,
    /// The effect of a failed step on the other steps.
    pub on_failure: OnFailure,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Its steps; a list of flows leaves them out.
    #[serde(default)]
    pub steps: Vec<FlowStep>,
}

/// A step as it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FlowStep {
    /// Its name.
    pub name: String,
    /// The queue of its task.
    pub queue: String,
    /// The steps that must be done first.
    #[serde(default)]
    pub after: Vec<String>,
    /// `pending`, or the state of its task.
    pub state: String,
    /// The result.
    pub result: Option<RawJson>,
    /// The error.
    pub error: Option<String>,
}

fn flow_path(id: &str) -> String {
    path(FLOWS, &[id])
}

impl Client {
    /// Makes a flow, in one write.
    pub async fn make_flow(&self, flow: &NewFlow) -> Result<Flow, Error> {
        self.send(Call::post(FLOWS.to_owned()).body(flow)).await
    }

    /// Makes a flow from JSON as the interface has it.
    pub async fn make_flow_from(&self, flow: &RawJson) -> Result<Flow, Error> {
        self.send(Call::post(FLOWS.to_owned()).body(flow)).await
    }

    /// Reads a flow with its steps.
    pub async fn flow(&self, id: &str) -> Result<Flow, Error> {
        self.send(Call::get(flow_path(id))).await
    }

    /// Reads a page of flows, in one of the states or in any.
    pub async fn flows(
        &self,
        states: &[FlowState],
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Flow>, Error> {
        let states: Vec<_> = states.iter().map(|state| state.name()).collect();
        let query = query(&[
            ("state", Some(states.join(",")).filter(|states| !states.is_empty())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("{FLOWS}{query}"))).await
    }

    /// Cancels a flow: holders of running steps are asked to stop.
    pub async fn cancel_flow(&self, id: &str) -> Result<Flow, Error> {
        self.send(Call::post(flow_path(id) + "/cancel")).await
    }

    /// Pauses a flow: no further step starts.
    pub async fn pause_flow(&self, id: &str) -> Result<Flow, Error> {
        self.send(Call::post(flow_path(id) + "/pause")).await
    }

    /// Resumes a paused flow.
    pub async fn resume_flow(&self, id: &str) -> Result<Flow, Error> {
        self.send(Call::post(flow_path(id) + "/resume")).await
    }

    /// Retries failed steps; done steps stay done.
    pub async fn retry_flow(&self, id: &str) -> Result<Flow, Error> {
        self.send(Call::post(flow_path(id) + "/retry")).await
    }
}
