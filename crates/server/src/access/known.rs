//! The tokens of a server: those of its settings, and those in the store as far as they were read.
//!
//! A token must be good, and revoked, on every server as soon as the request that made or revoked it
//! is answered. Nobody asks the store anew for every request, so what was read holds for a while, its
//! lease, counted from before it was read:
//!
//! - A token that is not known here is read, so a new one is good everywhere at once.
//! - Over a shared store a server believes what it read for [`LEASE`] at most, and whoever revokes a
//!   token answers only when that time has passed since it was removed: no server believes in it then.
//!   The same holds for the first token of all, which closes servers that were open.
//! - In a store of its own nobody else changes anything: what was read holds until it is changed here.
//!
//! Clocks of servers are not compared; each measures its own lease.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punctual_core::{
    AccessToken as Record, Owner, OwnerKey, OwnerKind, Right, TokenName, TokenUse,
};
use punctual_store::{OwnerListing, Store, StoreError};
use tokio::sync::Notify;

use super::{Access, AccessToken, Bearer, Claim, Meter, TokenHash};

/// How long a server believes what it read of a shared store.
pub(crate) const LEASE: Duration = Duration::from_millis(300);
/// How often somebody who waits or listens is asked whether its token is still good.
const CHECK: Duration = Duration::from_millis(300);

/// The tokens of a server.
pub(crate) struct Tokens {
    fixed: HashMap<TokenHash, Arc<Bearer>>,
    /// Whether one of the settings is an admin without queue limit.
    has_fixed_root: bool,
    store: Arc<dyn Store>,
    /// Most bytes of requests that the server works on, of which a token may have a share.
    pub(crate) bytes_max: u64,
    known: Mutex<HashMap<TokenName, Known>>,
    /// Whether there are tokens in the store: once there are, there always will be.
    any: Mutex<Any>,
    /// Grows whenever a token is made or revoked here: a read that began before is not kept.
    changes: AtomicU64,
    /// Told when a token is used whose last use was written down.
    pub(crate) used: Notify,
}

/// A token of the store.
struct Known {
    bearer: Arc<Bearer>,
    /// Until when it is believed; none: until it is changed here.
    until: Option<Instant>,
}

#[derive(Default)]
struct Any {
    exists: bool,
    /// Until when it is believed that there are none.
    none_until: Option<Instant>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there are tokens in a store.
pub(crate) async fn exists(store: &dyn Store) -> Result<bool, StoreError> {
    let (kind, prefix) = (OwnerKind::Token, String::new());
    let mut listing = OwnerListing { kind, queue: None, prefix, cursor: None, limit: 1 };
    loop {
        let page = store.list_owners(listing.clone()).await?;
        if !page.items.is_empty() || page.next.is_none() {
            return Ok(!page.items.is_empty());
        }
        listing.cursor = page.next;
    }
}

impl Tokens {
    /// The tokens of the settings, and those of a store.
    pub(crate) fn new(store: Arc<dyn Store>, tokens: &[AccessToken], bytes_max: u64) -> Self {
        let bearer = |token: &AccessToken| Bearer {
            hash: token.hash,
            name: None,
            rights: token.rights.clone(),
            scope: token.queues.clone(),
            expires: None,
            limits: token.limits.filled(&token.queues, bytes_max),
            meter: Arc::default(),
        };
        let is_root =
            |token: &AccessToken| token.queues.is_all() && token.rights.contains(&Right::Admin);
        Self {
            fixed: tokens.iter().map(|token| (token.hash, Arc::new(bearer(token)))).collect(),
            has_fixed_root: tokens.iter().any(is_root),
            store,
            bytes_max,
            known: Mutex::default(),
            any: Mutex::default(),
            changes: AtomicU64::new(0),
            used: Notify::new(),
        }
    }

    /// Whether anybody may do everything.
    pub(crate) async fn is_open(&self) -> Result<bool, StoreError> {
        if !self.fixed.is_empty() {
            return Ok(false);
        }
        let begun = Instant::now();
        {
            let any = locked(&self.any);
            if any.exists || any.none_until.is_some_and(|until| begun < until) {
                return Ok(!any.exists);
            }
        }
        let changes = self.changes.load(Ordering::Acquire);
        let exists = exists(&*self.store).await?;
        let mut any = locked(&self.any);
        any.exists |= exists;
        if changes == self.changes.load(Ordering::Acquire) {
            let forever = Duration::from_secs(u32::MAX.into());
            any.none_until = Some(begun + self.lease().unwrap_or(forever));
        }
        Ok(!any.exists)
    }

    /// Whether it may be so, as far as is known without asking anybody.
    pub(crate) fn may_be_open(&self) -> bool {
        self.fixed.is_empty() && !locked(&self.any).exists
    }

    /// Whether it was so when the store was last heard from. One never heard from is not open.
    pub(crate) fn was_open(&self) -> bool {
        let any = locked(&self.any);
        self.fixed.is_empty() && !any.exists && any.none_until.is_some()
    }

    fn lease(&self) -> Option<Duration> {
        (!self.store.is_exclusive()).then_some(LEASE)
    }

