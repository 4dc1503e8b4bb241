//! Where tasks are kept: the settings that say so, and how a store is opened there.

use std::fmt;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use punctual_store::local::{LocalOptions, LocalStore};
use punctual_store::redis::{RedisLogin, RedisOptions, RedisStore};
use punctual_store::{Clock, DevClock, MovableClock, Store, StoreError, SystemClock};
use tokio::time::{Instant, sleep};
use tracing::info;

use crate::secrets::LoginFiles;

const STORE: &str = "./punctual-data";
const PREFIX: &str = "punctual";
/// Where a directory that was made by `serve --dev` notes how far its clock was moved.
const DEV_CLOCK: &str = "dev-clock";
/// How long a Redis that cannot be reached is waited for at start: long enough for one that was
/// started together with the server, short enough to be told soon that it is not there.
const REDIS_PATIENCE: Duration = Duration::from_secs(5);
const REDIS_AGAIN: Duration = Duration::from_millis(250);

/// The settings about the store; what is left out has its default.
#[derive(Default)]
pub(crate) struct StoreSettings {
    pub(crate) store: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) login: LoginFiles,
    pub(crate) wait_replicas: Option<u32>,
    pub(crate) allow_unsafe_redis: Option<bool>,
}

/// Where tasks are kept.
#[derive(Debug, PartialEq)]
pub(crate) enum StorePlace {
    /// In memory, until the server ends.
    Memory,
    /// In this directory.
    Directory(PathBuf),
    /// In Redis.
    Redis(RedisPlace),
}

/// Where in Redis, and what is asked of it.
#[derive(PartialEq)]
pub(crate) struct RedisPlace {
    url: String,
    login: RedisLogin,
    /// Where the login comes from, as far as it is not in the URL.
    pub(crate) files: LoginFiles,
    prefix: String,
    wait_replicas: u32,
    allow_unsafe: bool,
}

impl fmt::Debug for RedisPlace {
    /// Without the URL and the login, because of the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisPlace").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl StoreSettings {
    /// These settings, and for what they leave out those.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            store: self.store.or(others.store),
            prefix: self.prefix.or(others.prefix),
            login: self.login.or(others.login),
            wait_replicas: self.wait_replicas.or(others.wait_replicas),
            allow_unsafe_redis: self.allow_unsafe_redis.or(others.allow_unsafe_redis),
        }
    }

    /// The place they name.
    pub(crate) fn place(self) -> anyhow::Result<StorePlace> {
        let store = self.store.unwrap_or_else(|| STORE.to_owned());
        if store == "memory:" {
            return Ok(StorePlace::Memory);
        }
        if store.is_empty() {
            bail!("store: not empty; give a directory, redis://host:port, or memory:");
        }
        match store.split_once("://") {
            None => Ok(StorePlace::Directory(store.into())),
            Some((scheme, _)) if scheme.starts_with("redis") => {
                let place = RedisPlace {
                    login: self.login.read()?,
                    files: self.login,
                    prefix: self.prefix.unwrap_or_else(|| PREFIX.to_owned()),
                    wait_replicas: self.wait_replicas.unwrap_or(0),
                    allow_unsafe: self.allow_unsafe_redis.unwrap_or(false),
                    url: store,
                };
                place.options().check()?;
                Ok(StorePlace::Redis(place))
            }
            Some((scheme, _)) => bail!(
                "store: {scheme}:// is not supported; give a directory for the embedded store, \
                 redis://, redis+sentinel://, redis+cluster://, or memory:"
            ),
        }
    }
}

/// A store that is open.
pub(crate) struct OpenStore {
    pub(crate) store: Arc<dyn Store>,
    /// Its clock, if it can be moved.
    pub(crate) dev_clock: Option<Arc<dyn DevClock>>,
}

impl StorePlace {
    /// Opens the store there. With `dev` its clock can be moved.
    pub(crate) async fn open(&self, dev: bool) -> anyhow::Result<OpenStore> {
        let dir = match self {
            Self::Memory => None,
            Self::Directory(dir) => Some(dir),
            Self::Redis(redis) => {
                let store = redis.open(dev).await?;
                let dev_clock = dev.then(|| -> Arc<dyn DevClock> { store.clone() });
                return Ok(OpenStore { store, dev_clock });
            }
        };
        if dev {
            let clock = dir.map_or_else(|| Ok(MovableClock::new()), |dir| dev_clock(dir))?;
            let store = open_local(dir, Arc::new(clock.clone()))?;
            return Ok(OpenStore { store, dev_clock: Some(Arc::new(clock)) });
        }
        self.refuse_dev()?;
        Ok(OpenStore { store: self.open_files()?, dev_clock: None })
    }

