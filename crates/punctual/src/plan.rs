//! `punctual plan`: work that a calendar makes due.

use clap::{Args, Subcommand};
use punctual_client::{
    Client, HttpTarget, NewPlan, OnError, Plan, PlanChanges, PlanResult, PlanState, RawJson,
    RetryPolicy, Span, Timestamp,
};
use serde_json::json;

use crate::output::{Output, bare, cell, or_empty};
use crate::pages::{gather, listed};
use crate::push::read_payload;
use crate::remote::Remote;
use crate::rule::{RuleArgs, words};
use crate::table::{record, table};
use crate::times::{length, local};
use crate::values;
use crate::watch::Watch;

/// Have work done by a calendar: once, or again and again
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual plan add reports '{\"x\":1}' --every 10m
  punctual plan add reports --monthly 0 --time 18:00 --timezone Europe/Berlin --id month-end
  punctual plan preview --cron '0 9 * * MON-FRI' --timezone Asia/Shanghai
  punctual plan list --state error
  punctual plan resume month-end")]
pub(crate) struct PlanCommand {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand)]
enum Verb {
    Add(Box<Add>),
    /// List plans, by queue and id
    #[command(
        visible_alias = "ls",
        after_help = "Example:\n  punctual plan list --queue reports --state error,paused"
    )]
    List {
        /// Only those of this queue
        #[arg(long, alias = "station")]
        queue: Option<String>,
        /// Only in these states, separated by commas
        #[arg(long, value_delimiter = ',', value_parser = values::plan_state)]
        state: Vec<PlanState>,
        /// Most plans to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        watch: Watch,
    },
    /// Show a plan, and when it runs next
    #[command(after_help = "Example:\n  punctual plan get month-end --json | jq .next_at")]
    Get {
        /// The plan's id
        id: String,
        /// How many of its next times to show
        #[arg(long, value_name = "N", default_value_t = 3)]
        count: u32,
    },
    Preview(Box<Preview>),
    /// Change a plan; what it has counted stays
    #[command(after_help = "\
Examples:
  punctual plan set month-end plan_time=10:00 description='close the books'
  punctual plan set month-end plan_type=cron cron='0 9 * * MON-FRI' repeat=-1")]
    Set {
        /// The plan's id
        id: String,
        /// A field and its new value; nothing after the `=` resets it
        #[arg(value_name = "FIELD=VALUE", required = true, value_parser = values::setting)]
        fields: Vec<(String, RawJson)>,
    },
    /// Set a plan aside; its run that has not ended goes on
    #[command(after_help = "Example:\n  punctual plan pause month-end")]
    Pause {
        /// The plan's id
        id: String,
    },
    /// Let a plan go on that was paused, or stands still because a run failed
    #[command(after_help = "Example:\n  punctual plan resume month-end")]
    Resume {
        /// The plan's id
        id: String,
    },
    /// Run a plan now, besides its rule
    #[command(after_help = "Example:\n  punctual plan run month-end")]
    Run {
        /// The plan's id
        id: String,
    },
    /// Pass over the next occurrences of a plan
    #[command(after_help = "Example:\n  punctual plan skip month-end 2")]
    Skip {
        /// The plan's id
        id: String,
        /// How many
        #[arg(default_value_t = 1)]
        n: u32,
    },
    /// Show what became of a plan's runs, the newest first
    #[command(after_help = "Example:\n  punctual plan results month-end --limit 5")]
    Results {
        /// The plan's id
        id: String,
        /// Most results to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Remove a plan; its run that has not ended goes on
    #[command(visible_alias = "rm", after_help = "Example:\n  punctual plan delete month-end")]
    Delete {
        /// The plan's id
        id: String,
    },
}

/// Show when a plan with such a rule would run; nothing is stored
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual plan preview --monthly -1 --time 09:00 --timezone Europe/Berlin
  punctual plan preview --cron '0 9 * * MON-FRI' --count 3")]
struct Preview {
    #[command(flatten)]
    rule: RuleArgs,
    /// How many times to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: u32,
}

/// Make a plan
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual plan add reports '{\"x\":1}' --every 10m
  punctual plan add mail '\"happy new year\"' --at 2027-01-01T00:00:00Z
  punctual plan add reports --weekly fri --time 17:00 --timezone Europe/Berlin --id weekly
  punctual plan add backups --type hour --value 6 --repet 4 --no-keep
  punctual plan add digests '\"ping\"' --cron '*/5 * * * *' --bundle-key ada")]
