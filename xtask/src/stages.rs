//! Runs the stages of a check one after the other, and measures each.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// The finished stages.
#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<(&'static str, Duration)>,
}

impl Stages {
    /// Runs one more stage. An error ends the run, after a summary of the finished stages.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        let outcome = step();
        let took = start.elapsed();
        if outcome.is_err() {
            self.summary();
            println!("{name:<24} FAILED after {}", seconds(took));
        } else {
            println!("<== {name}: {}", seconds(took));
            self.done.push((name, took));
        }
        outcome.with_context(|| format!("{name} failed"))
    }

    /// Prints a line per stage.
    pub(crate) fn summary(&self) {
        println!();
        for (name, took) in &self.done {
            println!("{name:<24} ok {}", seconds(*took));
        }
        let total = self.done.iter().map(|(_, took)| *took).sum();
        println!("{:<24}    {}", "in all", seconds(total));
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// A command to be run from the root of the repository.
pub(crate) struct Step(Command);

/// The `cargo` that runs this.
pub(crate) fn cargo(args: &[&str]) -> Step {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    Step(command)
}

/// Any other program.
pub(crate) fn command(program: &str, args: &[&str]) -> Step {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    Step(command)
}

impl Step {
    /// Runs the command in a directory.
    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.0.current_dir(directory);
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Runs the command with this terminal; any exit code but 0 is an error.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let status = self.0.status().with_context(|| format!("cannot run {:?}", self.0))?;
        if !status.success() {
            bail!("{:?} ended with {status}", self.0);
        }
        Ok(())
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies below the root")
}

/// The target directory of cargo.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
