//! Access tokens: their rights, the queues they are good for, their limits, and the rules for making
//! and revoking them at run time. A record holds the hash of a token, never the token.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Invalid, Refusal};
use crate::limits::{
    ACCESS_QUEUES_MAX, TOKEN_CONNECTIONS_MAX, TOKEN_QUEUES_MAX, TOKEN_STREAMS_MAX,
};
use crate::name::{QueueName, TokenName};
use crate::object::objects_only;
use crate::queue::Rate;
use crate::time::Timestamp;

/// The share of the bytes in flight that a token limited to queues may have: one of so many parts.
pub const BYTES_PARTS: u64 = 4;

/// What a token may be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Reading.
    Read,
    /// Bringing work in, and controlling it.
    Produce,
    /// Carrying work out.
    Consume,
    /// Settings of queues, and the server itself.
    Admin,
}

impl Right {
    /// Every right.
    pub const ALL: [Self; 4] = [Self::Read, Self::Produce, Self::Consume, Self::Admin];

    /// Its name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Produce => "produce",
            Self::Consume => "consume",
            Self::Admin => "admin",
        }
    }
}

/// Some queues, or all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Scope(Option<Arc<[String]>>);

impl Scope {
    /// All queues.
    pub fn all() -> Self {
        Self(None)
    }

    /// These queues; `*` at the end of a name stands for any ending.
    pub fn of(names: impl Into<Arc<[String]>>) -> Self {
        Self(Some(names.into()))
    }

    /// Reads the names of queues, each perhaps with `*` at its end.
    pub fn parse(names: Vec<String>) -> Result<Self, Invalid> {
        if names.len() > ACCESS_QUEUES_MAX {
            return Err(Invalid::new("queues", "at most 1000 names"));
        }
        for name in &names {
            let is_good = match name.strip_suffix('*') {
                Some("") => true,
                Some(beginning) => QueueName::parse(beginning).is_ok(),
                None => QueueName::parse(name).is_ok(),
            };
            if !is_good {
                let rule =
                    format!("{name:?} is no name of a queue, nor the beginning of one and *");
                return Err(Invalid::new("queues", rule));
            }
        }
        Ok(Self::of(names))
    }

    /// Whether it is all queues.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a queue is among them.
    pub fn covers(&self, queue: &QueueName) -> bool {
        let covers = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => queue.as_str().starts_with(beginning),
            None => queue.as_str() == pattern,
        };
        self.0.as_ref().is_none_or(|patterns| patterns.iter().any(covers))
    }

    /// Whether every queue it covers is covered by another.
    pub fn is_within(&self, other: &Self) -> bool {
        let (own, others) = match (&self.0, &other.0) {
            (_, None) => return true,
            (None, Some(_)) => return false,
            (Some(own), Some(others)) => (own, others),
        };
        let is_covered = |pattern: &String| {
            let beginning = pattern.strip_suffix('*');
            others.iter().any(|other| match other.strip_suffix('*') {
                Some(other) => beginning.unwrap_or(pattern).starts_with(other),
                None => beginning.is_none() && pattern == other,
            })
        };
        own.iter().all(is_covered)
    }

    fn names(&self) -> Option<Vec<String>> {
        self.0.as_ref().map(|names| names.to_vec())
    }
}

/// The most a token may take of a server. Without a number there is no limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct TokenLimits {
    /// Queues that exist and that its requests made, over all servers.
    pub queues: Option<u64>,
    /// Connections whose last request carried it.
    pub connections: Option<u64>,
    /// Streams of events that are open.
    pub streams: Option<u64>,
    /// Bytes of its requests that are being worked on.
    pub bytes_in_flight: Option<u64>,
    /// Requests in a time.
    pub requests: Option<Rate>,
}

objects_only! { TokenLimits with serialize }