    /// What the bearer of a token may do; none: it is no token of this server.
    pub(crate) async fn find(&self, claim: Claim) -> Result<Option<Access>, StoreError> {
        if let Some(bearer) = self.fixed.get(&claim.hash) {
            return Ok(Some(Access(Some(bearer.clone()))));
        }
        let Some(name) = claim.name else { return Ok(None) };
        let Some(bearer) = self.read(&name).await? else { return Ok(None) };
        if bearer.hash != claim.hash {
            return Ok(None);
        }
        if bearer.is_over(self.store.now()) {
            self.note_refusal(&bearer);
            return Ok(None);
        }
        Ok(Some(Access(Some(bearer))))
    }

    /// A token as it is believed, or else as it is.
    async fn read(&self, name: &TokenName) -> Result<Option<Arc<Bearer>>, StoreError> {
        let begun = Instant::now();
        if let Some(known) = locked(&self.known).get(name)
            && known.until.is_none_or(|until| begun < until)
        {
            return Ok(Some(known.bearer.clone()));
        }
        let changes = self.changes.load(Ordering::Acquire);
        let stored = self.store.owners(&[OwnerKey::token(name)]).await?.pop().flatten();
        let record = stored.and_then(|stored| match stored.owner {
            Owner::Token(record) => Some(*record),
            _ => None,
        });
        let mut known = locked(&self.known);
        let record = record.and_then(|record| Some((TokenHash::parse(&record.hash)?, record)));
        let Some((hash, record)) = record else {
            known.remove(name);
            return Ok(None);
        };
        let before = known.get(name).filter(|known| known.bearer.hash == hash);
        let meter = before.map(|known| known.bearer.meter.clone()).unwrap_or_default();
        let bearer = Arc::new(self.bearer(record, hash, meter));
        if changes == self.changes.load(Ordering::Acquire) {
            let until = self.lease().map(|lease| begun + lease);
            known.insert(name.clone(), Known { bearer: bearer.clone(), until });
        }
        Ok(Some(bearer))
    }

    fn bearer(&self, record: Record, hash: TokenHash, meter: Arc<Meter>) -> Bearer {
        let scope = record.scope();
        Bearer {
            hash,
            limits: record.limits.filled(&scope, self.bytes_max),
            name: Some(record.name),
            rights: record.rights,
            scope,
            expires: record.expires,
            meter,
        }
    }

    /// Waits until a token is good no more: revoked, or expired.
    pub(crate) async fn ended(&self, bearer: &Bearer) {
        let Some(name) = &bearer.name else { return std::future::pending().await };
        loop {
            tokio::time::sleep(CHECK).await;
            if bearer.is_over(self.store.now()) {
                return;
            }
            // While the store is away there is nothing to be heard either.
            if let Ok(now) = self.read(name).await
                && now.is_none_or(|now| now.hash != bearer.hash)
            {
                return;
            }
        }
    }

    /// Notes that a token was made, or perhaps was.
    pub(crate) fn made(&self, is_certain: bool) {
        let mut any = locked(&self.any);
        self.changes.fetch_add(1, Ordering::AcqRel);
        any.exists |= is_certain;
        any.none_until = None;
    }

    /// Forgets a token that was revoked.
    pub(crate) fn forget(&self, name: &TokenName) {
        let mut known = locked(&self.known);
        self.changes.fetch_add(1, Ordering::AcqRel);
        known.remove(name);
    }

    /// Whether the settings have tokens, and one of them is an admin without queue limit.
    pub(crate) fn fixed(&self) -> (bool, bool) {
        (!self.fixed.is_empty(), self.has_fixed_root)
    }

    /// Notes a request of a token.
    pub(crate) fn note_use(&self, bearer: &Bearer) {
        if bearer.name.is_some() && bearer.meter.used(self.store.now()) {
            self.used.notify_one();
        }
    }

    /// Notes that a token was refused something.
    pub(crate) fn note_refusal(&self, bearer: &Bearer) {
        if bearer.name.is_some() && bearer.meter.refused() {
            self.used.notify_one();
        }
    }

    /// What tokens were used since this was last asked.
    pub(crate) fn take_uses(&self) -> Vec<(TokenName, String, TokenUse)> {
        let known = locked(&self.known);
        let used = known.iter().filter_map(|(name, known)| {
            let taken = known.bearer.meter.take();
            (!taken.is_none()).then(|| (name.clone(), known.bearer.hash.hex(), taken))
        });
        used.collect()
    }

    /// What a token was used here that is not written down yet.
    pub(crate) fn unwritten(&self, record: &Record) -> TokenUse {
        let known = locked(&self.known);
        let same = known.get(&record.name).filter(|known| known.bearer.hash.hex() == record.hash);
        same.map(|known| known.bearer.meter.unwritten()).unwrap_or_default()
    }

    /// Gives back a use that could not be written down.
    pub(crate) fn give_back(&self, name: &TokenName, used: TokenUse) {
        if let Some(known) = locked(&self.known).get(name) {
            known.bearer.meter.give_back(used);
        }
    }
}
