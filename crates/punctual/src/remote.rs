//! What every client command has in common: which server, and how to answer.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use punctual_client::Client;

use crate::output::Output;

const URL: &str = "http://127.0.0.1:23334";

/// The server a command speaks to.
#[derive(Args, Clone)]
pub(crate) struct Remote {
    /// The server's address [default: http://127.0.0.1:23334]
    #[arg(long, env = "PUNCTUAL_URL", global = true)]
    url: Option<String>,
    /// The access token, if the server asks for one
    #[arg(
        long = "token",
        value_name = "ACCESS_TOKEN",
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
    /// Whether somebody said which server is meant.
    pub(crate) fn is_named(&self) -> bool {
        self.url.as_ref().is_some_and(|url| !url.is_empty())
    }

    /// Whether the answer is for a program.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// The client, and where its answers go.
    pub(crate) fn open(self) -> anyhow::Result<(Client, Output)> {
        let token = self.access_token.filter(|token| !token.is_empty());
        let url = self.url.filter(|url| !url.is_empty()).unwrap_or_else(|| URL.to_owned());
        let mut client = Client::new(url, token)?;
        if let Some(path) = &self.ca {
            let pem = std::fs::read(path)
                .with_context(|| format!("PUNCTUAL_CA: cannot read {}", path.display()))?;
            client = client.trusting(&pem)?;
        }
        Ok((client, Output::new(self.json)))
    }
}

/// Puts options about the server that stand before the command behind its name, where all commands that speak to
/// one take them.
pub(crate) fn after_command(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args;
    let mut all: Vec<_> = args.next().into_iter().collect();
    let mut options = Vec::new();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy().into_owned();
        match text.as_str() {
            "--url" | "--token" | "--ca" => {
                options.push(arg);
                options.extend(args.next());
            }
            "--json" => options.push(arg),
            text if ["--url=", "--token=", "--ca="].iter().any(|it| text.starts_with(it)) => {
                options.push(arg);
            }
            _ => {
                all.push(arg);
                all.append(&mut options);
                break;
            }
        }
    }
    all.extend(args);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_about_the_server_may_come_first() {
        for (line, arranged) in [
            ("p --url u queue list", "p queue --url u list"),
            ("p --token=t --json queue get q", "p queue --token=t --json get q"),
            ("p queue list --url u", "p queue list --url u"),
            ("p work q -- --url u", "p work q -- --url u"),
            ("p --help", "p --help"),
            ("p --url u", "p"),
            ("p", "p"),
        ] {
            let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(after_command(words(line).into_iter()), words(arranged), "{line}");
        }
    }
}