impl TokenLimits {
    /// Checks every number.
    pub fn check(&self) -> Result<(), Invalid> {
        let rate = self.requests.map(|rate| u64::from(rate.limit));
        for (field, number) in [
            ("limits.connections", self.connections),
            ("limits.bytes_in_flight", self.bytes_in_flight),
            ("limits.requests", rate),
        ] {
            if number == Some(0) {
                return Err(Invalid::new(field, "at least 1"));
            }
        }
        if self.requests.is_some_and(|rate| rate.per.is_zero()) {
            return Err(Invalid::new("limits.requests", "per: longer than 0"));
        }
        Ok(())
    }

    /// The limits that hold for a token good for these queues, on a server that works on so many
    /// bytes at most: a token limited to queues has some unless told otherwise.
    #[must_use]
    pub fn filled(self, scope: &Scope, bytes_max: u64) -> Self {
        if scope.is_all() {
            return self;
        }
        Self {
            queues: self.queues.or(Some(TOKEN_QUEUES_MAX)),
            connections: self.connections.or(Some(TOKEN_CONNECTIONS_MAX)),
            streams: self.streams.or(Some(TOKEN_STREAMS_MAX)),
            bytes_in_flight: self.bytes_in_flight.or(Some(bytes_max / BYTES_PARTS)),
            requests: self.requests,
        }
    }

    /// The name of a limit that is wider than another's.
    fn wider_than(&self, other: &Self) -> Option<&'static str> {
        let pairs = [
            ("queues", self.queues, other.queues),
            ("connections", self.connections, other.connections),
            ("streams", self.streams, other.streams),
            ("bytes_in_flight", self.bytes_in_flight, other.bytes_in_flight),
        ];
        let is_wider = |own: Option<u64>, other: Option<u64>| match (own, other) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(other)) => own > other,
        };
        let wider = pairs.into_iter().find(|(_, own, other)| is_wider(*own, *other));
        let is_faster = match (self.requests, other.requests) {
            (_, None) => false,
            (None, Some(_)) => true,
            // So many requests at once, and so many over time.
            (Some(own), Some(other)) => own.limit > other.limit || per_ms(own) > per_ms(other),
        };
        wider.map(|(name, ..)| name).or(is_faster.then_some("requests"))
    }
}

fn per_ms(rate: Rate) -> f64 {
    f64::from(rate.limit) / rate.per.as_millis() as f64
}

/// How much a token was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUse {
    /// When it was last used.
    pub last_used: Option<Timestamp>,
    /// Requests that carried it.
    pub requests: u64,
    /// Those that it was refused.
    pub refusals: u64,
}

impl TokenUse {
    /// What is known of two servers' use together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            last_used: self.last_used.max(other.last_used),
            requests: self.requests.saturating_add(other.requests),
            refusals: self.refusals.saturating_add(other.refusals),
        }
    }

    /// Whether it was not used at all.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A token that was made at run time, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessToken {
    /// Its name.
    pub name: TokenName,
    /// The SHA-256 of the token, in hexadecimal digits.
    pub hash: String,
    /// Its rights.
    pub rights: Vec<Right>,
    /// The queues it is good for; none: all.
    pub queues: Option<Vec<String>>,
    /// From when on it is good no more.
    pub expires: Option<Timestamp>,
    /// Its limits, as they were given.
    pub limits: TokenLimits,
    /// When it was made.
    pub created_at: Timestamp,
    /// How much it was used, as far as that was written down.
    pub used: TokenUse,
}

impl AccessToken {
    /// The queues it is good for.
    pub fn scope(&self) -> Scope {
        self.queues.clone().map_or_else(Scope::all, Scope::of)
    }

    /// Whether it may do everything for ever, as far as making and revoking tokens goes. Without any
    /// such token nobody could give what is missing.
    pub fn is_root(&self) -> bool {
        self.rights.contains(&Right::Admin) && self.queues.is_none() && self.expires.is_none()
    }
}

/// A request to make a token.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct NewToken {
    /// See [`AccessToken::name`].
    pub name: Option<TokenName>,
    /// See [`AccessToken::rights`].
    pub rights: Option<Vec<Right>>,
    /// See [`AccessToken::queues`].
    pub queues: Option<Vec<String>>,
    /// See [`AccessToken::expires`].
    pub expires: Option<Timestamp>,
    /// See [`AccessToken::limits`].
    pub limits: Option<TokenLimits>,
}

