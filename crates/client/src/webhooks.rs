//! Verifies deliveries: Standard Webhooks, signatures `v1` (HMAC-SHA256) and `v1a` (Ed25519).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A delivery that is not genuine, or too old.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct NotGenuine {
    /// The reason, in a few words.
    pub reason: String,
}

/// Checks that deliveries come from a server that has one of these secrets.
///
/// ```
/// use punctual_client::Verifier;
/// use std::time::{Duration, UNIX_EPOCH};
///
/// let verifier = Verifier::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
/// let headers = [
///     ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
///     ("webhook-timestamp", "1614265330"),
///     ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
/// ];
/// let now = UNIX_EPOCH + Duration::from_secs(1_614_265_330);
/// let id = verifier.verify_at(br#"{"test": 2432232314}"#, headers, now)?;
/// assert_eq!(id, "msg_p5jXN8AQM9LWM0D4loKWxJek");
/// assert!(verifier.verify_at(b"{}", headers, now).is_err());
/// # Ok::<(), punctual_client::NotGenuine>(())
/// ```
#[derive(Clone)]
pub struct Verifier {
    secrets: Vec<String>,
    tolerance: Duration,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Takes one or several secrets: `whsec_…` or plain text (HMAC), `whpk_…` (a public Ed25519 key) or `whsk_…` (the
    /// key pair). One signature that fits is enough.
    pub fn new<S: Into<String>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let secrets = secrets.into_iter().map(Into::into).collect();
        Self { secrets, tolerance: Duration::from_secs(300) }
    }

    /// Sets how far the sender's clock and this one may be apart; default 5 minutes.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Checks a delivery and returns its `webhook-id`, by which a repeat is recognised. The body is the request's body
    /// as it came, before any parsing; the names of headers may have any case.
    pub fn verify<'a>(
        &self,
        body: &[u8],
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<String, NotGenuine> {
        self.verify_at(body, headers, SystemTime::now())
    }

    /// The same, at a time.
    pub fn verify_at<'a>(
        &self,
        body: &[u8],
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        now: SystemTime,
    ) -> Result<String, NotGenuine> {
        let headers: Vec<(&str, &str)> = headers.into_iter().collect();
        let id = header(&headers, "webhook-id")?;
        let stamp = header(&headers, "webhook-timestamp")?;
        let signatures = header(&headers, "webhook-signature")?;
        let Ok(seconds) = stamp.parse::<u64>() else {
            return Err(refused("webhook-timestamp is no number"));
        };
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if now.abs_diff(seconds) > self.tolerance.as_secs() {
            return Err(refused("webhook-timestamp is too far from now"));
        }
        let message = [id.as_bytes(), b".", stamp.as_bytes(), b".", body].concat();
        let fits = |signature: &str| {
            let (kind, text) = signature.split_once(',')?;
            let signed = decoded(text)?;
            self.secrets.iter().find(|secret| fits(kind, secret, &message, &signed))
        };
        if signatures.split_whitespace().any(|signature| fits(signature).is_some()) {
            return Ok(id.to_owned());
        }
        Err(refused("no signature fits"))
    }
}

fn refused(reason: &str) -> NotGenuine {
    NotGenuine { reason: reason.to_owned() }
}

fn header<'a>(headers: &[(&'a str, &'a str)], name: &str) -> Result<&'a str, NotGenuine> {
    let found = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| refused(&format!("the header '{name}' is missing")))
}

fn fits(kind: &str, secret: &str, message: &[u8], signed: &[u8]) -> bool {
    let is_known =
        |key: &[u8]| UnparsedPublicKey::new(&ED25519, key).verify(message, signed).is_ok();
    if let Some(key) = secret.strip_prefix("whpk_") {
        return kind == "v1a" && decoded(key).is_some_and(|key| is_known(&key));
    }
    if let Some(seed) = secret.strip_prefix("whsk_") {
        let seed = decoded(seed).and_then(|seed| seed.first_chunk::<32>().copied());
        let pair = seed.and_then(|seed| Ed25519KeyPair::from_seed_unchecked(&seed).ok());
        return kind == "v1a" && pair.is_some_and(|pair| is_known(pair.public_key().as_ref()));
    }
    let key = match secret.strip_prefix("whsec_") {
        Some(text) => decoded(text),
        None => Some(secret.as_bytes().to_vec()),
    };
    let Some(key) = key else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    kind == "v1" && hmac::verify(&key, message, signed).is_ok()
}

/// Base64, standard or URL-safe, padded or not.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    STANDARD_NO_PAD.decode(text).ok()
}
