//! `[[tokens]]`: who may do what.

use std::path::PathBuf;

use anyhow::{Context, bail};
use punctual_server::{AccessToken, Right, Scope, TokenHash, TokenLimits};
use serde::Deserialize;
use tracing::warn;

use crate::secrets;

/// The fewest characters of a token that is not easily guessed.
const TOKEN_CHARS_SAFE: usize = 16;

/// A token as the configuration has it: itself, its hash, or a file that holds it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenEntry {
    token: Option<String>,
    token_sha256: Option<String>,
    token_file: Option<PathBuf>,
    rights: Vec<Right>,
    queues: Option<Vec<String>>,
    limits: Option<TokenLimits>,
}

impl TokenEntry {
    /// Reads tokens from the text of a flag or variable.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        serde_json::from_str(text).map_err(|error| {
            format!("{error}; expected '[{{\"token_sha256\":\"…\",\"rights\":[\"read\"]}}]'")
        })
    }

    fn hash(&self) -> anyhow::Result<TokenHash> {
        match (&self.token, &self.token_sha256, &self.token_file) {
            (Some(token), None, None) => checked(token),
            (None, Some(hex), None) => TokenHash::parse(hex)
                .context("token_sha256: 64 hexadecimal digits, as sha256sum prints them"),
            (None, None, Some(path)) => checked(&secrets::read("token_file", path)?),
            _ => bail!("name one of token, token_sha256 and token_file"),
        }
    }

    fn settle(self) -> anyhow::Result<AccessToken> {
        let hash = self.hash()?;
        if self.rights.is_empty() {
            bail!("rights: at least one of read, produce, consume, admin");
        }
        let queues = match self.queues {
            None => Scope::all(),
            Some(names) => Scope::parse(names)?,
        };
        let limits = self.limits.unwrap_or_default();
        limits.check()?;
        Ok(AccessToken { hash, rights: self.rights, queues, limits })
    }
}

fn checked(token: &str) -> anyhow::Result<TokenHash> {
    if token.is_empty() {
        bail!("token: not empty; `openssl rand -hex 16` makes one");
    }
    if !token.chars().all(|c| c.is_ascii_graphic()) {
        bail!("token: only visible ASCII characters, no spaces");
    }
    if token.len() < TOKEN_CHARS_SAFE {
        warn!("a token of fewer than {TOKEN_CHARS_SAFE} characters is easily guessed");
    }
    Ok(TokenHash::of(token))
}

/// Checks tokens. What is wrong is said by their place, never by what they are.
pub(crate) fn settle(entries: Vec<TokenEntry>) -> anyhow::Result<Vec<AccessToken>> {
    let settle = |(index, entry): (usize, TokenEntry)| {
        entry.settle().with_context(|| format!("tokens[{index}]"))
    };
    entries.into_iter().enumerate().map(settle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "0123456789abcdef";

    fn settled(json: &str) -> Result<Vec<AccessToken>, String> {
        settle(TokenEntry::parse_all(json)?).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_token_is_itself_its_hash_or_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, format!("{GOOD}\n")).unwrap();
        let hex = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";
        for source in [
            format!(r#""token":"{GOOD}""#),
            format!(r#""token_sha256":"{hex}""#),
            format!(r#""token_file":{path:?}"#),
        ] {
            let tokens = settled(&format!(r#"[{{{source},"rights":["read","admin"]}}]"#)).unwrap();
            assert_eq!(tokens[0].hash, TokenHash::of(GOOD), "{source}");
            assert_eq!(tokens[0].rights, [Right::Read, Right::Admin]);
            assert!(tokens[0].queues.is_all());
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_token() {
        for (json, part) in [
            (r#"[{"token":"","rights":["read"]}]"#, "tokens[0]: token: not empty"),
            (r#"[{"token":"secret secret","rights":["read"]}]"#, "only visible ASCII"),
            (r#"[{"rights":["read"]}]"#, "name one of token"),
            (r#"[{"token_sha256":"12","rights":["read"]}]"#, "64 hexadecimal"),
            (r#"[{"token":"0123456789abcdef","rights":[]}]"#, "rights: at least one"),
            (r#"[{"token":"0123456789abcdef","rights":["write"]}]"#, "unknown variant `write`"),
            (r#"[{"token":"0123456789abcdef","rights":["read"],"queues":["a b"]}]"#, "queues:"),
            (r#"[{"token_file":"/none","rights":["read"]}]"#, "token_file: cannot read /none"),
        ] {
            let reason = settled(json).unwrap_err();
            assert!(reason.contains(part), "{json}: {reason}");
            assert!(!reason.contains("secret") && !reason.contains(GOOD), "{reason}");
        }
    }
}
