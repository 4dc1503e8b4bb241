//! Events of access tokens: they are made and revoked. They name no queue, so that only tokens good for
//! all queues hear of them.

use super::Announcement;
use crate::name::TokenName;
use crate::time::Timestamp;

/// A token was made.
pub fn created(name: &TokenName, at: Timestamp) -> Announcement {
    Announcement::new("token.created", at).about(name.shared())
}

/// A token was revoked.
pub fn revoked(name: &TokenName, at: Timestamp) -> Announcement {
    Announcement::new("token.revoked", at).about(name.shared())
}
