//! `punctual health`: whether a server can do its work, for whoever watches over it.

use clap::Args;
use serde_json::json;

use crate::remote::Remote;

/// Ask whether the server can do its work
///
/// The exit code is 0 if it can and 1 if it cannot, or is out of reach: for health checks of
/// containers, where nothing else is at hand to ask with.
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual health
  punctual health --live
  punctual health --json | jq -r .durability")]
pub(crate) struct Health {
    /// Only whether it runs, even if it cannot reach its store
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Health {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        if self.live {
            client.live().await?;
            return output.answer(&json!({ "live": true }), || "it runs".to_owned());
        }
        let ready = client.ready().await?;
        output.answer(&ready, || format!("ready; store {}, {}", ready.store, ready.durability))
    }
}
