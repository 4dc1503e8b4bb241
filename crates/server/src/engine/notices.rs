//! Notices: tasks of the queue `notices`, under their own names.

use punctual_core::json::is_deeper_than;
use punctual_core::limits::JSON_DEPTH_MAX;
use punctual_core::notice::{Message, NoticeState};
use punctual_core::{Event, QueueName, Refusal, Spec, Task, TaskId, TraceParent};

use super::query::TaskPage;
use super::{Ask, Engine, Failure, Filter, Key, Outcome, PushAnswer};

impl Engine {
    /// Takes a message, from which on it is sent until it has succeeded or its notices are used up.
    pub(crate) async fn push_notice(
        &self,
        message: Message,
        key: Option<Key>,
        trace: Option<TraceParent>,
    ) -> Result<PushAnswer, Failure> {
        let mut new = message.into_task(&self.notices, &self.reach)?;
        new.trace = trace;
        let queue = QueueName::notices();
        let record = self.store.queue(&queue).await?;
        self.push(&queue, record.as_deref(), vec![Ok(new)], key).await
    }

    /// The task a message of an inbox becomes, or why it becomes none.
    pub(crate) fn notice_of(&self, message: &[u8]) -> Result<Spec, String> {
        let text = std::str::from_utf8(message).map_err(|_| "it is not UTF-8".to_owned())?;
        if is_deeper_than(message, JSON_DEPTH_MAX) {
            return Err("it is nested more than 128 levels deep".to_owned());
        }
        let message: Message =
            serde_json::from_str(text).map_err(|error| format!("it is no message: {error}"))?;
        let new = message.into_task(&self.notices, &self.reach);
        let new = new.map_err(|refusal| refusal.to_string())?;
        let now = self.now();
        Ok(Spec::new(QueueName::notices(), new, self.ids.one(now), now))
    }

    /// Reads a notice.
    pub(crate) async fn notice(&self, id: &TaskId) -> Result<Task, Failure> {
        match self.task(&QueueName::notices(), id).await {
            Ok(task) if task.spec.notice.is_some() => Ok(task),
            Ok(_) | Err(Failure::NoTask { .. }) => Err(Failure::NoNotice(id.clone())),
            Err(failure) => Err(failure),
        }
    }

    /// Lets something happen to a notice, and says how it reads then.
    pub(crate) async fn happen_to_notice(
        &self,
        id: &TaskId,
        event: Event,
    ) -> Result<Task, Failure> {
        self.notice(id).await?;
        let ask = Ask { id: id.clone(), event };
        match self.happen_to_one(&QueueName::notices(), ask).await {
            Ok(Outcome::Task { task, .. }) => Ok(task),
            // Nobody has a token of a notice, so none was settled before.
            Ok(Outcome::Before { .. }) => Err(Failure::Contended),
            Err(Failure::Refused(Refusal::WrongState { verb, state })) => {
                let state = NoticeState::of(state).name();
                let text = format!("{verb} does not apply to a notice that is {state}");
                Err(Failure::WrongState(text))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Lists notices; all states if none is named.
    pub(crate) async fn list_notices(
        &self,
        states: &[NoticeState],
        limit: usize,
        cursor: Option<String>,
    ) -> Result<TaskPage, Failure> {
        let states = states.iter().flat_map(|state| state.states()).collect();
        let filter = Filter { states, notices: true, ..Filter::default() };
        self.list(&QueueName::notices(), &filter, limit, cursor).await
    }
}
