//! `punctual completions` and `punctual man`: the command line, for shells and for `man`.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Punctual;

/// Print the completions of the command line for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual completions bash > /etc/bash_completion.d/punctual
  punctual completions fish > ~/.config/fish/completions/punctual.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Print the manual page
#[derive(Args)]
#[command(after_help = "Example:\n  punctual man > /usr/share/man/man1/punctual.1")]
pub(crate) struct Manual {}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Punctual::command(), "punctual", &mut text);
        Ok(std::io::stdout().write_all(&text)?)
    }
}

impl Manual {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_mangen::Man::new(Punctual::command()).render(&mut text)?;
        Ok(std::io::stdout().write_all(&text)?)
    }
}
