//! The worker runtime: handlers per queue, heartbeats, cancellation, graceful shutdown.
//!
//! ```no_run
//! use punctual_client::{Client, Fail, Job, RawJson, Runtime};
//!
//! async fn send_mail(job: Job) -> Result<RawJson, Fail> {
//!     let to: String = job.payload()?;
//!     job.progress(0.5, "half way");
//!     Ok(RawJson::of(&format!("sent to {to}")))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), punctual_client::Error> {
//!     let client = Client::new("http://127.0.0.1:23334", None)?;
//!     let runtime = Runtime::new(client, "mailer-1").handle("mail", 8, send_mail);
//!     runtime.run_until(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await
//! }
//! ```
//!
//! The runtime calls a handler for every task of its queue. It takes the tasks of pull queues, and registers
//! for the tasks of dispatch and vote queues. The handler's result is committed. An error or a panic fails
//! the task, which is retried by the queue's policy.
//!
//! The runtime talks to the server from its own thread, so that a handler that never yields keeps its hold.
//!
//! ```text
//!   pull ──┐                             ┌── handler, in the runtime of the program
//!          ├──▶ jobs::carry_out ─────────┤
//!   given ─┘    confirm, settle          └── heartbeats: extend, learn of cancel and pause
//! ```

mod given;
mod job;
mod jobs;
mod pull;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use punctual_core::queue::Mode;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;
use tracing::warn;

pub use self::job::{Job, Stop};
use self::jobs::Jobs;
use crate::error::Error;
use crate::hold::Fail;
use crate::queues::QueueChanges;
use crate::transport::Client;
use punctual_core::RawJson;

/// How long running tasks may continue after a stop, by default.
const GRACE: Duration = Duration::from_secs(30);
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

type Outcome = Result<RawJson, Fail>;
type Carrying = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The function that executes the tasks of a queue.
#[derive(Clone)]
struct Handler {
    call: Arc<dyn Fn(Job) -> Carrying + Send + Sync>,
    room: Arc<Semaphore>,
    concurrency: usize,
    /// Whether what it is given is confirmed before there is room: a ballot goes to nobody else.
    confirms_at_once: bool,
}

/// A worker with its handlers.
#[must_use = "a runtime does nothing until it is run"]
pub struct Runtime {
    client: Client,
    name: String,
    capabilities: Vec<String>,
    grace: Duration,
    hurry: Signal,
    handlers: HashMap<String, Handler>,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let queues: Vec<_> = self.handlers.keys().collect();
        f.debug_struct("Runtime").field("name", &self.name).field("queues", &queues).finish()
    }
}

