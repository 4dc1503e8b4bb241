//! Carries out the commands of `sdks/conformance/story.json` with this crate: one JSON object per line in, one answer
//! per line out.

mod commands;
mod worker;

use std::io::{BufRead, Write};

use punctual_client::{Error, NotGenuine};
use serde_json::{Value, json};

/// A command's error, as the story tells them apart.
#[derive(Debug)]
enum Failure {
    Request(Error),
    Webhook(NotGenuine),
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<NotGenuine> for Failure {
    fn from(error: NotGenuine) -> Self {
        Self::Webhook(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}

impl Failure {
    fn told(&self) -> Value {
        match self {
            Self::Request(Error::Refused(problem)) => json!({
                "kind": "api", "status": problem.status, "code": problem.code, "detail": problem.detail,
            }),
            Self::Request(error @ Error::Unreachable { .. }) => {
                json!({"kind": "unreachable", "detail": error.to_string()})
            }
            Self::Request(error @ Error::NoAnswer { .. }) => {
                json!({"kind": "no_answer", "detail": error.to_string()})
            }
            Self::Webhook(error) => json!({"kind": "webhook", "detail": error.to_string()}),
            Self::Request(error) => json!({"kind": "other", "detail": error.to_string()}),
            Self::Other(detail) => json!({"kind": "other", "detail": detail}),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("PUNCTUAL_URL")?;
    let mut driver = commands::Driver::new(&url)?;
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        let told = match driver.answer(&order).await {
            Ok(value) => json!({ "ok": value }),
            Err(failure) => json!({"error": failure.told()}),
        };
        let mut output = std::io::stdout().lock();
        writeln!(output, "{told}")?;
        output.flush()?;
    }
    // Listeners have no end of their own.
    std::process::exit(0)
}
