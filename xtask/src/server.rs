//! A server for the checks to run against.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use crate::stages::target;

const READY: &str = "punctual is ready on http://";

/// Where `cargo build` puts `punctual`.
pub(crate) fn binaries() -> PathBuf {
    target().join("debug")
}

/// A running server, which is killed when this is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a server over a directory, with more arguments, and waits until it is ready.
    pub(crate) fn start(store: &Path, args: &[&str]) -> anyhow::Result<Self> {
        let mut process = Command::new(binaries().join("punctual"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .args(args)
            .env("PUNCTUAL_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start punctual")?;
        let stdout = process.stdout.take().context("its standard output is a pipe")?;
        let mut server = Self { process, address: String::new() };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().strip_prefix(READY);
        server.address = address.context("the server did not get ready")?.to_owned();
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
