//! The checks of the dashboard: its libraries, its types, and its pages in a real browser.

use std::path::Path;

use crate::stages::{Step, cargo, command, root, target};
use crate::tools;

/// Checks the dashboard against a server built from this tree.
pub(crate) fn check() -> anyhow::Result<()> {
    tools::require(tools::DASHBOARD)?;
    let directory = root().join("crates/server/dashboard");
    if !is_installed(&directory) {
        npm(&directory, &["ci", "--no-audit", "--no-fund"]).run()?;
    }
    npm(&directory, &["run", "--silent", "vendor", "--", "--check"]).run()?;
    npm(&directory, &["run", "--silent", "check"]).run()?;
    cargo(&["build", "--locked", "-p", "punctual"]).run()?;
    let (target, binary) = (target(), target().join("debug/punctual"));
    npm(&directory, &["test", "--silent"])
        .env("CARGO_TARGET_DIR", &target.to_string_lossy())
        .env("PUNCTUAL_BINARY", &binary.to_string_lossy())
        .run()
}

/// Whether the packages of the lock file were installed after its last change.
fn is_installed(directory: &Path) -> bool {
    let written = |file: &str| directory.join(file).metadata().and_then(|it| it.modified()).ok();
    written("node_modules/.package-lock.json")
        .is_some_and(|at| written("package-lock.json").is_some_and(|lock| lock <= at))
}

fn npm(directory: &Path, args: &[&str]) -> Step {
    command("npm", args).within(directory)
}
