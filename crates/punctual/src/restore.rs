//! `punctual restore`: a store made of a backup.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use punctual_store::local::{Contents, Restored};
use punctual_store::{Clock, SystemClock};
use serde::Serialize;

use crate::config::StoreFlags;
use crate::output::Output;
use crate::place::StorePlace;

/// Make a store of a backup
#[derive(Args)]
#[command(after_help = "\
The backup is checked before anything is changed. The directory must be empty or not there yet; one that a
server uses is refused. Tasks that somebody held when the backup was made go back to their queues, and the
tokens for them are stale. What was due meanwhile happens when a server starts there.

Examples:
  punctual restore punctual-monday.backup
  punctual restore punctual-monday.backup --store /var/lib/punctual
  punctual restore punctual-monday.backup --force     keep the store that is there aside")]
pub(crate) struct Restore {
    /// The file that `punctual backup` wrote
    file: PathBuf,
    /// Put the store that is there aside, into a directory beside it
    #[arg(long)]
    force: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: StoreFlags,
}

/// What was made.
#[derive(Serialize)]
struct Report<'a> {
    store: &'a Path,
    #[serde(flatten)]
    contents: Contents,
    aside: Option<&'a Path>,
}

impl Restore {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let StorePlace::Directory(dir) = self.flags.settle()? else {
            bail!(
                "store: a backup becomes a store in a directory; to bring it to Redis, restore it and \
                   then use punctual migrate"
            );
        };
        let now = SystemClock::new().now().wall;
        let Restored { contents, aside } = Restored::new(&self.file, &dir, self.force, now)?;
        let report = Report { store: &dir, contents, aside: aside.as_deref() };
        Output::new(self.json).answer(&report, || {
            let mut text = format!("{}: {}", dir.display(), describe(&contents));
            if contents.held > 0 {
                text += &format!(
                    "\n{} of the tasks were held and go back to their queues",
                    contents.held
                );
            }
            if let Some(aside) = &aside {
                text += &format!("\nwhat was there before lies in {}", aside.display());
            }
            text
        })
    }
}

/// What a backup holds, in words.
pub(crate) fn describe(contents: &Contents) -> String {
    let Contents { queues, tasks, bundles, plans, flows, workers, .. } = contents;
    let parts = [
        (*queues, "queues"),
        (*tasks, "tasks"),
        (*bundles, "bundles"),
        (*plans, "plans"),
        (*flows, "flows"),
        (*workers, "workers"),
    ];
    let parts: Vec<String> = parts.iter().map(|(count, name)| format!("{count} {name}")).collect();
    parts.join(", ")
}
