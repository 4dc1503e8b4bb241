//! What tells a receiver which message it has and whom it comes from, as Standard Webhooks says.

use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::Ed25519KeyPair;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use punctual_core::Spec;
use punctual_core::http::{Content, Secret};

use crate::engine::random;

/// The identity of a message, the same for every attempt to deliver it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageId(u128);

impl MessageId {
    /// The message a task is. A task pushed again under its id, or changed, is another.
    /// The hash is one that nobody can steer, so that no pusher makes a message that a receiver takes for
    /// another's.
    pub(super) fn of(spec: &Spec, content: Option<&Content>) -> Self {
        let mut hash = Context::new(&SHA256);
        let created_at = spec.created_at.as_millis().to_be_bytes();
        let body = content.map(Content::as_bytes).unwrap_or_default();
        for part in [spec.queue.as_str().as_bytes(), spec.id.as_str().as_bytes(), &created_at, body]
        {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finish();
        let (first, _) = hash.as_ref().split_first_chunk().expect("the hash has 32 bytes");
        Self(u128::from_be_bytes(*first))
    }

    /// Any one, for tests of what only compares them.
    #[cfg(test)]
    pub(super) fn test(number: u128) -> Self {
        Self(number)
    }

    /// The value of the header `webhook-id`.
    pub(super) fn header(self) -> String {
        format!("msg_{:032x}", self.0)
    }

    /// The value of the header `traceparent`: one trace for all attempts, each a span of its own.
    pub(super) fn traceparent(self) -> String {
        let span = random::bits() as u64;
        format!("00-{:032x}-{:016x}-01", self.0.max(1), span.max(1))
    }
}

/// The value of the header `webhook-signature`: one signature per secret; none without secrets.
pub(super) fn signature(
    secrets: &[Secret],
    id: &str,
    timestamp_secs: i64,
    body: &[u8],
) -> Option<String> {
    if secrets.is_empty() {
        return None;
    }
    let head = format!("{id}.{timestamp_secs}.");
    let sign = |secret: &Secret| match secret {
        Secret::Hmac(key) => {
            let mut hash = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
            hash.update(head.as_bytes());
            hash.update(body);
            Some(format!("v1,{}", STANDARD.encode(hash.sign())))
        }
        Secret::Ed25519(seed) => {
            let key = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
            let signed = key.sign(&[head.as_bytes(), body].concat());
            Some(format!("v1a,{}", STANDARD.encode(signed)))
        }
    };
    let signatures: Vec<String> = secrets.iter().filter_map(sign).collect();
    (!signatures.is_empty()).then(|| signatures.join(" "))
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{SigningKey, VerifyingKey};
    use punctual_core::{NewTask, QueueName, RawJson, TaskId, Timestamp};

    use super::*;

    fn spec(queue: &str, id: &str, created_ms: i64) -> Spec {
        let queue = QueueName::parse(queue).unwrap();
        let id = TaskId::parse(id).unwrap();
        Spec::new(queue, NewTask::default(), id, Timestamp::from_millis(created_ms))
    }

    #[test]
    fn a_message_keeps_its_id_until_it_is_another() {
        let content = |text: &str| Content::Json(RawJson::parse(text).unwrap());
        let first = MessageId::of(&spec("q", "t", 1), Some(&content("1")));
        assert_eq!(first, MessageId::of(&spec("q", "t", 1), Some(&content("1"))));
        for other in [
            MessageId::of(&spec("qt", "t", 1), Some(&content("1"))),
            MessageId::of(&spec("q", "t", 2), Some(&content("1"))),
            MessageId::of(&spec("q", "t", 1), Some(&content("2"))),
            MessageId::of(&spec("q", "t1", 1), Some(&content("1"))),
            MessageId::of(&spec("q", "t", 1), None),
        ] {
            assert_ne!(first, other);
        }
        assert!(!first.header().contains('.'), "the id is signed up to the first dot");
        let (one, two) = (first.traceparent(), first.traceparent());
        assert_eq!(one.len(), 55);
        assert_eq!(one[..35], two[..35]);
        assert_ne!(one, two);
    }

    #[test]
    fn signatures_are_what_others_verify() {
        let body = br#"{"a":1}"#;
        let seed = [9; 32];
        let secrets = [
            Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap(),
            Secret::Ed25519(seed),
            Secret::parse("plain").unwrap(),
        ];
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let timestamp = i64::try_from(now.as_secs()).unwrap();
        let value = signature(&secrets, "msg_1", timestamp, body).unwrap();
        let mut headers = axum::http::HeaderMap::new();
        headers.insert("webhook-id", "msg_1".parse().unwrap());
        headers.insert("webhook-timestamp", timestamp.to_string().parse().unwrap());
        headers.insert("webhook-signature", value.parse().unwrap());
        for secret in [
            standardwebhooks::Webhook::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap(),
            standardwebhooks::Webhook::from_bytes(b"plain".to_vec()).unwrap(),
        ] {
            secret.verify(body, &headers).unwrap();
            assert!(secret.verify(b"{}", &headers).is_err());
        }
        let v1a = value.split(' ').find_map(|part| part.strip_prefix("v1a,")).unwrap();
        let signed = STANDARD.decode(v1a).unwrap();
        let key: VerifyingKey = SigningKey::from_bytes(&seed).verifying_key();
        let message = format!("msg_1.{timestamp}.{{\"a\":1}}");
        let signed = ed25519_dalek::Signature::from_slice(&signed).unwrap();
        key.verify_strict(message.as_bytes(), &signed).unwrap();
        assert_eq!(signature(&[], "msg_1", timestamp, body), None);
    }
}
