//! The server's settings: flags win over variables, those over the file, that over the defaults.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use punctual_core::Span;
use punctual_core::http::{Reach, TargetUrl};
use punctual_core::limits::QUEUES_MAX;
use punctual_core::notice::NoticeSettings;
use punctual_server::{AccessToken, DeliveryLimits, TraceConfig};
use punctual_store::InboxLists;
use serde::Deserialize;

use crate::delivery_settings::{DeliveryFile, DeliveryFlags};
use crate::notice_settings::{NoticeFile, NoticeFlags};
use crate::place::{StorePlace, StoreSettings};
use crate::secrets::LoginFiles;
use crate::tokens::{self, TokenEntry};
use crate::values;

/// A file with every setting, for people to start from.
pub(crate) const DEFAULTS: &str = include_str!("punctual.toml");

const LISTEN: &str = "127.0.0.1:23334";

/// The settings of a store that can be looked at, as flags and variables give them.
#[derive(Args, Clone, Default)]
pub(crate) struct StoreFlags {
    /// A directory for the embedded store, a Redis (`redis://`, `rediss://`, `redis+sentinel://` or
    /// `redis+cluster://`), or `memory:` to keep nothing [default: ./punctual-data]
    #[arg(
        long,
        env = "PUNCTUAL_STORE",
        value_name = "DIR|URL|memory:",
        // It may hold a password.
        hide_env_values = true
    )]
    store: Option<String>,
    /// What all keys in Redis begin with; may be empty [default: punctual]
    #[arg(long, env = "PUNCTUAL_PREFIX", value_name = "TEXT")]
    prefix: Option<String>,
    #[command(flatten)]
    login: LoginFiles,
    /// A TOML file with any settings of the server, `_` for `-`
    #[arg(long, env = "PUNCTUAL_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

impl StoreFlags {
    /// Whether they say which store is meant.
    pub(crate) fn name_a_store(&self) -> bool {
        self.store.is_some() || self.config.is_some()
    }
}

/// Settings as flags and variables give them.
#[derive(Args, Default)]
pub(crate) struct Flags {
    /// The address to listen on; port 0 picks a free one [default: 127.0.0.1:23334]
    #[arg(long, env = "PUNCTUAL_LISTEN", value_name = "ADDRESS")]
    listen: Option<String>,
    #[command(flatten)]
    store: StoreFlags,
    /// Replicas of Redis that must have a write before it is answered [default: 0]
    #[arg(long, env = "PUNCTUAL_WAIT_REPLICAS", value_name = "N")]
    wait_replicas: Option<u32>,
    /// Use a Redis that may lose tasks: one that evicts keys, or keeps no append-only file
    #[arg(
        long,
        env = "PUNCTUAL_ALLOW_UNSAFE_REDIS",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    allow_unsafe_redis: Option<bool>,
    /// Further names the server may be called by in a Host header, separated by commas
    #[arg(long, env = "PUNCTUAL_HOSTS", value_name = "NAMES", value_delimiter = ',')]
    hosts: Option<Vec<String>>,
    /// A PEM file with the server's certificate, and those that vouch for it; needs `--tls-key` [default: none]
    #[arg(long, env = "PUNCTUAL_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key [default: none]
    #[arg(long, env = "PUNCTUAL_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Access tokens as a JSON list of what a `[[tokens]]` of the file has [default: none]
    #[arg(long, env = "PUNCTUAL_TOKENS", value_name = "JSON", hide_env_values = true)]
    tokens: Option<String>,
    /// Serve other machines without access tokens: whoever can connect may do anything
    #[arg(
        long,
        env = "PUNCTUAL_ALLOW_OPEN_ACCESS",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    allow_open_access: Option<bool>,
    /// Whether a push makes the queue it names [default: true]
    #[arg(long, env = "PUNCTUAL_AUTO_CREATE", value_name = "BOOL")]
    auto_create: Option<bool>,
    /// Most queues [default: 10000]
    #[arg(long, env = "PUNCTUAL_MAX_QUEUES", value_name = "N")]
    max_queues: Option<usize>,
    /// Let deliveries go to private addresses: all of them, or these networks, separated by commas
    #[arg(
        long,
        env = "PUNCTUAL_ALLOW_PRIVATE_TARGETS",
        value_name = "NETWORKS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    allow_private_targets: Option<String>,
    /// Further headers whose values are never read back, separated by commas
    #[arg(long, env = "PUNCTUAL_SECRET_HEADERS", value_name = "NAMES", value_delimiter = ',')]
    secret_headers: Option<Vec<String>>,
    /// The hold of runs of plans that name none, like `5m` [default: the queue's]
    #[arg(long, env = "PUNCTUAL_PLAN_EXEC_TIMEOUT", value_name = "DURATION", value_parser = values::span)]
    plan_exec_timeout: Option<Span>,
    /// Let users move the server's clock with POST /v1/dev/clock; only with a new store
    #[arg(
        long,
        env = "PUNCTUAL_DEV",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    dev: Option<bool>,
    /// Where to send traces: a collector that takes OTLP over HTTP, `http://host:4318` [default: nowhere]
    #[arg(long, env = "PUNCTUAL_OTLP_ENDPOINT", value_name = "URL", hide_env_values = true)]
    otlp_endpoint: Option<String>,
    /// The name of this service in traces [default: punctual]
    #[arg(long, env = "PUNCTUAL_OTLP_SERVICE_NAME", value_name = "NAME")]
    otlp_service_name: Option<String>,
    #[command(flatten)]
    delivery: DeliveryFlags,
    #[command(flatten)]
    notices: NoticeFlags,
}

