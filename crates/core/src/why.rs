//! Why a task is not running now: one sentence for a person, the same as data for a program.

use serde::Serialize;

use crate::flow::StepState;
use crate::name::StepName;
use crate::queue::{Mode, Queue};
use crate::task::{State, Task};
use crate::time::Timestamp;

/// The state of the queue around the task.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Tasks of the queue that are held.
    pub held: u64,
    /// Ready tasks of the queue, this one among them.
    pub ready: u64,
    /// When the rate limit lets the next task go.
    pub rate_at: Option<Timestamp>,
    /// Takes that are waiting for a task of this queue.
    pub takers: u64,
    /// How its target is doing, where the server delivers it.
    pub target: Option<Target>,
    /// The workers that could get it, if the server assigns it.
    pub staff: Staff,
    /// The workers that have not voted yet.
    pub awaited: Vec<String>,
}

/// The registered workers that can be given tasks of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Staff {
    /// How many serve the queue.
    pub serving: u64,
    /// How many of them have all that the task requires.
    pub capable: u64,
    /// How many of those have a place free.
    pub free: u64,
    /// The required capabilities that no worker has.
    pub missing: Vec<String>,
}

/// How the target of a delivery is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// It can be given more.
    Free,
    /// It has been given all it can take at once.
    Busy,
    /// The queue has as many deliveries under way as its share allows.
    Unshared,
    /// It could not be reached lately.
    Down {
        /// When it is tried again.
        probed_at: Timestamp,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// A stable code.
    pub reason: Reason,
    /// One sentence.
    pub text: String,
    /// The task's state, or that of a step that is not a task yet.
    pub state: Standing,
    /// When that changes by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The worker that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The limit that keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Ready tasks of the queue, this one among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<u64>,
    /// The steps of its flow that must be done first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<StepName>,
}

/// The state of a record that is not running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Standing {
    /// A task.
    Task(State),
    /// A step of a flow.
    Step(StepState),
}

impl Why {
    /// Why a step of a flow is not a task yet.
    pub fn of_step(reason: Reason, text: String) -> Self {
        Self { reason, text, ..Self::nothing(Standing::Step(StepState::Pending)) }
    }

    fn nothing(state: Standing) -> Self {
        Self {
            reason: Reason::InLine,
            text: String::new(),
            state,
            until: None,
            worker: None,
            error: None,
            limit: None,
            ready: None,
            waiting_for: Vec::new(),
        }
    }
}

/// The codes of [`Why::reason`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is not due yet.
    NotDue,
    /// It failed and waits for its next attempt.
    RetryWait,
    /// It was paused.
    Paused,
    /// Its queue is paused.
    QueuePaused,
    /// The queue holds as many as it may at once.
    Concurrency,
    /// The queue's rate limit is used up.
    Rate,
    /// No worker is asking for work.
    NoTaker,
    /// No worker is registered that serves the queue.
    NoWorker,
    /// None of them has all that it requires.
    NoCapableWorker,
    /// All that could be given it have as many tasks as they can.
    WorkersBusy,
    /// Its target is given no more at once.
    TargetBusy,
    /// Its queue has as many deliveries under way as its share of all allows.
    DeliveriesBusy,
    /// Its target could not be reached lately.
    TargetDown,
    /// It is next, or others go first.
    InLine,
    /// It was handed out and is not confirmed.
    Unconfirmed,
    /// It is running.
    Running,
    /// It is running and asked to pause.
    Pausing,
    /// It is running and asked to stop.
    Cancelling,
    /// It has ended.
    Finished,
    /// Steps of its flow must be done first.
    WaitingForSteps,
    /// Its flow is paused.
    FlowPaused,
    /// Another step of its flow failed.
    FlowStopped,
}

