//! A worker: carries out the tasks of the queue mail until Ctrl-C.

use punctual_client::{Client, Error, Fail, Job, RawJson, Runtime};
use std::collections::HashMap;

async fn send(job: Job) -> Result<RawJson, Fail> {
    let mail: HashMap<String, String> = job.payload()?;
    Ok(RawJson::of(&format!("sent to {}", mail["to"])))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let stop = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Runtime::new(Client::from_env()?, "mailer-1").handle("mail", 16, send).run_until(stop).await
}
