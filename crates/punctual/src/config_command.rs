//! `punctual config`: the settings there are, and whether a file has them right.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config;

/// Show the settings of the server, and check a file of them
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual config show > punctual.toml
  punctual config check punctual.toml")]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print a file with every setting, its meaning and its default
    #[command(after_help = "Example:\n  punctual config show > punctual.toml")]
    Show,
    /// Check a file: every name, every value, and the files it names
    #[command(after_help = "Example:\n  punctual config check punctual.toml")]
    Check {
        /// The file
        file: PathBuf,
    },
}

impl ConfigCommand {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let text = match self.verb {
            Verb::Show => config::DEFAULTS.to_owned(),
            Verb::Check { file } => {
                config::check(&file)?;
                format!("{} is right\n", file.display())
            }
        };
        std::io::stdout().write_all(text.as_bytes())?;
        Ok(())
    }
}
