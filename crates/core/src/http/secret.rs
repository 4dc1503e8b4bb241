//! Secrets that sign what is delivered, in the forms of Standard Webhooks.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::error::Invalid;

/// Accepts secrets without padding and with trailing bits, because people paste them like that.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A key to sign with.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// HMAC-SHA256, signature `v1`.
    Hmac(Vec<u8>),
    /// The seed of an Ed25519 key, signature `v1a`.
    Ed25519([u8; 32]),
}

impl Secret {
    /// Reads `whsec_…`, `whsk_…` or raw bytes.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if let Some(key) = text.strip_prefix("whsec_") {
            let key = decoded(key).filter(|key| !key.is_empty());
            let rule = "whsec_ is followed by the base64 of a key";
            return key.map(Self::Hmac).ok_or_else(|| Invalid::new("secret", rule));
        }
        if let Some(key) = text.strip_prefix("whsk_") {
            // The longer form has the public key after the seed.
            let key = decoded(key).filter(|key| matches!(key.len(), 32 | 64));
            let seed = key.and_then(|key| key.first_chunk().copied());
            let rule = "whsk_ is followed by the base64 of an Ed25519 key, 32 or 64 bytes";
            return seed.map(Self::Ed25519).ok_or_else(|| Invalid::new("secret", rule));
        }
        if text.is_empty() {
            return Err(Invalid::new("secret", "not empty"));
        }
        Ok(Self::Hmac(text.as_bytes().to_vec()))
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.replace('-', "+").replace('_', "/")).ok()
}

/// A secret never appears in logs.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let hmac = |bytes: &[u8]| Ok(Secret::Hmac(bytes.to_vec()));
        assert_eq!(Secret::parse("whsec_AQID"), hmac(&[1, 2, 3]));
        assert_eq!(Secret::parse("whsec_AQIDBA=="), hmac(&[1, 2, 3, 4]));
        assert_eq!(Secret::parse("whsec_AQIDBA"), hmac(&[1, 2, 3, 4]));
        assert_eq!(Secret::parse("whsec_-_8"), hmac(&[0xfb, 0xff]));
        assert_eq!(Secret::parse("plain"), hmac(b"plain"));
        let seed = format!("whsk_{}", LENIENT.encode([7; 32]));
        let pair = format!("whsk_{}", LENIENT.encode([7; 64]));
        assert_eq!(Secret::parse(&seed), Ok(Secret::Ed25519([7; 32])));
        assert_eq!(Secret::parse(&pair), Ok(Secret::Ed25519([7; 32])));
        for bad in ["", "whsec_", "whsec_!", "whsec_A", "whsk_", "whsk_AQID", "whsk_*"] {
            assert_eq!(Secret::parse(bad).unwrap_err().field, "secret", "{bad}");
        }
    }
}
