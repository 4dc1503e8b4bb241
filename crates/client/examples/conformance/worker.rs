//! The story's workers, whose handlers do as their task's payload says.

use std::collections::HashMap;
use std::time::Duration;

use punctual_client::{Client, Error, Fail, Job, RawJson, Runtime, Stop};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::commands::{Texts, note, noted, texts};

/// A worker that runs: what stops it, and its end.
type Running = (oneshot::Sender<()>, JoinHandle<Result<(), Error>>);

/// All workers of the story.
pub(crate) struct Workers {
    client: Client,
    running: HashMap<String, Running>,
    stops: Texts,
    gate: watch::Sender<bool>,
}

impl Workers {
    pub(crate) fn new(client: Client) -> Self {
        let gate = watch::channel(false).0;
        Self { client, running: HashMap::new(), stops: Texts::default(), gate }
    }

    pub(crate) fn start(&mut self, order: &Value) {
        let name = order["name"].as_str().unwrap_or_default().to_owned();
        let concurrency = order["concurrency"].as_u64().and_then(|n| n.try_into().ok());
        let mut runtime = Runtime::new(self.client.clone(), name.as_str())
            .capabilities(texts(&order["capabilities"]))
            .grace(Duration::from_millis(300));
        for queue in texts(&order["queues"]) {
            let (name, stops, gate) = (name.clone(), self.stops.clone(), self.gate.subscribe());
            runtime = runtime.handle(queue, concurrency.unwrap_or(1), move |job| {
                handle(name.clone(), job, stops.clone(), gate.clone())
            });
        }
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(runtime.run_until(async {
            let _ = stopped.await;
        }));
        self.running.insert(name, (stop, running));
    }

    pub(crate) async fn stop(&mut self, name: &str) -> Result<(), Error> {
        let Some((stop, running)) = self.running.remove(name) else { return Ok(()) };
        let _ = stop.send(());
        running.await.unwrap_or(Ok(()))
    }

    pub(crate) fn stops(&self) -> Vec<String> {
        noted(&self.stops)
    }

    pub(crate) fn open_gate(&self) {
        self.gate.send_replace(true);
    }
}

fn failed(error: &str, permanent: bool) -> Fail {
    Fail { error: Some(error.to_owned()), permanent, ..Fail::default() }
}

async fn handle(
    name: String,
    job: Job,
    stops: Texts,
    mut gate: watch::Receiver<bool>,
) -> Result<RawJson, Fail> {
    let order: Value = job.payload()?;
    let checkpoint = job.checkpoint::<Value>().filter(|it| !it.is_null());
    let went_on =
        |it: &Value| json!(format!("checkpoint {}", it.as_str().unwrap_or(&it.to_string())));
    let result = match order["do"].as_str().unwrap_or_default() {
        "return" => order["value"].clone(),
        "name" => json!(name),
        "inputs" => order["inputs"].clone(),
        "fail" => {
            let is_permanent = order["permanent"].as_bool().unwrap_or(false);
            return Err(failed(order["error"].as_str().unwrap_or_default(), is_permanent));
        }
        "throw" => return Err(std::io::Error::other("thrown").into()),
        "vote" => order["votes"].get(&name).cloned().ok_or_else(|| failed("no opinion", false))?,
        "sleep" => {
            let seconds = order["seconds"].as_f64().unwrap_or(0.0);
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            json!("slept")
        }
        "gate" => {
            gate.wait_for(|is_open| *is_open).await?;
            json!("gate")
        }
        "fail_twice" if job.task.attempt < 3 => {
            job.save_checkpoint(&job.task.attempt);
            return Err(failed("not yet", false));
        }
        _ => match checkpoint {
            Some(it) => went_on(&it),
            None => return Err(until_stopped(&job, &stops).await),
        },
    };
    Ok(RawJson::of(&result))
}

async fn until_stopped(job: &Job, stops: &Texts) -> Fail {
    job.progress(0.25, "waiting");
    let reason = match job.stopped().await {
        Stop::Cancelled => "cancelled",
        Stop::Paused => "paused",
        Stop::Lost => "lost",
        _ => "stopping",
    };
    note(stops, format!("{} {reason}", job.task.id));
    job.save_checkpoint("so far");
    failed(reason, false)
}
