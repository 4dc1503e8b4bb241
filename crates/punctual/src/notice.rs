//! `punctual notice`: call a URL until it says that it has understood.

use clap::{Args, Subcommand, ValueEnum};
use punctual_client::{
    Client, ContentType, NewNotice, Notice, NoticeMethod, NoticeState, RawJson, SentNotice, Span,
};

use crate::output::{Output, bare, cell, or_empty};
use crate::pages::{gather, listed};
use crate::remote::Remote;
use crate::table::{record, table};
use crate::times::{length, when};
use crate::values;
use crate::watch::Watch;

/// Send notices: a URL is called until it answers that it has understood
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual notice send https://example.com/hook --data 'order=7&paid=1'
  punctual notice list --state exhausted
  punctual notice get ID
  punctual notice retry ID")]
pub(crate) struct NoticeCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    Send(Box<Send>),
    /// List notices
    #[command(
        visible_alias = "ls",
        after_help = "Example:\n  punctual notice list --state waiting,exhausted"
    )]
    List {
        /// Only in these states, separated by commas
        #[arg(long, value_delimiter = ',', value_parser = values::notice_state)]
        state: Vec<NoticeState>,
        /// Most notices to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a notice and what became of it
    #[command(after_help = "Example:\n  punctual notice get ID --json | jq .history")]
    Get {
        /// The notice's id
        id: String,
    },
    /// Send a notice no more
    #[command(after_help = "Example:\n  punctual notice cancel ID")]
    Cancel {
        /// The notice's id
        id: String,
    },
    /// Send one more notice now, of one that is exhausted or waits for its next
    #[command(after_help = "Example:\n  punctual notice retry ID")]
    Retry {
        /// The notice's id
        id: String,
    },
}

/// Send a notice
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual notice send https://example.com/hook --data 'order=7&paid=1'
  punctual notice send https://example.com/hook --type json --data '{\"order\":7}' --interval 10s,1m
  punctual notice send https://example.com/ping --method get --flag '' --max 3
  punctual notice send https://example.com/hook --callback https://example.com/done")]
struct Send {
    /// The URL to call
    #[arg(value_name = "TARGET")]
    target: String,
    /// What to send: a text, or a JSON object or list
    #[arg(long)]
    data: Option<String>,
    /// How the data is written [default: form]
    #[arg(long = "type", value_enum)]
    content_type: Option<Kind>,
    /// How the URL is called [default: post]
    #[arg(long, value_enum)]
    method: Option<Way>,
    /// What an answer must contain to be a success; empty: any 2xx will do [default: success]
    #[arg(long)]
    flag: Option<String>,
    /// A URL to call after a success
    #[arg(long, value_name = "URL")]
    callback: Option<String>,
    /// The waits between notices, separated by commas [default: 10m,10m,10m,10m]
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = values::span)]
    interval: Option<Vec<Span>>,
    /// Most notices [default: one more than there are waits]
    #[arg(long, value_name = "N")]
    max: Option<u32>,
    /// Send all notices, also after one has succeeded
    #[arg(long)]
    enforce_repeat: bool,
    /// A header like `X-Name: value`; give it again for more
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = values::header)]
    headers: Vec<(String, String)>,
    /// The time one notice may take
    #[arg(long, value_parser = values::span)]
    timeout: Option<Span>,
    /// Follow redirects
    #[arg(long)]
    follow_redirects: bool,
    /// The notice's id; generated if left out
    #[arg(long)]
    id: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Names and values, like a=1&b=2
    Form,
    /// JSON
    Json,
    /// XML
    Xml,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// The data in the body
    Post,
    /// The data in the query string
    Get,
}

impl Send {
    fn notice(self) -> NewNotice {
        let mut notice = NewNotice::new(self.target);
        if self.data.is_some() || self.content_type.is_some() {
            let kind = match self.content_type.unwrap_or(Kind::Form) {
                Kind::Form => ContentType::Form,
                Kind::Json => ContentType::Json,
                Kind::Xml => ContentType::Xml,
            };
            notice = notice.data(kind, self.data.as_deref().map(data).unwrap_or_default());
        }
        if let Some(way) = self.method {
            notice = notice.method(match way {
                Way::Post => NoticeMethod::Post,
                Way::Get => NoticeMethod::Get,
            });
        }
        notice = apply(notice, self.flag, NewNotice::success_flag);
        notice = apply(notice, self.callback, NewNotice::callback_url);
        notice = apply(notice, self.interval, NewNotice::intervals);
        notice = apply(notice, self.max, NewNotice::max_notices);
        notice = apply(notice, self.timeout, NewNotice::timeout);
        notice = apply(notice, self.id, NewNotice::id);
        if self.enforce_repeat {
            notice = notice.enforce_repeat();
        }
        if self.follow_redirects {
            notice = notice.follow_redirects();
        }
        self.headers.into_iter().fold(notice, |notice, (name, value)| notice.header(name, value))
    }
}

