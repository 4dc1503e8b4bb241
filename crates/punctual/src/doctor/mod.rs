//! `punctual doctor`: what is wrong with a store and what is around it, and what to do about it.
//!
//! One file per thing that is looked at. A check looks and says; only `--repair` changes anything.

mod embedded;
mod machine;
mod redis;
mod server;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use crate::config::{self, StoreFlags};
use crate::output::Output;
use crate::place::StorePlace;
use crate::remote::Remote;
use crate::table::table;

/// Look for what is wrong with a server or a store and around it, and mend it
///
/// With --url or PUNCTUAL_URL it asks that server, and looks at a store only if one is named, too. Otherwise
/// it looks at the configuration, at the clock, at the limits of the machine and at the store. In Redis it
/// compares all records with all indexes, and looks at the settings and the clock of Redis; servers may
/// go on meanwhile. Of the embedded store it reads every page and every record; while a server has it
/// open it asks that server instead.
#[derive(Args)]
#[command(after_help = "\
What deserves a look is `warn`, what must be mended is `fail`; then the exit code is 1.

Examples:
  punctual doctor
  punctual doctor --url https://queue.example:23334 --token ACCESS_TOKEN
  punctual doctor --config /etc/punctual/punctual.toml
  punctual doctor --store redis://127.0.0.1:6379
  punctual doctor --store redis://127.0.0.1:6379 --repair
  punctual doctor --store redis://127.0.0.1:6379 --json | jq .checks")]
pub(crate) struct Doctor {
    #[command(flatten)]
    flags: StoreFlags,
    /// Mend indexes in Redis that disagree with the records
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    remote: Remote,
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
    verdict: Verdict,
    /// Whether it can stay so.
    ok: bool,
    found: Vec<String>,
    advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, ok: true, found: vec![found.into()], advice: None }
    }

    fn warn(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, advice: Some(advice.into()), ..Self::ok(check, found) }
    }

    fn fail(check: &'static str, found: Vec<String>, advice: impl Into<String>) -> Self {
        let advice = Some(advice.into());
        Self { verdict: Verdict::Fail, ok: false, found, advice, ..Self::ok(check, "") }
    }
}

impl Doctor {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let checks = self.examine().await?;
        let wrong = checks.iter().filter(|check| !check.ok).count();
        let report = Report { ok: wrong == 0, checks };
        Output::new(self.remote.is_json()).answer(&report, || people(&report.checks))?;
        match wrong {
            0 => Ok(()),
            1 => bail!("one thing must be mended: {}", names(&report.checks)),
            n => bail!("{n} things must be mended: {}", names(&report.checks)),
        }
    }

    async fn examine(&self) -> anyhow::Result<Vec<Check>> {
        let mut checks = Vec::new();
        if self.remote.is_named() {
            let (client, _) = self.remote.clone().open()?;
            checks.extend(server::examine(&client).await);
        }
        if !self.remote.is_named() || self.repair || self.flags.name_a_store() {
            checks.extend(self.examine_store().await?);
        }
        Ok(checks)
    }

    async fn examine_store(&self) -> anyhow::Result<Vec<Check>> {
        let file = self.flags.config.as_deref();
        let config = match file.map(config::check).transpose() {
            Ok(config) => config,
            // Nobody knows then which store is meant.
            Err(error) => {
                let advice = "correct it, and try it with `punctual config check`";
                return Ok(vec![Check::fail("configuration", vec![error.to_string()], advice)]);
            }
        };
        let mut checks: Vec<_> = file.map(machine::configuration).into_iter().collect();
        checks.extend([machine::clock(), machine::open_files()]);
        match self.flags.clone().settle()? {
            StorePlace::Memory => bail!("store: memory: keeps nothing that could be looked at"),
            StorePlace::Directory(_) if self.repair => {
                bail!(
                    "--repair: only for Redis; the embedded store makes its indexes at every start"
                )
            }
            StorePlace::Directory(dir) => {
                let is_asked = self.remote.is_named();
                checks.extend(embedded::examine(&dir, config.as_ref(), is_asked).await);
            }
            StorePlace::Redis(place) => {
                checks.extend(place.files.passwords().map(machine::password));
                checks.extend(redis::examine(&place, self.repair).await);
            }
        }
        Ok(checks)
    }
}

fn names(checks: &[Check]) -> String {
    let wrong: Vec<_> = checks.iter().filter(|check| !check.ok).map(|check| check.check).collect();
    wrong.join(", ")
}

fn people(checks: &[Check]) -> String {
    let mut rows = Vec::new();
    for check in checks {
        let verdict = crate::output::bare(&check.verdict);
        let mut first = (check.check, verdict.as_str());
        let advice = check.advice.as_ref().map(|advice| format!("→ {advice}"));
        for line in check.found.iter().chain(&advice) {
            rows.push([first.0.to_owned(), first.1.to_owned(), line.clone()]);
            first = ("", "");
        }
    }
    // Whole sentences: they may wrap, and are not cut.
    table(["CHECK", "", "WHAT"], &rows)
}
