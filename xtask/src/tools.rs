//! Programs the checks need besides cargo.

use std::process::{Command, Stdio};

use anyhow::bail;

/// Makes sure that programs are there: installs what is missing if it may, else says how.
pub(crate) fn require(programs: &[&str]) -> anyhow::Result<()> {
    let missing = missing(programs);
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.into_iter().map(package).collect();
    install(&packages)?;
    let missing = self::missing(programs);
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{} still cannot be run", missing.join(" "))
}

/// Installs Debian packages if it may, else says how.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    let names = packages.join(" ");
    if may_install() {
        println!("installing {names}");
        let installed = Command::new("sh")
            .args(["-c", "apt-get update -q && apt-get install -qy --no-install-recommends \"$@\""])
            .arg("sh")
            .args(packages)
            .status()?;
        if installed.success() {
            return Ok(());
        }
    }
    bail!("missing: {names}; install them, for instance with: apt-get install {names}")
}

/// Whether `cargo nextest` is there. It runs the tests faster; without it `cargo test` does.
pub(crate) fn has_nextest() -> bool {
    succeeds(Command::new("cargo").args(["nextest", "--version"]))
}

/// The Debian package that has a program.
fn package(program: &str) -> &str {
    if program == "node" { "nodejs" } else { program }
}

fn missing<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    let there = |program: &str| succeeds(Command::new(program).arg("--version"));
    programs.iter().copied().filter(|program| !there(program)).collect()
}

fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"));
    root && succeeds(Command::new("apt-get").arg("--version"))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}
