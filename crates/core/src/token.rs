//! Tokens: the right to settle one taken task, once.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 128 random bits drawn for one take call. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u128);

impl Seed {
    /// A seed from random bits.
    pub fn new(random: u128) -> Self {
        // Room is left for the index, so that no two tokens of a seed are ever the same.
        Self(random.clamp(1, u128::MAX - u128::from(u64::MAX)))
    }

    /// The token of the `index`-th task this call hands out.
    pub fn token(self, index: usize) -> Token {
        Token(self.0 + index as u128)
    }
}

/// The right of the current holder. Compared for equality only; derived from nothing that recurs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u128);

impl Token {
    /// A token nobody holds: what a text that cannot be a token stands for.
    pub const NOBODY: Self = Self(0);

    /// Reads the text form. A text that was never a token reads as [`Token::NOBODY`].
    pub fn read(text: &str) -> Self {
        let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        Self(plain.then(|| u128::from_str_radix(text, 16).ok()).flatten().unwrap_or(0))
    }

    /// The bits, for a store's receipts.
    pub fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A token never appears in logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            Ok(Self::read(&std::borrow::Cow::<str>::deserialize(deserializer)?))
        } else {
            u128::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_one_seed_differ_and_read_back() {
        let seed = Seed::new(u128::MAX);
        let tokens = [seed.token(0), seed.token(1), seed.token(2)];
        assert_ne!(tokens[0], tokens[1]);
        assert_ne!(tokens[1], tokens[2]);
        for token in tokens {
            assert_eq!(Token::read(&token.to_string()), token);
            assert_ne!(token, Token::NOBODY);
        }
        for junk in ["", "x", "+0000000000000000000000000000001", &"0".repeat(33)] {
            assert_eq!(Token::read(junk), Token::NOBODY, "{junk}");
        }
    }
}
