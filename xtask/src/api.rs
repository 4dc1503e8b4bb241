//! Checks the server against its OpenAPI document: schemathesis generates valid and invalid requests and
//! compares the answers with the document.

use std::fs;
use std::path::Path;

use crate::server::Server;
use crate::stages::{cargo, command, root, target};
use crate::tools;

/// The same requests in every run. A longer one with another seed: `cargo xtask api SEED EXAMPLES`.
pub(crate) const SEED: &str = "20261115";
/// How many requests are generated for each operation, besides those for every limit of the document.
pub(crate) const EXAMPLES: &str = "10";

/// Checks a server over a new directory.
pub(crate) fn check(seed: &str, examples: &str) -> anyhow::Result<()> {
    tools::require(tools::API)?;
    let files = root().join("xtask/api");
    let directory = target().join("schemathesis");
    install(&directory, &files.join("requirements.txt"))?;
    cargo(&["build", "--locked", "-p", "punctual"]).run()?;
    let store = directory.join("data");
    if store.exists() {
        fs::remove_dir_all(&store)?;
    }
    let server = Server::start(&store, &[])?;
    let (config, document) =
        (files.join("schemathesis.toml"), format!("http://{}/openapi.json", server.address));
    let schemathesis = directory.join("venv/bin/schemathesis");
    command(&schemathesis.to_string_lossy(), &["--config-file", &config.to_string_lossy(), "run"])
        .args(&[&document, "--seed", seed, "--max-examples", examples])
        .env("SCHEMATHESIS_HOOKS", &files.join("hooks.py").to_string_lossy())
        .within(&directory)
        .run()
}

/// Installs the pinned packages, unless they are installed already.
fn install(directory: &Path, requirements: &Path) -> anyhow::Result<()> {
    let (wanted, installed) = (fs::read(requirements)?, directory.join("installed.txt"));
    if fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    let made = command("python3", &["-m", "venv", "--clear", "venv"]).within(directory).run();
    if made.is_err() {
        // On Debian, venv is a separate package.
        tools::install(&["python3-venv"])?;
        command("python3", &["-m", "venv", "--clear", "venv"]).within(directory).run()?;
    }
    let pip = directory.join("venv/bin/pip");
    let list = requirements.to_string_lossy();
    command(&pip.to_string_lossy(), &["install", "--quiet", "--no-deps", "-r", &list]).run()?;
    Ok(fs::write(installed, wanted)?)
}
