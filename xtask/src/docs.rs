//! Checks the documentation: runs its examples against the real binary.
//!
//! The blocks of a file run top to bottom in one bash, each file with a fresh server of its own, which may
//! deliver to loopback addresses. The real `punctual` is on the PATH, `PUNCTUAL_URL` names the server,
//! `127.0.0.1:23334` in the text stands for its address, and `8000` for a free port. Background jobs are
//! ended with the script.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::links;
use crate::markdown::{Example, examples, matches};
use crate::server::{Server, binaries};
use crate::stages::{cargo, root, target};

const DEFAULT_ADDRESS: &str = "127.0.0.1:23334";
/// The port that examples use for a program of their own.
const EXAMPLE_PORT: &str = "8000";
/// Printed after every block, to separate the outputs and to find the block that failed.
const MARK: &str = "--- end of block ---";

/// Checks the links and examples of Markdown files: those given, or all of the root, `docs/` and `deploy/`.
pub(crate) fn check(only: &[&str]) -> anyhow::Result<()> {
    cargo(&["build", "--locked", "-p", "punctual"]).run()?;
    let mut files = Vec::new();
    for dir in [root().to_owned(), root().join("docs"), root().join("deploy")] {
        for entry in fs::read_dir(dir)? {
            files.push(entry?.path());
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    for path in files {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        if !wanted(&name) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        links::check(&path, &text)?;
        let found = examples(&text);
        if !found.is_empty() {
            run(&name, &found).with_context(|| format!("the examples of {name}"))?;
        }
        println!("{name}: {} blocks ran", found.len());
    }
    Ok(())
}

fn run(name: &str, examples: &[Example]) -> anyhow::Result<()> {
    let dir = target().join("docs-check").join(name.replace('/', "-"));
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    let server = Server::start(&dir.join("data"), &["--allow-private-targets=127.0.0.1"])?;
    let script = dir.join("script.sh");
    fs::write(&script, script_of(examples, &server.address, free_port()?))?;

    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("timeout")
        .args(["120", "bash"])
        .arg(&script)
        .current_dir(&dir)
        .env("PATH", format!("{}:{path}", binaries().display()))
        .env("PUNCTUAL_URL", format!("http://{}", server.address))
        .stderr(Stdio::inherit())
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let blocks: Vec<_> = printed.split(MARK).collect();
    if !output.status.success() {
        let failed = blocks.len() - 1;
        let line = examples.get(failed).map_or(0, |example| example.line);
        bail!(
            "the block at line {line} ended with {}; it printed:\n{}",
            output.status,
            blocks[failed]
        );
    }
    for (example, printed) in examples.iter().zip(&blocks) {
        let Some(expected) = &example.output else { continue };
        let expected = expected.replace(DEFAULT_ADDRESS, &server.address);
        ensure!(
            matches(&expected, printed),
            "the block at line {} printed:\n{}\nand not, as the text says:\n{expected}",
            example.line,
            printed.trim()
        );
    }
    Ok(())
}

fn script_of(examples: &[Example], address: &str, port: u16) -> String {
    let mut script =
        "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n".to_owned();
    for example in examples {
        let code = example.code.replace(EXAMPLE_PORT, &port.to_string());
        script += &code.replace(DEFAULT_ADDRESS, address);
        script += &format!("printf '\\n{MARK}\\n'\n");
    }
    script
}

/// Finds a free port below the ephemeral range, which the system uses for outgoing connections.
fn free_port() -> anyhow::Result<u16> {
    let first = 20_000 + u16::try_from(std::process::id() % 5_000)?;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..first + 1_000).find(is_free).context("no port is free")
}
