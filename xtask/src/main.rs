//! The project's own commands: `cargo xtask test`, `cargo xtask bench`, `cargo xtask crash`.
#![expect(clippy::print_stdout, reason = "a command speaks to its terminal")]

mod api;
mod dashboard;
mod deploy;
mod docs;
mod links;
mod markdown;
mod prose;
mod sdks;
mod server;
mod stages;
mod tools;

use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::stages::{Stages, cargo};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [--repeat N]    everything a change must pass: format, lints, docs, tests, API, dashboard,
                       examples in the docs, deploy/, SDKs; with --repeat N times over, up to the
                       first failure, to find what fails only now and then
  api [SEED EXAMPLES]  only the API: what is answered to made-up requests is what /openapi.json says
  docs [FILE…]         only links and examples in the docs
  prose [FOLDER…]      lists sentences that open with What, Whoever, Those… in comments, messages and docs
  dashboard [--repeat N]
                       only the checks of the dashboard: its types, and its pages in a browser
  sdks [LANGUAGE…]     only the SDKs: each goes through one story against the real server
  deploy               only what is in deploy/: files parse, and the binary takes what they give it
  bench [NAME] [quick] the benchmarks, in release, or one of cycles, owners, http, delivery, plans,
                       flows; with --store redis those of the store in Redis
  crash [--power] [--rounds N]
                       the kill -9 harness, in release, N rounds (100); with --power the disk's power
                       fails instead, which takes root and loop devices";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] | ["help"] | [.., "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        ["test", rest @ ..] => repeat(rest, test),
        ["api"] => api::check(api::SEED, api::EXAMPLES),
        ["api", seed, examples] => api::check(seed, examples),
        ["docs", files @ ..] => docs::check(files),
        ["prose", folders @ ..] => prose::check(folders),
        ["deploy"] => deploy::check(),
        ["dashboard", rest @ ..] => repeat(rest, dashboard::check),
        ["sdks", languages @ ..] => sdks::check(languages),
        ["bench", rest @ ..] => bench(rest),
        ["crash", "--power", rest @ ..] => crash(true, rest),
        ["crash", rest @ ..] => crash(false, rest),
        _ => bail!("no such command\n\n{USAGE}"),
    }
}

/// Runs a check as often as `--repeat` says and stops at the first run that fails: what fails once in twenty runs is
/// broken, too.
fn repeat(args: &[&str], check: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let runs = match args {
        [] => return check(),
        ["--repeat", runs] => runs,
        _ => bail!("no such arguments\n\n{USAGE}"),
    };
    let all = runs.parse::<u32>().ok().filter(|runs| *runs > 0);
    let all = all.with_context(|| format!("--repeat: {runs:?} is not a number from 1"))?;
    for run in 1..=all {
        println!("==> run {run} of {all}");
        check().with_context(|| format!("run {run} of {all} failed"))?;
    }
    println!("{all} runs, and none failed");
    Ok(())
}

fn test() -> anyhow::Result<()> {
    let mut stages = Stages::default();
    stages.run("tools", || {
        // All of them first, so that nothing is found missing after an hour.
        tools::require_components()?;
        let needed = [tools::TESTS, tools::REDIS, tools::API, tools::DASHBOARD];
        tools::require(&needed.concat())
    })?;
    stages.run("format", || cargo(&["fmt", "--all", "--check"]).run())?;
    stages.run("lints", || {
        cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]).run()
    })?;
    stages.run("prose", prose::check_clean)?;
    stages.run("docs of the code", || {
        cargo(&["doc", "--locked", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .run()
    })?;
    stages.run("tests", || {
        if tools::has_nextest() {
            cargo(&["nextest", "run", "--locked", "--workspace"]).run()
        } else {
            cargo(&["test", "--locked", "--workspace", "--lib", "--bins", "--tests"]).run()
        }
    })?;
    stages.run("examples in the code", || {
        cargo(&["test", "--locked", "--workspace", "--doc"]).run()
    })?;
    stages.run("API", || api::check(api::SEED, api::EXAMPLES))?;
    stages.run("dashboard", dashboard::check)?;
    stages.run("examples in the docs", || docs::check(&[]))?;
    stages.run("deploy", deploy::check)?;
    stages.run("SDKs", sdks::check_all)?;
    stages.summary();
    Ok(())
}

fn bench(args: &[&str]) -> anyhow::Result<()> {
    let (all, args): (&[_], _) = match args {
        ["--store", "redis", rest @ ..] => {
            tools::require(tools::REDIS)?;
            (&[("punctual-store", "redis"), ("punctual", "redis")], rest)
        }
        args => {
            let all = &[
                ("punctual-store", "cycles"),
                ("punctual-store", "owners"),
                ("punctual", "http"),
                ("punctual", "delivery"),
                ("punctual", "plans"),
                ("punctual", "flows"),
            ];
            (all, args)
        }
    };
    let (only, args) = match args {
        [first, rest @ ..] if all.iter().any(|(_, bench)| bench == first) => (Some(*first), rest),
        args => (None, args),
    };
    if !matches!(args, [] | ["quick"]) {
        bail!("no such benchmark\n\n{USAGE}");
    }
    for (package, bench) in all.iter().filter(|(_, bench)| only.is_none_or(|o| o == *bench)) {
        let mut all = vec!["bench", "--locked", "-p", package, "--bench", bench, "--"];
        all.extend(args);
        cargo(&all).run()?;
    }
    Ok(())
}

fn crash(cuts_power: bool, args: &[&str]) -> anyhow::Result<()> {
    let rounds = match args {
        [] => "100",
        ["--rounds", rounds] => rounds,
        _ => bail!("no such arguments of crash\n\n{USAGE}"),
    };
    rounds.parse::<u32>().with_context(|| format!("--rounds: {rounds:?} is no number"))?;
    let mut all = vec!["test", "--release", "--locked", "-p", "punctual", "--test", "crash", "--"];
    all.push("--nocapture");
    if cuts_power {
        all.extend(["--exact", "nothing_acknowledged_is_lost"]);
    }
    let run = cargo(&all).env("PUNCTUAL_CRASH_ROUNDS", rounds);
    if cuts_power { run.env("PUNCTUAL_CRASH_POWER", "1").run() } else { run.run() }
}
