//! What every client command has in common: which server, and how to answer.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use punctual_client::Client;

use crate::output::Output;

/// The server a command speaks to.
#[derive(Args)]
pub(crate) struct Remote {
    /// The server's address
    #[arg(long, env = "PUNCTUAL_URL", default_value = "http://127.0.0.1:23334", global = true)]
    url: String,
    /// The access token, if the server asks for one
    #[arg(
        long = "token",
        value_name = "TOKEN",
        env = "PUNCTUAL_TOKEN",
        hide_env_values = true,
        global = true
    )]
    access_token: Option<String>,
    /// A PEM file with certificates to trust besides those the web trusts, for https://
    #[arg(long, env = "PUNCTUAL_CA", value_name = "FILE", global = true)]
    ca: Option<PathBuf>,
    /// Answer with JSON, for programs
    #[arg(long, global = true)]
    json: bool,
}

impl Remote {
    /// The client, and where its answers go.
    pub(crate) fn open(self) -> anyhow::Result<(Client, Output)> {
        let token = self.access_token.filter(|token| !token.is_empty());
        let mut client = Client::new(self.url, token)?;
        if let Some(path) = &self.ca {
            let pem = std::fs::read(path)
                .with_context(|| format!("PUNCTUAL_CA: cannot read {}", path.display()))?;
            client = client.trusting(&pem)?;
        }
        Ok((client, Output::new(self.json)))
    }
}
