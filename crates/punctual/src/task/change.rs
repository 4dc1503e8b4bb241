//! The verbs that change a task and answer with it: anybody's, and its holder's.

use clap::{Args, Subcommand};
use punctual_client::{
    After, Client, Error, Fail, RawJson, Release, Span, State, Stopped, TaskChanges,
};

use super::{Holding, Named};
use crate::values;

#[derive(Subcommand)]
pub(super) enum Change {
    /// Cancel a task; one that is running is asked to stop
    #[command(after_help = "Example:\n  punctual task cancel mail welcome-ada")]
    Cancel(Named),
    /// Make a task that failed, or waits for its retry, ready now
    #[command(after_help = "Example:\n  punctual task retry mail welcome-ada")]
    Retry {
        #[command(flatten)]
        task: Named,
        /// Also if somebody holds it: it is freed
        #[arg(long)]
        force: bool,
    },
    /// Set a task aside; one that is running is asked to pause
    #[command(after_help = "Example:\n  punctual task pause mail welcome-ada")]
    Pause(Named),
    /// Let a paused task go on
    #[command(after_help = "Example:\n  punctual task resume mail welcome-ada")]
    Resume(Named),
    /// Make a task like new: attempts, progress, checkpoint and history are cleared
    #[command(after_help = "Example:\n  punctual task reset mail welcome-ada")]
    Reset(Named),
    /// Change a task nobody has taken yet
    #[command(after_help = "\
Fields: payload, due, priority, tags, retry, expires. A value is JSON, or else text. FIELD= with
nothing behind it goes back to the default.

Example:\n  punctual task edit mail welcome-ada priority=10 tags='[\"urgent\"]' due=2027-01-01T06:00:00Z")]
    Edit {
        #[command(flatten)]
        task: Named,
        /// A field and its new value
        #[arg(value_name = "FIELD=VALUE", required = true, value_parser = values::setting)]
        fields: Vec<(String, RawJson)>,
    },
    /// Give a task of a dispatch queue to a worker
    #[command(after_help = "Example:\n  punctual task assign render frame-7 gpu-1")]
    Assign {
        #[command(flatten)]
        task: Named,
        /// The worker's name
        worker: String,
    },
    /// Say that a held task failed: it waits for its retry, or is failed for good
    #[command(after_help = "\
Example:\n  punctual task fail mail welcome-ada TOKEN --error 'mailbox full' --retry-in 10m")]
    Fail {
        #[command(flatten)]
        task: Holding,
        /// What went wrong
        #[arg(long)]
        error: Option<String>,
        /// The wait until the next attempt, instead of the policy's
        #[arg(long, value_parser = values::span)]
        retry_in: Option<Span>,
        /// Trying again is no use
        #[arg(long)]
        permanent: bool,
    },
    /// Give a held task back; the take does not count
    #[command(after_help = "Example:\n  punctual task release mail welcome-ada TOKEN --delay 1m")]
    Release {
        #[command(flatten)]
        task: Holding,
        /// The wait until it is ready again
        #[arg(long, value_parser = values::span)]
        delay: Option<Span>,
        /// What its next holder needs to go on, any JSON
        #[arg(long, value_parser = values::json, allow_negative_numbers = true)]
        checkpoint: Option<RawJson>,
    },
    /// Confirm a task that was taken with --confirm; its hold begins
    #[command(after_help = "Example:\n  punctual task confirm mail welcome-ada TOKEN")]
    Confirm(Holding),
    /// Say that a held task was stopped, as asked
    #[command(
        after_help = "Example:\n  punctual task cancelled mail welcome-ada TOKEN --error 'half sent'"
    )]
    Cancelled(Stopping),
    /// Say that a held task was set aside, as asked
    #[command(
        after_help = "Example:\n  punctual task paused mail welcome-ada TOKEN --checkpoint 17"
    )]
    Paused(Stopping),
}

/// What a holder says that was asked to stop.
#[derive(Args)]
pub(super) struct Stopping {
    #[command(flatten)]
    task: Holding,
    /// What its next holder needs to go on, any JSON
    #[arg(long, value_parser = values::json, allow_negative_numbers = true)]
    checkpoint: Option<RawJson>,
    /// What it came to, any JSON
    #[arg(long, value_parser = values::json, allow_negative_numbers = true)]
    result: Option<RawJson>,
    /// What went wrong
    #[arg(long)]
    error: Option<String>,
}

impl Stopping {
    fn parts(self) -> (Holding, Stopped) {
        let Self { task, checkpoint, result, error } = self;
        (task, Stopped { checkpoint, result, error })
    }
}

impl Change {
    /// Carries it out, and answers with the task as it is then.
    pub(super) async fn apply(self, client: &Client) -> Result<(After, &'static str), Error> {
        let task = |task| After::Task(Box::new(task));
        Ok(match self {
            Self::Cancel(Named { queue, id }) => {
                (task(client.cancel(&queue, &id).await?), "cancel")
            }
            Self::Pause(Named { queue, id }) => (task(client.pause(&queue, &id).await?), "pause"),
            Self::Resume(Named { queue, id }) => {
                (task(client.resume(&queue, &id).await?), "resume")
            }
            Self::Reset(Named { queue, id }) => (task(client.reset(&queue, &id).await?), "reset"),
            Self::Retry { task: Named { queue, id }, force } => {
                (task(client.retry(&queue, &id, force).await?), "retry")
            }
            Self::Edit { task: Named { queue, id }, fields } => {
                let none = TaskChanges::new();
                let changes = fields.into_iter().fold(none, |all, (name, to)| all.set(&name, to));
                (task(client.edit(&queue, &id, &changes).await?), "edit")
            }
            Self::Assign { task: Named { queue, id }, worker } => {
                (task(client.assign(&queue, &id, &worker).await?), "assign")
            }
            Self::Confirm(held) => (task(client.confirm(held.held()).await?), "confirm"),
            Self::Fail { task, error, retry_in, permanent } => {
                let fail = Fail { error, retry_in, permanent };
                (client.fail(task.held(), &fail).await?, "fail")
            }
            Self::Release { task, delay, checkpoint } => {
                let release = Release { delay, checkpoint };
                (client.release(task.held(), &release).await?, "release")
            }
            Self::Cancelled(stopping) => {
                let (task, stopped) = stopping.parts();
                (client.cancelled(task.held(), &stopped).await?, "cancelled")
            }
            Self::Paused(stopping) => {
                let (task, stopped) = stopping.parts();
                (client.paused(task.held(), &stopped).await?, "paused")
            }
        })
    }
}

/// Where a task stands after a verb.
pub(super) fn stands(what: &str, after: &After) -> String {
    let state = after.state().map_or("gone since", |state| state.name());
    let until = match after.task() {
        Some(task) if task.state == State::Waiting => format!(" until {}", task.due_at),
        _ => String::new(),
    };
    format!("{what} {}: {state}{until}", after.id())
}