/// Settings as the file gives them.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    store: Option<String>,
    prefix: Option<String>,
    redis_username_file: Option<PathBuf>,
    redis_password_file: Option<PathBuf>,
    redis_sentinel_password_file: Option<PathBuf>,
    wait_replicas: Option<u32>,
    allow_unsafe_redis: Option<bool>,
    hosts: Option<Vec<String>>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tokens: Option<Vec<TokenEntry>>,
    allow_open_access: Option<bool>,
    auto_create: Option<bool>,
    max_queues: Option<usize>,
    allow_private_targets: Option<PrivateTargets>,
    secret_headers: Option<Vec<String>>,
    plan_exec_timeout: Option<Span>,
    dev: Option<bool>,
    otlp_endpoint: Option<String>,
    otlp_service_name: Option<String>,
    #[serde(default)]
    delivery: DeliveryFile,
    #[serde(default)]
    notices: NoticeFile,
}

/// Which private addresses deliveries may go to, as the file says it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, or a list of networks like \"10.0.0.0/8\"")]
enum PrivateTargets {
    All(bool),
    Networks(Vec<String>),
}

impl PrivateTargets {
    fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(all) => Self::All(all),
            Err(_) => Self::Networks(text.split(',').map(|part| part.trim().to_owned()).collect()),
        }
    }

    fn reach(self) -> anyhow::Result<Reach> {
        match self {
            Self::All(true) => Ok(Reach::everywhere()),
            Self::All(false) => Ok(Reach::public()),
            Self::Networks(networks) => {
                let networks: Result<Vec<_>, String> =
                    networks.iter().map(|network| network.parse()).collect();
                let networks = networks
                    .map_err(|reason| anyhow::anyhow!("allow_private_targets: {reason}"))?;
                Ok(Reach::with(networks))
            }
        }
    }
}

/// The files a certificate comes from.
#[derive(Debug, PartialEq)]
pub(crate) struct TlsFiles {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// Both files or none.
fn tls_files(cert: Option<PathBuf>, key: Option<PathBuf>) -> anyhow::Result<Option<TlsFiles>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
        (None, None) => Ok(None),
        (Some(_), None) => anyhow::bail!("tls_key: name one, as tls_cert is named"),
        (None, Some(_)) => anyhow::bail!("tls_cert: name one, as tls_key is named"),
    }
}

/// The settings that hold.
#[derive(Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) store: StorePlace,
    pub(crate) hosts: Vec<String>,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) tokens: Vec<AccessToken>,
    pub(crate) allow_open_access: bool,
    pub(crate) auto_create: bool,
    pub(crate) max_queues: usize,
    pub(crate) reach: Reach,
    pub(crate) delivery: DeliveryLimits,
    pub(crate) secret_headers: Vec<String>,
    pub(crate) plan_exec_timeout: Option<Span>,
    pub(crate) dev: bool,
    pub(crate) notices: NoticeSettings,
    pub(crate) inbox: Option<InboxLists>,
    pub(crate) traces: Option<TraceConfig>,
}

impl File {
    fn store_settings(&mut self) -> StoreSettings {
        StoreSettings {
            store: self.store.take(),
            prefix: self.prefix.take(),
            login: LoginFiles {
                redis_username_file: self.redis_username_file.take(),
                redis_password_file: self.redis_password_file.take(),
                redis_sentinel_password_file: self.redis_sentinel_password_file.take(),
            },
            wait_replicas: self.wait_replicas,
            allow_unsafe_redis: self.allow_unsafe_redis,
        }
    }
}

