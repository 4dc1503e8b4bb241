//! Where Redis is: the URL of a store taken apart.

use std::fmt;

use redis::{
    ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo,
};

use super::RedisLogin;
use crate::port::StoreError;

const DEFAULT_PORT: u16 = 6_379;
const DEFAULT_SENTINEL_PORT: u16 = 26_379;

/// Where Redis is, and how to log in.
#[derive(Clone, PartialEq)]
pub(super) struct Address {
    /// The servers named: Redis itself, nodes of a Cluster, or Sentinels.
    pub(super) hosts: Vec<(String, u16)>,
    /// What they are.
    pub(super) topology: Topology,
    /// Whether they are spoken to in TLS.
    pub(super) is_tls: bool,
    login: Login,
    sentinel_login: Login,
    database: i64,
}

/// What the servers of an address are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Topology {
    /// One server.
    Single,
    /// Nodes of a Cluster.
    Cluster,
    /// Sentinels that know where the primary of this name is.
    Sentinel {
        /// The name.
        primary: String,
    },
}

#[derive(Clone, Default, PartialEq)]
struct Login {
    username: Option<String>,
    password: Option<String>,
}

impl fmt::Display for Address {
    /// Its hosts, without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (host, port)) in self.hosts.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{host}:{port}")?;
        }
        Ok(())
    }
}

impl Address {
    /// Reads a URL. The message of an error never shows it, because of its password.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::Open(format!("store: {what}"));
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            wrong("a URL like redis://host:6379/0, redis+sentinel://host:26379/name or redis+cluster://host:6379,host:6379")
        })?;
        let (scheme, is_tls) = match scheme.strip_prefix("rediss") {
            Some(kind) => (kind, true),
            None => (scheme.strip_prefix("redis").unwrap_or("?"), false),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = match place.rsplit_once('@') {
            Some((login, hosts)) => (Login::parse(login), hosts),
            None => (Login::default(), place),
        };
        let mut path = path.split('/').filter(|part| !part.is_empty());
        let (topology, port) = match scheme {
            "" => (Topology::Single, DEFAULT_PORT),
            "+cluster" => (Topology::Cluster, DEFAULT_PORT),
            "+sentinel" => {
                let primary = path.next().map(decoded);
                let primary = primary.ok_or_else(|| {
                    wrong("name the primary, as in redis+sentinel://host:26379/name")
                })?;
                (Topology::Sentinel { primary }, DEFAULT_SENTINEL_PORT)
            }
            _ => {
                return Err(wrong(
                    "the URL begins with redis, rediss, redis+sentinel or redis+cluster",
                ));
            }
        };
        let database = match path.next() {
            Some(_) if topology == Topology::Cluster => {
                return Err(wrong("a Cluster has no database numbers"));
            }
            Some(text) => text.parse().map_err(|_| wrong("the database is a whole number"))?,
            None => 0,
        };
        let hosts: Option<Vec<_>> = hosts.split(',').map(|host| parse_host(host, port)).collect();
        let hosts =
            hosts.ok_or_else(|| wrong("hosts are given as host:port, separated by commas"))?;
        if topology == Topology::Single && hosts.len() > 1 {
            return Err(wrong("several hosts are given with redis+sentinel or redis+cluster"));
        }
        let sentinel_login = Login::from_query(query).ok_or_else(|| {
            wrong("after ? only sentinel_username and sentinel_password are known")
        })?;
        Ok(Self { hosts, topology, is_tls, login, sentinel_login, database })
    }

    /// The same with what a login adds to it.
    pub(super) fn with(mut self, login: &RedisLogin) -> Result<Self, StoreError> {
        let RedisLogin { username, password, sentinel_password } = login;
        let is_sentinel = matches!(self.topology, Topology::Sentinel { .. });
        if sentinel_password.is_some() && !is_sentinel {
            return Err(StoreError::Open(
                "redis_sentinel_password_file: only for redis+sentinel://".to_owned(),
            ));
        }
        for (setting, given, known) in [
            ("redis_username_file", username, &mut self.login.username),
            ("redis_password_file", password, &mut self.login.password),
            ("redis_sentinel_password_file", sentinel_password, &mut self.sentinel_login.password),
        ] {
            if given.is_some() && known.is_some() {
                return Err(StoreError::Open(format!(
                    "{setting}: the URL of the store has it, too"
                )));
            }
            *known = known.take().or_else(|| given.clone());
        }
        Ok(self)
    }

    /// How to connect to a Redis at a place.
    pub(super) fn redis(&self, host: &str, port: u16) -> Result<ConnectionInfo, redis::RedisError> {
        self.info(host, port, &self.login, self.database)
    }

    /// How to connect to a Sentinel at a place.
    pub(super) fn sentinel(
        &self,
        host: &str,
        port: u16,
    ) -> Result<ConnectionInfo, redis::RedisError> {
        self.info(host, port, &self.sentinel_login, 0)
    }

    fn info(
        &self,
        host: &str,
        port: u16,
        login: &Login,
        database: i64,
    ) -> Result<ConnectionInfo, redis::RedisError> {
        let host = host.to_owned();
        let addr = if self.is_tls {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        };
        // Messages come over the same connection as answers, which only the third protocol can.
        let mut redis =
            RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_db(database);
        if let Some(username) = &login.username {
            redis = redis.set_username(username);
        }
        if let Some(password) = &login.password {
            redis = redis.set_password(password);
        }
        Ok(addr.into_connection_info()?.set_redis_settings(redis))
    }
}