impl Runtime {
    /// Makes a worker with this name, which should be unique among the workers of its queues.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        let (capabilities, handlers) = (Vec::new(), HashMap::new());
        let hurry = Box::pin(std::future::pending());
        Self { client, name: name.into(), capabilities, grace: GRACE, hurry, handlers }
    }

    /// Sets the capabilities, for queues of mode dispatch.
    pub fn capabilities<C: Into<String>>(
        mut self,
        capabilities: impl IntoIterator<Item = C>,
    ) -> Self {
        self.capabilities = capabilities.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how long running tasks may continue after a stop before they are given back; default 30 seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Ends the grace period as soon as `hurry` is ready: running tasks are given back at once.
    pub fn hurry(mut self, hurry: impl Future<Output = ()> + Send + 'static) -> Self {
        self.hurry = Box::pin(hurry);
        self
    }

    /// Executes the tasks of a queue with `handler`, at most `concurrency` at a time. Put work that blocks its thread
    /// into [`tokio::task::spawn_blocking`].
    pub fn handle<F>(
        mut self,
        queue: impl Into<String>,
        concurrency: usize,
        handler: impl Fn(Job) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let concurrency = concurrency.max(1);
        let call = move |job| -> Carrying { Box::pin(handler(job)) };
        let room = Arc::new(Semaphore::new(concurrency));
        let call = Arc::new(call);
        let handler = Handler { call, room, concurrency, confirms_at_once: false };
        self.handlers.insert(queue.into(), handler);
        self
    }

    /// Works until `stop` is ready. Then it takes no more tasks, lets running tasks finish, gives back the tasks
    /// that do not finish in time, and leaves.
    ///
    /// Returns an error if it cannot continue: the server refuses it, or another worker has registered under its
    /// name. If the server is out of reach, it waits.
    ///
    /// # Panics
    /// If no thread can be started.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let (stopper, stopped) = watch::channel(false);
        let (done, mut ended) = oneshot::channel();
        let handlers = tokio::runtime::Handle::current();
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a thread has room for a runtime");
            let _ = done.send(runtime.block_on(self.work(handlers, stopped)));
        };
        let thread = std::thread::Builder::new().name("punctual-worker".to_owned());
        thread.spawn(work).expect("a process has room for a thread");
        tokio::select! {
            ended = &mut ended => return ended.unwrap_or(Ok(())),
            () = stop => {}
        }
        stopper.send_replace(true);
        ended.await.unwrap_or(Ok(()))
    }

    /// Runs everything that talks to the server, in its own runtime.
    async fn work(
        self,
        handlers: tokio::runtime::Handle,
        mut stopped: watch::Receiver<bool>,
    ) -> Result<(), Error> {
        let Self { client, name, capabilities, grace, hurry, handlers: queues } = self;
        // Only the heartbeat thread may drive the connections of the heartbeats.
        let client = client.apart();
        let jobs = Jobs::new(client.clone(), handlers);
        let mut given = HashMap::new();
        let mut loops = JoinSet::new();
        for (queue, handler) in queues {
            let Some(mode) = mode_of(&client, &queue, &mut stopped).await? else { break };
            match mode {
                Mode::Dispatch | Mode::Vote => {
                    let confirms_at_once = mode == Mode::Vote;
                    given.insert(queue, Handler { confirms_at_once, ..handler });
                }
                Mode::Pull => {
                    let pull = pull::Pull {
                        client: client.clone(),
                        worker: name.clone(),
                        queue,
                        handler,
                        jobs: jobs.clone(),
                    };
                    loops.spawn(pull.run(stopped.clone()));
                }
                Mode::Http | Mode::Pub => {
                    warn!(
                        queue,
                        "the server carries out this queue itself; its handler is never called"
                    );
                }
            }
        }
        let is_registered = !given.is_empty();
        if is_registered {
            let given = given::Given {
                client: client.clone(),
                worker: name.clone(),
                capabilities,
                handlers: given,
                jobs: jobs.clone(),
            };
            loops.spawn(given.run(stopped.clone()));
        }
        let mut outcome = Ok(());
        while let Some(ended) = loops.join_next().await {
            outcome = outcome.and(ended.unwrap_or(Ok(())));
            if outcome.is_err() {
                loops.abort_all();
            }
        }
        // Without a queue there is nothing to do but wait for the end.
        if outcome.is_ok() && !*stopped.borrow() {
            let _ = stopped.changed().await;
        }
        jobs.finish(grace, hurry).await;
        if is_registered && outcome.is_ok() {
            // If this fails, the server notices the loss of the worker by itself.
            let _ = client.leave(&name).await;
        }
        outcome
    }
}

/// Returns the mode of a queue, and makes the queue if it does not exist; none: the worker was stopped.
async fn mode_of(
    client: &Client,
    queue: &str,
    stopped: &mut watch::Receiver<bool>,
) -> Result<Option<Mode>, Error> {
    let mut pause = Pause::default();
    loop {
        let read = match client.queue(queue).await {
            Err(error) if error.code() == Some("not_found") => {
                client.put_queue(queue, &QueueChanges::new()).await
            }
            read => read,
        };
        match read {
            Ok(queue) => return Ok(Some(queue.mode)),
            Err(error) if is_passing(&error) => pause.after(&error, "reading a queue").await,
            Err(error) => return Err(error),
        }
        if stopped.has_changed().is_err() || *stopped.borrow() {
            return Ok(None);
        }
    }
}

/// Whether the same request may succeed later.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } | Error::NoAnswer { .. } | Error::Stream { .. } => true,
        other => other.status().is_some_and(|status| status == 429 || status >= 500),
    }
}

/// Growing waits while the server is out of reach.
#[derive(Default)]
struct Pause {
    failures: u32,
}

impl Pause {
    async fn after(&mut self, error: &Error, work: &str) {
        if self.failures == 0 {
            warn!(%error, "{work} did not succeed; it is tried again");
        }
        let wait = PAUSE_FIRST.saturating_mul(1 << self.failures.min(8)).min(PAUSE_MAX);
        self.failures += 1;
        tokio::time::sleep(wait).await;
    }
}
