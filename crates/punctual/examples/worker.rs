//! A worker that counts the words of texts: progress, checkpoints, cancellation, a graceful stop.
//!
//! ```text
//! punctual serve &
//! cargo run --example worker -- counter-1 texts &
//! punctual push texts '{"text":"one two three","pace_ms":500}'
//! ```

use std::time::Duration;

use anyhow::Context;
use punctual_client::{Client, Fail, Job, RawJson, Runtime};
use serde::Deserialize;

#[derive(Deserialize)]
struct Text {
    text: String,
    /// How long to think about each word.
    #[serde(default)]
    pace_ms: u64,
}

async fn count_words(job: Job) -> Result<RawJson, Fail> {
    let Text { text, pace_ms } = job.payload()?;
    let words = text.split_whitespace().count();
    // An earlier attempt may have come some way.
    let mut counted: usize = job.checkpoint().unwrap_or(0);
    while counted < words {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(pace_ms)) => counted += 1,
            reason = job.stopped() => {
                let error = Some(format!("stopped after {counted} words: {reason:?}"));
                return Err(Fail { error, ..Fail::default() });
            }
        }
        job.progress(counted as f64 / words as f64, format!("{counted} of {words} words"));
        job.save_checkpoint(&counted);
    }
    Ok(RawJson::of(&counted))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let name = args.next().context("name the worker, and the queues it serves")?;
    let url = std::env::var("PUNCTUAL_URL").unwrap_or("http://127.0.0.1:23334".to_owned());
    let mut runtime = Runtime::new(Client::new(url, None)?, name).capabilities(["count"]);
    for queue in args {
        runtime = runtime.handle(queue, 4, count_words);
    }
    let mut asked = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    let stop = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = asked.recv() => {}
        }
    };
    Ok(runtime.run_until(stop).await?)
}