struct Add {
    /// The queue its runs are pushed to; made with the default settings if it does not exist
    queue: String,
    /// The payload of its runs, any JSON; `-` reads it from standard input; left out: null
    #[arg(allow_negative_numbers = true)]
    message: Option<String>,
    #[command(flatten)]
    rule: RuleArgs,
    /// The plan's id; generated if left out
    #[arg(long)]
    id: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// An id of your own
    #[arg(long, value_name = "TEXT")]
    request_id: Option<String>,
    /// Who makes it
    #[arg(long, value_name = "TEXT")]
    caller: Option<String>,
    /// Where runs of an http queue are delivered, as JSON: '{"url":"https://…"}'
    #[arg(long, value_name = "JSON", value_parser = values::http)]
    http: Option<HttpTarget>,
    /// Push the message into that bundle of the queue instead
    #[arg(long, value_name = "KEY")]
    bundle_key: Option<String>,
    /// How long a worker holds a run, instead of the queue's time
    #[arg(long, value_parser = values::span)]
    hold: Option<Span>,
    /// Takes before a run is failed; -1 for no limit
    #[arg(long, allow_negative_numbers = true)]
    max_attempts: Option<i32>,
    /// The waits between the attempts of a run, as JSON
    #[arg(long, value_parser = values::retry)]
    retry: Option<RetryPolicy>,
    /// The priority of its runs, from -100 to 100; higher goes first
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// A label for its runs; give it again for more
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// How many results are kept [default: 100]
    #[arg(long, value_name = "N")]
    keep_results: Option<u32>,
    /// What a run that fails for good makes of the plan: `stop`, `continue`, or a number of failures in a
    /// row after which it stops
    #[arg(long, value_name = "stop|continue|N", default_value = "continue", value_parser = values::on_error)]
    on_error: OnError,
}

impl Add {
    fn plan(self) -> anyhow::Result<NewPlan> {
        let message = read_payload(self.message.as_deref())?;
        let mut plan = NewPlan::raw(self.queue, self.rule.rule()?, message);
        plan = self.id.into_iter().fold(plan, NewPlan::id);
        plan = self.description.into_iter().fold(plan, NewPlan::description);
        plan = self.request_id.into_iter().fold(plan, NewPlan::request_id);
        plan = self.caller.into_iter().fold(plan, NewPlan::caller);
        plan = self.http.into_iter().fold(plan, NewPlan::http);
        plan = self.bundle_key.into_iter().fold(plan, NewPlan::bundle_key);
        plan = self.hold.into_iter().fold(plan, NewPlan::hold);
        plan = self.max_attempts.into_iter().fold(plan, NewPlan::max_attempts);
        plan = self.retry.into_iter().fold(plan, NewPlan::retry);
        plan = self.priority.into_iter().fold(plan, NewPlan::priority);
        plan = self.tags.into_iter().fold(plan, NewPlan::tag);
        plan = plan.on_error(self.on_error);
        Ok(self.keep_results.into_iter().fold(plan, NewPlan::keep_results))
    }
}

impl PlanCommand {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        match self.verb {
            Verb::Add(add) => said(&output, "made", &client.make_plan(&add.plan()?).await?),
            Verb::List { queue, state, limit, watch } => {
                let queue = queue.as_deref();
                watch.over(async || list(&client, &output, queue, &state, limit).await).await
            }
            Verb::Get { id, count } => get(&client, &output, &id, count).await,
            Verb::Preview(preview) => {
                let zone = preview.rule.zone().to_owned();
                let times = client.preview_plan(&preview.rule.rule()?, preview.count).await?;
                output.answer(&json!({"items": times, "next": null}), || lines(&times, &zone))
            }
            Verb::Set { id, fields } => {
                let none = PlanChanges::new();
                let changes = fields.into_iter().fold(none, |all, (name, to)| all.set(&name, to));
                said(&output, "changed", &client.change_plan(&id, &changes).await?)
            }
            Verb::Pause { id } => said(&output, "paused", &client.pause_plan(&id).await?),
            Verb::Resume { id } => said(&output, "resumed", &client.resume_plan(&id).await?),
            Verb::Run { id } => said(&output, "ran", &client.run_plan(&id).await?),
            Verb::Skip { id, n } => said(&output, "skipped", &client.skip_plan(&id, n).await?),
            Verb::Results { id, limit } => results(&client, &output, &id, limit).await,
            Verb::Delete { id } => {
                client.delete_plan(&id).await?;
                output.done(|| format!("deleted plan {id}"))
            }
        }
    }
}

/// What was done to a plan, and where it stands.
fn said(output: &Output, verb: &str, plan: &Plan) -> anyhow::Result<()> {
    output.answer(plan, || {
        let next = plan.next_at.map(|at| format!(", next at {}", local(at, &plan.timezone)));
        let task = plan.task.as_ref().map(|task| format!(", task {}/{task}", plan.queue));
        let (id, state) = (&plan.plan_id, plan.state.name());
        format!("{verb} plan {id}: {state}{}{}", or_empty(task), or_empty(next))
    })
}

