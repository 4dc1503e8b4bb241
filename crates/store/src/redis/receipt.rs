//! Receipts of settle verbs, by their fingerprints.
//!
//! A million receipts as they are would take a hundred megabytes. As 8 bytes each and their time, one
//! after the other in many short strings, they take about a fifth of that.

use crate::port::PLACE_BITS;

/// Strings that the receipts of ten minutes are spread over.
const STRINGS: u64 = 16_384;

/// A receipt: 4 digits for its string, 8 bytes for itself.
pub(super) fn digest(fingerprint: u64) -> Vec<u8> {
    // The last bits are the same for all of a queue.
    let mut digest = format!("{:04x}", (fingerprint >> PLACE_BITS) % STRINGS).into_bytes();
    digest.extend_from_slice(&fingerprint.to_be_bytes());
    digest
}