objects_only! { NewToken }

/// The means of somebody who makes a token.
#[derive(Debug, Clone)]
pub struct Granter {
    /// The rights.
    pub rights: Vec<Right>,
    /// The queues.
    pub scope: Scope,
    /// Until when.
    pub expires: Option<Timestamp>,
    /// The limits that hold.
    pub limits: TokenLimits,
}

impl NewToken {
    /// The record of the token, every field checked.
    pub fn record(self, hash: String, now: Timestamp) -> Result<AccessToken, Refusal> {
        let name = self.name.ok_or_else(|| Invalid::new("name", "name the token"))?;
        name.check_new()?;
        let mut rights = self.rights.unwrap_or_default();
        if rights.is_empty() {
            return Err(
                Invalid::new("rights", "at least one of read, produce, consume, admin").into()
            );
        }
        let mut seen = Vec::new();
        rights.retain(|right| {
            !seen.contains(right) && {
                seen.push(*right);
                true
            }
        });
        let queues = self.queues.map(Scope::parse).transpose()?.and_then(|scope| scope.names());
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(Invalid::new("expires", "a time to come").into());
        }
        let limits = self.limits.unwrap_or_default();
        limits.check()?;
        let (expires, used) = (self.expires, TokenUse::default());
        Ok(AccessToken { name, hash, rights, queues, expires, limits, created_at: now, used })
    }
}

