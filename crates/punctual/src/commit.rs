//! `punctual commit`: a held task is done.

use clap::Args;
use punctual_client::{Held, RawJson};

use crate::remote::Remote;
use crate::values;

/// Say that a held task is done
#[derive(Args)]
#[command(after_help = "\
Repeating a commit with the same token is harmless.

Examples:
  punctual commit mail 01JCM6Y6Q6ZJ3VX3E1T4 5f0e…
  punctual commit mail welcome-ada 5f0e… '{\"sent\":true}'")]
pub(crate) struct Commit {
    /// The queue
    queue: String,
    /// The task's id
    id: String,
    /// The token its take answered
    #[arg(value_name = "TASK_TOKEN")]
    token: String,
    /// What it came to, any JSON
    #[arg(value_parser = values::json, allow_negative_numbers = true)]
    result: Option<RawJson>,
    #[command(flatten)]
    remote: Remote,
}

impl Commit {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        let held = Held { queue: &self.queue, id: &self.id, token: &self.token };
        let commit = punctual_client::Commit { result: self.result };
        let after = client.commit(held, &commit).await?;
        output.answer(&after, || format!("committed {}/{}", self.queue, self.id))
    }
}
