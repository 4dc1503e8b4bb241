//! A typed client for Punctual, the durable task queue.
//!
//! A producer pushes tasks into queues. A worker takes tasks and settles each one with the token from
//! the answer to its take. A successful answer means that the change is durable.
//!
//! ```no_run
//! use punctual_client::{Client, Commit, NewTask, Span, Take};
//! use serde_json::json;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), punctual_client::Error> {
//!     let client = Client::new("http://127.0.0.1:23334", None)?;
//!     client.push("mail", &NewTask::new(&json!({"to": "ada@example.org"}))).await?;
//!
//!     let take = Take::new().worker("w1").wait(Span::from_secs(30));
//!     for taken in client.take("mail", &take).await?.tasks {
//!         println!("{}", taken.task.payload.as_str());
//!         client.commit(taken.held(), &Commit::default()).await?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A worker program uses a [`Runtime`]: handlers per queue, with heartbeats, cancellation and graceful
//! shutdown.
//!
//! A [`Pusher`] gathers pushes into batches and repeats them while the server is away. A [`Verifier`] checks the
//! deliveries of queues of mode http.
//!
//! [`Client`] has a method for every verb. [`Error`] says whether a failed request may have taken effect.
//! Commits, and pushes with an id or an Idempotency-Key, are safe to repeat.
//!
//! Payloads, results and checkpoints are [`RawJson`]: JSON text that is kept exactly.
//! [`RawJson::of`] makes it from any serialisable value, [`RawJson::parse`] from text.

mod backup;
mod bundles;
mod changes;
mod clock;
mod connect;
mod error;
mod events;
mod failures;
mod flows;
mod health;
mod hold;
mod notices;
mod plan;
mod plans;
mod pusher;
mod queues;
mod rule;
mod runtime;
mod stats;
mod task;
mod tasks;
mod tokens;
mod transport;
mod webhooks;
mod workers;

pub use backup::BackupStream;
pub use bundles::{Bundle, BundlePushed, GotBundle, Payload, Scheduled};
pub use error::{Effect, Error, Problem};
pub use events::{Event, EventFilter, Events};
pub use failures::FailureGroup;
pub use flows::{Flow, FlowStep, NewFlow, Step};
pub use health::Ready;
pub use hold::{Commit, Extend, Extended, Fail, Held, Item, Release, Stopped, Take, TakeAnswer};
pub use notices::{NewNotice, Notice, SentNotice};
pub use plan::{NewPlan, Plan, PlanChanges, PlanResult};
pub use punctual_core::calendar::{PlanTime, PlanType, TimeOfDay};
pub use punctual_core::flow::{FlowState, OnFailure};
pub use punctual_core::http::{Headers, HttpTarget, Method, Statuses, Success};
pub use punctual_core::notice::{ContentType, NoticeMethod, NoticeState};
pub use punctual_core::plan::{LastState, OnError, PlanState};
pub use punctual_core::queue::{Mode, Order, Rate};
pub use punctual_core::task::{Attempt, Outcome};
pub use punctual_core::worker::WorkerState;
pub use punctual_core::{RawJson, RetryPolicy, Right, Span, State, Timestamp, TokenLimits};
pub use pusher::Pusher;
pub use queues::{Counts, Queue, QueueChanges, Scale};
pub use rule::Rule;
pub use runtime::{Job, Runtime, Stop};
pub use stats::{QueueStats, Stats};
pub use task::{After, Callback, Gone, NewTask, Taken, Task};
pub use tasks::{BulkAnswer, BulkVerb, Filter, ItemResult, Page, Pushed, TaskChanges, Why};
pub use tokens::{AccessToken, MadeAccessToken, NewAccessToken};
pub use transport::Client;
pub use webhooks::{NotGenuine, Verifier};
pub use workers::{Asked, Join, Polled, Worker};