impl Granter {
    /// Refuses a token that may do more than the one it is made with. Only an admin without queue
    /// limit gives more than it has.
    pub fn check(&self, token: &AccessToken, bytes_max: u64) -> Result<(), String> {
        if self.scope.is_all() {
            return Ok(());
        }
        let scope = token.scope();
        if !scope.is_within(&self.scope) {
            return Err("queues: the token that makes it is not good for all of them".to_owned());
        }
        if let Some(right) = token.rights.iter().find(|right| !self.rights.contains(right)) {
            return Err(format!("rights: the token that makes it has not {}", right.name()));
        }
        if let Some(until) = self.expires
            && token.expires.is_none_or(|expires| expires > until)
        {
            return Err(format!("expires: not after {until}, as the token that makes it"));
        }
        match token.limits.filled(&scope, bytes_max).wider_than(&self.limits) {
            Some(name) => Err(format!("limits.{name}: wider than that of the token that makes it")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_000_000)
    }

    const BYTES: u64 = 1 << 20;

    fn record(json: &str) -> Result<AccessToken, Refusal> {
        serde_json::from_str::<NewToken>(json).unwrap().record("00".repeat(32), now())
    }

    fn scope(names: &[&str]) -> Scope {
        Scope::of(names.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_scope_names_queues_or_beginnings() {
        let queue = |name: &str| QueueName::parse(name).unwrap();
        let some = scope(&["mail", "img-*"]);
        for (name, covered) in
            [("mail", true), ("mails", false), ("img-", true), ("img-a", true), ("im", false)]
        {
            assert_eq!(some.covers(&queue(name)), covered, "{name}");
        }
        assert!(Scope::all().covers(&queue("any")) && !scope(&[]).covers(&queue("any")));
    }

    #[test]
    fn a_scope_is_within_another_if_every_queue_is() {
        let outer = scope(&["mail", "img-*"]);
        for (names, within) in [
            (&["mail"][..], true),
            (&["img-a", "img-a*", "img-*"], true),
            (&[], true),
            (&["mail*"], false),
            (&["img*"], false),
            (&["*"], false),
            (&["mail", "other"], false),
        ] {
            assert_eq!(scope(names).is_within(&outer), within, "{names:?}");
        }
        assert!(outer.is_within(&Scope::all()) && !Scope::all().is_within(&outer));
        assert!(!Scope::all().is_within(&scope(&["*"])), "what names no queue is not covered");
    }

    #[test]
    fn what_is_wrong_with_a_token_names_its_field() {
        for (json, field) in [
            (r#"{"rights":["read"]}"#, "name"),
            (r#"{"name":"..","rights":["read"]}"#, "name"),
            (r#"{"name":"a"}"#, "rights"),
            (r#"{"name":"a","rights":[]}"#, "rights"),
            (r#"{"name":"a","rights":["read"],"queues":["a b"]}"#, "queues"),
            (r#"{"name":"a","rights":["read"],"queues":["a*b"]}"#, "queues"),
            (r#"{"name":"a","rights":["read"],"expires":1}"#, "expires"),
            (r#"{"name":"a","rights":["read"],"limits":{"connections":0}}"#, "limits.connections"),
            (
                r#"{"name":"a","rights":["read"],"limits":{"requests":{"limit":0,"per":1}}}"#,
                "limits.requests",
            ),
            (
                r#"{"name":"a","rights":["read"],"limits":{"requests":{"limit":1,"per":0}}}"#,
                "limits.requests",
            ),
        ] {
            let refusal = record(json).unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("{field}: ")), "{json}: {refusal}");
        }
        let token =
            record(r#"{"name":"a","rights":["read","read","admin"],"expires":null}"#).unwrap();
        assert_eq!(token.rights, [Right::Read, Right::Admin]);
        assert!(token.is_root() && token.scope().is_all());
        for json in [r#"{"nam":"a"}"#, r#"{"rights":["write"]}"#, r#"{"name":"a b"}"#, "[]"] {
            assert!(serde_json::from_str::<NewToken>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn only_an_admin_without_queue_limit_gives_more_than_it_has() {
        let queues = scope(&["a-*"]);
        let rights = vec![Right::Admin, Right::Read];
        let limits = TokenLimits { streams: Some(5), ..TokenLimits::default() };
        let limits = limits.filled(&queues, BYTES);
        let until = now() + Span::from_secs(60);
        let some = Granter { rights, scope: queues, expires: Some(until), limits };
        let ask = |fields: &str| record(&format!(r#"{{"name":"n",{fields}}}"#)).unwrap();
        let within = r#""queues":["a-1"],"expires":1060"#;
        for (fields, refused) in [
            (format!(r#"{within},"rights":["read"],"limits":{{"streams":5}}"#), ""),
            (format!(r#"{within},"rights":["admin"],"limits":{{"streams":1,"queues":7}}"#), ""),
            (format!(r#"{within},"rights":["produce"],"limits":{{"streams":5}}"#), "rights"),
            (format!(r#"{within},"rights":["read"]"#), "limits.streams"),
            (
                format!(r#"{within},"rights":["read"],"limits":{{"streams":5,"queues":101}}"#),
                "limits.queues",
            ),
            (r#""rights":["read"],"expires":1060"#.to_owned(), "queues"),
            (r#""rights":["read"],"queues":["a*"],"expires":1060"#.to_owned(), "queues"),
            (r#""rights":["read"],"queues":["a-1"]"#.to_owned(), "expires"),
            (r#""rights":["read"],"queues":["a-1"],"expires":1061"#.to_owned(), "expires"),
        ] {
            let found = some.check(&ask(&fields), BYTES).err().unwrap_or_default();
            assert!(
                found.starts_with(refused) && found.is_empty() == refused.is_empty(),
                "{fields}: {found}"
            );
        }
        let all = Granter { scope: Scope::all(), rights: vec![Right::Admin], ..some };
        assert_eq!(all.check(&ask(r#""rights":["produce"]"#), BYTES), Ok(()));
    }

    #[test]
    fn a_token_limited_to_queues_has_limits_unless_told_otherwise() {
        let given = TokenLimits { queues: Some(7), ..TokenLimits::default() };
        assert_eq!(given.filled(&Scope::all(), BYTES), given);
        let filled = given.filled(&scope(&["a"]), BYTES);
        let expected = (Some(7), Some(1_000), Some(100), Some(BYTES / 4), None);
        let TokenLimits { queues, connections, streams, bytes_in_flight, requests } = filled;
        assert_eq!((queues, connections, streams, bytes_in_flight, requests), expected);
    }
}