    /// Opens the store in the directory, or in memory, by the clock of the machine.
    pub(crate) fn open_files(&self) -> Result<Arc<LocalStore>, StoreError> {
        let dir = match self {
            Self::Directory(dir) => Some(dir),
            Self::Memory | Self::Redis(_) => None,
        };
        open_local(dir, Arc::new(SystemClock::new()))
    }

    /// Refuses a directory whose clock may have been moved.
    pub(crate) fn refuse_dev(&self) -> anyhow::Result<()> {
        match self {
            Self::Directory(dir) if dir.join(DEV_CLOCK).exists() => bail!(
                "store: {} was made by serve --dev, and its clock may have been moved; \
                 serve it with --dev, or choose another directory",
                dir.display()
            ),
            _ => Ok(()),
        }
    }
}

fn open_local(dir: Option<&PathBuf>, clock: Arc<dyn Clock>) -> Result<Arc<LocalStore>, StoreError> {
    LocalStore::open(LocalOptions { dir: dir.cloned(), clock })
}

/// The movable clock of a directory that was made with one, or is new.
fn dev_clock(dir: &Path) -> anyhow::Result<MovableClock> {
    let is_new = std::fs::read_dir(dir).map_or(true, |mut files| files.next().is_none());
    if !is_new && !dir.join(DEV_CLOCK).exists() {
        bail!(
            "dev: the store {} was not made by serve --dev, and moving its clock could harm it; \
             give a new directory, or memory:",
            dir.display()
        );
    }
    let mut made = std::fs::DirBuilder::new();
    made.recursive(true)
        .mode(0o700)
        .create(dir)
        .and_then(|()| MovableClock::noted_in(dir.join(DEV_CLOCK)))
        .with_context(|| format!("the clock of {} cannot be kept", dir.display()))
}

impl RedisPlace {
    /// How the store there is opened.
    pub(crate) fn options(&self) -> RedisOptions {
        RedisOptions {
            login: self.login.clone(),
            prefix: self.prefix.clone(),
            wait_replicas: self.wait_replicas,
            allow_unsafe: self.allow_unsafe,
            ..RedisOptions::new(&*self.url)
        }
    }

    /// Opens the store there. A Redis that is away is waited for a while; one that must not be used
    /// is told at once.
    async fn open(&self, is_dev: bool) -> Result<Arc<RedisStore>, StoreError> {
        let deadline = Instant::now() + REDIS_PATIENCE;
        let mut is_said = false;
        loop {
            match RedisStore::open(RedisOptions { is_dev, ..self.options() }).await {
                Err(trouble) if trouble.is_retryable() && Instant::now() < deadline => {
                    if !std::mem::replace(&mut is_said, true) {
                        info!(%trouble, "waiting for the store, at most {REDIS_PATIENCE:?}");
                    }
                    sleep(REDIS_AGAIN).await;
                }
                opened => return opened,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(store: &str) -> StoreSettings {
        StoreSettings { store: Some(store.to_owned()), ..StoreSettings::default() }
    }

    #[test]
    fn a_store_is_a_directory_memory_or_redis() {
        let default = StoreSettings::default().place().unwrap();
        assert_eq!(default, StorePlace::Directory("./punctual-data".into()));
        assert_eq!(settings("memory:").place().unwrap(), StorePlace::Memory);
        assert_eq!(settings("redis").place().unwrap(), StorePlace::Directory("redis".into()));
        for url in ["redis://a", "rediss://a", "redis+sentinel://a/b", "redis+cluster://a,b"] {
            let StorePlace::Redis(redis) = settings(url).place().unwrap() else { panic!("{url}") };
            assert_eq!((&*redis.url, &*redis.prefix), (url, "punctual"));
            assert!(!redis.allow_unsafe && redis.wait_replicas == 0);
        }
        let empty = StoreSettings { prefix: Some(String::new()), ..settings("redis://a") };
        let StorePlace::Redis(redis) = empty.place().unwrap() else { panic!("no Redis") };
        assert_eq!(redis.prefix, "");
    }

    #[test]
    fn other_stores_are_refused_by_name_and_without_a_password() {
        for store in ["postgres://:secret@x", ""] {
            let error = settings(store).place().unwrap_err().to_string();
            assert!(error.starts_with("store: ") && error.contains("memory:"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let place = settings("redis://:secret@x").place().unwrap();
        assert!(!format!("{place:?}").contains("secret"));
    }
}
