//! `punctual migrate`: everything from one store to another.

use std::io::Write;
use std::sync::Arc;

use anyhow::{bail, ensure};
use clap::Args;
use indicatif::ProgressBar;
use punctual_store::local::{Filling, LocalStore};
use punctual_store::migrate::{Tally, migrate, require_empty};
use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_store::{SystemClock, Transfer};
use serde_json::{Map, Value};

use crate::output::Output;
use crate::place::{RedisPlace, StorePlace, StoreSettings};
use crate::progress;
use crate::secrets::LoginFiles;
use crate::table::table;

/// Move everything from one store to another
#[derive(Args)]
#[command(after_help = "\
Both ways between a directory and Redis, one Redis and a Cluster, one prefix and another. No server may use
either store meanwhile; the target must be empty. Queues, tasks in every state with their holds and tokens,
bundles, plans, flows, workers, and what is remembered of requests all go along. At the end both are compared.
The source stays as it was: from then on serve only one of the two.

An interrupted move to a directory leaves no store there, and is simply begun again; one to Redis leaves a
store that no server opens, and is begun again with --force.

Examples:
  punctual migrate --from ./punctual-data --to redis://127.0.0.1:6379
  punctual migrate --from redis://127.0.0.1:6379 --to ./punctual-data
  punctual migrate --from redis://old:6379 --to redis+cluster://new:7000 --prefix app
  punctual migrate --from redis://127.0.0.1:6379 --prefix a --to redis://127.0.0.1:6379 --to-prefix b")]
pub(crate) struct Migrate {
    /// The store to move: a directory, or a Redis as for `serve --store`
    #[arg(long, value_name = "DIR|URL", env = "PUNCTUAL_FROM", hide_env_values = true)]
    from: String,
    /// Where to move it: an empty directory, or a Redis without a store
    #[arg(long, value_name = "DIR|URL", env = "PUNCTUAL_TO", hide_env_values = true)]
    to: String,
    /// What all keys in Redis begin with; may be empty [default: punctual]
    #[arg(long, value_name = "TEXT", env = "PUNCTUAL_PREFIX")]
    prefix: Option<String>,
    /// What they begin with in the target, if that is another
    #[arg(long, value_name = "TEXT")]
    to_prefix: Option<String>,
    #[command(flatten)]
    login: LoginFiles,
    /// Use a Redis that may lose tasks: one that evicts keys, or keeps no append-only file
    #[arg(long)]
    allow_unsafe_redis: bool,
    /// Empty a target that an interrupted move has left half filled
    #[arg(long)]
    force: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Migrate {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let from = self.place("from", &self.from, self.prefix.as_ref())?;
        let to = self.place("to", &self.to, self.to_prefix.as_ref().or(self.prefix.as_ref()))?;
        ensure!(from != to, "to: the same store as from");
        let source = open_source(&from).await?;
        let bar = if self.json { ProgressBar::hidden() } else { progress::counter() };
        bar.set_message("moved");
        let tally = match to {
            StorePlace::Redis(place) => self.fill_redis(&*source, &place, &bar).await,
            place => fill_directory(&*source, &place, &bar).await,
        };
        bar.finish_and_clear();
        let counts = tally?.counts();
        let name = |name: &str| name.replace(' ', "_");
        let report: Map<String, Value> =
            counts.iter().map(|(of, count)| (name(of), Value::from(*count))).collect();
        Output::new(self.json).answer(&report, || {
            let row = |(name, count): &(&str, u64)| [(*name).to_owned(), count.to_string()];
            let rows: Vec<[String; 2]> = counts.iter().map(row).collect();
            format!("{}\nboth stores hold the same", table(["MOVED", "COUNT"], &rows))
        })
    }

    fn place(
        &self,
        field: &str,
        store: &str,
        prefix: Option<&String>,
    ) -> anyhow::Result<StorePlace> {
        let settings = StoreSettings {
            store: Some(store.to_owned()),
            prefix: prefix.cloned(),
            login: self.login.clone(),
            wait_replicas: None,
            allow_unsafe_redis: Some(self.allow_unsafe_redis),
        };
        let place = settings.place()?;
        ensure!(
            place != StorePlace::Memory,
            "{field}: memory: keeps nothing over its server's end"
        );
        Ok(place)
    }

    async fn fill_redis(
        &self,
        source: &dyn Transfer,
        place: &RedisPlace,
        bar: &ProgressBar,
    ) -> anyhow::Result<Tally> {
        let options = || RedisOptions { is_filled: true, ..place.options() };
        let presence = RedisStore::presence(&options()).await?;
        require_no_servers("to", presence.servers)?;
        if presence.is_filling && !self.force {
            bail!(
                "to: an earlier move to it did not end, so it is half filled; give --force to empty it \
                 and begin again"
            );
        }
        let target = RedisStore::open(options()).await?;
        if presence.is_filling {
            target.clear().await?;
        }
        require_empty(&*target).await?;
        target.set_filling(true).await?;
        let tally = migrate(source, &*target, &|count| bar.inc(count)).await?;
        target.set_filling(false).await?;
        Ok(tally)
    }
}

async fn fill_directory(
    source: &dyn Transfer,
    place: &StorePlace,
    bar: &ProgressBar,
) -> anyhow::Result<Tally> {
    let StorePlace::Directory(dir) = place else { bail!("to: not a directory") };
    place.refuse_dev()?;
    let filling = Filling::begin(dir, Arc::new(SystemClock::new()))?;
    let tally = migrate(source, filling.store(), &|count| bar.inc(count)).await?;
    filling.finish()?;
    Ok(tally)
}

/// Opens the store that is to be moved; makes none where there is none.
async fn open_source(place: &StorePlace) -> anyhow::Result<Arc<dyn Transfer>> {
    match place {
        StorePlace::Redis(redis) => {
            let presence = RedisStore::presence(&redis.options()).await?;
            ensure!(presence.is_made, "from: there is no store in Redis under this prefix");
            require_no_servers("from", presence.servers)?;
            Ok(RedisStore::open(redis.options()).await?)
        }
        StorePlace::Directory(dir) => {
            ensure!(LocalStore::is_at(dir), "from: there is no store in {}", dir.display());
            place.refuse_dev()?;
            Ok(place.open_files()?)
        }
        StorePlace::Memory => bail!("from: memory: keeps nothing over its server's end"),
    }
}

/// Refuses a store in Redis that servers use, as far as that can be seen.
fn require_no_servers(field: &str, servers: Option<u64>) -> anyhow::Result<()> {
    match servers {
        Some(0) => Ok(()),
        Some(1) => bail!("{field}: a server uses it; stop it first"),
        Some(n) => bail!("{field}: {n} servers use it; stop them first"),
        None => {
            let note = "Redis does not tell whether servers use it; make sure that none does";
            writeln!(std::io::stderr(), "note: {field}: {note}")?;
            Ok(())
        }
    }
}