impl StoreFlags {
    /// Reads the file, if one is named, and settles where the store is.
    pub(crate) fn settle(self) -> anyhow::Result<StorePlace> {
        let mut file = self.file()?;
        self.settings().or(file.store_settings()).place()
    }

    fn file(&self) -> anyhow::Result<File> {
        Ok(self.config.as_deref().map(read).transpose()?.unwrap_or_default())
    }

    fn settings(self) -> StoreSettings {
        let Self { store, prefix, login, config: _ } = self;
        StoreSettings { store, prefix, login, ..StoreSettings::default() }
    }
}

impl Flags {
    /// Reads the file, if one is named, and settles every setting.
    pub(crate) fn settle(self) -> anyhow::Result<Config> {
        let mut file = self.store.file()?;
        let store = StoreSettings {
            wait_replicas: self.wait_replicas,
            allow_unsafe_redis: self.allow_unsafe_redis,
            ..self.store.settings()
        };
        let store = store.or(file.store_settings()).place()?;
        let private_targets = self.allow_private_targets.as_deref().map(PrivateTargets::parse);
        let private_targets = private_targets.or(file.allow_private_targets);
        let tokens = self.tokens.as_deref().map(TokenEntry::parse_all).transpose();
        let tokens = tokens.map_err(|reason| anyhow::anyhow!("tokens: {reason}"))?;
        Ok(Config {
            listen: self.listen.or(file.listen).unwrap_or_else(|| LISTEN.to_owned()),
            store,
            hosts: self.hosts.or(file.hosts).unwrap_or_default(),
            tls: tls_files(self.tls_cert.or(file.tls_cert), self.tls_key.or(file.tls_key))?,
            tokens: tokens::settle(tokens.or(file.tokens).unwrap_or_default())?,
            allow_open_access: self.allow_open_access.or(file.allow_open_access).unwrap_or(false),
            auto_create: self.auto_create.or(file.auto_create).unwrap_or(true),
            max_queues: self.max_queues.or(file.max_queues).unwrap_or(QUEUES_MAX),
            reach: private_targets.unwrap_or(PrivateTargets::All(false)).reach()?,
            delivery: self.delivery.settle(&file.delivery)?,
            secret_headers: self.secret_headers.or(file.secret_headers).unwrap_or_default(),
            plan_exec_timeout: self.plan_exec_timeout.or(file.plan_exec_timeout),
            dev: self.dev.or(file.dev).unwrap_or(false),
            traces: traces(
                self.otlp_endpoint.or(file.otlp_endpoint),
                self.otlp_service_name.or(file.otlp_service_name),
            )?,
            inbox: self.notices.inbox(&file.notices)?,
            notices: self.notices.settle(file.notices)?,
        })
    }
}

/// Where traces go, if they go anywhere.
fn traces(endpoint: Option<String>, name: Option<String>) -> anyhow::Result<Option<TraceConfig>> {
    let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.is_empty()) else { return Ok(None) };
    TargetUrl::parse("otlp_endpoint", &endpoint).map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
    let service_name = name.unwrap_or_else(|| "punctual".to_owned());
    Ok(Some(TraceConfig { endpoint, service_name }))
}

/// Checks a file as a server that starts with it would.
pub(crate) fn check(path: &Path) -> anyhow::Result<Config> {
    let store = StoreFlags { config: Some(path.to_owned()), ..StoreFlags::default() };
    Flags { store, ..Flags::default() }.settle()
}

fn read(path: &Path) -> anyhow::Result<File> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the configuration {}", path.display()))?;
    parse(&text).map_err(|reason| anyhow::anyhow!("{}:{reason}", path.display()))
}