async fn list(
    client: &Client,
    output: &Output,
    queue: Option<&str>,
    states: &[PlanState],
    limit: usize,
) -> anyhow::Result<()> {
    let page =
        gather(limit, async |n, cursor| client.plans(queue, states, n, cursor).await).await?;
    output.answer(&page, || listed(&page, "no plans", rows))
}

fn rows(plans: &[Plan]) -> String {
    let rows: Vec<_> = plans.iter().map(row).collect();
    table(["ID", "QUEUE", "STATE", "RULE", "NEXT", "RUNS", "LAST", "DESCRIPTION", "ERROR"], &rows)
}

fn row(plan: &Plan) -> [String; 9] {
    [
        plan.plan_id.clone(),
        plan.queue.clone(),
        plan.state.name().to_owned(),
        words(plan),
        or_empty(plan.next_at.map(|at| local(at, &plan.timezone))),
        runs(plan),
        or_empty(plan.last_state.as_ref().map(bare)),
        or_empty(plan.description.as_deref().map(cell)),
        or_empty(plan.error.as_deref().map(cell)),
    ]
}

fn runs(plan: &Plan) -> String {
    match plan.repeat {
        Some(limit @ 1..) => format!("{} of {limit}", plan.real_repet),
        _ => plan.real_repet.to_string(),
    }
}

async fn get(client: &Client, output: &Output, id: &str, count: u32) -> anyhow::Result<()> {
    let plan = client.plan(id).await?;
    // A plan that stands still has times by its rule as well, but nothing happens then.
    let goes_on = matches!(plan.state, PlanState::Scheduled | PlanState::Running);
    let next = if output.is_json() || count == 0 || !goes_on {
        Vec::new()
    } else {
        client.plan_occurrences(id, count).await?
    };
    output.answer(&plan, || shown(&plan, &next))
}

fn shown(plan: &Plan, next: &[Timestamp]) -> String {
    let list = |items: &[String]| Some(items.join(", ")).filter(|text| !text.is_empty());
    let json = |json: &RawJson| cell(json.as_str());
    let time = |at| local(at, &plan.timezone);
    let mut fields = vec![
        ("id", Some(plan.plan_id.clone())),
        ("state", Some(plan.state.name().to_owned())),
        ("description", plan.description.clone()),
        ("queue", Some(plan.queue.clone())),
        ("bundle key", plan.bundle_key.clone()),
        ("message", Some(json(&plan.message))),
        ("rule", Some(words(plan))),
        ("past ones", Some(if plan.no_keep { "run" } else { "are skipped" }.to_owned())),
        ("runs", Some(runs(plan))),
        ("skipped", Some(plan.skipped.to_string())),
        ("on error", Some(bare(&plan.on_error))),
        ("failed in a row", Some(plan.failures).filter(|n| *n > 0).map(|n| n.to_string())),
        ("request", plan.request_id.clone()),
        ("caller", plan.caller.clone()),
        ("http", plan.http.as_ref().map(json)),
        ("hold", plan.hold.map(length)),
        ("max attempts", plan.max_attempts.map(|max| max.to_string())),
        ("retry", plan.retry.as_ref().map(bare)),
        ("priority", Some(plan.priority).filter(|n| *n != 0).map(|n| n.to_string())),
        ("requires", list(&plan.requires)),
        ("tags", list(&plan.tags)),
        ("callback", plan.callback.as_ref().map(json)),
        ("last run", plan.exec_time.map(time)),
        ("it was", plan.last_state.as_ref().map(bare)),
        ("task", plan.task.clone()),
        ("error", plan.error.clone()),
        ("created", Some(time(plan.created_at))),
        ("finished", plan.finished_at.map(time)),
    ];
    fields.extend(next.iter().map(|at| ("next", Some(time(*at)))));
    record(fields)
}

async fn results(client: &Client, output: &Output, id: &str, limit: usize) -> anyhow::Result<()> {
    let page = gather(limit, async |n, cursor| client.plan_results(id, n, cursor).await).await?;
    output.answer(&page, || {
        listed(&page, "no results yet", |results| {
            let rows: Vec<_> = results.iter().map(told).collect();
            table(["RUN", "DUE", "ENDED", "WORKER", "RESULT", "ERROR"], &rows)
        })
    })
}

fn told(result: &PlanResult) -> [String; 6] {
    [
        bare(&result.run),
        result.plan_time.to_string(),
        result.at.to_string(),
        or_empty(result.worker.as_deref().map(cell)),
        or_empty(Some(cell(&bare(&result.result))).filter(|_| result.error.is_none())),
        or_empty(result.error.as_deref().map(cell)),
    ]
}

fn lines(times: &[Timestamp], zone: &str) -> String {
    if times.is_empty() {
        return "never".to_owned();
    }
    times.iter().map(|at| local(*at, zone)).collect::<Vec<_>>().join("\n")
}
