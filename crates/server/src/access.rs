//! Who may do what: access tokens, their rights, and the queues they are good for.
//!
//! Only hashes of tokens are kept. Without any token everybody may do everything, and the server is
//! reached from its own machine only. No right implies another.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use punctual_core::QueueName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a token may be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
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

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Produce => "produce",
            Self::Consume => "consume",
            Self::Admin => "admin",
        }
    }
}

/// The hash of a token. Prints nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash")
    }
}

impl TokenHash {
    /// The hash of a token.
    ///
    /// # Panics
    /// Never: a SHA-256 has 32 bytes.
    pub fn of(token: &str) -> Self {
        let hash = digest(&SHA256, token.as_bytes());
        Self(hash.as_ref().try_into().expect("a SHA-256 has 32 bytes"))
    }

    /// A hash written as 64 hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Its first 8 hexadecimal digits: enough for people to tell one token from another, and too little to
    /// find one by.
    pub fn short(&self) -> String {
        self.0[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A token and what it is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Its hash.
    pub hash: TokenHash,
    /// Its rights.
    pub rights: Vec<Right>,
    /// The queues it is good for.
    pub queues: Scope,
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
}

/// The tokens of a server.
#[derive(Debug, Default)]
pub(crate) struct Tokens(HashMap<TokenHash, Arc<AccessToken>>);

impl Tokens {
    pub(crate) fn new(tokens: &[AccessToken]) -> Self {
        Self(tokens.iter().map(|token| (token.hash, Arc::new(token.clone()))).collect())
    }

    /// Whether anybody may do everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the bearer of a token may do; none: it is no token of this server. The hash is what is
    /// looked up, so that how long it takes tells nothing about a token.
    pub(crate) fn find(&self, token: &str) -> Option<Access> {
        self.0.get(&TokenHash::of(token)).map(|token| Access(Some(token.clone())))
    }
}

/// What whoever makes a request may do.
#[derive(Debug, Clone)]
pub(crate) struct Access(Option<Arc<AccessToken>>);

impl Access {
    /// Everything, for want of tokens.
    pub(crate) fn all() -> Self {
        Self(None)
    }

    /// Whether that is for want of tokens.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it has a right, on some queue or other.
    pub(crate) fn has(&self, right: Right) -> bool {
        self.0.as_ref().is_none_or(|token| token.rights.contains(&right))
    }

    /// The queues it is good for.
    pub(crate) fn scope(&self) -> Scope {
        self.0.as_ref().map_or_else(Scope::all, |token| token.queues.clone())
    }

    /// What people know its bearer by: the beginning of the token's hash.
    pub(crate) fn name(&self) -> String {
        self.0.as_ref().map_or_else(|| "open".to_owned(), |token| token.hash.short())
    }

    /// What tells its bearer from others: what one repeats another has not said.
    pub(crate) fn identity(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |token| &token.hash.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_names_queues_or_beginnings() {
        let queue = |name: &str| QueueName::parse(name).unwrap();
        let scope = Scope::of(["mail".to_owned(), "img-*".to_owned()]);
        for (name, covered) in
            [("mail", true), ("mails", false), ("img-", true), ("img-a", true), ("im", false)]
        {
            assert_eq!(scope.covers(&queue(name)), covered, "{name}");
        }
        assert!(Scope::all().covers(&queue("any")) && !Scope::of([]).covers(&queue("any")));
    }

    #[test]
    fn a_hash_reads_as_sha256sum_writes_it() {
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        assert_eq!(TokenHash::parse(hex), Some(TokenHash::of("secret")));
        for bad in ["", "2bb8", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(TokenHash::parse(bad), None, "{bad}");
        }
        assert_eq!(format!("{:?}", TokenHash::of("secret")), "TokenHash");
    }
}
