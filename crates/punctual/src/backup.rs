//! `punctual backup`: a copy of a running server's store, as a file.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use punctual_client::Client;
use punctual_store::local::Contents;
use serde::Serialize;

use crate::progress;
use crate::remote::Remote;
use crate::restore::describe;

/// Copy the store of a running server into a file
#[derive(Args)]
#[command(after_help = "\
The server goes on meanwhile. All that it acknowledged before the command was given is in the file, which is
checked before it gets its name. Only the embedded store is copied: of Redis use its own backup, or
`punctual migrate`. With access tokens this needs the right admin.

Examples:
  punctual backup punctual-monday.backup
  punctual backup --force /backups/punctual.backup
  PUNCTUAL_URL=http://10.0.0.5:23334 punctual backup --json here.backup")]
pub(crate) struct Backup {
    /// The file to write
    file: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    remote: Remote,
}

/// What was written.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    bytes: u64,
    #[serde(flatten)]
    contents: Contents,
}

impl Backup {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let file = self.file.as_path();
        // A link counts as well, wherever it leads: it is replaced, never followed.
        if file.symlink_metadata().is_ok() && !self.force {
            bail!("{} is there already; choose another name, or --force", file.display());
        }
        let (client, output) = self.remote.open()?;
        let part = part_of(file);
        let written = fetch(&client, &part, output.is_json()).await;
        let kept = written.and_then(|bytes| {
            let contents = Contents::of(&part)?;
            std::fs::rename(&part, file).and_then(|()| sync_directory(file))?;
            Ok((bytes, contents))
        });
        if kept.is_err() {
            // What is not whole is no backup.
            let _ = std::fs::remove_file(&part);
        }
        let (bytes, contents) = kept?;
        output.answer(&Report { file, bytes, contents }, || {
            format!("{}: {bytes} bytes; {}", file.display(), describe(&contents))
        })
    }
}

/// The name a file has until it is whole.
fn part_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Writes what the server sends, and says how long it is.
async fn fetch(client: &Client, part: &Path, is_json: bool) -> anyhow::Result<u64> {
    let bar_of = |total| if is_json { ProgressBar::hidden() } else { progress::bytes(total) };
    let waiting = bar_of(None).with_message("the server makes a copy");
    let mut backup = client.backup().await?;
    waiting.finish_and_clear();
    let bar = bar_of(backup.bytes()).with_message("backup");
    let cannot = || format!("cannot write {}", part.display());
    let mut file = create(part).with_context(cannot)?;
    let mut bytes = 0;
    while let Some(piece) = backup.next().await? {
        file.write_all(&piece).with_context(cannot)?;
        bytes += piece.len() as u64;
        bar.set_position(bytes);
    }
    file.sync_all().with_context(cannot)?;
    bar.finish_and_clear();
    if backup.bytes().is_some_and(|whole| whole != bytes) {
        bail!("the backup broke off after {bytes} bytes; try again");
    }
    Ok(bytes)
}

/// Makes a file that only its owner may read, in the place of whatever was left there. A link is removed and
/// not followed.
fn create(part: &Path) -> std::io::Result<File> {
    if part.symlink_metadata().is_ok() {
        std::fs::remove_file(part)?;
    }
    File::options().write(true).create_new(true).mode(0o600).open(part)
}

/// Makes the name of a new file as durable as its contents.
fn sync_directory(file: &Path) -> std::io::Result<()> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
    File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}
