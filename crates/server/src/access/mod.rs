//! Who may do what: access tokens, their rights, and the queues they are good for.
//!
//! Only hashes of tokens are kept. Without any token everybody may do everything, and the server is
//! reached from its own machine only. No right implies another. Tokens come from the settings, or were
//! made at run time and lie in the store.
//!
//! - `known`: the tokens of a server, and how long what was read of one holds. `meter`: how much of a
//!   server each takes.

mod known;
mod meter;

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use punctual_core::access::Granter;
pub use punctual_core::{Right, Scope, TokenLimits};
use punctual_core::{Timestamp, TokenName};

pub(crate) use self::known::{LEASE, Tokens, exists};
pub(crate) use self::meter::{Line, Meter, Seat};
use crate::engine::random;

/// The beginning of every token that was made at run time.
const BEGINNING: &str = "pt_";

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

    /// Its 64 hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Its first 8 hexadecimal digits: enough for people to tell one token from another, and too little to
    /// find one by.
    pub fn short(&self) -> String {
        self.0[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A token of the settings and what it is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Its hash.
    pub hash: TokenHash,
    /// Its rights.
    pub rights: Vec<Right>,
    /// The queues it is good for.
    pub queues: Scope,
    /// Its limits, as they were given.
    pub limits: TokenLimits,
}

/// Makes up a token. It says its name, so that its record can be found by it: to look one up costs one
/// read, however many there are.
pub(crate) fn make_up(name: &TokenName) -> String {
    let name = URL_SAFE_NO_PAD.encode(name.as_str());
    format!("{BEGINNING}{:032x}.{name}", random::bits())
}

/// What somebody sends as a token.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    hash: TokenHash,
    /// The name it says, if it has the form of one that was made at run time.
    name: Option<TokenName>,
}

impl Claim {
    /// Reads a token. The hash is what is compared, so that how long it takes tells nothing about one.
    pub(crate) fn of(token: &str) -> Self {
        let name = || {
            let (_, name) = token.strip_prefix(BEGINNING)?.split_once('.')?;
            let name = String::from_utf8(URL_SAFE_NO_PAD.decode(name).ok()?).ok()?;
            TokenName::parse(&name).ok()
        };
        Self { hash: TokenHash::of(token), name: name() }
    }
}

/// A token that is good, wherever it comes from.
#[derive(Debug)]
pub(crate) struct Bearer {
    hash: TokenHash,
    /// The name of one that was made at run time.
    pub(crate) name: Option<TokenName>,
    rights: Vec<Right>,
    scope: Scope,
    expires: Option<Timestamp>,
    /// The limits that hold.
    pub(crate) limits: TokenLimits,
    /// What it takes of this server.
    pub(crate) meter: Arc<Meter>,
}

tokio::task_local! {
    /// The token of the request that is being answered.
    static CURRENT: Option<Arc<Bearer>>;
}

/// Answers a request of a token.
pub(crate) fn answering<F: Future>(
    bearer: Option<Arc<Bearer>>,
    answer: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(bearer, answer)
}

/// The token of the request that is being answered; none if there is none, or no request.
pub(crate) fn current() -> Option<Arc<Bearer>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

impl Bearer {
    /// The mark of what it made: too little of its hash to find it by.
    pub(crate) fn mark(&self) -> String {
        self.hash.0[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// What whoever makes a request may do.
#[derive(Debug, Clone)]
pub(crate) struct Access(Option<Arc<Bearer>>);

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
        self.0.as_ref().map_or_else(Scope::all, |token| token.scope.clone())
    }

    /// What people know its bearer by: the beginning of the token's hash, and its name if it has one.
    pub(crate) fn name(&self) -> String {
        match self.0.as_deref() {
            None => "open".to_owned(),
            Some(Bearer { hash, name: None, .. }) => hash.short(),
            Some(Bearer { hash, name: Some(name), .. }) => format!("{} {name}", hash.short()),
        }
    }

    /// What tells its bearer from others: what one repeats another has not said.
    pub(crate) fn identity(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |token| &token.hash.0)
    }

    /// The token, if there is one.
    pub(crate) fn bearer(&self) -> Option<&Arc<Bearer>> {
        self.0.as_ref()
    }

    /// The means to make tokens with; none, for want of tokens: all.
    pub(crate) fn granter(&self) -> Option<Granter> {
        self.0.as_ref().map(|token| Granter {
            rights: token.rights.clone(),
            scope: token.scope.clone(),
            expires: token.expires,
            limits: token.limits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_as_sha256sum_writes_it() {
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        assert_eq!(TokenHash::parse(hex), Some(TokenHash::of("secret")));
        assert_eq!(TokenHash::of("secret").hex(), hex);
        for bad in ["", "2bb8", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(TokenHash::parse(bad), None, "{bad}");
        }
        assert_eq!(format!("{:?}", TokenHash::of("secret")), "TokenHash");
    }

    #[test]
    fn a_token_says_its_name_and_is_never_the_same() {
        for name in ["a", "mail:worker@1~x", &"x".repeat(200)] {
            let name = TokenName::parse(name).unwrap();
            let (one, other) = (make_up(&name), make_up(&name));
            assert_ne!(one, other);
            assert_eq!(Claim::of(&one).name, Some(name));
            let is_sendable = |c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c);
            assert!(one.chars().all(is_sendable), "{one}");
        }
        for other in ["secret", "pt_", "pt_0", "pt_0.", "pt_0.!", "pt_0.YSBi"] {
            assert_eq!(Claim::of(other).name, None, "{other}");
        }
    }
}