impl Login {
    fn parse(text: &str) -> Self {
        let (username, password) = text.split_once(':').unwrap_or((text, ""));
        let given = |text: &str| (!text.is_empty()).then(|| decoded(text));
        Self { username: given(username), password: given(password) }
    }

    fn from_query(query: &str) -> Option<Self> {
        let mut login = Self::default();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=')? {
                ("sentinel_username", text) => login.username = Some(decoded(text)),
                ("sentinel_password", text) => login.password = Some(decoded(text)),
                _ => return None,
            }
        }
        Some(login)
    }
}

fn parse_host(text: &str, default_port: u16) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, port.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// A text with its percent signs resolved; one that stands alone is itself.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &Address) -> Vec<String> {
        address.to_string().split(',').map(str::to_owned).collect()
    }

    #[test]
    fn urls_are_read() {
        let single = Address::parse("redis://:p%40ss@example.org/3").unwrap();
        assert_eq!(hosts(&single), ["example.org:6379"]);
        assert_eq!((single.topology.clone(), single.database), (Topology::Single, 3));
        assert_eq!(single.login.password.as_deref(), Some("p@ss"));
        assert_eq!(single.login.username, None);

        let sentinel =
            Address::parse("redis+sentinel://me:x@a:1,[::1]:2,c/main/1?sentinel_password=y")
                .unwrap();
        assert_eq!(hosts(&sentinel), ["a:1", "::1:2", "c:26379"]);
        assert_eq!(sentinel.topology, Topology::Sentinel { primary: "main".to_owned() });
        assert_eq!(sentinel.database, 1);
        assert_eq!(sentinel.login.username.as_deref(), Some("me"));
        assert_eq!(sentinel.sentinel_login.password.as_deref(), Some("y"));

        let cluster = Address::parse("rediss+cluster://a:1,b:2").unwrap();
        assert_eq!(cluster.topology, Topology::Cluster);
        assert!(cluster.is_tls);
    }

    #[test]
    fn a_login_adds_what_the_url_leaves_out() {
        let given = |text: &str| Some(text.to_owned());
        let login = RedisLogin { password: given("p@ss"), ..RedisLogin::default() };
        let address = Address::parse("redis://me@a").unwrap().with(&login).unwrap();
        assert_eq!(address.login.username.as_deref(), Some("me"));
        assert_eq!(address.login.password.as_deref(), Some("p@ss"));
        let all = RedisLogin { username: given("me"), sentinel_password: given("s"), ..login };
        let address = Address::parse("redis+sentinel://a/main").unwrap().with(&all).unwrap();
        assert_eq!(address.login.username.as_deref(), Some("me"));
        assert_eq!(address.sentinel_login.password.as_deref(), Some("s"));
        for (url, setting) in [
            ("redis://:secret@a", "redis_sentinel_password_file: only"),
            ("redis+sentinel://you@a/main", "redis_username_file: the URL"),
            ("redis+sentinel://:secret@a/main", "redis_password_file: the URL"),
            (
                "redis+sentinel://a/main?sentinel_password=secret",
                "redis_sentinel_password_file: the",
            ),
        ] {
            let Err(error) = Address::parse(url).unwrap().with(&all) else { panic!("{url}") };
            assert!(error.to_string().starts_with(setting), "{url}: {error}");
            assert!(!error.to_string().contains("secret@"), "{error}");
        }
    }

    #[test]
    fn other_urls_are_refused_without_their_password() {
        for url in [
            "",
            "localhost:6379",
            "http://:secret@localhost",
            "redis://:secret@",
            "redis://:secret@a:b",
            "redis://:secret@a,b",
            "redis://:secret@a/x",
            "redis+cluster://:secret@a/1",
            "redis+sentinel://:secret@a",
            "redis://:secret@a?x=1",
        ] {
            let Err(error) = Address::parse(url) else { panic!("{url} is no address") };
            assert!(error.to_string().starts_with("store: "), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