/// The file's settings, or `line:column: what is wrong there`.
fn parse(text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{line}:{column}: {}", error.message().replace('\n', ", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_that_over_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("punctual.toml");
        std::fs::write(&path, "listen = '127.0.0.1:1'\nstore = 'memory:'\nmax_queues = 3\n")
            .unwrap();
        let flags = Flags {
            listen: Some("127.0.0.1:2".to_owned()),
            store: StoreFlags { config: Some(path), ..StoreFlags::default() },
            ..Flags::default()
        };
        let expected = Config {
            listen: "127.0.0.1:2".to_owned(),
            store: StorePlace::Memory,
            hosts: Vec::new(),
            tls: None,
            tokens: Vec::new(),
            allow_open_access: false,
            auto_create: true,
            max_queues: 3,
            reach: Reach::public(),
            secret_headers: Vec::new(),
            plan_exec_timeout: None,
            dev: false,
            delivery: DeliveryLimits::default(),
            notices: NoticeSettings::default(),
            inbox: None,
            traces: None,
        };
        assert_eq!(flags.settle().unwrap(), expected);
        let defaults = Flags::default().settle().unwrap();
        assert_eq!(defaults.listen, "127.0.0.1:23334");
        assert_eq!(defaults.store, StorePlace::Directory("./punctual-data".into()));
    }

    #[test]
    fn the_file_of_defaults_has_every_setting_and_its_default() {
        let is_setting = |line: &str| line.starts_with(|c: char| c.is_ascii_lowercase());
        let uncommented = |prefix: &str| -> String {
            let line = |line: &str| match line.strip_prefix(prefix) {
                Some(rest) if is_setting(rest) || rest.starts_with('[') => format!("{rest}\n"),
                _ => format!("{line}\n"),
            };
            DEFAULTS.lines().map(line).collect()
        };
        let settled = |text: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("punctual.toml");
            std::fs::write(&path, text).unwrap();
            let store = StoreFlags { config: Some(path), ..StoreFlags::default() };
            Flags { store, ..Flags::default() }.settle().unwrap()
        };
        let defaults = Flags::default().settle().unwrap();
        assert_eq!(settled(DEFAULTS), defaults);
        assert_eq!(settled(&uncommented("#")), defaults, "what is commented out is the default");
        // Flags and the file have the same names.
        let command = <crate::serve::Serve as clap::Args>::augment_args(clap::Command::new("x"));
        for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
            let tables = ["notices-", "delivery-"];
            let name = tables.iter().find_map(|table| flag.strip_prefix(table)).unwrap_or(flag);
            let name = name.replace('-', "_");
            let is_named = DEFAULTS.lines().any(|line| {
                let line = line.trim_start_matches(['#', ' ', '[']);
                line.strip_prefix(&name).is_some_and(|rest| rest.starts_with([' ', ']']))
            });
            let is_elsewhere = ["config", "log", "log_format", "help"].contains(&&*name);
            assert!(is_named || is_elsewhere, "{name} is not in the file");
        }
    }

    #[test]
    fn traces_go_to_a_url_or_nowhere() {
        let flags = |url: &str| Flags { otlp_endpoint: Some(url.to_owned()), ..Flags::default() };
        let settled = flags("http://127.0.0.1:4318").settle().unwrap().traces.unwrap();
        assert_eq!(settled.service_name, "punctual");
        assert_eq!(flags("").settle().unwrap().traces, None);
        for bad in ["127.0.0.1:4318", "grpc://x", "nothing"] {
            let reason = flags(bad).settle().unwrap_err().to_string();
            assert!(reason.starts_with("otlp_endpoint: "), "{reason}");
        }
    }

    #[test]
    fn a_typo_is_refused_with_its_place() {
        for (text, place, part) in [
            ("listen = '127.0.0.1:1'\nlisen = 1\n", "2:1:", "lisen"),
            ("  max_queues = 'many'\n", "1:16:", "expected"),
            ("hosts = [\n", "1:", ""),
            ("[server]\nlisten = 'x'\n", "1:2:", "server"),
        ] {
            let reason = parse(text).err().unwrap();
            assert!(reason.starts_with(place) && reason.contains(part), "{text}: {reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
    }

    #[test]
    fn private_targets_are_allowed_altogether_or_by_network() {
        let flag =
            |text: &str| Flags { allow_private_targets: Some(text.to_owned()), ..Flags::default() };
        assert_eq!(flag("true").settle().unwrap().reach, Reach::everywhere());
        assert_eq!(flag("false").settle().unwrap().reach, Reach::public());
        let networks = || ["10.0.0.0/8", "fd00::/8"].map(|text| text.parse().unwrap()).into();
        assert_eq!(flag("10.0.0.0/8, fd00::/8").settle().unwrap().reach, Reach::with(networks()));
        let reason = flag("10.0.0.0/99").settle().unwrap_err().to_string();
        assert!(reason.starts_with("allow_private_targets: 10.0.0.0/99 is no network"), "{reason}");
        let in_file = |text: &str| {
            let file = parse(&format!("allow_private_targets = {text}")).ok().unwrap();
            file.allow_private_targets.unwrap().reach().unwrap()
        };
        assert_eq!(in_file("true"), Reach::everywhere());
        assert_eq!(in_file(r#"["10.0.0.0/8", "fd00::/8"]"#), Reach::with(networks()));
        assert!(parse("allow_private_targets = 7").is_err());
    }
}
