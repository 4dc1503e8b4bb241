//! Receipts of settle verbs, as digests.
//!
//! A million receipts as they are would take a hundred megabytes. As 10 bytes each and their time, one
//! after the other in many short strings, they take about a quarter of that.

use punctual_core::{QueueName, TaskId, Token, Verb};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// Strings that the receipts of ten minutes are spread over.
const STRINGS: u64 = 16_384;

/// A receipt: 4 digits for its string, 10 bytes for itself.
pub(super) fn digest(queue: &QueueName, id: &TaskId, token: Token, verb: Verb) -> Vec<u8> {
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    for part in [queue.as_str(), id.as_str(), verb.name()] {
        hasher.write(part.as_bytes());
        hasher.write_u8(0xff);
    }
    hasher.write(&token.bits().to_be_bytes());
    let hash = hasher.finish128();
    let mut digest = format!("{:04x}", hash.h1 % STRINGS).into_bytes();
    digest.extend_from_slice(&hash.h2.to_be_bytes());
    digest.extend_from_slice(&hash.h1.to_be_bytes()[..2]);
    digest
}
