//! `punctual token`: access tokens that are made and revoked at run time.

use clap::{Args, Subcommand};
use punctual_client::{AccessToken, NewAccessToken};
use punctual_core::{Right, Span, Timestamp, TokenLimits};
use punctual_store::{Clock, SystemClock};

use crate::output::bare;
use crate::pages::{gather, listed};
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::when;

/// Make, show and revoke access tokens
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual token add boss --rights read,produce,consume,admin
  punctual token add mailer --rights consume --queues 'mail,mail-*' --expires 2027-01-01T00:00:00Z
  punctual token list
  punctual token delete mailer")]
pub(crate) struct TokenCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    /// Make a token; it is shown once
    #[command(
        visible_alias = "create",
        after_help = "Example:\n  punctual token add mailer --rights consume,read --queues mail"
    )]
    Add {
        /// The token's name
        name: String,
        /// What it may do: read, produce, consume, admin
        #[arg(long, value_delimiter = ',', required = true, value_parser = right)]
        rights: Vec<Right>,
        /// The queues it is good for, * at the end for any ending [default: all]
        #[arg(long, value_delimiter = ',')]
        queues: Option<Vec<String>>,
        /// From when on it is good no more: a time, or how long from now, like 30d [default: never]
        #[arg(long, value_name = "TIME", value_parser = to_come)]
        expires: Option<Timestamp>,
        /// What it may take of a server, as JSON: queues, connections, streams, bytes_in_flight, requests
        #[arg(long, value_name = "JSON", value_parser = limits)]
        limits: Option<TokenLimits>,
    },
    /// List tokens, by name
    #[command(visible_alias = "ls", after_help = "Example:\n  punctual token list")]
    List {
        /// Most tokens to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show a token: what it may do, and how much it was used
    #[command(after_help = "Example:\n  punctual token get mailer --json | jq .last_used")]
    Get {
        /// The token's name
        name: String,
    },
    /// Revoke a token, on every server at once
    #[command(
        visible_aliases = ["rm", "revoke"],
        after_help = "Example:\n  punctual token delete mailer"
    )]
    Delete {
        /// The token's name
        name: String,
    },
}

fn right(text: &str) -> Result<Right, String> {
    let right = Right::ALL.into_iter().find(|right| right.name() == text);
    right.ok_or_else(|| "one of read, produce, consume, admin".to_owned())
}

fn to_come(text: &str) -> Result<Timestamp, &'static str> {
    let after = || Some(SystemClock::new().now().wall + Span::parse(text)?);
    // A bare number is a time, not so many seconds from now.
    Timestamp::parse(text)
        .or_else(after)
        .ok_or("expected a time like 2027-01-01T00:00:00Z, or a duration like 30d")
}

fn limits(text: &str) -> Result<TokenLimits, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}; expected '{{\"queues\":10}}'"))
}

impl TokenCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::Add { name, rights, queues, expires, limits } => {
                let mut new = NewAccessToken::new(&name, rights);
                if let Some(queues) = queues {
                    new = new.queues(queues);
                }
                if let Some(expires) = expires {
                    new = new.expires(expires);
                }
                if let Some(limits) = limits {
                    new = new.limits(limits);
                }
                let made = client.create_token(&new).await?;
                // Nothing but the token, so that a script can keep it.
                output.answer(&made, || made.token.clone())
            }
            Verb::List { limit } => {
                let read = async |n, at: Option<&str>| client.tokens(n, at).await;
                let page = gather(limit, read).await?;
                output.answer(&page, || listed(&page, "no tokens", rows))
            }
            Verb::Get { name } => {
                let token = client.token(&name).await?;
                output.answer(&token, || shown(&token))
            }
            Verb::Delete { name } => {
                client.revoke_token(&name).await?;
                output.done(|| format!("revoked {name}"))
            }
        }
    }
}

fn rights_of(token: &AccessToken) -> String {
    token.rights.iter().map(bare).collect::<Vec<_>>().join(" ")
}

fn queues_of(token: &AccessToken) -> String {
    token.queues.as_ref().map_or_else(|| "all".to_owned(), |queues| queues.join(" "))
}

fn rows(tokens: &[AccessToken]) -> String {
    let time = |time: Option<_>| time.map_or_else(|| "never".to_owned(), when);
    let rows = tokens.iter().map(|token| {
        [
            token.name.clone(),
            rights_of(token),
            queues_of(token),
            time(token.expires),
            time(token.last_used),
            token.requests.to_string(),
            token.refusals.to_string(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table(["NAME", "RIGHTS", "QUEUES", "EXPIRES", "LAST USED", "REQUESTS", "REFUSALS"], &rows)
}

fn shown(token: &AccessToken) -> String {
    let limits = &token.limits;
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    record(vec![
        ("name", Some(token.name.clone())),
        ("rights", Some(rights_of(token))),
        ("queues", Some(queues_of(token))),
        ("expires", token.expires.map(when)),
        ("most queues", number(limits.queues)),
        ("most connections", number(limits.connections)),
        ("most streams", number(limits.streams)),
        ("most bytes", number(limits.bytes_in_flight)),
        (
            "most requests",
            limits.requests.map(|rate| {
                let seconds = rate.per.as_millis() as f64 / 1e3;
                format!("{} in {seconds} s", rate.limit)
            }),
        ),
        ("made", Some(when(token.created_at))),
        ("last used", token.last_used.map(when)),
        ("requests", Some(token.requests.to_string())),
        ("refusals", Some(token.refusals.to_string())),
    ])
}
