//! `punctual doctor`: what is wrong with a store, and what to do about it.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use punctual_store::StoreError;
use punctual_store::local::LocalStore;
use punctual_store::redis::{Examination, RedisStore};
use serde::Serialize;

use crate::config::StoreFlags;
use crate::output::Output;
use crate::place::{RedisPlace, StorePlace};
use crate::table::table;

/// How far clocks may be apart before it is worth a word.
const CLOCK_OFF_MS_MAX: i64 = 5_000;

/// Look for what is wrong with a store, and mend it
#[derive(Args)]
#[command(after_help = "\
In Redis it compares all records with all indexes, and looks at the settings and the clock of Redis;
servers may go on meanwhile. Of the embedded store it reads every page and every record, which needs
the server to be stopped. The exit code is 1 if something is wrong.

Examples:
  punctual doctor
  punctual doctor --store redis://127.0.0.1:6379
  punctual doctor --store redis://127.0.0.1:6379 --repair
  punctual doctor --store redis://127.0.0.1:6379 --json | jq .checks")]
pub(crate) struct Doctor {
    #[command(flatten)]
    flags: StoreFlags,
    /// Mend indexes in Redis that disagree with the records
    #[arg(long)]
    repair: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// What was looked at, and what was found.
#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Check {
    check: &'static str,
    ok: bool,
    found: Vec<String>,
    advice: Option<&'static str>,
}

impl Check {
    fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, ok: true, found: vec![found.into()], advice: None }
    }

    fn wrong(check: &'static str, found: Vec<String>, advice: &'static str) -> Self {
        Self { check, ok: false, found, advice: Some(advice) }
    }
}

impl Doctor {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let checks = match self.flags.settle()? {
            StorePlace::Memory => bail!("store: memory: keeps nothing that could be looked at"),
            StorePlace::Directory(_) if self.repair => {
                bail!(
                    "--repair: only for Redis; the embedded store makes its indexes at every start"
                )
            }
            StorePlace::Directory(dir) => vec![files(&dir)],
            StorePlace::Redis(place) => redis(&place, self.repair).await,
        };
        let wrong = checks.iter().filter(|check| !check.ok).count();
        let report = Report { ok: wrong == 0, checks };
        Output::new(self.json).answer(&report, || people(&report.checks))?;
        match wrong {
            0 => Ok(()),
            1 => bail!("something is wrong: {}", names(&report.checks)),
            n => bail!("{n} things are wrong: {}", names(&report.checks)),
        }
    }
}

fn names(checks: &[Check]) -> String {
    let wrong: Vec<_> = checks.iter().filter(|check| !check.ok).map(|check| check.check).collect();
    wrong.join(", ")
}

fn people(checks: &[Check]) -> String {
    let mut rows = Vec::new();
    for check in checks {
        let verdict = if check.ok { "ok" } else { "WRONG" };
        let mut first = (check.check, verdict);
        for line in check.found.iter().map(String::as_str).chain(check.advice) {
            rows.push([first.0.to_owned(), first.1.to_owned(), line.to_owned()]);
            first = ("", "");
        }
    }
    table(["CHECK", "", "FOUND"], &rows)
}

/// Looks at the files of an embedded store.
fn files(dir: &Path) -> Check {
    match LocalStore::check(dir) {
        Ok(()) => Check::fine("files", "every page and every record can be read"),
        Err(error @ StoreError::Corrupt { .. }) => {
            let advice = "keep a copy of the directory, and go back to a backup";
            Check::wrong("files", vec![error.to_string()], advice)
        }
        Err(error) => {
            let advice = "a store is looked at while no server has it open";
            Check::wrong("files", vec![error.to_string()], advice)
        }
    }
}

/// Looks at a store in Redis.
async fn redis(place: &RedisPlace, is_mending: bool) -> Vec<Check> {
    let seen = match RedisStore::examine(place.options(), is_mending).await {
        Ok(seen) => seen,
        Err(error) => {
            let advice = "start Redis, or correct --store";
            return vec![Check::wrong("connection", vec![error.to_string()], advice)];
        }
    };
    let mut checks = vec![settings(&seen), clock(&seen)];
    checks.push(match seen.empty_shards {
        0 => records(place, seen.findings, is_mending).await,
        n if n == seen.shards => Check::wrong(
            "records",
            vec!["there is no store under this prefix".to_owned()],
            "correct --store or --prefix; a server makes the store when it starts",
        ),
        n => Check::wrong(
            "records",
            vec![format!("{n} of {} shards are empty", seen.shards)],
            "part of Redis has lost its data: look for a backup before servers go on",
        ),
    });
    checks
}

fn settings(seen: &Examination) -> Check {
    match &seen.objection {
        None => Check::fine("settings", &*seen.durability),
        Some(objection) => Check::wrong(
            "settings",
            vec![objection.clone()],
            "change them in redis.conf, and at once with CONFIG SET",
        ),
    }
}

fn clock(seen: &Examination) -> Check {
    let ms = seen.clock_ahead_ms;
    let side = if ms < 0 { "behind" } else { "ahead of" };
    let found = format!("Redis's clock is {} ms {side} this machine's", ms.abs());
    if ms.abs() <= CLOCK_OFF_MS_MAX {
        return Check::fine("clock", found);
    }
    let advice = "Redis's clock decides what is due; set both by NTP";
    Check::wrong("clock", vec![found], advice)
}

async fn records(place: &RedisPlace, findings: Vec<String>, is_mending: bool) -> Check {
    if findings.is_empty() {
        return Check::fine(
            "records",
            "every record is in its indexes, every entry has its record",
        );
    }
    if !is_mending {
        let advice = "mend the indexes from the records: punctual doctor --repair";
        return Check::wrong("records", findings, advice);
    }
    // What was mended may have hidden something else.
    match RedisStore::examine(place.options(), true).await {
        Ok(seen) if seen.findings.is_empty() => {
            let found = findings.into_iter().map(|line| format!("{line}; mended")).collect();
            Check { check: "records", ok: true, found, advice: None }
        }
        Ok(seen) => {
            Check::wrong("records", seen.findings, "repeat it; if this stays, report it as a bug")
        }
        Err(error) => Check::wrong("records", vec![error.to_string()], "repeat it"),
    }
}
