//! `punctual`: the server and its command-line client in one binary.
//!
//! One file per subcommand. Exit codes: 0 it worked, 1 the server refused, is out of reach or
//! cannot start, 2 the command line is wrong.

mod backup;
mod bench;
mod bundle;
mod commit;
mod completions;
mod config;
mod config_command;
mod delivery_settings;
mod doctor;
mod effective;
mod events;
mod failures;
mod flow;
mod health;
mod log;
mod migrate;
mod notice;
mod notice_settings;
mod notify;
mod output;
mod pages;
mod paint;
mod place;
mod plan;
mod progress;
mod push;
mod queue;
mod remote;
mod restore;
mod rule;
mod secrets;
mod serve;
mod table;
mod take;
mod task;
mod times;
mod token;
mod tokens;
mod top;
mod values;
mod watch;
mod work;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use tikv_jemallocator::Jemalloc;

use crate::output::report;

/// The system's takes a sixth of the processor's time for what is larger than a kilobyte, as the futures
/// of requests and deliveries are.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// How long a store may take to close its files.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// A durable task queue: one binary, no dependencies to run.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Examples:
  punctual serve                                 start a server on 127.0.0.1:23334
  punctual push mail '{\"to\":\"ada@example.org\"}'  push a task into the queue mail
  punctual take mail --wait 30s                  take it, as a worker would
  punctual commit mail ID TASK_TOKEN             say that it is done
  punctual work mail -- ./send-mail.sh           or let a command do all that, again and again
  punctual plan add mail '\"ping\"' --every 10m   push a task every ten minutes

Options of every command that speaks to a server, before or after its name:
  --url URL             the server
  --token ACCESS_TOKEN  the access token, if it asks for one
  --ca FILE             certificates to trust, for https://
  --json                answer with JSON, for programs

Environment:
  PUNCTUAL_URL    the server that commands speak to [default: http://127.0.0.1:23334]
  PUNCTUAL_TOKEN  the access token they name
  NO_COLOR        no colours; there are none either where no terminal reads

Exit codes:
  0  it worked
  1  the server refused it, is out of reach or cannot start, or a check found something
  2  the command line is wrong"
)]
struct Punctual {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    Push(push::Push),
    Take(take::Take),
    Commit(commit::Commit),
    Work(work::Work),
    Queue(queue::Queue),
    Task(task::Task),
    Failures(failures::Failures),
    Notice(notice::NoticeCommand),
    Bundle(bundle::BundleCommand),
    Plan(plan::PlanCommand),
    Flow(flow::FlowCommand),
    Worker(worker::WorkerCommand),
    Token(token::TokenCommand),
    Events(events::EventsCommand),
    Top(top::Top),
    Bench(bench::Bench),
    Health(health::Health),
    Doctor(doctor::Doctor),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Migrate(migrate::Migrate),
    Config(config_command::ConfigCommand),
    Completions(completions::Completions),
    #[command(name = "man")]
    Manual(completions::Manual),
}

fn main() -> ExitCode {
    let matches = Punctual::command().get_matches_from(remote::after_command(std::env::args_os()));
    let Punctual { command } = Punctual::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    report(run(command, matches))
}

fn run(command: Command, matches: ArgMatches) -> anyhow::Result<()> {
    match command {
        Command::Serve(serve) => run_server(serve, matches),
        Command::Push(push) => run_client(push.run()),
        Command::Take(take) => run_client(take.run()),
        Command::Commit(commit) => run_client(commit.run()),
        Command::Work(work) => run_client(work.run()),
        Command::Queue(queue) => run_client(queue.run()),
        Command::Task(task) => run_client(task.run()),
        Command::Failures(failures) => run_client(failures.run()),
        Command::Notice(notice) => run_client(notice.run()),
        Command::Bundle(bundle) => run_client(bundle.run()),
        Command::Plan(plan) => run_client(plan.run()),
        Command::Flow(flow) => run_client(flow.run()),
        Command::Worker(worker) => run_client(worker.run()),
        Command::Token(token) => run_client(token.run()),
        Command::Events(events) => run_client(events.run()),
        Command::Top(top) => run_client(top.run()),
        Command::Bench(bench) => run_threaded(bench.run()),
        Command::Health(health) => run_client(health.run()),
        Command::Doctor(doctor) => run_client(doctor.run()),
        Command::Backup(backup) => run_client(backup.run()),
        Command::Restore(restore) => restore.run(),
        Command::Migrate(migrate) => run_client(migrate.run()),
        Command::Config(config) => config.run(),
        Command::Completions(completions) => completions.run(),
        Command::Manual(manual) => manual.run(),
    }
}

fn run_server(serve: serve::Serve, mut matches: ArgMatches) -> anyhow::Result<()> {
    let (_, matches) = matches.remove_subcommand().expect("serve is a subcommand");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve.run(&matches));
    // After a drain what is left lets go of the store, which then closes its files. Otherwise
    // nothing is waited for: the journal stands on its own.
    runtime.shutdown_timeout(if outcome.is_ok() { CLOSE_WITHIN } else { Duration::ZERO });
    outcome
}

/// For a client that has to be quicker than the server.
fn run_threaded(command: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(command)
}

fn run_client(command: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_well_formed() {
        Punctual::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Punctual::command());
    }
}
