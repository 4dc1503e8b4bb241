//! Records of a store, a page at a time; of what was done all there is, which is not much.

use punctual_core::{OwnerKind, QueueName, State};

use crate::port::{AuditEntry, Listing, OwnerListing, StoreError, Stored, StoredOwner, Transfer};

/// Records of one page; each may be a megabyte or more.
const PAGE: usize = 100;
/// Entries of one page.
const AUDIT_PAGE: usize = 1_000;

/// The tasks of a queue in all states. Those that wait come before those that are ready: one whose time
/// comes meanwhile is read once or twice, but not left out.
pub(crate) struct TaskPages<'a> {
    store: &'a dyn Transfer,
    listing: Option<Listing>,
}

impl<'a> TaskPages<'a> {
    pub(crate) fn new(store: &'a dyn Transfer, queue: &QueueName) -> Self {
        let mut states = vec![State::Waiting];
        states.extend(State::ALL.into_iter().filter(|state| *state != State::Waiting));
        let listing =
            Listing { queue: queue.clone(), states, cursor: None, limit: PAGE, sort: None };
        Self { store, listing: Some(listing) }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Stored>>, StoreError> {
        let Some(listing) = &self.listing else { return Ok(None) };
        let page = self.store.list(listing.clone()).await?;
        self.listing = match page.next {
            None => None,
            cursor => self.listing.take().map(|listing| Listing { cursor, ..listing }),
        };
        Ok(Some(page.items))
    }
}

/// All owners of a kind.
pub(crate) struct OwnerPages<'a> {
    store: &'a dyn Transfer,
    listing: Option<OwnerListing>,
}

impl<'a> OwnerPages<'a> {
    pub(crate) fn new(store: &'a dyn Transfer, kind: OwnerKind) -> Self {
        let prefix = String::new();
        let listing = OwnerListing { kind, queue: None, prefix, cursor: None, limit: PAGE };
        Self { store, listing: Some(listing) }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Vec<StoredOwner>>, StoreError> {
        let Some(listing) = &self.listing else { return Ok(None) };
        let page = self.store.list_owners(listing.clone()).await?;
        self.listing = match page.next {
            None => None,
            cursor => self.listing.take().map(|listing| OwnerListing { cursor, ..listing }),
        };
        Ok(Some(page.items))
    }
}

/// What was done, the oldest first.
pub(super) async fn audit_trail(store: &dyn Transfer) -> Result<Vec<AuditEntry>, StoreError> {
    let (mut trail, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.audited(cursor, AUDIT_PAGE).await?;
        trail.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            trail.reverse();
            return Ok(trail);
        }
    }
}