/// Explains why a task is not running.
pub fn why(task: &Task, queue: &Queue, around: Surroundings, now: Timestamp) -> Why {
    let status = &task.status;
    let state = status.state_at(now);
    let mut why = Why::nothing(Standing::Task(state));
    let say = |why: &mut Why, reason, text: String| {
        why.reason = reason;
        why.text = text;
    };
    match state {
        State::Waiting => {
            why.until = Some(status.ready_at);
            let until = status.ready_at;
            match &status.error {
                Some(error) if status.attempt > 0 => {
                    why.error = Some(error.clone());
                    let text = format!(
                        "attempt {} failed ({error}); the next is at {until}",
                        status.attempt
                    );
                    say(&mut why, Reason::RetryWait, text);
                }
                _ => say(&mut why, Reason::NotDue, format!("it is not due until {until}")),
            }
        }
        State::Paused => {
            say(&mut why, Reason::Paused, "it was paused; resume it to let it run".to_owned());
        }
        State::Assigned | State::Running | State::Pausing | State::Cancelling => {
            let who = status.worker.as_ref().map_or("a worker without a name", |w| w.as_str());
            why.worker = status.worker.as_ref().map(ToString::to_string);
            why.until = status.hold.map(|hold| hold.until);
            let until = why.until.unwrap_or(now);
            let (reason, text) = match state {
                State::Assigned => (
                    Reason::Unconfirmed,
                    format!("it was handed to {who}, who has until {until} to confirm"),
                ),
                State::Pausing => (
                    Reason::Pausing,
                    format!("{who} was asked to pause it; it is paused at {until} at the latest"),
                ),
                State::Cancelling => (
                    Reason::Cancelling,
                    format!("{who} was asked to stop; it is cancelled at {until} at the latest"),
                ),
                _ if !around.awaited.is_empty() => {
                    let awaited = around.awaited.join(", ");
                    let text = format!(
                        "it is voted on: {awaited} can answer, until {until} at the latest"
                    );
                    (Reason::Running, text)
                }
                _ => (Reason::Running, format!("it is running: {who} holds it until {until}")),
            };
            say(&mut why, reason, text);
        }
        State::Done | State::Failed | State::Cancelled => {
            why.error.clone_from(&status.error);
            let at = status.finished_at.unwrap_or(now);
            let text = match &status.error {
                Some(error) if state == State::Failed => {
                    format!("it failed at {at} after {} attempts: {error}", status.attempt)
                }
                _ => format!("it ended at {at}: {state}"),
            };
            say(&mut why, Reason::Finished, text);
        }
        State::Ready => explain_ready(&mut why, task, queue, &around),
    }
    why
}

fn explain_ready(why: &mut Why, task: &Task, queue: &Queue, around: &Surroundings) {
    let limit = queue.settings.concurrency;
    why.ready = Some(around.ready);
    (why.reason, why.text) = if queue.paused {
        (Reason::QueuePaused, format!("the queue {} is paused; resume it", queue.name))
    } else if let Some(limit) = limit.filter(|limit| around.held >= u64::from(*limit)) {
        why.limit = Some(limit.into());
        (Reason::Concurrency, format!("the queue holds {} tasks, as many as it may at once", limit))
    } else if let Some(at) = around.rate_at {
        why.until = Some(at);
        (Reason::Rate, format!("the queue's rate limit lets the next task go at {at}"))
    } else if queue.settings.mode == Mode::Http {
        match around.target {
            Some(Target::Down { probed_at }) => {
                why.until = Some(probed_at);
                let text = format!(
                    "its target could not be reached lately; it is tried again at {probed_at}"
                );
                (Reason::TargetDown, text)
            }
            Some(Target::Busy) => {
                let text = "its target has as many deliveries under way as it is given at once";
                (Reason::TargetBusy, text.to_owned())
            }
            Some(Target::Unshared) => {
                let text =
                    "its queue has as many deliveries under way as places are free for others";
                (Reason::DeliveriesBusy, text.to_owned())
            }
            Some(Target::Free) | None => {
                (Reason::InLine, format!("it is one of {} tasks to be delivered", around.ready))
            }
        }
    } else if matches!(queue.settings.mode, Mode::Dispatch | Mode::Vote) {
        explain_staff(task, queue, around)
    } else if queue.settings.mode == Mode::Pub {
        (Reason::InLine, format!("it is one of {} tasks to be broadcast", around.ready))
    } else if around.takers == 0 {
        (Reason::NoTaker, "it is ready; no worker is asking this queue for work".to_owned())
    } else {
        (Reason::InLine, format!("it is one of {} ready tasks; workers are at them", around.ready))
    };
}

/// Why nobody has been given it yet.
fn explain_staff(task: &Task, queue: &Queue, around: &Surroundings) -> (Reason, String) {
    let Staff { serving, capable, free, missing } = &around.staff;
    if *serving == 0 {
        let text = format!("no worker is registered that serves the queue {}", queue.name);
        (Reason::NoWorker, text)
    } else if !missing.is_empty() {
        let text =
            format!("no worker of queue {} is capable of {}", queue.name, missing.join(", "));
        (Reason::NoCapableWorker, text)
    } else if *capable == 0 {
        let all = task.spec.requires.join(", ");
        let text = format!("no worker of queue {} is capable of all of {all}", queue.name);
        (Reason::NoCapableWorker, text)
    } else if *free == 0 && queue.settings.mode == Mode::Dispatch {
        let text = "every worker that could do it has as many tasks as it can take".to_owned();
        (Reason::WorkersBusy, text)
    } else {
        (Reason::InLine, format!("it is one of {} ready tasks to be handed out", around.ready))
    }
}
