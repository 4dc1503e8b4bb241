//! `punctual completions` and `punctual man`: the command line, for shells and for `man`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
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

/// Print the manual page, or write those of all commands
#[derive(Args)]
#[command(after_help = "\
Examples:
  punctual man | man -l -
  punctual man --dir /usr/local/share/man/man1")]
pub(crate) struct Manual {
    /// Write a page per command into this directory: punctual.1, punctual-push.1 and so on
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Punctual::command(), "punctual", &mut text);
        Ok(std::io::stdout().write_all(&text)?)
    }
}

impl Manual {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if let Some(dir) = self.dir {
            return clap_mangen::generate_to(Punctual::command(), &dir)
                .with_context(|| format!("dir: cannot write into {}", dir.display()));
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(Punctual::command()).render(&mut text)?;
        Ok(std::io::stdout().write_all(&text)?)
    }
}