fn apply<T>(notice: NewNotice, value: Option<T>, set: fn(NewNotice, T) -> NewNotice) -> NewNotice {
    match value {
        Some(value) => set(notice, value),
        None => notice,
    }
}

/// A JSON object or list as it is, anything else as a text.
fn data(text: &str) -> RawJson {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let json = RawJson::parse(text).ok().filter(|_| is_json);
    json.unwrap_or_else(|| RawJson::of(text))
}

impl NoticeCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::Send(send) => {
                let notice = client.send_notice(&send.notice()).await?;
                output.answer(&notice, || format!("sending notice {} to {}", notice.id, notice.url))
            }
            Verb::List { state, limit, watch } => {
                watch.over(async || list(&client, &output, &state, limit).await).await
            }
            Verb::Get { id } => {
                let notice = client.notice(&id).await?;
                output.answer(&notice, || shown(&notice))
            }
            Verb::Cancel { id } => {
                client.cancel_notice(&id).await?;
                output.done(|| format!("cancelled notice {id}"))
            }
            Verb::Retry { id } => {
                let notice = client.retry_notice(&id).await?;
                output.answer(&notice, || format!("sending notice {id} once more"))
            }
        }
    }
}

async fn list(
    client: &Client,
    output: &Output,
    states: &[NoticeState],
    limit: usize,
) -> anyhow::Result<()> {
    let page = gather(limit, async |n, cursor| client.notices(states, n, cursor).await).await?;
    output.answer(&page, || listed(&page, "no notices", rows))
}

fn rows(notices: &[Notice]) -> String {
    let rows: Vec<_> = notices.iter().map(row).collect();
    table(["ID", "STATE", "SENT", "FIRST SUCCESS", "NEXT", "URL", "ERROR"], &rows)
}

fn row(notice: &Notice) -> [String; 7] {
    [
        notice.id.clone(),
        notice.state.name().to_owned(),
        counted(notice),
        or_empty(Some(notice.success_id).filter(|id| *id > 0)),
        or_empty(notice.notice_time),
        cell(&notice.url),
        cell(notice.error.as_deref().unwrap_or_default()),
    ]
}

fn counted(notice: &Notice) -> String {
    match notice.max_notices {
        Some(max) => format!("{} of {max}", notice.notice_count),
        None => notice.notice_count.to_string(),
    }
}

fn shown(notice: &Notice) -> String {
    let spans: Vec<_> = notice.notice_interval.iter().copied().map(length).collect();
    let mut fields = vec![
        ("id", Some(notice.id.clone())),
        ("state", Some(notice.state.name().to_owned())),
        ("url", Some(notice.url.clone())),
        ("method", Some(bare(&notice.http_method))),
        ("type", Some(bare(&notice.content_type))),
        ("data", Some(cell(&bare(&notice.data)))),
        ("flag", Some(notice.success_flag.clone())),
        ("callback", notice.callback_url.clone()),
        ("sent", Some(counted(notice))),
        ("first success", Some(notice.success_id).filter(|id| *id > 0).map(|id| id.to_string())),
        ("next", notice.notice_time.map(when)),
        ("waits left", Some(spans.join(", ")).filter(|spans| !spans.is_empty())),
        ("error", notice.error.clone()),
        ("created", Some(when(notice.created_at))),
        ("finished", notice.finished_at.map(when)),
    ];
    fields.extend(notice.history.iter().map(|sent| ("notice", Some(told(sent)))));
    record(fields)
}

fn told(sent: &SentNotice) -> String {
    let status = or_empty(sent.status);
    let what = sent.error.as_deref().or(sent.answer.as_deref()).unwrap_or_default();
    format!("{} {status} {what}", sent.at)
}
